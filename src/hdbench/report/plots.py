"""A result as plots, PNG and SVG, for a paper or a talk."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from hdbench.answers.answer import LOST
from hdbench.benchmarks.titles import Titles
from hdbench.common.display.plots import Dot, dots
from hdbench.common.display.style import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    TEXT,
    TWO_COLUMNS,
    YELLOW,
    Plot,
    TickNumbers,
    finished,
    new_plot,
    paper_style,
    short,
)
from hdbench.common.display.words import axis_label
from hdbench.evaluation.result import Result
from hdbench.report.rendering import TEXTS
from hdbench.scoring.error_classes import ERROR_CLASSES
from hdbench.scoring.metric import figure_heading, figure_title
from hdbench.statistics.bootstrap import Interval

MAX_BARS = 30
"""Maximum number of fields shown: a model can invent any number."""

_MAX_TITLE = 64
_BINS = 20
_ROW, _AROUND = 0.17, 1.2  # inches, of a bar, and of the axis and the legend
# A hatch tells each color from its neighbours when printed in grey.
_LOOKS = dict(
    zip(
        ERROR_CLASSES,
        (
            ("#FFFFFF", ""),
            (DARK, ""),
            (YELLOW, ""),
            (YELLOW, "...."),
            (YELLOW, "////"),
            (SKY, "\\\\\\\\"),
            (GREEN, ""),
            (ORANGE, ""),
            (ORANGE, "xxxx"),
            (PURPLE, "----"),
            (SKY, "||||"),
            ("#9A9A9A", "////"),
        ),
        strict=True,
    )
)


def plots(result: Result, language: str = "en", titles: Titles = str) -> dict[str, bytes]:
    """Return the plots `fields`, `errors` and `items`, as SVG.

    `fields`: the F1 or accuracy of each field, or for a metric without fields its rates, with those
    intervals that they have; `errors`: the errors of the answered items by field and class;
    `items`: how many items have which figure, with the headline and its 95% interval. The same
    result gives the same bytes. They need no fonts. If there are more than `MAX_BARS` fields,
    those that are most frequent in the ground truth are shown.

    Args:
        result: a result with details.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.

    Returns:
        `fields.svg` → content, and so on.
    """
    drawn: dict[str, Callable[[], Plot]] = {
        "fields": lambda: _fields(result, language, titles),
        "errors": lambda: _errors(result, language, titles),
        "items": lambda: _items(result, language),
    }
    with paper_style():
        return {f"{name}.svg": draw().bytes_of("svg") for name, draw in drawn.items()}


def _fields(result: Result, language: str, titles: Titles) -> Plot:
    fields = result.field_rates()
    if not fields:
        return dots(
            _rates(result, language),
            figure=_say("plot_rate", language),
            higher_is_better=True,
            title=_title(result, _say("plot_rates", language), language),
            language=language,
            width=TWO_COLUMNS,
        )
    name = result.metric.field_figures[0].name
    counted = "plot_can_have" if name == "accuracy" else "plot_truth"
    shown = sorted(fields, key=lambda field: -_support(fields[field]))[:MAX_BARS]
    rows = [
        Dot(
            titles(field),
            fields[field][name],
            *_ends(result.field_intervals.get(field)),
            note=str(_support(fields[field])),
        )
        for field in shown
    ]
    figure = _say("plot_of_fields", language, figure=figure_title(name, language))
    return dots(
        sorted(rows, key=lambda row: -(row.value or 0)),
        figure=figure + _more(fields, language),
        higher_is_better=True,
        title=_title(result, _say("fields", language), language),
        notes=_say(counted, language),
        language=language,
        width=TWO_COLUMNS,
    )


def _rates(result: Result, language: str) -> list[Dot]:
    """Return the rates of which higher is better, with their intervals, the best first."""
    ends = result.intervals.figures
    rows = []
    for figure in result.metric.figures:
        if figure.is_rate and figure.kind == "rate":
            value = result.rates.get(figure.name)
            title = figure_heading(figure.name, language)
            rows.append(Dot(title, value, *_ends(ends.get(figure.name))))
    return sorted((row for row in rows if row.value is not None), key=lambda row: -(row.value or 0))


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _support(rates: Mapping[str, Any]) -> int:
    """Return how often the ground truth has a field, or the items of a kind that has it."""
    if "items" in rates:
        return int(rates["items"])
    return int(rates["true_positives"] + rates["false_negatives"])


def _errors(result: Result, language: str, titles: Titles) -> Plot:
    fields: Mapping[str, Mapping[str, int]] = result.errors_by_class["fields"]
    ordered = sorted(fields.items(), key=lambda field: -sum(field[1].values()))[:MAX_BARS]
    title = _title(result, _say("plot_all_errors", language), language)
    plot, axes = new_plot(TWO_COLUMNS, _AROUND + _ROW * max(len(ordered), 2), title)
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
        color, hatch = _LOOKS[name]
        axes.barh(
            bars,
            counts[bars],
            left=ends[bars],
            height=0.7,
            facecolor=color,
            hatch=hatch,
            edgecolor=TEXT,
            linewidth=0.5,
            label=f"{_say(f'error_{name}', language)} ({totals[name]})",
        )
        ends += counts
    for index, total in enumerate(ends):
        axes.text(total + most * 0.008, index, f"{int(total)}", va="center_baseline")
    _bar_labels(axes, [short(titles(field)) for field, _ in ordered])
    axes.set_xlim(0, most * 1.06)
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.grid(axis="x")
    label = _say("plot_fewer", language) + _more(fields, language)
    axes.set_xlabel(label)
    if ordered:
        _legend(plot, columns=4)
    else:
        axes.text(0.5, 0.5, _say("plot_no_errors", language), transform=axes.transAxes, ha="center")
    return finished(plot, label)


def _items(result: Result, language: str) -> Plot:
    metric = result.metric
    name = figure_title(metric.item_figure, language)
    plot, axes = new_plot(TWO_COLUMNS, 3.0, _title(result, _say("items", language), language))
    values = np.array(result.statistics[metric.item_figure], np.float64)
    lost = np.array([status in LOST for status in result.statuses])
    groups = {
        "plot_answered": (values[~lost], BLUE, ""),
        "plot_lost": (values[lost], ORANGE, "////"),
    }
    shown = {
        _say(key, language, count=len(group[0])): group
        for key, group in groups.items()
        if len(group[0])
    }
    axes.hist(
        [group for group, _, _ in shown.values()],
        bins=_BINS,
        range=(0, 1),
        stacked=True,
        color=[color for _, color, _ in shown.values()],
        hatch=[hatch for _, _, hatch in shown.values()],
        edgecolor="white",
        label=list(shown),
    )
    mean = _say(
        "plot_mean", language, figure=figure_heading(result.headline, language), value=result.value
    )
    axes.axvline(result.value, color="black", linewidth=1.2, linestyle="--", label=mean)
    interval = result.intervals.figures.get(result.headline)
    if interval is not None:
        label = _say("plot_interval", language, low=interval.low, high=interval.high)
        axes.axvspan(*interval.ends, facecolor=PALE, linewidth=0, zorder=0.5, label=label)
    axes.set_xlim(-0.01, 1.01)
    axes.xaxis.set_major_formatter(TickNumbers(language))
    axes.yaxis.set_major_locator(_whole_numbers())
    axes.set_ylabel(_say("items", language))
    axes.grid(axis="y")
    label = axis_label(
        _say("plot_item", language, figure=name), language, level=None, higher_is_better=True
    )
    axes.set_xlabel(label)
    _legend(plot, columns=2)
    return finished(plot, f"{label}; {mean}")


def _title(result: Result, subject: str, language: str) -> str:
    """Return a title of two lines: what is shown, and of which run."""
    name = f"{result.dataset.benchmark} {result.dataset.dataset_version}".strip()
    benchmark = short(name or result.metric.name, _MAX_TITLE)
    protocol = result.metric.protocol
    run = result.run.run
    most = _MAX_TITLE // (1 + bool(run))
    run_label = ", ".join(short(part, most) for part in (result.model, run) if part)
    scored = _say("plot_title", language, subject=subject, benchmark=benchmark, protocol=protocol)
    return f"{scored}\n{run_label}".strip()


def _say(key: str, language: str, **values: Any) -> str:
    return TEXTS.text(key, language, **values)


def _legend(plot: Plot, columns: int) -> None:
    plot.legend(loc="outside lower center", ncols=columns)


def _whole_numbers() -> MaxNLocator:
    return MaxNLocator(integer=True, steps=[1, 2, 5, 10])


def _bar_labels(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(labels), 1) - 0.4, -0.6)


def _more(fields: Mapping[str, Any], language: str) -> str:
    more = len(fields) - MAX_BARS
    return f"; {_say('plot_more', language, count=more)}" if more > 0 else ""
