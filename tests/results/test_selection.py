"""Some of a result's items, and several results as one."""

import json
from pathlib import Path

import pandas as pd
import pytest
from helpers.run_folders import RIGHT, SPEC
from hypothesis import given, settings
from hypothesis import strategies as st

import hdbench as hd
from hdbench.evaluation.result_file import read_record

LISTS = {
    "a": {"title": "Faust", "persons": [{"name": "Frey"}, {"name": "Moser"}]},
    "b": {"title": "Stellingen", "persons": []},
    "c": {"title": "Rechnung", "persons": [{"name": "Abegg"}]},
    "d": {"title": "Brief", "persons": [{"name": "Boreux"}]},
}
ANSWERS = {
    "a": {"title": "Faust", "persons": [{"name": "Moser"}]},
    "b": {"title": "Steine", "persons": [{"name": "Frey"}]},
    "c": LISTS["c"],
    "d": "no record at all",
}
DECADES = {"a": 1920, "b": 1930, "c": 1920, "d": None}


def scored(items):
    truths = {item: LISTS[item] for item in items}
    answers = {item: ANSWERS[item] for item in items}
    return hd.score(truths, answers, metric="record_f1")


@pytest.fixture(scope="module")
def result():
    return scored(LISTS)


def said(result):
    """All that follows from what became of its items."""
    fields, errors = result.fields.to_pandas(), result.errors.to_pandas()
    return result.figures, fields.to_dict("list"), errors.drop(columns="image").to_dict("list")


@settings(max_examples=20, deadline=None)
@given(st.sets(st.sampled_from([*LISTS]), min_size=1))
def test_a_subset_is_what_scoring_these_items_alone_gives(items):
    whole = scored(LISTS)
    part, alone = whole.filter(items), scored(sorted(items))
    pd.testing.assert_frame_equal(part.fields.to_pandas(), alone.fields.to_pandas())
    pd.testing.assert_frame_equal(part.errors.to_pandas(), alone.errors.to_pandas())
    assert part.figures == alone.figures
    assert (part.kinds, part.worst) == (alone.kinds, alone.worst)
    assert part.errors_by_class == alone.errors_by_class


def test_a_result_its_file_its_table_and_its_subset_of_all_items_are_equal(result, tmp_path):
    hd.write_results(str(tmp_path / "r.json"), result)
    read = hd.read_result(tmp_path / "r.json")
    again = read_record(json.loads(json.dumps(result.to_dict())), "r")
    for same in (read, again, result.filter([*LISTS]), result.filter(lambda _: True)):
        assert same == result
        pd.testing.assert_frame_equal(same.items.to_pandas(), result.items.to_pandas())
        pd.testing.assert_frame_equal(same.errors.to_pandas(), result.errors.to_pandas())
        assert same.intervals == result.intervals


def test_parts_together_are_the_whole(result):
    parts = result.by(DECADES)
    assert {decade: part.ids for decade, part in parts.items()} == {
        "1920": ["a", "c"],
        "1930": ["b"],
        None: ["d"],
    }
    together = hd.concat(parts.values())
    assert sorted(together.ids) == result.ids
    for name in ("figures", "kinds", "status", "conditions", "errors_by_class"):
        assert getattr(together, name) == getattr(result, name), name
    assert together.field_rates() == result.field_rates()


@pytest.fixture
def cards(tmp_path, monkeypatch):
    made = tmp_path / "hdb/cards"
    made.mkdir(parents=True)
    (made / "benchmark.yaml").write_text(json.dumps(SPEC | {"columns": {"decade": "int32"}}))
    rows = [
        {"id": item, "ground_truth": json.dumps(RIGHT), "decade": decade}
        for item, decade in DECADES.items()
    ]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return hd.score("hdb/cards", {"a": RIGHT, "b": RIGHT})


def test_a_column_of_the_benchmark_chooses(cards):
    assert cards.filter(decade=1920).ids == ["a", "c"]
    assert cards.filter(["a", "b"], decade=1920).ids == ["a"]
    assert [part.ids for part in cards.by("decade").values()] == [["a", "c"], ["b"], ["d"]]
    # One of two cards is right: of four fields two are missing.
    assert cards.by("decade")["1920"].value == pytest.approx(2 * 2 / (2 * 2 + 2))


def test_names_that_are_given_win():
    truths = {str(number): {"x": number % 7} for number in range(30)}
    right = hd.score(truths, truths, metric="record_f1", model="gpt")
    wrong = hd.score(truths, {"0": {"x": 5}}, metric="record_f1", model="gpt")
    board = hd.rank_runs({"prompt A": wrong, "prompt B": right})
    assert [row.model for row in board.rows] == ["prompt B", "prompt A"]
    assert hd.rank_runs([right, wrong]).rows[0].model == "gpt"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda cards: cards.filter(["e"]), "this result has no item 'e'"),
        (
            lambda cards: cards.filter(decade=1940),
            r"no item is left with decade=1940; it has: 1920",
        ),
        (lambda cards: cards.filter(decades=1920), "no column 'decades'; .* did you mean decade"),
        (lambda cards: cards.filter(lambda item: item["f1"] > 2), "no item is left: choose"),
        (lambda cards: cards.by({"a": 1}), "no value for 3 of the items, such as 'b': give None"),
        (lambda _: hd.concat([]), "there is no result to put together"),
        (lambda cards: hd.concat([cards, cards]), "item 'a' is in two of these results"),
        (
            lambda cards: hd.concat([cards, scored(["d"]).replaced(ids=["z"])]),
            "scored by different rules: zettel_f1.*, record_f1",
        ),
        (lambda _: scored(["a"]).filter(decade=1920), "decade: .*: choose by ids"),
    ],
)
def test_a_wrong_call_is_one_sentence(cards, call, told):
    with pytest.raises(hd.HdbenchError, match=told) as error:
        call(cards)
    assert "\n" not in str(error.value)


def test_a_file_is_named_by_text_or_path(result, tmp_path):
    hd.write_results(tmp_path / "one.json", [result])
    hd.write_results(f"{tmp_path}/other.json", result)
    assert Path(tmp_path, "one.json").read_bytes() == Path(tmp_path, "other.json").read_bytes()
    assert hd.read_results(f"{tmp_path}/one.json") == {"one": result}
