"""Decisions by single values on collections so small that they can be derived by hand."""

import json

import pytest
from helpers.planned_cards import RIGHT
from helpers.planned_values import PlannedValues

from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.learning import read_learning


class Alike(PlannedValues):
    """100 cards whose three runs all say the same."""

    def __init__(self, folder):
        super().__init__(folder, items=100)

    @staticmethod
    def said(*_):
        return RIGHT


@pytest.fixture
def cards(tmp_path):
    """20 of 100 titles are learned from, and 60 of the other 80 verify it."""
    made = Alike(tmp_path)
    made.plan(20, 60, fields=("title",))
    return made


def wrong_titles(cards, plan, values, stage, count):
    """Read values of which so many are wrong."""
    cards.read(values[:count], plan, stage, title="Thesen")
    cards.read(values[count:], plan, stage)


def test_no_error_by_hand(cards):
    # No column tells values apart: there is one probability and one cut. With half an error added
    # to none of 20 it is 0.5 / 20.5 = 0.024390244.
    learned = cards.learn()
    cards.verify()

    decision = cards.decide()

    assert learned.coefficients == {}
    (group,) = decision.groups
    (cut,) = group.cuts
    assert cut.probability == pytest.approx(24_390_244, abs=50)  # the intercept is rounded
    assert (cut.values, cut.unread, cut.read) == (100, 80, 60)
    # Of the other 20 one may be wrong. Were two, all 60 would be right in (78 over 60) / (80 over
    # 60) = 20 · 19 / (80 · 79) = 0.060 of the samples, and were one, in 20/80 = 0.25.
    assert cut.accepted
    assert cut.upper == 1 / 20
    assert (decision.accepted, decision.read, decision.to_look_at.values) == (20, 80, 0)
    assert decision.wrong["letter"].at_most == 1
    assert decision.by_field["title"].upper == 1 / 20
    assert decision.runs_usd == 7.5


def test_one_error_by_hand(cards):
    # 3 wrong of 80, at most one of them among 60 read: (3·20·19/2·60 + 20·19·18/6) / (80 over 3)
    # = (11,400 + 1,140) / 82,160 = 0.153.
    cards.learn()
    plan, learned = cards.planned(), cards.learned()
    wrong_titles(cards, plan, learned.second_stage, "verify", 1)
    cards.read_again(title="Thesen")

    decision = cards.decide()

    (cut,) = decision.groups[0].cuts
    assert (cut.read, cut.wrong["letter"], cut.accepted) == (60, 1, False)
    assert decision.accepted == 0
    assert decision.to_look_at.values == 20
    applied = cards.apply()
    assert (applied.taken, applied.checked, sum(applied.check.values())) == (0, 80, 20)


def test_two_of_20_wrong_are_a_tenth(cards):
    plan = cards.planned()
    wrong_titles(cards, plan, plan.first_stage, "learn", 2)

    learned = cards.learn_only()

    assert learned.wrong == 2
    assert learned.intercept == pytest.approx(-2.197225)  # ln(2 / 18), to six decimals
    assert learned.groups[0].cuts[0].probability == pytest.approx(10**8, abs=50)
    assert learned.expected.wrong == 0.1


def test_what_nobody_can_read_is_wrong(cards):
    cards.learn()
    plan, learned = cards.planned(), cards.learned()
    cards.read(learned.second_stage[1:], plan, "verify")
    cards.read(learned.second_stage[:1], plan, "verify", what="unreadable")
    cards.read(learned.second_stage[:1], plan, "verify", by="ben", what="unreadable")

    decision = cards.decide()

    assert decision.groups[0].cuts[0].wrong == {"letter": 1, "threshold": 1}
    assert decision.second.unreadable == 1


def test_what_is_accepted_is_what_was_promised(tmp_path):
    cards = PlannedValues(tmp_path)
    decision = cards.decided()

    applied = cards.apply()

    taken = cards.taken()
    plan, learned = cards.planned(), cards.learned()
    read = {tuple(pair) for pair in (*plan.sample, *learned.sample)}
    assert len(taken) == applied.taken == decision.accepted > 0
    assert not read & set(taken)
    assert applied.checked == decision.read == len(read)
    by_field = {name: counts["taken"] for name, counts in applied.by_field.items()}
    assert by_field == {name: field.accepted for name, field in decision.by_field.items()}
    # Years that are wrong in two runs were learned to be so.
    assert all(value != 1900 for value in taken.values())


def test_only_answered_values_are_accepted(tmp_path):
    cards = PlannedValues(tmp_path)
    for run in cards.runs:
        lines = (run / "answers.jsonl").read_text().splitlines()
        kept = [line for line in lines if json.loads(line)["id"] not in ("0001", "0002")]
        (run / "answers.jsonl").write_text("\n".join(kept) + "\n")

    decision = cards.decided()
    cards.apply()

    assert decision.unanswered == 2
    assert not {item for item, _ in cards.taken()} & {"0001", "0002"}
    assert decision.accepted + decision.read + decision.to_look_at.values == 900


def test_deciding_leaves_what_was_learned_as_it_is(tmp_path):
    cards = PlannedValues(tmp_path)
    cards.decided()
    learning = read_learning(cards.planned(), cards.benchmark, cards.plan_file)
    before = learning.probabilities.copy()
    first = decide(cards.planned(), cards.benchmark, cards.plan_file, learning=learning)
    again = decide(cards.planned(), cards.benchmark, cards.plan_file, learning=learning)
    assert (learning.probabilities == before).all()
    assert again.model_copy(update={"decided": first.decided}) == first
