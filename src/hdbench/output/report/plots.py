"""A result as plots, PNG and SVG, for a paper or a talk."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from hdbench.answers.answer import LOST
from hdbench.common.texts import decimal
from hdbench.output.report.plot_parts import (
    BLUE,
    DPI,
    GREY,
    LOCK,
    ORANGE,
    SETTINGS,
    as_bytes,
    short,
)
from hdbench.output.report.rendering import TEXTS
from hdbench.results.result import Result
from hdbench.scoring.analysis.error_classes import ERROR_CLASSES
from hdbench.statistics.bootstrap import Interval

MAX_BARS = 30
"""Maximum number of fields shown: a model can invent any number."""

_MAX_TITLE = 64
_BINS = 20
# Okabe and Ito's colours, which the colour-blind can tell apart; a hatch tells each from its
# neighbours when printed in grey.
_LOOKS = dict(
    zip(
        ERROR_CLASSES,
        (
            ("#FFFFFF", ""),
            ("#3A3A3A", ""),
            ("#F0E442", ""),
            ("#F0E442", "...."),
            ("#F0E442", "////"),
            ("#56B4E9", "\\\\\\\\"),
            ("#009E73", ""),
            ("#E69F00", ""),
            ("#E69F00", "xxxx"),
            ("#CC79A7", "----"),
            ("#56B4E9", "||||"),
            ("#9A9A9A", "////"),
        ),
        strict=True,
    )
)


def plots(
    result: Result, errors: Mapping[str, Any] | None = None, language: str = "en"
) -> dict[str, bytes]:
    """Return the plots `fields`, `errors` and `items`, each as PNG and as SVG.

    `fields`: the F1 or accuracy of each field, or for a metric without fields its rates; `errors`:
    the errors of the answered items by field and class; `items`: how many items have which figure,
    with the headline and its 95 % interval. The same result gives the same bytes. An SVG needs no
    fonts. If there are more than `MAX_BARS` fields, those that are most frequent in the ground
    truth are shown.

    Args:
        result: a result with details.
        errors: its errors by class, if it did not keep what became of each item.
        language: that of the texts in them, one of `hdbench.common.texts.LANGUAGES`.

    Returns:
        `fields.png` → content, and so on.
    """
    classes = (result.errors_by_class if errors is None else errors)["fields"]
    interval = result.intervals.figures.get(result.headline)
    with LOCK, style.context(["default", SETTINGS]):
        figures = {
            "fields": _fields(result, language),
            "errors": _errors(result, classes, language),
            "items": _items(result, interval, language),
        }
        for figure in figures.values():
            _lay_out(figure)
        return {
            f"{name}.{kind}": as_bytes(figure, kind)
            for name, figure in figures.items()
            for kind in ("png", "svg")
        }


def _lay_out(figure: Figure) -> None:
    """Lay out the figure once: otherwise saving would do it again for each format."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # with "none", a save would draw twice


def _fields(result: Result, language: str) -> Figure:
    say = partial(TEXTS.text, language=language)
    fields = result.field_rates()
    if fields:
        name = result.metric.field_figures[0].name
        label = say("plot_each_field", figure=_figure_name(name, language))
        names = sorted(fields, key=lambda field: -_support(fields[field]))[:MAX_BARS]
        label += f"{_more(fields, language)}\n{say(f'plot_counted_{name}')}"
        bars = [
            (fields[field][name], f"{short(field)} ({_support(fields[field])})") for field in names
        ]
    else:
        rates = result.rates
        label = say("plot_rate_axis")
        bars = [
            (rates[rate.name], rate.name)
            for rate in result.metric.figures
            if rate.is_rate and rate.kind == "rate" and rates.get(rate.name) is not None
        ]
    bars.sort(key=lambda bar: bar[0])
    subject = "fields" if fields else "rates"
    figure, axes = _figure(result, subject, len(bars), language)
    values = [value for value, _ in bars]
    _bar_labels(axes, [name for _, name in bars])
    axes.barh(range(len(values)), values, color=BLUE, height=0.7)
    for index, value in enumerate(values):
        label_of_value = decimal(f"{value:.3f}", language)
        axes.text(value + 0.008, index, label_of_value, va="center", fontsize=9)
    axes.set_xlim(0, 1.09)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.xaxis.set_major_formatter(_tenths(language))
    axes.set_xlabel(label)
    axes.grid(axis="x", color="#DDDDDD")
    return figure


def _support(rates: Mapping[str, Any]) -> int:
    """Return how often the ground truth has a field, or the items of a kind that has it."""
    if "items" in rates:
        return int(rates["items"])
    return int(rates["true_positives"] + rates["false_negatives"])


