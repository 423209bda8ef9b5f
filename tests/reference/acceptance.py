"""The rule and the betting test, step by step as they are defined: slow, and without numpy."""

import math

from scipy import stats


def least_items(limit, delta=0.1):
    number = 1
    while (1 - limit) ** number > delta:
        number += 1
    return number


def upper_bound(passing, wrong, delta=0.1):
    n, a, w = len(passing), sum(passing), sum(wrong)
    if a == 0 or n < 2 or w == a:
        return 1.0
    r = w / a
    design = 3.0
    if r > 0:
        squares = sum((each - r * of) ** 2 for each, of in zip(wrong, passing, strict=True))
        variance = n / (n - 1) * squares / a**2
        design = max(3.0, variance / (r * (1 - r) / a))
    factor = stats.t.ppf(1 - delta, n - 1) / stats.norm.ppf(1 - delta)
    effective = a / design / factor**2
    return stats.beta.ppf(1 - delta, r * effective + 1, effective - r * effective)


def capital(passing, wrong, fields, limit, delta=0.1):
    """The highest capital at any time, which starts at 1."""
    n = len(passing)
    money = highest = 1.0
    seen = []
    variance = 0.25
    squares = 0.0
    for each, of in zip(wrong, passing, strict=True):
        x = (each + limit * (fields - of)) / fields
        stake = min(math.sqrt(2 * math.log(1 / delta) / (n * variance)), 0.999 / (1 - limit))
        money *= 1 + stake * (limit - x)
        highest = max(highest, money)
        seen.append(x)
        mean = (0.5 + sum(seen)) / (len(seen) + 1)
        squares += (x - mean) ** 2
        variance = (0.25 + squares) / (len(seen) + 1)
    return highest


def walk(scores, wrong, holds, grid, least):
    """The last threshold that passes, going from strict to loose; None if the first one fails."""
    last = None
    for threshold in grid:
        passing, errors = [], []
        for row, of_row in zip(scores, wrong, strict=True):
            passes = [score is not None and score >= threshold - 1e-9 for score in row]
            passing.append(sum(passes))
            errors.append(sum(p and bad for p, bad in zip(passes, of_row, strict=True)))
        enough = sum(number > 0 for number in passing) >= least
        if not (enough and holds(passing, errors)):
            return last
        last = threshold
    return last


def medoid(texts):
    """The run whose value is most similar to the others', and its mean similarity to them."""
    others = len(texts) - 1
    means = {}
    for run, text in enumerate(texts):
        if text is not None:
            rest = texts[:run] + texts[run + 1 :]
            means[run] = sum(alike(text, other) for other in rest) / others if others else 0.0
    if not means:
        return None, 0.0
    best = max(means.values())
    run = next(run for run, mean in means.items() if best - mean < 1e-9)
    return run, means[run]


def alike(one, other):
    if other is None:
        return 0.0
    if not one or not other:
        return float(one == other)
    common = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]  # longest common subsequence
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            longer = max(common[i][j + 1], common[i + 1][j])
            common[i + 1][j + 1] = common[i][j] + 1 if a == b else longer
    return 2 * common[-1][-1] / (len(one) + len(other))
