"""How often 95% intervals of Krippendorff's alpha and of agreement hold the truth, by simulation.

`PYTHONPATH=tests python -m speed.agreement_coverage` takes ten minutes.

Two people annotate a field, and each errs at random. Printed are the share of intervals that hold
the true share of agreement, and for the nominal alpha also their mean width, next to percentile
intervals without the unseen item of `hdbench.statistics.bootstrap`; and how often there was no
interval because alpha was not defined in too many draws.
"""

import numpy as np

from hdbench.statistics.agreement import Unit, _disagreement, _Draw, _numbered, field_agreement

SAMPLES, RESAMPLES = 400, 1000
FIELDS = {
    "300 names, all as frequent": [1 / 300] * 300,
    "4 languages, one of 85 %": [0.85, 0.1, 0.04, 0.01],
    "yes or no": [0.5, 0.5],
}


def entries(rng, shares, errors, number):
    """What two people enter for a number of items."""
    values = len(shares)
    truth = rng.choice(values, number, p=shares)
    for _ in range(2):
        wrong = rng.random(number) < errors
        yield np.where(wrong, rng.integers(0, values, number), truth)


def true_figures(shares, errors):
    """Share and alpha over very many items."""
    one, other = entries(np.random.default_rng(99), shares, errors, 1_000_000)
    frequency = np.bincount([*one, *other]) / (2 * len(one))
    expected = 1 - frequency @ frequency
    observed = np.mean(one != other)
    return 1 - observed, 1 - observed / expected


def plain(units, seed):
    """The percentile interval of alpha without an unseen item."""
    values = _numbered(units)
    times = np.concatenate(_Draw(values.items, RESAMPLES, 0.95, seed)._times())
    drawn = _disagreement(values, None).alphas(times, np.zeros(len(times)), 0)
    return np.nanquantile(drawn, [0.025, 0.975])


def main():
    print(f"{'field':28} errors items  share   alpha (width)  plain (width)  without")
    for name, shares in FIELDS.items():
        for errors in (0.02, 0.1, 0.3):
            share, alpha = true_figures(shares, errors)
            for items in (10, 20, 60, 150):
                rng = np.random.default_rng(5)
                held, widths = [], []
                without = share_held = 0
                for seed in range(SAMPLES):
                    pairs = zip(*entries(rng, shares, errors, items), strict=True)
                    units = [Unit(i, (f"v{a}", f"v{b}")) for i, (a, b) in enumerate(pairs)]
                    found = field_agreement(units, resamples=RESAMPLES, seed=seed)
                    share_held += found.share.interval[0] <= share <= found.share.interval[1]
                    if found.alpha.interval is None:
                        without += 1
                        continue
                    ends = [found.alpha.interval, plain(units, seed)]
                    held.append([low <= alpha <= high for low, high in ends])
                    widths.append([high - low for low, high in ends])
                (own, other), (width, plain_width) = np.mean(held, 0), np.mean(widths, 0)
                print(
                    f"{name:28} {errors:5.0%} {items:5}  {share_held / SAMPLES:5.2f}   "
                    f"{own:.2f}  ({width:.2f})  {other:.2f}  ({plain_width:.2f})  "
                    f"{without / SAMPLES:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
