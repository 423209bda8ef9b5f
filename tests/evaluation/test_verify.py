"""`hdbench verify`: equal, or what differs."""

import json
import shutil

import pytest
from helpers.run_folders import write_cards, write_run

from hdbench import __version__
from hdbench.common.translation import translated
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

    def verify(*options, benchmark=None):
        paths = ["result.json"] if benchmark is None else [benchmark, "result.json"]
        return run_hdbench("verify", *paths, *options, cwd=cards)

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
    # 4 rates, 3 counts, items_perfect, 4 numbers of items, 6 of status; outcomes: title and year
    # correct, year substituted, title and year missing; level, resamples and seed of the intervals,
    # and the ranges of 4 rates; corrections and values of an item. 7 statistics of 4 items.
    figures = 4 + 3 + 1 + 4 + 6 + 5 + 3 + 2
    assert done.stdout == (
        f"equal under rules 3, reading 3: {figures} figures, {7 * 4} per-item values\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


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
    assert (done.returncode, done.stdout[:6]) == (0, "equal "), done.stdout


def test_option_reset_to_metric_default_is_kept_in_the_result(cards, run_hdbench):
    spec = cards / "hdb/cards/benchmark.yaml"
    edit(spec, lambda own: own.update(protocols={"documented": {"threshold": 0.1}}))
    write(cards / "p.jsonl", [("0000", RIGHT), ("0001", {"title": "Stelling", "year": 1924})])
    command = ["score", "hdb/cards", "p.jsonl", "--json", "r.json", "--option"]
    for option, own in (("threshold=0.92", 0.92), ("threshold=0.1", 0.1)):
        done = run_hdbench(*command, option, cwd=cards)
        assert done.returncode == 0, done.stderr
        assert json.loads((cards / "r.json").read_text())["options"]["threshold"] == own
        done = run_hdbench("verify", "r.json", cwd=cards)
        assert (done.returncode, done.stdout[:6]) == (0, "equal "), done.stdout


def test_a_figure_that_was_changed_is_listed(scored, cards):
    edit(cards / "result.json", lambda result: result.update(f1_micro=0.9, invented="x\x1b[2J"))
    done = scored()
    assert done.returncode == 1
    # 3 of 4 given are right, and 3 of 8 wanted: F1 6 / 12.
    head, *lines = done.stdout.splitlines()
    assert head.startswith("differs under rules 3, reading 3: ")
    assert lines == ["  f1_micro: 0.9 → 0.5", '  invented: "x\\u001b[2J" → (absent)']


def test_what_it_finds_is_put_into_german(scored, cards, monkeypatch):
    edit(cards / "result.json", lambda record: record.pop("recall_micro"))
    edit(cards / "result.json", lambda record: record["ids"].__setitem__(3, "0009"))
    edit(cards / "result.json", lambda record: record["versions"].update(hdbench="0.0.1"))
    write(cards / "p.jsonl", [("0000", RIGHT)])
    monkeypatch.chdir(cards)
    [found] = verify("result.json")
    assert translated(found.headline, "de").startswith(
        "abweichend nach Version 3 der Regeln und Version 3 der Leseregeln: "
    )
    lines = [translated(each, "de") for each in found.differences]
    assert "recall_micro: (fehlt) → 0.25" in lines
    assert "Eintrag 0009 ist nicht im Benchmark" in lines
    [cause] = found.causes
    assert translated(cause, "de").startswith("p.jsonl ist nicht, was bewertet wurde (sha256 ")
    [note] = found.notes
    assert translated(note, "de") == f"hdbench damals 0.0.1, jetzt {__version__}"


def test_a_signature_that_was_changed_is_listed(scored, cards):
    edit(cards / "result.json", lambda result: result.update(signature="zettel_f1|threshold:0.8"))
    done = scored()
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()[1:]
    assert line.startswith(
        '  signature: "zettel_f1|threshold:0.8" → "zettel_f1|protocol:documented|'
    )


def test_an_item_that_was_changed_is_listed(scored, cards):
    edit(cards / "result.json", lambda result: result["statistics"]["f1"].__setitem__(1, 1))
    done = scored()
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == ["  item 0001: f1 1 → 0.5"]


def test_answers_that_were_changed_are_named_and_scored_again(scored, cards):
    write(cards / "p.jsonl", [("0000", RIGHT), ("0001", RIGHT)])
    done = scored()
    assert done.returncode == 1
    assert "  answers.sha256: " in done.stdout
    assert "  cause: p.jsonl is not what was scored (sha256 " in done.stdout
    assert "  dataset_sha256: " not in done.stdout
    assert "  true_positives: 3 → 4\n" in done.stdout
    assert "  outcomes.substituted.year: 1 → (absent)\n" in done.stdout
    assert (
        "  item 0001: true_positives 1 → 2, false_positives 1 → 0, false_negatives 1 → 0, "
        "f1 0.5 → 1.0, perfect 0 → 1, corrections 1 → 0\n"
    ) in done.stdout


def test_a_dataset_that_was_changed_is_named(scored, cards):
    metadata = cards / "hdb/cards/metadata.jsonl"
    metadata.write_text("".join(metadata.read_text().splitlines(keepends=True)[:3]))
    done = scored()
    assert done.returncode == 1
    assert "  dataset_sha256: " in done.stdout
    assert "  items: 4 → 3\n" in done.stdout
    assert "  item 0003 is not in the benchmark\n" in done.stdout


def test_other_versions_are_a_note(scored, cards):
    def older(result):
        now = result["versions"]["rapidfuzz"]
        result["versions"]["rapidfuzz"] = "1.0"
        result["signature"] = result["signature"].replace(f"rapidfuzz:{now}|", "rapidfuzz:1.0|")

    edit(cards / "result.json", older)
    done = scored()
    assert done.returncode == 0
    assert "  note: rapidfuzz 1.0 then, " in done.stdout


def other_dataset(cards, version, items):
    """The benchmark in `hdb/cards` with another version and so many of its items."""
    spec, metadata = cards / "hdb/cards/benchmark.yaml", cards / "hdb/cards/metadata.jsonl"
    edit(spec, lambda described: described.update(version=version))
    metadata.write_text("".join(metadata.read_text().splitlines(keepends=True)[:items]))


def test_verify_against_older_dataset_says_what_makes_it_equal(scored, cards, run_hdbench):
    shutil.copytree(cards / "hdb/cards", cards / "newer/cards")
    other_dataset(cards, "0.9.0", 3)
    done = scored()
    assert done.returncode == 1
    (cause,) = [line for line in done.stdout.splitlines() if line.startswith("  cause: ")]
    assert "it was scored against hdb/cards 1.0.0 (metadata sha256 " in cause
    assert "and hdb/cards here is 0.9.0 (" in cause
    assert "name a folder with that version before the result" in cause
    assert "--revision hdbench-1.0.0" in cause
    assert "  item 0003 is not in the benchmark\n" in done.stdout
    done = scored(benchmark="newer/cards")
    assert (done.returncode, done.stdout[:6]) == (0, "equal "), done.stdout


@pytest.mark.parametrize("form", ["file", "run"])
def test_answers_without_items_in_an_older_dataset_are_explained(form, cards, run_hdbench):
    answers = {f"000{number}": {"prediction": RIGHT} for number in range(4)}
    write_run(cards / "run", answers, items=list(answers))
    path = "run" if form == "run" else "run/answers.jsonl"
    done = run_hdbench("score", "hdb/cards", path, "--json", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    other_dataset(cards, "0.9.0", 3)
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "it was scored against hdb/cards 1.0.0" in line
    assert "here is 0.9.0" in line
    assert "'0003'" in line


def test_result_of_another_reading_is_equal_or_names_the_cause(scored, cards):
    def of_reading(number, **changes):
        edit(
            cards / "result.json",
            lambda result: result.update(
                reading=number,
                signature=result["signature"].replace("|reading:3|", f"|reading:{number}|"),
                **changes,
            ),
        )

    of_reading(7)
    done = scored()
    assert (done.returncode, done.stdout[:32]) == (0, "equal under rules 3, reading 3: ")
    assert "  note: scored under reading 7\n" in done.stdout
    of_reading(7, f1_micro=0.9)
    done = scored()
    assert done.returncode == 1
    assert "  f1_micro: 0.9 → 0.5\n" in done.stdout
    assert "  cause: it was scored under reading 7, and this hdbench " in done.stdout


def test_a_result_from_before_readings_had_a_number_is_equal(scored, cards):
    def older(result):
        del result["reading"]
        result["signature"] = result["signature"].replace("|reading:3|", "|")
        result["intervals"] = {
            "method": "bootstrap over items, expanded percentile intervals",
            "figures": {"f1_micro": [0.0, 1.0]},
        }

    edit(cards / "result.json", older)
    done = scored()
    assert (done.returncode, done.stdout[:6]) == (0, "equal "), done.stdout
    assert "  note: intervals: not compared: then bootstrap over items, expanded" in done.stdout


@pytest.mark.parametrize("details", [[], ["--details"]])
def test_a_result_from_before_corrections_were_counted_is_equal(
    scored, cards, run_hdbench, details
):
    arguments = ("hdb/cards", "p.jsonl", "--json", "result.json", *details)
    assert run_hdbench("score", *arguments, cwd=cards).returncode == 0

    def older(result):
        del result["effort"]
        for counted in (result["statistics"], *result.get("per_item", [])):
            for name in ("corrections", "values"):
                del counted[name]

    edit(cards / "result.json", older)
    done = scored()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("equal under rules 3, reading 3: ")
    assert f", {5 * 4} per-item values" in done.stdout


def test_result_of_other_rules_names_the_version_to_verify_with(scored, cards):
    edit(cards / "result.json", lambda result: result.update(rules=4))
    done = scored()
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "scored under rules 4 of zettel_f1, and this hdbench" in line
    assert "use the hdbench version that the file names under versions" in line


def test_moved_answers_and_benchmarks_can_be_named(scored, cards):
    (cards / "p.jsonl").rename(cards / "moved.jsonl")
    done = scored()
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "its answers 'p.jsonl' are not here: name them with --answers PATH" in line
    (cards / "hdb").rename(cards / "elsewhere")
    done = scored("--answers", "moved.jsonl")
    (line,) = done.stderr.splitlines()
    assert "its benchmark 'hdb/cards' is not in the working directory" in line
    assert "name its folder before the result" in line
    done = scored("--answers", "moved.jsonl", benchmark="elsewhere/cards")
    assert (done.returncode, done.stdout[:6]) == (0, "equal "), done.stdout


def test_a_folder_of_answers_is_verified(cards, run_hdbench):
    (cards / "run").mkdir()
    (cards / "run/0000.json").write_text(json.dumps(RIGHT))
    assert run_hdbench("score", "hdb/cards", "run", "--json", "r.json", cwd=cards).returncode == 0
    assert run_hdbench("verify", "r.json", cwd=cards).returncode == 0
    (cards / "run/0001.json").write_text(json.dumps(RIGHT))
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert "  answers.sha256: " in done.stdout
    assert "  answered: 1 → 2\n" in done.stdout


def test_each_run_of_a_file_is_verified(cards, run_hdbench):
    write(cards / "p.jsonl", [("0000", RIGHT)], model="a\x1b[2J")
    first = (cards / "p.jsonl").read_text()
    write(cards / "p.jsonl", [("0000", WRONG)], model="b")
    (cards / "p.jsonl").write_text(first + (cards / "p.jsonl").read_text())
    done = run_hdbench("score", "hdb/cards", "p.jsonl", "--json", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    edit(cards / "r.json", lambda result: result["runs"][1].update(f1_micro=1.0))
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("a\\x1b[2J: equal under ")
    assert lines[1].startswith("b: differs under ")
    # 1 of 2 given and of 8 wanted is right: 2 / 10.
    assert lines[2].startswith("  f1_micro: 1.0 → 0.2")
    write(cards / "p.jsonl", [("0000", RIGHT)], model="c")
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "p.jsonl has no run" in done.stderr


def test_only_so_many_items_are_listed(cards, run_hdbench):
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
    assert done.stdout.count("  item ") == 20
    assert "  and 30 more items that differ\n" in done.stdout
