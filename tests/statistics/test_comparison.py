"""Comparisons: by hand, by brute force, and by simulation with a known truth."""

import random
from itertools import product

import numpy as np
import pytest
from helpers.results import result_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric
from hdbench.scoring.metric import f1
from hdbench.statistics.comparison import FieldEffect, ItemDifference, compare, compare_runs
from hdbench.statistics.resampling import tables
from hdbench.statistics.significance import holm, permutation_test

HEADLINE = {"headline": "f1_micro", "higher_is_better": True}
COUNTS = st.tuples(*[st.integers(0, 9)] * 3)


def cards(rows, ids=None, protocol="documented", sha256="0" * 64, **options):
    """A result of cards with these true positives, false positives and false negatives."""
    tp, fp, fn = ([row[place] for row in rows] for place in range(3))
    statistics = {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "f1": [f1(*row) for row in rows],
        "perfect": [int(not row[1] and not row[2]) for row in rows],
    }
    return result_of(
        make_metric("zettel_f1", protocol, **options),
        ids or [f"{number:04}" for number in range(len(rows))],
        statistics,
        dataset=ScoredDataset(dataset_sha256=sha256),
    )


def graded(right):
    """Cards of 11 fields of which so many are right."""
    return cards([(int(tp), 11 - int(tp), 11 - int(tp)) for tp in right])


def test_differences_are_the_first_less_the_second():
    found = compare(cards([(8, 3, 3), (6, 0, 0)]), cards([(4, 7, 7), (6, 0, 0)]), **HEADLINE)
    micro = found.figures["f1_micro"]
    assert (micro.a, micro.b) == (14 / 17, 10 / 17)
    assert micro.difference == pytest.approx(4 / 17)
    macro = found.figures["f1_macro"]
    assert macro.difference == pytest.approx((8 / 11 + 1) / 2 - (4 / 11 + 1) / 2)
    assert set(found.figures) == {"f1_micro", "f1_macro", "precision_micro", "recall_micro"}


def test_the_same_items_are_drawn_for_both_runs():
    # Hard and easy cards, but the first run has just one field more of each: only drawn together
    # do the two differ by 1/11 always, which says nothing of how far they could differ.
    easy = [1, 10] * 30
    found = compare(graded([right + 1 for right in easy]), graded(easy), **HEADLINE)
    assert found.figures["f1_micro"].interval is None
    assert found.detectable == pytest.approx(0)
    # On one card of sixty two fields more: the draws differ by how often they have it.
    more = compare(graded([3, *(right + 1 for right in easy[1:])]), graded(easy), **HEADLINE)
    interval = more.figures["f1_micro"].interval
    assert interval.low == pytest.approx(1 / 11)
    assert 1 / 11 < interval.high < 1 / 11 + 6 / 60 / 11


def test_items_in_another_order_are_paired_by_id():
    rows = [(9, 2, 2), (3, 8, 8), (7, 4, 4)]
    one, other = cards(rows, ["a", "b", "c"]), cards(rows[::-1], ["c", "b", "a"])
    found = compare(one, other, **HEADLINE)
    assert found.items_apart == []
    assert (found.p, found.exact, found.permutations) == (1.0, True, 1)
    assert found.figures["f1_micro"].difference == 0


def test_the_exact_p_of_five_items_that_are_all_better():
    # 2 of the 32 exchanges give a difference as large: none, and all.
    found = compare(graded([10] * 5), graded([5] * 5), names=("new", "old"), **HEADLINE)
    assert (found.p, found.permutations, found.exact) == (2 / 32, 32, True)
    assert not found.separable
    assert found.better is None
    assert found.why == "5 independent items, fewer than 20: nothing is called separable"


def test_nothing_is_separable_below_twenty_items():
    nineteen, twenty = (
        compare(graded([11] * items), graded([0] * items), **HEADLINE) for items in (19, 20)
    )
    assert nineteen.p < 0.001
    assert not nineteen.separable
    assert twenty.separable
    assert twenty.better == "A"
    assert twenty.why == "p = 0.0001 is below 0.05"


def test_no_items_are_no_difference():
    found = compare(graded([]), graded([]), **HEADLINE)
    assert (found.items, found.p, found.figures["f1_micro"].difference) == (0, 1.0, 0.0)


def test_of_an_error_rate_the_lower_is_the_better_run():
    metric = make_metric("avisblatt_cer")
    runs = {}
    for name, errors in (("bad", 4), ("good", 1)):
        columns = {column: [0] * 30 for column in metric.statistics}
        columns |= {"scored_ads": [8] * 30, "cer_sum": [errors] * 30}
        ids = list(map(str, range(30)))
        runs[name] = result_of(metric, ids, columns)
    [found] = compare_runs(runs, headline="cer", higher_is_better=False)
    assert found.figures["cer"].difference == 4 / 8 - 1 / 8
    assert found.better == "good"


