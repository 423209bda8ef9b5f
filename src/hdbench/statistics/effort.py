"""Work that is left after a run: the corrections that an item needs on average."""

from dataclasses import dataclass
from typing import Any

from hdbench.scoring.metric import EFFORT, Corrected
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval, figure_interval
from hdbench.statistics.resampling import bootstrap, mean_table
from hdbench.statistics.scored import Scored


@dataclass(frozen=True)
class Effort:
    """Number of values of an item that need a correction, on average.

    Attributes:
        corrected: what the values are.
        corrections: how many of them need a correction, 0.0 or more, lower is better.
        values: how many there are to look at.
        interval: the interval of `corrections`; None with too few items, and for characters.
    """

    corrected: Corrected
    corrections: float
    values: float
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "corrected": self.corrected,
            "corrections": self.corrections,
            "values": self.values,
            **({} if self.interval is None else {"interval": self.interval.ends}),
        }


def effort(
    result: Scored, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> Effort | None:
    """Return how many values of an item need a correction; of a sample, an estimate for the whole.

    The interval is made as those of the rates are (`hdbench.statistics.bootstrap.intervals`): at
    worst, in the unseen item all values of an average item need one. It has draws of its own, so
    that those of the rates stay what they were before this was counted. There is none for
    characters: one answer that repeats itself without end can need more than all others together.

    Args:
        result: any result.
        resamples: how often items are drawn.
        level: the nominal coverage, between 0 and 1.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        None if the metric does not count them, or did not when the answers were scored.
    """
    corrected = result.metric.corrected
    if corrected is None or not any(result.statistics["values"]):
        return None
    name, looked_at = EFFORT
    table, others = mean_table(result, name), mean_table(result, looked_at)
    mean, values = table.value(name), others.value(looked_at)
    if len(result.ids) < MIN_ITEMS or corrected == "character":
        return Effort(corrected, mean, values, None)
    [drawn] = bootstrap([table], [name], resamples, seed)
    share = figure_interval(drawn[:, 0] / values, table.effective, level, seed)
    return Effort(corrected, mean, values, Interval(share.low * values, share.high * values))
