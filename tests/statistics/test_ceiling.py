"""What people reach against each other: by hand, and the same as a scored run."""

import random

import pytest

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric
from hdbench.statistics.agreement import ceiling

CARD = {"title": "Faust", "year": 1808}


def reached(items, metric="record_f1", headline="f1_micro", **options):
    return ceiling(make_metric(metric, "documented", **options), headline, items, resamples=100)


def test_two_people():
    items = [{"anna": CARD, "ben": CARD}, {"anna": CARD, "ben": CARD | {"year": 1917}}]
    found = reached(items)
    # Either way round, three of four fields match: F1 = 2·3 / (2·3 + 1 + 1).
    assert found.value == pytest.approx(6 / 8)
    assert (found.annotators, found.items, found.interval) == (2, 2, None)


def test_the_mean_is_over_both_directions():
    items = [{"anna": {"text": "abcd"}, "ben": {"text": "abcde"}}]
    found = reached(items, "text_cer", "cer")
    # Ben's text as the answer has one letter too many of four, and Anna's one too few of five.
    assert found.value == pytest.approx((1 / 4 + 1 / 5) / 2)


def test_an_item_that_one_gives_up_on():
    items = [{"anna": CARD, "ben": CARD}, {"anna": None, "ben": CARD}, {"anna": None, "ben": None}]
    found = reached(items)
    # Anna against Ben: two fields of four found, F1 = 2·2 / (2·2 + 2). Ben against Anna: the second
    # item has no ground truth, and all is right.
    assert found.value == pytest.approx((4 / 6 + 1) / 2)
    assert found.items == 2


def test_three_people_of_whom_not_all_share_items():
    wrong = {"title": "Egmont", "year": 1788}
    items = [{"anna": CARD, "ben": CARD}, {"anna": CARD, "clara": wrong}]
    found = reached(items)
    # Anna and Ben agree, Anna and Clara differ in both fields, Ben and Clara share no item.
    assert found.value == pytest.approx((1 + 1 + 0 + 0) / 4)
    assert (found.annotators, found.items) == (3, 2)


def test_nothing_to_score():
    assert reached([{"anna": None, "ben": None}]) is None
    assert reached([{"anna": CARD}]) is None


@pytest.mark.parametrize("headline", ["f1_micro", "similarity"])
def test_it_is_the_mean_of_two_scored_runs(headline):
    rng = random.Random(3)
    items = [
        {name: {"title": rng.choice("abc"), "year": rng.choice([1, 2])} for name in ("anna", "ben")}
        for _ in range(30)
    ]
    metric = make_metric("record_f1", "documented")
    results = [
        score_items(
            metric,
            [(Answer(each[a], id=str(n)), metric.prepare(each[b])) for n, each in enumerate(items)],
        )
        for a, b in (("anna", "ben"), ("ben", "anna"))
    ]
    found = ceiling(metric, headline, items)
    assert found.value == pytest.approx(sum(each.rates[headline] for each in results) / 2)
    # F1 and similarity of two texts do not depend on the direction, so that the interval is that of
    # either run.
    own = results[0].intervals.figures[headline]
    assert found.interval == pytest.approx((own.low, own.high), abs=0.01)


def test_nineteen_items_are_too_few_for_an_interval():
    items = [{"anna": CARD, "ben": CARD}] * 20
    assert reached(items[:19]).interval is None
    low, high = reached(items).interval
    assert high == 1
    assert 0.75 < low < 0.9
