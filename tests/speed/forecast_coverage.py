"""How often 90% intervals of a forecast hold the true mean, by simulation.

`PYTHONPATH=tests python -m speed.forecast_coverage [DRAWS]`: it takes some minutes.

Cards are drawn with replacement from populations, so that the true mean is known. Printed are the
share of intervals that hold it, the share that is below and above it, the mean width in means, and
how often there was no interval; beside it Student's interval and the percentile bootstrap.
"""

import sys

import numpy as np
from helpers.strata import sample_of
from scipy import stats

from hdbench.benchmarks.sample import Sample
from hdbench.statistics.means import Design, means

POPULATIONS = {
    # Edits of an item with 11 fields, as a good model leaves them, and where whole items go wrong.
    "edits, good model": lambda rng: rng.binomial(11, rng.beta(1.2, 6.0, 100_000)),
    "edits, clustered": lambda rng: rng.binomial(11, rng.beta(0.15, 1.35, 100_000)),
    # Keystrokes: most need few, some have a title to be typed.
    "keystrokes": lambda rng: np.floor(rng.lognormal(1.5, 1.3, 100_000)),
    "errors that remain": lambda rng: rng.binomial(9, 0.04, 100_000),
}
SIZES = (50, 100, 150, 263)
STRATA = ((80_000, 15_000, 5_000), (60, 25, 15))
LEVEL = 0.9


def held(population, size, draws, rng):
    """Rows of (held, too low, too high, relative width, none) of the three intervals, summed."""
    true = population.mean()
    sums = np.zeros((3, 5))
    for number in range(draws):
        values = rng.choice(population, size).astype(float)
        found = means(values[:, None], Design.simple(size), resamples=1_000, seed=number)[0]
        error = stats.t.ppf(0.95, size - 1) * values.std(ddof=1) / np.sqrt(size)
        drawn = rng.choice(values, (1_000, size)).mean(axis=1)
        ends = [
            (found.low, found.high),
            (values.mean() - error, values.mean() + error),
            np.quantile(drawn, [0.05, 0.95]),
        ]
        for place, (low, high) in enumerate(ends):
            sums[place] += outcome(low, high, true)
    return sums / draws


def outcome(low, high, true):
    if low is None:
        return [0, 0, 0, 0, 1]
    return [low <= true <= high, high < true, low > true, (high - low) / true, 0]


def held_by_strata(draws, rng):
    """The same for stratified samples of a population whose strata differ."""
    sizes, drawn = STRATA
    parts = [
        rng.binomial(11, rng.beta(1.2, 6.0 / (1 + 2 * n), size)) for n, size in enumerate(sizes)
    ]
    true = sum(part.sum() for part in parts) / sum(sizes)
    strata = [place for place, number in enumerate(drawn) for _ in range(number)]
    design = Design(Sample.model_validate(sample_of(sizes, dict(enumerate(drawn)))), strata)
    sums = np.zeros(5)
    for number in range(draws):
        pairs = zip(parts, drawn, strict=True)
        values = np.concatenate([rng.choice(part, size, replace=False) for part, size in pairs])
        found = means(values[:, None].astype(float), design, resamples=1_000, seed=number)[0]
        sums += outcome(found.low, found.high, true)
    return sums / draws


def line(name, row):
    inside, below, above, width, none = row
    print(
        f"{name:42s} held {inside:.3f}, below {below:.3f}, above {above:.3f}, "
        f"width {width:.2f}, none {none:.3f}",
        flush=True,
    )


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    rng = np.random.default_rng(1)
    for name, make in POPULATIONS.items():
        population = make(rng)
        for size in SIZES:
            rows = held(population, size, draws, rng)
            for method, row in zip(("bootstrap-t", "Student", "percentile"), rows, strict=True):
                line(f"{name}, {size}, {method}", row)
    line("strata of 60, 25 and 15, bootstrap-t", held_by_strata(draws, rng))


if __name__ == "__main__":
    main()
