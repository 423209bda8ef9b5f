"""Recorded runs from the published repository's own files, and what differs from other sources."""

import json

import pyarrow.parquet as pq
import pytest
from building.test_results_dataset import tree, write
from helpers.raw_results import TESTS, packed, raw_files

from hdbench.answers.run_info import read_run_info
from hdbench.common import resources
from hdbench.datasets.building.results_check import check_results
from hdbench.datasets.building.results_dataset import build_results
from hdbench.errors import HdbenchError

CARD = {"author": {"last_name": "Noether"}}
TEXT = json.dumps(CARD)
FENCED = f"Here it is:\n```json\n{TEXT}\n```"


def run(name, *answers, **changes):
    return {
        "run": name,
        "provider": "someone",
        "model": "some-model",
        "prompt": "prompt.txt",
        "scores": {"f1_micro": 0.7093159000700444, "total_tp": 1519},
        "answers": list(answers),
    } | changes


OLD = run(
    "2025-03-02/T0007",
    {"id": "a_1", "answer": CARD, "text": TEXT},
    {"id": "a_2", "answer": CARD, "text": FENCED},
    {"id": "a_3", "answer": {"error": "x"}, "text": "I am sorry."},
    {"id": "a_4", "answer": CARD, "text": "given apart from the text"},
    {"id": "a_5", "answer": None},
    {"id": "a_6", "answer": {"error": "x"}, "text": ""},
)
NEW = run(
    "2025-11-25/T0420",
    {"id": "b", "answer": CARD, "text": TEXT, "score": {"f1_score": 0.62}},
    {"id": "c", "answer": None, "text": TEXT},
    {"id": "d", "answer": None, "text": ""},
    model="another/model",
)
ADVERTS = run("2025-09-02/T0145", {"id": "image_1", "answer": CARD, "text": TEXT})
RUNS = {"library_cards": [OLD, NEW], "fraktur_adverts": [ADVERTS]}
OLD_FOLDER, NEW_FOLDER = "results/2025-03-02/T0007", "results/2025-11-25/T0420"


def in_text(text):
    """What the publisher's program would have found in these texts."""
    return {TEXT: CARD, FENCED: CARD}.get(text, {"error": "x"})


def usage(number):
    return {"input_tokens": 1000 + number, "output_tokens": number, "estimated_cost_usd": 0.25}


