"""How often intervals and verdicts on transcriptions with rare runaways hold, by simulation.

`PYTHONPATH=tests python -m speed.runaway_coverage`: the table of docs/intervals.md. It takes six
minutes.

Pages have an error rate of 5 % on average, some of them more for all models (log-normal), and
lengths that vary (log-normal, 1,500 characters on average). A runaway answer repeats itself until
it is 5 to 40 times as long as its page. Printed are the shares of intervals that hold the true
figure: of the micro CER by the bootstrap over items, as it was before it had no interval, and of
the capped CER; then how often two models with the same true figure are called different: both with
runaways, and one with runaways and one that reads all pages a little worse instead. "Before" are
verdicts on the micro CER by the permutation test alone.
"""

from collections import Counter

import numpy as np

from hdbench.results.result import Result
from hdbench.scoring import make_metric
from hdbench.statistics.bootstrap import figure_interval, intervals
from hdbench.statistics.comparison import compare
from hdbench.statistics.resampling import bootstrap, tables
from hdbench.statistics.significance import permutation_test

SAMPLES = 400
COMPARISONS = 200
RESAMPLES = 250
SIZES = (20, 50, 150, 263)
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05)
ERROR_RATE = 0.05
POPULATION = 200_000
METRIC = make_metric("text_cer")


def difficulty(rng, items):
    """How much harder or easier each page is, for all models."""
    return rng.lognormal(-0.125, 0.5, items)


def lengths(rng, items):
    return np.maximum(1, rng.lognormal(np.log(1_500) - 0.125, 0.5, items).round())


def read(rng, hard, length, rate, share):
    """The errors of a model in each page: a share of the pages are runaways."""
    errors = (rate * hard * rng.lognormal(-0.08, 0.4, len(hard)) * length).round()
    runaway = rng.random(len(hard)) < share
    return np.where(runaway, (length * rng.uniform(5, 40, len(hard))).round(), errors)


def run(errors, length):
    columns = dict.fromkeys(METRIC.statistics, np.zeros(len(errors)))
    capped = np.minimum(1, errors / length)
    columns |= {"cer_errors": errors, "cer_length": length, "cer_capped": capped}
    columns |= {"runaways": (capped == 1).astype(float)}
    statistics = {name: column.tolist() for name, column in columns.items()}
    return Result(METRIC, list(map(str, range(len(errors)))), Counter(), statistics, {}, [], [])


def sample(rng, items, rate, share):
    length = lengths(rng, items)
    return read(rng, difficulty(rng, items), length, rate, share), length


def truths(rng, rate, share):
    """The micro CER and the capped CER of all pages of this kind."""
    errors, length = sample(rng, POPULATION, rate, share)
    return errors.sum() / length.sum(), np.minimum(1, errors / length).mean()


def coverage(rng, items, share):
    micro, capped = truths(rng, ERROR_RATE, share)
    held = np.zeros(2)
    width = 0.0
    for seed in range(SAMPLES):
        result = run(*sample(rng, items, ERROR_RATE, share))
        [drawn] = bootstrap(tables([result], result.ids), ["cer"], RESAMPLES, seed)
        before = figure_interval(drawn[:, 0], items, 0.95, seed)
        found = intervals(result, only="cer_capped", resamples=RESAMPLES, seed=seed)
        now = found.figures["cer_capped"]
        held += before.low <= micro <= before.high, now.low <= capped <= now.high
        width += now.high - now.low
    return *(held / SAMPLES), width / SAMPLES


def false_alarms(rng, items, share, *, both, figure):
    """How often two models with the same true figure are called different, by its verdict."""
    place = ("cer", "cer_capped").index(figure)
    other_rate, other_share = ERROR_RATE, share
    if not both:  # the other model has no runaways, and reads all pages worse by a factor
        other_share = 0.0
        plain = truths(np.random.default_rng(7), ERROR_RATE, 0.0)[place]
        other_rate *= truths(np.random.default_rng(7), ERROR_RATE, share)[place] / plain
    called = 0
    for seed in range(COMPARISONS):
        length, hard = lengths(rng, items), difficulty(rng, items)
        a = run(read(rng, hard, length, ERROR_RATE, share), length)
        b = run(read(rng, hard, length, other_rate, other_share), length)
        if figure == "cer":
            p = permutation_test(*tables([a, b], a.ids), "cer", RESAMPLES, seed).p
            called += p < 0.05
        else:
            rules = {"headline": "cer", "higher_is_better": False}
            called += compare(a, b, **rules, resamples=RESAMPLES, seed=seed).separable
    return called / COMPARISONS


def main():
    rng = np.random.default_rng(1)
    print(
        "| runaways | items | CER before: held | `cer_capped`: held | width "
        "| CER before: called different, one runs away | `cer_capped`: one runs away | both |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for share in SHARES:
        for items in SIZES:
            before, now, width = coverage(rng, items, share)
            alarms = [
                false_alarms(rng, items, share, both=both, figure=figure)
                for figure, both in (("cer", False), ("cer_capped", False), ("cer_capped", True))
            ]
            shown = " | ".join(f"{each:.2f}".lstrip("0") for each in alarms)
            print(
                f"| {100 * share:g} % | {items} | {before:.2f} | {now:.3f} | {width:.3f} "
                f"| {shown} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
