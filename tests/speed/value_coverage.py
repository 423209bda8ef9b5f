"""How often what is accepted by single values breaks its promise, where it is hardest to keep.

    PYTHONPATH=tests python -m speed.value_coverage [DRAWS]

Each cell is a collection and a plan, drawn 2,000 times: more than the limit is wrong at every cut,
or only at the loosest one; errors come alone or in whole items. In some cells values are learned
anew each time, from runs that share errors, with one promise, one for each field, or two tries. A
cell fails if its draws break the promise more often than 1 in 10, by a one-sided binomial test at
.05, divided by the number of cells. It takes half an hour, and ends with an error if a cell fails.
"""

import itertools
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from helpers.value_collections import Terms, Values, just_above
from scipy import stats

from hdbench.collections.trust.learning import probabilities_of
from hdbench.collections.trust.probabilities import (
    ChosenValues,
    columns_of,
    names_of_columns,
    scales_of,
)
from hdbench.statistics.logistic import fit

DRAWS, LEVEL = 2_000, 0.05
SIZES = ((200, 1), (200, 11), (1_000, 5), (1_000, 50), (5_000, 1), (5_000, 11), (5_000, 50))
LEARNED = ((200, 5, 1), (300, 11, 3), (500, 3, 2), (500, 5, 5), (2_000, 3, 4))

Breaks = Callable[[int], bool]


def main() -> None:
    """Draw all cells, and say which break their promise too often."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    cells = {**fixed_cells(), **learned_cells()}
    failed = 0
    for name, breaks in cells.items():
        broken = sum(map(breaks, range(draws)))
        likely = stats.binomtest(broken, draws, 0.1, alternative="greater").pvalue
        fails = likely < LEVEL / len(cells)
        failed += fails
        print(f"{name:60} {broken / draws:.4f} {'FAILS' if fails else ''}", flush=True)
    print(f"{failed} of {len(cells)} cells fail")
    sys.exit(bool(failed))


def fixed_cells() -> dict[str, Breaks]:
    """Name → what draws the second stage of a collection, for what was learned once."""
    cells: dict[str, Breaks] = {}
    for (items, fields), whole, clean in itertools.product(SIZES, (0.0, 0.75), (0, 7)):
        for learn, verify in ((0, 200), (300, 600)):
            if learn + verify >= items * fields:
                continue
            values = just_above(
                items, fields, Terms(verify=verify), clean=clean, whole=whole, learn=learn
            )
            name = f"{items} × {fields}, {whole:.0%} whole, {clean} clean, {learn}+{verify}"
            cells[name] = partial(breaks_fixed, [values])
    for (items, fields), clean in itertools.product(SIZES, (0, 4)):
        if 900 < items * fields <= 55_000:  # with more, the fields take minutes to be chosen
            values = just_above(items, fields, Terms(each_field=True), clean=clean, whole=0.3)
            name = f"{items} × {fields}, {clean} clean, each field"
            cells[name] = partial(breaks_fixed, [values])
    for items, fields in ((1_000, 5), (5_000, 11)):
        terms = Terms(risk=Fraction(1, 20))
        tries = [just_above(items, fields, terms, clean=7, seed=seed) for seed in (1, 2)]
        cells[f"{items} × {fields}, two tries"] = partial(breaks_fixed, tries)
    return cells


def breaks_fixed(tries: list[Values], seed: int) -> bool:
    """Whether one of the tries accepts what breaks the promise."""
    return any(values.is_broken(values.accepted(seed)[0]) for values in tries)


def learned_cells() -> dict[str, Breaks]:
    """Name → what learns from a first stage of its own, and draws the second one."""
    cells: dict[str, Breaks] = {}
    for (items, fields, runs), whole in itertools.product(LEARNED, (0.0, 0.75)):
        collection = Answers(items, fields, runs, whole)
        name = f"{items} × {fields}, {runs} runs, {whole:.0%} whole, learned"
        cells[name] = partial(breaks_learned, collection, Terms(verify=300), 1)
        if runs == 2:
            once = Terms(verify=150)
            cells[f"{name}, each field"] = partial(
                breaks_learned, collection, once._replace(each_field=True), 1
            )
            cells[f"{name}, two tries"] = partial(
                breaks_learned, collection, once._replace(risk=Fraction(1, 20)), 2
            )
    return cells


class Answers:
    """What runs say of a collection: in numbers, as nothing else is learned from.

    Args:
        items: how many items there are.
        fields: how many fields; the first is the easiest.
        runs: how many runs.
        whole: the share of wrong values that are in items of which all values are wrong.
    """

    def __init__(self, items: int, fields: int, runs: int, whole: float) -> None:
        rng = np.random.default_rng([items, fields, runs])
        size = (items, fields)
        share = np.linspace(0.03, 0.1, fields)
        self.wrong = rng.random(size) < share * (1 - whole)
        self.wrong |= (rng.random(items) < share.mean() * whole)[:, np.newaxis]
        # Where the value is wrong, fewer of the others say the same.
        same = rng.binomial(runs - 1, np.where(self.wrong, 0.5, 0.9))
        alike = same / max(1, runs - 1)
        self.values = ChosenValues(
            fields=tuple(map(str, range(fields))),
            items=np.arange(items),
            runs=runs,
            mean=alike,
            least=np.floor(alike),
            greatest=np.ceil(alike),
            same=same.astype(np.uint8),
            empty=rng.random(size) < 0.1,
            text_count=rng.integers(1, 50, size).astype(np.int32),
            shape_count=np.where(self.wrong, 1, 20).astype(np.int32) * rng.integers(1, 5, size),
        )
        self.scales = scales_of(self.values)
        positions = np.arange(self.wrong.size)
        self.columns = self.scales.scaled(columns_of(self.values, positions))

    def learned(self, read: Any) -> Any:
        """The probability of each value, from those that were read."""
        intercept, fitted = fit(self.columns[read], self.wrong.ravel()[read])
        names = names_of_columns(self.values)
        coefficients = dict(zip(names, np.round(fitted, 6).tolist(), strict=True))
        probabilities = probabilities_of(self.values, self.scales, intercept, coefficients)
        return probabilities.reshape(self.wrong.shape)


def breaks_learned(collection: Answers, terms: Terms, tries: int, seed: int) -> bool:
    """Whether what is accepted breaks the promise; a further try learns from all that was read."""
    rng = np.random.default_rng([seed, 9])
    read = rng.permutation(collection.wrong.size)[:150]
    for _ in range(tries):
        probabilities = collection.learned(read)
        is_unread = np.ones(collection.wrong.size, bool)
        is_unread[read] = False
        values = Values(
            probabilities, collection.wrong, is_unread.reshape(probabilities.shape), terms
        )
        groups, drawn = values.accepted(seed)
        if groups:
            return values.is_broken(groups)
        read = np.concatenate([read, np.array(drawn, dtype=np.int64)])
    return False


if __name__ == "__main__":
    main()
