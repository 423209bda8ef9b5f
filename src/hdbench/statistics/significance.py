"""Tests of differences between two runs, and of several differences together."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hdbench.statistics.resampling import NOTHING, Array, Counts, StatisticsTable, chunks, distinct


class PermutationTest(NamedTuple):
    """The outcome of a permutation test.

    Attributes:
        p: the two-sided p value.
        permutations: the number of exchanges from which it was computed.
        exact: whether these were all possible exchanges.
    """

    p: float
    permutations: int
    exact: bool


def permutation_test(
    a: StatisticsTable, b: StatisticsTable, figure: str, permutations: int, seed: int
) -> PermutationTest:
    """Return the two-sided p of the difference in a figure, exchanging the two runs item by item.

    If it makes no difference which run gave which answer, exchanging the two answers of any items
    gives a difference as likely as the observed one. If there are no more ways to do so than
    `permutations`, all are tried, and p is the share of those whose difference is at least as
    large; otherwise that many are drawn, and p = (larger or equal + 1) / (permutations + 1), which
    is never too small (Phipson and Smyth, "Permutation P-values should never be zero", 2010). Items
    in which the runs agree change nothing and are skipped.

    Args:
        a: a run.
        b: a run on the same items in the same order.
        figure: the figure's name.
        permutations: the maximum number of exchanges.
        seed: the seed of `numpy.random.default_rng`.
    """
    same = (a.values == b.values).all(axis=1)
    pairs, times = np.hstack([a.values[~same], b.values[~same]]), np.ones(np.sum(~same), np.int64)
    exact = len(pairs) < permutations.bit_length()  # 2 ** items <= permutations
    if exact:
        permutations = 2 ** len(pairs)
    else:
        pairs, times = distinct(pairs)
    from_a, from_b = np.split(pairs, 2, axis=1)
    unchanged = a.values[same].sum(axis=0)

    def differences(swapped: Counts) -> Array:
        """Return the differences, for rows of how many items of each kind are exchanged."""
        unchanged_items = times - swapped
        # Added up, not updated by differences: what is zero then stays exactly zero.
        totals_a = unchanged + unchanged_items @ from_a + swapped @ from_b
        totals_b = unchanged + unchanged_items @ from_b + swapped @ from_a
        return abs(a.figures(totals_a, [figure]) - b.figures(totals_b, [figure]))

    [[observed]] = differences(np.zeros((1, len(times)), np.int64))
    larger = 0
    for swapped in _exchanges(times, permutations, seed, exact=exact):
        # Sums in another order differ in the last digits, and a tie must still count as one; so
        # must an exchange after which the figure has no value.
        larger += int(np.count_nonzero(~(differences(swapped) < observed - 1e-12)))
    if exact:
        return PermutationTest(larger / permutations, permutations, exact=True)
    return PermutationTest((larger + 1) / (permutations + 1), permutations, exact=False)


def sign_flip_tests(differences: Array, permutations: int, seed: int) -> list[PermutationTest]:
    """Return the two-sided p of each sum of paired differences, whose signs are exchanged.

    If it makes no difference which of two runs has which value, each item's difference may as well
    have the other sign. If all differences are of the same size, the sum has the binomial
    distribution, and p is exact; so it is if there are no more ways to choose the signs than
    `permutations`. Otherwise that many are drawn, the same for all tests; see `permutation_test`.

    Args:
        differences: tests × items.
        permutations: the maximum number of choices of signs.
        seed: the seed of `numpy.random.default_rng`.
    """
    tests: dict[int, PermutationTest] = {}
    drawn = []
    for row, of_items in enumerate(differences):
        sizes = abs(of_items[of_items != 0])
        if len(sizes) == 0 or np.ptp(sizes) < NOTHING * sizes[0]:
            from scipy.special import bdtr  # noqa: PLC0415  slow to import

            fewer = min(np.count_nonzero(of_items > 0), np.count_nonzero(of_items < 0))
            p = min(1.0, 2 * float(bdtr(fewer, len(sizes), 0.5))) if len(sizes) else 1.0
            tests[row] = PermutationTest(p, 0, exact=True)
        elif len(sizes) < permutations.bit_length():
            every = 2 * (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1) - 1
            sums = abs(every @ sizes)
            larger = np.mean(sums >= abs(of_items.sum()) - NOTHING * sizes.sum())
            tests[row] = PermutationTest(float(larger), len(every), exact=True)
        else:
            drawn.append(row)
    if drawn:
        rng, columns = np.random.default_rng(seed), differences[drawn].T
        least = abs(columns.sum(axis=0)) - NOTHING * abs(columns).sum(axis=0)
        found = np.zeros(len(drawn), np.int64)
        for size in chunks(permutations, len(columns)):
            signs = 2.0 * rng.integers(0, 2, (size, len(columns)), dtype=np.int8) - 1
            found += np.count_nonzero(abs(signs @ columns) >= least, axis=0)
        for row, larger in zip(drawn, found.tolist(), strict=True):
            p = (larger + 1) / (permutations + 1)
            tests[row] = PermutationTest(p, permutations, exact=False)
    return [tests[row] for row in range(len(differences))]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for multiple tests: any false positive is as rare as in one.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than
    the one before it, or larger than 1 (Holm, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6, 1979).

    Example:
        >>> holm([0.25, 0.125, 0.75])
        [0.5, 0.375, 0.75]
    """
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        corrected[position] = highest
    return corrected


def _exchanges(times: Counts, permutations: int, seed: int, *, exact: bool) -> Iterator[Counts]:
    """Yield how many items of each kind are exchanged, in rows."""
    if exact:
        bits = np.arange(len(times))
        start = 0
        for size in chunks(permutations, len(times)):
            yield np.arange(start, start + size)[:, None] >> bits & 1
            start += size
        return
    rng = np.random.default_rng(seed)
    for size in chunks(permutations, len(times)):
        yield rng.binomial(times, 0.5, size=(size, len(times)))
