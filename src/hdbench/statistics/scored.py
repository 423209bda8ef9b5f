"""Attributes of a run that statistics need: every `Result` has them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hdbench.benchmarks.sample import Weighed
from hdbench.scoring.metric import Metric


class Scored(Protocol):
    """A run whose items have been scored."""

    @property
    def metric(self) -> Metric:
        """The metric with its protocol and options."""

    @property
    def ids(self) -> Sequence[str]:
        """The items' ids."""

    @property
    def statistics(self) -> Mapping[str, Sequence[float]]:
        """Name of a statistic → its value for each item."""

    @property
    def totals(self) -> Mapping[str, float]:
        """Each statistic added up over the items, and their number, `items`."""

    @property
    def rates(self) -> Mapping[str, Any]:
        """The figures; of a sample, the rates are estimates for the whole."""

    @property
    def weighed(self) -> Weighed | None:
        """The weights of the items of a stratified sample, and how they are resampled."""

    @property
    def estimated(self) -> str | None:
        """That the figures are estimates for a whole, if the items are a sample of it."""

    @property
    def headline(self) -> str:
        """The name of the figure used for ranking."""

    @property
    def conditions(self) -> Mapping[str, Any]:
        """What must be the same for figures to be compared, besides the metric and its options."""

    def field_rates(self) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates."""
