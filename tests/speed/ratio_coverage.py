"""How often intervals of ratios hold about which few items say something, by simulation.

`PYTHONPATH=tests python -m speed.ratio_coverage`: the table in docs/metrics.md. It takes half an
hour; with `precision`, `accuracy` or `compare`, one table.

- `precision`: of 263 items, a model answers a share, with values whose number varies from item to
  item. Printed are the shares of intervals of `precision_micro` that hold the true precision: with
  one unseen item among all items, as it was, and among those with an answer, where at least 20 have
  one; and how often these are enough.
- `accuracy`: the same for `overall_accuracy_without_both_empty` of 263 papers, of which some have
  keywords, in the ground truth or in the answer.
- `compare`: two models with the same precision, of which one answers some of 263 items, and the
  other the same, others or all. Printed is how often they are called different: by an interval
  without an unseen item that excludes 0, as it was, by the paired test alone, as it was, and now.
"""

import sys

import numpy as np
from helpers.results import result_of

from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import figure_interval, intervals
from hdbench.statistics.comparison import compare
from hdbench.statistics.differences import difference_interval
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


PAPERS = make_metric("sciencemeta_accuracy")
ACCURACY = "overall_accuracy_without_both_empty"
FILLED = (8, 21, 26, 53, 263)
KEYWORDS = {
    "2 % wrong": lambda rng, items: (rng.random(items) >= 0.02).astype(float),
    "half wrong": lambda rng, items: rng.integers(0, 2, items).astype(float),
    "beta(4, 1)": lambda rng, items: rng.beta(4, 1, items),
}

COMPARED = (21, 50, 150, 263)
OTHERS = ("the same", "others", "all")


def run_of(metric, columns):
    """A result with these statistics, and none of the others."""
    columns = dict.fromkeys(metric.statistics, [0] * ITEMS) | columns
    return result_of(metric, list(map(str, range(ITEMS))), columns)


def answering(rng, has_answer, values, right):
    """A run that answers some items with that many values."""
    given = np.where(has_answer, values, 0)
    good = right(rng, given)
    columns = {
        "true_positives": good.tolist(),
        "false_positives": (given - good).tolist(),
        "false_negatives": np.where(has_answer, given - good, 11).tolist(),
    }
    return run_of(METRIC, columns)


def held(runs, figure, truth):
    """How often the intervals of each kind held, and how often there was the second."""
    before = now = found = tried = 0
    for seed, run in enumerate(runs):
        tried += 1
        [drawn] = bootstrap(tables([run], run.ids), [figure], RESAMPLES, seed)
        ends = figure_interval(drawn[:, 0], ITEMS, 0.95, seed)
        before += ends.low <= truth + 1e-9 and truth - 1e-9 <= ends.high
        here = intervals(run, only=figure, resamples=RESAMPLES, seed=seed).figures
        if figure in here:
            found += 1
            now += here[figure].low <= truth + 1e-9 and truth - 1e-9 <= here[figure].high
    return f"{before / tried:.2f} | {f'{now / found:.3f}' if found else '–'} | {found / tried:.0%}"


def precision():
    """The coverage of the precision of runs with few answers."""
    rng = np.random.default_rng(1)
    print("| items with an answer | values | errors | before: held | now: held | has an interval |")
    print("|---|---|---|---|---|---|")
    for share in ANSWERED:
        for values, draw in VALUES.items():
            for right, judge in RIGHT.items():
                every = draw(rng, POPULATION)
                truth = judge(rng, every).sum() / every.sum()
                answered = (rng.random(ITEMS) < share for _ in range(SAMPLES))
                runs = (
                    answering(rng, own, draw(rng, ITEMS), judge) for own in answered if any(own)
                )
                shown = held(runs, "precision_micro", truth)
                print(f"| {ITEMS * share:.0f} | {values} | {right} | {shown} |", flush=True)


def paper(rng, share, judge):
    """Papers, of which a share has keywords."""
    fields = ("doi", "title", "author", "abstract", "pub_time")
    columns = {f"paper.{field}.similarity": rng.beta(6, 1, ITEMS).tolist() for field in fields}
    empty = rng.random(ITEMS) >= share
    columns["paper.items"] = [1] * ITEMS
    columns["paper.keyword.similarity"] = np.where(empty, 1, judge(rng, ITEMS)).tolist()
    columns["paper.keyword.both_empty"] = empty.astype(int).tolist()
    return run_of(PAPERS, columns)


def accuracy():
    """The coverage of the accuracy without pairs that are both empty."""
    rng = np.random.default_rng(2)
    print("| papers with keywords | keywords | before: held | now: held | has an interval |")
    print("|---|---|---|---|---|")
    for number in FILLED:
        for name, judge in KEYWORDS.items():
            truth = (5 * 6 / 7 + judge(rng, POPULATION).mean()) / 6
            runs = (paper(rng, number / ITEMS, judge) for _ in range(SAMPLES))
            print(f"| {number} | {name} | {held(runs, ACCURACY, truth)} |", flush=True)


def excludes(ends):
    """Whether an interval excludes 0."""
    return ends is not None and (ends.low > 0 or ends.high < 0)


def called_different(rng, number, other, draw, judge):
    """How often two equal models are called different, in each way."""
    interval = test = now = verdict = 0
    for seed in range(SAMPLES):
        answered = np.zeros((2, ITEMS), bool)
        for own in answered:
            own[rng.choice(ITEMS, number, replace=False)] = True
        if other != "others":
            answered[1] = answered[0] if other == "the same" else True
        sizes = draw(rng, ITEMS)
        a, b = (answering(rng, own, sizes, judge) for own in answered)
        found = compare(
            a,
            b,
            headline="precision_micro",
            higher_is_better=True,
            resamples=RESAMPLES,
            seed=seed,
        )
        drawn_a, drawn_b = bootstrap(tables([a, b], a.ids), ["precision_micro"], RESAMPLES, seed)
        interval += excludes(difference_interval((drawn_a - drawn_b)[:, 0], ITEMS, 0.95))
        test += found.p < 0.05
        now += excludes(found.figures["precision_micro"].interval)
        verdict += found.separable
    return " | ".join(f"{times / SAMPLES:.3f}" for times in (interval, test, now, verdict))


def comparisons():
    """How often two models with the same precision are called different."""
    rng = np.random.default_rng(3)
    print(
        "| items with an answer | the other answers | values | errors | before: interval | test "
        "alone | now: interval | called different |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for number in COMPARED:
        for other in OTHERS if number < ITEMS else OTHERS[:1]:
            for values, draw in VALUES.items():
                for right, judge in RIGHT.items():
                    shown = called_different(rng, number, other, draw, judge)
                    print(f"| {number} | {other} | {values} | {right} | {shown} |", flush=True)


TABLES = {"precision": precision, "accuracy": accuracy, "compare": comparisons}


def main(*wanted):
    for table in wanted or TABLES:
        TABLES[table]()
        print()


if __name__ == "__main__":
    main(*sys.argv[1:])
