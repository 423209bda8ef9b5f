"""A promise is verified once, or as often as its plan says."""

from fractions import Fraction

import pytest
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.plan import PlanOptions, make_plan
from hdbench.errors import HdbenchError


@pytest.fixture
def cards(tmp_path):
    return PlannedValues(tmp_path)


def second_plan(cards, **options):
    return make_plan(cards.benchmark, cards.runs, PlanOptions(60, 150, **options))


def test_a_second_plan_is_refused_once_values_were_verified(cards):
    cards.plan()
    cards.learn()
    second_plan(cards)  # nothing was verified yet

    cards.verify()

    for options in ({}, {"tries": 2}, {"limit": 0.1}, {"fields": ("year",)}):
        with pytest.raises(HdbenchError, match="values were drawn to verify another plan"):
            second_plan(cards, **options)


def test_another_try_has_to_be_planned(cards):
    cards.plan()
    cards.learn()
    cards.verify()

    with pytest.raises(HdbenchError, match=r"was the last of its tries \(1\)"):
        second_plan(cards, tries=2, after=cards.plan_file)


def test_a_planned_try_shares_the_risk_and_reads_other_values(cards):
    first = cards.plan(tries=2)
    learned = cards.learn()
    cards.verify()

    with pytest.raises(HdbenchError, match="the next try has the same --tries 2"):
        second_plan(cards, tries=3, after=cards.plan_file)
    second = second_plan(cards, tries=2, after=cards.plan_file)

    assert first.risk == second.risk == Fraction(1, 20)
    assert second.after == (first.hash(),)
    read = {*first.sample, *learned.sample}
    assert set(second.read_before) == read
    assert not read & set(second.sample)
    with pytest.raises(HdbenchError, match="values were drawn to verify another plan"):
        second_plan(cards, tries=2)


def test_values_of_both_tries_are_not_accepted_unread(cards):
    first = cards.plan(tries=2)
    learned = cards.learn()
    cards.verify()
    plan_file = cards.plan_file
    cards.plan_file = cards.folder / "second/plan.yaml"
    cards.plan_file.parent.mkdir()
    second = cards.plan(tries=2, after=plan_file)
    again = cards.learn()
    cards.verify()

    decision = cards.decide()
    cards.apply()

    read = {*first.sample, *learned.sample, *again.sample, *second.sample}
    assert decision.read == len(read) == 2 * (60 + 150)
    assert len(cards.taken()) == decision.accepted
    assert not read & set(cards.taken())
