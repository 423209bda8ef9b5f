"""Scoring: pure functions on plain data. Counts first, then rates."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from hdbench.about import NAMESPACE, __version__
from hdbench.errors import HdbenchError, Message, did_you_mean
from hdbench.scoring.metric import PERFECT, Metric

GROUP = "hdbench.metrics"
"""The entry point group through which other packages provide metrics, each by its name."""


_OWN = {
    "zettel_f1": "ZettelF1",
    "avisblatt_cer": "AvisblattCer",
    "letters_f1": "LettersF1",
    "sciencemeta_accuracy": "SciencemetaAccuracy",
    "record_f1": "RecordF1",
    "text_cer": "TextCer",
}
"""The metrics of hdbench, each a class in the module of its name; loaded when it is asked for."""


def _own(name: str) -> type[Metric]:
    metric: type[Metric] = getattr(import_module(f"{__name__}.{name}"), _OWN[name])
    return metric


@cache
def _all() -> dict[str, type[Metric]]:
    from importlib.metadata import entry_points  # noqa: PLC0415  slow, and mostly not needed

    metrics = {name: _own(name) for name in _OWN}
    for entry in entry_points(group=GROUP):
        package = entry.dist.name if entry.dist else entry.value
        of = Message("metric {name!r} of {package}", name=entry.name, package=package)
        try:
            metric = entry.load()
        except Exception as error:
            raise HdbenchError(
                "{of}: cannot be loaded: {why}: update or remove it", of=of, why=error
            ) from error
        if not (isinstance(metric, type) and issubclass(metric, Metric)):
            raise HdbenchError(
                "{of}: must be a class derived from hdbench.scoring.metric.Metric", of=of
            )
        if not set(PERFECT) <= set(metric.figures):
            raise HdbenchError("{of}: has no items_perfect among its figures: add *PERFECT", of=of)
        if metric.name != entry.name:
            raise HdbenchError(
                "{of}: its class is called {name!r}: give both the same name",
                of=of,
                name=metric.name,
            )
        if metrics.setdefault(entry.name, metric) is not metric:
            raise HdbenchError("{of}: another metric has this name already: rename it", of=of)
    return metrics


class _Metrics(Mapping[str, type[Metric]]):
    """Looks at what is installed only for a name that is not one of hdbench's own, or for all."""

    def __getitem__(self, name: str) -> type[Metric]:
        return _own(name) if name in _OWN else {**_GIVEN, **_all()}[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**_all(), **_GIVEN})

    def __len__(self) -> int:
        return len(_all().keys() | _GIVEN)


_GIVEN: dict[str, type[Metric]] = {}


def known_metric(metric: Metric | type[Metric]) -> type[Metric]:
    """The class of a metric that a program gives, which from now on is known by its name.

    Raises:
        HdbenchError: it is no metric, or another one has its name.
    """
    kind = metric if isinstance(metric, type) else type(metric)
    if not issubclass(kind, Metric):
        raise HdbenchError(
            "{metric}: neither a metric's name nor a class derived from hdbench.Metric",
            metric=repr(metric)[:100],
        )
    if _all().get(kind.name, kind) is not kind:
        raise HdbenchError(
            "{name}: another metric has this name already: rename it", name=kind.name
        )
    _GIVEN[kind.name] = kind
    return kind


METRICS: Mapping[str, type[Metric]] = _Metrics()
"""Every metric by its name, as in `hdb/<name>`: those of hdbench, of other packages, and those that
a program gave."""


def make_metric(name: str, protocol: str = "documented", /, **options: Any) -> Metric:
    """The metric of that name (`zettel_f1` or `hdb/zettel_f1`), with a protocol and options bound.

    Raises:
        HdbenchError: there is no such metric, protocol or option, or a value is out of range.

    Example:
        >>> make_metric("zettel_f1", threshold=0.8).options
        {'threshold': 0.8, 'weights': 1}
    """
    name = name.removeprefix(f"{NAMESPACE}/")
    if name not in METRICS:
        raise HdbenchError(
            "no metric {name!r}: this hdbench has {choices}{near}",
            name=name,
            choices=", ".join(METRICS),
            near=did_you_mean(name, METRICS),
        )
    option_names = METRICS[name].option_names
    for option in options:
        if option not in option_names:
            raise HdbenchError(
                "{name} has no option {option!r}: it has {names}{near}",
                name=name,
                option=option,
                names=", ".join(option_names),
                near=did_you_mean(option, option_names),
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
            "metric: no {name!r} in hdbench {version}, which has {choices}: if it is of a "
            "newer hdbench, install that",
            name=name[:100],
            version=__version__,
            choices=", ".join(METRICS),
        )
    rates = {
        figure.name: figure for figure in METRICS[name].figures if figure.is_rate and figure.always
    }
    figure = rates.get(headline)
    if figure is None:
        raise HdbenchError(
            "headline: {headline!r} is not a rate of {name}: choose one of {choices}",
            headline=headline[:100],
            name=name,
            choices=", ".join(rates),
        )
    if higher_is_better is not None and higher_is_better != figure.higher_is_better:
        raise HdbenchError(
            "higher_is_better: must be {needed} for {headline}",
            needed=str(not higher_is_better).lower(),
            headline=headline,
        )
