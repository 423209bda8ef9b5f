"""A forecast as a plot: a person's remaining work, or all costs, against remaining errors."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from hdbench.common.jsonio import write_whole
from hdbench.common.texts import decimal, numbers_of
from hdbench.display.style import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    TWO_COLUMNS,
    Plot,
    finished,
    new_plot,
    paper_style,
    short,
)
from hdbench.errors import HdbenchError
from hdbench.output.report.rendering import TEXTS
from hdbench.trust.forecasting.amounts import Amount, ModelForecast, RuleForecast
from hdbench.trust.forecasting.forecast import Forecast

KINDS = ("png", "svg")

_COLORS = (ORANGE, GREEN, PURPLE, SKY, DARK)
_RULE = BLUE
_MARKERS = "sD^vPX*"

_NAMED = (1.0, 0.98, 0.92, 0.8, 0.65, 0.5, 0.0)
"""Thresholds that are named where all of them are drawn: those between would cover each other."""


def check_plot(path: Path) -> str:
    """Return the kind of plot that a file's name asks for.

    Raises:
        HdbenchError: it is not one of `KINDS`.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise HdbenchError(
            "{place}: a plot is written as .png or .svg: give it such a name", place=path
        )
    return kind


def write_forecast_plot(path: Path, forecast: Forecast, language: str = "en") -> None:
    """Write the plot.

    The x axis shows costs: hours of a person, or US dollars if wage and prices are known. The y
    axis shows wrong values that remain in the population, to the letter. Each model appears
    twice, as it is and with all values checked; the rule appears with each threshold, or with that
    of its plan.

    Args:
        path: the file; its name ends in `.png` or `.svg`.
        forecast: the forecast.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        HdbenchError: it has another name, or cannot be written.
    """
    kind = check_plot(path)
    with paper_style():
        write_whole(path, _figure(forecast, language).bytes_of(kind))


def _figure(forecast: Forecast, language: str) -> Plot:
    title = _say(
        "forecast_title",
        language,
        total=forecast.total,
        count=forecast.items,
        benchmark=forecast.benchmark,
    )
    plot, axes = new_plot(TWO_COLUMNS, 4.4, title)
    money = forecast.wage is not None and forecast.rule_usd is not None
    for index, model in enumerate(forecast.models):
        _model(axes, model, index, language, money=money)
    axes.plot([], [], ":", color=GREY, label=_say("forecast_between", language))
    if forecast.rule:
        _rule(axes, forecast, language, money=money)
    axes.set_xlabel(_say("forecast_money" if money else "forecast_hours", language))
    axes.set_ylabel(_say("forecast_wrong", language))
    signs = numbers_of(language)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: signs.written(f"{x:,.10g}")))
    axes.margins(0.06)
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    axes.set_xlim(-right / 50, right)  # so that intervals at 0 are not on the axis
    axes.set_ylim(0, top)
    axes.grid()
    plot.legend(loc="outside lower center", ncols=2)
    return finished(plot, title)


def _model(axes: Axes, model: ModelForecast, index: int, language: str, *, money: bool) -> None:
    """Draw a model as it is, and with all values checked; between them, with some checked."""
    color, marker = _COLORS[index % len(_COLORS)], _MARKERS[index % len(_MARKERS)]
    paid = model.usd.amount.whole.value if money and model.usd and model.usd.amount else 0.0
    people = model.wages if money else model.hours
    end = paid + (0.0 if people is None else people.whole.value)
    wrong = model.edits.whole
    axes.plot([paid, end], [wrong.value, 0], ":", color=color)
    axes.plot(
        [paid, end],
        [wrong.value, 0],
        marker,
        color=color,
        markersize=5,
        clip_on=False,
        label=_say("forecast_model", language, model=short(model.model)),
    )
    _interval(axes, paid, model.edits, color)


def _rule(axes: Axes, forecast: Forecast, language: str, *, money: bool) -> None:
    steps = forecast.rule
    costs = [_cost(forecast, step, money=money) for step in steps]
    wrong = [step.remaining["letter"] for step in steps]
    ends = [amount.whole.value for amount in wrong]
    decided = forecast.promise is not None
    label = _say("forecast_decision" if decided else "forecast_scores", language)
    axes.plot(costs, ends, "o-", color=_RULE, markersize=4, clip_on=False, label=label)
    for cost, step, amount in zip(costs, steps, wrong, strict=True):
        _interval(axes, cost, amount, _RULE)
        if step.threshold is not None and (decided or step.threshold in _NAMED):
            axes.annotate(
                decimal(f"{step.threshold:g}", language),
                (cost, amount.whole.value),
                xytext=(5, 4),
                textcoords="offset points",
                color=_RULE,
            )


def _cost(forecast: Forecast, step: RuleForecast, *, money: bool) -> float:
    if not money or step.wages is None or forecast.rule_usd is None:
        return step.hours.whole.value
    return step.wages.whole.value + forecast.rule_usd


def _interval(axes: Axes, cost: float, amount: Amount, color: str) -> None:
    estimate = amount.whole
    if estimate.low is not None and estimate.high is not None:
        axes.plot(
            [cost, cost], [estimate.low, estimate.high], color=color, linewidth=1.6, alpha=0.4
        )


def _say(key: str, language: str, **values: Any) -> str:
    return TEXTS.text(key, language, **values)
