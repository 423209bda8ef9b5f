"""What 20, 60 and 150 checked items let one conclude, by simulation on recorded runs.

`PYTHONPATH=tests python -m speed.sample_sizes FOLDER`: FOLDER has `hdb/zettelkatalog` built, from
../shared. It takes two minutes. docs/collection.md has what it prints.

The recorded cards stand for a catalogue; samples of them are drawn with replacement. Printed are
the mean width of a model's interval, and how often two models that are truly so far apart are told
apart by `hdbench compare`.
"""

import gzip
import json
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np

from hdbench.api import score_runs
from hdbench.statistics.bootstrap import figure_interval
from hdbench.statistics.resampling import bootstrap, tables
from hdbench.statistics.significance import permutation_test

SIZES = (20, 60, 150)
SAMPLES = 50
RESAMPLES = 1_000
GAPS = ((0.01, 0.02), (0.02, 0.04), (0.04, 0.06), (0.09, 0.11))
RECORDED = Path(__file__).parents[3] / "shared/recorded/library_cards.jsonl.gz"
HEADLINE = "f1_micro"


def recorded(folder):
    """Name → a run's statistics by item, all in one order, and its figure."""
    results = {}
    path = folder / "answers.jsonl"
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        for run in map(json.loads, file):
            lines = ({"id": each["id"], "prediction": each["answer"]} for each in run["answers"])
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            [result] = score_runs(str(folder / "hdb/zettelkatalog"), path).values()
            results[run["run"]] = result
    found = tables(list(results.values()), result.ids)  # with the same columns for all
    figures = [result.figures[HEADLINE] for result in results.values()]
    return dict(zip(results, zip(found, figures, strict=True), strict=True))


def sample(table, rows):
    return table._replace(values=table.values[rows])


def main():
    runs = recorded(Path(sys.argv[1]))
    good = {name: run for name, run in runs.items() if run[1] > 0.7}
    rng = np.random.default_rng(1)
    print(f"{len(good)} of {len(runs)} runs have a figure above 0.7")

    by_gap = defaultdict(list)
    for one, other in combinations(good, 2):
        apart = abs(good[one][1] - good[other][1])
        for low, high in GAPS:
            if low <= apart <= high:
                by_gap[low, high].append((one, other))
    for items in SIZES:
        widths = []
        for table, _ in good.values():
            for seed in range(10):
                rows = rng.integers(0, len(table.values), items)
                [drawn] = bootstrap([sample(table, rows)], [HEADLINE], RESAMPLES, seed)
                found = figure_interval(drawn[:, 0], items, 0.95, seed)
                widths.append(found.high - found.low)
        print(f"{items} items: a model's interval is {mean(widths):.3f} wide")
        for gap, pairs in sorted(by_gap.items()):
            apart = []
            for names in pairs:
                a, b = (good[name][0] for name in names)
                for seed in range(SAMPLES):
                    rows = rng.integers(0, len(a.values), items)
                    test = permutation_test(
                        sample(a, rows), sample(b, rows), HEADLINE, RESAMPLES, seed
                    )
                    apart.append(test.p < 0.05)
            print(
                f"{items} items: models {gap[0]:.2f} to {gap[1]:.2f} apart ({len(pairs)} pairs) "
                f"are told apart in {mean(apart):.0%}",
                flush=True,
            )
        free = 1 - 0.05 ** (1 / items)
        print(f"{items} items: none wrong leaves up to {free:.1%} wrong, with 95% confidence")


if __name__ == "__main__":
    main()
