"""The file of readings: what was saved stays, whoever else writes, and a stranger's is refused."""

from itertools import count

import pytest
from annotating.checking.readings import PLAN, key, reading
from hypothesis import given
from hypothesis import strategies as st

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.readings import (
    ReaderAgreement,
    Settled,
    reader_agreement,
    settled,
)
from hdbench.errors import HdbenchError


def add(values, *readings):
    for each in readings:
        with values.writing(each.by):
            values.append([each])
        values.refresh()


def read_by(values, item, plan=PLAN):
    return [(each.by, each.value) for each in values.readings(plan)[key(item)]]


def test_the_last_reading_of_each_person_counts(tmp_path):
    values = People(tmp_path)
    add(
        values,
        reading("b1", "anna", "Fausst"),
        reading("b1", "ben", "Faust"),
        reading("b2", "ben", "Egmont"),
        reading("b1", "anna", "Faust"),
        reading("b1", "anna", "other", plan="f" * 64),
    )
    for each in (values, People(tmp_path)):
        assert read_by(each, "b1") == [("anna", "Faust"), ("ben", "Faust")]
        assert read_by(each, "b2") == [("ben", "Egmont")]
        assert each.readings("none") == {}


def test_what_others_append_is_read_on(tmp_path):
    ours, theirs = People(tmp_path), People(tmp_path)
    add(theirs, reading("b1", "ben", "Faust"))
    assert ours.readings(PLAN) == {}
    ours.refresh()
    assert read_by(ours, "b1") == [("ben", "Faust")]
    add(theirs, reading("b1", "carl", "Faust"))
    add(ours, reading("b1", "anna", "Faust"))
    assert {by for by, _ in read_by(ours, "b1")} == {"ben", "carl", "anna"}


@pytest.mark.parametrize("value", ["x" * 5 * 2**20, float("nan"), {1}])
def test_what_could_not_be_read_again_is_not_saved(tmp_path, value):
    values = People(tmp_path)
    with pytest.raises(HdbenchError):
        add(values, reading("b1", "anna", value))
    assert not (tmp_path / "people/anna.jsonl").exists()


def test_half_a_character_can_be_saved(tmp_path):
    add(People(tmp_path), reading("b1", "anna", "a\ud800"))
    assert len(People(tmp_path).readings(PLAN)) == 1


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ([], Settled("unsettled", None, 0)),
        (["a"], Settled("value", "a", 1)),
        ([None], Settled("value", None, 1)),
        (["Basel", " BASEL\n"], Settled("value", "Basel", 2)),
        ([1957, "1957"], Settled("value", 1957, 2)),
        ([["Diss", "Basel"], ["diss", "basel"]], Settled("value", ["Diss", "Basel"], 2)),
        ([None, ""], Settled("value", None, 2)),
        (["a", "b"], Settled("unsettled", None, 2)),
        (["a", "b", "b"], Settled("value", "b", 3)),
        (["a", "b", "c"], Settled("unsettled", None, 3)),
        (["a", "b", "c", "A"], Settled("value", "a", 4)),
        (["a", "b", "c", "c"], Settled("unsettled", None, 4)),
        (["a", "a", "b", "b"], Settled("value", "a", 4)),
    ],
)
def test_settled_values_by_hand(told, outcome):
    people = (f"p{number}" for number in count())
    assert settled(
        [reading("b1", by, value) for by, value in zip(people, told, strict=False)], "ignored"
    ) == (outcome)


def test_unreadable_and_damaged_are_outcomes_of_their_own():
    kinds = ("unreadable", "damaged", "damaged")
    readings = [reading("b1", f"p{place}", None, what=what) for place, what in enumerate(kinds)]
    assert settled(readings[:1], "counts").outcome == "unreadable"
    assert settled(readings[:2], "counts").outcome == "unsettled"
    assert settled(readings, "counts") == Settled("damaged", None, 3)
    nothing = reading("b1", "anna", None)
    assert settled([nothing, readings[0]], "counts").outcome == "unsettled"


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_settled_is_what_the_rule_says(told):
    def by_the_rule():
        if len(told) < 2 or told[0] == told[1]:
            return told[0] if told else None
        deciding = [value for value in told[2:] if value in told[:2]]
        return deciding[0] if deciding else None

    outcome = settled(
        [reading("b1", f"p{place}", value) for place, value in enumerate(told)], "counts"
    )
    assert outcome.value == by_the_rule()
    assert outcome.outcome == ("unsettled" if by_the_rule() is None else "value")


def test_agreement_of_the_first_two_people():
    def read(*told):
        return [reading("b1", f"p{place}", value) for place, value in enumerate(told)]

    by_value = [read("a"), read("a", "A"), read("a", "b", "b"), read(None, None), []]
    assert reader_agreement(by_value, "ignored") == ReaderAgreement(twice=3, same=2)
    assert reader_agreement([], "counts") == ReaderAgreement(0, 0)
