"""The gap between two sets of items, and whether its interval holds."""

from collections import Counter

import numpy as np
import pytest
from helpers.strata import cards as in_strata

from hdbench.errors import HdbenchError
from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.scoring.rates import f1
from hdbench.statistics.gap import gap


def cards(rows):
    """A result of cards with these true positives, false positives and false negatives."""
    tp, fp, fn = (list(column) for column in zip(*rows, strict=True))
    statistics = {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "f1": [f1(*row) for row in rows],
        "perfect": [int(not row[1] and not row[2]) for row in rows],
    }
    ids = [f"{number:04}" for number in range(len(rows))]
    return Result(make_metric("zettel_f1"), ids, Counter(), statistics, {}, [], [])


def drawn(rng, share, items):
    """Cards of one field each, so many of them right."""
    return cards([(1, 0, 0) if right else (0, 1, 1) for right in rng.random(items) < share])


def test_it_is_the_public_figure_minus_the_held_out_one():
    found = gap(cards([(8, 3, 3)] * 30), cards([(5, 5, 5)] * 25))
    assert (found.public, found.held_out) == (8 / 11, 1 / 2)
    assert found.difference == 8 / 11 - 1 / 2
    assert found.interval.low < found.difference < found.interval.high
    assert found.to_dict()["interval"] == [found.interval.low, found.interval.high]


def test_the_other_way_round_it_has_the_other_sign():
    one, two = cards([(8, 3, 3)] * 30), cards([(5, 5, 5)] * 30)
    there, back = gap(one, two).interval, gap(two, one).interval
    assert there.low == pytest.approx(-back.high, abs=0.01)
    assert there.high == pytest.approx(-back.low, abs=0.01)


def test_gap_between_all_right_items_still_has_an_interval():
    # Of n items alike a kind that is q of all is missed with probability (1 - q)^n.
    found = gap(cards([(1, 0, 0)] * 40), cards([(1, 0, 0)] * 40))
    unseen = 1 - 0.025 ** (1 / 40)
    assert found.interval.low == pytest.approx(-unseen, abs=0.02)
    assert found.interval.high == pytest.approx(unseen, abs=0.02)


def test_stratified_sample_figures_are_estimates_for_the_whole():
    # Half of the items are from a stratum that is a tenth of the whole.
    strata, sizes = [0] * 20 + [1] * 20, [900, 100]
    public = in_strata([11] * 20 + [0] * 20, strata, sizes)
    held_out = in_strata([0] * 20 + [11] * 20, strata, sizes)
    found = gap(public, held_out)
    assert found.public == pytest.approx(0.9)
    assert found.held_out == pytest.approx(0.1)
    assert found.interval.low < 0.8 < found.interval.high
    assert found.to_dict()["method"].endswith("within strata")


@pytest.mark.parametrize("sizes", [(19, 100), (100, 19)])
def test_below_twenty_items_on_either_side_there_is_no_interval(sizes):
    found = gap(*(cards([(1, 0, 0)] * size) for size in sizes))
    assert (found.interval, found.why) == (None, "19 items: too few for an interval")
    assert "interval" not in found.to_dict()


def test_the_seed_decides():
    one, two = (drawn(np.random.default_rng(seed), 0.7, 50) for seed in (1, 2))
    assert gap(one, two) == gap(one, two)
    assert gap(one, two).interval != gap(one, two, seed=1).interval
    with pytest.raises(HdbenchError, match="resamples"):
        gap(one, two, resamples=3)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("shares", "sizes"),
    [((0.8, 0.8), (100, 40)), ((0.9, 0.6), (60, 30)), ((0.99, 0.99), (100, 40))],
)
def test_95_percent_intervals_hold_the_true_difference(shares, sizes):
    rng = np.random.default_rng(5)
    held = widths = 0
    for seed in range(300):
        one, two = (drawn(rng, *each) for each in zip(shares, sizes, strict=True))
        found = gap(one, two, resamples=1_000, seed=seed).interval
        held += found.low <= shares[0] - shares[1] <= found.high
        widths += found.high - found.low
    assert held / 300 >= 0.93  # 0.95, less two standard errors of 300 trials
    assert widths / 300 < 0.6
