"""Values against what they cost, with names that do not cover each other."""

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from hdbench.common.display.style import (
    BLUE,
    GREY,
    ORANGE,
    TWO_COLUMNS,
    Plot,
    TickNumbers,
    finished,
    label_below,
    new_plot,
    paper_style,
    short,
)
from hdbench.common.display.words import (
    Cost,
    Dot,
    Point,
    axis_label,
    known,
    listed,
    row_in_words,
    say,
)
from hdbench.common.texts import decimal

_WIDE = 20
"""From this ratio of the highest to the lowest cost on, the axis is logarithmic."""

_FEW_DECADES = 100
_HEIGHT = 0.62  # of the width
_LEAST_HEIGHT = 2.9  # inches
_MAX_NAME = 28

_DOT = 3.2  # points from a dot's middle that a name keeps away
_STEPS = 7
_STEP = 8.0  # points from one ring of places around a dot to the next
_NEAR = 12.0  # points from which on a line joins a name to its dot


def scatter(
    points: Sequence[Point],
    *,
    figure: str,
    cost: Cost,
    higher_is_better: bool = True,
    title: str = "",
    line: Dot | None = None,
    level: float = 0.95,
    language: str = "en",
    width: float = TWO_COLUMNS,
) -> Plot:
    """Draw values against price or seconds, with the line of those that none beats in both.

    That line, the Pareto front, goes in steps: between two models there is none to be had. The axis
    of costs is logarithmic if the highest is more than 20 times the lowest. A name without room is
    left out; `Plot.alt` has all.

    Args:
        points: the values; those whose cost is not known are named below.
        figure: the name of what is drawn.
        cost: what it is drawn against: US dollars per 1,000 items, or seconds per item.
        higher_is_better: the direction of the values; lower costs are always better.
        title: the title; none if it is empty.
        line: a value that is drawn at all costs, with its label, such as what people reach.
        level: the nominal coverage of the intervals.
        language: one of `hdbench.common.texts.LANGUAGES`.
        width: the width in inches.
    """
    shown = [
        point
        for point in points
        if (x := known(point.x)) is not None and x >= 0 and known(point.value) is not None
    ]
    left_out = [point for point in points if point not in shown]
    best = pareto(shown, higher_is_better=higher_is_better)
    with paper_style():
        plot, axes = new_plot(width, max(_HEIGHT * width, _LEAST_HEIGHT), title)
        _costs(axes, [point.x or 0.0 for point in shown], language)
        axes.yaxis.set_major_formatter(TickNumbers(language))
        axes.grid()
        axes.margins(x=0.06, y=0.08)
        _points(axes, shown, best)
        if line is not None and (reached := known(line.value)) is not None:
            _line(axes, line, reached)
        if len(best) > 1:
            front = say(f"pareto_{cost}", language)
            _front(axes, best, front)
        subject = axis_label(
            figure,
            language,
            level=level if any(point.interval for point in shown) else None,
            higher_is_better=higher_is_better,
        )
        axes.set_ylabel(subject)
        costs = f"{say(cost, language)}, {say('costs_less', language)}"
        below = [costs]
        if left_out:
            names = ", ".join(short(point.label, _MAX_NAME) for point in left_out)
            below.append(say(f"unknown_{cost}", language, count=len(left_out), names=names))
        label_below(plot, "\n".join(below))
        said = [
            row_in_words(
                f"{short(point.label)} ({decimal(f'{point.x:.4g}', language)}):",
                point.value,
                point.interval,
                language,
            )
            for point in shown
        ]
        finished(plot, listed(f"{subject} / {costs}", said, language))
        ordered = sorted(shown, key=lambda point: point not in best)
        _put_names(plot, axes, [(short(p.label, _MAX_NAME), p.x or 0.0, p.value) for p in ordered])
        return plot


def pareto(points: Sequence[Point], *, higher_is_better: bool = True) -> list[Point]:
    """Return the points that no other beats in value or cost without losing in the other.

    Args:
        points: points with known costs.
        higher_is_better: the direction of the values.

    Returns:
        The points, the cheapest first.
    """

    def gain(point: Point) -> float:
        return point.value if higher_is_better else -point.value

    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x or 0.0, -gain(point), point.label)):
        last = front[-1] if front else None
        if (
            last is None
            or gain(point) > gain(last)
            or (point.x, point.value) == (last.x, last.value)
        ):
            front.append(point)
    return front


