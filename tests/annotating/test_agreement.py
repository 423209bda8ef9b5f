"""What people entered for the same things, from their records."""

import pytest

from hdbench.collections.truth.agreement import rules_for, units_by_field
from hdbench.scoring import make_metric

RULES = rules_for(make_metric("record_f1", "documented"))


def values(*items, rules=RULES):
    found = units_by_field(items, rules)
    return {field: [unit.values for unit in units] for field, units in found.items()}


def test_fields_within_fields():
    anna = {"title": "Faust", "publication": {"year": 1808, "place": None}}
    ben = {"title": "Faust I", "publication": {"year": 1808}, "note": ""}
    assert values([anna, ben]) == {
        "title": [("Faust", "Faust I")],
        "publication.year": [("1808", "1808")],
    }


def test_empty_values_are_equal_and_texts_are_normalized():
    items = [
        [{"name": "Mu\u0308ller "}, {"name": "Müller"}],
        [{"name": None}, {"name": "  "}],
        [{}, {"name": ""}],
        [{"name": "may"}, {"name": "May"}],
    ]
    assert values(*items)["name"] == [
        ("Müller", "Müller"),
        (None, None),
        (None, None),
        ("may", "May"),
    ]


def test_entries_are_aligned_by_what_they_hold():
    anna = {"persons": [{"name": "Frey", "role": "editor"}, {"name": "May", "role": None}]}
    ben = {"persons": [{"name": "May", "role": None}, {"name": "Frey", "role": "author"}]}
    assert values([anna, ben]) == {
        "persons[].name": [("Frey", "Frey"), ("May", "May")],
        "persons[].role": [("editor", "author"), (None, None)],
    }


def test_an_entry_that_one_lacks_counts_with_what_it_has():
    anna = {"persons": [{"name": "Frey", "role": None}, {"name": None}]}
    ben = {"persons": [{"name": "Xaver Niedermoser", "role": "editor"}, {"name": "Frey"}]}
    assert values([anna, ben]) == {
        "persons[].name": [("Frey", "Frey"), (None, "Xaver Niedermoser")],
        "persons[].role": [(None, None), (None, "editor")],
    }


def test_three_people_and_an_entry_that_the_first_one_lacks():
    anna, ben = {"subjects": ["Diss"]}, {"subjects": ["Jurisprudenz", "Diss"]}
    clara = {"subjects": ["Jurisprudens", "Diss"]}
    assert values([anna, ben, clara]) == {
        "subjects[]": [("Diss", "Diss", "Diss"), (None, "Jurisprudenz", "Jurisprudens")]
    }


def test_lists_within_lists():
    anna = {"pages": [{"entries": [{"name": "Abegg"}, {"name": "Boreux"}]}]}
    ben = {"pages": [{"entries": [{"name": "Boreux"}]}]}
    assert values([anna, ben]) == {
        "pages[].entries[].name": [("Abegg", None), ("Boreux", "Boreux")]
    }


def test_lists_by_position_where_the_benchmark_compares_so():
    rules = rules_for(make_metric("record_f1", "documented", lists="position"))
    anna, ben = {"names": ["Abegg", "Boreux"]}, {"names": ["Boreux"]}
    assert values([anna, ben], [{}, {}], rules=rules) == {
        "names[]": [("Abegg", "Boreux"), ("Boreux", None)]
    }


def test_what_is_not_scored_is_left_out():
    rules = rules_for(make_metric("record_f1", "documented", ignore=["note"]))
    assert values([{"a": 1, "note": "x"}, {"a": 1, "note": "y"}], rules=rules) == {
        "a": [("1", "1")]
    }


@pytest.mark.parametrize("name", ["zettel_f1", "text_cer"])
def test_other_metrics_have_the_usual_alignment(name):
    rules = rules_for(make_metric(name, "documented"))
    found = values([{"names": ["Abegg", "Boreux"]}, {"names": ["Boreux"]}], rules=rules)
    assert found == {"names[]": [("Abegg", None), ("Boreux", "Boreux")]}


def test_a_truth_that_one_holds_for_missing():
    items = [[None, {"a": 1, "b": None}], [None, None], [{"a": 1, "b": 2}, {"a": 2, "b": None}]]
    found = units_by_field(items, RULES)
    assert {field: [tuple(unit) for unit in units] for field, units in found.items()} == {
        "a": [(0, (None, "1")), (2, ("1", "2"))],
        "b": [(2, ("2", None))],
    }
