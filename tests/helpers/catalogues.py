"""Catalogues whose true share of wrong values is known, and samples of them."""

from typing import NamedTuple

import numpy as np

from hdbench.statistics.acceptance import (
    GRID,
    ROUNDING,
    by_betting,
    by_rule,
    last_accepted,
    least_items,
    walk,
)

ABOVE = 1 + 1e-9
"""By what the least true error is above the limit where a promise is broken if anything passes."""


class Catalogue(NamedTuple):
    """Kinds of items, all as frequent; a sample has each any number of times.

    Attributes:
        scores: the trust score of each kind of item (row) and field (column).
        chance: how likely each value is wrong, apart from all others; 0 or 1 where that is fixed.
        blunders: how likely an item is wrong as a whole, with all runs agreeing.
    """

    scores: np.ndarray
    chance: np.ndarray
    blunders: float = 0.0

    def drawn(self, rng, items):
        """Scores of a sample, and whether its values are wrong."""
        rows = rng.integers(len(self.scores), size=items)
        scores, chance = self.scores[rows], self.chance[rows]
        wrong = rng.random(chance.shape) < chance
        if self.blunders:
            whole = rng.random(items) < self.blunders
            scores[whole], wrong[whole] = 1.0, True
        return scores, wrong

    def true_error(self, threshold):
        """The share of wrong values among those that pass; NaN if none does."""
        passes = self.scores >= threshold - ROUNDING
        whole = self.blunders * passes.size
        passing = (1 - self.blunders) * passes.sum() + whole
        wrong = (1 - self.blunders) * self.chance[passes].sum() + whole
        return wrong / passing if passing else np.nan

    def least_error(self):
        """That of the threshold where it is smallest."""
        return min(self.true_error(threshold) for threshold in GRID)

    def at_random(self):
        """The same errors, each value's drawn for itself; rates of fields and scores stay."""
        chance = np.zeros(self.scores.shape)
        bins = np.digitize(self.scores, np.array(GRID) - ROUNDING)
        for field in range(chance.shape[1]):
            for place in np.unique(bins[:, field]):
                rows = bins[:, field] == place
                chance[rows, field] = self.chance[rows, field].mean()
        return self._replace(chance=chance)

    def in_whole_items(self, share):
        """So many of the errors at the strictest threshold are in items that are all wrong."""
        random = self.at_random()
        passes = self.scores >= 1 - ROUNDING
        blunders = share * random.chance[passes].sum() / passes.size
        return random._replace(chance=(1 - share) * random.chance, blunders=blunders)


def synthetic(*, fields=5, error=0.04, certain=0.6, spread=0.5, kinds=2_000, seed=0):
    """Items of which some are harder than others: lower scores, and more errors.

    Args:
        fields: of each item.
        error: about the share of errors where all runs agree.
        certain: about the share of values for which they do.
        spread: how much items differ, 0.0 to 1.0.
        kinds: of items.
        seed: of all draws.
    """
    rng = np.random.default_rng(seed)
    ease = 1 + spread * rng.uniform(-1, 1, kinds)[:, None]
    agree = rng.random((kinds, fields)) < np.clip(certain * ease, 0, 1)
    scores = np.where(agree, 1.0, rng.choice([0.98, 0.96, 0.9, 0.8, 0.5], (kinds, fields)))
    chance = np.clip(error / ease * (1 + 8 * (1 - scores)), 0, 1)
    return Catalogue(scores, chance)


def chosen(scores, wrong, name, limit):
    """The threshold at which a sample is accepted, by `rule` or by `exact`; None if none."""
    verdict = by_rule(limit) if name == "rule" else by_betting(scores.shape[1], limit)
    last = last_accepted(walk(scores, wrong, verdict, least=least_items(limit)))
    return last and last.threshold


class Group(NamedTuple):
    """Items that are all alike.

    Attributes:
        share: of all items.
        passing: how many of an item's values pass.
        wrong: how many of these are wrong.
    """

    share: float
    passing: int
    wrong: int


def true_share(groups):
    """The share of wrong values among those that pass."""
    shares, passing, wrong = map(np.array, zip(*groups, strict=True))
    return shares @ wrong / (shares @ passing)


def counts(rng, groups, items):
    """How many values of each item of a sample pass, and how many of these are wrong."""
    shares, passing, wrong = map(np.array, zip(*groups, strict=True))
    which = rng.choice(len(groups), items, p=shares)
    return passing[which], wrong[which]


def adversarial(limit, fields):
    """Name → groups whose true share is just above the limit, made to deceive a bound.

    The limit is below 1 / (1 + fields).
    """
    share = limit * ABOVE
    some = fields // 2 or 1
    # A rare item with all fields wrong beside ones of which a single value passes.
    heavy = share / (fields * (1 - share) + share)
    # As many errors in whole items as in single values.
    half = share / 2
    single = half * fields
    return {
        "all wrong, or none": [Group(share, fields, fields), Group(1 - share, fields, 0)],
        "one wrong, or none": [
            Group(share * fields, fields, 1),
            Group(1 - share * fields, fields, 0),
        ],
        "half of an item, or none": [
            Group(share * fields / some, fields, some),
            Group(1 - share * fields / some, fields, 0),
        ],
        "whole items and single values": [
            Group(half, fields, fields),
            Group(single, fields, 1),
            Group(1 - half - single, fields, 0),
        ],
        "few values pass, all where all are wrong": [
            Group(heavy, fields, fields),
            Group(1 - heavy, 1, 0),
        ],
        "few values pass where one is wrong": [
            Group(share * fields / (1 + share * (fields - 1)), 1, 1),
            Group(1 - share * fields / (1 + share * (fields - 1)), fields, 0),
        ],
    }
