"""Cuts: how probable it may be that a value is wrong for it to be accepted.

They follow from the probabilities of all values, never from values that were read to verify them.
Probabilities are whole numbers of billionths, so that cuts are the same on every machine.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Checked

from hdbench.common.validation import Strict
from hdbench.statistics.share_of_unread import limit_holds

BILLION = 10**9

Count = Annotated[int, Checked(ge=0, le=10**12)]
Share = Annotated[float, Checked(ge=0, le=1)]

UNANSWERED = -1
"""In place of a probability where no run answered."""

CUTS, FIELD_CUTS = 8, 5
"""Number of cuts for all fields together, and for one field that is promised alone."""

LEAST_SHARE = 0.15
"""Share of all values at the loosest cut at least, even if too many of them seem to be wrong."""

STRICT = 0.15
"""The strictest cut is for this part of the limit…"""

STRICT_SHARE = 0.5
"""… or for this part of the loosest cut's values, if they are more."""

FIELD_LIMIT, FIELD_STRICT_SHARE = 0.8, 0.7
"""The same for one field: part of the limit at the loosest cut, part of its values at the
strictest."""

MOST_NEEDED = 100_000
"""Samples that are larger are not tried."""

Probabilities = NDArray[np.int32]


def share_within(sorted_probabilities: Probabilities, limit: float) -> float:
    """Return the greatest share of the values whose mean probability is within a limit.

    Args:
        sorted_probabilities: in billionths, ascending.
        limit: 0.0 to 1.0.

    Example:
        >>> tenths = np.arange(10, dtype=np.int32) * (BILLION // 10)
        >>> share_within(tenths, 0.1), share_within(tenths, 0.45)
        (0.3, 1.0)
    """
    number = len(sorted_probabilities)

    def mean_of_first(some: int) -> float:
        return int(sorted_probabilities[:some].sum(dtype=np.int64)) / some

    return bisect_right(range(1, number + 1), limit * BILLION, key=mean_of_first) / number


def cuts_of(probabilities: Probabilities, limit: float, *, each_field: bool = False) -> list[int]:
    """Return cuts in billionths, from strict to loose.

    Args:
        probabilities: of all values, in billionths.
        limit: the share of wrong values that is allowed.
        each_field: whether the values are those of one field, which is promised alone.
    """
    ascending = np.sort(probabilities)
    if each_field:
        loose = share_within(ascending, FIELD_LIMIT * limit)
        strict = max(share_within(ascending, STRICT * limit), FIELD_STRICT_SHARE * loose)
        number = FIELD_CUTS
    else:
        loose = max(share_within(ascending, limit), LEAST_SHARE)
        strict = max(share_within(ascending, STRICT * limit), LEAST_SHARE, STRICT_SHARE * loose)
        number = CUTS
    strict = min(strict, loose)
    shares = [strict + (loose - strict) * step / (number - 1) for step in range(number)]
    ranks = [math.ceil(share * len(ascending) - 1e-9) for share in shares]
    return sorted({int(ascending[rank - 1]) for rank in ranks if rank})


class PromisedField(NamedTuple):
    """A field that is promised alone.

    Attributes:
        field: its position.
        cuts: its cuts in billionths, from strict to loose.
        expected: how many of its values will be accepted, by their probabilities.
    """

    field: int
    cuts: list[int]
    expected: float


