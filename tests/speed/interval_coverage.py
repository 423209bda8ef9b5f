"""How often 95% intervals hold the true figure, by simulation.

`PYTHONPATH=tests python -m speed.interval_coverage [FOLDER]`: in FOLDER, which has
`hdb/zettelkatalog` built, with the items of recorded runs of ../shared too. It takes ten minutes.

A population of items has a known figure; samples of it have intervals, with and without the unseen
item of `hdbench.statistics.bootstrap`. Printed are the share of intervals that hold the figure and
their mean width.
"""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from hdbench.api import score_runs
from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import figure_interval
from hdbench.statistics.differences import difference_interval
from hdbench.statistics.resampling import bootstrap, tables

SAMPLES = 1_000
RESAMPLES = 1_000
SIZES = (20, 57, 263)
POPULATION = 100_000
RECORDED = Path(__file__).parents[3] / "shared/recorded/library_cards.jsonl.gz"


def cards(right, fields=11):
    """Cards with so many fields right; each wrong one is a false positive and a false negative."""
    right = np.asarray(right, float)
    metric = make_metric("zettel_f1")
    zeros = np.zeros(len(right))
    columns = dict.fromkeys(metric.statistics, zeros) | {
        "true_positives": right,
        "false_positives": fields - right,
        "false_negatives": fields - right,
        "f1": right / fields,
        "perfect": (right == fields).astype(float),
    }
    return metric, columns


def synthetic(rng):
    """Name → metric and statistics of a population."""

    def share(p):
        return cards(11.0 * (rng.random(POPULATION) < p))

    lost = rng.random(POPULATION) < 0.03
    return {
        "1 card in 263 right, the others empty": share(1 / 263),
        "1 card in 100 wrong, the others right": share(0.99),
        "1 card in 20 wrong, the others right": share(0.95),
        "half of the cards right, the others wrong": share(0.5),
        "fields right by beta(4, 1)": cards(rng.binomial(11, rng.beta(4, 1, POPULATION))),
        "the same, but 3 in 100 cards lost": cards(
            np.where(lost, 0, rng.binomial(11, rng.beta(20, 1, POPULATION)))
        ),
    }


def recorded(folder):
    """The recorded runs of highest, middle and lowest figure."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    runs.sort(key=lambda run: run["scores"]["f1_micro"])
    found = {}
    for run in (runs[-1], runs[len(runs) // 2], runs[0]):
        path = folder / "answers.jsonl"
        lines = ({"id": each["id"], "prediction": each["answer"]} for each in run["answers"])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        [result] = score_runs(str(folder / "hdb/zettelkatalog"), path).values()
        columns = {name: np.array(column) for name, column in result.statistics.items()}
        figure = result.figures()["f1_micro"]
        found[f"recorded: {run['model']} ({figure:.3f})"] = result.metric, columns
    return found


def simulate(name, metric, columns, rng):
    size = len(columns["f1"])
    totals = {key: float(column.sum()) for key, column in columns.items()} | {"items": size}
    truth = metric.rates(totals)["f1_micro"]
    for items in SIZES:
        held, widths = np.zeros(2), np.zeros(2)
        for seed in range(SAMPLES):
            drawn = rng.integers(0, size, items)
            statistics = {key: column[drawn].tolist() for key, column in columns.items()}
            ids = list(map(str, range(items)))
            run = Result(metric, ids, Counter(), statistics, {}, [], [])
            [figures] = bootstrap(tables([run], ids), ["f1_micro"], RESAMPLES, seed)
            column = figures[:, 0]
            plain = difference_interval(column, items, 0.95)
            guarded = figure_interval(column, items, 0.95, seed)
            ends = [(plain.low, plain.high) if plain else (column[0], column[0])]
            ends.append((guarded.low, guarded.high))
            for place, (low, high) in enumerate(ends):
                held[place] += low - 1e-9 <= truth <= high + 1e-9
                widths[place] += high - low
        shares, widths = held / SAMPLES, widths / SAMPLES
        print(
            f"{name:45s} {truth:.4f} {items:4d} items: without {shares[0]:.3f} "
            f"(width {widths[0]:.3f}), with {shares[1]:.3f} ({widths[1]:.3f})",
            flush=True,
        )


def main():
    rng = np.random.default_rng(1)
    populations = synthetic(rng)
    if len(sys.argv) > 1:
        populations |= recorded(Path(sys.argv[1]))
    for name, (metric, columns) in populations.items():
        simulate(name, metric, columns, rng)


if __name__ == "__main__":
    main()
