"""Failures: bounds by scipy, both questions by a naive procedure; ratios over few items."""

import json
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from helpers.results import result_of
from helpers.strata import sample_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hdbench.evaluation.parts import ScoredDataset
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import LESS, judging_figure
from hdbench.statistics.bootstrap import (
    METHOD,
    OF_FEWER,
    OF_SHARES,
    intervals,
    share_interval,
    weighted_bounds_of_share,
)
from hdbench.statistics.comparison import compare, compare_runs
from hdbench.statistics.differences import PAIRED
from hdbench.statistics.ranking import Ranks, rank_models
from hdbench.statistics.resampling import tables
from hdbench.statistics.significance import sign_flip_tests

CER = {"headline": "cer", "higher_is_better": False}


def run_of(metric, columns):
    items = len(next(iter(columns.values())))
    statistics = {name: [0] * items for name in metric.statistics} | columns
    ids = [f"{number:04}" for number in range(items)]
    return result_of(metric, ids, statistics)


def pages(rates, length=1000):
    """Pages of that many characters with these error rates."""
    read = [rate < 1 for rate in rates]
    errors = [rate * length for rate in rates]
    columns = {
        "cer_errors": errors,
        "cer_length": [length] * len(rates),
        "failures": [int(not each) for each in read],
        "read_errors": [error * each for error, each in zip(errors, read, strict=True)],
        "read_length": [length * each for each in read],
    }
    return run_of(make_metric("text_cer"), columns)


def varied(mean, items, seed=0):
    return np.random.default_rng(seed).uniform(0.5 * mean, 1.5 * mean, items).tolist()


@given(st.integers(20, 300), st.data())
@settings(deadline=None)
def test_the_share_of_failures_has_the_interval_of_clopper_and_pearson(items, data):
    failures = data.draw(st.integers(0, items))
    run = pages([1.0] * failures + [0.5] * (items - failures))
    found = intervals(run, only="failure_share").figures["failure_share"]
    exact = stats.binomtest(failures, items).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_stratified_share_is_bounded_as_an_estimated_one():
    rates = [0.05] * 36 + [2.0] * 4 + [0.05] * 18 + [1.0] * 2
    strata = [0] * 40 + [1] * 20
    sample = sample_of((9_000, 1_000), Counter(strata))
    run = pages(rates).replaced(dataset=ScoredDataset(sample=sample), strata=strata)
    flags = np.array([float(rate >= 1) for rate in rates])
    weights = np.array([9_000 / 40] * 40 + [1_000 / 20] * 20)
    expected = weighted_bounds_of_share(flags, weights, np.array(strata), 0.975)
    found = intervals(run, resamples=100).figures["failure_share"]
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_two_runs_of_a_model_count_by_their_mean():
    runs = [pages([1.0] * 4 + [0.5] * 36), pages([0.5] * 40)]
    found = share_interval(tables(runs, runs[0].ids), "failures", 0.95)  # 2 of 40
    exact = stats.binomtest(2, 40).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_the_rate_without_failures_has_an_interval_of_the_pages_that_were_read():
    # All are alike, so that only the unseen page varies: it is one of 48, and is wrong as a whole.
    found = intervals(pages([0.5] * 48 + [20.0] * 2)).figures["cer_without_failures"]
    share = 1 - 0.025 ** (1 / 48)
    assert found.high == pytest.approx(0.5 * (1 - share) + share, abs=0.01)
    assert found.low == pytest.approx(0.5 * (1 - share), abs=0.01)


def test_micro_cer_has_no_interval_and_says_where_to_look():
    run = pages(varied(0.05, 50))
    found = intervals(run)
    assert "cer" not in found.figures
    assert found.describe("cer") == found.without["cer"]
    assert found.without["cer"].endswith("see cer_without_failures")
    assert json.loads(json.dumps(found.to_dict()))["without"]["cer"] == found.without["cer"]
    assert found.method == METHOD + OF_SHARES


# Two questions


def naive_p(differences):
    """The two-sided p of all signs, in a loop."""
    sizes = [abs(each) for each in differences if each]
    observed = abs(math.fsum(differences))
    sums = [
        abs(math.fsum(sign * size for sign, size in zip(signs, sizes, strict=True)))
        for signs in product((1, -1), repeat=len(sizes))
    ]
    return sum(each >= observed - 1e-9 for each in sums) / len(sums)


