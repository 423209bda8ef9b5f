"""How often two transcriptions are called different that are, and that are not, by simulation.

`PYTHONPATH=tests python -m speed.transcription_power` prints tables, of which
docs/transcriptions.md has one; it takes three minutes. `tests/statistics/test_simulations.py` holds
what they promise.

Pages are hard for all models alike (log-normal, with a standard deviation of 0.6 of the logarithm),
have lengths that vary (log-normal, 1,500 characters on average), and each model reads each of them
better or worse by chance (log-normal, 0.4). On some pages, a model fails.
"""

import numpy as np

from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import drawn_interval
from hdbench.statistics.failures import figure_without_failures, pair_verdicts
from hdbench.statistics.resampling import StatisticsTable, bootstrap

METRIC = make_metric("text_cer")
FIGURE = figure_without_failures(METRIC, "cer_without_failures")
NAMES = ["failures", "read_errors", "read_length"]
SIZES = (12, 20, 50, 150, 263)
SHARES = (0.0, 0.01, 0.05)
PAIRS = ((0.032, 0.036), (0.032, 0.041), (0.032, 0.065))
SAMPLES = 1_000
PERMUTATIONS = 2_000


def log_normal(rng, spread, items):
    """Factors of 1 on average."""
    return rng.lognormal(-(spread**2) / 2, spread, items)


def read(rng, hard, length, rate, failing):
    """A model's statistics on pages."""
    rates = np.minimum(0.95, rate * hard * log_normal(rng, 0.4, len(hard)))
    failed = rng.random(len(hard)) < failing
    errors = np.round(rates * length)
    values = np.column_stack([failed, errors * ~failed, length * ~failed]).astype(float)
    return StatisticsTable(METRIC, NAMES, values)


def called_different(items, rates, failing, *, samples=SAMPLES, seed=0):
    """The share of samples in which two models are called different."""
    rng = np.random.default_rng(seed)
    different = 0
    for sample in range(samples):
        hard = log_normal(rng, 0.6, items)
        length = np.round(1_500 * log_normal(rng, 0.4, items))
        runs = [
            [read(rng, hard, length, rate, share)]
            for rate, share in zip(rates, failing, strict=True)
        ]
        [found] = pair_verdicts(runs, FIGURE, permutations=PERMUTATIONS, seed=sample)
        different += found.reads_better is not None or found.fails_less is not None
    return different / samples


def interval_held(items, failing, *, samples=500, seed=0):
    """The share of intervals of the rate without failures that hold the true one."""
    rng = np.random.default_rng(seed)

    def sample(size):
        hard, length = log_normal(rng, 0.6, size), np.round(1_500 * log_normal(rng, 0.4, size))
        return read(rng, hard, length, 0.04, failing)

    true = sample(500_000).value(FIGURE.name)
    held = 0
    for number in range(samples):
        table = sample(items)
        [drawn] = bootstrap([table], [FIGURE.name], PERMUTATIONS, number)
        found = drawn_interval([table], FIGURE.name, drawn[:, 0], 0.95, number)
        held += found.low <= true <= found.high
    return held / samples


def main():
    """Print the tables."""
    print("| pages | " + " | ".join(f"fails on {share:.0%}" for share in SHARES) + " |")
    for items in SIZES[1:]:
        shares = [interval_held(items, share) for share in SHARES]
        print(f"| {items} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)
    print()
    print("| pages | " + " | ".join(f"both fail on {share:.0%}" for share in SHARES) + " |")
    for items in SIZES:
        shares = [called_different(items, (0.04, 0.04), (share, share)) for share in SHARES]
        print(f"| {items} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)
    print("\n| pages | " + " | ".join(f"CER {a} and {b}" for a, b in PAIRS) + " | fails on 5 % |")
    for items in SIZES:
        shares = [called_different(items, pair, (0, 0)) for pair in PAIRS]
        shares.append(called_different(items, (0.04, 0.04), (0, 0.05)))
        print(f"| {items} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
