"""What the promise about values accepted unseen is worth off the plain case, by simulation.

`PYTHONPATH=tests python -m speed.trust_designs FOLDER`: FOLDER as for `speed.trust_coverage`. It
takes some minutes.

Printed is how often the promise held: for samples that are a good part of the whole, on the whole
and on the items that were not drawn; for stratified samples; if fields are left out by what the
same sample shows of them; and how likely something passes with as many items as `needed_items`
recommends.
"""

import sys
from pathlib import Path

import numpy as np
from helpers.catalogues import ABOVE, adversarial
from speed.trust_coverage import METHODS, catalogues

from hdbench.benchmarks.sample import Sample, Stratum
from hdbench.statistics.acceptance import GRID, capital, least_items, upper_bound
from hdbench.trust.checked import CheckedSample
from hdbench.trust.decision import needed_items, walk_of
from hdbench.trust.plan import Plan

SAMPLES = 4_000
LIMIT = 0.05
NAMES = METHODS[:2]

MANY = 10**9
"""How many items a whole has that no sample comes near to."""


def accepted(passing, wrong, fields, limit=LIMIT):
    """By the rule, and by the exact verdict; with as few items as may be."""
    if np.count_nonzero(passing) < least_items(limit):
        return np.zeros(2, bool)
    return np.array(
        [
            upper_bound(passing, wrong) <= limit,
            capital(passing, wrong, fields, limit) >= 10,
        ]
    )


def held_without_replacement(rng, groups, items, size, fields):
    """How often the promise held on a whole of so many items, and on those that were not drawn."""
    number = [int(np.ceil(each.share * size)) for each in groups[:-1]]
    number.append(size - sum(number))
    passing = np.repeat([each.passing for each in groups], number)
    wrong = np.repeat([each.wrong for each in groups], number)
    samples = SAMPLES // 4
    broken = np.zeros((2, 2))
    for _ in range(samples):
        order = rng.permutation(size)
        drawn, rest = order[:items], order[items:]
        yes = accepted(passing[drawn], wrong[drawn], fields)
        for place, part in enumerate((order, rest)):
            broken[place] += yes & (wrong[part].sum() > LIMIT * passing[part].sum())
    return 1 - broken / samples


def parts_of_the_whole(rng, fields=5):
    """Drawn without replacement from few items: the worst of errors just above and below."""
    print("\nsamples that are a part of the whole: on the whole (on what was not drawn)")
    for name in adversarial(LIMIT, fields):
        for items in (60, 150, 263):
            for part in (0.05, 0.1, 0.2, 0.5, 0.9):
                size = round(items / part)
                whole, rest = np.min(
                    [
                        held_without_replacement(
                            rng, adversarial(LIMIT * error, fields)[name], items, size, fields
                        )
                        for error in (1.0, 0.9, 0.8, 0.7, 0.6)
                    ],
                    axis=0,
                )
                print(
                    f"{name:42} {items:4} of {size:5}   "
                    f"rule {whole[0]:.3f} ({rest[0]:.3f})   exact {whole[1]:.3f} ({rest[1]:.3f})",
                    flush=True,
                )


def strata(rng, fields=5):
    """Strata of the same share in the sample as in the whole, which differ in their error."""
    print("\nstratified samples in proportion: a simple sample beside it")
    shares = np.array([0.6, 0.3, 0.1])
    for name, rates in {
        "alike": (1, 1, 1),
        "from 1 to 4": (0.5, 1, 2),
        "all errors in the smallest": (0, 0, 1),
    }.items():
        errors = np.array(rates) / (shares @ rates) * LIMIT * ABOVE
        for whole in (False, True):
            for items in (50, 150, 263):
                yes = np.zeros(4)
                for _ in range(SAMPLES):
                    number = np.round(shares * items).astype(int)
                    number[0] += items - number.sum()
                    found = []
                    for which in (
                        rng.permutation(np.repeat([0, 1, 2], number)),
                        rng.choice(3, items, p=shares),
                    ):
                        rate = errors[which][:, None]
                        wrong = rng.random((items, 1 if whole else fields)) < rate
                        wrong = wrong.sum(1) * (fields if whole else 1)
                        found.append(accepted(np.full(items, fields), wrong, fields))
                    yes += np.concatenate(found)
                held = 1 - yes / SAMPLES
                print(
                    f"{name:28} {'whole items' if whole else 'at random':12} {items:4} items   "
                    f"rule {held[0]:.3f} (simple {held[2]:.3f})   "
                    f"exact {held[1]:.3f} (simple {held[3]:.3f})",
                    flush=True,
                )


