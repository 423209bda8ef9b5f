"""Intervals: by hand where there is nothing to chance, by a naive bootstrap, and by simulation."""

import json
import random
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hdbench.errors import HdbenchError
from hdbench.scoring import make_metric
from hdbench.scoring.rates import f1
from hdbench.scoring.result import Result
from hdbench.statistics.bootstrap import Interval, intervals
from hdbench.statistics.resampling import bootstrap, tables

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
    return Result(metric, ids, Counter(), statistics, {}, [], [])


def pages(rows, names, protocol="documented"):
    metric = make_metric("avisblatt_cer", protocol)
    statistics = {name: [0] * len(rows) for name in metric.statistics}
    statistics |= {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return Result(metric, list(map(str, range(len(rows)))), Counter(), statistics, {}, [], [])


def test_every_rate_has_an_interval_and_no_count():
    found = intervals(cards([(8, 3, 3), (5, 0, 1), (2, 4, 4)]))
    assert set(found.figures) == {"f1_micro", "f1_macro", "precision_micro", "recall_micro"}
    assert all(0 <= each.low <= each.high <= 1 for each in found.figures.values())


def test_weighted_counts_are_no_rates():
    weighted = cards([(0.5, 0.25, 1), (1.5, 0, 0)], weights={"title": 0.5})
    assert "true_positives" not in intervals(weighted).figures


def test_items_that_are_all_alike_give_a_single_point():
    found = intervals(cards([(8, 3, 3)] * 30))
    assert found.figures["f1_micro"] == Interval(8 / 11, 8 / 11)


def test_nothing_right_anywhere_is_a_point_at_zero():
    metric = make_metric("zettel_f1")
    statistics = {name: [0, 0, 0] for name in metric.statistics}
    nothing = Result(metric, ["a", "b", "c"], Counter(), statistics, {}, [], [])
    assert intervals(nothing).figures["f1_micro"] == Interval(0.0, 0.0)


@pytest.mark.parametrize(("items", "count"), [(0, "0 items"), (1, "1 item")])
def test_fewer_than_two_items_give_no_interval_and_say_why(items, count):
    found = intervals(cards([(8, 3, 3)] * items))
    assert found.figures == {}
    assert found.why == f"{count}: an interval needs at least 2"


def test_two_items_give_the_widest_interval_that_there_is():
    # Student's quantile with one degree of freedom is 12.7: the smallest and the largest draw.
    found = intervals(cards([(10, 0, 0), (0, 10, 10)])).figures["f1_micro"]
    assert found == Interval(0.0, 1.0)


def test_what_was_done_is_in_what_is_returned():
    found = intervals(cards([(8, 3, 3), (5, 0, 1)]), resamples=500, level=0.9, seed=7)
    assert (found.items, found.resamples, found.level, found.seed) == (2, 500, 0.9, 7)
    assert json.loads(json.dumps(asdict(found)))["figures"]["f1_micro"].keys() == {"low", "high"}


def test_the_seed_decides_and_the_order_of_the_items_does_not():
    rng = random.Random(3)
    rows = [(rng.randint(0, 9), rng.randint(0, 4), rng.randint(0, 4)) for _ in range(40)]
    once = intervals(cards(rows), resamples=200, seed=5)
    assert intervals(cards(rows), resamples=200, seed=5) == once
    assert intervals(cards(rows), resamples=200, seed=6) != once
    rng.shuffle(rows)
    shuffled = intervals(cards(rows), resamples=200, seed=5)
    assert shuffled.figures["f1_micro"] == once.figures["f1_micro"]


def test_a_higher_level_is_wider_and_few_items_are_wider_than_the_plain_quantiles():
    run = cards([(10, 1, 0), (8, 3, 3), (9, 2, 1), (4, 5, 6), (7, 0, 2)])
    narrow, wide = (intervals(run, level=level).figures["f1_micro"] for level in (0.8, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high
    [drawn] = bootstrap(tables([run], run.ids), ["f1_micro"], 10_000, 0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert wide.low < low < high < wide.high


def test_draws_that_have_no_value_of_a_figure_are_left_out_of_its_interval():
    # Only the first page counts tokens; a draw without it has no error, one with it 0.25.
    names = ("counted_ads", "ntokens_error_sum")
    found = intervals(pages([(4, 1), (0, 0), (0, 0)], names))
    assert found.figures["ntokens_error"] == Interval(0.25, 0.25)
    none = intervals(pages([(0, 0), (0, 0), (0, 0)], names))
    assert "ntokens_error" not in none.figures


def test_published_figures_are_rounded_in_every_draw():
    run = pages([(0.91,), (0.52,), (0.77,), (0.3,), (0.64,)], ["fuzzy"], "published")
    [drawn] = bootstrap(tables([run], run.ids), ["fuzzy"], 200, 0)
    assert all(value == round(value, 3) for value in drawn[:, 0].tolist())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resamples": 10}, "resamples: 10 are too few: take 100 or more"),
        ({"level": 95}, "level: 95 is not between 0 and 1, as 0.95 is"),
        ({"seed": -1}, "seed: -1 is negative"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(HdbenchError, match=message):
        intervals(cards([(8, 3, 3)] * 3), **settings)


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


def test_items_drawn_by_kind_are_drawn_as_often_as_items_one_by_one():
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


@pytest.mark.parametrize("items", [60, 263])
def test_95_percent_intervals_hold_the_true_figure_about_95_times_in_100(items):
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
    # Binomial: 380 of 400, standard deviation 4.4; 99.9 % of the time 365 to 394. Intervals from
    # 400 draws and of skewed data hold a little less, some 94 % (376), hence 360.
    assert 360 <= held <= 394
    assert 0 < above < sets - held  # and they miss on both sides
