"""The forecast on the recorded runs of the cards, with the ground truths as they were published."""

import pytest

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.trust.forecasting.forecast import ForecastOptions, forecast

pytestmark = pytest.mark.slow

THREE = ("2025-11-25_T0420", "2025-09-30_T0160", "2026-01-24_T0230")


@pytest.fixture(scope="module")
def found(published):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(published.folder)
        runs = [published.folder / "hdb/results/zettelkatalog" / run for run in THREE]
        cards = load_benchmark("hdb/zettelkatalog")
        yield forecast(cards, runs, ForecastOptions(700_000, protocol="published"))


def test_what_three_good_models_leave_to_do(found):
    step = next(each for each in found.rule if each.threshold == 0.92)
    assert len(found.fields) == 11
    assert step.looks.per_item.value == pytest.approx(2.3, abs=0.05)
    assert step.no_edit["letter"].per_item.value == pytest.approx(0.43, abs=0.005)
    assert step.no_edit["threshold"].per_item.value == pytest.approx(0.48, abs=0.005)
    assert step.remaining["threshold"].per_item.value == pytest.approx(0.30, abs=0.005)
    assert step.remaining["letter"].per_item.value == pytest.approx(0.71, abs=0.005)
    # Half a million wrong values in 700,000 cards.
    assert step.remaining["letter"].whole.value == pytest.approx(500_000, rel=0.02)
    assert step.remaining["letter"].whole.low < 500_000 < step.remaining["letter"].whole.high


def test_what_passes_is_what_was_measured(found):
    shares = {step.threshold: step.taken_over for step in found.rule}
    assert shares[0.9] == pytest.approx(0.802, abs=0.0005)


def test_these_runs_say_nothing_of_money(found):
    assert found.rule_usd is None
    assert [model.usd for model in found.models] == [None] * 3
    keys = [notice.key for notice in found.notices]
    assert keys == ["forecast_not_drawn", *["forecast_usage"] * 3]