def _costs(axes: Axes, costs: Sequence[float], language: str) -> None:
    """Choose the scale of the costs."""
    above = [cost for cost in costs if cost > 0]
    if not above or max(above) < _WIDE * min(above):
        axes.xaxis.set_major_formatter(TickNumbers(language))
        return
    if len(above) < len(costs):  # what is free has no logarithm
        axes.set_xscale("symlog", linthresh=min(above), linscale=0.4)
    else:
        axes.set_xscale("log")
        few = max(above) < _FEW_DECADES * min(above)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: decimal(f"{x:g}", language)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _points(axes: Axes, points: Sequence[Point], best: Sequence[Point]) -> None:
    """Draw the dots; those without an interval are open if others have one."""
    some = any(point.interval for point in points)
    for point in points:
        x = point.x or 0.0
        color = ORANGE if point in best else BLUE
        if point.interval:
            axes.plot([x, x], point.interval, color=color, linewidth=0.8, alpha=0.6)
        face = "white" if some and not point.interval else color
        axes.plot(
            [x],
            [point.value],
            "o",
            color=color,
            markerfacecolor=face,
            markersize=4.5,
            zorder=3,
        )


def _line(axes: Axes, line: Dot, value: float) -> None:
    if line.interval:
        axes.axhspan(*line.interval, facecolor=GREY, alpha=0.15, linewidth=0, zorder=0.4)
    axes.axhline(value, color=GREY, linestyle=(0, (4, 2)), zorder=1)
    axes.annotate(
        short(line.label, _MAX_NAME),
        (0, value),
        (3, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        color=GREY,
    )


def _front(axes: Axes, best: Sequence[Point], label: str) -> None:
    """Draw the steps, from the cheapest point to the right edge."""
    limits = axes.get_xlim(), axes.get_ylim()
    values = [point.value for point in best]
    axes.plot(
        [*(point.x or 0.0 for point in best), limits[0][1]],
        [*values, values[-1]],
        drawstyle="steps-post",
        color=ORANGE,
        label=label,
        zorder=1.5,
    )
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), borderpad=0.2)


def _put_names(plot: Plot, axes: Axes, named: Sequence[tuple[str, float, float]]) -> list[str]:
    """Write the name of each dot beside it, or farther away with a line to it.

    Names keep off lines and intervals where they can.

    Args:
        plot: the figure.
        axes: its axes, whose limits and size are as they will be saved.
        named: the name and the place of each dot, those that matter most first.

    Returns:
        The names that have no room.
    """
    renderer = FigureCanvasAgg(plot).get_renderer()  # type: ignore[no-untyped-call]
    points = plot.dpi / 72
    dots = [tuple(axes.transData.transform((x, y))) for _, x, y in named]
    near = _DOT * points
    taken = [Bbox([[x - near, y - near], [x + near, y + near]]) for x, y in dots]
    paths = [line.get_transform().transform_path(line.get_path()) for line in axes.get_lines()]
    texts = [text.get_window_extent(renderer) for text in axes.texts]
    frame = axes.get_window_extent(renderer)
    left_out = []
    for (name, *values), (x, y) in zip(named, dots, strict=True):
        place = values[0], values[1]
        if not name:
            continue
        text = axes.annotate(name, place, (0, 0), textcoords="offset points", va="center", size=6.5)
        size = text.get_window_extent(renderer)
        free = []
        for dx, dy in _offsets():
            box = Bbox.from_bounds(
                x + dx * points - (size.width if dx < 0 else size.width / 2 if dx == 0 else 0),
                y + dy * points - size.height / 2,
                size.width,
                size.height,
            )
            if _is_inside(frame, box) and not box.count_overlaps([*taken, *texts]):
                free.append((dx, dy, box))
        if not free:
            text.remove()
            left_out.append(name)
            continue
        clear = (it for it in free if not any(path.intersects_bbox(it[2], False) for path in paths))
        dx, dy, box = next(clear, free[0])
        taken.append(box)
        text.set_position((dx, dy))
        text.set_horizontalalignment("right" if dx < 0 else "center" if dx == 0 else "left")
        if math.hypot(dx, dy) > _NEAR:
            nearest = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
            end = axes.transData.inverted().transform(nearest)
            axes.plot(*zip(place, end, strict=True), color=GREY, linewidth=0.4, zorder=1.2)
    return left_out


def _offsets() -> Iterator[tuple[float, float]]:
    """Yield places around a dot in points, the best first."""
    yield from ((5, 0), (-5, 0), (4, 6), (4, -6), (-4, 6), (-4, -6), (0, 8), (0, -8))
    for ring in range(1, _STEPS + 1):
        far = 5 + ring * _STEP
        for across in (1, -1):
            for up in (0.5, -0.5, 1, -1, 0.2, -0.2):
                yield across * far * (1 if abs(up) < 1 else 0.4), far * up
        yield 0, far
        yield 0, -far


def _is_inside(frame: Bbox, box: Bbox) -> bool:
    return all(frame.contains(x, y) for x, y in (box.min, box.max))
