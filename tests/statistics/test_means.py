"""Means and shares of a whole: against plain procedures, an expanded population, and by hand."""

import math

import numpy as np
import pytest
from helpers.strata import sample_of
from reference.bootstrap_t import interval
from scipy import stats

from hdbench.benchmarks.sample import Sample
from hdbench.statistics.means import Design, Estimate, means, share

EDITS = [0] * 24 + [1] * 9 + [2] * 4 + [3, 5, 11]


def design_of(strata, sizes):
    counted = {place: strata.count(place) for place in range(len(sizes))}
    return Design(Sample.model_validate(sample_of(sizes, counted)), strata)


def mean_of(values, design, **options):
    return means(np.array(values, np.float64)[:, None], design, **options)[0]


def test_the_interval_is_that_of_a_plain_procedure():
    found = mean_of(EDITS, Design.simple(40), resamples=8_000)
    low, high = interval(EDITS, [0] * 40, {0: 1}, 8_000)
    assert found.value == 36 / 40
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.03)
    # Skewed as edits are, it reaches much further up than down; Student's would not.
    assert found.high - found.value > 1.5 * (found.value - found.low)


def test_the_interval_of_strata_is_that_of_a_plain_procedure():
    values = [*EDITS, 4, 7, 2, 9, 4, 6, 8, 1, 5, 3, 12, 6]
    strata = [0] * 40 + [1] * 12
    found = mean_of(values, design_of(strata, (9_000, 1_000)), resamples=8_000)
    low, high = interval(values, strata, {0: 9_000, 1: 1_000}, 8_000)
    assert found.value == pytest.approx(0.9 * 36 / 40 + 0.1 * 67 / 12)
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.03)


def test_small_strata_count_for_their_few_items():
    strata = [place for place in range(12) for _ in range(3)]
    values = [float((7 * n) % 11) + place for n, place in enumerate(strata)]
    sizes = [1_000 + 50 * place for place in range(12)]
    found = mean_of(values, design_of(strata, sizes), resamples=4_000)
    low, high = interval(values, strata, dict(enumerate(sizes)), 4_000)
    # The widths, as these differ by a fifth if variances are divided by 3 instead of 2.
    assert found.high - found.low == pytest.approx(high - low, rel=0.05)


def test_each_figure_is_drawn_as_if_it_were_alone():
    other = [value * 60.0 + 7 for value in EDITS]
    both = means(np.column_stack([EDITS, other]), Design.simple(40))
    alone = [mean_of(column, Design.simple(40)) for column in (EDITS, other)]
    for together, single in zip(both, alone, strict=True):
        assert together.value == pytest.approx(single.value)
        assert (together.low, together.high) == pytest.approx((single.low, single.high))
    assert both[1].low == pytest.approx(both[0].low * 60 + 7)


def test_items_stand_for_as_many_as_their_stratum_has():
    # 30 of 180 and 20 of 20: an item of the first stratum stands for six, of the second for one.
    strata = [0] * 30 + [1] * 20
    values = [float(n % 7) for n in range(50)]
    flags = np.array([n % 3 == 0 for n in range(50)])
    design = design_of(strata, (180, 20))
    expanded = [value for value in values[:30] for _ in range(6)] + values[30:]
    everyone = [flag for flag in flags[:30] for _ in range(6)] + list(flags[30:])
    assert mean_of(values, design).value == pytest.approx(sum(expanded) / 200)
    assert share(flags, design).value == pytest.approx(sum(everyone) / 200)


def test_some_items_stand_for_the_others_of_their_stratum():
    strata = [0] * 30 + [1] * 20
    values = [1.0] * 30 + [5.0] * 20
    design = design_of(strata, (900, 100)).of([*range(15), *range(30, 40)])
    assert mean_of(values[:15] + values[30:40], design).value == pytest.approx(0.9 + 0.5)


def test_no_interval_is_made_up():
    simple = Design.simple
    assert mean_of([1.0] * 50, simple(50)) == Estimate(1.0)  # all alike
    assert mean_of([0.1] * 50, simple(50)) == Estimate(pytest.approx(0.1))  # but for rounding
    assert mean_of(EDITS[-19:], simple(19)).low is None  # too few
    # In more than 5 % of draws, the item that differs is not there: there is no upper end.
    assert mean_of([0.0] * 49 + [3.0], simple(50)) == Estimate(pytest.approx(3 / 50))
    assert mean_of([0.0] * 40 + [3.0] * 10, simple(50)).high is not None


def test_an_interval_does_not_go_below_nothing():
    assert mean_of([0.0] * 45 + [1, 1, 1, 1, 40], Design.simple(50)).low == 0.0


def test_the_same_items_give_the_same_interval():
    assert mean_of(EDITS, Design.simple(40)) == mean_of(EDITS, Design.simple(40))
    assert mean_of(EDITS, Design.simple(40)) != mean_of(EDITS, Design.simple(40), seed=1)


@pytest.mark.parametrize("right", [0, 1, 10, 49, 50])
def test_a_share_has_the_exact_interval(right):
    flags = np.arange(50) < right
    exact = stats.binomtest(right, 50).proportion_ci(0.9, "exact")
    found = share(flags, Design.simple(50))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    # A single stratum is a simple sample.
    one = share(flags, design_of([0] * 50, (7_000,)))
    assert (one.low, one.high) == pytest.approx((exact.low, exact.high))


def test_share_in_strata_has_interval_of_its_effective_size():
    # 20 of 40 items that stand for 90 %, and 5 of 10 for 10 %: p = 1/2.
    strata = [0] * 40 + [1] * 10
    flags = np.array([place % 2 == 0 for place in range(50)])
    found = share(flags, design_of(strata, (9_000, 1_000)))
    assert found.value == pytest.approx(0.5)
    of_strata = 0.9**2 * (1 / 4) * (40 / 39) / 40 + 0.1**2 * (1 / 4) * (10 / 9) / 10
    effect = of_strata / (1 / 4 / 49)
    assert effect > 1
    worth = 50 / effect * (stats.t.ppf(0.95, 49) / stats.t.ppf(0.95, 48)) ** 2
    low = stats.beta.ppf(0.05, worth / 2, worth / 2 + 1)
    assert (found.low, found.high) == pytest.approx((low, 1 - low))


def test_where_all_items_are_alike_unequal_weights_still_count():
    strata = [0] * 10 + [1] * 40
    found = share(np.full(50, True), design_of(strata, (9_000, 1_000)))
    # Kish: (Σ w)² / Σ w², with weights 900 and 25.
    worth = (9_000 + 1_000) ** 2 / (10 * 900**2 + 40 * 25**2)
    worth *= (stats.t.ppf(0.95, 49) / stats.t.ppf(0.95, 48)) ** 2
    assert found.low == pytest.approx(0.05 ** (1 / worth))
    assert found.high == 1.0


def test_an_estimate_is_multiplied_with_its_ends():
    assert Estimate(0.5).times(700_000) == Estimate(350_000.0)
    assert Estimate(0.5, 0.25, math.pi).times(2) == Estimate(1.0, 0.5, 2 * math.pi)


def test_a_share_of_fewer_than_twenty_items_has_no_interval():
    some = np.array([True] * 10 + [False] * 9)
    assert share(some, Design.simple(19)) == Estimate(10 / 19)
    assert share(np.append(some, False), Design.simple(20)).high is not None
