"""Scoring: pure functions on plain data. Counts first, rates after."""

from typing import Any

from hdbench import __version__
from hdbench.errors import HdbenchError
from hdbench.scoring.avisblatt_cer import AvisblattCer
from hdbench.scoring.letters_f1 import LettersF1
from hdbench.scoring.metric import Metric
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy
from hdbench.scoring.zettel_f1 import ZettelF1

METRICS: dict[str, type[Metric]] = {
    metric.name: metric for metric in (ZettelF1, AvisblattCer, LettersF1, SciencemetaAccuracy)
}
"""Every metric by its name, as in `hdb/<name>`."""


def make_metric(name: str, protocol: str = "documented", /, **options: Any) -> Metric:
    """The metric of that name with a protocol and options bound.

    Raises:
        HdbenchError: no such metric, protocol or option, or a value out of its range.

    Example:
        >>> make_metric("zettel_f1", threshold=0.8).options
        {'threshold': 0.8, 'weights': 1}
    """
    if name not in METRICS:
        raise HdbenchError(f"no metric {name!r}: this hdbench has {', '.join(METRICS)}")
    known = METRICS[name].option_names
    for option in options:
        if option not in known:
            raise HdbenchError(f"{name} has no option {option!r}: it has {', '.join(known)}")
    return METRICS[name](protocol, **options)


def check_headline(name: str, headline: str) -> None:
    """Refuse a metric that this hdbench does not have, or a headline that is none of its rates.

    Args:
        name: the metric's.
        headline: the figure that shall rank: one that is always a number from 0.0 to 1.0.

    Raises:
        HdbenchError: there is no such metric, or the figure is none of its rates.
    """
    if name not in METRICS:
        raise HdbenchError(
            f"metric: no {name[:100]!r} in hdbench {__version__}, which has {', '.join(METRICS)}: "
            "if it is of a newer hdbench, install that"
        )
    metric = METRICS[name]()
    of_nothing = metric.rates(dict.fromkeys((*metric.statistics, "items"), 0))
    rates = [figure for figure, value in of_nothing.items() if isinstance(value, float)]
    if headline not in rates:
        raise HdbenchError(
            f"headline: {headline[:100]!r} is no rate of {name}: choose one of {', '.join(rates)}"
        )
