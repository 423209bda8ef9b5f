"""Examples of confused characters, cut from the images of pages whose lines have boxes."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.page_text.boxes import LINE_BOXES, WHOLE, Box, of_column
from hdbench.common.pictures import cut_out
from hdbench.evaluation.error_counts import error_summary
from hdbench.evaluation.result import Result
from hdbench.scoring.error_classes import ConfusionExample

AROUND = 0.08
"""Share of a line that is shown on each side of where a word should be by its letters."""

_PAGE = re.compile(r"\[([0-9]{1,5})\]")


def example_pictures(
    result: Result, benchmark: Benchmark, confusions: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], str]:
    """Return pictures of confused characters in their lines, where it is known where these are.

    Args:
        result: a result with `per_item`.
        benchmark: what was scored; its column `line_boxes` may be hostile.
        confusions: from `Result.errors_by_class`.

    Returns:
        The characters and what they were read as → a picture as a data URI.
    """
    if LINE_BOXES not in benchmark.spec.columns:
        return {}
    summary = error_summary(result.per_item, result.item_errors, result.metric)
    columns, found = benchmark.column(LINE_BOXES), {}
    pairs = [(pair["reference"], pair["prediction"]) for pair in confusions]
    items = {pair: result.ids[summary.examples[pair].item] for pair in pairs}
    media = benchmark.media(set(items.values()))
    for pair, item in items.items():
        picture = _picture(summary.examples[pair], columns.get(item), media.get(item, []))
        if picture is not None:
            found[pair] = picture
    return found


def _picture(example: ConfusionExample, column: object, images: Sequence[Path]) -> str | None:
    """Return a picture of an example; None unless the ground truth has as many lines as boxes."""
    match = _PAGE.search(example.field)
    page = int(match[1]) if match else 0
    boxes, lines = of_column(column).get(page, []), example.truth.split("\n")
    number = example.truth.count("\n", 0, example.place)
    if page >= len(images) or len(boxes) != len(lines) or (box := boxes[number]) is None:
        return None
    in_line = example.place - sum(len(line) + 1 for line in lines[:number])
    return cut_out(images[page], _part(box, lines[number], in_line))


def _part(box: Box, line: str, place: int) -> list[float]:
    """Return the part of a page that has the word at a place in a line."""
    left, top, right, bottom = (end / WHOLE for end in box)
    is_written_rightwards = not any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in line)
    if is_written_rightwards and right - left > bottom - top:
        first = line.rfind(" ", 0, place) + 1
        last = place + len(line[place:].partition(" ")[0])
        width = right - left
        left, right = (
            max(left, left + (first / len(line) - AROUND) * width),
            min(right, left + (last / len(line) + AROUND) * width),
        )
    return [left, top, right, bottom]
