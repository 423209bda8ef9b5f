"""What a random sample of single values says about the values that nobody read: an exact bound.

A sample that is drawn without replacement from N values of which K are wrong has a hypergeometric
number of wrong ones. The bound needs no approximation, in small collections either, and holds
however errors cluster, because the values are drawn one by one. All of it is computed in whole
numbers and fractions, so that it is the same on every machine.
"""

import math
from fractions import Fraction
from functools import lru_cache

CONFIDENCE = 0.9
"""The confidence of every promise."""


def least_read(limit: float, confidence: float = CONFIDENCE) -> int:
    """Return how many values without any error show, at least, that a share is below a limit.

    Args:
        limit: the share, above 0.0 and below 1.0.
        confidence: above 0.0 and below 1.0.

    Example:
        >>> least_read(0.05), least_read(0.02)
        (45, 114)
    """
    return math.ceil(math.log(1 - confidence) / math.log(1 - limit))


def allowed(limit: float, unread: int) -> int:
    """Return how many of some values may be wrong: the whole number at or below the limit's share.

    Args:
        limit: the share, 0.0 to 1.0, taken as the decimal number that it is written as.
        unread: how many values there are.

    Example:
        >>> allowed(0.05, 100), allowed(0.29, 100)
        (5, 29)
    """
    return math.floor(Fraction(str(limit)) * unread)


@lru_cache(maxsize=4096)
def at_most_is_likely(population: int, wrong: int, drawn: int, found: int, risk: Fraction) -> bool:
    """Return whether a sample with so few wrong values is more likely than the risk.

    Args:
        population: how many values the sample is drawn from.
        wrong: how many of them are wrong.
        drawn: how many are drawn without replacement.
        found: how many of these are wrong; the question is about at most so many.
        risk: the probability, above 0 and below 1.

    Example:
        >>> at_most_is_likely(1000, 51, 45, 0, Fraction(1, 10))
        False
        >>> at_most_is_likely(1000, 51, 40, 0, Fraction(1, 10))
        True
    """
    if wrong > population:
        return False
    right = population - wrong
    count = max(0, drawn - right)
    ways = math.comb(wrong, count) * math.comb(right, drawn - count)  # of drawing so many wrong
    most = risk.numerator * _samples(population, drawn) // risk.denominator
    so_far = 0
    while count <= found:
        so_far += ways
        if so_far > most:
            return True
        ways = (
            ways * (wrong - count) * (drawn - count) // (count + 1) // (right - drawn + count + 1)
        )
        count += 1
    return False


@lru_cache(maxsize=64)
def _samples(population: int, drawn: int) -> int:
    """Return how many different samples there are."""
    return math.comb(population, drawn)


def limit_holds(population: int, drawn: int, found: int, limit: float, risk: Fraction) -> bool:
    """Return whether at most the limit's share of the values that were not drawn are wrong.

    If more were, a sample with so few wrong values would have at most the probability `risk`.

    Args:
        population: how many values there are.
        drawn: how many of them were drawn at random, without replacement, and read.
        found: how many of these are wrong.
        limit: the share, above 0.0 and below 1.0.
        risk: the probability that this is claimed although it does not hold, above 0 and below 1.

    Example:
        >>> limit_holds(100_000, 45, 0, 0.05, Fraction(1, 10))
        True
        >>> limit_holds(100_000, 44, 0, 0.05, Fraction(1, 10))
        False
    """
    too_many = found + allowed(limit, population - drawn) + 1
    return not at_most_is_likely(population, too_many, drawn, found, risk)


def most_wrong(population: int, drawn: int, found: int, risk: Fraction) -> int:
    """Return the upper bound of the number of wrong values among those that were not drawn.

    It is exceeded with at most the probability `risk`; lower is better.

    Args:
        population: how many values there are.
        drawn: how many of them were drawn at random, without replacement, and read.
        found: how many of these are wrong.
        risk: the probability, above 0 and below 1.

    Example:
        >>> most_wrong(1_000, 100, 0, Fraction(1, 10)), most_wrong(100, 100, 3, Fraction(1, 10))
        (21, 0)
    """
    least, most = found, population - drawn + found  # all wrong values, those found included
    while least < most:
        middle = (least + most + 1) // 2
        if at_most_is_likely(population, middle, drawn, found, risk):
            least = middle
        else:
            most = middle - 1
    return least - found


def upper_share(population: int, drawn: int, found: int, risk: Fraction) -> float:
    """Return the upper bound of the share of wrong values among those that were not drawn.

    Args:
        population: see `most_wrong`, as for all others.
        drawn: how many were read.
        found: how many of these are wrong.
        risk: the probability that the share is above the bound.

    Returns:
        0.0 to 1.0, lower is better; 0.0 where all were drawn.
    """
    unread = population - drawn
    return most_wrong(population, drawn, found, risk) / unread if unread else 0.0