FILES = raw_files(RUNS, in_text)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HDBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def recorded(tmp_path):
    """The folder with the runs in JSON Lines."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    write(folder, zettelkatalog=RUNS["library_cards"], avisblatt=RUNS["fraktur_adverts"])
    return folder


def as_folder(place, files):
    for path, data in files.items():
        (place / "copy" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "copy" / path).write_bytes(data)
    return place / "copy"


def as_archive(place, files):
    (place / "copy.tar.gz").write_bytes(packed(files))
    return place / "copy.tar.gz"


def built(place, files, out="hdb"):
    return build_results(place / out, as_archive(place, files))


def answers_of(place, run):
    text = (place / f"hdb/results/zettelkatalog/{run}/answers.jsonl").read_text()
    return {answer["id"]: answer for answer in map(json.loads, text.splitlines())}


@pytest.mark.parametrize("copied", [as_folder, as_archive])
def test_a_copy_gives_the_dataset_of_its_json_lines(tmp_path, recorded, copied):
    build_results(tmp_path / "hdb", recorded)
    result = build_results(tmp_path / "copied", copied(tmp_path, FILES))
    assert (result.runs, result.answers) == ({"avisblatt": 1, "zettelkatalog": 2}, 10)
    assert result.left_out == {}
    expected, found = tree(tmp_path / "hdb/results"), tree(tmp_path / "copied/results")
    cards = [files.pop("README.md").decode() for files in (expected, found)]
    assert found == expected
    if copied is as_folder:
        cards = [card.replace(".jsonl.gz", "") for card in cards]
        assert cards[0] == cards[1]
    else:
        assert "**a part of all runs**" in cards[0]
        assert "**a part of all runs**" not in cards[1]


def test_tokens_seconds_and_price_come_along(tmp_path):
    built(tmp_path, raw_files(RUNS, usage=usage))
    folder = tmp_path / "hdb/results"
    info = read_run_info(folder / "zettelkatalog/2025-11-25_T0420")
    assert info.cost_usd == 0.75
    answers = answers_of(tmp_path, "2025-11-25_T0420")
    assert answers["b"]["tokens"] == {"input": 1007, "output": 7}
    assert [answer["seconds"] for answer in answers.values()] == [1.5] * 3
    costs = {
        row["run"]: row["cost_usd"] for row in pq.read_table(folder / "runs.parquet").to_pylist()
    }
    assert costs == {"2025-03-02/T0007": 1.5, "2025-11-25/T0420": 0.75, "2025-09-02/T0145": 0.25}


def test_a_price_that_some_answers_lack_is_not_known(tmp_path):
    files = raw_files(RUNS, usage=usage)
    for item, lacks in (("b", "estimated_cost_usd"), ("d", "usage")):
        path = f"{NEW_FOLDER}/request_T0420_{item}.json"
        request = json.loads(files[path])
        request.get("usage", {}).pop(lacks, None) if item == "b" else request.pop(lacks)
        changed = files | {path: json.dumps(request).encode()}
        built(tmp_path, changed)
        info = read_run_info(tmp_path / "hdb/results/zettelkatalog/2025-11-25_T0420")
        assert info.cost_usd == (None if item == "b" else 0.5)  # d has no answer to be paid for


@pytest.mark.parametrize(
    ("request_file", "answer"),
    [
        ({"text": TEXT}, CARD),
        ({"text": FENCED}, CARD),
        ({"text": '["a"]'}, ["a"]),
        ({"text": "I am sorry."}, {"error": "x"}),
        ({"text": f"```json\n{TEXT[:-1]}\n```"}, {"error": "x"}),
        ({"text": ""}, {"error": "x"}),
        ({"text": None}, {"error": "x"}),
        ({}, {"error": "x"}),
        ({"text": TEXT, "parsed": {"b": 1}}, {"b": 1}),
        ({"text": TEXT, "parsed": None}, None),
        ({"text": TEXT, "usage": {}}, None),
        ({"text": TEXT, "score": {}}, None),
        ({"text": TEXT, "parsed": {"b": 1}, "score": {}}, {"b": 1}),
    ],
)
def test_older_texts_are_parsed_and_newer_are_not(tmp_path, request_file, answer):
    path = f"{OLD_FOLDER}/request_T07_a_1.json"
    built(tmp_path, FILES | {path: json.dumps(request_file).encode()})
    assert answers_of(tmp_path, "2025-03-02_T0007")["a_1"] == {
        "id": "a_1",
        "prediction": answer,
        "text": request_file.get("text"),
    }


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scoring.json": None}, "it has no scoring.json"),
        ({"scoring.json": b"{"}, "it has no scoring.json"),
        ({"request_T0420_b.json": b"{"}, "one of its requests cannot be read"),
        ({"request_T420_b.json": b"{}"}, "one of its requests cannot be read"),
        ({"scoring.json": b'{"f1_micro": 1e999, "a\\nb": 1}'}, "scores: 'a\\nb': must be a finite"),
    ],
)
def test_a_run_that_is_incomplete_is_left_out_with_the_reason(tmp_path, changes, why):
    changed = FILES | {f"{NEW_FOLDER}/{name}": data for name, data in changes.items()}
    result = built(tmp_path, {path: data for path, data in changed.items() if data is not None})
    assert result.runs == {"avisblatt": 1, "zettelkatalog": 1}
    assert list(result.left_out) == ["2025-11-25/T0420"]
    assert why in result.left_out["2025-11-25/T0420"]
    (line,) = result.left_out_lines
    assert line.startswith("1 run is left out, since ")
    assert line.endswith(": 2025-11-25/T0420")
    assert "left out, since some of their files" in (tmp_path / "hdb/results/README.md").read_text()


def test_only_finite_numbers_at_the_top_are_figures(tmp_path):
    scores = {
        "f1_micro": 0.5,
        "n": 3,
        "by_field": {"a": 1},
        "model": "m",
        "is_done": True,
        "x": None,
    }
    built(tmp_path, FILES | {f"{NEW_FOLDER}/scoring.json": json.dumps(scores).encode()})
    info = read_run_info(tmp_path / "hdb/results/zettelkatalog/2025-11-25_T0420")
    assert info.published == {"f1_micro": 0.5, "n": 3}


def test_a_test_without_a_prompt_has_runs_of_an_unknown_prompt(tmp_path):
    table = FILES[TESTS].replace(b"prompt.txt", b"")
    built(tmp_path, FILES | {TESTS: table})
    assert read_run_info(tmp_path / "hdb/results/zettelkatalog/2025-11-25_T0420").prompt is None


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({f"{NEW_FOLDER}/scoring.json": b"{}"}, "lacks benchmarks/benchmarks_tests.csv"),
        (FILES | {TESTS: b"id,test\nT0420,cards\n"}, "not a table of tests: 'name'"),
        (FILES | {TESTS: b"\xff\xfe"}, "not a table of tests: 'utf-8' codec"),
        (FILES | {TESTS: FILES[TESTS].splitlines()[0]}, "has no recorded runs: it must have one"),
    ],
)
def test_a_copy_without_usable_runs_is_refused(tmp_path, files, message):
    with pytest.raises(HdbenchError, match=message):
        built(tmp_path, files)
    assert not (tmp_path / "hdb").exists()


def test_nothing_is_said_of_other_answers_than_were_reproduced(tmp_path):
    name = "2025-03-02/T0007"
    known = (resources.folder("dataset_scripts") / "results/reproducible.csv").read_text()
    assert f"bibliography,{name},false," in known
    built(
        tmp_path, raw_files({"bibliographic_data": [run(name, {"id": "page_2", "answer": CARD})]})
    )
    assert (
        read_run_info(tmp_path / "hdb/results/bibliography/2025-03-02_T0007").reproducible is None
    )


def test_the_check_of_the_same_runs_says_that_all_are_equal(tmp_path, recorded):
    build_results(tmp_path / "hdb", recorded)
    before = tree(tmp_path / "hdb")
    check = check_results(tmp_path / "hdb", as_archive(tmp_path, FILES))
    assert check.lines == [
        "avisblatt: 1 of 1 run has equal answers and figures",
        "zettelkatalog: 2 of 2 runs have equal answers and figures",
    ]
    assert not check.differs
    assert tree(tmp_path / "hdb") == before


def test_the_check_says_what_differs_and_why(tmp_path, recorded):
    answers = [answer | {"answer": None} for answer in OLD["answers"]]
    older = OLD | {"answers": [{"id": "a_0", "answer": 1}, *answers[1:]], "model": "m"}
    newer = NEW | {"reproducible": True, "scores": {"f1_micro": 0.5}}
    gone = run("2025-12-01/T0500", {"id": "b", "answer": CARD})
    write(recorded, zettelkatalog=[older, newer, gone])
    (recorded / "fraktur_adverts.jsonl.gz").unlink()
    build_results(tmp_path / "hdb", recorded)
    files = raw_files(RUNS, in_text)
    path = f"{NEW_FOLDER}/request_T0420_b.json"
    timed = json.loads(files[path]) | {"duration": 2.5, "text": "another"}
    check = check_results(
        tmp_path / "hdb", as_archive(tmp_path, files | {path: json.dumps(timed).encode()})
    )
    here = tmp_path / "hdb/results"
    assert check.differs
    assert check.lines == [
        "avisblatt: 0 of 1 run has equal answers and figures",
        "  only in the source: 1 run (2025-09-02_T0145)",
        "zettelkatalog: 0 of 3 runs have equal answers and figures",
        f"  only in {here}: 1 run (2025-12-01_T0500)",
        "  items of 1 run (2025-03-02_T0007): the values differ",
        "  model of 1 run (2025-03-02_T0007): the values differ",
        "  prediction of 2 answers in 1 run (2025-03-02_T0007): "
        f"the source has a record, parsed then or now from the text; {here} has none",
        "  prediction of 2 answers in 1 run (2025-03-02_T0007): "
        "not JSON: scored as an error in one, as no answer in the other",
        "  published of 1 run (2025-11-25_T0420): the values differ",
        "  reproducible of 1 run (2025-11-25_T0420): "
        "it is known for certain predictions only, and these are others",
        "  text of 1 answer in 1 run (2025-11-25_T0420): the values differ",
        "  seconds of 1 answer in 1 run (2025-11-25_T0420): only the source has it",
    ]


def test_tokens_alone_make_no_answer_differ(tmp_path, recorded):
    write(recorded, zettelkatalog=[NEW], avisblatt=[])
    (recorded / "fraktur_adverts.jsonl.gz").unlink()
    build_results(tmp_path / "hdb", recorded)
    files = raw_files({"library_cards": [NEW]}, usage=usage)
    check = check_results(tmp_path / "hdb", as_archive(tmp_path, files))
    assert check.differs
    assert check.lines == [
        "zettelkatalog: 1 of 1 run has equal answers and figures",
        "  cost_usd of 1 run (2025-11-25_T0420): only the source has it",
        "  tokens of 3 answers in 1 run (2025-11-25_T0420): only the source has it",
        "  seconds of 3 answers in 1 run (2025-11-25_T0420): only the source has it",
    ]


def test_the_check_is_a_command_with_an_exit_status(tmp_path, recorded, run_hdbench):
    def hdbench(*arguments):
        return run_hdbench("build", *arguments, cwd=tmp_path, HDBENCH_CACHE=str(tmp_path / "cache"))

    archive = as_archive(tmp_path, FILES)
    done = hdbench("results", "--source", archive, "--check")
    assert done.returncode == 2
    assert "hdb/results: has no recorded runs to compare with: build them first" in done.stderr
    done = hdbench("results", "--source", archive)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hdb/results: 3 runs (avisblatt 1, zettelkatalog 2), 10 answers")
    done = hdbench("results", "--source", recorded, "--check")
    assert (done.returncode, done.stdout.count(" equal answers and figures\n")) == (0, 2)
    write(recorded, zettelkatalog=[OLD])
    done = hdbench("results", "--source", recorded, "--check")
    assert done.returncode == 1
    assert "  only in hdb/results: 1 run (2025-11-25_T0420)\n" in done.stdout
    done = hdbench("zettelkatalog", "--sample", "--check")
    assert done.returncode == 2
    assert "--check: only for results" in done.stderr
