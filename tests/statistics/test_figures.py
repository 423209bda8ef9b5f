"""The figures of many totals at once are those of `rates`, of every metric and protocol."""

import numpy as np
import pytest
from helpers.results import result_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import PROTOCOLS
from hdbench.scoring.sciencemeta_accuracy import FIELDS, IDENTIFIERS, SciencemetaAccuracy
from hdbench.scoring.zettel_f1 import ZettelF1
from hdbench.statistics.bootstrap import intervals
from hdbench.statistics.resampling import StatisticsTable

pytestmark = pytest.mark.slow

EVERY = [make_metric(name, protocol) for name in METRICS for protocol in PROTOCOLS]
WEIGHTED = [make_metric(name, weights={"title": 0.3}) for name in ("zettel_f1", "record_f1")]
ROUNDED = [make_metric(name, round={"run": 2}) for name in ("record_f1", "text_cer")]
RENAMED = [
    make_metric("record_f1", figures={"f1_micro": {"of": "similarity", "scale": 100}}),
    make_metric("text_cer", figures={"cer": {"of": "cer_items"}}),
]
BESIDE = make_metric(
    "sciencemeta_accuracy", **dict.fromkeys(SciencemetaAccuracy.option_names, True)
)
METRICS_TO_TEST = [*EVERY, *WEIGHTED, *ROUNDED, *RENAMED, BESIDE]

COUNTS = st.integers(0, 4000)


def many_totals(metric, draw, rows):
    """Totals as items can have them: sums of 0.0 to 1.0 an item, and none where there is none."""
    items = draw(st.integers(1, 300))
    shares = st.floats(0, 1)
    totals = []
    for _ in range(rows):
        row = {name: draw(COUNTS) for name in metric.statistics}
        if metric.name == "avisblatt_cer":
            row["scored_ads"] = draw(st.integers(0, 50))
            row["fuzzy_sum"] = row["scored_ads"] * draw(shares)
            row["fuzzy"] = items * draw(shares)
        if metric in WEIGHTED:
            row["true_positives"] *= 0.3
        if metric.name == "sciencemeta_accuracy":
            for kind, fields in FIELDS.items():
                row[f"{kind}.items"] = records = draw(st.integers(0, 3))
                for field in fields:
                    for figure in ("similarity", "no_autojunk", "normalized"):
                        row[f"{kind}.{field}.{figure}"] = records * draw(shares)
                    row[f"{kind}.{field}.both_empty"] = draw(st.integers(0, records))
                    if field in IDENTIFIERS:
                        row[f"{kind}.{field}.canonical"] = draw(st.integers(0, records))
        totals.append({name: float(value) for name, value in row.items()} | {"items": items})
    return totals


def identifier(metric):
    return f"{metric.name}-{metric.protocol}"


def check(metric, rows):
    """The figures of many totals are those of each, to the last digit."""
    totals = np.array([[row[name] for name in metric.statistics] for row in rows])
    table = StatisticsTable(metric, metric.statistics, np.zeros((int(rows[0]["items"]), 1)))
    single = [metric.rates(row) for row in rows]
    names = [name for name, rate in single[0].items() if not isinstance(rate, dict)]
    for wanted in (names, [metric.headline]):
        expected = np.array([[rates.get(name) for name in wanted] for rates in single], float)
        assert np.array_equal(table.figures(totals, wanted), expected, equal_nan=True)


@pytest.mark.parametrize("metric", METRICS_TO_TEST, ids=identifier)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_figures_of_many_totals_are_those_of_each(metric, data):
    check(metric, many_totals(metric, data.draw, data.draw(st.integers(1, 4))))


@pytest.mark.parametrize("metric", METRICS_TO_TEST, ids=identifier)
def test_totals_of_nothing_are_scored_and_headline_comes_first(metric):
    nothing = dict.fromkeys((*metric.statistics, "items"), 0.0)
    something = dict.fromkeys(nothing, 3.0)
    check(metric, [nothing, nothing])
    check(metric, [something, nothing | {"items": 3.0}])
    assert next(iter(metric.rates(nothing))) == metric.headline


@pytest.mark.parametrize("name", METRICS)
def test_rates_are_computed_for_all_draws_at_once(name, monkeypatch):
    metric = make_metric(name)
    calls = []
    rates = type(metric).rates

    def counted(self, totals):
        calls.append(totals)
        return rates(self, totals)

    monkeypatch.setattr(type(metric), "rates", counted)
    rng = np.random.default_rng(0)
    columns = {
        # No more fields are empty on both sides than there are.
        name: rng.integers(0, 2, 30).tolist()
        if name.endswith("both_empty")
        else rng.integers(1, 9, 30).tolist()
        for name in metric.statistics
    }
    result = result_of(metric, [str(n) for n in range(30)], columns)
    assert intervals(result, resamples=500).figures
    assert len(calls) < 10


class Other(ZettelF1):
    """A metric of another package, which knows of numbers only."""

    def rates(self, totals):
        found = super().rates(totals)
        return found | {"f1_macro": 1.0 if found["f1_macro"] > 0.5 else 0.0}


def test_the_rates_of_another_package_get_numbers():
    assert make_metric("zettel_f1").vectorized
    assert not Other.vectorized
    row = dict.fromkeys((*Other.statistics, "items"), 3.0)
    check(Other(), [row | {"f1": value} for value in (1.0, 2.0, 3.0)])
