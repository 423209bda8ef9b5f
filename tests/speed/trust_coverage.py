"""How often what is accepted unseen keeps the promise about its errors, by simulation.

`PYTHONPATH=tests python -m speed.trust_coverage FOLDER`: FOLDER has `hdb/zettelkatalog` built, from
../shared; the recorded runs are read from there. It takes five minutes on two cores, and writes
`trust_coverage.json` to FOLDER.

The recorded cards stand for a catalogue: a sample has each any number of times, so that the true
share of wrong values is known for every threshold. If the limit is just below the least of them,
any threshold that is accepted breaks the promise; it should happen in at most one sample of ten.
Where the limit asks for more items than a sample has, nothing is accepted, and it always holds.
"""

import gzip
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from helpers.catalogues import ABOVE, Catalogue, adversarial, chosen, counts
from scipy import special

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.statistics.acceptance import GRID, ROUNDING, capital, least_items, upper_bound
from hdbench.trust.checked import check_sample
from hdbench.trust.plan import PlanOptions, make_plan

SAMPLES = 2_000
SIZES = (50, 100, 150, 263)
RECORDED = Path(__file__).parents[3] / "shared/recorded/library_cards.jsonl.gz"
SETS = {
    "five of various makers": (
        *("2025-11-25/T0420", "2026-01-24/T0200", "2025-10-01/T0160"),
        *("2026-01-24/T0230", "2025-09-30/T0066"),
    ),
    "three good ones": ("2025-11-25/T0420", "2026-01-24/T0230", "2025-09-30/T0160"),
    "three cheap ones": ("2026-01-24/T0200", "2025-10-02/T0162", "2026-01-26/T0167"),
    "two with open weights": ("2026-01-24/T0252", "2026-01-24/T0247"),
    "three versions of one model": ("2025-11-24/T0200", "2026-01-24/T0200", "2026-01-24/T0224"),
}
METHODS = ("rule", "exact", "pooled", "pooled, in order")
"""The two verdicts; and Clopper and Pearson's bound with all values as if they were independent:
the loosest threshold that passes, and the last one before the first that does not."""


def catalogues(folder):
    """Name → catalogue: for each set of runs, by both ways of being right."""
    benchmark = load_benchmark(str(folder / "hdb/zettelkatalog"))
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        runs = {run["run"]: run["answers"] for run in map(json.loads, file)}
    paths = {}
    for name in {each for names in SETS.values() for each in names}:
        paths[name] = folder / f"{name.replace('/', '-')}.jsonl"
        lines = ({"id": each["id"], "prediction": each["answer"]} for each in runs[name])
        paths[name].write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = {}
    for name, of_set in SETS.items():
        plan = make_plan(benchmark, [paths[run] for run in of_set], PlanOptions(number=263))
        sample = check_sample(plan, benchmark, folder / "plan.yaml")
        for right, wrong in sample.wrong.items():
            found[f"{name}, by {right}"] = Catalogue(sample.scores, wrong.astype(float))
    return found


def pooled(scores, wrong, limit):
    """The thresholds that are taken if values are pooled: the loosest, and the last in order."""
    first = np.searchsorted(-np.array(GRID), -scores - ROUNDING)
    passing = np.bincount(first.ravel(), minlength=len(GRID) + 1)[: len(GRID)].cumsum()
    errors = np.bincount(first[wrong], minlength=len(GRID) + 1)[: len(GRID)].cumsum()
    accepted = special.betaincinv(errors + 1, np.maximum(passing - errors, 1), 0.9) <= limit
    accepted &= errors < passing
    loosest = GRID[np.flatnonzero(accepted)[-1]] if accepted.any() else None
    in_order = int(np.logical_and.accumulate(accepted).sum())
    return loosest, GRID[in_order - 1] if in_order else None


