"""The delta method: by hand for a ratio, against the bootstrap for every metric, and named."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.strata import sample_of
from scipy import stats

from hdbench.results.files import read_result, write_results
from hdbench.results.parts import ScoredDataset
from hdbench.results.record import to_record
from hdbench.results.result import Result
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import OUTCOMES
from hdbench.statistics import delta
from hdbench.statistics.bootstrap import DELTA_METHOD, METHOD, WITHIN_STRATA, intervals
from hdbench.statistics.comparison import compare, compare_runs
from hdbench.statistics.ranking import rank_models
from hdbench.statistics.resampling import tables

ITEMS = 400


@pytest.fixture
def always(monkeypatch):
    """The delta method whatever the number of items."""
    monkeypatch.setattr(delta, "LARGE", 0)


def run_of(name, seed=0, *, items=ITEMS, shift=0.0, protocol="documented", **options):
    """A run with made-up statistics, in which hardly two items are alike."""
    rng = np.random.default_rng(seed)
    metric = make_metric(name, protocol, **options)
    quality = np.clip(rng.beta(6, 2, items) + shift, 0, 1)
    columns = {}
    for each in metric.statistics:
        noise = rng.random(items)
        columns[each] = np.clip(quality + (noise - 0.5) / 2, 0, 1)
        if each.endswith(("false_positives", "false_negatives", "_errors")):
            columns[each] = (1 - quality) * noise
        if each in ("texts", "scored_ads", "legible_ads", "counted_ads"):
            columns[each] = rng.integers(1, 4, items).astype(float)
    if name == "text_cer":
        for rate, runaways in (("cer", "runaways"), ("wer", "wer_runaways")):
            columns[runaways] = (rng.random(items) < 0.03).astype(float)
            columns[f"{rate}_capped"] = np.maximum(
                columns[runaways], 0.9 * columns[f"{rate}_errors"]
            )
    if name == "sciencemeta_accuracy":
        kind = rng.integers(0, 3, items)
        for place, prefix in enumerate(("paper.", "textbook.", "ebook.", "book.")):
            for each in metric.statistics:
                if each.startswith(prefix):
                    of = kind == place
                    share = 0.1 if each.endswith(".both_empty") else (1 + rng.random(items)) / 2
                    columns[each] = of * (1.0 if each.endswith(".items") else quality * share)
    values = {each: column.tolist() for each, column in columns.items()}
    ids = [f"{number:06}" for number in range(items)]
    return Result(metric, ids, Counter(), values, {}, [], [])


def in_strata(run):
    """The run as one of a sample by strata of which the first has most of the whole."""
    strata = [int(number % 10 > 6) + int(number % 10 > 8) for number in range(len(run.ids))]
    sizes = (80_000, 15_000, 500)
    return replace(
        run, dataset=ScoredDataset(sample=sample_of(sizes, Counter(strata))), strata=strata
    )


def test_a_ratio_by_hand(always):
    run = run_of("text_cer")
    errors, length = (np.array(run.statistics[f"cer_{each}"]) for each in ("errors", "length"))
    rate = errors.sum() / length.sum()
    [table] = tables([run], run.ids)
    found = delta.covariances([table], ["cer"])
    # Cochran, "Sampling Techniques": the variance of a ratio is that of its residuals.
    spread = math.sqrt(((errors - rate * length) ** 2).sum()) / length.sum()
    assert found[0, 0, 0] == pytest.approx(spread**2, rel=1e-4)
    # As good as possible is 0: the unseen item lowers the error by an exponential share of it.
    low, high = delta.interval_ends(table, "cer", rate, spread, 0.95)
    unseen = rate / ITEMS
    less = stats.exponnorm(unseen / spread, scale=spread).ppf(0.975)
    more = stats.exponnorm((1 - rate) / ITEMS / spread, scale=spread).ppf(0.975)
    assert (low, high) == pytest.approx((rate - less, rate + more), abs=1e-9)


def test_a_mean_by_hand(always):
    run = run_of("zettel_f1")
    values = np.array(run.statistics["f1"])
    [table] = tables([run], run.ids)
    [[[variance]]] = delta.covariances([table], ["f1_macro"])
    assert variance == pytest.approx(values.var() / ITEMS, rel=1e-9)


@pytest.mark.parametrize("items", [20, 50_000])
def test_items_that_are_all_alike_leave_the_unseen_one(items):
    run = run_of("zettel_f1", items=20)
    alike = {name: [0.5] * items for name in run.statistics}
    run = replace(run, ids=list(map(str, range(items))), statistics=alike)
    [table] = tables([run], run.ids)
    low, high = delta.interval_ends(table, "f1_macro", 0.5, 0.0, 0.95)
    assert low == pytest.approx(0.5 * (1 + math.log(0.025) / items))
    assert high == pytest.approx(0.5 * (1 - math.log(0.025) / items))
    assert delta.interval_ends(table, "f1_macro", 1.0, 0.0, 0.95)[1] == 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_rate_has_the_same_interval_as_the_bootstrap(name, weighted, monkeypatch):
    run = run_of(name)
    run = in_strata(run) if weighted else run
    drawn = intervals(run, resamples=2_000)
    monkeypatch.setattr(delta, "LARGE", 300)
    found = intervals(run)
    suffix = WITHIN_STRATA if weighted else ""
    assert drawn.method.startswith(METHOD + suffix)
    assert found.method == drawn.method.replace(METHOD, DELTA_METHOD)
    assert found.resamples == 0
    assert found.figures.keys() == drawn.figures.keys() != set()
    for figure, each in drawn.figures.items():
        width = each.high - each.low
        assert found.figures[figure].low == pytest.approx(each.low, abs=0.06 * width), figure
        assert found.figures[figure].high == pytest.approx(each.high, abs=0.06 * width), figure
        assert run.rates[figure] - found.figures[figure].low > 0.3 * width


def test_it_is_used_for_many_items_that_all_differ(monkeypatch):
    monkeypatch.setattr(delta, "LARGE", 300)
    few_alike, many_alike = run_of("text_cer"), run_of("text_cer")
    many_alike = replace(
        many_alike, statistics={name: col[:200] * 2 for name, col in few_alike.statistics.items()}
    )
    assert intervals(few_alike).by_delta
    assert not intervals(many_alike, resamples=100).by_delta
    assert not intervals(run_of("text_cer", items=300), resamples=100).by_delta


@pytest.mark.parametrize("name", ["avisblatt_cer", "letters_f1"])
def test_rounded_rates_keep_the_bootstrap(name, always):
    assert intervals(run_of(name)).by_delta
    rounded = run_of(name, items=200, protocol="published")
    assert not intervals(rounded, resamples=100).by_delta


def test_two_runs_have_the_differences_and_p_of_drawn_items(monkeypatch):
    a, b = run_of("text_cer"), run_of("text_cer", 1)
    b = replace(b, statistics=b.statistics | {"cer_length": a.statistics["cer_length"]})
    rules = {"headline": "cer", "higher_is_better": False}
    drawn = compare(a, b, **rules)
    monkeypatch.setattr(delta, "LARGE", 300)
    found = compare(a, b, **rules)
    assert "bootstrap" in drawn.method
    assert "delta method" in found.method
    assert (drawn.resamples, found.resamples, found.permutations) == (10_000, 0, 0)
    assert found.p == pytest.approx(drawn.p, abs=0.02)
    assert 0.01 < found.p < 1
    assert found.detectable == pytest.approx(drawn.detectable, rel=0.03)
    for name, each in drawn.figures.items():
        if name in ("cer", "wer"):
            assert each.interval is None
            continue
        width = each.interval.high - each.interval.low
        ends = (found.figures[name].interval.low, found.figures[name].interval.high)
        assert ends == pytest.approx((each.interval.low, each.interval.high), abs=0.05 * width)


def test_clear_difference_has_the_smallest_requested_p(always):
    runs = {str(seed): run_of("text_cer", seed, shift=-0.2 * seed) for seed in range(3)}
    found = compare_runs(runs, headline="cer", higher_is_better=False, resamples=999)
    assert [each.p for each in found] == [1 / 1000] * 3
    assert all(each.separable for each in found)


def test_equal_runs_do_not_differ(always):
    a = run_of("text_cer")
    found = compare(a, replace(a), headline="cer_items", higher_is_better=False)
    assert (found.p, found.separable, found.detectable) == (1, False, 0)
    # Among other items, one of them may have runaways that the other has not.
    rare = {"cer_capped", "runaway_share", "wer_capped", "wer_runaway_share"}
    assert {name for name, each in found.figures.items() if each.interval is not None} == rare


def test_ranks_are_those_of_drawn_items(monkeypatch):
    models = {f"model {seed}": [run_of("text_cer", seed, shift=-0.1 * seed)] for seed in range(5)}
    models["model 0"].append(run_of("text_cer", 9))
    rules = {"headline": "cer", "higher_is_better": False}
    drawn = rank_models(models, **rules)
    monkeypatch.setattr(delta, "LARGE", 300)
    found = rank_models(models, **rules)
    assert [(each.name, each.rank, each.better) for each in found] == [
        (each.name, each.rank, each.better) for each in drawn
    ]
    assert {each.rank.shown() for each in found} != {"1–5"}
    for one, other in zip(found, drawn, strict=True):
        assert one.runs_apart == other.runs_apart
        width = other.interval.high - other.interval.low
        assert one.interval.low == pytest.approx(other.interval.low, abs=0.05 * width)
        assert one.interval.high == pytest.approx(other.interval.high, abs=0.05 * width)


def test_a_result_file_names_the_method_and_is_read_back(always, tmp_path):
    status = Counter({"clean": ITEMS, "unwrapped": 0, "repaired": 0, "truncated": 0})
    status.update(unanswered=0, unparsable=0)
    fields = {name: {} for name in OUTCOMES}
    run = replace(run_of("zettel_f1"), status=status, outcomes=fields)
    write_results(tmp_path / "result.json", [run])
    record = json.loads((tmp_path / "result.json").read_text())
    assert record["intervals"]["method"] == DELTA_METHOD
    again = read_result(tmp_path / "result.json")
    assert to_record(again)["intervals"] == record["intervals"]
    assert again.intervals == run.intervals
