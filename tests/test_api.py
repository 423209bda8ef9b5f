"""Scoring, comparing and ranking what a program has in memory."""

import datetime
import json
import pickle
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hdbench as hd
from hdbench.scoring.metric import PERFECT, Figure, ItemScore

TRUTHS = {
    "a": {"title": "Faust", "publication": {"year": 1808, "pages": 309}},
    "b": {"title": "Stellingen", "publication": {"year": 1924, "pages": None}},
    "c": {"title": "Rechnung", "publication": {"year": None, "pages": 2}},
}
ANSWERS = {
    "a": {"title": "Faust", "publication": {"year": 1808, "pages": 300}},
    "b": {"title": "Stelling", "publication": {"year": None, "pages": None}},
}
TABLE = pd.DataFrame(
    {
        "id": ["a", "b"],
        "title": ["Faust", "Stelling"],
        "publication.year": [1808, None],
        "publication.pages": [300.0, float("nan")],
    }
)


def scored(answers, **options):
    return hd.score(TRUTHS, answers, metric="record_f1", **options)


@pytest.fixture
def expected(tmp_path):
    lines = [{"id": item, "prediction": answer} for item, answer in ANSWERS.items()]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return scored(path)


FORMS = {
    "dictionary": ANSWERS,
    "pairs": [*ANSWERS.items()],
    "entries": [{"id": item, "prediction": answer} for item, answer in ANSWERS.items()],
    "fields": [{"id": item, **answer} for item, answer in ANSWERS.items()],
    "texts": {item: json.dumps(answer) for item, answer in ANSWERS.items()},
    "table": TABLE,
    "index": TABLE.set_index("id"),
    "named index": TABLE.set_index("id").rename_axis("card"),
    "nullable": TABLE.convert_dtypes(),
    "objects": TABLE.astype(object),
    "cells": pd.DataFrame({"id": [*ANSWERS], "prediction": [*ANSWERS.values()]}),
    "dataset": datasets.Dataset.from_list(
        [{"id": item, **answer} for item, answer in ANSWERS.items()]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_figures_of_json_lines(form, expected):
    result = scored(FORMS[form])
    assert result.rates == expected.rates
    assert result.statistics == expected.statistics
    assert [item["fields"] for item in result.per_item] == [
        item["fields"] for item in expected.per_item
    ]


@pytest.mark.nightly  # polars takes 170 MB
def test_a_table_of_polars_gives_the_same(expected):
    import polars as pl  # noqa: PLC0415

    columns = {
        "id": [*ANSWERS],
        "title": ["Faust", "Stelling"],
        "publication.year": [1808, None],
        "publication.pages": [300, float("nan")],
    }
    assert scored(pl.DataFrame(columns, strict=False)).statistics == expected.statistics
    large = {"id": ["a", "b"], "x": [2**60 + 1, None]}
    truths = {"a": {"x": 2**60 + 1}, "b": {"x": None}}
    assert hd.score(truths, pl.DataFrame(large), metric="record_f1", compare="exact").value == 1


def test_counts_are_those_derived_by_hand(expected):
    # a: title and year right, pages wrong. b: title wrong, year missing. c: all missing.
    counts = ("true_positives", "false_positives", "false_negatives")
    assert [expected.rates[name] for name in counts] == [2, 2, 5]
    assert expected.value == pytest.approx(2 * 2 / (2 * 2 + 2 + 5))


@pytest.mark.parametrize(
    "truths",
    [
        [{"id": item, "ground_truth": truth} for item, truth in TRUTHS.items()],
        [{"id": item, "ground_truth": json.dumps(truth)} for item, truth in TRUTHS.items()],
        [*TRUTHS.items()],
        pd.json_normalize([{"id": item, **truth} for item, truth in TRUTHS.items()]),
    ],
    ids=["records", "texts", "pairs", "table"],
)
def test_own_records_come_in_the_same_forms(truths, expected):
    assert hd.score(truths, ANSWERS, metric="record_f1").rates == expected.rates


def test_a_record_without_a_value_is_no_answer_in_memory_as_in_a_file(tmp_path):
    answers = {"1": {"a": "x"}, "2": {"a": None}}
    (tmp_path / "a.json").write_text(json.dumps(answers))
    for each in (answers, pd.Series(answers), tmp_path / "a.json"):
        assert hd.score({"1": {"a": "x"}, "2": {"a": "y"}}, each, metric="record_f1").answered == 1


HEADED = {"Verfasser": "Goethe", "Erscheinungsjahr": 1808}


@pytest.mark.parametrize(
    "answer",
    [
        HEADED,
        [HEADED],
        {"data": HEADED},
        f"Here it is:\n```json\n{json.dumps(HEADED, indent=1)}\n```",
        {key: {"value": value, "confidence": 0.9} for key, value in HEADED.items()},
    ],
    ids=["record", "list", "wrapped", "fence", "confidence"],
)
def test_german_headings_as_keys_are_read_as_fields_and_that_is_said(answer):
    truths = {"a": {"author": "Goethe", "year": 1808}}
    result = hd.score(truths, {"a": answer}, metric="record_f1")
    [note] = (note for note in result.reading.notes if note.startswith("keys of answers"))
    assert (result.value, "Verfasser → author" in note) == (1, True)


def test_values_of_numpy_pandas_and_the_calendar_are_plain_ones():
    truths = {"1": {"day": "1926-02-16", "names": ["A", "B"], "count": 3, "none": None}}
    frame = pd.DataFrame(
        {
            "id": np.array([1]),
            "day": pd.to_datetime(["1926-02-16"]),
            "names": [np.array(["A", "B"])],
            "count": np.array([3], dtype="int8"),
            "none": [pd.NaT],
        }
    )
    assert hd.score(truths, frame, metric="record_f1").value == 1
    one = {"1": truths["1"] | {"day": datetime.date(1926, 2, 16), "none": float("nan")}}
    assert hd.score(truths, one, metric="record_f1").value == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | st.integers(0, 9) | st.text(max_size=3), min_size=1, max_size=6))