def measure(catalogue, items, limit, samples):
    """For each method: how often the promise held, and which share of values was accepted."""
    rng = np.random.default_rng(items)
    true = {threshold: catalogue.true_error(threshold) for threshold in GRID}
    held, taken = np.zeros(len(METHODS)), np.zeros(len(METHODS))
    for _ in range(samples):
        scores, wrong = catalogue.drawn(rng, items)
        found = [chosen(scores, wrong, name, limit) for name in METHODS[:2]]
        for place, threshold in enumerate([*found, *pooled(scores, wrong, limit)]):
            held[place] += threshold is None or true[threshold] <= limit
            if threshold is not None:
                taken[place] += (scores >= threshold - ROUNDING).mean()
    return {
        "held": dict(zip(METHODS, (held / samples).tolist(), strict=True)),
        "taken": dict(zip(METHODS, (taken / samples).tolist(), strict=True)),
    }


def deceived(groups, items, fields, limit, samples):
    """How often each verdict accepts what is just above the limit, whatever the number of items."""
    rng = np.random.default_rng(items)
    accepted = np.zeros(2)
    for _ in range(samples):
        passing, wrong = counts(rng, groups, items)
        accepted += (
            upper_bound(passing, wrong) <= limit,
            capital(passing, wrong, fields, limit) >= 10,
        )
    return dict(zip(METHODS[:2], (1 - accepted / samples).tolist(), strict=True))


def cells(found):
    """What is simulated: a heading, the name of a catalogue, and the arguments of `measure`."""
    for (name, catalogue), items in product(found.items(), SIZES):
        kinds = {
            "recorded clusters": catalogue,
            "errors at random": catalogue.at_random(),
            "three quarters of errors in whole items": catalogue.in_whole_items(0.75),
        }
        for kind, each in kinds.items():
            yield f"boundary, {kind}", name, (each, items, each.least_error() / ABOVE)
        # Some thresholds are within this limit, and some are not.
        errors = [catalogue.true_error(threshold) for threshold in GRID]
        yield "some hold, recorded clusters", name, (catalogue, items, float(np.median(errors)))
        yield "limit 5 %, recorded clusters", name, (catalogue, items, 0.05)


def main():
    folder = Path(sys.argv[1])
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else SAMPLES
    rows = []
    with ProcessPoolExecutor() as pool:
        jobs = [
            (kind, name, arguments, pool.submit(measure, *arguments, samples))
            for kind, name, arguments in cells(catalogues(folder))
        ]
        for kind, name, (_, items, limit), job in jobs:
            rows.append(
                {"kind": kind, "runs": name, "items": items, "limit": limit, **job.result()}
            )
        attacks = []
        for limit, fields in ((0.02, 5), (0.05, 5), (0.05, 11), (0.1, 3)):
            for name, groups in adversarial(limit, fields).items():
                for items in (least_items(limit), 150, 263, 1_000):
                    job = pool.submit(deceived, groups, items, fields, limit, samples)
                    attacks.append(
                        {"limit": limit, "fields": fields, "groups": name, "items": items}
                        | {"held": job}
                    )
        attacks = [row | {"held": row["held"].result()} for row in attacks]
    said = {"samples": samples, "catalogues": rows, "adversarial": attacks}
    (folder / "trust_coverage.json").write_text(json.dumps(said, indent=1) + "\n")
    show(said)


def show(said):
    error = (0.9 * 0.1 / said["samples"]) ** 0.5
    print(f"{said['samples']} samples: a share near .90 has a standard error of {error:.4f}")
    for kind in dict.fromkeys(row["kind"] for row in said["catalogues"]):
        print(f"\n{kind}: held by the worst set of runs (accepted, mean of all sets)")
        print(f"{'items':>6}" + "".join(f"{name:>24}" for name in METHODS))
        for items in SIZES:
            of = [r for r in said["catalogues"] if r["kind"] == kind and r["items"] == items]
            print(f"{items:6}", end="")
            for name in METHODS:
                worst = min(row["held"][name] for row in of)
                taken = np.mean([row["taken"][name] for row in of])
                print(f"{worst:15.3f} ({taken:6.3f})", end="")
            print()
    print("\njust above the limit, made to deceive: how often nothing was accepted")
    for row in said["adversarial"]:
        print(
            f"{row['limit']:5.0%} {row['fields']:3} fields {row['groups']:42} "
            f"{row['items']:5} items   "
            + "   ".join(f"{name} {held:.3f}" for name, held in row["held"].items())
        )


if __name__ == "__main__":
    main()
