"""What the documents promise of comparisons of transcriptions, by simulation."""

import pytest
from speed import transcription_power as simulated

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("failing", simulated.SHARES)
@pytest.mark.parametrize("items", simulated.SIZES)
def test_equal_models_are_seldom_called_different(items, failing):
    assert simulated.called_different(items, (0.04, 0.04), (failing, failing)) <= 0.07


@pytest.mark.parametrize(
    ("items", "rates", "found"),
    [
        (12, (0.032, 0.065), 0.85),
        (50, (0.032, 0.065), 0.99),
        (50, (0.032, 0.041), 0.6),
        (150, (0.032, 0.041), 0.95),
    ],
)
def test_different_models_are_found(items, rates, found):
    assert simulated.called_different(items, rates, (0, 0)) >= found


def test_failures_on_one_page_in_twenty_are_found_with_enough_pages():
    assert simulated.called_different(263, (0.04, 0.04), (0, 0.05)) >= 0.9


@pytest.mark.parametrize("failing", simulated.SHARES)
@pytest.mark.parametrize("items", simulated.SIZES[1:])
def test_the_interval_of_the_rate_without_failures_holds(items, failing):
    assert simulated.interval_held(items, failing) >= 0.93
