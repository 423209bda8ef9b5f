"""Scoring: pure functions on plain data. Counts first, rates after."""

from typing import Any

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
