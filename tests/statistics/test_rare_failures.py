"""Rare failures: bounds by hand and by scipy, verdicts on runaways, and ratios over few items."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.strata import sample_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hdbench.results.parts import ScoredDataset
from hdbench.results.result import Result
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import LESS, figure_of, judging_figure
from hdbench.statistics.bootstrap import METHOD, OF_FEWER, OF_SHARES, Interval, intervals
from hdbench.statistics.comparison import compare, compare_runs
from hdbench.statistics.differences import PAIRED
from hdbench.statistics.ranking import rank_models
from hdbench.statistics.rare_failures import Rest, share_bounds, share_difference_bounds
from hdbench.statistics.resampling import tables
from hdbench.statistics.share_bounds import weighted_bounds_of_share

CER = {"headline": "cer", "higher_is_better": False}


def run_of(metric, columns):
    items = len(next(iter(columns.values())))
    statistics = {name: [0] * items for name in metric.statistics} | columns
    ids = [f"{number:04}" for number in range(items)]
    return Result(metric, ids, Counter(), statistics, {}, [], [])


def pages(rates, length=1000):
    """Pages of that many characters with these error rates."""
    capped = [min(1.0, rate) for rate in rates]
    columns = {
        "cer_errors": [rate * length for rate in rates],
        "cer_length": [length] * len(rates),
        "cer_capped": capped,
        "runaways": [int(rate == 1) for rate in capped],
    }
    return run_of(make_metric("text_cer"), columns)


def varied(mean, items, seed=0):
    return np.random.default_rng(seed).uniform(0.5 * mean, 1.5 * mean, items).tolist()


def of_shares(flags):
    run = pages([1.0 if flag else 0.5 for flag in flags])
    [table] = tables([run], run.ids)
    return table


def test_the_rest_of_a_figure_without_such_items_is_the_figure():
    run = pages([1.0, 0.5, 0.25, 0.25])
    [table] = tables([run], run.ids)
    sums = table.values.sum(axis=0)[None]
    # Of 4 pages, one is at its worst; the others have 0.5 + 0.25 + 0.25.
    assert Rest(*table).figures(sums, ["cer", "cer_capped"]).tolist() == [[2 / 4, 1 / 4]]


@given(st.integers(1, 300), st.data())
@settings(deadline=None)
def test_a_share_has_the_interval_of_clopper_and_pearson(items, data):
    runaways = data.draw(st.integers(0, items))
    run = pages([1.0] * runaways + [0.5] * (items - runaways))
    found = share_bounds(tables([run], run.ids), "runaways", 0.95)
    exact = stats.binomtest(runaways, items).proportion_ci(0.95, "exact")
    assert found == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_share_without_runaways_is_bounded_by_the_rule_of_three():
    run = pages([0.05] * 100)
    found = intervals(run).figures["runaway_share"]
    # (1 - p) ** 100 = 0.025
    assert (found.low, found.high) == (0, pytest.approx(1 - 0.025**0.01))


def test_capped_rate_combines_bounds_of_the_rest_and_the_share():
    # All ordinary pages are alike, so that only the unseen item and the number of pages vary.
    run = pages([0.0] * 48 + [20.0] * 2)
    found = intervals(run).figures["cer_capped"]
    exact = stats.binomtest(2, 50).proportion_ci(0.975, "exact")
    assert found.low == pytest.approx(exact.low)
    assert found.high == pytest.approx(exact.high)
    # Of 50 pages without one, (1 - p) ** 50 = 0.0125.
    assert intervals(pages([0.0] * 50)).figures["cer_capped"] == Interval(
        0, pytest.approx(1 - 0.0125 ** (1 / 50))
    )


def test_the_capped_rate_by_a_naive_procedure():
    rates = [*varied(0.08, 60), 3.0, 1.0, 12.0]
    found = intervals(pages(rates)).figures["cer_capped"]
    rng, n = np.random.default_rng(5), len(rates)
    rest = [0 if rate >= 1 else rate for rate in rates]
    means = np.array([np.mean(rng.choice(rest, n)) for _ in range(20_000)])
    share = stats.binomtest(3, n).proportion_ci(0.975, "exact")
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.9875, n - 1))
    assert found.high == pytest.approx(share.high + np.quantile(means, 1 - tail), abs=5e-4)
    unseen = (1 - rng.beta(1, n, len(means))) * means
    assert found.low == pytest.approx(share.low + np.quantile(unseen, 0.0125), abs=5e-4)


def test_a_run_of_runaways_alone_reaches_up_to_one():
    found = intervals(pages([2.0] * 30)).figures["cer_capped"]
    assert (found.low, found.high) == (pytest.approx(0.0125 ** (1 / 30)), 1)


@pytest.mark.parametrize(("more", "less"), [(0, 0), (3, 0), (0, 4), (5, 5), (2, 40), (20, 0)])
def test_share_difference_agrees_with_drawn_beta_distributions(more, less):
    items = 50
    a = of_shares([True] * more + [False] * (items - more))
    b = of_shares([False] * (items - less) + [True] * less)
    low, high = share_difference_bounds([a], [b], "runaways", 0.95)
    rng = np.random.default_rng(0)

    def upper(one, other):
        above = rng.beta(one + 1, items - one, 200_000)
        below = rng.beta(other, items - other + 1, 200_000) if other else 0
        return np.quantile(above - below, 0.975)

    assert high == pytest.approx(upper(more, less), abs=0.003)
    assert low == pytest.approx(-upper(less, more), abs=0.003)


def test_items_that_run_away_in_both_runs_do_not_matter():
    a, b = of_shares([True, True, False] * 20), of_shares([True, False, False] * 20)
    one, other = of_shares([True, False, False] * 20), of_shares([False] * 60)
    assert share_difference_bounds([a], [b], "runaways", 0.95) == share_difference_bounds(
        [one], [other], "runaways", 0.95
    )


def test_stratified_share_is_bounded_as_an_estimated_one():
    rates = [0.05] * 36 + [2.0] * 4 + [0.05] * 18 + [1.0] * 2
    strata = [0] * 40 + [1] * 20
    sample = sample_of((9_000, 1_000), Counter(strata))
    run = replace(pages(rates), dataset=ScoredDataset(sample=sample), strata=strata)
    flags = np.array([float(rate >= 1) for rate in rates])
    weights = np.array([9_000 / 40] * 40 + [1_000 / 20] * 20)
    expected = weighted_bounds_of_share(flags, weights, np.array(strata), 0.975)
    found = intervals(run, resamples=100).figures["runaway_share"]
    assert (found.low, found.high) == pytest.approx((expected.lower, expected.upper))


def test_two_runs_of_a_model_count_by_their_mean():
    some, none = of_shares([True] * 4 + [False] * 36), of_shares([False] * 40)
    low, high = share_bounds([some, none], "runaways", 0.95)  # 2 of 40
    exact = stats.binomtest(2, 40).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


# Verdicts


def test_micro_cer_has_no_interval_and_says_where_to_look():
    run = pages(varied(0.05, 50))
    found = intervals(run)
    assert "cer" not in found.figures
    assert found.describe("cer") == found.without["cer"]
    assert found.without["cer"].endswith("see cer_capped")
    assert json.loads(json.dumps(found.to_dict()))["without"]["cer"] == found.without["cer"]
    assert found.method == METHOD + OF_SHARES


def test_model_without_sampled_runaways_is_not_called_better():
    # The other has the same capped CER if 1 % of the first one's pages run away.
    lucky, steady = pages(varied(0.05, 50)), pages([rate + 0.01 for rate in varied(0.05, 50)])
    found = compare(lucky, steady, **CER)
    assert (found.headline, found.judged_by) == ("cer", "cer_capped")
    assert found.figures["cer"].interval is None
    assert found.p < 0.001
    assert not found.separable
    assert "could make up for the difference" in found.why
    both = rank_models({"lucky": [lucky], "steady": [steady]}, **CER)
    assert [each.rank.shown() for each in both] == ["1–2", "1–2"]


def test_difference_beyond_any_rare_runaways_is_separable():
    good, bad = pages(varied(0.05, 150)), pages(varied(0.25, 150, seed=1))
    found = compare(good, bad, **CER)
    assert (found.separable, found.better) == (True, "A")
    interval = found.figures["cer_capped"].interval
    assert interval.high < 0
    assert found.detectable < -found.figures["cer_capped"].difference
    ranked = rank_models({"good": [good], "bad": [bad]}, **CER)
    assert [(each.name, each.rank.shown()) for each in ranked] == [("good", "1"), ("bad", "2")]


def test_runaways_that_are_seen_make_a_difference():
    steady, stuck = pages([0.05] * 150), pages([0.05] * 125 + [20.0] * 25)
    found = compare(steady, stuck, **CER)
    assert (found.separable, found.better) == (True, "A")
    ranked = rank_models({"steady": [steady], "stuck": [stuck]}, **CER)
    assert [each.rank.shown() for each in ranked] == ["1", "2"]


def test_models_are_sorted_by_ranking_figure_and_keep_headline():
    # By CER the first is worse, as one of its pages is 30 times as long as it should be.
    one, other = pages([0.05] * 99 + [30.0]), pages([0.2] * 100)
    [first, second] = rank_models({"one": [one], "other": [other]}, **CER)
    assert (first.name, first.value > second.value) == ("one", True)
    assert first.value == pytest.approx((99 * 0.05 + 30) / 100)
    assert first.judged == pytest.approx((99 * 0.05 + 1) / 100)
    assert first.interval.low < first.judged < first.interval.high


@pytest.mark.nightly
def test_all_pairs_of_models_are_bounded_together():
    # Of 263 pages without a runaway, 1.7 % is left open for one pair, and 2.7 % for each of 15.
    runs = {str(n): pages([rate + 0.01 * n for rate in varied(0.05, 263)]) for n in range(6)}
    pair = compare_runs({name: runs[name] for name in "02"}, **CER)
    every = compare_runs(runs, **CER)
    assert [each.separable for each in pair] == [True]
    assert not next(each for each in every if (each.a, each.b) == ("0", "2")).separable


# Ratios over few items


def answered(good, bad, items):
    """Cards of which only the first ones have an answer."""
    columns = {
        "true_positives": [*good, *[0] * (items - len(good))],
        "false_positives": [*bad, *[0] * (items - len(bad))],
        "false_negatives": [0] * len(good) + [11] * (items - len(good)),
    }
    return run_of(make_metric("zettel_f1"), columns)


def test_precision_of_few_answers_has_no_interval():
    found = intervals(answered([11] * 19, [0] * 19, 263))
    assert "precision_micro" not in found.figures
    assert found.describe("precision_micro") == (
        "19 items say something about it: too few for an interval"
    )
    assert {"recall_micro", "f1_micro", "f1_macro"} <= found.figures.keys()
    none = intervals(answered([], [], 263))
    assert none.without["precision_micro"].startswith("0 items")


def test_the_unseen_item_is_one_of_those_that_say_something():
    found = intervals(answered([11] * 20, [0] * 20, 263))
    # All 20 answers are right: p ** 20 = 0.025.
    assert found.figures["precision_micro"].low == pytest.approx(0.025 ** (1 / 20), abs=0.005)
    assert found.method == METHOD + OF_FEWER
    every = intervals(answered([11] * 263, [0] * 263, 263))
    assert every.method == METHOD


def test_items_that_make_up_most_of_a_ratio_count_by_their_size():
    # 25 long lists and 75 short ones: (25 * 100 + 75) ** 2 / (25 * 100 ** 2 + 75) = 26.5 items.
    long, short = [100] * 25, [1] * 75
    found = intervals(answered([*long, *short], [0] * 100, 100)).figures["precision_micro"]
    worth = 2_575**2 / 250_075
    assert found.low == pytest.approx(0.025 ** (1 / worth), abs=0.005)
    # 8 or 10 values make little difference, and all 100 count.
    found = intervals(answered([8, 10] * 50, [0] * 100, 100)).figures["precision_micro"]
    assert found.low == pytest.approx(0.025 ** (1 / 100), abs=0.003)


def test_figure_of_several_ratios_rests_on_the_fewest_items():
    metric = make_metric("letters_f1")
    columns = {"send_date.true_positives": [1] * 40}
    columns |= {"sender_persons.true_positives": [1] * 10 + [0] * 30}
    found = intervals(run_of(metric, columns))
    assert found.without["f1_macro"].startswith("10 items")
    assert "f1_micro" in found.figures


def papers(filled, items, similarity=0.8):
    """Papers of which only the first ones have keywords; all other fields are filled."""
    fields = ("doi", "title", "author", "abstract", "pub_time")
    columns = {f"paper.{field}.similarity": [similarity] * items for field in fields}
    columns["paper.items"] = [1] * items
    columns["paper.keyword.similarity"] = [similarity] * filled + [1] * (items - filled)
    columns["paper.keyword.both_empty"] = [0] * filled + [1] * (items - filled)
    return run_of(make_metric("sciencemeta_accuracy"), columns)


def test_accuracy_without_empty_pairs_rests_on_rarest_field():
    name = "overall_accuracy_without_both_empty"
    few = intervals(papers(19, 263))
    assert few.without[name].startswith("19 items")
    assert "overall_accuracy" in few.figures
    # Alike in every draw, so that only the unseen item varies: one of 20, then one of 263.
    found = intervals(papers(20, 263)).figures[name]
    assert found.low == pytest.approx(0.8 * 0.025 ** (1 / 20), abs=0.004)
    found = intervals(papers(263, 263)).figures[name]
    assert found.low == pytest.approx(0.8 * 0.025 ** (1 / 263), abs=0.004)
    # A field that no record has filled has no mean, and does not count.
    assert name in intervals(papers(0, 263)).figures


def test_a_difference_needs_enough_items_in_both_runs():
    a, b = answered([9] * 60, [2] * 60, 60), answered([9] * 10, [2] * 10, 60)
    found = compare(a, b, headline="precision_micro", higher_is_better=True)
    assert found.figures["precision_micro"].interval is None
    assert found.figures["precision_micro"].why == (
        "10 items say something about it: too few for an interval"
    )
    assert found.figures["recall_micro"].why is None
    assert found.figures["recall_micro"].interval is not None
    assert not found.separable
    assert "10 independent items" in found.why


def test_few_perfect_answers_are_not_called_more_precise():
    """21 right answers, against 263 of which 1 in 40 is wrong as a whole."""
    few = answered([11] * 21, [0] * 21, 263)
    wrong = [number % 40 == 0 for number in range(263)]
    many = answered([11 * (not each) for each in wrong], [11 * each for each in wrong], 263)
    found = compare(few, many, headline="precision_micro", higher_is_better=True)
    interval = found.figures["precision_micro"].interval
    # With 21 right ones, up to 16 % of all could be wrong: p ** 21 = 0.025.
    assert interval.low < 0 < interval.high
    assert interval.low == pytest.approx(0.025 ** (1 / 21) - (1 - 7 / 263), abs=0.03)
    assert found.detectable > (interval.high - interval.low) / 2
    assert found.method == PAIRED + OF_FEWER
    # The paired test would call that a difference: half of the answers belong to either run then.
    assert not found.separable
    many = answered([11] * 240 + [0] * 23, [0] * 240 + [11] * 23, 263)
    found = compare(few, many, headline="precision_micro", higher_is_better=True)
    assert (found.p < 0.05, found.separable) == (True, False)
    assert found.why.endswith(
        "precision_micro rests on so few items that one more could make up for the difference"
    )
    # Half of them wrong cannot be made up for.
    many = answered([11, 0] * 131 + [11], [0, 11] * 131 + [0], 263)
    found = compare(few, many, headline="precision_micro", higher_is_better=True)
    assert (found.separable, found.better) == (True, "A")
    # Recall counts every card in both, and is compared as before.
    assert found.figures["recall_micro"].interval.high < 0


# Declarations


@pytest.mark.parametrize("name", sorted(METRICS))
def test_declarations_name_what_there_is(name):
    metric = METRICS[name]
    figures = {figure.name: figure for figure in metric.figures}
    for figure in metric.figures:
        for other in filter(None, (figure.judged_by, figure.worst_share)):
            assert figures[other].is_rate
            assert figures[other].higher_is_better == figure.higher_is_better
        assert figure.judged_by is None or not figure.has_interval
        assert figure.worst_share is None or figures[figure.worst_share].share_of
        divisors = {name.removeprefix(LESS) for name in sum(figure.divided_by, ())}
        assert {figure.share_of, *divisors} - {None} <= set(metric.statistics)


def test_the_figure_that_judges():
    metric = make_metric("text_cer")
    assert judging_figure(metric, "cer") == "cer_capped"
    assert judging_figure(metric, "wer") == "wer_capped"
    assert judging_figure(metric, "cer_items") == "cer_items"
    assert judging_figure(metric, "a name of another package") == "a name of another package"
    assert figure_of(metric, "cer_capped").worst_share == "runaway_share"
