"""What a person must know before a forecast is used."""

from collections.abc import Iterator, Mapping, Sequence

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.statistics.bootstrap import MIN_ITEMS
from hdbench.trust.decision import Decision, Warned
from hdbench.trust.forecasting.amounts import ModelForecast
from hdbench.trust.forecasting.measuring import Measured
from hdbench.trust.forecasting.price_list import Price


def notices_of(
    benchmark: Benchmark,
    measured: Measured,
    models: Sequence[ModelForecast],
    *,
    total: int,
    prices: Mapping[str, Price] | None,
    decision: Decision | None,
) -> Iterator[Warned]:
    """All notices, the gravest first.

    Args:
        benchmark: what was checked.
        measured: what was measured.
        models: the models' forecasts.
        total: how many items the whole has.
        prices: model → price.
        decision: by a plan; None without one.
    """
    items = len(measured.items)
    sample = benchmark.spec.sample
    if decision is not None:
        yield from (each for each in decision.warnings if each.voids)
    elif sample is None and total > items:
        yield _notice("forecast_not_drawn", items=items, total=total)
    elif sample is not None and sample.of != total:
        yield _notice("forecast_other_whole", of=sample.of, total=total)
    if items < MIN_ITEMS:
        yield _notice("forecast_few_items", items=items, least=MIN_ITEMS)
    if measured.not_asked:
        yield _notice("forecast_not_asked", number=measured.not_asked, items=items)
    drafted = sum(bool(item.provenance and item.provenance.run) for item in measured.items)
    if drafted:
        yield _notice("forecast_drafted", number=drafted, items=items)
    if measured.without_truth:
        yield _notice("forecast_without_truth", fields=", ".join(measured.without_truth))
    if measured.in_lists:
        yield _notice("forecast_in_lists")
    for run, each in zip(measured.runs, models, strict=True):
        yield from _of_model(each, items, has_price=prices is None or run.model in prices)


def _of_model(model: ModelForecast, items: int, *, has_price: bool) -> Iterator[Warned]:
    if model.answered < items:
        missing = items - model.answered
        yield _notice("forecast_unanswered", model=model.model, number=missing, items=items)
    tokens = min(model.input_tokens.items, model.output_tokens.items)
    seconds = model.seconds.items
    if min(tokens, seconds) < items:
        known = {"tokens": tokens, "seconds": seconds, "items": items}
        yield _notice("forecast_usage", model=model.model, **known)
    if not has_price:
        yield _notice("forecast_no_price", model=model.model)


def _notice(key: str, **values: object) -> Warned:
    return Warned(key=key, values=values)
