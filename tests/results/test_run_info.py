"""What a run says of itself, and what a result keeps of it."""

import json

import pytest
from helpers.run_folders import INFO, RIGHT, write_run

from hdbench.answers.answer import ReadAs
from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import AmountUsed
from hdbench.evaluation.result_file import read_result, write_results
from hdbench.evaluation.run import read_run_info
from hdbench.evaluation.verify import verify


@pytest.fixture
def here(cards, monkeypatch):
    monkeypatch.chdir(cards)
    return cards


def test_only_the_declared_items_are_scored(here):
    folder = write_run(here / "run", {"0001": {"prediction": RIGHT}}, items=["0001", "0003"])
    result = score("hdb/cards", folder)
    assert result.ids == ["0001", "0003"]
    figures = result.figures
    assert (figures["answered"], figures["unanswered"]) == (1, 1)
    # Both fields of 0001 are right, both of 0003 are missing.
    assert figures["recall_micro"] == 0.5
    assert result.reading.notes == ["run.json: 2 items were not asked, and are not scored"]


def test_without_declared_items_all_are_asked(here):
    folder = write_run(here / "run", {"0001": {"prediction": RIGHT}})
    result = score("hdb/cards", folder)
    assert len(result.ids) == 4
    assert result.model == "reader-1"


def test_an_answer_outside_the_declared_items_is_refused(here):
    folder = write_run(here / "run", {"0002": {"prediction": RIGHT}}, items=["0001"])
    with pytest.raises(HdbenchError, match=r"of the items in run.json, has no id '0002'"):
        score("hdb/cards", folder)


def test_a_declared_item_that_the_benchmark_lacks_is_refused(here):
    folder = write_run(here / "run", {}, items=["0001", "0009"])
    with pytest.raises(HdbenchError, match="declares an item that hdb/cards does not have, '0009'"):
        score("hdb/cards", folder)


def test_a_run_of_another_benchmark_is_refused(here):
    folder = write_run(here / "run", {"0001": {"prediction": RIGHT}}, benchmark="hdb/letters")
    with pytest.raises(HdbenchError, match="says that it answers hdb/letters, not hdb/cards"):
        score("hdb/cards", folder)


def test_what_a_run_took_and_says_is_in_the_result_and_read_back(here, tmp_path):
    answers = {
        "0000": {"prediction": RIGHT, "tokens": {"input": 1196, "output": 80}, "seconds": 2.5},
        "0001": {"text": json.dumps(RIGHT), "usage": {"output_tokens": 90}},
        "0002": {"prediction": RIGHT, "seconds": 1.5},
    }
    about = {"provider": "here", "prompt": {"name": "prompt.txt", "sha256": "0" * 64}}
    folder = write_run(here / "run", answers, **about, cost_usd=0.25, published={"f1_micro": 0.5})
    result = score("hdb/cards", folder)
    assert result.usage == {
        "input_tokens": AmountUsed(total=1196, items=1),
        "output_tokens": AmountUsed(total=170, items=2),
        "seconds": AmountUsed(total=4.0, items=2),
    }
    known = {"cost_usd": 0.25, "published": {"f1_micro": 0.5}}
    assert result.run.model_dump(exclude_none=True) == INFO | about | known | {"own_images": False}
    write_results(tmp_path / "result.json", [result])
    again = read_result(tmp_path / "result.json")
    assert (again.usage, again.run, again.model) == (result.usage, result.run, "reader-1")


def test_details_are_read_back(here, tmp_path):
    folder = write_run(here / "run", {"0001": {"prediction": RIGHT | {"year": 1942}}})
    result = score("hdb/cards", folder)
    write_results(tmp_path / "result.json", [result])
    assert read_result(tmp_path / "result.json").per_item == result.per_item


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": None}, r"run.json: model: Input should be a valid string"),
        ({"items": ["a", "a"]}, "an id in items occurs twice"),
        ({"items": []}, "items: List should have at least 1 item"),
        ({"items": "all"}, "items: Input should be a valid list"),
        ({"cost_usd": -1.0}, "cost_usd: Input should be greater than or equal to 0"),
        ({"prompt": {"sha256": "00"}}, "prompt.name: Field required"),
    ],
)
def test_an_unusable_run_json_is_refused_by_its_key(tmp_path, change, message):
    folder = write_run(tmp_path / "run", {}, **change)
    with pytest.raises(HdbenchError, match=message):
        read_run_info(folder)


def test_predictions_as_given_leave_a_lost_answer_lost(here):
    folder = write_run(here / "run", {"0001": {"prediction": None, "text": json.dumps(RIGHT)}})
    read = score("hdb/cards", folder)
    given = score("hdb/cards", folder, read_as=ReadAs(as_given=True))
    assert (read.figures["answered"], given.figures["answered"]) == (1, 0)
    assert "|as_given:true|" in given.signature
    assert "as_given" not in read.signature


def test_a_run_without_an_answer_yet_is_all_unanswered(here):
    folder = write_run(here / "run", {})
    for result in (score("hdb/cards", folder), score("hdb/cards", folder)):
        assert (result.figures["unanswered"], result.model) == (4, "reader-1")
        (folder / "answers.jsonl").unlink(missing_ok=True)


OWN = {"own_images": True, "benchmark": "hdb/zettelkatalog"}  # whose prompt was used


def test_own_images_are_scored_as_the_items_that_have_their_ids(here):
    wrong = RIGHT | {"year": 1942}
    answers = {
        "1": {"prediction": RIGHT},
        "0002.JPG": {"prediction": wrong},
        "cover": {"prediction": wrong},
    }
    folder = write_run(here / "run", answers, items=[*answers, "3"], **OWN)
    result = score("hdb/cards", folder)
    assert result.ids == ["0001", "0002", "0003"]
    figures = result.figures
    assert (figures["answered"], figures["true_positives"], figures["false_negatives"]) == (2, 3, 3)
    assert result.reading.notes == [
        "run.json: a run over own images, taken for the items with the same ids; 1 image is left "
        "out, because no item has the id (such as 'cover')",
        "run.json: 1 item was not asked, and is not scored",
    ]
    assert [note.ids for note in result.warnings if note.kind == "ids"] == [["1", "0002.JPG"]]
    write_results(here / "r.json", [result])
    assert verify(here / "r.json") == []


def test_own_images_without_any_benchmark_id_are_refused(here):
    folder = write_run(here / "run", {"x": {"text": "{}"}}, items=["x"], **OWN)
    with pytest.raises(HdbenchError) as refused:
        score("hdb/cards", folder)
    assert str(refused.value) == (
        f"{folder}: none of its own images has the id of an item of hdb/cards (such as 'x'): name "
        "the benchmark that has these ids"
    )


def test_a_run_over_own_images_that_has_nothing_yet_is_refused(here):
    folder = write_run(here / "run", {}, **OWN)
    with pytest.raises(HdbenchError, match="has the id of an item of hdb/cards: name"):
        score("hdb/cards", folder)


def test_two_own_images_of_one_item_are_refused(here):
    folder = write_run(here / "run", {}, items=["1", "0001.jpg"], **OWN)
    with pytest.raises(
        HdbenchError, match=r"run: the ids '1' and '0001.jpg' both look like '0001'"
    ):
        score("hdb/cards", folder)
