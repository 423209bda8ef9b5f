"""How often intervals of ratios hold about which few items say something, by simulation.

`PYTHONPATH=tests python -m speed.ratio_coverage`: the table of docs/intervals.md. It takes six
minutes.

Of 263 items, a model answers a share, with values whose number varies from item to item. Printed
are the shares of intervals of `precision_micro` that hold the true precision: with one unseen item
among all items, as it was, and among those with an answer, where at least 20 have one; and how
often these are enough.
"""

from collections import Counter

import numpy as np

from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import figure_interval, intervals
from hdbench.statistics.resampling import bootstrap, tables

SAMPLES = 400
RESAMPLES = 300
ITEMS = 263
ANSWERED = (0.03, 0.08, 0.1, 0.2, 1.0)
POPULATION = 200_000
METRIC = make_metric("record_f1")

VALUES = {
    "11": lambda rng, items: rng.integers(11, 12, items),
    "1 to 3": lambda rng, items: rng.integers(1, 4, items),
    "log-normal": lambda rng, items: np.ceil(rng.lognormal(1, 1.2, items)).astype(int),
}
RIGHT = {
    "2 % of items wrong": lambda rng, values: np.where(rng.random(len(values)) < 0.02, 0, values),
    "half of the items wrong": lambda rng, values: values * rng.integers(0, 2, len(values)),
    "values by beta(4, 1)": lambda rng, values: rng.binomial(values, rng.beta(4, 1, len(values))),
    "1 % of values wrong": lambda rng, values: rng.binomial(values, 0.99),
}


def coverage(rng, answered, values, right):
    """How often each of the two held, and how often there was the second."""
    every = values(rng, POPULATION)
    truth = right(rng, every).sum() / every.sum()
    before = now = found = tried = 0
    for seed in range(SAMPLES):
        has_answer = rng.random(ITEMS) < answered
        if not has_answer.any():
            continue
        given = np.where(has_answer, values(rng, ITEMS), 0)
        good = right(rng, given)
        columns = dict.fromkeys(METRIC.statistics, [0] * ITEMS) | {
            "true_positives": good.tolist(),
            "false_positives": (given - good).tolist(),
            "false_negatives": np.where(has_answer, given - good, 11).tolist(),
        }
        run = Result(METRIC, list(map(str, range(ITEMS))), Counter(), columns, {}, [], [])
        tried += 1
        [drawn] = bootstrap(tables([run], run.ids), ["precision_micro"], RESAMPLES, seed)
        ends = figure_interval(drawn[:, 0], ITEMS, 0.95, seed)
        before += ends.low <= truth + 1e-9 and truth - 1e-9 <= ends.high
        here = intervals(run, only="precision_micro", resamples=RESAMPLES, seed=seed).figures
        if "precision_micro" in here:
            ends = here["precision_micro"]
            found += 1
            now += ends.low <= truth + 1e-9 and truth - 1e-9 <= ends.high
    return before / tried, now / found if found else None, found / tried


def main():
    rng = np.random.default_rng(1)
    print("| items with an answer | values | errors | before: held | now: held | has an interval |")
    print("|---|---|---|---|---|---|")
    for answered in ANSWERED:
        for values, draw in VALUES.items():
            for right, judge in RIGHT.items():
                before, now, has = coverage(rng, answered, draw, judge)
                held = "–" if now is None else f"{now:.3f}"
                print(
                    f"| {ITEMS * answered:.0f} | {values} | {right} | {before:.2f} | {held} "
                    f"| {100 * has:.0f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
