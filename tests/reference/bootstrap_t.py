"""The bootstrap-t interval of a weighted mean, drawn item by item, in plain Python."""

import math
import random
from statistics import fmean, variance


def interval(values, strata, sizes, draws, *, level=0.9, seed=1):
    """Both ends, from a sample of strata with so many items each in the whole.

    Args:
        values: of each item.
        strata: the stratum of each item.
        sizes: stratum → how many items it has in the whole.
        draws: how many samples are drawn from the sample.
        level: the nominal coverage.
        seed: of the draws.
    """
    rng = random.Random(seed)
    parts = {name: [] for name in sizes}
    for value, name in zip(values, strata, strict=True):
        parts[name].append(value)
    middle = _mean(parts, sizes)
    ratios = []
    for _ in range(draws):
        drawn = {name: rng.choices(part, k=len(part)) for name, part in parts.items()}
        difference, error = _mean(drawn, sizes) - middle, _error(drawn, sizes)
        ratios.append(difference / error if error else math.copysign(math.inf, difference))
    ratios.sort()
    lower = ratios[int((1 - level) / 2 * draws)]
    upper = ratios[int((1 + level) / 2 * draws)]
    error = _error(parts, sizes)
    return max(0.0, middle - upper * error), middle - lower * error


def _mean(parts, sizes):
    return sum(sizes[name] * fmean(part) for name, part in parts.items()) / sum(sizes.values())


def _error(parts, sizes):
    whole = sum(sizes.values())
    return math.sqrt(
        sum((sizes[name] / whole) ** 2 * variance(part) / len(part) for name, part in parts.items())
    )
