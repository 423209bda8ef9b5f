"""Trust scores from the user's own table, in place of the agreement of runs."""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hdbench.answers.cells import NUMBER, text_of
from hdbench.answers.csv_lines import Line, opened_csv
from hdbench.answers.files import GZIP, ZIP, head_of
from hdbench.answers.ids import match_ids
from hdbench.answers.json_files import read_whole
from hdbench.answers.spreadsheet import read_sheets
from hdbench.common.jsonio import UNIQUE, read_jsonl
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

ID = "id"
SCORE = "score"
"""The column with one score for all values of an item."""

MAX_CELL = 2**20
"""Maximum number of characters in a cell."""

Row = tuple[str, Mapping[str, Any]]
"""The location of a row, and its cells by column."""


class GivenScores:
    """A trust score for each item, or for each field of each item; made by `read_scores`.

    Args:
        rows: id → its row in `scores`.
        scores: one row per item; one column, or one per field. NaN where there is no score.
    """

    def __init__(self, rows: Mapping[str, int], scores: NDArray[np.float64]) -> None:
        self._rows, self._scores = rows, scores

    def of(self, item_id: str, field: int) -> float | None:
        """Return the trust score of a value, 0.0 to 1.0; None if the table has none.

        Args:
            item_id: the item.
            field: the field's position in the plan.
        """
        column = field if self._scores.shape[1] > 1 else 0
        score = float(self._scores[self._rows[item_id], column])
        return None if math.isnan(score) else score

    def by_value(self, fields: int) -> NDArray[np.float64]:
        """Return the scores of all values: a row for each item, and a column for each field."""
        return np.broadcast_to(self._scores, (len(self._scores), fields))


def read_scores(path: Path, fields: Sequence[str], ids: Iterable[str]) -> GivenScores:
    """Return the trust scores in a table: CSV, XLSX or JSON Lines.

    The table has a column `id`, and either one column for each field, named by its path, or one
    column `score` for all fields. A score is a number from 0 to 1; a value without one is never
    accepted.

    Args:
        path: the table.
        fields: the paths of the fields.
        ids: the ids of all items; each must be in the table.

    Raises:
        HdbenchError: the file is unusable, a column or an item is missing or occurs twice, an id is
            unknown, or a score is not a number from 0 to 1; the message says where.
        MissingExtraError: it is XLSX, and python-calamine is not installed.
    """
    rows: dict[str, int] = {}
    scores = array("d")
    columns: Sequence[str] = ()
    with read_errors(path):
        for where, row in _rows(path):
            columns = columns or _columns(row, fields, where)
            item_id = _text(row.get(ID))
            if not item_id:
                raise HdbenchError("{place}: no id", place=where)
            if item_id in rows:
                raise HdbenchError(
                    "{place}: the id {id!r} occurs twice: keep one", place=where, id=item_id[:100]
                )
            rows[item_id] = len(rows)
            for name in columns:
                scores.append(_score(row.get(name), name, where))
    if not rows:
        raise HdbenchError("{place}: has no scores", place=path)
    wanted = list(ids)
    matched = match_ids(rows, wanted)
    if matched.unknown:
        raise HdbenchError(
            "{place}: the benchmark has no id {id!r}{others}: are these scores for another "
            "benchmark?",
            place=path,
            id=matched.unknown[0][:100],
            others=_others(matched.unknown),
        )
    missing = [item_id for item_id in wanted if matched.ids.get(item_id, item_id) not in rows]
    if missing:
        raise HdbenchError(
            "{place}: {count:,} of {of:,} items have no row, such as {first!r}: add them, with an "
            "empty cell where there is no score",
            place=path,
            count=len(missing),
            of=len(wanted),
            first=missing[0],
        )
    table = np.frombuffer(scores).reshape(len(rows), len(columns))
    if matched.ids:
        rows = {item_id: rows[matched.ids.get(item_id, item_id)] for item_id in wanted}
    return GivenScores(rows, table)


def _columns(row: Mapping[str, Any], fields: Sequence[str], where: str) -> Sequence[str]:
    """Return the columns with scores."""
    if ID not in row:
        raise HdbenchError(
            "{place}: no column {column!r}; the columns are {has}",
            place=where,
            column=ID,
            has=_listed(row),
        )
    if SCORE in row and SCORE not in fields:
        return (SCORE,)
    missing = [name for name in fields if name not in row]
    if missing:
        raise HdbenchError(
            "{place}: no column {column!r}{others}: give one for each field of the plan, or one "
            "column {score!r}; the columns are {has}",
            place=where,
            column=missing[0],
            others=_others(missing),
            score=SCORE,
            has=_listed(row),
        )
    return fields


def _score(cell: Any, name: str, where: str) -> float:
    if cell is None or cell == "":
        return math.nan
    text = _text(cell).replace(",", ".")
    score = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= score <= 1:
        raise HdbenchError(
            "{place}, {column}: {cell!r} is not a number from 0 to 1",
            place=where,
            column=name,
            cell=str(cell)[:100],
        )
    return score


def _text(cell: Any) -> str:
    is_cell = isinstance(cell, str | int | float) and not isinstance(cell, bool)
    return text_of(cell).strip() if is_cell else ""


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(columns)[:300]


def _others(names: Sequence[str]) -> str:
    more = len(names) - 1
    return Message(" (and {more:,} more)", more=more) if more else ""


def _rows(path: Path) -> Iterator[Row]:
    name = str(path)
    if not path.is_file():
        raise HdbenchError(
            "{place}: no such file: trust scores are a table: CSV, XLSX or JSONL", place=name
        )
    head = head_of(path)
    if head.startswith(GZIP):
        raise HdbenchError("{place}: unpack it", place=name)
    if head.startswith(ZIP):
        return _workbook_rows(path, name)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        records = read_jsonl(path, decoder=UNIQUE)
        return ((f"{name}:{record.number}", record.value) for record in records)
    return _csv_rows(path, name)


def _csv_rows(path: Path, name: str) -> Iterator[Row]:
    with opened_csv(read_whole(path, name), name, _has_ids, MAX_CELL) as (numbered, _):
        yield from _with_header(((f"{name}:{number}", cells) for number, cells in numbered))


def _has_ids(rows: Iterator[Line]) -> tuple[bool, int]:
    """Return how well a delimiter suits: whether the header has ids, and the number of columns."""
    try:
        _, header = next(rows, (0, []))
    except HdbenchError:
        return False, 0
    return ID in (title.strip() for title in header), len(header)


def _workbook_rows(path: Path, name: str) -> Iterator[Row]:
    for sheet in read_sheets(path, name):
        place = partial(Message, "{place}: {sheet}, row {number}", place=name, sheet=sheet.name)
        filled = ((place(number=number), cells) for number, cells in sheet.rows if any(cells))
        yield from _with_header(filled)
        return  # scores are in the first sheet


def _with_header(rows: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Row]:
    header: list[str] | None = None
    for where, cells in rows:
        if header is None:
            header = [text_of(cell).strip() for cell in cells]
            titles = [title for title in header if title]
            if len(set(titles)) < len(titles):
                raise HdbenchError("{place}: two columns have the same name: keep one", place=where)
            continue
        if len(cells) > len(header) and any(cell != "" for cell in cells[len(header) :]):
            raise HdbenchError("{place}: has more cells than the first row has names", place=where)
        yield where, dict(zip(header, cells, strict=False))