@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.01, 0.02, 0.05, 0.3, 1.0, 7.0])] * 2), min_size=1, max_size=9
    )
)
@settings(deadline=None)
def test_both_questions_by_a_naive_procedure(rates):
    runs = [pages([pair[side] for pair in rates]) for side in (0, 1)]
    found = compare(*runs, **CER, names=("a", "b"))
    read = [(a, b) for a, b in rates if a < 1 and b < 1]
    assert found.failures.read == len(read)
    if read:
        expected = np.mean([a - b for a, b in read])
        assert found.figures["cer_without_failures"].difference == pytest.approx(expected)
    else:
        assert "cer_without_failures" not in found.figures
    assert found.p == pytest.approx(naive_p([1000 * (a - b) for a, b in read]))
    failed = [(a >= 1, b >= 1) for a, b in rates]
    only_a, only_b = failed.count((True, False)), failed.count((False, True))
    assert found.failures.one_only == only_a + only_b
    exact = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert found.failures.p == pytest.approx(exact)


def test_signs_that_are_drawn_give_nearly_the_exact_p():
    differences = np.random.default_rng(3).normal(0.3, 1, (2, 14))
    drawn = sign_flip_tests(differences, 9_999, seed=1)
    assert [test.exact for test in drawn] == [False, False]
    for row, test in zip(differences, drawn, strict=True):
        assert test.p == pytest.approx(naive_p(row), abs=0.02)


def test_a_difference_that_every_page_shows_is_found_and_said_in_two_sentences():
    """A hundred pages, .032 against .065, better on each of them."""
    rates = varied(0.032, 100)
    found = compare(pages(rates), pages([2.03 * rate for rate in rates]), **CER)
    assert (found.headline, found.judged_by) == ("cer", "cer_without_failures")
    assert (found.separable, found.better) == (True, "A")
    assert found.p == pytest.approx(0.0001, abs=2e-5)
    assert found.figures["cer_without_failures"].interval.high < 0
    first, second = found.why.split(". ", 1)
    assert first.startswith("On the 100 items that neither failed on, cer_without_failures is 0.03")
    # 1 - 0.025 ** (1 / 100)
    assert second == "Neither failed on any of 100 items; up to 3.6 % is not excluded."


def test_who_reads_alike_and_fails_less_is_better():
    steady, stuck = pages([0.05] * 150), pages([0.05] * 125 + [20.0] * 25)
    found = compare(steady, stuck, **CER)
    assert (found.p, found.better) == (1.0, "A")
    # McNemar's: 25 pages that only one of them failed on.
    assert found.failures.p == pytest.approx(2 * 0.5**25)
    assert "A failed on 0" in found.why
    assert "B on 25" in found.why
    ranked = rank_models({"steady": [steady], "stuck": [stuck]}, **CER)
    assert [each.rank.shown() for each in ranked] == ["1", "2"]
    assert ranked[1].judged == pytest.approx(0.05)


def test_who_reads_better_and_fails_more_is_not_called_better():
    one, other = pages([0.01] * 100 + [20.0] * 20), pages([0.05] * 120)
    found = compare(one, other, **CER)
    assert (found.separable, found.better) == (True, None)
    assert "neither is better" in found.verdict
    ranked = rank_models({"one": [one], "other": [other]}, **CER)
    assert [each.rank.shown() for each in ranked] == ["1–2", "1–2"]


def test_the_tests_of_all_pairs_are_corrected_together():
    a, b = pages([0.05] * 50 + [2.0] * 12), pages([0.05] * 62)
    c = pages([0.05] * 59 + [2.0] * 3)
    runs = {"a": a, "b": b, "c": c}
    ab, ac, bc = compare_runs(runs, **CER)
    # b and c differ in three failures, which are never significant, so that there are five tests.
    assert ab.failures.p == pytest.approx(2 * 0.5**12)
    assert ab.failures.p_holm == pytest.approx(5 * 2 * 0.5**12)
    assert ac.failures.p_holm == pytest.approx(4 * stats.binomtest(0, 9).pvalue)
    assert (bc.failures.p, bc.failures.p_holm) == (0.25, 1.0)
    assert "corrected for 5 tests" in ab.why


