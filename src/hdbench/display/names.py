"""The names of dots, put where they cover neither dots nor each other."""

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from hdbench.display.style import GREY, Plot

_DOT = 3.2  # points from a dot's middle that a name keeps away
_STEPS = 7
_STEP = 8.0  # points from one ring of places around a dot to the next
_NEAR = 12.0  # points from which on a line joins a name to its dot


def put_names(plot: Plot, axes: Axes, named: Sequence[tuple[str, float, float]]) -> list[str]:
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