def _errors(result: Result, fields: Mapping[str, Mapping[str, int]], language: str) -> Figure:
    say = partial(TEXTS.text, language=language)
    ordered = sorted(fields.items(), key=lambda field: -sum(field[1].values()))[:MAX_BARS][::-1]
    figure, axes = _figure(result, "errors", len(ordered), language)
    totals: Counter[str] = Counter()
    for _, of_field in ordered:
        totals.update(of_field)
    ends = np.zeros(len(ordered))
    most = max((sum(of_field.values()) for _, of_field in ordered), default=1)
    for name in ERROR_CLASSES:
        if not totals[name]:
            continue
        counts = np.array([of_field.get(name, 0) for _, of_field in ordered])
        bars = np.flatnonzero(counts)
        colour, hatch = _LOOKS[name]
        axes.barh(
            bars,
            counts[bars],
            left=ends[bars],
            height=0.7,
            facecolor=colour,
            hatch=hatch,
            edgecolor="#222222",
            linewidth=0.6,
            label=f"{say(f'error_{name}')} ({totals[name]})",
        )
        ends += counts
    for index, total in enumerate(ends):
        axes.text(total + most * 0.008, index, f"{int(total)}", va="center", fontsize=9)
    _bar_labels(axes, [short(field) for field, _ in ordered])
    axes.set_xlim(0, most * 1.06)
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.set_xlabel(f"{say('plot_error_count')}{_more(fields, language)}")
    axes.grid(axis="x", color="#DDDDDD")
    if ordered:
        _legend(figure, columns=4)
    else:
        axes.text(0.5, 0.5, say("plot_no_errors"), transform=axes.transAxes, ha="center")
    return figure


def _items(result: Result, interval: Interval | None, language: str) -> Figure:
    say = partial(TEXTS.text, language=language)
    metric = result.metric
    figure, axes = _figure(result, "items", 10, language)
    values = np.array(result.statistics[metric.item_figure], np.float64)
    lost = np.array([status in LOST for status in result.statuses])
    groups = {
        say("plot_answered"): (values[~lost], BLUE, ""),
        say("plot_lost"): (values[lost], ORANGE, "////"),
    }
    shown = {f"{name} ({len(group[0])})": group for name, group in groups.items() if len(group[0])}
    axes.hist(
        [group for group, _, _ in shown.values()],
        bins=_BINS,
        range=(0, 1),
        stacked=True,
        color=[colour for _, colour, _ in shown.values()],
        hatch=[hatch for _, _, hatch in shown.values()],
        edgecolor="white",
        label=list(shown),
    )
    value = result.rates[result.headline]
    shown_value = decimal(f"{value:.3f}", language)
    label = say("plot_value", figure=result.headline, value=shown_value)
    axes.axvline(value, color="black", linewidth=1.5, linestyle="--", label=label)
    if interval is not None:
        low, high = (decimal(f"{end:.3f}", language) for end in (interval.low, interval.high))
        label = say("plot_interval", low=low, high=high)
        axes.axvspan(
            interval.low, interval.high, facecolor=GREY, linewidth=0, zorder=0.5, label=label
        )
    axes.set_xlim(-0.01, 1.01)
    axes.xaxis.set_major_formatter(_tenths(language))
    axes.yaxis.set_major_locator(_whole_numbers())
    name = _figure_name(metric.item_figure, language)
    axes.set_xlabel(say("plot_of_an_item", figure=name))
    axes.set_ylabel(say("plot_number_of_items"))
    axes.grid(axis="y", color="#DDDDDD")
    _legend(figure, columns=2)
    return figure


def _figure_name(name: str, language: str) -> str:
    """Return how a figure of an item or field is called in a plot."""
    if name == "fuzzy":
        return TEXTS.text("plot_similarity", language)
    return "F1" if name == "f1" else name


def _tenths(language: str) -> FuncFormatter:
    """Return how the ends and the fifths of an axis from 0 to 1 are written."""
    return FuncFormatter(lambda value, _: decimal(f"{value:.1f}", language))


def _figure(result: Result, subject: str, bars: int, language: str) -> tuple[Figure, Axes]:
    """Return a figure with its title, and a height for so many bars."""
    figure = Figure(figsize=(9, 1.7 + 0.27 * max(bars, 3)), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    name = f"{result.dataset.benchmark} {result.dataset.dataset_version}".strip()
    scored = TEXTS.text(
        "plot_scored",
        language,
        subject=TEXTS.text(f"plot_subject_{subject}", language),
        name=short(name or result.metric.name, _MAX_TITLE),
        protocol=result.metric.protocol,
    )
    run = result.run.run
    run_label = ", ".join(
        short(part, _MAX_TITLE // (1 + bool(run))) for part in (result.model, run) if part
    )
    lines = [part for part in (scored, run_label) if part]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=11, parse_math=False)
    return figure, axes


def _legend(figure: Figure, columns: int) -> None:
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def _whole_numbers() -> MaxNLocator:
    return MaxNLocator(integer=True, steps=[1, 2, 5, 10])


def _bar_labels(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(labels) - 0.4)


def _more(fields: Mapping[str, Any], language: str) -> str:
    more = len(fields) - MAX_BARS
    return f"; {TEXTS.text('plot_more_fields', language, count=more)}" if more > 0 else ""
