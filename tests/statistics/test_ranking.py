"""Rankings: by hand where there is nothing to chance, and by simulation with a known truth."""

import random
from itertools import pairwise

import numpy as np
import pytest
from helpers.results import result_of
from helpers.undeclared import Undeclared

from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ScoredDataset
from hdbench.scoring import make_metric
from hdbench.scoring.metric import f1
from hdbench.statistics.bootstrap import intervals
from hdbench.statistics.comparison import compare
from hdbench.statistics.ranking import Ranks, rank_models
from hdbench.statistics.resampling import bootstrap, tables

HEADLINE = {"headline": "f1_micro", "higher_is_better": True}


def graded(right, ids=None, sha256="0" * 64, protocol="documented"):
    """Cards of 11 fields of which so many are right: f1_micro is their mean, of 11."""
    right = [int(number) for number in right]
    wrong = [11 - number for number in right]
    statistics = {
        "true_positives": right,
        "false_positives": wrong,
        "false_negatives": wrong,
        "f1": [number / 11 for number in right],
        "perfect": [int(number == 11) for number in right],
    }
    ids = ids or [f"{number:04}" for number in range(len(right))]
    return result_of(
        make_metric("zettel_f1", protocol),
        ids,
        statistics,
        dataset=ScoredDataset(dataset_sha256=sha256),
    )


def letters(rows, protocol="published"):
    """Letters of which only the dates count: true positives, false positives, false negatives."""
    metric = make_metric("letters_f1", protocol)
    columns = dict.fromkeys(metric.statistics, [0] * len(rows))
    names = ("true_positives", "false_positives", "false_negatives")
    for place, name in enumerate(names):
        columns[f"send_date.{name}"] = [int(row[place]) for row in rows]
    columns["f1"] = [f1(*row) for row in rows]
    return result_of(metric, list(map(str, range(len(rows)))), columns)


def of(standings):
    return {each.name: each for each in standings}


def test_models_that_all_differ_have_one_rank_each():
    runs = {"bad": [graded([3] * 30)], "good": [graded([9] * 30)], "fair": [graded([6] * 30)]}
    found = rank_models(runs, **HEADLINE)
    assert [(each.name, each.rank, each.better) for each in found] == [
        ("good", Ranks(1, 1), ()),
        ("fair", Ranks(2, 2), ("good",)),
        ("bad", Ranks(3, 3), ("good", "fair")),
    ]
    assert [each.value for each in found] == pytest.approx([9 / 11, 6 / 11, 3 / 11])


def test_rank_lies_between_the_better_and_the_worse_models():
    """By hand: six models, of which we know which pairs differ significantly.

    Two that differ by the same amount on every card are different. On every other card "wild" has
    all fields, and none on the rest: its mean, 5.5 of 11, has a standard error of 5.5 / √30 = 1.0,
    so that it differs from none of those with 4 to 7 fields, nor from its own twin, which is the
    same run, but from those with 0 and 11.
    """
    right = {
        "11": [11] * 30,
        "7": [7] * 30,
        "wild": [11, 0] * 15,
        "twin": [11, 0] * 15,
        "4": [4] * 30,
        "0": [0] * 30,
    }
    found = rank_models({name: [graded(each)] for name, each in right.items()}, **HEADLINE)
    assert [(each.name, each.rank, each.better) for each in found] == [
        ("11", Ranks(1, 1), ()),
        ("7", Ranks(2, 4), ("11",)),  # only "4" and "0" are worse
        ("twin", Ranks(2, 5), ("11",)),
        ("wild", Ranks(2, 5), ("11",)),
        ("4", Ranks(3, 5), ("11", "7")),
        ("0", Ranks(6, 6), ("11", "7", "twin", "wild", "4")),
    ]


def test_of_an_error_rate_the_lower_is_the_better_model():
    metric = make_metric("avisblatt_cer")
    models = {}
    for name, errors in (("bad", 4), ("good", 1)):
        columns = dict.fromkeys(metric.statistics, [0] * 30)
        columns |= {"scored_ads": [8] * 30, "cer_sum": [errors] * 30}
        ids = list(map(str, range(30)))
        models[name] = [result_of(metric, ids, columns)]
    found = rank_models(models, headline="cer", higher_is_better=False)
    assert [(each.name, each.value, each.rank) for each in found] == [
        ("good", 1 / 8, Ranks(1, 1)),
        ("bad", 4 / 8, Ranks(2, 2)),
    ]


def test_several_runs_of_a_model_count_by_mean_with_spread():
    runs = [graded([right] * 30) for right in (7, 9, 5)]
    [several, one] = rank_models({"several": runs, "one": [graded([4] * 30)]}, **HEADLINE)
    assert (several.runs, several.spread) == (3, (5 / 11, 9 / 11))
    assert several.value == pytest.approx(7 / 11)
    assert (one.runs, one.spread, one.runs_apart) == (1, None, False)


