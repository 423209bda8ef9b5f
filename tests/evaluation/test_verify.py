"""`hdbench verify`: equal, or what differs."""

import json
import re
import shutil
from pathlib import Path

import pytest
from helpers.results import flat_of
from helpers.run_folders import write_cards

from hdbench.common.texts import translated
from hdbench.evaluation.verify import verify

pytestmark = pytest.mark.slow

RIGHT = {"title": "Stellingen", "year": 1924}
WRONG = {"title": "Stellingen", "year": 1942}


@pytest.fixture(scope="module")
def result(tmp_path_factory, run_hdbench):
    """A folder with a result of one right and one wrong card of four."""
    folder = tmp_path_factory.mktemp("result")
    write_cards(folder)
    write(folder / "p.jsonl", [("0000", RIGHT), ("0001", WRONG)])
    done = run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "result.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def scored(result, cards, run_hdbench):
    """A copy of that folder in `cards`, and how to verify the result."""
    shutil.copytree(result, cards, dirs_exist_ok=True)

    def verify(*options):
        return run_hdbench("verify", "result.json", *options, cwd=cards)

    return verify


def write(path, answers, **more):
    lines = [{"id": item_id, "prediction": answer} | more for item_id, answer in answers]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def test_a_result_that_nobody_changed_is_equal(scored):
    done = scored()
    assert (done.returncode, done.stdout, done.stderr) == (0, "result.json: equal\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--details"],
        ["--protocol", "published", "--option", 'weights={"year": 3}'],
        ["--option", "threshold=0.5"],
    ],
)
def test_verify_uses_protocol_options_and_reading_of_the_result(cards, run_hdbench, arguments):
    write(cards / "p.jsonl", [("0000", RIGHT), ("0001", WRONG)], text=f"Sure: {json.dumps(RIGHT)}")
    done = run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "r.json", *arguments, cwd=cards)
    assert done.returncode == 0, done.stderr
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert (done.returncode, done.stdout) == (0, "r.json: equal\n")


def test_option_reset_to_metric_default_is_kept_in_the_result(cards, run_hdbench):
    spec = cards / "hdb/cards/benchmark.yaml"
    edit(spec, lambda own: own.update(protocols={"documented": {"threshold": 0.1}}))
    write(cards / "p.jsonl", [("0000", RIGHT), ("0001", {"title": "Stelling", "year": 1924})])
    command = ["score", "hdb/cards", "p.jsonl", "--json", "r.json", "--option"]
    for option, own in (("threshold=0.92", 0.92), ("threshold=0.1", 0.1)):
        done = run_hdbench(*command, option, cwd=cards)
        assert done.returncode == 0, done.stderr
        assert flat_of(cards / "r.json")["metric"]["options"]["threshold"] == own
        done = run_hdbench("verify", "r.json", cwd=cards)
        assert (done.returncode, done.stdout) == (0, "r.json: equal\n")


def test_a_figure_that_was_changed_is_listed(scored, cards):
    edit(
        cards / "result.json",
        lambda result: result["figures"].update(f1_micro=0.9, invented="x\x1b[2J"),
    )
    done = scored()
    assert done.returncode == 1
    # 3 of 4 given are right, and 3 of 8 wanted: F1 6 / 12.
    assert done.stdout.splitlines() == [
        "result.json: figures.f1_micro: 0.9 → 0.5",
        'result.json: figures.invented: "x\\u001b[2J" → (absent)',
    ]


def test_what_it_finds_is_put_into_german(scored, cards, monkeypatch):
    edit(cards / "result.json", lambda record: record["figures"].pop("recall_micro"))
    monkeypatch.chdir(cards)
    [line] = verify(Path("result.json"))
    assert translated(line, "de") == "result.json: figures.recall_micro: (fehlt) → 0.375"


def test_a_signature_that_was_changed_is_listed(scored, cards):
    edit(cards / "result.json", lambda result: result.update(signature="zettel_f1|threshold:0.8"))
    done = scored()
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith(
        'result.json: signature: "zettel_f1|threshold:0.8" → "zettel_f1|protocol:documented|'
    )


def test_an_item_that_was_changed_is_listed(scored, cards):
    edit(cards / "result.json", lambda result: result["statistics"]["f1"].__setitem__(1, 1))
    done = scored()
    assert done.returncode == 1
    assert done.stdout == "result.json: statistics.0001.f1: 1 → 0.5\n"


