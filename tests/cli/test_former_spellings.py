"""Commands as they were spelt until version 0.2."""

import pytest

from hdbench.cli.former_spellings import in_current_spelling

SPELLINGS = {
    "annotate cards --assign anna,ben --items 3": "assign cards --items 3 anna ben",
    "annotate --as anna cards --hand-over anna.zip": "hand-over --as anna cards anna.zip",
    "annotate cards --merge=anna.zip --yes": "merge cards --yes anna.zip",
    "annotate cards --review list.jsonl": "review cards list.jsonl",
    "errata review cards list.jsonl --approved-by me": "errata from-review cards list.jsonl "
    "--approved-by me",
    "report a.jsonl --benchmark cards -o r": "report cards a.jsonl -o r",
    "trust decide plan.yaml --benchmark=checked/cards": "trust decide checked/cards plan.yaml",
    "run --images scans --as cards --model m": "run cards --images scans --model m",
}


@pytest.mark.parametrize("former", SPELLINGS)
def test_a_former_spelling_is_understood_and_told(former, capsys):
    now = SPELLINGS[former]
    assert in_current_spelling(former.split()) == now.split()
    told = capsys.readouterr().err
    assert told == f"note: this spelling will be gone in hdbench 0.5; it is now: hdbench {now}\n"


@pytest.mark.parametrize("now", [*SPELLINGS.values(), "", "annotate cards --as merge", "run"])
def test_a_spelling_of_today_stays(now, capsys):
    assert in_current_spelling(now.split()) == now.split()
    assert capsys.readouterr().err == ""


def test_a_former_command_does_what_its_successor_does(cards, run_hdbench):
    former = run_hdbench("--language", "de", "verify", "r.json", "--benchmark", "cards", cwd=cards)
    now = run_hdbench("--language", "de", "verify", "cards", "r.json", cwd=cards)
    note, *rest = former.stderr.splitlines(keepends=True)
    assert note.startswith("Hinweis: Diese Schreibweise entfällt mit hdbench 0.5")
    assert ("".join(rest), former.returncode) == (now.stderr, now.returncode)
    (cards / "a.jsonl").write_text('{"id": "0000", "prediction": {}}\n')
    scored = run_hdbench("score", "a.jsonl", "--benchmark", "cards", cwd=cards)
    assert (scored.returncode, "f1_micro" in scored.stdout) == (0, True), scored.stderr
