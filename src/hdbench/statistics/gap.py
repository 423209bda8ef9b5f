"""Distance of a run's figures on two different sets of items."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hdbench.statistics.bootstrap import (
    METHOD,
    MIN_ITEMS,
    Interval,
    difference_with_unseen,
    method_of,
    too_few,
    why_without,
    with_unseen,
)
from hdbench.statistics.delta import covariances, is_large
from hdbench.statistics.resampling import Array, StatisticsTable, bootstrap, check_settings, tables
from hdbench.statistics.scored import Scored


@dataclass(frozen=True)
class Gap:
    """The headline on public items minus that on held-out ones.

    Attributes:
        figure: the headline's name.
        public: its value on the public items.
        held_out: its value on the held-out items.
        interval: the interval of the difference; None with too few items, or if the headline has
            none itself.
        why: why there is none; None if there is one.
        resamples: how often items were drawn.
        level: the nominal share of such intervals that contain the true difference.
        seed: the seed of the random generator.
        method: how the interval is computed.
    """

    figure: str
    public: float
    held_out: float
    interval: Interval | None
    why: str | None
    resamples: int
    level: float
    seed: int
    method: str = METHOD

    @property
    def difference(self) -> float:
        """Public minus held out."""
        return self.public - self.held_out

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "figure": self.figure,
            "public": self.public,
            "held_out": self.held_out,
            "difference": self.difference,
            "method": self.method,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            **({"why": self.why} if self.interval is None else {"interval": self.interval.ends}),
        }


def gap(
    public: Scored,
    held_out: Scored,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Gap:
    """Return the difference of a run's headline between public and held-out items.

    Both are samples of the same kind, drawn apart, so both are resampled apart (Efron and
    Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 8). As in
    `hdbench.statistics.bootstrap.intervals`, each draw of either has one unseen item more, which
    is as bad as possible on one side and as good as possible on the other: so the interval also
    holds where all items are alike. Of a stratified sample, both figures are estimates for the
    whole, as in `intervals`.

    Args:
        public: the result on the public items.
        held_out: that on the held-out ones, of the same metric.
        resamples: how often items are drawn.
        level: the nominal coverage, between 0 and 1.
        seed: the seed of `numpy.random.default_rng`; the held-out items have a seed of their own.

    Raises:
        HdbenchError: a setting is out of range.
    """
    check_settings(resamples, level, seed)
    name = public.headline
    first, second = (float(result.rates[name]) for result in (public, held_out))
    fewest = min(len(public.ids), len(held_out.ids))
    [public_table] = tables([public], public.ids)
    [held_out_table] = tables([held_out], held_out.ids)
    interval, large = None, False
    if fewest < MIN_ITEMS:
        why: str | None = too_few(fewest)
    else:
        why = why_without(public_table, name) or why_without(held_out_table, name)
    if why is None:
        large = is_large([public_table]) or is_large([held_out_table])
        interval = difference_with_unseen(
            _ends(public_table, name, resamples, (seed, 3)),  # 2 is that of `figure_interval`
            _ends(held_out_table, name, resamples, (seed, 4)),
            level,
        )
    method = method_of([public, held_out], large=large)
    return Gap(name, first, second, interval, why, resamples, level, seed, method)


def _ends(
    table: StatisticsTable, name: str, resamples: int, seed: tuple[int, int]
) -> tuple[Array, Array]:
    """Return a figure in each draw, with one unseen item as bad, or as good, as possible."""
    rng = np.random.default_rng(seed)
    draw_seed = int(rng.integers(2**32))
    column: Array
    if is_large([table]):  # what is drawn is the figure, which is normally distributed
        spread = np.sqrt(covariances([table], [name])[0, 0, 0])
        column = np.random.default_rng(draw_seed).normal(table.value(name), spread, resamples)
    else:
        [drawn] = bootstrap([table], [name], resamples, draw_seed)
        column = drawn[:, 0]
    return with_unseen(column, rng.beta(1, table.support(name)[1], len(column)))
