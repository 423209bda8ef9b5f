"""The view before anything is scored: an item of the benchmark next to an answer to it."""

import base64
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.display.differences import TextPart
from hdbench.common.pictures import thumbnail
from hdbench.errors import HdbenchError
from hdbench.evaluation.error_counts import item_errors
from hdbench.evaluation.items import ScoreCollector, prepare
from hdbench.evaluation.run_answers import RunAnswers
from hdbench.report.items import MAX_FIELD, ItemView, ShownField, Value, cut, item_views
from hdbench.scoring.flatten import flatten
from hdbench.space.context import SpaceContext
from hdbench.space.views.example import MADE, write_example
from hdbench.space.views.summary import render

MAX_LOOKED_AT = 20
"""Number of items searched for one whose answer is partly right."""

MAX_ROWS = 6
MAX_ERRORS = 4

MAX_VALUE = 90
"""Maximum characters shown of a value, around its first difference."""

MAX_TEXT = 700
"""Maximum characters of the text of an item that has one instead of images."""

WIDTHS = {"small": 720, "large": 1600}
"""Widths of the picture in the page, and on its own, in pixels."""

_BEFORE = 30  # characters before the first difference
_KEEP = "public, max-age=3600"


@dataclass(frozen=True)
class FirstLook:
    """An item and an answer to it.

    Attributes:
        picture: its first image or PDF; None if it has none.
        text: its text, if it has one instead.
        rows: fields in the truth's order, the wrong ones among them.
        wrong: the number of wrong values.
        values: the number of values.
        made: whether the answer is made from the ground truth.
    """

    picture: Path | None
    text: str
    rows: list[ShownField]
    wrong: int
    values: int
    made: bool


def first_look(benchmark: Benchmark) -> FirstLook | None:
    """Return the first item that the benchmark's example answers with an error.

    A partly right answer comes before an entirely wrong one. None if the example has no
    answer with an error among the first items.

    Raises:
        HdbenchError: the benchmark's metadata or its example cannot be read.
    """
    metric, best = benchmark.spec.make_metric(), None
    with TemporaryDirectory() as folder:
        example = write_example(benchmark, Path(folder))
        with RunAnswers.opened(example, benchmark) as run:
            answers = run.answers(run.models[0])
            for item in islice(benchmark.items(), MAX_LOOKED_AT):
                prepared = prepare(metric, item.ground_truth, item.id)
                scored = ScoreCollector(metric).add(answers.take(item.id), prepared)
                if scored is None:
                    continue
                details = scored.details()
                [view] = item_views([details], item_errors([details], metric), metric)
                if view.errors and not view.is_lost and (view.others or best is None):
                    best = _shown(benchmark, view, item.ground_truth, made=example.name == MADE)
                if best is not None and view.others:
                    break
    return best


class FirstLooks:
    """The first look of each benchmark, made when it is first needed.

    Args:
        context: the Space's context.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._look = cache(self._found)
        self._image = cache(self._made)
        self._titles = cache(lambda name, language: context.benchmark(name).field_titles(language))

    def html(self, benchmark: str, language: str) -> str:
        """Return a benchmark's first look as HTML: untrusted text is escaped.

        Args:
            benchmark: its name.
            language: the interface's language.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        loaded = self._context.benchmark(benchmark)
        look = self._look(benchmark)
        return render(
            "first_look.html",
            language,
            name=loaded.spec.name,
            title=loaded.spec.title_in(language),
            look=look,
            titles=look and self._titles(benchmark, language),
        )

    @property
    def route(self) -> Route:
        """Return the route of the pictures: `first-look/<benchmark>/small`."""
        return Route("/first-look/{benchmark}/{size}", self._picture)

    def _found(self, benchmark: str) -> FirstLook | None:
        try:
            return first_look(self._context.benchmark(benchmark))
        except HdbenchError:  # scoring will say why
            return None

    def _made(self, benchmark: str, size: str) -> bytes | None:
        look = self._look(benchmark)
        if look is None or look.picture is None:
            return None
        try:
            uri = thumbnail(look.picture, width=WIDTHS[size])
        except HdbenchError:
            return None
        return None if uri is None else base64.b64decode(uri.partition(",")[2])

    def _picture(self, request: Request) -> Response:
        benchmark, size = request.path_params["benchmark"], request.path_params["size"]
        if benchmark in self._context.benchmarks and size in WIDTHS:
            data = self._image(benchmark, size)
            if data is not None:
                return Response(data, media_type="image/webp", headers={"Cache-Control": _KEEP})
        return PlainTextResponse("there is no such picture", 404)


def _shown(benchmark: Benchmark, view: ItemView, truth: dict[str, Any], *, made: bool) -> FirstLook:
    content = benchmark.shown({view.id})[view.id]
    wrong = len(view.errors) + view.more_errors
    return FirstLook(
        picture=next((path for path in content.media if path.is_file()), None),
        text=cut(content.text, MAX_TEXT),
        rows=_rows(view.errors, view.others, truth),
        wrong=wrong,
        values=wrong + len(view.others) + view.more_others,
        made=made,
    )


def _rows(
    errors: list[ShownField], others: list[ShownField], truth: dict[str, Any]
) -> list[ShownField]:
    """Return the wrong fields, and right ones as far as there is room, in the truth's order."""
    alone = [row for row in errors if _is_alone(row)]
    wrong = [row for row in errors if not _is_alone(row)][: MAX_ERRORS - 1] + alone[:1]
    right = [row for row in others if row.reference.parts][: MAX_ROWS - len(wrong)]
    # Missing and invented fields come last: they have nothing to compare.
    order = {cut(path, MAX_FIELD): position for position, path in enumerate(flatten(truth))}
    rows = sorted(
        [*wrong, *right], key=lambda row: (_is_alone(row), order.get(row.field, len(order)))
    )
    return [_short(row) for row in rows]


def _is_alone(row: ShownField) -> bool:
    """Return whether only one of its values exists."""
    return not (row.reference.parts and row.prediction.parts)


def _short(row: ShownField) -> ShownField:
    """Return a row with its values cut to the beginning, or around their first difference."""
    start = 0
    if row.error and not _is_alone(row) and not row.reference.parts[0].differs:
        shared = len(row.reference.parts[0].text)
        start = shared - _BEFORE if shared > MAX_VALUE // 2 else 0
    return replace(
        row, reference=_window(row.reference, start), prediction=_window(row.prediction, start)
    )


def _window(value: Value, start: int) -> Value:
    """Return at most `MAX_VALUE` characters of a value, from a position on."""
    parts, position = [], 0
    for part in value.parts:
        text = part.text[max(0, start - position) : max(0, start + MAX_VALUE - position)]
        position += len(part.text)
        if text:
            parts.append(TextPart(text, part.differs))
    if start and parts:
        parts[0] = parts[0]._replace(text="…" + parts[0].text)
    if position > start + MAX_VALUE or value.more:
        parts.append(TextPart("…", differs=False))
    return value._replace(parts=parts, more=0)
