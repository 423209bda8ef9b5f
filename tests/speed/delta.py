"""The delta method beside the bootstrap: how far apart, how often right, how fast.

`PYTHONPATH=tests python -m speed.delta [SAMPLES]`: it takes some five minutes, most of them for the
bootstrap on 60,000 items. Not a test: times compare within one run only.

Items are generated texts of different lengths with errors of their own, of which no two are alike,
and some rare ones. Printed are the largest difference between the ends of the two kinds of
intervals; the share of 95% intervals that hold the figure of the population from which 60,000
items are drawn; and times for up to a million items.
"""

import sys
import time
from collections import Counter

import numpy as np

from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.statistics import delta
from hdbench.statistics.bootstrap import intervals
from hdbench.statistics.comparison import compare
from hdbench.statistics.ranking import rank_models

SHOWN = ("cer", "wer", "cer_macro", "similarity", "well_formed")
POPULATION = 1_000_000


def columns(items, seed):
    """The statistics of generated texts: of one in 10,000 the XML is not well-formed."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(make_metric("text_cer").statistics, np.zeros(items))
    length = rng.integers(200, 3_000, items)
    errors = rng.binomial(length, rng.beta(1, 12, items))
    words = length // 6
    wrong = rng.binomial(words, rng.beta(1, 4, items))
    for rate, (part, whole) in {"cer": (errors, length), "wer": (wrong, words)}.items():
        found |= {f"{rate}_errors": part, f"{rate}_length": whole}
        found |= {f"{rate}_sum": part / whole, rate: part / whole}
    return found | {
        "similarity": 1 - errors / length,
        "texts": np.ones(items),
        "well_formed": (rng.random(items) > 0.0001).astype(float),
        "perfect": (errors == 0).astype(float),
    }


def run_of(found):
    values = {name: np.asarray(column).tolist() for name, column in found.items()}
    ids = list(map(str, range(len(values["cer"]))))
    metric = make_metric("text_cer", xml=True)
    return Result(metric, ids, Counter(), values, {}, [], [])


def timed(what, call):
    start = time.process_time()
    found = call()
    print(f"{what:40s} {time.process_time() - start:8.2f} s of CPU", flush=True)
    return found


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    run = run_of(columns(60_000, 0))
    by_delta = timed("intervals of 60,000: delta method", lambda: intervals(run))
    delta.LARGE, large = 10**9, delta.LARGE
    drawn = timed("intervals of 60,000: bootstrap", lambda: intervals(run))
    delta.LARGE = large
    assert by_delta.by_delta
    for name, each in drawn.figures.items():
        other = by_delta.figures[name]
        apart = max(abs(each.low - other.low), abs(each.high - other.high))
        print(f"  {name:20s} {apart:.7f} apart, width {each.high - each.low:.5f}")

    population = columns(POPULATION, 1)
    truth = run_of(population).rates
    rng = np.random.default_rng(2)
    held = Counter()
    for _ in range(samples):
        drawn = rng.integers(0, POPULATION, 60_000)
        found = intervals(run_of({name: column[drawn] for name, column in population.items()}))
        assert found.by_delta
        held.update(
            name
            for name in SHOWN
            if found.figures[name].low <= truth[name] <= found.figures[name].high
        )
    for name in SHOWN:
        print(f"  {name:20s} {truth[name]:.5f}: held in {held[name] / samples:.3f} of {samples:,}")

    rules = {"headline": "cer", "higher_is_better": False}
    for items in (100_000, 1_000_000):
        one, other = (run_of(columns(items, seed)) for seed in (3, 4))
        one.rates, other.rates  # noqa: B018  which are not what is timed
        timed(f"intervals of {items:,}", lambda run=one: intervals(run))
        both = (one, other)
        timed(f"compare on {items:,}", lambda both=both: compare(*both, **rules))
        models = {"a": [one], "b": [other]}
        timed(f"rank on {items:,}", lambda models=models: rank_models(models, **rules))


if __name__ == "__main__":
    main()