def test_runs_lie_apart_if_their_intervals_do_not_meet():
    rng = np.random.default_rng(0)
    cards = rng.binomial(11, 0.6, 60)
    repeated = [graded(rng.permutation(cards)), graded(rng.permutation(cards))]
    broken = graded([0] * 60)
    models = {
        "one": repeated[:1],
        "steady": repeated,
        "broke down": [*repeated, broken],
        "always broken": [broken, graded([0] * 59 + [1])],
    }
    found = of(rank_models(models, **HEADLINE))
    assert [found[name].runs_apart for name in models] == [False, False, True, False]
    alone = [intervals(each).figures["f1_micro"] for each in (repeated[0], broken)]
    assert alone[1].high < alone[0].low
    # A figure a little outside the other's interval has an interval that still meets it.
    near = graded([*cards[:45], *(min(number + 6, 11) for number in cards[45:])])
    low, high = (intervals(each).figures["f1_micro"] for each in (graded(cards), near))
    value = sum(near.statistics["true_positives"]) / 660
    assert low.high < value
    assert high.low < low.high
    [standing] = rank_models({"near": [graded(cards), near]}, **HEADLINE)
    assert not standing.runs_apart


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ([0] * 5, [5, 6, 5, 4, 7], True),
        ([1, 2, 3, 4, 4], [5, 6, 5, 4, 7], False),
        ([5, 6, 5, 4, 7], [1, 2, 3, 3, 3], True),
        ([0], [11], False),  # one item has no range
    ],
)
def test_few_items_are_apart_if_all_items_of_one_run_are_better(one, other, apart):
    [found] = rank_models({"a": [graded(one), graded(other)]}, **HEADLINE)
    assert found.runs_apart == apart


def test_interval_of_a_mean_is_that_of_runs_averaged_by_item():
    # f1_micro is a mean over these cards, so two runs together are one of half as large steps.
    rng = np.random.default_rng(5)
    first, second = rng.binomial(5, 0.7, (2, 60))
    [both] = rank_models({"both": [graded(2 * first), graded(2 * second)]}, **HEADLINE)
    whole = intervals(graded(first + second)).figures["f1_micro"]
    # The draws are others: 10,000 give the ends of an interval to about 0.02 of its width.
    width = whole.high - whole.low
    assert both.interval.low == pytest.approx(whole.low, abs=width / 25)
    assert both.interval.high == pytest.approx(whole.high, abs=width / 25)


def test_models_that_never_differ_are_not_different():
    rng = np.random.default_rng(0)
    right = rng.binomial(11, 0.6, 40)
    found = of(rank_models({name: [graded(right)] for name in "ab"}, **HEADLINE))
    assert found["a"].rank == found["b"].rank == Ranks(1, 2)
    assert found["a"].interval == found["b"].interval


def test_constant_difference_needs_twenty_items():
    # Hard and easy cards, of which the first model gets just one field more.
    easy = [1, 10, 4, 7] * 5
    better = [number + 1 for number in easy]
    for items, ranks in ((19, (None, None)), (20, (Ranks(1, 1), Ranks(2, 2)))):
        models = {"more": [graded(better[:items])], "less": [graded(easy[:items])]}
        found = of(rank_models(models, **HEADLINE))
        assert (found["more"].rank, found["less"].rank) == ranks


def test_pairs_without_spread_do_not_disturb_the_others():
    rng = np.random.default_rng(0)
    right = rng.binomial(10, 0.6, 60)
    apart = {"low": [graded(right)], "high": [graded(rng.binomial(11, 0.9, 60))]}
    alone = of(rank_models(apart, **HEADLINE))
    found = of(
        rank_models(apart | {"same": [graded(right)], "+1": [graded(right + 1)]}, **HEADLINE)
    )
    assert alone["low"].better == ("high",)
    assert found["low"].better == found["same"].better == ("high", "+1")
    assert found["+1"].better == ("high",)


@pytest.mark.parametrize("items", [0, 1, 19])
def test_figures_below_twenty_items_have_no_intervals_or_ranks(items):
    found = rank_models({"a": [graded([11] * items)], "b": [graded([0] * items)]}, **HEADLINE)
    assert [(each.value, each.interval, each.rank, each.better) for each in found] == [
        (float(items > 0), None, None, ()),
        (0.0, None, None, ()),
    ]


