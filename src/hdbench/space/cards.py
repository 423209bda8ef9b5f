"""The first screen of a benchmark: three items, and what the best and the worst model read."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.display.differences import TextPart
from hdbench.common.pictures import thumbnail
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.report.items import MAX_FIELD, ItemView, ShownField, Value, cut, item_views
from hdbench.report.leaderboard.boards import Board
from hdbench.report.leaderboard.words import short_name, verdict
from hdbench.scoring.zettel_f1 import flatten
from hdbench.space.context import SpaceContext
from hdbench.space.first_view import MADE, render

CARDS = 3
"""Number of items that are shown."""

MAX_ROWS, MAX_ERRORS = 4, 3
"""Maximum number of an item's fields that are shown, and of wrong ones among them."""

MAX_VALUE = 70
"""Maximum characters shown of a value, around its first difference."""

MAX_TEXT = 400
"""Maximum characters of the text of an item that has one instead of images."""

WIDTHS = {"small": 640, "large": 1600}
"""Widths of a picture in the page, and on its own, in pixels."""

_BEFORE = 20  # characters before the first difference
_KEEP = "public, max-age=3600"


class ReadField(NamedTuple):
    """A field of an item, as the ground truth has it and as each model read it."""

    field: str
    truth: Value
    readings: list[ShownField | None]

    @property
    def is_right_once(self) -> bool:
        """Whether one of the models read the ground truth."""
        return any(reading and not reading.error for reading in self.readings)


@dataclass(frozen=True)
class ReadItem:
    """An item, and what each model read.

    Attributes:
        item: its id.
        has_picture: whether there is a picture of it.
        text: its text, if it has one instead.
        rows: some of its fields, wrong ones among them.
        models: the models' names, the best first.
        wrong: how many values each of them has wrong, and of how many.
    """

    item: str
    has_picture: bool
    text: str
    rows: list[ReadField]
    models: list[str]
    wrong: list[tuple[int, int]]


def cards(benchmark: Benchmark, results: Mapping[str, Result]) -> list[ReadItem]:
    """Return typical items: the last model has something wrong in each, and the first has less.

    Args:
        benchmark: the benchmark.
        results: model → result with details, the best first.
    """
    by_model = [
        {
            view.id: view
            for view in item_views(result.per_item, result.item_errors, result.metric)
            if not view.is_lost
        }
        for result in results.values()
    ]
    if not by_model:
        return []
    told = [
        item
        for item, view in by_model[-1].items()
        if view.errors
        and all(item in views for views in by_model)
        and (len(by_model) == 1 or len(by_model[0][item].errors) < len(view.errors))
    ]
    told.sort(key=lambda item: (not by_model[-1][item].others, len(by_model[0][item].errors) > 1))
    chosen = set(told[:CARDS])
    shown = benchmark.shown(chosen)
    truths = {item.id: item.ground_truth for item in benchmark.items() if item.id in chosen}
    made = []
    for item in sorted(chosen, key=list(truths).index):
        views = [views[item] for views in by_model]
        made.append(
            ReadItem(
                item=item,
                has_picture=any(path.is_file() for path in shown[item].media),
                text=cut(shown[item].text, MAX_TEXT),
                rows=_rows(views, list(flatten(truths[item]))),
                models=list(results),
                wrong=[_wrong(view) for view in views],
            )
        )
    return made


def cards_html(
    benchmark: Benchmark, shown: Sequence[ReadItem], boards: Sequence[Board], language: str
) -> str:
    """Return the first screen of a benchmark as HTML: untrusted text is escaped.

    Args:
        benchmark: the benchmark.
        shown: its cards.
        boards: its leaderboards, the one with most models first.
        language: the interface's language.
    """
    return render(
        "cards.html",
        language,
        name=benchmark.spec.name,
        title=benchmark.spec.title_in(language),
        cards=shown,
        made=any(MADE in card.models for card in shown),
        ranked=bool(boards),
        verdict=" ".join(verdict(boards[0], language)) if boards else "",
        short_name=short_name,
        titles=benchmark.field_titles(language),
    )


def _wrong(view: ItemView) -> tuple[int, int]:
    wrong = len(view.errors) + view.more_errors
    return wrong, wrong + len(view.others) + view.more_others


def _rows(views: Sequence[ItemView], order: Sequence[str]) -> list[ReadField]:
    """Return fields that the last model has wrong, and right ones as far as there is room."""
    by_field = [{row.field: row for row in (*view.errors, *view.others)} for view in views]
    places = {cut(path, MAX_FIELD): place for place, path in enumerate(order)}

    def place(field: str) -> int:
        return places.get(field, len(places))

    last = by_field[-1]
    in_truth = [field for field in last if last[field].reference.parts]
    wrong = [field for field in in_truth if last[field].error and last[field].prediction.parts]
    right = [field for field in in_truth if field not in wrong]
    some = sorted(wrong, key=place)[:MAX_ERRORS]
    some += sorted(right, key=place)[: MAX_ROWS - len(some)]
    rows = []
    for field in sorted(some or list(last)[:MAX_ROWS], key=place):
        readings = [_short(of[field]) if field in of else None for of in by_field]
        rows.append(ReadField(field, _short(last[field]).reference, readings))
    return rows


def _short(row: ShownField) -> ShownField:
    """Return a row with its values cut to the beginning, or around their first difference."""
    start = 0
    parts = row.reference.parts
    if row.error and parts and row.prediction.parts and not parts[0].differs:
        shared = len(parts[0].text)
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


def picture(context: SpaceContext, request: Request) -> Response:
    """Answer a request for a picture of an item: `picture/<benchmark>/<size>?item=…`."""
    name, size = request.path_params["benchmark"], request.path_params["size"]
    item = request.query_params.get("item", "")
    if name in context.benchmarks and size in WIDTHS:
        shown = context.benchmark(name).shown({item}).get(item)
        data = None if shown is None else _thumbnail(shown.media, WIDTHS[size])
        if data is not None:
            return Response(data, media_type="image/webp", headers={"Cache-Control": _KEEP})
    return PlainTextResponse("there is no such picture", 404)


def _thumbnail(media: Sequence[Path], width: int) -> bytes | None:
    first = next((path for path in media if path.is_file()), None)
    try:
        uri = None if first is None else thumbnail(first, width=width)
    except HdbenchError:
        return None
    return None if uri is None else base64.b64decode(uri.partition(",")[2])
