"""The whole that a sample is drawn from: a folder of files, or a table with one row per item."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.common.extras import needed
from hdbench.errors import HdbenchError
from hdbench.reading.cells import FAULTS, MISSING, Cell, text_of
from hdbench.reading.tables import _decode, _lines

MEDIA_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".pdf", ".txt"})
"""Extensions of the files in a folder that are items."""

MAX_ITEMS = 1_000_000
"""Maximum number of items of a whole."""

MAX_ID = 1_000
"""Maximum number of characters in an id."""

MAX_CSV = 256 * 2**20
"""Maximum size in bytes of a CSV file."""

ID_TITLES = ("id", "file_name", "filename", "file", "datei", "dateiname", "image", "bild", "scan")
"""Titles of the column that has the ids, in this order; without any of them it is the first."""


class Whole(NamedTuple):
    """The items of a whole.

    Attributes:
        name: the folder's or file's name.
        sha256: of the table; for a folder, of its files' names, one per line.
        ids: the items' ids.
        columns: title → the value of each item, an empty text where there is none.
        notes: what was assumed, one line each.
    """

    name: str
    sha256: str
    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    notes: Sequence[str]


def read_whole(path: Path) -> Whole:
    """The items of a folder or a table.

    Args:
        path: a folder of images, PDFs or texts, which are its items by their file names; or a table
            (CSV or XLSX) with one row per item.

    Raises:
        HdbenchError: it cannot be read, has no items or too many, or an id is missing, too long, or
            occurs twice.
    """
    try:
        whole = _folder(path) if path.is_dir() else _table(path)
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    if len(whole.ids) > MAX_ITEMS:
        raise HdbenchError(f"{path}: more than {MAX_ITEMS:,} items: draw from parts of it")
    return whole


def _folder(path: Path) -> Whole:
    with os.scandir(path) as entries:
        files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    visible = [name for name in files if not name.startswith(".")]
    names = sorted(name for name in visible if Path(name).suffix.lower() in MEDIA_ENDINGS)
    if not names:
        raise HdbenchError(f"{path}: no images, PDFs or texts in this folder")
    notes = []
    if others := len(visible) - len(names):
        are = "1 other file is" if others == 1 else f"{others} other files are"
        notes.append(f"{path}: {are} not among the items")
    text = "".join(f"{name}\n" for name in names)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    for name in names:
        _check_id(name, str(path))
    return Whole(path.resolve().name, sha256, names, {}, notes)


def _table(path: Path) -> Whole:
    header, rows, notes = _read_table(path)
    titles = [title.strip() for title in header]
    column = _id_column(titles)
    notes = [*notes, f"{path}: the ids are in the column {titles[column]!r}"]
    seen: dict[str, str] = {}
    values: list[list[str]] = [[] for _ in titles]
    for where, cells in rows:
        texts = [_value(cell) for cell in cells]
        item_id = texts[column] if column < len(texts) else ""
        if not item_id:
            raise HdbenchError(f"{where}: no id in the column {titles[column]!r}")
        _check_id(item_id, where)
        if item_id in seen:
            raise HdbenchError(
                f"{where}: the id {item_id!r} occurs twice, first in {seen[item_id]}: the table "
                "needs one row per item"
            )
        seen[item_id] = where
        for place, one in enumerate(values):
            one.append(texts[place] if place < len(texts) else "")
    if not seen:
        raise HdbenchError(f"{path}: no items in this table, only column names")
    columns: dict[str, list[str]] = {}
    for title, one in zip(titles, values, strict=True):
        if title in columns and title:
            raise HdbenchError(f"{path}: two columns are called {title!r}: rename one")
        columns[title] = one
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Whole(path.name, sha256, list(seen), columns, notes)


def _id_column(titles: Sequence[str]) -> int:
    folded = [title.casefold() for title in titles]
    return next((folded.index(title) for title in ID_TITLES if title in folded), 0)


def _value(cell: Cell) -> str:
    """A cell as text; what shows that a value is missing, or that a formula failed, is none."""
    text = text_of(cell).strip()
    return "" if text in MISSING or text in FAULTS else text


def _check_id(item_id: str, where: str) -> None:
    if len(item_id) > MAX_ID or not item_id.isprintable():
        raise HdbenchError(f"{where}: {item_id[:100]!r} cannot be an id: shorten or rename it")


Rows = Iterator[tuple[str, Sequence[Cell]]]


def _read_table(path: Path) -> tuple[Sequence[str], Rows, list[str]]:
    """The header of a table, its rows with their places, and what was assumed."""
    if path.suffix.lower() == ".xlsx":
        return _read_xlsx(path)
    if path.stat().st_size > MAX_CSV:
        raise HdbenchError(f"{path}: larger than {MAX_CSV >> 20} MiB: split it")
    text, notes = _decode(path.read_bytes(), str(path))
    if "\0" in text:
        raise HdbenchError(f"{path}: neither a table (CSV or XLSX) nor a folder of files")
    first = text.partition("\n")[0]
    lines = _lines(text, max(";\t,", key=first.count), str(path))
    header = next(lines, None)
    if header is None:
        raise HdbenchError(f"{path}: empty: needs the column names in the first row")
    return header[1], ((f"{path}:{number}", cells) for number, cells in lines), notes


def _read_xlsx(path: Path) -> tuple[Sequence[str], Rows, list[str]]:
    with needed("excel", "Excel files need"):
        from hdbench.reading.spreadsheet import read_sheets  # noqa: PLC0415
    sheets = read_sheets(path, str(path))
    sheet = next(sheets, None)
    if sheet is None:
        raise HdbenchError(f"{path}: empty: needs the column names in the first row")
    filled = ((number, cells) for number, cells in sheet.rows if any(cell != "" for cell in cells))
    _, header = next(filled)
    rows = ((f"{path}: {sheet.name}, row {number}", cells) for number, cells in filled)
    return [text_of(cell) for cell in header], rows, [f"{path}: the sheet {sheet.name!r} is read"]
