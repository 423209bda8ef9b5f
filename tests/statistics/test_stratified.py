"""Estimates for the whole from stratified samples: by hand, by formula, and by simulation."""

import numpy as np
import pytest
from helpers.strata import cards, coverage, sample_of
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.benchmarks.sample import Sample, weighed
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ScoredDataset
from hdbench.evaluation.score import score_items
from hdbench.evaluation.sentences import estimated
from hdbench.scoring import make_metric
from hdbench.scoring.metric import f1
from hdbench.statistics.bootstrap import METHOD, WITHIN_STRATA
from hdbench.statistics.comparison import compare
from hdbench.statistics.ranking import rank_models
from hdbench.statistics.resampling import bootstrap, tables

HEADLINE = {"headline": "f1_micro", "higher_is_better": True}


def sample(sizes, items, by=("type",), values=None):
    strata = [
        {"values": values[place] if values else {"type": str(place)}, "of": of, "items": drawn}
        for place, (of, drawn) in enumerate(zip(sizes, items, strict=True))
    ]
    return Sample.model_validate({"of": sum(sizes), "by": by, "seed": 1, "strata": strata})


def test_an_item_stands_for_its_stratum_s_share_of_the_whole():
    found = weighed(sample([900, 100], [3, 2]), [0, 0, 1, 0, 1])
    # 9 / 10 of 5 items are shared by 3, and 1 / 10 by 2.
    assert found.weights == pytest.approx([1.5, 1.5, 0.25, 1.5, 0.25])
    assert found.groups == [0, 0, 1, 0, 1]
    assert found.empty == []


def test_missing_items_are_represented_by_their_stratum():
    found = weighed(sample([900, 100], [50, 50]), [0, 0, 0, 1, 1])
    assert found.weights == pytest.approx([1.5, 1.5, 1.5, 0.25, 0.25])


def test_single_item_stratum_is_resampled_with_the_nearest():
    values = [{"type": "a", "year": "1"}, {"type": "b", "year": "1"}, {"type": "b", "year": "2"}]
    of = sample([600, 300, 100], [2, 2, 1], by=("type", "year"), values=values)
    found = weighed(of, [0, 0, 1, 1, 2])
    assert found.groups == [0, 0, 1, 1, 1]
    assert found.weights == pytest.approx([1.5, 1.5, 0.75, 0.75, 0.5])
    first = weighed(sample([600, 300, 100], [1, 2, 2]), [0, 1, 1, 2, 2])
    assert first.groups == [1, 1, 1, 2, 2]


def test_strata_of_one_item_each_go_together():
    found = weighed(sample([600, 300, 100], [1, 1, 1]), [0, 1, 2])
    assert len(set(found.groups)) == 1
    assert found.weights == pytest.approx([1.8, 0.9, 0.3])


def test_the_nearest_stratum_stands_for_one_without_an_item():
    found = weighed(sample([600, 300, 100], [2, 2, 2]), [0, 0, 1, 1])
    assert found.weights == pytest.approx([1.2, 1.2, 0.8, 0.8])
    assert [each.of for each in found.empty] == [100]


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 6)), min_size=2, max_size=12))
def test_every_group_has_two_items_and_the_weights_add_up(strata):
    of = sample([size + 6 for size, _ in strata], [max(1, items) for _, items in strata])
    places = [place for place, (_, items) in enumerate(strata) for _ in range(items)]
    if len(places) < 2:
        return
    found = weighed(of, places)
    assert sum(found.weights) == pytest.approx(len(places), rel=1e-6)
    assert all(found.groups.count(group) > 1 for group in found.groups)


def test_rates_are_of_the_whole_and_counts_of_the_sample():
    run = cards([11, 9, 4, 2], [0, 0, 1, 1], [900, 100])
    # 20 right and 2 wrong stand for 9 / 10, and 6 right and 16 wrong for 1 / 10.
    tp, wrong = 0.9 * 20 + 0.1 * 6, 0.9 * 2 + 0.1 * 16
    assert run.rates["f1_micro"] == pytest.approx(f1(tp, wrong, wrong))
    assert run.rates["f1_macro"] == pytest.approx(0.9 * 10 / 11 + 0.1 * 3 / 11)
    assert run.rates["true_positives"] == 26
    assert run.rates["items_perfect"] == 1
    figures = run.figures
    assert figures["f1_micro"] == run.rates["f1_micro"]
    assert figures["items"] == 4
    assert run.estimated == ("estimated for the whole of 1,000 items from a stratified sample of 4")
    assert estimated(run, "de") == (
        "geschätzt für das Ganze von 1.000 Einträgen aus einer geschichteten Stichprobe von 4"
    )