def test_the_p_of_drawn_exchanges_is_never_zero():
    found = compare(graded([11] * 40), graded([0] * 40), **HEADLINE, resamples=199)
    assert (found.p, found.permutations, found.exact) == (1 / 200, 199, False)


def test_items_with_equal_results_are_not_enumerated():
    found = compare(graded([7] * 50 + [9, 9]), graded([7] * 50 + [3, 3]), **HEADLINE)
    assert (found.p, found.permutations, found.exact) == (2 / 4, 4, True)


def brute_force(a, b):
    """All exchanges, one after another, in plain loops."""

    def f1_micro(rows):
        return f1(*map(sum, zip(*rows, strict=True)))

    observed = abs(f1_micro(a) - f1_micro(b))
    found = [
        abs(
            f1_micro([y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)])
            - f1_micro([x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)])
        )
        for swaps in product((False, True), repeat=len(a))
    ]
    return sum(each >= observed - 1e-12 for each in found) / len(found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=8))
def test_exact_enumeration_is_brute_force(pairs):
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    found = compare(cards(a), cards(b), **HEADLINE, resamples=256)
    assert found.exact
    assert found.p == brute_force(a, b)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=9, max_size=12))
def test_drawn_exchanges_come_near_the_exact_p(pairs):
    runs = [cards([pair[side] for pair in pairs]) for side in (0, 1)]
    a, b = tables(runs, runs[0].ids)
    exact = permutation_test(a, b, "f1_micro", 2**12, 0)
    drawn = permutation_test(a, b, "f1_micro", 500, 0)
    assert exact.exact
    # Binomial with 500 draws: standard deviation at most 0.0224; five of them, and the 1 added.
    assert drawn.p == pytest.approx(exact.p, abs=0.12)


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([], []),
        ([0.25], [0.25]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.6, 0.7], [1.0, 1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_by_hand(p_values, corrected):
    assert holm(p_values) == pytest.approx(corrected)


def test_every_pair_is_compared_and_corrected_for_all():
    runs = {name: graded([right] * 30) for name, right in (("x", 9), ("y", 6), ("z", 9))}
    found = compare_runs(runs, **HEADLINE)
    assert [(each.a, each.b) for each in found] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert [each.better for each in found] == ["x", None, "z"]
    assert [each.p for each in found] == pytest.approx([1 / 10_001, 1, 1 / 10_001])
    assert [each.p_holm for each in found] == pytest.approx([3 / 10_001, 1, 3 / 10_001])
    assert found[0].why == "p = 0.0003, corrected for 3 comparisons, is below 0.05"
    assert found[1].why == "p = 1, corrected for 3 comparisons, is not below 0.05"


def test_many_pairs_get_the_exchanges_their_correction_needs():
    runs = {str(number): graded([11 if number else 2] * 30) for number in range(5)}
    found = compare_runs(runs, **HEADLINE, resamples=100)
    # 10 pairs at a level of 0.05: with 100 exchanges p_holm could not be below 10 / 101.
    assert {each.permutations for each in found} == {1, 400}
    assert [each.separable for each in found] == [True] * 4 + [False] * 6


def test_fields_are_compared_by_their_main_rate():
    metric = make_metric("zettel_f1")
    truth = metric.prepare({"title": "Stellingen", "year": 1924})
    one = score_items(metric, [(Answer({"title": "Stellingen", "year": 1924}, id="a"), truth)])
    other = score_items(
        metric, [(Answer({"title": "Stellingen", "year": 1931, "place": "Bonn"}, id="a"), truth)]
    )
    assert compare(one, other, **HEADLINE).fields == {
        "place": FieldEffect(None, 0.0, None),
        "title": FieldEffect(1.0, 1.0, 0.0),
        "year": FieldEffect(1.0, 0.0, 1.0),
    }


def test_items_that_differ_most_come_first_and_are_at_most_ten():
    right = [5, 11, 5, 0, *[6] * 10]
    found = compare(graded(right), graded([5] * 14), **HEADLINE).items_apart
    assert found[:2] == [ItemDifference("0001", 1.0, 5 / 11), ItemDifference("0003", 0.0, 5 / 11)]
    assert [item.id for item in found[2:]] == [f"{number:04}" for number in range(4, 12)]


def test_the_detectable_difference_is_as_of_paired_differences():
    rng = np.random.default_rng(0)
    a, b = rng.binomial(11, 0.8, 263), rng.binomial(11, 0.7, 263)
    found = compare(graded(a), graded(b), **HEADLINE)
    # f1_micro is here the mean of right / 11; 1.96 + 0.84 standard errors.
    assert found.detectable == pytest.approx(
        2.8016 * np.std((a - b) / 11, ddof=1) / np.sqrt(263), rel=0.05
    )


def test_items_that_only_one_run_has_are_refused_and_listed():
    one = cards([(1, 0, 0)] * 6, ["a", "b", "c", "d", "e", "f"])
    other = cards([(1, 0, 0)] * 3, ["a", "b", "x"])
    with pytest.raises(HdbenchError) as refused:
        compare(one, other, **HEADLINE)
    assert str(refused.value) == (
        "'A' and 'B' do not have the same items: 4 ('c', 'd', 'e', …) only in the first, 1 ('x') "
        "only in the second"
    )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"protocol": "published"}, "protocol: 'A' has 'documented', 'B' 'published'"),
        ({"threshold": 0.8}, "options: 'A' has .*0.92.*, 'B' .*0.8"),
        ({"sha256": "f" * 64}, f"dataset_sha256: 'A' has '{'0' * 64}', 'B' '{'f' * 64}'"),
    ],
)
def test_results_that_were_not_scored_alike_are_refused(other, message):
    rows = [(8, 3, 3)] * 3
    with pytest.raises(HdbenchError, match=message):
        compare(cards(rows), cards(rows, **other), **HEADLINE)


