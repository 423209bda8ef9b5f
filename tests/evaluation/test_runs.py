"""What the commands over runs take."""

import json
from pathlib import Path

import pytest
from helpers.run_folders import RIGHT, write_run

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.runs import opened_run
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.result_file import write_results
from hdbench.evaluation.run import is_result
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings, score_items
from hdbench.scoring import make_metric

WRONG = {"title": "Stellingen", "year": 1942}


@pytest.fixture
def here(cards, monkeypatch):
    monkeypatch.chdir(cards)
    return cards


def answers(value):
    return {f"000{number}": {"prediction": value} for number in range(4)}


def test_a_run_folder_names_its_benchmark(here):
    folder = write_run(here / "run", answers(RIGHT))
    loaded = load_runs([folder])
    assert {name: result.figures["f1_micro"] for name, result in loaded.items()} == {
        "reader-1": 1.0
    }


def test_runs_below_a_folder_are_told_apart_by_model_and_run(here):
    write_run(here / "runs/a", answers(RIGHT), run="a")
    write_run(here / "runs/deep/b", answers(WRONG), run="b")
    write_run(here / "runs/c", answers(WRONG), run="c", model="reader-2")
    loaded = load_runs([here / "runs"])
    assert {name: result.figures["f1_micro"] for name, result in loaded.items()} == {
        "reader-1 (a)": 1.0,
        "reader-1 (b)": 0.5,
        "reader-2": 0.5,
    }


def test_a_result_is_taken_as_it_was_scored(here):
    folder = write_run(here / "run", answers(RIGHT))
    write_results(Path("result.json"), [score("hdb/cards", folder, protocol="published")])
    [result] = load_runs([Path("result.json")]).values()
    assert result.metric.protocol == "published"


def test_answers_need_a_benchmark_and_are_named_by_their_file(here):
    lines = [json.dumps({"id": item, **answer}) + "\n" for item, answer in answers(RIGHT).items()]
    Path("mine.jsonl").write_text("".join(lines))
    [(name, result)] = load_runs([Path("mine.jsonl")], benchmark="hdb/cards").items()
    assert (name, result.figures["f1_micro"]) == ("mine", 1.0)
    with pytest.raises(HdbenchError, match=r"mine\.jsonl"):
        load_runs([Path("mine.jsonl")])


def test_folder_of_answers_without_run_json_needs_a_benchmark(here):
    Path("mine").mkdir()
    Path("mine/0001.txt").write_text(json.dumps(RIGHT))
    with pytest.raises(HdbenchError, match="name the benchmark of these answers before them"):
        load_runs([Path("mine")])
    [result] = load_runs([Path("mine")], benchmark="hdb/cards").values()
    assert result.figures["answered"] == 1


def test_the_same_run_twice_is_refused(here):
    folder = write_run(here / "run", answers(RIGHT))
    with pytest.raises(HdbenchError, match="the same answers are given twice"):
        load_runs([folder, folder])


def test_runs_of_one_name_are_told_apart_by_their_folders(here):
    first = write_run(here / "a", answers(RIGHT), run="same")
    second = write_run(here / "b", answers(WRONG), run="same")
    assert list(load_runs([first, second])) == ["reader-1 (a)", "reader-1 (b)"]


def test_results_of_one_name_and_path_are_refused(here):
    files = [Path("a.jsonl"), Path("b.jsonl")]
    for file, value in zip(files, (RIGHT, WRONG), strict=True):
        lines = [json.dumps({"id": item} | each) + "\n" for item, each in answers(value).items()]
        file.write_text("".join(lines))
    called = dict.fromkeys(files, "answers.jsonl")
    message = r"^answers.jsonl and answers.jsonl: two results are called 'answers': "
    with pytest.raises(HdbenchError, match=message):
        load_runs(files, benchmark="hdb/cards", called=called)