def test_one_model_is_first_with_its_interval():
    run = graded(np.random.default_rng(0).binomial(11, 0.6, 40))
    [only] = rank_models({"only": [run]}, **HEADLINE)
    assert (only.rank, only.better) == (Ranks(1, 1), ())
    assert only.interval == intervals(run).figures["f1_micro"]


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_headline_is_drawn_alike_alone_and_beside_other_figures(protocol):
    rng = np.random.default_rng(7)
    for run in (
        graded(rng.binomial(11, 0.7, 30), protocol=protocol),
        letters(rng.integers(0, 4, (30, 3)), protocol),
    ):
        [alone] = bootstrap(tables([run], run.ids), ["f1_micro"], 300, 0)
        [beside] = bootstrap(tables([run], run.ids), ["f1_micro", "f1_macro"], 300, 0)
        assert alone[:, 0].tolist() == beside[:, 0].tolist()
        assert len(set(alone[:, 0])) > 5


def test_figures_that_are_rounded_to_two_decimals_are_ranked():
    rng = np.random.default_rng(2)
    models = {}
    for name, share in (("good", 0.9), ("like it", 0.9), ("bad", 0.4)):
        right = rng.binomial(3, share, 57)
        models[name] = [letters([(tp, 3 - tp, 3 - tp) for tp in right])]
    found = of(rank_models(models, **HEADLINE))
    assert all(round(each.value, 2) == each.value for each in found.values())
    assert found["good"].rank == found["like it"].rank == Ranks(1, 2)
    assert found["bad"].rank == Ranks(3, 3)
    assert set(found["bad"].better) == {"good", "like it"}


def test_ranking_of_a_pair_agrees_with_the_permutation_test():
    rng = np.random.default_rng(3)
    hard = rng.beta(6, 2, 57)
    agreed = 0
    for shift in np.linspace(0, 0.12, 25):
        a, b = (rng.binomial(11, np.clip(hard - less, 0, 1)) for less in (0, shift))
        ranked = rank_models({"a": [graded(a)], "b": [graded(b)]}, **HEADLINE, resamples=1000)
        tested = compare(graded(a), graded(b), **HEADLINE, resamples=1000)
        assert [each.rank for each in ranked] in (
            [Ranks(1, 1), Ranks(2, 2)],
            [Ranks(1, 2), Ranks(1, 2)],
        )
        agreed += (ranked[0].rank == Ranks(1, 1)) == tested.separable
    assert agreed >= 23  # they are two tests: where p is near 0.05 they may differ


def test_order_has_no_influence_and_the_seed_has():
    rng = random.Random(1)
    rows = [[[rng.randint(0, 11) for _ in range(40)] for _ in range(2)] for _ in range(4)]
    ids = [f"{number:04}" for number in range(40)]

    def models(order, places):
        return {
            f"m{model}": [
                graded([run[place] for place in places], [ids[place] for place in places])
                for run in rows[model][:: 1 if order[0] == 0 else -1]
            ]
            for model in order
        }

    settings = {**HEADLINE, "resamples": 300}
    once = rank_models(models([0, 1, 2, 3], range(40)), **settings)
    shuffled = rng.sample(range(40), 40)
    assert rank_models(models([2, 0, 3, 1], shuffled), **settings) == once
    assert rank_models(models([0, 1, 2, 3], range(40)), **settings, seed=1) != once


def test_runs_that_cannot_be_ranked_together_are_refused():
    one = [graded([3, 4, 5])]
    with pytest.raises(HdbenchError, match="'a' and 'b' do not have the same items"):
        rank_models({"b": [graded([3, 4])], "a": one}, **HEADLINE)
    with pytest.raises(HdbenchError, match="protocol: 'a' has 'documented', 'b' 'published'"):
        rank_models({"a": one, "b": [graded([3, 4, 5], protocol="published")]}, **HEADLINE)
    with pytest.raises(HdbenchError, match=r"dataset_sha256: 'a, run 1' has .*, 'a, run 2' "):
        rank_models({"a": [*one, graded([3, 4, 5], sha256="f" * 64)]}, **HEADLINE)
    with pytest.raises(HdbenchError, match="no runs to rank: name at least one"):
        rank_models({}, **HEADLINE)
    with pytest.raises(HdbenchError, match="'b' has no runs"):
        rank_models({"a": one, "b": []}, **HEADLINE)
    with pytest.raises(HdbenchError, match="headline: 'a' has no figure 'accuracy'"):
        rank_models({"a": one}, headline="accuracy", higher_is_better=True)
    with pytest.raises(HdbenchError, match="resamples: 5 are too few"):
        rank_models({"a": one}, **HEADLINE, resamples=5)