def test_answers_that_were_changed_are_scored_again(scored, cards):
    write(cards / "p.jsonl", [("0000", RIGHT), ("0001", RIGHT)])
    done = scored()
    assert done.returncode == 1
    assert "result.json: answers.sha256: " in done.stdout
    assert "result.json: dataset.dataset_sha256: " not in done.stdout
    lines = {str(line) for line in verify_in(cards)}
    assert "result.json: figures.true_positives: 3 → 4" in lines
    assert "result.json: outcomes.substituted.year: 1 → (absent)" in lines
    assert "result.json: statistics.0001.true_positives: 1 → 2" in lines


def verify_in(cards):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cards)
        return verify(Path("result.json"))


def test_a_dataset_that_was_changed_is_named(scored, cards):
    metadata = cards / "hdb/cards/metadata.jsonl"
    metadata.write_text("".join(metadata.read_text().splitlines(keepends=True)[:3]))
    assert scored().returncode == 1
    lines = {str(line) for line in verify_in(cards)}
    assert any(line.startswith("result.json: dataset.dataset_sha256: ") for line in lines)
    assert "result.json: figures.items: 4 → 3" in lines
    assert "result.json: statistics.0003.false_negatives: 2 → (absent)" in lines


def test_other_versions_are_said_if_anything_differs(scored, cards):
    def older(result):
        now = result["versions"]["rapidfuzz"]
        result["versions"]["rapidfuzz"] = "1.0"
        result["signature"] = result["signature"].replace(f"rapidfuzz:{now}|", "rapidfuzz:1.0|")

    edit(cards / "result.json", older)
    assert scored().stdout == "result.json: equal\n"
    edit(cards / "result.json", lambda result: result["figures"].update(f1_micro=0.9))
    first, second = scored().stdout.splitlines()
    assert first == "result.json: figures.f1_micro: 0.9 → 0.5"
    assert second.startswith('result.json: versions.rapidfuzz: "1.0" → ')


def test_result_of_other_rules_names_the_version_to_verify_with(scored, cards):
    edit(cards / "result.json", lambda result: result["metric"].update(rules=5))
    done = scored()
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "scored under rules 5 of zettel_f1, and this hdbench" in line
    assert "use the hdbench version that the file names under versions" in line


def test_moved_answers_can_be_named(scored, cards):
    (cards / "p.jsonl").rename(cards / "moved.jsonl")
    done = scored()
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "its answers 'p.jsonl' are not here: name them with --answers PATH" in line
    assert scored("--answers", "moved.jsonl").stdout == "result.json: equal\n"
    (cards / "hdb").rename(cards / "elsewhere")
    done = scored("--answers", "moved.jsonl")
    (line,) = done.stderr.splitlines()
    assert "hdb/cards: no benchmark here" in line


def test_a_folder_of_answers_is_verified(cards, run_hdbench):
    (cards / "run").mkdir()
    (cards / "run/0000.json").write_text(json.dumps(RIGHT))
    assert run_hdbench("score", "hdb/cards", "run", "--json", "r.json", cwd=cards).returncode == 0
    assert run_hdbench("verify", "r.json", cwd=cards).returncode == 0
    (cards / "run/0001.json").write_text(json.dumps(RIGHT))
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert "r.json: answers.sha256: " in done.stdout
    assert "r.json: figures.answered: 1 → 2\n" in done.stdout


def test_each_run_of_a_file_is_verified(cards, run_hdbench):
    write(cards / "p.jsonl", [("0000", RIGHT)], model="a\x1b[2J")
    first = (cards / "p.jsonl").read_text()
    write(cards / "p.jsonl", [("0000", WRONG)], model="b")
    (cards / "p.jsonl").write_text(first + (cards / "p.jsonl").read_text())
    done = run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    edit(cards / "r.json", lambda result: result["runs"][1]["figures"].update(f1_micro=1.0))
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert done.returncode == 1
    # 1 of 2 given and of 8 wanted is right: 2 / 10.
    assert done.stdout == "r.json: runs[1]: figures.f1_micro: 1.0 → 0.2\n"
    write(cards / "p.jsonl", [("0000", RIGHT)], model="c")
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "p.jsonl has no run" in done.stderr


def test_only_so_many_differences_are_listed(cards, run_hdbench):
    truth = json.dumps({"title": "Stellingen"})
    rows = [{"id": f"{number:04}", "ground_truth": truth} for number in range(50)]
    metadata = cards / "hdb/cards/metadata.jsonl"
    metadata.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write(cards / "p.jsonl", [(row["id"], {"title": "Stellingen"}) for row in rows])
    assert (
        run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "r.json", cwd=cards).returncode == 0
    )
    write(cards / "p.jsonl", [(row["id"], {}) for row in rows])
    done = run_hdbench("verify", "r.json", cwd=cards)
    *lines, last = done.stdout.splitlines()
    assert len(lines) == 20
    assert re.fullmatch(r"and \d+ more differences", last)
