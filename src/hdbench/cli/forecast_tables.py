"""A forecast for a terminal."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.common.printing import MAX_NOTE, plain_table, printable
from hdbench.statistics.means import Estimate
from hdbench.trust.forecasting.words import (
    model_sentence,
    pace_sentence,
    rule_sentences,
    shown,
)
from hdbench.trust.words import warning_in_words

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.trust.forecasting.amounts import Known, ModelForecast
    from hdbench.trust.forecasting.forecast import Forecast


def print_forecast(console: Console, forecast: "Forecast") -> None:
    """Print what each model costs, what the rule leaves to do, and what to know.

    Args:
        console: where to.
        forecast: the forecast.
    """
    title = f"Forecast for {forecast.total:,} items from {forecast.items:,} of "
    console.print(Text(title) + printable(forecast.benchmark), style="bold", highlight=False)
    for model in forecast.models:
        console.print(printable(model_sentence(forecast, model), MAX_NOTE), soft_wrap=True)
    for line in rule_sentences(forecast):
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)
    console.print()
    _print_models(console, forecast)
    if any(_says_use(model) for model in forecast.models):
        _print_money(console, forecast)
    if forecast.rule:
        _print_rule(console, forecast)
    for warned in forecast.notices:
        text = printable(warning_in_words(warned), MAX_NOTE)
        console.print(Text.assemble(("note: ", "bold yellow"), text), soft_wrap=True)
    console.print(Text(pace_sentence(forecast), style="dim"), soft_wrap=True, highlight=False)
    level = f"intervals: {forecast.level:.0%}, {forecast.method}"
    console.print(Text(level, style="dim"), soft_wrap=True, highlight=False)


def _print_models(console: Console, forecast: "Forecast") -> None:
    heads = ("need no edit", "edits", "keystrokes", "minutes")
    table = plain_table("Every value checked: an item on average", "model", right=heads)
    for model in forecast.models:
        cells = (
            _interval(model.untouched.per_item.times(100), " %", 1),
            _interval(model.edits.per_item),
            _interval(model.keystrokes.per_item, digits=1),
            _interval(model.hours.per_item.times(60)),
        )
        table.add_row(printable(model.model), *cells)
    console.print(table)


def _print_money(console: Console, forecast: "Forecast") -> None:
    heads = ["million\ntokens in", "million\ntokens out", "machine\nhours", "US dollars"]
    table = plain_table(f"All {forecast.total:,} items", "model", right=heads)
    for model in forecast.models:
        cells = [
            _whole(model.input_tokens, 1e-6),
            _whole(model.output_tokens, 1e-6),
            _whole(model.seconds, 1 / 3600),
            _whole(model.usd),
        ]
        table.add_row(printable(model.model), *cells)
    console.print(table)


def _print_rule(console: Console, forecast: "Forecast") -> None:
    """What is left to do, one line for each threshold: with intervals, it would be too wide."""
    title = "By the plan" if forecast.promise else "Taken over from a trust score on: no promise"
    heads = ["taken\nover", "looks", "no\nedit", "hours", "wrong\nleft", "by\nthreshold"]
    if forecast.wage is not None:
        heads.append("wages")
    table = plain_table(title, right=("score", *heads))
    for step in forecast.rule:
        cells = [
            f"{step.taken_over:.1%}",
            f"{step.looks.per_item.value:.2f}",
            f"{step.no_edit['letter'].per_item.value:.1%}",
            _value(step.hours.whole, decimals=True),
            _value(step.remaining["letter"].whole),
            _value(step.remaining["threshold"].whole),
        ]
        if step.wages is not None:
            cells.append(_value(step.wages.whole, decimals=True))
        table.add_row("none" if step.threshold is None else f"{step.threshold:g}", *cells)
    console.print(table)
    lines = [
        "looks: values of an item that a person looks at; no edit: items of which none of these is "
        "wrong; wrong left: values that are taken over and wrong to the letter (intervals: --json)"
    ]
    if forecast.rule_usd is not None:
        lines.append(
            f"all models together: {shown(Estimate(forecast.rule_usd), decimals=True)} US dollars"
        )
    for line in lines:
        console.print(Text(line), soft_wrap=True, highlight=False)
    console.print()


def _interval(estimate: Estimate, unit: str = "", digits: int = 2) -> str:
    value = f"{estimate.value:.{digits}f}{unit}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value}\n{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"


def _says_use(model: "ModelForecast") -> bool:
    known = (model.input_tokens, model.output_tokens, model.seconds)
    return model.usd is not None or any(each.items for each in known)


def _value(estimate: Estimate, *, decimals: bool = False) -> str:
    return shown(Estimate(estimate.value), decimals=decimals)


def _whole(known: "Known | None", unit: float = 1.0) -> str:
    if known is None or known.amount is None:
        return "not known"
    return _stacked(known.amount.whole.times(unit))


def _stacked(estimate: Estimate) -> str:
    return shown(estimate, decimals=True).replace(" (", "\n").removesuffix(")")