TRUTHS = {
    "zettel_f1": ({"title": "Stellingen", "year": 1924}, {"title": "Stellingen", "year": 1942}),
    "letters_f1": ({"send_date": ["1926-02-16"]}, {"send_date": ["1962-02-16"]}),
    "sciencemeta_accuracy": (
        {"kind": "ebook", "title": "On Growth", "isbn": "978"},
        {"kind": "ebook", "title": "On Growth", "isbn": "979"},
    ),
    "text_cer": ({"text": "Rother Wein"}, {"text": "Rother Weyn"}),
    "record_f1": (
        {"title": "Stellingen", "entries": [{"a": "x"}]},
        {"title": "Stellingen", "entries": [{"a": "z"}]},
    ),
    "avisblatt_cer": (
        {"date": "1731-01-02", "advertisements": [{"date": "1731-01-02", "text": "Rother Wein"}]},
        {"date": "1731-01-02", "advertisements": [{"date": "1731-01-02", "text": "Rother Weyn"}]},
    ),
}


def flat(value, path=()):
    for key, child in value.items():
        yield from flat(child, (*path, key)) if isinstance(child, dict) else [((*path, key), child)]


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_rates_of_every_metric_weigh_the_strata_like_the_whole(name, protocol):
    """A whole of 6 right, 2 wrong and 2 lost, and a sample of 2 of each."""
    truth, wrong = TRUTHS[name]
    metric = make_metric(name, protocol)
    answers = [truth] * 6 + [wrong] * 2 + [None] * 2
    prepared = metric.prepare(truth)
    whole = score_items(
        metric, [(Answer(answer, id=str(n)), prepared) for n, answer in enumerate(answers)]
    )
    drawn = [(Answer(answers[n], id=str(n)), prepared, (n - 4) // 2) for n in range(4, 10)]
    dataset = {"sample": sample_of([6, 2, 2], {0: 2, 1: 2, 2: 2})}
    run = score_items(metric, drawn, dataset=ScoredDataset(**dataset))
    counted = score_items(metric, drawn)
    counts = {each.name for each in metric.figures if each.kind == "count"}
    counts |= {"items", "both_empty", "true_positives", "false_positives", "false_negatives"}
    digits = 0.006 if protocol == "published" else 1e-6  # some are rounded there
    for figures, expected, sampled in (
        (run.rates, whole.rates, counted.rates),
        (run.field_rates(), whole.field_rates(), counted.field_rates()),
    ):
        of_whole, of_sample = dict(flat(expected)), dict(flat(sampled))
        found = dict(flat(figures))
        assert found.keys() == of_sample.keys()
        for path, value in found.items():
            if path[-1] in counts or path[0] in counts:
                assert value == of_sample[path], path
            else:
                assert value == pytest.approx(of_whole[path], abs=digits), path


def test_a_simple_sample_changes_no_figure():
    run = cards([11, 9, 4, 2] * 8)
    simple = sample_of([1000], {0: 32}) | {"by": []}
    simple["strata"][0]["values"] = {}
    drawn = run.replaced(dataset=ScoredDataset(sample=simple))
    assert drawn.rates == run.rates
    assert drawn.intervals == run.intervals
    assert drawn.estimated == "estimated for the whole of 1,000 items from a sample of 32"


def test_proportional_strata_change_no_rate():
    right = [11, 9, 4, 2] * 10
    alike = cards(right, [0, 1, 1, 1] * 10, [250, 750])
    assert alike.rates["f1_micro"] == pytest.approx(cards(right).rates["f1_micro"])


@pytest.mark.parametrize("allocation", [(30, 20, 10), (2, 2, 2), (5, 3, 40)])
def test_the_spread_is_that_of_the_formula(allocation):
    """Cochran, "Sampling Techniques", 1977, (5.6): the sum of W² s² / n over the strata."""
    sizes = (5000, 4000, 1000)
    rng = np.random.default_rng(3)
    parts = [rng.integers(0, 12, items) for items in allocation]
    strata = np.repeat([0, 1, 2], allocation)
    run = cards(np.concatenate(parts), strata, sizes)
    [drawn] = bootstrap(tables([run], run.ids), ["f1_macro"], 20_000, 1)
    variance = sum(
        (size / sum(sizes)) ** 2 * (part / 11).var(ddof=1) / len(part)
        for size, part in zip(sizes, parts, strict=True)
    )
    assert drawn.std() == pytest.approx(variance**0.5, rel=0.02)
    assert drawn.mean() == pytest.approx(run.rates["f1_macro"], abs=4 * (variance / 20_000) ** 0.5)


def test_the_order_of_items_has_no_influence():
    right, strata = [11, 9, 4, 2, 7] * 6, [0, 0, 1, 1, 1] * 6
    run = cards(right, strata, [900, 100])
    other = cards(right[::-1], strata[::-1], [900, 100])
    assert other.rates["f1_micro"] == pytest.approx(run.rates["f1_micro"])
    a, b = (each.intervals.figures["f1_micro"] for each in (run, other))
    assert (a.low, a.high) == pytest.approx((b.low, b.high))


def test_with_too_few_items_there_is_no_interval():
    run = cards([11, 9] * 9, [0, 1] * 9, [900, 100])
    assert run.intervals.why == "18 items: too few for an interval"
    assert run.intervals.method == METHOD + WITHIN_STRATA
    assert cards([11, 9] * 9).intervals.method == METHOD


def test_unequal_weights_count_as_fewer_items():
    [even] = tables([cards([5] * 40, [0, 1] * 20, [500, 500])], [f"{n:05}" for n in range(40)])
    [uneven] = tables([cards([5] * 40, [0, 1] * 20, [900, 100])], [f"{n:05}" for n in range(40)])
    assert even.effective == pytest.approx(40)
    # (20 * 1.8 + 20 * 0.2)² / (20 * 1.8² + 20 * 0.2²) = 1600 / 65.6
    assert uneven.effective == pytest.approx(1600 / 65.6)
    assert uneven.independent == 39


def test_runs_are_compared_and_ranked_by_their_estimates():
    strata = [0, 1] * 30
    a, b = (cards(right, strata, [950, 50]) for right in ([10, 2] * 30, [8, 11] * 30))
    # The sample as it is has b far ahead; the whole is nearly all of the first stratum.
    found = compare(a, b, **HEADLINE)
    assert found.figures["f1_micro"].a == a.rates["f1_micro"]
    assert found.better == "A"
    assert found.estimated.endswith("from a stratified sample of 60")
    assert found.figures["f1_micro"].difference == pytest.approx((0.95 * 2 - 0.05 * 9) / 11)
    plain = compare(cards([10, 2] * 30), cards([8, 11] * 30), **HEADLINE)
    assert plain.better == "B"
    ranked = rank_models({"a": [a], "b": [b]}, **HEADLINE, resamples=500)
    assert [each.name for each in ranked] == ["a", "b"]
    assert ranked[0].value == a.rates["f1_micro"]


def test_results_of_other_samples_are_not_compared():
    strata = [0, 1] * 10
    a, b = (cards([10, 2] * 10, strata, sizes) for sizes in ([900, 100], [800, 200]))
    with pytest.raises(HdbenchError, match="sample: 'A' has"):
        compare(a, b, **HEADLINE)


@pytest.mark.parametrize("allocation", [(75, 25, 10), (36, 36, 38)])
def test_intervals_hold_the_figure_of_the_whole(allocation):
    """2,000 draws of each of more designs are in tests/speed/stratified_coverage.py."""
    found = coverage((6000, 2000, 800), (0.9, 0.7, 0.3), allocation, 150, resamples=400)
    assert found.held >= 0.93
    assert abs(found.bias) < 0.01
    if allocation[0] == 36:
        assert found.bias_unweighted < -0.1