def test_six_pages_suffice_for_a_difference_on_all_of_them_and_five_do_not():
    for items, separable in ((6, True), (5, False)):  # 2 / 2 ** 6 is .031, 2 / 2 ** 5 is .0625
        rates = varied(0.05, items)
        found = compare(pages(rates), pages([rate + 0.01 for rate in rates]), **CER)
        assert found.separable == separable
        assert found.figures["cer_without_failures"].interval is None
    ranked = rank_models({"a": [pages(rates)], "b": [pages([0.5] * 5)]}, **CER)
    assert [each.rank.shown() for each in ranked] == ["1–2", "1–2"]


def test_a_run_that_failed_on_everything_is_worse_and_ranked_last():
    good, empty = pages(varied(0.05, 30)), pages([1.0] * 30)
    found = compare(empty, good, **CER)
    assert (found.failures.read, found.better) == (0, "B")
    assert "cer_without_failures" not in found.figures
    assert found.why.startswith("One run or the other failed on every item.")
    first, last = rank_models({"empty": [empty], "good": [good]}, **CER)
    assert (first.name, last.judged, last.interval) == ("good", None, None)
    assert first.interval is not None


def test_rank_sets_are_those_of_the_pairs():
    runs = {
        str(n): pages([*varied(0.05 + 0.01 * (n // 2), 60, seed=n), *[3.0] * (n % 3)])
        for n in range(6)
    }
    runs = {name: pages_of for name, pages_of in runs.items() if len(pages_of.ids) == 60}
    runs |= {"9": pages([*varied(0.02, 40, seed=9), *[2.0] * 20])}
    better = {(each.better, each.a, each.b) for each in compare_runs(runs, **CER) if each.better}
    for standing in rank_models({name: [run] for name, run in runs.items()}, **CER):
        ahead = {winner for winner, *pair in better if standing.name in pair} - {standing.name}
        assert set(standing.better) == ahead
        behind = sum(winner == standing.name for winner, *_ in better)
        assert standing.rank == Ranks(1 + len(ahead), len(runs) - behind)


def test_a_model_alone_is_first():
    [alone] = rank_models({"A": [pages([0.1] * 12)]}, **CER)
    assert alone.rank == Ranks(1, 1)


def test_the_first_two_models_are_compared_by_the_means_of_their_runs():
    """On the 29 pages that no run failed on."""
    a = [pages([0.02] * 30), pages([0.04] * 30)]
    b = [pages([0.06] * 29 + [2.0]), pages([0.07] * 30)]
    first, second, third = rank_models({"a": a, "b": b, "c": [pages([0.9] * 30)]}, **CER)
    assert (first.pair, third.pair) == (None, None)
    assert (second.pair.names, second.pair.items) == (("a", "b"), 30)
    assert second.pair.verdict.failures.read == 29
    common = second.pair.common
    assert (common.a, common.b) == (pytest.approx(0.03), pytest.approx(0.065))


def test_failures_of_one_run_do_not_count_in_the_other_ones_rate():
    """On the ten pages that both read, they are alike; on the rest, only one has errors."""
    a = pages([0.1] * 10 + [5.0] * 10)
    b = pages([0.1] * 10 + [0.9] * 10)
    difference = compare(a, b, **CER).figures["cer_without_failures"]
    assert (difference.a, difference.b) == (pytest.approx(0.1), pytest.approx(0.1))


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
        for other in filter(None, (figure.judged_by, figure.leaves_out)):
            assert figures[other].is_rate
            assert figures[other].higher_is_better == figure.higher_is_better
        assert figure.judged_by is None or not figure.has_interval
        assert figure.leaves_out is None or figures[figure.leaves_out].share_of
        divisors = {name.removeprefix(LESS) for name in sum(figure.divided_by, ())}
        assert {figure.share_of, *divisors} - {None} <= set(metric.statistics)


def test_the_figure_that_judges():
    metric = make_metric("text_cer")
    assert judging_figure(metric, "cer") == "cer_without_failures"
    assert judging_figure(metric, "wer") == "cer_without_failures"
    assert judging_figure(metric, "cer_items") == "cer_items"
    assert judging_figure(metric, "a name of another package") == "a name of another package"