def test_files_of_one_model_are_told_apart_by_their_names(here):
    for file, values in {"a": (RIGHT, WRONG), "b": (WRONG, RIGHT)}.items():
        lines = [
            json.dumps({"id": item, "model": model} | answer) + "\n"
            for model, value in zip(("m", f"only-{file}"), values, strict=True)
            for item, answer in answers(value).items()
        ]
        Path(f"{file}.jsonl").write_text("".join(lines))
    files = [Path("a.jsonl"), Path("b.jsonl")]
    loaded = load_runs(files, benchmark="hdb/cards")
    expected = {"m (a)": 1.0, "only-a": 0.5, "m (b)": 0.5, "only-b": 1.0}
    assert {name: result.figures["f1_micro"] for name, result in loaded.items()} == expected

    for number, result in enumerate(loaded.values()):
        write_results(Path(f"{number}.json"), [result])
    assert list(load_runs([Path("0.json"), Path("2.json")])) == ["m (0)", "m (2)"]

    Path("other").mkdir()
    twin = Path("b.jsonl").rename("other/a.jsonl")
    assert list(load_runs([files[0], twin], benchmark="hdb/cards")) == [
        "m (a)",
        "only-a",
        "m (other/a)",
        "only-b",
    ]


def test_details_are_there_or_asked_for(here):
    folder = write_run(here / "run", answers(WRONG))
    [result] = load_runs([folder], settings=Settings(details=True)).values()
    assert len(result.per_item) == 4
    write_results(Path("plain.json"), result.replaced(per_item=[]))
    with pytest.raises(HdbenchError, match=r"plain.json: has no details .* --details"):
        load_runs([Path("plain.json")], settings=Settings(details=True))


def test_a_path_that_is_not_there_is_named(here):
    with pytest.raises(HdbenchError, match="nowhere"):
        load_runs([here / "nowhere"])


def test_answers_without_a_benchmark_are_told_to_name_it(here):
    Path("a.jsonl").write_text('{"id": "0000", "prediction": {}}\n{"id": "0001"}\n')
    with pytest.raises(HdbenchError, match=r"a\.jsonl.*; for answers, name their benchm"):
        load_runs([Path("a.jsonl")])


def test_names_with_dots_stay_whole_and_apart(here):
    for name in ("gpt-4.1", "gpt-4.1-mini"):
        lines = [json.dumps({"id": each, **answer}) for each, answer in answers(RIGHT).items()]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + f"\n{'' if 'mini' in name else ' '}")
    files = [Path("gpt-4.1.jsonl"), Path("gpt-4.1-mini.jsonl")]
    assert list(load_runs(files, benchmark="hdb/cards")) == ["gpt-4.1", "gpt-4.1-mini"]
    for file in files:
        with opened_run(file, load_benchmark("hdb/cards")) as run:
            assert run.name == file.name.removesuffix(".jsonl")
    write_results(Path("gpt-4.1.json"), [score("hdb/cards", files[0])])
    assert list(load_runs([Path("gpt-4.1.json")])) == ["gpt-4.1"]


RESULT = score_items(
    make_metric("zettel_f1"), [], dataset=ScoredDataset(benchmark="hdb/zettelkatalog")
).to_dict()
ENTRY = json.dumps({"id": "1", "prediction": RIGHT})
FAR = {"ids": ["0"] * 400_000}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (json.dumps(RESULT), True),
        ("\ufeff \r\n" + json.dumps(RESULT, indent=2), True),
        (json.dumps(dict(reversed(RESULT.items())), indent="\t", separators=(" ,", " \n: ")), True),
        (json.dumps(FAR | RESULT), True),
        (json.dumps({"runs": [FAR | RESULT, RESULT]}, indent=1), True),
        # A result with a line after it is one of several lines, none of which is an answer.
        (json.dumps(RESULT) + "\n" + ENTRY, False),
        (ENTRY + "\n" + json.dumps(RESULT), False),
        (ENTRY, False),
        (json.dumps({"1": {"protocol": "a", "signature": "b"}}, indent=2), False),
        (json.dumps([RESULT]), False),
        ("id,protocol,signature,unanswered,unparsable", False),
        ("", False),
    ],
)
def test_a_result_is_told_from_answers_in_any_layout(tmp_path, content, expected):
    (tmp_path / "file").write_text(content)
    assert is_result(tmp_path / "file") == expected


def test_a_result_is_no_answers(here):
    write_results(here / "result.json", score(here / "hdb/cards", {"0000": RIGHT}))
    with pytest.raises(
        HdbenchError, match="this is a result of hdbench score, not a run's answers"
    ):
        score(here / "hdb/cards", here / "result.json")
