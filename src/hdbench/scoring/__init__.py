"""Scoring: pure functions on plain data. Counts first, then rates."""

from importlib.metadata import entry_points
from typing import Any

from hdbench import __version__
from hdbench.common.names import bare, did_you_mean
from hdbench.errors import HdbenchError
from hdbench.scoring.avisblatt_cer import AvisblattCer
from hdbench.scoring.letters_f1 import LettersF1
from hdbench.scoring.metric import PERFECT, Metric
from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy
from hdbench.scoring.text_cer import TextCer
from hdbench.scoring.zettel_f1 import ZettelF1

GROUP = "hdbench.metrics"
"""The entry point group through which other packages provide metrics, each by its name."""


def _installed() -> dict[str, type[Metric]]:
    metrics: dict[str, type[Metric]] = {
        metric.name: metric
        for metric in (ZettelF1, AvisblattCer, LettersF1, SciencemetaAccuracy, RecordF1, TextCer)
    }
    for entry in entry_points(group=GROUP):
        of = f"metric {entry.name!r} of {entry.dist.name if entry.dist else entry.value}"
        try:
            metric = entry.load()
        except Exception as error:
            raise HdbenchError(f"{of}: cannot be loaded: {error}: update or remove it") from error
        if not (isinstance(metric, type) and issubclass(metric, Metric)):
            raise HdbenchError(f"{of}: must be a class derived from hdbench.scoring.metric.Metric")
        if not set(PERFECT) <= set(metric.figures):
            raise HdbenchError(f"{of}: has no items_perfect among its figures: add *PERFECT")
        if metric.name != entry.name:
            raise HdbenchError(
                f"{of}: its class is called {metric.name!r}: give both the same name"
            )
        if metrics.setdefault(entry.name, metric) is not metric:
            raise HdbenchError(f"{of}: another metric has this name already: rename it")
    return metrics


METRICS = _installed()
"""Every metric by its name, as in `hdb/<name>`: those of hdbench and those of other packages."""


def make_metric(name: str, protocol: str = "documented", /, **options: Any) -> Metric:
    """The metric of that name (`zettel_f1` or `hdb/zettel_f1`), with a protocol and options bound.

    Raises:
        HdbenchError: there is no such metric, protocol or option, or a value is out of range.

    Example:
        >>> make_metric("zettel_f1", threshold=0.8).options
        {'threshold': 0.8, 'weights': 1}
    """
    name = bare(name)
    if name not in METRICS:
        raise HdbenchError(
            f"no metric {name!r}: this hdbench has {', '.join(METRICS)}"
            f"{did_you_mean(name, METRICS)}"
        )
    known = METRICS[name].option_names
    for option in options:
        if option not in known:
            raise HdbenchError(
                f"{name} has no option {option!r}: it has {', '.join(known)}"
                f"{did_you_mean(option, known)}"
            )
    return METRICS[name](protocol, **options)


def check_headline(name: str, headline: str, higher_is_better: bool | None = None) -> None:
    """Reject a metric that this hdbench does not have, or a headline that is not one of its rates.

    Args:
        name: the metric's name.
        headline: the figure to rank by: one that is always a number from 0.0 to 1.0.
        higher_is_better: the direction in which to rank.

    Raises:
        HdbenchError: there is no such metric, or the figure is not one of its rates or has the
            other direction.
    """
    if name not in METRICS:
        raise HdbenchError(
            f"metric: no {name[:100]!r} in hdbench {__version__}, which has {', '.join(METRICS)}: "
            "if it is of a newer hdbench, install that"
        )
    rates = {each.name: each for each in METRICS[name].figures if each.is_rate and each.always}
    if headline not in rates:
        raise HdbenchError(
            f"headline: {headline[:100]!r} is not a rate of {name}: choose one of "
            f"{', '.join(rates)}"
        )
    if higher_is_better is not None and higher_is_better != rates[headline].higher_is_better:
        raise HdbenchError(
            f"higher_is_better: must be {str(not higher_is_better).lower()} for {headline}"
        )
