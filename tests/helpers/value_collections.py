"""Collections in which it is known which values are wrong, and what a plan decides about them."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hdbench.collections.trust.cuts import BILLION, choose_cuts, walk_cuts
from hdbench.collections.trust.sample import draw_second
from hdbench.statistics.share_of_unread import allowed, limit_holds

TENTH = Fraction(1, 10)


class Terms(NamedTuple):
    """What a plan says about its second stage."""

    limit: float = 0.05
    verify: int = 600
    each_field: bool = False
    seed: int = 0
    risk: Fraction = TENTH


class Values:
    """Values that were learned about; a row for each item, a column for each field.

    Args:
        probabilities: of being wrong, in billionths.
        wrong: which values are.
        is_unread: which values nobody read in the first stage.
        terms: what the plan says; the cuts follow from it.
    """

    def __init__(self, probabilities, wrong, is_unread, terms):
        self.probabilities, self.wrong, self.is_unread = probabilities, wrong, is_unread
        self.terms = terms
        self.chosen = choose_cuts(terms, probabilities)

    def passing(self, fields, cut):
        """Which values of some fields pass a cut, of those that nobody read."""
        is_in = np.zeros(self.wrong.shape, bool)
        is_in[:, fields] = True
        return is_in & self.is_unread & (self.probabilities <= cut)

    def accepted(self, seed):
        """The values that are accepted unread, by groups, and the positions of those read."""
        terms = self.terms._replace(seed=seed)
        drawn = draw_second(terms, self.probabilities, self.is_unread, self.chosen)
        risk = terms.risk / max(1, len(drawn))
        groups = []
        for group in drawn:
            cuts = [(cut.probability, cut.unread) for cut in group.cuts]
            found = self.probabilities.ravel()[group.drawn], self.wrong.ravel()[group.drawn]
            steps = list(walk_cuts(cuts, *found, terms.limit, risk))
            passed = [cut for (cut, _), step in zip(cuts, steps, strict=False) if step.accepted]
            if passed:
                unread = self.passing(group.fields, passed[-1])
                unread.ravel()[group.drawn] = False
                groups.append(unread)
        return groups, [position for group in drawn for position in group.drawn.tolist()]

    def is_broken(self, groups):
        """Whether more than the limit is wrong in one of the groups that are accepted."""
        return any(
            (self.wrong & group).sum() > allowed(self.terms.limit, int(group.sum()))
            for group in groups
        )

    def breaches(self, draws):
        """How many of so many draws of the second stage break the promise."""
        return sum(self.is_broken(self.accepted(seed)[0]) for seed in range(draws))


def just_above(items, fields, terms, *, clean=0, whole=0.0, learn=0, seed=0):
    """Values of which, at and above some cut, just more than the limit are wrong.

    Where stricter cuts are clean, the promise of the loosest one fails as often as it may.

    Args:
        items: how many items there are.
        fields: how many fields.
        terms: what the plan says.
        clean: below how many of the strictest cuts nothing is wrong.
        whole: the share of wrong values that are in items of which all values are wrong.
        learn: how many values were read in the first stage.
        seed: of everything that is drawn.
    """
    rng = np.random.default_rng([items, fields, seed])
    size = (items, fields)
    # As learned ones are: most are small, some are large.
    probabilities = (rng.beta(0.5, 3, size) * BILLION).astype(np.int32)
    is_unread = np.ones(items * fields, bool)
    is_unread[rng.permutation(items * fields)[:learn]] = False
    values = Values(probabilities, np.zeros(size, bool), is_unread.reshape(size), terms)
    values.wrong[rng.permutation(items)[: round(whole * terms.limit * items)]] = True
    for group in values.chosen:
        for cut in group.cuts[:clean]:
            values.wrong[values.passing(group.fields, cut)] = False
        for cut in group.cuts[clean:]:
            passes = values.passing(group.fields, cut).ravel()
            right = passes & ~values.wrong.ravel()
            if clean:
                right &= ~values.passing(group.fields, group.cuts[clean - 1]).ravel()
            wanted = allowed(terms.limit, int(passes.sum())) + 1
            if clean and cut == group.cuts[-1]:
                wanted = _hardest(terms, int(passes.sum()), len(values.chosen))
            missing = max(0, wanted - int((passes & values.wrong.ravel()).sum()))
            values.wrong.ravel()[rng.permutation(np.flatnonzero(right))[:missing]] = True
    return values


def _hardest(terms, population, groups):
    """The least number of wrong values with which every claim of a limit is false."""
    drawn = min(terms.verify // groups, population)
    found = -1
    while limit_holds(population, drawn, found + 1, terms.limit, terms.risk / groups):
        if (found := found + 1) == drawn:
            return 0  # all values are read
    return found + allowed(terms.limit, population - drawn) + 1
