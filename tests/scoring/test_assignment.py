"""The pairs of two lists, against every way to pair them."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.scoring.records.pairing import FEW, _without_crossing, assign


def every_way(weights, row=0, taken=()):
    """Each set of pairs that a matrix allows, as sorted pairs."""
    if row == len(weights):
        yield ()
        return
    yield from every_way(weights, row + 1, taken)
    for column, weight in enumerate(weights[row]):
        if weight > 0 and column not in taken:
            for rest in every_way(weights, row + 1, (*taken, column)):
                yield ((row, column), *rest)


def best(weights, ways):
    """The greatest sum, then the fewest pairs, then the first pairs."""
    return list(
        min(ways, key=lambda way: (-sum(weights[r][c] for r, c in way), len(way), list(way)))
    )


@st.composite
def matrices(draw):
    """Small ones; with few different weights there are ties."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    highest = draw(st.sampled_from([1, 2, 3, 1_000_000]))
    weights = st.integers(0, highest) | st.just(0)
    return draw(
        st.lists(
            st.lists(weights, min_size=width, max_size=width), min_size=height, max_size=height
        )
    )


@settings(max_examples=150, deadline=None)
@given(weights=matrices())
def test_any_pairs(weights):
    assert assign(np.array(weights, np.int64)) == best(weights, every_way(weights))


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
        assert assign(np.array(weights, np.int64)) == best(weights, every_way(weights)), weights
        sizes.add(height * width)
    assert min(sizes) < FEW < max(sizes)


@settings(max_examples=150, deadline=None)
@given(weights=matrices())
def test_pairs_that_do_not_cross(weights):
    ways = (
        way
        for way in every_way(weights)
        if [column for _, column in way] == sorted(column for _, column in way)
    )
    assert _without_crossing(np.array(weights, np.int64)) == best(weights, ways)


@pytest.mark.parametrize(
    ("weights", "pairs"),
    [
        ([[0]], []),
        ([[7]], [(0, 0)]),
        ([[1, 1], [1, 1]], [(0, 0), (1, 1)]),  # of two equally good ones the first
        ([[2, 1], [1, 0]], [(0, 0)]),  # one pair is as good as two
        ([[0, 1], [1, 1]], [(0, 1), (1, 0)]),
        ([[5, 9], [9, 9]], [(0, 1), (1, 0)]),
        ([[1], [1], [1]], [(0, 0)]),
        ([[0, 0, 1], [0, 0, 1]], [(0, 2)]),
        ([[2**50, 1], [0, 1]], [(0, 0), (1, 1)]),  # no digit of a large weight is lost
    ],
)
def test_pairs_by_hand(weights, pairs):
    assert assign(np.array(weights, np.int64)) == pairs


def test_a_thousand_by_a_thousand_with_nothing_but_ties():
    same = np.ones((1_000, 1_000), np.int64)
    assert assign(same) == [(each, each) for each in range(1_000)]
