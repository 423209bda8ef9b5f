"""The best pairs of two lists, beside a procedure that tries all there are."""

import random

import numpy as np
import pytest

from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.records import pairing, tree
from hdbench.scoring.records.assignment import FEW, assign


def tried(weights):
    """The best pairs of rows and columns: greatest sum, then fewest, then first."""

    def solutions(row, taken):
        if row == len(weights):
            yield 0, []
            return
        for total, pairs in solutions(row + 1, taken):
            yield total, pairs
        for column, weight in enumerate(weights[row]):
            if weight and column not in taken:
                for total, pairs in solutions(row + 1, taken | {column}):
                    yield total + weight, [(row, column), *pairs]

    return min((-total, len(pairs), pairs) for total, pairs in solutions(0, frozenset()))[2]


@pytest.mark.parametrize("greatest", [1, 2, 3, 10])
@pytest.mark.parametrize("zeros", [0.0, 0.7])
def test_it_is_the_first_of_the_best(greatest, zeros):
    rng = random.Random(greatest)
    sizes = set()
    for _ in range(300):
        height, width = rng.randint(1, 5), rng.randint(1, 5)
        weights = [
            [0 if rng.random() < zeros else rng.randint(0, greatest) for _ in range(width)]
            for _ in range(height)
        ]
        assert assign(np.array(weights, np.int64)) == tried(weights), weights
        sizes.add(height * width)
    assert min(sizes) < FEW < max(sizes)


def entry(rng):
    def text():
        return rng.choice(("ab", "abc", "abcd", "xyz", "")) + rng.choice("12")

    return {
        "name": text(),
        "authors": [{"family": text(), "given": text()} for _ in range(rng.randint(0, 5))],
    }


@pytest.mark.parametrize("lists", ["aligned", "ordered"])
def test_lists_within_items_are_the_same_compared_together_or_one_by_one(monkeypatch, lists):
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
    monkeypatch.setattr(tree, "MAX_PAIRS", 7)
    metric = RecordF1(lists=lists)
    score = metric.score({"e": [*"edcba"]}, metric.prepare({"e": [*"ab"]}))
    names = ("records_found", "records_missed", "records_invented")
    assert tuple(score.statistics[name] for name in names) == records
    assert score.not_compared == {"e": 2}


def test_two_lists_of_five_thousand_items_are_compared_whole():
    assert tree.most_compared(5_000) == 5_000
    assert tree.most_compared(5_001) == 4_999
    assert tree.most_compared(30_000_000) == 1
