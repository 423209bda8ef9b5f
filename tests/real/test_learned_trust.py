"""How much of the recorded cards could have been accepted by values that people read.

The shares were found by an independent program, from a description alone: 300 values to learn from
and 600 to verify it, at most 5 % wrong to the letter, the mean of 200 draws.
"""

import numpy as np
import pytest
from helpers.recorded_values import draw, recorded
from helpers.value_collections import Terms
from scipy import stats

from hdbench.benchmarks.benchmark import load_benchmark

pytestmark = pytest.mark.nightly

DRAWS = 300

MOST = stats.binom.isf(1e-4, DRAWS, 0.1)
"""How many draws, 50, may break the promise."""

THREE = ("2025-11-25_T0420", "2026-01-24_T0230", "2025-09-30_T0160")
FIVE = (
    "2025-11-25_T0420",
    "2026-01-24_T0200",
    "2025-09-30_T0160",
    "2026-01-24_T0230",
    "2025-09-30_T0066",
)
ALONE = [("2025-11-25_T0420",), ("2025-09-30_T0160",), ("2026-01-24_T0200",)]
SHARES = {
    THREE: 0.57,
    ("2026-01-24_T0200", "2025-10-02_T0162", "2026-01-24_T0152"): 0.44,
    FIVE: 0.61,
    ("2026-01-25_T0504", "2025-10-01_T0180"): 0.52,
    ALONE[0]: 0.34,
    ALONE[1]: 0.21,
    ALONE[2]: 0.20,
}

VARIES = 0.04
"""By how much less the mean may be: two standard errors of the means of 200 and of 300 draws."""


@pytest.fixture(scope="module")
def cards(published):
    """The values of runs by their names, each read once."""
    folder, known = published.folder / "hdb", {}
    benchmark = load_benchmark(str(folder / "zettelkatalog"))

    def of(names):
        if names not in known:
            runs = [folder / "results/zettelkatalog" / name for name in names]
            known[names] = recorded(benchmark, runs)
        return known[names]

    return of


def accepted(runs, learned_from=None, draws=DRAWS, learn=300, **terms):
    """The mean share that is accepted; the promise holds."""
    drawn = [draw(runs, Terms(seed=seed, **terms), learn, learned_from) for seed in range(draws)]
    assert sum(each.is_broken for each in drawn) <= MOST
    return np.mean([each.share for each in drawn])


@pytest.mark.parametrize(("names", "share"), SHARES.items())
def test_as_much_is_accepted_as_was_measured(cards, names, share):
    assert accepted(cards(names)) >= share - VARIES


@pytest.mark.parametrize(("names", "others"), [(ALONE[0], ALONE[1]), (ALONE[2], ALONE[0])])
def test_other_runs_of_the_same_fields_and_100_values_teach_nearly_as_much(cards, names, others):
    share = accepted(cards(names), learned_from=cards(others), learn=100)

    assert share >= SHARES[names] - 0.04 - VARIES


SLIPS = {0.01: (0.49, 0.43, 0.61), 0.02: (0.51, 0.41, 0.53), 0.03: (0.48, 0.36, 0.57)}
"""Share of slips → what is accepted of the first three sets, by an independent program with
30 draws, where contradictions are read again."""


@pytest.mark.parametrize("slips", SLIPS)
@pytest.mark.parametrize("place", range(3))
def test_slips_cost_little(cards, slips, place):
    runs = cards(list(SHARES)[place])

    drawn = [draw(runs, Terms(seed=seed), slips=slips) for seed in range(100)]

    assert sum(each.is_broken for each in drawn) <= stats.binom.isf(1e-4, 100, 0.1)
    assert np.mean([each.again for each in drawn]) < 70
    assert np.mean([each.share for each in drawn]) >= SLIPS[slips][place] - VARIES


@pytest.mark.parametrize("names", [THREE, ALONE[0]])
def test_each_field_takes_more_values(cards, names):
    runs = cards(names)

    few, many = (accepted(runs, draws=40, verify=verify, each_field=True) for verify in (600, 1650))

    assert few > 0
    assert many > few
