"""Command that estimates the cost of a whole collection."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import (
    JsonOut,
    required_benchmark,
    split_benchmark,
)
from hdbench.cli.terminal import ends, localized, localized_table, number, print_line, print_marked
from hdbench.common.extras import needed
from hdbench.common.jsonio import write_json
from hdbench.common.printing import printable
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.statistics.means import Estimate
from hdbench.trust.deciding import is_value_plan, read_plan
from hdbench.trust.forecasting.amounts import Known, ModelForecast
from hdbench.trust.forecasting.by_values import ValueForecast, value_forecast
from hdbench.trust.forecasting.forecast import Forecast, ForecastOptions
from hdbench.trust.forecasting.forecast import forecast as forecast_of
from hdbench.trust.forecasting.price_list import read_prices
from hdbench.trust.forecasting.words import model_sentence, pace_sentence, rule_sentences, shown
from hdbench.trust.forecasting.work import KEYSTROKES_PER_MINUTE, SECONDS_PER_LOOK, Pace
from hdbench.trust.learned.decision import decide_by_values
from hdbench.trust.learned.plan import ValuePlan
from hdbench.trust.sealed import check_replaceable
from hdbench.trust.value_words import forecast_sentences
from hdbench.trust.words import warning_in_words


def command(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="[BENCHMARK] RUN…")] = None,
    *,
    total: Annotated[int | None, typer.Option(min=1, max=10**12)] = None,
    plan: Annotated[Path | None, typer.Option(metavar="PLAN")] = None,
    prices: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    wage: float | None = None,
    keystrokes_per_minute: float = KEYSTROKES_PER_MINUTE,
    seconds_per_look: float | None = None,
    protocol: Literal["documented", "published"] = "documented",
    plot: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    json_out: JsonOut = None,
) -> None:
    """What the whole collection will cost: work and money.

    For each model if a person checks every value, and for the rule of hdbench trust, with which
    nobody looks at values that the models agree on. All with 90% intervals. With a plan of single
    values, what its decision leaves to do.

    Args:
        paths: What models answered to those items of the collection that were checked, the one that
            is preferred first. Before them, the benchmark with these items; run folders name it.
            With a plan of single values, no runs, and the benchmark only if it is not the one that
            the plan names.
        total: How many items the whole collection has; by default what the benchmark says that it
            is a sample of.
        plan: A plan of hdbench trust plan whose values were read, or whose sample was checked, for
            these runs: what its decision leaves to do.
        prices: A YAML file with a price for each model: input and output (US dollars per million
            tokens) or per_hour (US dollars for its hardware), and date and source. Nothing is
            fetched.
        wage: What an hour of a person costs, in US dollars.
        keystrokes_per_minute: How fast a person types: 0.28 s for each key, an average typist of
            the keystroke-level model (Card, Moran and Newell, 1980). An assumption: measure it.
        seconds_per_look: How long a person looks at a value: by default 2.7, twice 1.35 s of mental
            preparation in the same model, to find it on the image and to compare it. An assumption:
            measure it. With a plan of single values, by default as measured while they were read.
        protocol: The ground truths and rules: documented, or as they were published.
        plot: Plot the costs against the errors that remain, to this .svg or .png.
        json_out: Write everything to this file.
    """
    if json_out:
        check_replaceable(json_out)
    if plan and is_value_plan(plan):
        if total or prices or plot:
            raise HdbenchError(
                "{place}: draws single values: leave out --total, --prices and --plot", place=plan
            )
        _forecast_values(plan, paths or [], json_out, wage=wage, seconds=seconds_per_look)
        return
    if not paths:
        raise HdbenchError("name the runs: hdbench forecast [BENCHMARK] RUN…")
    if plot:
        with needed("plots", "plots need"):
            from hdbench.output.report.forecast_plot import (  # noqa: PLC0415
                check_plot,
                write_forecast_plot,
            )
        check_plot(plot)
    options = ForecastOptions(
        total=total,
        pace=Pace(
            keystrokes_per_minute,
            SECONDS_PER_LOOK if seconds_per_look is None else seconds_per_look,
        ),
        wage=wage,
        prices=read_prices(prices) if prices else None,
        plan=plan,
        protocol=protocol,
    )
    named, runs = split_benchmark(paths)
    benchmark = required_benchmark(named, runs)
    forecast = forecast_of(load_benchmark(benchmark), runs, options)
    if json_out:
        write_json(json_out, forecast.model_dump(mode="json"))
    if plot:
        write_forecast_plot(plot, forecast, current_language())
    print_forecast(Console(), forecast)
    for path in filter(None, (json_out, plot)):
        typer.echo(escaped(str(path)))


def _forecast_values(
    plan_file: Path,
    paths: list[Path],
    json_out: Path | None,
    *,
    wage: float | None,
    seconds: float | None,
) -> None:
    """Forecast by a plan of single values."""
    plan = read_plan(plan_file)
    assert isinstance(plan, ValuePlan)  # noqa: S101  the caller looked
    named, *others = [str(path) for path in paths] or [plan.benchmark]
    if others:
        raise HdbenchError(
            "{place}: draws single values, and knows its runs: name only the benchmark, or nothing",
            place=plan_file,
        )
    decision = decide_by_values(plan, load_benchmark(named), plan_file)
    work = value_forecast(decision, seconds=seconds, wage=wage)
    if json_out:
        write_json(json_out, work.model_dump(mode="json"))
    print_value_forecast(Console(), work)
    if json_out:
        typer.echo(escaped(str(json_out)))


def print_value_forecast(console: Console, work: ValueForecast) -> None:
    """Print what a decision by single values leaves to do.

    Args:
        console: the terminal.
        work: the work.
    """
    first, *others = forecast_sentences(work, current_language())
    print_line(console, first, style="bold")
    for line in others:
        print_line(console, line)


def print_forecast(console: Console, forecast: Forecast) -> None:
    """Print the cost of each model, the work that the rule leaves, and notes.

    Args:
        console: the terminal.
        forecast: the forecast.
    """
    title = localized(
        "Forecast for {total:,} items from {items:,} of {benchmark}",
        total=forecast.total,
        items=forecast.items,
        benchmark=printable(forecast.benchmark).plain,
    )
    console.print(Text(title), style="bold")
    for model in forecast.models:
        print_line(console, model_sentence(forecast, model, current_language()))
    for line in rule_sentences(forecast, current_language()):
        print_line(console, line)
    console.print()
    _print_models(console, forecast)
    if any(_says_use(model) for model in forecast.models):
        _print_money(console, forecast)
    if forecast.rule:
        _print_rule(console, forecast)
    for warned in forecast.notices:
        print_marked(console, "note: ", warning_in_words(warned, current_language()))
    print_line(console, pace_sentence(forecast, current_language()), style="dim")
    method = Message(forecast.method)
    line = Message("intervals: {level:.0%}, {method}", level=forecast.level, method=method)
    print_line(console, line, style="dim")


def _print_models(console: Console, forecast: Forecast) -> None:
    heads = ("need no edit", "edits", "keystrokes", "minutes")
    table = localized_table("Every value checked: an item on average", "model", right=heads)
    for model in forecast.models:
        cells = (
            _interval(model.untouched.per_item.times(100), " %", 1),
            _interval(model.edits.per_item),
            _interval(model.keystrokes.per_item, digits=1),
            _interval(model.hours.per_item.times(60)),
        )
        table.add_row(printable(model.model), *cells)
    console.print(table)


def _print_money(console: Console, forecast: Forecast) -> None:
    heads = ["million\ntokens in", "million\ntokens out", "machine\nhours", "US dollars"]
    table = localized_table(
        Message("All {count:,} items", count=forecast.total), "model", right=heads
    )
    for model in forecast.models:
        cells = [
            _whole(model.input_tokens, 1e-6),
            _whole(model.output_tokens, 1e-6),
            _whole(model.seconds, 1 / 3600),
            _whole(model.usd),
        ]
        table.add_row(printable(model.model), *cells)
    console.print(table)


def _print_rule(console: Console, forecast: Forecast) -> None:
    """Print the remaining work, one line per threshold: with intervals, it would be too wide."""
    title = Message(
        "By the plan" if forecast.promise else "Accepted from a trust score on: no promise"
    )
    heads = ["accepted", "looks", "no\nedit", "hours", "wrong\nleft", "by\nthreshold"]
    if forecast.wage is not None:
        heads.append("wages,\nUS dollars")
    table = localized_table(title, right=("score", *heads))
    for step in forecast.rule:
        cells = [
            number(step.taken_over, ".1%"),
            number(step.looks.per_item.value, ".2f"),
            number(step.no_edit["letter"].per_item.value, ".1%"),
            _value(step.hours.whole, decimals=True),
            _value(step.remaining["letter"].whole),
            _value(step.remaining["threshold"].whole),
        ]
        if step.wages is not None:
            cells.append(_value(step.wages.whole, decimals=True))
        score = localized("none") if step.threshold is None else number(step.threshold, "g")
        table.add_row(score, *cells)
    console.print(table)
    about = Message(
        "looks: values of an item that a person looks at; no edit: items of which none of these is "
        "wrong; wrong left: values that are accepted and wrong to the letter (intervals: --json)"
    )
    print_line(console, about)
    if forecast.rule_usd is not None:
        usd = _value(Estimate(forecast.rule_usd), decimals=True)
        print_line(console, Message("all models together: {usd} US dollars", usd=usd))
    console.print()


def _interval(estimate: Estimate, unit: str = "", digits: int = 2) -> str:
    value = number(estimate.value, f".{digits}f") + unit
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value}\n{ends(estimate.low, estimate.high, form=f'.{digits}f')}"


def _says_use(model: ModelForecast) -> bool:
    quantities = (model.input_tokens, model.output_tokens, model.seconds)
    return model.usd is not None or any(quantity.items for quantity in quantities)


def _value(estimate: Estimate, *, decimals: bool = False) -> str:
    return shown(Estimate(estimate.value), current_language(), decimals=decimals)


def _whole(known: Known | None, unit: float = 1.0) -> str:
    if known is None or known.amount is None:
        return localized("not known")
    return _stacked(known.amount.whole.times(unit))


def _stacked(estimate: Estimate) -> str:
    return shown(estimate, current_language(), decimals=True).replace(" (", "\n").removesuffix(")")
