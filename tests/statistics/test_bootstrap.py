"""Intervals: by hand where there is nothing to chance, by a naive bootstrap, and by simulation."""

import random

import numpy as np
import pytest
from helpers.results import result_of
from helpers.undeclared import Undeclared
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hdbench.scoring import make_metric
from hdbench.scoring.metric import f1
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval, intervals
from hdbench.statistics.differences import difference_interval
from hdbench.statistics.resampling import bootstrap, distinct, tables

COUNTS = st.tuples(*[st.integers(0, 12)] * 3)


def cards(rows, **options):
    """A result of cards with these true positives, false positives and false negatives."""
    metric = make_metric("zettel_f1", **options)
    tp, fp, fn = ([row[place] for row in rows] for place in range(3))
    statistics = {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "f1": [f1(*row) for row in rows],
        "perfect": [int(not row[1] and not row[2]) for row in rows],
    }
    ids = [f"{number:04}" for number in range(len(rows))]
    return result_of(metric, ids, statistics)


def pages(rows, names, protocol="documented"):
    return rows_of(make_metric("avisblatt_cer", protocol), rows, names)


def undeclared(rows, names):
    return rows_of(Undeclared(), rows, names)


def rows_of(metric, rows, names):
    statistics = {name: [0] * len(rows) for name in metric.statistics}
    statistics |= {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return result_of(metric, list(map(str, range(len(rows)))), statistics)


def test_every_rate_has_an_interval_and_no_count():
    found = intervals(cards([(8, 3, 3), (5, 0, 1), (2, 4, 4)] * 7))
    assert set(found.figures) == {"f1_micro", "f1_macro", "precision_micro", "recall_micro"}
    assert all(0 <= each.low <= each.high <= 1 for each in found.figures.values())


def test_weighted_counts_are_no_rates():
    weighted = cards([(0.5, 0.25, 1), (1.5, 0, 0)] * 10, weights={"title": 0.5})
    assert "true_positives" not in intervals(weighted).figures


@pytest.mark.parametrize("items", [20, 100])
def test_interval_of_identical_items_allows_for_one_unseen_kind(items):
    # Of n items alike a kind that is q of all items is missed with probability (1 - q)^n; that is
    # 0.025 where q is 1 - 0.025^(1 / n). All of it could be worth 0, or 1.
    unseen = 1 - 0.025 ** (1 / items)
    found = intervals(cards([(8, 3, 3)] * items)).figures["f1_micro"]
    assert found.low == pytest.approx(8 / 11 * (1 - unseen), abs=0.1 / items)
    assert found.high == pytest.approx(8 / 11 + 3 / 11 * unseen, abs=0.1 / items)


@pytest.mark.parametrize("items", [20, 263])
def test_all_or_nothing_right_gives_clopper_pearson_interval(items):
    exact = stats.binomtest(items, items).proportion_ci(0.95, "exact")
    everything = intervals(cards([(11, 0, 0)] * items)).figures["f1_micro"]
    assert everything.low == pytest.approx(exact.low, abs=0.1 / items)
    assert everything.high == 1
    nothing = intervals(cards([(0, 11, 11)] * items)).figures["f1_micro"]
    assert nothing.low == 0
    assert nothing.high == pytest.approx(1 - exact.low, abs=0.1 / items)


@pytest.mark.parametrize(("right", "items"), [(1, 30), (15, 30), (28, 30), (250, 263)])
def test_cards_that_are_right_or_wrong_give_nearly_that_interval(right, items):
    exact = stats.binomtest(right, items).proportion_ci(0.95, "exact")
    rows = [(11, 0, 0)] * right + [(0, 11, 11)] * (items - right)
    found = intervals(cards(rows)).figures["f1_micro"]
    width = exact.high - exact.low
    # A draw's share of right items has steps of 1 / n, where theirs is continuous.
    assert found.low == pytest.approx(exact.low, abs=max(width / 10, 0.5 / items))
    assert found.high == pytest.approx(exact.high, abs=max(width / 10, 0.5 / items))


@pytest.mark.parametrize(
    ("items", "why"),
    [
        (0, "0 items: too few for an interval"),
        (1, "1 item: too few for an interval"),
        (5, "5 items: too few for an interval"),
        (19, "19 items: too few for an interval"),
    ],
)
def test_fewer_than_twenty_items_give_no_interval_and_say_why(items, why):
    found = intervals(cards([(8, 3, 3)] * items))
    assert (found.figures, found.why) == ({}, why)
    assert found.to_dict()["why"] == why


def test_of_few_items_each_figure_has_the_range_of_single_items():
    found = intervals(cards([(8, 3, 3), (5, 0, 5), (2, 6, 0)]))
    # F1 8 / 11, 10 / 15 and 4 / 10; precision 8 / 11, 1 and 2 / 8; recall 8 / 11, 1 / 2 and 1.
    assert found.item_ranges["f1_micro"] == found.item_ranges["f1_macro"] == Interval(0.4, 8 / 11)
    assert found.item_ranges["precision_micro"] == Interval(0.25, 1.0)
    assert found.item_ranges["recall_micro"] == Interval(0.5, 1.0)
    assert found.describe("f1_micro") == (
        "3 items: too few for an interval; single items 0.400 to 0.727"
    )
    assert intervals(cards([(8, 3, 3)])).item_ranges == {}


def test_the_seed_decides_and_the_order_of_the_items_does_not():
    rng = random.Random(3)
    rows = [(rng.randint(0, 9), rng.randint(0, 4), rng.randint(0, 4)) for _ in range(40)]
    once = intervals(cards(rows), resamples=200, seed=5)
    assert intervals(cards(rows), resamples=200, seed=5) == once
    assert intervals(cards(rows), resamples=200, seed=6) != once
    rng.shuffle(rows)
    shuffled = intervals(cards(rows), resamples=200, seed=5)
    assert shuffled.figures["f1_micro"] == once.figures["f1_micro"]


def test_higher_level_is_wider_and_exceeds_plain_quantiles():
    run = cards([(10, 1, 0), (8, 3, 3), (9, 2, 1), (4, 5, 6), (7, 0, 2)] * 4)
    narrow, wide = (intervals(run, level=level).figures["f1_micro"] for level in (0.8, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high
    [drawn] = bootstrap(tables([run], run.ids), ["f1_micro"], 10_000, 0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert wide.low < low < high < wide.high


def test_draws_without_a_value_are_left_out_of_the_interval():
    # Only the first page counts tokens; a draw without it has no error, one with it 0.25, but for
    # the unseen page.
    names = ("counted_ads", "ntokens_error_sum")
    found = intervals(undeclared([(4, 1), *[(0, 0)] * 29], names)).figures["ntokens_error"]
    unseen = 1 - 0.025 ** (1 / 30)
    assert found.low == pytest.approx(0.25 * (1 - unseen), abs=0.01)
    assert found.high == pytest.approx(0.25 + 0.75 * unseen, abs=0.01)
    none = intervals(pages([(0, 0)] * 30, names))
    assert "ntokens_error" not in none.figures
    few = intervals(pages([(4, 1), (0, 0), (4, 3)], names))
    assert few.item_ranges["ntokens_error"] == Interval(0.25, 0.75)


def test_an_error_rate_above_one_reaches_as_far_as_it_was_drawn():
    found = intervals(undeclared([(4, 12), *[(4, 4)] * 29], ("counted_ads", "ntokens_error_sum")))
    # One page is three tokens off for each, the others one: a draw of many such pages is above 1.
    assert found.figures["ntokens_error"].high > 1.1


def test_constant_difference_in_all_draws_has_no_interval():
    assert difference_interval(np.full(100, 1 / 11), 30, 0.95) is None
    drawn = np.linspace(0, 1, 10_001)
    # Student's 97.5 % quantile with 29 degrees of freedom is 2.045; √(30 / 29) times that leaves
    # 1.87 % of a normal distribution beyond each end.
    found = difference_interval(drawn, 30, 0.95)
    assert (found.low, found.high) == pytest.approx((0.0187, 0.9813), abs=0.0002)


def test_published_figures_are_rounded_in_every_draw():
    run = pages([(0.91,), (0.52,), (0.77,), (0.3,), (0.64,)] * 4, ["fuzzy"], "published")
    [drawn] = bootstrap(tables([run], run.ids), ["fuzzy"], 200, 0)
    assert all(value == round(value, 3) for value in drawn[:, 0].tolist())


def naive_bootstrap(result, name, resamples, seed):
    """Items put together one by one in plain loops, from the same draws."""
    items = list(zip(*result.statistics.values(), strict=True))
    kinds = sorted(set(items))
    shares = [items.count(kind) / len(items) for kind in kinds]
    draws = np.random.default_rng(seed).multinomial(len(items), shares, size=resamples)
    figures = []
    for draw in draws.tolist():
        sample = [kind for kind, times in zip(kinds, draw, strict=True) for _ in range(times)]
        assert len(sample) == len(items)
        totals = {
            column: sum(item[place] for item in sample)
            for place, column in enumerate(result.statistics)
        }
        figures.append(result.metric.rates(totals | {"items": len(sample)})[name])
    return figures


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(COUNTS, min_size=2, max_size=30), seed=st.integers(0, 99))
def test_the_vectorised_bootstrap_is_the_naive_one(rows, seed):
    run = cards(rows)
    [drawn] = bootstrap(tables([run], run.ids), ["f1_micro", "f1_macro"], 50, seed)
    assert drawn[:, 0].tolist() == naive_bootstrap(run, "f1_micro", 50, seed)  # sums of counts
    assert drawn[:, 1].tolist() == pytest.approx(naive_bootstrap(run, "f1_macro", 50, seed))


def test_items_drawn_by_kind_are_as_frequent_as_drawn_singly():
    # 3 items alike of 4: in a draw of 4 their number is binomial.
    run = cards([(1, 0, 0)] * 3 + [(0, 0, 1)])
    [drawn] = bootstrap(tables([run], run.ids), ["recall_micro"], 20_000, 0)
    times = np.bincount((drawn[:, 0] * 4).round().astype(int), minlength=5)
    expected = stats.binom.pmf(range(5), 4, 0.75) * 20_000
    assert stats.chisquare(times, expected).pvalue > 0.001


def test_memory_bounded_chunks_do_not_change_the_draws(monkeypatch):
    rng = random.Random(1)
    run = cards([(rng.randint(0, 9), rng.randint(0, 4), 2) for _ in range(25)])
    whole = intervals(run, resamples=300)
    monkeypatch.setattr("hdbench.statistics.resampling._CHUNK", 64)
    assert intervals(run, resamples=300).figures["f1_micro"] == whole.figures["f1_micro"]


@pytest.mark.nightly
@pytest.mark.parametrize("items", [60, 263])
def test_intervals_of_95_percent_hold_the_true_figure_that_often(items):
    # A card has 11 fields; how many of them a run gets right differs from card to card, by a beta
    # distribution with mean 0.8; a wrong field costs both a false positive and a negative. So
    # f1_micro = tp / 11 per card in the long run, 0.8.
    rng = np.random.default_rng(items)
    sets, held, above = 400, 0, 0
    for seed in range(sets):
        right = rng.binomial(11, rng.beta(4, 1, items))
        run = cards([(int(tp), 11 - int(tp), 11 - int(tp)) for tp in right])
        found = intervals(run, resamples=400, seed=seed).figures["f1_micro"]
        held += found.low <= 0.8 <= found.high
        above += found.low > 0.8
    # Binomial: 380 of 400, standard deviation 4.4. The unseen item makes them hold more often, the
    # more so the fewer items there are, and most towards 0, from which the figure is further.
    assert 372 <= held <= 399
    assert above <= sets - held - above


@pytest.mark.parametrize("items", [MIN_ITEMS, 100, 263])
@pytest.mark.parametrize("share", [1 / 263, 0.02, 0.1, 0.9, 0.98, 262 / 263])
def test_intervals_hold_near_zero_and_one(share, items):
    # Each card is right or wrong; few or nearly all are right. Without the unseen item the share
    # held is .06 with 1 card in 263 and 20 items.
    rng = np.random.default_rng(round(share * 1000) + items)
    sets = 300
    rights = rng.binomial(items, share, sets)
    ends = {}
    for right in sorted(set(rights.tolist())):  # the same rows have the same interval
        rows = [(11, 0, 0)] * right + [(0, 11, 11)] * (items - right)
        ends[right] = intervals(cards(rows), resamples=2_000).figures["f1_micro"]
    held = sum(ends[right].low <= share <= ends[right].high for right in rights.tolist())
    # Binomial: at least 95 % of 300 are 285, standard deviation 3.8, 99.9 % of the time 273.
    assert held >= 273


def test_intervals_hold_where_few_items_are_lost():
    # Good cards, of which 3 in 100 have no answer: a sample of 30 often has none of them.
    rng = np.random.default_rng(3)
    truth, held, sets = 0.97 * 20 / 21, 0, 200
    for seed in range(sets):
        right = np.where(rng.random(30) < 0.03, 0, rng.binomial(11, rng.beta(20, 1, 30)))
        rows = [(int(tp), 11 - int(tp), 11 - int(tp)) for tp in right]
        found = intervals(cards(rows), resamples=400, seed=seed).figures["f1_micro"]
        held += found.low <= truth <= found.high
    assert held >= 0.9 * sets  # 190 and more; 99.9 % of the time 180


@pytest.mark.parametrize("rows", [0, 1, 5, 1_000])
def test_rows_sorted_in_parts_are_the_same_as_sorted_at_once(monkeypatch, rows):
    values = np.random.default_rng(1).integers(0, 4, (rows, 3)) / 3
    expected, times = np.unique(values, axis=0, return_counts=True)
    monkeypatch.setattr("hdbench.statistics.resampling._SORTED", 7)
    found, counts = distinct(values)
    assert found.tolist() == expected.tolist()
    assert counts.tolist() == times.tolist()
