"""The headline of many totals at once is that of `rates`, of every metric and protocol."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import PROTOCOLS
from hdbench.scoring.sciencemeta_accuracy import FIELDS

EVERY = [make_metric(name, protocol) for name in METRICS for protocol in PROTOCOLS]
WEIGHTED = [make_metric(name, weights={"title": 0.3}) for name in ("zettel_f1", "record_f1")]
ROUNDED = [make_metric(name, round={"run": 2}) for name in ("record_f1", "text_cer")]
RENAMED = [
    make_metric("record_f1", figures={"f1_micro": {"of": "similarity", "scale": 100}}),
    make_metric("text_cer", figures={"cer": {"of": "cer_items"}}),
]
METRICS_TO_TEST = [*EVERY, *WEIGHTED, *ROUNDED, *RENAMED]

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
                row[f"{kind}.items"] = draw(st.integers(0, 3))
                for field in fields:
                    row[f"{kind}.{field}.similarity"] = row[f"{kind}.items"] * draw(shares)
        totals.append({name: float(value) for name, value in row.items()} | {"items": items})
    return totals


@pytest.mark.parametrize(
    "metric", METRICS_TO_TEST, ids=lambda metric: f"{metric.name}-{metric.protocol}"
)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_headlines_are_those_of_rates_to_the_last_digit(metric, data):
    rows = many_totals(metric, data.draw, data.draw(st.integers(1, 4)))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert metric.headlines(columns) == [metric.rates(row)[metric.headline] for row in rows]


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: f"{metric.name}-{metric.protocol}")
def test_of_nothing_too_and_the_headline_is_the_first_of_the_rates(metric):
    nothing = dict.fromkeys((*metric.statistics, "items"), 0.0)
    rates = metric.rates(nothing)
    assert next(iter(rates)) == metric.headline
    columns = {name: [0.0, 0.0] for name in nothing}
    assert metric.headlines(columns) == [rates[metric.headline]] * 2
