"""A forecast in sentences that a head of cataloguing understands, in English or German."""

import math
from pathlib import Path
from typing import Any

from hdbench.common.texts import Texts, grouped
from hdbench.errors import escaped
from hdbench.statistics.means import Estimate
from hdbench.trust.forecasting.amounts import Known, ModelForecast
from hdbench.trust.forecasting.forecast import Forecast
from hdbench.trust.plan import Right

_TEXTS = Texts(Path(__file__).parents[1] / "translations")

_RIGHTS: tuple[Right, ...] = ("letter", "threshold")


def model_sentence(forecast: Forecast, model: ModelForecast, language: str = "en") -> str:
    """What one model's answers cost if a person checks every value.

    Args:
        forecast: the forecast.
        model: one of its models.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    said = [
        _text(
            "forecast_model",
            language,
            model=escaped(model.model),
            total=forecast.total,
            untouched=shown(model.untouched.whole, language),
            edits=shown(model.edits.whole, language),
            hours=shown(model.hours.whole, language),
        )
    ]
    if model.wages is not None:
        said.append(_text("forecast_wages", language, wages=shown(model.wages.whole, language)))
    return " ".join([*said, _money(model, model.usd, language)])


def _money(model: ModelForecast, usd: Known | None, language: str) -> str:
    if usd is None or usd.amount is None:
        return _text("forecast_usd_unknown", language)
    values: dict[str, Any] = {"usd": shown(usd.amount.whole, language)}
    if model.price is not None:
        values |= {"date": model.price.date, "source": escaped(model.price.source)}
    return _text(f"forecast_usd_{model.usd_from}", language, **values)


def rule_sentences(forecast: Forecast, language: str = "en") -> list[str]:
    """What the rule leaves to do, by a plan or without one; nothing if there is one run only.

    Args:
        forecast: the forecast.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    if not forecast.rule:
        return []
    if forecast.promise is None:
        return [_text("forecast_curve", language)]
    decided = forecast.rule[0]
    hours = shown(decided.hours.whole, language)
    if decided.threshold is None:
        return [_text("forecast_refused", language, hours=hours)]
    looks = decided.looks.per_item.value
    said = _text(
        "forecast_taken",
        language,
        share=decided.taken_over,
        threshold=decided.threshold,
        looks=looks,
        values=looks / (1 - decided.taken_over) if decided.taken_over < 1 else 0.0,
        hours=hours,
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
        for right in _RIGHTS
    ]
    if not forecast.promise.holds:
        said = _text("void", language) + said
    return [said, *remain]


def pace_sentence(forecast: Forecast, language: str = "en") -> str:
    """What is assumed about people.

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


def shown(estimate: Estimate, language: str = "en") -> str:
    """An estimate for the whole in three significant digits, with its interval if it has one.

    Example:
        >>> shown(Estimate(301_863.4, 266_000.1, 337_512.0))
        '302,000 (266,000 to 338,000)'
    """
    value = grouped(rounded(estimate.value), language)
    if estimate.low is None or estimate.high is None:
        return value
    ends = {"low": rounded(estimate.low), "high": rounded(estimate.high)}
    shown_ends = {name: grouped(end, language) for name, end in ends.items()}
    return _text("forecast_between", language, value=value, **shown_ends)


def rounded(value: float) -> int:
    """A number of things in three significant digits: more would say more than is known.

    Example:
        >>> rounded(301_863.4), rounded(41.6), rounded(0.2)
        (302000, 42, 0)
    """
    if value < 1:
        return round(value)
    return int(round(value, min(0, 2 - math.floor(math.log10(value)))))


def _text(key: str, language: str, **values: Any) -> str:
    return _TEXTS.text(key, language, **values)