def test_a_column_of_anything_is_that_of_json_lines(values):
    truths = {str(place): {"x": 1, "y": "a"} for place in range(len(values))}
    rows = [{"id": str(place), "x": value, "y": "a"} for place, value in enumerate(values)]
    by_rows = hd.score(truths, rows, metric="record_f1")
    frame = pd.DataFrame(
        {name: [row[name] for row in rows] for name in ("id", "x", "y")}, dtype=object
    )
    assert hd.score(truths, frame, metric="record_f1").rates == by_rows.rates


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (TABLE.drop(columns="id"), "needs a column id"),
        (pd.concat([TABLE, TABLE[["title"]]], axis=1), "two columns are called 'title'"),
        ([1], "1: give a path, a DataFrame"),
        (7, "7: give a path, a DataFrame"),
        ({"a": {"title": b"x"}}, "a bytes cannot be an answer"),
        ({}, "there are no answers to score"),
        ([{"title": "Faust"}], "needs a column id"),
        ([{"id": "a", "model": name, "title": "x"} for name in "xy"], "several models answered"),
    ],
)
def test_what_cannot_be_read_is_one_line(answers, told):
    with pytest.raises(hd.HdbenchError, match=told):
        scored(answers)


def test_a_model_that_is_named_already_is_not_replaced():
    rows = [{"id": "a", "model": "x", "title": "Faust"}]
    with pytest.raises(hd.HdbenchError, match=r"name their model \('x'\): leave out model="):
        scored(rows, model="y")


def test_a_benchmark_is_a_name_an_object_or_a_dataset(cards, monkeypatch):
    monkeypatch.chdir(cards)
    answers = {"0000": {"title": "Stellingen"}}
    named = hd.score("cards", answers)
    assert hd.score(hd.load_benchmark("cards"), answers).rates == named.rates
    assert hd.score(Path("hdb/cards"), answers).rates == named.rates
    rows = list(map(json.loads, Path("hdb/cards/metadata.jsonl").read_text().splitlines()))
    dataset = datasets.Dataset.from_list(
        [{key: row[key] for key in ("id", "ground_truth")} for row in rows]
    )
    dataset.info.dataset_name = "cards"
    assert hd.score(dataset, answers).rates == named.rates
    assert len(hd.score(dataset.select([0]), answers).ids) == 1


def test_a_result_is_short_equal_and_pickled(expected):
    assert repr(expected).count("\n") == 2
    assert len(repr(expected)) < 400
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert scored(ANSWERS, threshold=0.5) != expected
    assert expected.to_dict()["figures"]["f1_micro"] == expected.value


def test_its_tables_have_items_fields_and_errors(expected):
    items = expected.items.to_pandas()
    assert items["id"].tolist() == ["a", "b", "c"]
    assert items["status"].tolist() == ["clean", "clean", "unanswered"]
    fields = expected.fields.to_pandas().set_index("field")
    assert fields.loc["title", "f1"] == pytest.approx(2 * 1 / (2 * 1 + 1 + 2))
    assert fields["low"].isna().all()  # fewer than 20 items
    errors = expected.errors.to_pandas()
    wrong = errors[errors.field == "title"][["id", "expected", "found"]].values.tolist()
    assert wrong == [["b", "Stellingen", "Stelling"], ["c", "Rechnung", None]]
    assert len(errors) == 5