def test_a_figure_that_some_draws_lack_is_refused():
    metric = Undeclared()
    columns = {name: [0] * 20 for name in metric.statistics}
    columns |= {"counted_ads": [4] + [0] * 19, "ntokens_error_sum": [1] + [0] * 19}
    run = result_of(metric, list(map(str, range(20))), columns)
    with pytest.raises(HdbenchError, match="headline: 'ntokens_error' has no value for some items"):
        rank_models({"x": [run]}, headline="ntokens_error", higher_is_better=False)


def drawn(rng, items, ahead):
    """Models that agree on what is hard, each with noise of its own, so far ahead of the worst."""
    hard = rng.beta(6, 2, items)
    shares = [hard + rng.normal(each, 0.05, items) for each in ahead]
    return {
        f"m{model}": [graded(rng.binomial(11, np.clip(share, 0, 1)))]
        for model, share in enumerate(shares)
    }


@pytest.mark.parametrize(
    ("items", "ahead", "sets", "most"),
    # Binomial: where the sets miss in 5 % of samples, more than `most` are found in less than one
    # try in 1,000. If any pair with |t| > 2 were different, 43 of the first 200 would be missed.
    [
        (40, [0.0, 0.0, -0.1, -0.1, -0.1, -0.3], 200, 21),
        pytest.param(20, [0.0, 0.0, -0.1, -0.1, -0.3], 600, 48, marks=pytest.mark.nightly),
        pytest.param(57, [-0.03 * n for n in range(10)], 200, 21, marks=pytest.mark.nightly),
    ],
)
def test_rank_sets_contain_all_true_ranks_in_95_of_100_samples(items, ahead, sets, most):
    rng = np.random.default_rng(items)
    # The lower a model's mean, the fewer fields it has right over all cards.
    true = {f"m{model}": 1 + sum(other > own for other in ahead) for model, own in enumerate(ahead)}
    missed, places = 0, 0
    for seed in range(sets):
        found = rank_models(drawn(rng, items, ahead), **HEADLINE, resamples=400, seed=seed)
        missed += not all(each.rank.low <= true[each.name] <= each.rank.high for each in found)
        places += sum(each.rank.high - each.rank.low + 1 for each in found)
    assert missed <= most
    # Sets of all ranks would contain the true ones, and say nothing.
    assert places < 0.8 * sets * len(ahead) ** 2


def test_rank_sets_contain_the_place_and_follow_the_figures():
    rng = np.random.default_rng(11)
    ordered = 0
    for seed in range(40):
        ahead = rng.uniform(-0.3, 0, rng.integers(1, 9))
        found = rank_models(
            drawn(rng, int(rng.integers(20, 60)), ahead), **HEADLINE, resamples=200, seed=seed
        )
        assert found[0].rank.low == 1
        assert found[-1].rank.high == len(found)
        for each in found:
            place = 1 + sum(other.value > each.value for other in found)
            assert each.rank.low <= place <= each.rank.high
            assert each.rank.low == 1 + len(each.better)
            worse = sum(each.name in other.better for other in found)
            assert each.rank.high == len(found) - worse
        # Whoever is better than a model is better than those with lower figures, and so on.
        better = [set(each.better) for each in found]
        worse = [{other.name for other in found if each.name in other.better} for each in found]
        pairs = range(len(found) - 1)
        if all(better[n] <= better[n + 1] and worse[n] >= worse[n + 1] for n in pairs):
            ordered += 1
            for one, other in pairwise(found):
                assert one.rank.low <= other.rank.low
                assert one.rank.high <= other.rank.high
    assert ordered >= 10


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("items", "models", "sets", "most"),
    # Binomial: where the share is 5 %, more than `most` are found in less than one try in 1,000.
    # Without the error of the spreads it would be 18 % of (20, 10), and half of (20, 40).
    [(20, 2, 300, 28), (20, 10, 200, 21), (20, 40, 60, 10), (57, 10, 200, 21), (263, 10, 60, 10)],
)
def test_equal_models_differ_in_about_one_data_set_in_twenty(items, models, sets, most):
    rng = np.random.default_rng(items + models)
    found = 0
    for seed in range(sets):
        runs = drawn(rng, items, [0.0] * models)
        ranked = rank_models(runs, **HEADLINE, resamples=400, seed=seed)
        found += any(each.rank.low > 1 for each in ranked)
    assert 0 < found <= most


@pytest.mark.nightly
def test_a_model_that_is_better_is_found_among_ten():
    rng = np.random.default_rng(4)
    sets = [
        rank_models(drawn(rng, 57, [0.15] + [0.0] * 9), **HEADLINE, resamples=400)
        for _ in range(30)
    ]
    better = sum("m0" in each.better for found in sets for each in found)
    wrong = sum(any(set(each.better) - {"m0"} for each in found) for found in sets)
    assert better >= 0.8 * 30 * 9
    assert wrong <= 6  # data sets in which other pairs differ: binomial, as above
