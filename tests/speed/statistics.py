"""How fast intervals and comparisons are: PYTHONPATH=tests python -m speed.statistics

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import functools
from collections import Counter

import numpy as np
from speed.timing import medians

from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import intervals
from hdbench.statistics.comparison import compare_runs
from hdbench.statistics.ranking import rank_models

ROUNDS = 3
RUNS = 10
SIZES = {
    "zettel_f1": (263, "f1_micro"),
    "avisblatt_cer": (5, "fuzzy"),
    "letters_f1": (57, "f1_micro"),
    "sciencemeta_accuracy": (1_010, "overall_accuracy"),
}
RANKINGS = (("zettel_f1", 263, 33), ("letters_f1", 57, 48), ("letters_f1", 57, 135))


def main() -> None:
    """Print all the figures."""
    print(f"10,000 resamples, seconds, medians of {ROUNDS} rounds")
    print(f"{'':22} {'items':>7} {'intervals':>9} {'two runs':>9} {f'{RUNS} runs':>9}")
    for name, (items, headline) in SIZES.items():
        runs = {f"run {seed}": made_up(name, items, seed) for seed in range(RUNS)}
        two = {run: runs[run] for run in list(runs)[:2]}
        compare = functools.partial(compare_runs, headline=headline, higher_is_better=True)
        tasks = {
            "intervals": functools.partial(intervals, runs["run 0"]),
            "two": functools.partial(compare, two),
        }
        if name != "sciencemeta_accuracy":  # minutes
            tasks["all"] = functools.partial(compare, runs)
        seconds = medians(tasks, ROUNDS)
        print(f"{name:22} {items:7,} " + " ".join(f"{taken:9.2f}" for taken in seconds.values()))
    print("ranking")
    for name, items, models in RANKINGS:
        runs = {f"run {seed}": [made_up(name, items, seed)] for seed in range(models)}
        headline = SIZES[name][1]
        rank = functools.partial(rank_models, runs, headline=headline, higher_is_better=True)
        [taken] = medians({"": rank}, ROUNDS).values()
        print(f"{name:22} {items:7,} {models:5} models {taken:9.2f}")
    catalogue = made_up("zettel_f1", 700_000, 0, highest=3)
    [taken] = medians({"": functools.partial(intervals, catalogue)}, 1).values()
    print(f"{'zettel_f1':22} {700_000:7,} {taken:9.2f}")


def made_up(name: str, items: int, seed: int, *, highest: int = 12) -> Result:
    """A result with made-up statistics; the higher they can be, the fewer items are alike."""
    rng = np.random.default_rng(seed)
    metric = make_metric(name)
    shape = (len(metric.statistics), items)
    columns = dict(zip(metric.statistics, rng.binomial(highest, 0.7, shape), strict=True))
    if name == "sciencemeta_accuracy":
        kinds = rng.integers(0, 3, items)
        for number, kind in enumerate(("paper", "textbook", "ebook", "book")):
            for column in metric.statistics:
                if column.startswith(f"{kind}."):
                    amounts = columns[column] / highest * (kinds == number)
                    columns[column] = np.ceil(amounts) if column.endswith(".items") else amounts
    values = {column: amounts.tolist() for column, amounts in columns.items()}
    return Result(metric, list(map(str, range(items))), Counter(), values, {}, [], [])


if __name__ == "__main__":
    main()