def plan_for(fields, limit, verdict):
    return Plan.model_construct(
        fields=tuple(map(str, range(fields))),
        right="letter",
        verdict=verdict,
        limit=limit,
        confidence=0.9,
        grid=GRID,
        whole=Sample(of=MANY, seed=0, strata=(Stratum(of=MANY, items=1),)),
    )


def sample_of(scores, wrong):
    return CheckedSample(scores, {"letter": wrong}, np.zeros_like(wrong), (), 0, {}, [], {}, "")


def fields_left_out(rng):
    """All fields are just above the limit: those that stay only look better than they are."""
    print("\nfields left out by the same sample, all as bad: mean number left out")
    for fields in (1, 5, 11, 20, 50):
        for items in (150, 263, 1_000, 5_000):
            held, left = np.zeros(2), 0
            samples = SAMPLES // 8
            for _ in range(samples):
                wrong = rng.random((items, fields)) < LIMIT * ABOVE
                sample = sample_of(np.ones(wrong.shape), wrong)
                for place, name in enumerate(NAMES):
                    found = walk_of(plan_for(fields, LIMIT, name), sample, "letter", name)
                    held[place] += found.threshold is None
                    left += len(found.left_out)  # by the rule
            print(
                f"{fields:3} fields {items:5} items: {left / samples:5.2f} left out   "
                + "   ".join(f"{n} {h:.3f}" for n, h in zip(NAMES, held / samples, strict=True)),
                flush=True,
            )


def recorded_fields(rng, found):
    """The same on recorded cards: against the true error of the fields that stay."""
    print("\nfields left out by the same sample, recorded cards: the worst of all limits")
    for name, catalogue in found.items():
        for items in (100, 263):
            worst, left = np.ones(2), 0
            limits = (0.03, 0.04, 0.05, 0.07)
            samples = SAMPLES // 10
            for limit in limits:
                held = np.zeros(2)
                for _ in range(samples):
                    sample = sample_of(*catalogue.drawn(rng, items))
                    for place, verdict in enumerate(NAMES):
                        plan = plan_for(sample.scores.shape[1], limit, verdict)
                        walk = walk_of(plan, sample, "letter", verdict)
                        if walk.threshold is None:
                            held[place] += 1
                            continue
                        kept = catalogue._replace(
                            scores=catalogue.scores[:, walk.columns(plan)],
                            chance=catalogue.chance[:, walk.columns(plan)],
                        )
                        held[place] += kept.true_error(walk.threshold) <= limit
                        left += bool(walk.left_out)
                worst = np.minimum(worst, held / samples)
            print(
                f"{name:44} {items:4} items   rule {worst[0]:.3f}   exact {worst[1]:.3f}   "
                f"({left / samples / len(limits):.0%} took over by the rule with a field left out)",
                flush=True,
            )


def recommended(rng, found, items=100):
    """Samples at which nothing passes: what a sample of the size recommended gives."""
    print(f"\nneeded items, recommended from {items} at which nothing passes")
    for verdict in NAMES:
        for name, catalogue in found.items():
            fields = catalogue.scores.shape[1]
            plan = plan_for(fields, LIMIT, verdict)
            chances, none, tried = [], 0, 0
            known = {}
            for _ in range(60):
                sample = sample_of(*catalogue.drawn(rng, items))
                walk = walk_of(plan, sample, "letter", verdict)
                if walk.threshold is not None:
                    continue
                tried += 1
                size = needed_items(plan, sample, walk)
                if size is None:
                    none += 1
                    continue
                if size not in known:
                    again = 0
                    for _ in range(200):
                        larger = sample_of(*catalogue.drawn(rng, size))
                        again += walk_of(plan, larger, "letter", verdict).threshold is not None
                    known[size] = again / 200
                chances.append(known[size])
            by_size = {size: round(chance, 2) for size, chance in sorted(known.items())}
            print(
                f"{verdict:6} {name:44} nothing passed in {tried} of 60; no size would do in "
                f"{none}; chance at the others: {np.mean(chances or [np.nan]):.2f} {by_size}",
                flush=True,
            )


def main():
    rng = np.random.default_rng(3)
    found = catalogues(Path(sys.argv[1]))
    parts = {
        "parts": lambda: parts_of_the_whole(rng),
        "strata": lambda: strata(rng),
        "fields": lambda: fields_left_out(rng),
        "recorded": lambda: recorded_fields(rng, found),
        "needed": lambda: recommended(rng, found),
    }
    for name in sys.argv[2:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
