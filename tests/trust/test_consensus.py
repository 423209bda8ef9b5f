"""What several runs say together, written as a run that is scored beside them."""

import json

import pytest
from helpers.planned_cards import RIGHT, SCHEMA, TEXT, Catalogue
from helpers.run_folders import write_run

from hdbench.answers.run_info import read_run_info
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score
from hdbench.trust.consensus import write_consensus

PERSONS = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}


def answers(folder):
    lines = (folder / "answers.jsonl").read_text().splitlines()
    return {each["id"]: each["prediction"] for each in map(json.loads, lines)}


@pytest.fixture
def catalogue(tmp_path):
    return Catalogue(tmp_path, 6, SCHEMA | {"properties": SCHEMA["properties"] | {"who": PERSONS}})


def test_each_field_has_its_medoid(catalogue, tmp_path):
    catalogue.run("a", RIGHT | {"title": "Stelungen", "who": [{"name": "Ida"}]})
    catalogue.run("b", RIGHT | {"place": "Bern", "who": [{"name": "Ada"}]})
    catalogue.run("c", RIGHT | {"year": 1942, "who": [{"name": "Ada"}]})

    written = write_consensus(catalogue.benchmark, catalogue.runs, tmp_path / "out")

    assert written == 6
    assert set(map(json.dumps, answers(tmp_path / "out").values())) == {
        json.dumps(RIGHT | {"who": [{"name": "Ada"}]})
    }


def test_it_is_scored_beside_its_models(catalogue, tmp_path):
    for place, name in enumerate("abc"):  # each is wrong in a third of the items
        catalogue.run(
            name, lambda number, place=place: RIGHT | ({"year": 0} if number % 3 == place else {})
        )
    catalogue.check(catalogue.ids)
    out = tmp_path / "consensus"
    write_consensus(catalogue.benchmark, catalogue.runs, out)

    of_run, together = (score(str(catalogue.path), path) for path in (catalogue.runs[0], out))

    # In two of six items the year is missing: 16 of 18 values are right.
    assert of_run.figures()["recall_micro"] == pytest.approx(16 / 18)
    assert together.figures()["f1_micro"] == 1
    assert together.model == "consensus of a, b, c"


def test_what_the_run_says_about_itself(catalogue, tmp_path):
    asked = {"prompt": {"name": "prompt.txt", "text": "Read it."}, "items": catalogue.ids[:4]}
    given = {item: {"prediction": RIGHT} for item in catalogue.ids[:4]}
    runs = [write_run(tmp_path / name, given, model=name, **asked) for name in "ab"]

    assert write_consensus(catalogue.benchmark, runs, tmp_path / "out") == 4

    info = read_run_info(tmp_path / "out")
    assert (info.model, info.consensus_of) == ("consensus of a, b", ["a", "b"])
    assert (info.benchmark, info.items) == ("hdb/cards", catalogue.ids[:4])
    assert (info.prompt.name, info.prompt.text) == ("prompt.txt", "Read it.")


def test_prompts_that_differ_are_not_said(catalogue, tmp_path):
    given = {item: {"prediction": RIGHT} for item in catalogue.ids}
    runs = [
        write_run(tmp_path / name, given, model=name, prompt={"name": name, "text": name})
        for name in "ab"
    ]

    write_consensus(catalogue.benchmark, runs, tmp_path / "out")

    assert read_run_info(tmp_path / "out").prompt is None


def test_an_item_that_no_run_answered_has_no_answer(catalogue, tmp_path):
    catalogue.run("a", lambda number: RIGHT if number == 1 else None)
    catalogue.run("b", lambda number: RIGHT | {"place": "Bern"} if number in (1, 2) else None)

    assert write_consensus(catalogue.benchmark, catalogue.runs, tmp_path / "out") == 2
    assert answers(tmp_path / "out") == {"0001": RIGHT, "0002": RIGHT | {"place": "Bern"}}


def test_runs_on_other_items(catalogue, tmp_path):
    given = {"0000": {"prediction": RIGHT}}
    runs = [
        write_run(tmp_path / name, given, model=name, items=["0000", other])
        for name, other in (("a", "0001"), ("b", "0002"))
    ]

    with pytest.raises(HdbenchError, match="b: was asked other items than"):
        write_consensus(catalogue.benchmark, runs, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten(catalogue, tmp_path):
    catalogue.run("a", RIGHT)
    catalogue.run("b", RIGHT)

    with pytest.raises(HdbenchError, match=r"a: holds 'answers\.jsonl' already: choose another"):
        write_consensus(catalogue.benchmark, catalogue.runs, catalogue.runs[0])


def test_one_run_is_no_consensus(catalogue, tmp_path):
    catalogue.run("a", RIGHT)

    with pytest.raises(HdbenchError, match="needs two runs or more"):
        write_consensus(catalogue.benchmark, catalogue.runs, tmp_path / "out")
