"""Items that are paired list by list or together, and up to a bound."""

import random

import pytest

from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.records import pairing, tree


def entry(rng):
    def text():
        return rng.choice(("ab", "abc", "abcd", "xyz", "")) + rng.choice("12")

    return {
        "name": text(),
        "authors": [{"family": text(), "given": text()} for _ in range(rng.randint(0, 5))],
    }


@pytest.mark.parametrize("lists", ["aligned", "ordered"])
def test_inner_lists_score_the_same_together_or_one_by_one(monkeypatch, lists):
    rng = random.Random(1)
    metric = RecordF1(lists=lists)
    for _ in range(20):
        truth = metric.prepare({"entries": [entry(rng) for _ in range(6)]})
        answer = {"entries": [entry(rng) for _ in range(6)]}
        together = metric.score(answer, truth)
        with monkeypatch.context() as patched:
            patched.setattr(pairing, "MAX_AT_ONCE", 1)
            one_by_one = metric.score(answer, truth)
        assert together.statistics == one_by_one.statistics
        assert together.fields == one_by_one.fields


@pytest.mark.parametrize(("lists", "records"), [("aligned", (2, 0, 3)), ("ordered", (0, 2, 5))])
def test_items_beyond_the_bound_count_as_invented_and_are_told(monkeypatch, lists, records):
    # Of a, b, c, d, e, the order of an aligned list, or of e, d, c, b, a, three are compared.
    monkeypatch.setattr(tree, "MAX_ITEM_PAIRS", 7)
    metric = RecordF1(lists=lists)
    score = metric.score({"e": [*"edcba"]}, metric.prepare({"e": [*"ab"]}))
    names = ("records_found", "records_missed", "records_invented")
    assert tuple(score.statistics[name] for name in names) == records
    assert score.not_compared == {"e": 2}


def test_two_lists_of_five_thousand_items_are_compared_whole():
    assert tree.most_compared(5_000) == 5_000
    assert tree.most_compared(5_001) == 4_999
    assert tree.most_compared(30_000_000) == 1