def promised_fields(
    by_field: Sequence[Probabilities], limit: float, verify: int, risk: Fraction
) -> list[PromisedField]:
    """Return the fields to promise: those of which most values will be accepted, as expected.

    The values to verify are shared out between them, and so is the risk (Bonferroni): with more
    fields, each has fewer values and a smaller risk.

    Args:
        by_field: the probabilities of each field's values, in billionths.
        limit: the share of wrong values that is allowed.
        verify: how many values are read.
        risk: the risk of all promises together.
    """
    cuts = [cuts_of(values, limit, each_field=True) for values in by_field]
    best: list[PromisedField] = []
    for number in range(1, len(by_field) + 1):
        expected = [
            _expected(values, of_field, limit, verify // number, risk / number)
            for values, of_field in zip(by_field, cuts, strict=True)
        ]
        fields = [PromisedField(*field) for field in zip(count(), cuts, expected, strict=False)]
        fields.sort(key=lambda field: -field.expected)
        if _sum(fields[:number]) > _sum(best):
            best = fields[:number]
    return sorted(field for field in best if field.expected > 0)


def _sum(fields: Sequence[PromisedField]) -> float:
    return sum(field.expected for field in fields)


def _expected(
    values: Probabilities, cuts: Sequence[int], limit: float, read: int, risk: Fraction
) -> float:
    """Return how many values of a field will be accepted unread: at the best of its cuts."""
    if not cuts:
        return 0.0
    loosest = values[values <= cuts[-1]]
    most = 0.0
    for cut in cuts:
        passing = values[values <= cut]
        drawn = min(len(passing), round(read * len(passing) / len(loosest)))
        mean = float(passing.mean()) / BILLION
        most = max(most, (len(passing) - drawn) * power(len(passing), drawn, mean, limit, risk))
    return most


def power(population: int, drawn: int, wrong: float, limit: float, risk: Fraction) -> float:
    """Return the probability that a limit is shown to hold, higher is better.

    Args:
        population: how many values there are.
        drawn: how many of them are read.
        wrong: the share that is wrong in truth, 0.0 to 1.0.
        limit: the share that is allowed.
        risk: the risk of the promise.

    Example:
        >>> round(power(10**6, 600, 0.03, 0.05, Fraction(1, 10)), 2)
        0.86
    """
    from scipy import special  # noqa: PLC0415  slow to import

    holds = partial(limit_holds, population, drawn, limit=limit, risk=risk)
    enough = bisect_left(range(drawn + 1), x=True, key=lambda found: not holds(found))
    return float(special.bdtr(enough - 1, drawn, wrong)) if enough else 0.0


def values_needed(wrong: float, limit: float, risk: Fraction, likely: float = 0.8) -> int | None:
    """Return how many values of a large collection must be read to show that a limit holds.

    Args:
        wrong: the share that is wrong in truth.
        limit: the share that is allowed.
        risk: the risk of the promise.
        likely: the probability of success.

    Returns:
        None if it takes more than 100,000.

    Example:
        >>> [values_needed(wrong, 0.05, Fraction(1, 110)) for wrong in (0.01, 0.02, 0.03)]
        [200, 402, 1026]
    """
    from scipy import special  # noqa: PLC0415  slow to import

    number = 1
    for found in range(MOST_NEEDED):
        while special.bdtr(found, number, limit) > float(risk):
            number += 1
        if number > MOST_NEEDED:
            return None
        if special.bdtr(found, number, wrong) >= likely:
            return number
    return None


Flags = NDArray[np.bool_]


Billionths = Annotated[int, Checked(ge=0, le=BILLION)]


class Terms(NamedTuple):
    """What a plan says of cuts and their verification; see `Plan`."""

    limit: float
    verify: int
    each_field: bool
    seed: int
    risk: Fraction


class FieldCuts(NamedTuple):
    """Fields that are promised together.

    Attributes:
        fields: their positions.
        cuts: their cuts in billionths, from strict to loose.
    """

    fields: list[int]
    cuts: list[int]


class Cut(Strict):
    """A cut: values whose probability of being wrong is at most this pass.

    Attributes:
        probability: in billionths.
        values: how many values of the collection pass.
        unread: how many of these nobody had read when it was learned.
    """

    probability: Billionths
    values: Count
    unread: Count


class CutResult(NamedTuple):
    """What reading showed at one cut.

    Attributes:
        read: how many values at or below the cut were read.
        wrong: how many of these are wrong.
        accepted: whether the cut passes.
    """

    read: int
    wrong: int
    accepted: bool


def choose_cuts(terms: Terms, by_item: Probabilities) -> list[FieldCuts]:
    """Return the fields that are promised together, and their cuts, from probabilities alone.

    Args:
        terms: what the plan says.
        by_item: the probability of each value, a row for each item and a column for each field.

    Returns:
        One group of all fields; or a group for each field that can keep the limit alone, if any.
    """
    if not terms.each_field:
        answered = by_item[by_item != UNANSWERED]
        return [FieldCuts(list(range(by_item.shape[1])), cuts_of(answered, terms.limit))]
    by_field = [column[column != UNANSWERED] for column in by_item.T]
    promised = promised_fields(by_field, terms.limit, terms.verify, terms.risk)
    return [FieldCuts([field.field], field.cuts) for field in promised]


def walk_cuts(
    cuts: Sequence[tuple[int, int]],
    probabilities: Probabilities,
    wrong: Flags,
    limit: float,
    risk: Fraction,
) -> Iterator[CutResult]:
    """Go from the strictest cut to looser ones until one fails: that needs no correction.

    Args:
        cuts: each cut, and how many values at or below it nobody had read; from strict to loose.
        probabilities: those of the values that were read, in billionths.
        wrong: which of these are wrong.
        limit: the share of wrong values that is allowed.
        risk: the risk of the promise.
    """
    for cut, unread in cuts:
        passes = probabilities <= cut
        read, found = int(passes.sum()), int((passes & wrong).sum())
        result = CutResult(read, found, limit_holds(unread, read, found, limit, risk))
        yield result
        if not result.accepted:
            return
