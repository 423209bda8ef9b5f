"""The items of lists in a report: each under its path, missed and invented ones marked as such."""

import json
from itertools import groupby

import pytest

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import read_result, write_results
from hdbench.evaluation.score import score_items
from hdbench.report.items import item_views
from hdbench.scoring.error_classes import errors
from hdbench.scoring.metric import FieldMatch
from hdbench.scoring.record_f1 import RecordF1

TRUTH = {
    "page": "3",
    "entries": [
        {"name": "Abegg", "year": 1890, "goods": ["nails", "locks"]},
        {"name": "Boreux", "year": 1901, "goods": ["bread"]},
    ],
}
ANSWER = {
    "page": "4",
    "entries": [
        # Not Abegg, though it stands in that place: nothing in it is alike.
        {"name": "Zwicky", "year": 2024, "goods": ["mortar"]},
        {"name": "Boreux", "year": 1910, "goods": []},
    ],
}


def result(answer):
    metric = RecordF1()
    return score_items(metric, [(Answer(answer, id="p1"), metric.prepare(TRUTH))], details=True)


def shown(rows):
    return [(row.group, row.record, row.label) for row in rows]


def test_fields_are_grouped_under_their_list_item():
    scored = result(ANSWER)
    [view] = item_views(scored.per_item, scored.item_errors, scored.metric)
    assert sorted(shown(view.errors)) == [
        ("", None, "page"),
        ("entries[0]", "invented", "goods[0]"),
        ("entries[0]", "invented", "name"),
        ("entries[0]", "invented", "year"),
        ("entries[0]", "missed", "goods[0]"),
        ("entries[0]", "missed", "goods[1]"),
        ("entries[0]", "missed", "name"),
        ("entries[0]", "missed", "year"),
        ("entries[1]", None, "goods[0]"),
        ("entries[1]", None, "year"),
    ]
    groups = [row[:2] for row in shown(view.errors)]
    assert len(list(groupby(groups))) == len(set(groups))
    # One field of an item that has a counterpart is shown alone, with its whole path.
    assert shown(view.others) == [("", None, "entries[1].name")]


def test_a_missed_and_an_invented_item_in_one_place_are_no_pair():
    """Their years are both numbers, and would otherwise be taken for one that was misread."""
    [item] = result(ANSWER).per_item
    found = errors([FieldMatch(**match) for match in item["fields"]])
    classes = {
        (match.reference, match.prediction): error
        for match, error in found
        if match.field == "entries[0].year"
    }
    assert classes == {(1890, None): "missing", (None, 2024): "invented"}


def test_what_is_missed_with_its_page_is_not_marked():
    scored = result(None)
    [view] = item_views(scored.per_item, scored.item_errors, scored.metric)
    assert view.is_lost
    assert {row.record for row in view.others} == {None}
    assert {row.group for row in view.others} == {"", "entries[0]", "entries[1]"}


def test_nested_records_are_marked_on_their_own():
    truth = {"books": [{"title": "Faust", "authors": [{"name": "Goethe"}, {"name": "Zelter"}]}]}
    answer = {"books": [{"title": "Faust", "authors": [{"name": "Goethe"}]}]}
    metric = RecordF1()
    scored = score_items(metric, [(Answer(answer, id="b"), metric.prepare(truth))], details=True)
    [view] = item_views(scored.per_item, scored.item_errors, scored.metric)
    assert shown(view.errors) == [("books[0].authors[1]", "missed", "name")]


def test_record_marks_are_kept_in_results_and_checked_on_reading(tmp_path):
    path = tmp_path / "r.json"
    write_results(path, [result(ANSWER)])
    read = read_result(path)
    assert read.per_item == result(ANSWER).per_item
    marks = [match.get("record") for match in read.per_item[0]["fields"]]
    assert (marks.count("missed"), marks.count("invented")) == (4, 3)
    record = json.loads(path.read_text())
    record["per_item"][0]["fields"][0]["record"] = "lost"
    path.write_text(json.dumps(record))
    with pytest.raises(HdbenchError, match="per_item"):
        read_result(path)