def test_html_is_escaped_and_without_scripts():
    hostile = "<script>alert(1)</script>"
    result = hd.score(
        {"a": {"title": "x"}}, {"a": {"title": hostile}}, metric="record_f1", model=hostile
    )
    for html in (result._repr_html_(), result.errors._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_to_show_a_result_nothing_is_fetched(expected, monkeypatch):
    asked = []
    monkeypatch.setattr("socket.socket.connect", lambda _, address: asked.append(address))
    assert "<table" in expected._repr_html_()
    assert expected.errors[0]["image"] is None
    assert asked == []


def test_runs_are_compared_and_ranked_without_saying_more():
    truths = {str(place): {"x": place % 7, "y": "a"} for place in range(40)}
    good = hd.score(truths, truths, metric="record_f1", model="good")
    poor = hd.score(
        truths, {key: {"x": 99, "y": "a"} for key in truths}, metric="record_f1", model="poor"
    )
    comparison = hd.compare_runs(poor, good)
    assert (comparison.better, comparison.judged_by) == ("good", "f1_micro")
    assert "good is better" in repr(comparison)
    figures = comparison.to_pandas().set_index("figure")
    assert figures.loc["f1_micro", "difference"] == -0.5
    board = hd.rank_runs([poor, good])
    assert board.to_pandas()[["model", "rank"]].values.tolist() == [["good", "1"], ["poor", "2"]]
    assert repr(board).splitlines()[1] == " 1 good 1.0000"
    for shown in (comparison, board):
        assert "<table" in shown._repr_html_()
        assert pickle.loads(pickle.dumps(shown)) == shown
    other = hd.score({"1": {"x": 1}}, {"1": {"x": 1}}, metric="record_f1")
    with pytest.raises(hd.HdbenchError, match="of 2 kinds, which are never ranked together"):
        hd.rank_runs([good, other])


@pytest.fixture(scope="module")
def ranked():
    """Three models on forty items, of which two say their seconds."""
    truths = {str(place): {"x": place % 7, "y": "a"} for place in range(40)}
    right = [40, 30, 10]
    results = []
    for number, name in enumerate(("good", "fair", "poor")):
        rows = [
            {"id": key, "x": truth["x"] if int(key) < right[number] else 99, "y": "a"}
            | ({} if name == "poor" else {"seconds": number + 1.0})
            for key, truth in truths.items()
        ]
        results.append(hd.score(truths, rows, metric="record_f1", model=name))
    return results


def test_plots_draw_the_numbers_of_their_objects(ranked):
    result = ranked[1]
    for drawn in (
        result.plot(),
        hd.compare_runs(*ranked[:2]).plot(),
        hd.rank_runs(ranked).plot(),
        hd.rank_runs(ranked).plot(x="seconds", language="de"),
        hd.rank_runs(ranked).plot_fields(),
    ):
        assert drawn.alt
        assert b"<svg" in drawn.bytes_of("svg")
    interval = result.field_intervals["x"]
    f1 = result.fields.to_pandas().set_index("field").loc["x", "f1"]
    assert interval.low < f1 < interval.high
    assert f"x {f1:.3f} ({interval.low:.3f} to {interval.high:.3f})" in result.plot().alt
    assert "1.000" in hd.rank_runs(ranked).plot().alt


def test_a_plot_without_numbers_is_one_line(ranked):
    with pytest.raises(hd.HdbenchError, match="no run says its price"):
        hd.rank_runs(ranked).plot(x="price")


def test_a_field_has_the_interval_of_a_card_with_it_alone(ranked):
    result = ranked[1]
    truths = {str(place): {"x": place % 7} for place in range(40)}
    alone = {key: {"x": truth["x"] if int(key) < 30 else 99} for key, truth in truths.items()}
    of_one = hd.score(truths, alone, metric="record_f1")
    expected = of_one.intervals.figures["f1_micro"]
    found = result.field_intervals["x"]
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)