def drawn_pair(rng, items, better=0.0):
    """Two runs that agree on what is hard, by noise of their own and how much better one is."""
    hard = rng.beta(6, 2, items)
    return [
        graded(rng.binomial(11, np.clip(hard + rng.normal(shift, 0.05, items), 0, 1)))
        for shift in (better, 0.0)
    ]


def p_of(runs, seed):
    a, b = tables(runs, runs[0].ids)
    return permutation_test(a, b, "f1_micro", 199, seed).p


@pytest.mark.nightly
def test_of_equal_runs_about_one_in_twenty_is_called_different():
    rng = np.random.default_rng(0)
    found = [p_of(drawn_pair(rng, 57), seed) for seed in range(300)]
    # Binomial: 15 of 300, standard deviation 3.8; 99.9 % of the time 4 to 28.
    assert 4 <= sum(p <= 0.05 for p in found) <= 28
    assert 120 <= sum(p <= 0.5 for p in found) <= 180


@pytest.mark.nightly
def test_power_grows_to_80_percent_at_the_detectable_difference():
    rng = np.random.default_rng(1)
    one, other = drawn_pair(rng, 263, 0.0)
    detectable = compare(one, other, **HEADLINE, resamples=1000).detectable
    power = []
    for share in (0.0, 0.5, 1.0, 2.0):
        pairs = [drawn_pair(rng, 263, share * detectable) for _ in range(80)]
        power.append(sum(p_of(pair, seed) <= 0.05 for seed, pair in enumerate(pairs)) / 80)
    assert power == sorted(power)
    # Binomial with 80: standard deviation 0.045; clipping at 1 takes a little off the difference.
    assert 0.62 <= power[2] <= 0.94
    assert power[0] < 0.14
    assert power[3] > 0.96


@pytest.mark.nightly
def test_holm_keeps_false_positives_of_a_family_rare():
    rng = np.random.default_rng(2)
    wrong = uncorrected = 0
    for seed in range(150):
        hard = rng.beta(6, 2, 40)
        runs = {str(number): graded(rng.binomial(11, hard)) for number in range(4)}
        found = compare_runs(runs, **HEADLINE, resamples=240, seed=seed)
        wrong += any(each.separable for each in found)
        uncorrected += any(each.p < 0.05 for each in found)
    # At most 5 %: 7.5 of 150, standard deviation 2.7; 99.9 % of the time at most 17.
    assert wrong <= 17
    assert uncorrected > 17  # six uncorrected tests would be wrong some 20 % of the time


@pytest.mark.nightly
def test_intervals_of_differences_hold_the_true_difference():
    rng = np.random.default_rng(5)
    held = 0
    for seed in range(200):
        hard = rng.beta(6, 2, 60)
        a, b = (graded(rng.binomial(11, share * hard)) for share in (1.0, 0.9))
        found = compare(a, b, **HEADLINE, resamples=240, seed=seed).figures["f1_micro"].interval
        held += found.low <= 0.075 <= found.high  # 0.75 - 0.9 · 0.75
    # Binomial: 190 of 200, standard deviation 3.1; 99.9 % of the time 178 to 198.
    assert 178 <= held <= 198


def test_reordering_both_runs_changes_no_figure():
    rng = random.Random(8)
    right = [(rng.randint(0, 11), rng.randint(0, 11)) for _ in range(30)]
    order = rng.sample(range(30), 30)
    found = []
    for places in (range(30), order):
        ids = [str(place) for place in places]
        a, b = (
            cards([(r := right[p][side], 11 - r, 11 - r) for p in places], ids) for side in (0, 1)
        )
        found.append(compare(a, b, **HEADLINE, resamples=300))
    assert found[0].p == found[1].p
    assert found[0].figures["f1_micro"] == found[1].figures["f1_micro"]
