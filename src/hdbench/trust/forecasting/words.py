"""A forecast in sentences that a head of cataloguing understands, in English or German."""

import math
from pathlib import Path
from typing import Any

from hdbench.common.texts import Texts, decimal, grouped
from hdbench.common.times import SHORT_HOURS
from hdbench.statistics.means import Estimate
from hdbench.trust.forecasting.amounts import Amount, Known, ModelForecast
from hdbench.trust.forecasting.forecast import Forecast
from hdbench.trust.plan import RIGHTS

_text = Texts(Path(__file__).parents[1] / "texts").text


def model_sentence(forecast: Forecast, model: ModelForecast, language: str = "en") -> str:
    """Return the cost of one model's answers if a person checks every value.

    Args:
        forecast: the forecast.
        model: one of its models.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    sentences = [
        _text(
            "forecast_model",
            language,
            model=model.model,
            total=forecast.total,
            untouched=shown(model.untouched.whole, language),
            edits=shown(model.edits.whole, language),
            time=_time(model.hours.whole, language),
        )
    ]
    sentences += _wages(model.wages, language)
    return " ".join([*sentences, _money(model, model.usd, language)])


def _time(hours: Estimate, language: str) -> str:
    if hours.value < SHORT_HOURS:
        minutes = shown(hours.times(60), language, decimals=True)
        return _text("forecast_minutes", language, minutes=minutes)
    return _text("forecast_hours", language, hours=shown(hours, language, decimals=True))


def _wages(wages: Amount | None, language: str) -> list[str]:
    if wages is None:
        return []
    return [_text("forecast_wages", language, wages=shown(wages.whole, language, decimals=True))]


def _money(model: ModelForecast, usd: Known | None, language: str) -> str:
    if usd is None or usd.amount is None:
        return _text("forecast_usd_unknown", language)
    values: dict[str, Any] = {"usd": shown(usd.amount.whole, language, decimals=True)}
    if model.price is not None:
        values |= {"date": model.price.date, "source": model.price.source}
    return _text(f"forecast_usd_{model.usd_from}", language, **values)


def rule_sentences(forecast: Forecast, language: str = "en") -> list[str]:
    """Return the work that the rule leaves, with or without a plan; nothing with one run.

    Args:
        forecast: the forecast.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    if not forecast.rule:
        return []
    if forecast.promise is None:
        return [_text("forecast_curve", language)]
    decided = forecast.rule[0]
    time = _time(decided.hours.whole, language)
    wages = _wages(decided.wages, language)
    if decided.threshold is None:
        return [" ".join([_text("forecast_refused", language, time=time), *wages])]
    looks = decided.looks.per_item.value
    taken = _text(
        "forecast_taken",
        language,
        share=decided.taken_over,
        threshold=decided.threshold,
        looks=looks,
        values=looks / (1 - decided.taken_over) if decided.taken_over < 1 else 0.0,
        time=time,
        unseen=shown(decided.unseen.whole, language),
    )
    wrong = forecast.promise.wrong
    remain = [
        _text(
            f"forecast_remain_{right}",
            language,
            in_whole=wrong[right].in_whole,
            at_most=wrong[right].at_most_in_whole,
        )
        for right in RIGHTS
    ]
    work = " ".join([taken, *wages])
    if not forecast.promise.holds:
        work = _text("void", language) + work
    return [work, *remain]


def pace_sentence(forecast: Forecast, language: str = "en") -> str:
    """Return the assumption about the pace of people.

    Args:
        forecast: the forecast.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    return _text(
        "forecast_pace",
        language,
        keys=forecast.keystrokes_per_minute,
        look=forecast.seconds_per_look,
        source=forecast.pace_source,
    )


def shown(estimate: Estimate, language: str = "en", *, decimals: bool = False) -> str:
    """Return an estimate of a total in three significant digits, with its interval.

    Args:
        estimate: the estimate.
        language: one of `hdbench.common.texts.LANGUAGES`.
        decimals: whether it is measured rather than counted: below 100, with one decimal.

    Example:
        >>> shown(Estimate(301_863.4, 266_000.1, 337_512.0))
        '302,000 (266,000 to 338,000)'
        >>> shown(Estimate(2.5), "de", decimals=True), shown(Estimate(0.2))
        ('2,5', '0')
    """
    value, low, high = (
        None if number is None else _number(number, language, decimals=decimals)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    if low is None or high is None:
        return str(value)
    return _text("forecast_between", language, value=value, low=low, high=high)


def _number(value: float, language: str, *, decimals: bool) -> str:
    if decimals and value < 100:  # noqa: PLR2004
        return decimal(f"{value:.1f}", language)
    more = 0 if value < 1 else math.floor(math.log10(value)) - 2
    return grouped(int(round(value, -max(0, more))), language)