class Length(hd.Metric):
    """Whether a text is as long as it should be."""

    name = "own_length"
    rules = 1
    statistics = ("right",)
    item_figure = "right"
    figures = (*Figure.rates("share_right"), *PERFECT)
    option_names = ("slack",)

    def __init__(self, protocol="documented", slack=0):
        super().__init__(protocol)
        self.slack = slack

    def prepare(self, reference):
        return reference

    def score(self, record, prepared):
        apart = abs(len((record or {}).get("text", "")) - len(prepared["text"]))
        return ItemScore({"right": int(record is not None and apart <= self.slack)})

    def explain(self, score):
        return []

    def rates(self, totals):
        right = totals["right"]
        return {"share_right": right / totals["items"], "items_perfect": int(right)}

    def field_rates(self, totals, outcomes):
        return {}


def test_a_metric_is_a_class_or_an_instance_and_its_result_is_read_again(tmp_path):
    truths, answers = {"a": {"text": "four"}}, {"a": {"text": "three"}}
    assert hd.score(truths, answers, metric=Length).value == 0
    assert hd.score(truths, answers, metric=Length, slack=1).value == 1
    result = hd.score(truths, answers, metric=Length("published", slack=1))
    assert (result.value, result.metric.protocol) == (1, "published")
    hd.write_results(tmp_path / "r.json", result)
    assert hd.read_result(tmp_path / "r.json") == result


def same_letters(one, other):
    return float(sorted(str(one)) == sorted(str(other)))


def test_values_are_compared_by_a_function(tmp_path):
    truths, answers = {"a": {"x": "abc", "y": "d"}}, {"a": {"x": "cab", "y": "e"}}
    result = hd.score(truths, answers, metric="record_f1", similarity=same_letters)
    assert result.value == 0.5
    assert result.errors.to_pandas()["field"].tolist() == ["y"]
    hd.write_results(tmp_path / "r.json", result)
    read = hd.read_result(tmp_path / "r.json")
    assert (read.value, read.signature) == (0.5, result.signature)
    assert 'similarity:"same_letters"' in read.signature


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"metric": "f1"}, "no metric 'f1': this hdbench has zettel_f1"),
        ({"metric": dict}, "neither a metric's name nor a class derived from hdbench.Metric"),
        ({"metric": Length(), "slack": 1}, "own_length: an instance has its .*: leave out slack"),
        ({"metric": Length(), "protocol": "published"}, "leave out protocol"),
        ({"treshold": 0.5}, "record_f1 has no option 'treshold'.* did you mean threshold"),
        ({"threshold": 7}, "threshold: 7 is not a number from 0 to 1"),
        ({"protocol": "strict"}, "no protocol 'strict': choose one of documented, published"),
        ({"errata": "all"}, "errata"),
        ({"similarity": 0.9}, "similarity: 0.9 is not a function"),
        ({"similarity": max}, "similarity: 'Faust' of 'Faust' and 'Faust' is not a number from 0"),
        ({"similarity": "same_letters"}, "give the function itself, not its name 'same_letters'"),
        ({"model": " "}, "model= is blank"),
    ],
)
def test_a_wrong_call_is_one_sentence(how, told):
    with pytest.raises(hd.HdbenchError, match=told) as error:
        hd.score(TRUTHS, ANSWERS, **{"metric": "record_f1"} | how)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda result: hd.compare_runs(result, "no.json"), "no.json: cannot be read"),
        (lambda result: hd.compare_runs(result, result.filter(["a"])), "items"),
        (lambda result: hd.rank_runs([result, result.filter(["a"])]), "of 2 kinds"),
        (lambda result: hd.compare_runs(result, 3), "3: must be a result, or the path"),
        (lambda _: hd.rank_runs("no.json"), "no.json: cannot be read"),
        (lambda _: hd.rank_runs([]), "no runs to rank"),
        (lambda _: hd.rank_runs({"prompt A": "no.json"}), "no.json: cannot be read"),
        (lambda result: hd.concat([result, result]), "item 'a' is in two of these results"),
        (lambda _: hd.concat([]), "no result to put together"),
        (lambda result: result.filter(["z"]), "no item 'z'"),
        (
            lambda result: result.filter(decade=1880),
            "decade: no such column.* in memory: choose by ids",
        ),
        (lambda result: result.by({"a": 1}), "no value for 1 of the items"),
        (lambda _: hd.load_benchmark("zetelkatalog"), "zetelkatalog"),
        (lambda _: hd.score("no-benchmark", ANSWERS, metric="record_f1"), "metric= is for"),
    ],
)
def test_ten_wrong_calls_are_ten_sentences(call, told):
    truths = {"a": {"year": 1924}, "b": {"year": 1925}}
    result = hd.score(truths, truths, metric="record_f1")
    with pytest.raises(hd.HdbenchError, match=told) as error:
        call(result)
    assert "\n" not in str(error.value)
