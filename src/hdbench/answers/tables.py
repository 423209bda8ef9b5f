"""Tables, whatever they come as, before their columns are mapped to fields."""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answer import too_many_cells, too_much_text
from hdbench.answers.cells import (
    NUMBER,
    cell_of,
    is_blank,
    without_decimals,
)
from hdbench.answers.csv_lines import FIRST_ROWS, read_csv
from hdbench.answers.entries import shown
from hdbench.answers.forms import ZIP, head_of, of_other_kind, other_kind, read_whole
from hdbench.answers.ids import has_ending
from hdbench.answers.members import Zip
from hdbench.answers.spreadsheets import read_sheets
from hdbench.answers.words import plain
from hdbench.common.bounds import MAX_CELLS, MAX_COLUMNS, MAX_TEXT
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

MAX_TITLE = 200
"""Maximum number of characters in a column's name."""

TOTALS = frozenset(
    {"total", "totals", "sum", "summe", "summen", "gesamt", "gesamtsumme", "insgesamt"}
    | {"zwischensumme", "totaux", "somme", "totale", "somma"}
)
"""Words for a total in English, German, French and Italian."""

_HEADER_ROWS = re.compile(r"([1-9][0-9]{0,6})(?:-([1-9][0-9]{0,6}))?")


class Row(NamedTuple):
    """A row: its number, its place for messages, and its cells as the file has them."""

    number: int
    place: str
    cells: Sequence[Any]


@dataclass(frozen=True)
class SourceTable:
    """A table before it is mapped.

    Attributes:
        name: what messages call it.
        header: the columns' names, each of them once.
        rows: the place of each row, such as `wahrheit.csv:12`, and its cells as text, as many as
            the header has. Rows within the table may be empty.
        notes: what was assumed, one line each.
        has_lists: whether its lists were lists before, in JSON or a DataFrame; otherwise the cells
            of a list are texts with a separator in them.
        heading: the number of the row with the columns' names, the last one if there are two; 0 if
            no row has them.
    """

    name: str
    header: list[str]
    rows: list[tuple[str, list[str]]]
    notes: list[str]
    has_lists: bool = False
    heading: int = 0

    def column(self, index: int) -> list[str]:
        """Return the cells of a column that are not blank, without white space around them."""
        cells = (cells[index].strip() for _, cells in self.rows)
        return [cell for cell in cells if not is_blank(cell)]


def csv_table(data: bytes, name: str, header_rows: str | None = None) -> SourceTable:
    """Return the table in a CSV file.

    Args:
        data: the file.
        name: what messages call it.
        header_rows: the row that names the columns, as `3`, or the first and last one, as `3-4`.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    lines, notes = read_csv(data, name, blank=True)
    rows = (Row(line, f"{name}:{line}", cells) for line, cells in lines)
    return table_of(name, rows, notes, header_rows)


class ChosenSheet(NamedTuple):
    """The sheet of a workbook that is read as a table.

    Attributes:
        title: its title; empty if all sheets are.
        rows: its rows.
        merged: how many of them got the value of a merged cell.
        others: the titles of the other sheets that are not empty.
    """

    title: str
    rows: list[Row]
    merged: int
    others: list[str]


def chosen_sheet(path: Path, name: str) -> ChosenSheet:
    """Return the visible sheet with ids, else the one with the most filled cells.

    Args:
        path: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is unusable.
    """
    best: tuple[bool, int, str, list[Row], int] = (False, 0, "", [], 0)
    sheets: list[str] = []
    for title, cells, merged in read_sheets(path, name):
        where = f"{name}: {title}"
        rows = [
            Row(number, Message("{place}, row {number}", place=where, number=number), row)
            for number, row in enumerate(cells, start=1)
        ]
        if filled := sum(not _is_empty(cell) for row in cells for cell in row):
            sheets.append(title)
            has_id = any("id" in map(str.casefold, _texts(row)) for row in rows[:FIRST_ROWS])
            best = max(best, (has_id, filled, title, rows, merged), key=lambda sheet: sheet[:2])
    _, _, title, rows, merged = best
    return ChosenSheet(title, rows, merged, [sheet for sheet in sheets if sheet != title])


def workbook_table(path: Path, name: str, header_rows: str | None = None) -> SourceTable:
    """Return the table in a workbook; see `chosen_sheet`.

    Args:
        path: the workbook.
        name: what messages call it.
        header_rows: see `csv_table`.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    title, rows, merged, others = chosen_sheet(path, name)
    notes: list[str] = []
    if others:
        notes.append(
            Message(
                "{place}: only the sheet {title} was read; not read: {names} (to read another one, "
                "hide or delete {title})",
                place=name,
                title=title,
                names=shown(others),
            )
        )
    name = f"{name}: {title}" if title else name
    if merged:
        notes.append(
            Message(
                "{place}: {count:,} row got the value of the merged cell that covers it",
                plural="{place}: {count:,} rows got the value of a merged cell that covers them",
                place=name,
                count=merged,
            )
        )
    return table_of(name, iter(rows), notes, header_rows)


def rows_table(rows: Iterable[tuple[str, Mapping[str, Any]]], name: str) -> SourceTable:
    """Return a table from rows with names: lines of JSON, or the rows of a DataFrame.

    The fields of an object are columns of their own, with a dot between the names.

    Args:
        rows: the place of each row, and its values by name.
        name: what messages call it.

    Raises:
        HdbenchError: the table is too large.
    """
    columns: dict[str, int] = {}
    read: list[tuple[str, dict[int, str]]] = []
    for place, row in rows:
        cells = {
            columns.setdefault(key, len(columns)): cell_of(value) for key, value in _flat(row, "")
        }
        read.append((place, cells))
        if len(columns) > MAX_COLUMNS:
            raise HdbenchError("{place}: more than {most:,} columns", place=place, most=MAX_COLUMNS)
        if len(read) * len(columns) > MAX_CELLS:
            raise too_many_cells(place)
    header = list(columns)
    full = [
        (place, [cells.get(index, "") for index in range(len(header))]) for place, cells in read
    ]
    return SourceTable(name, header, _without_decimals(full), [], has_lists=True)


def _flat(row: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        is_object = isinstance(value, dict) and value and key != "prediction"
        if is_object and all("." not in name for name in value):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def table_of(
    name: str, rows: Iterator[Row], notes: list[str], header_rows: str | None = None
) -> SourceTable:
    """Return a table from its rows, with or without a title above the header.

    Args:
        name: what messages call it.
        rows: all rows.
        notes: what was assumed so far.
        header_rows: see `csv_table`.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    begin, (first, last) = [], _chosen(header_rows)
    for row in rows:
        begin.append(row)
        if len(begin) >= FIRST_ROWS and row.number >= last:
            break
    if last:
        header = [row for row in begin if first <= row.number <= last]
        if not header:
            raise HdbenchError(
                "--header-row {rows}: {place} has no such row", rows=header_rows, place=name
            )
    else:
        header = _find_header(name, begin)
    above = [row for row in begin if row.number < header[0].number]
    if title := " ".join(word for row in above for text in _texts(row) for word in text.split()):
        notes.append(
            Message(
                "{place}: read as a title above the table, not as data: {title}",
                place=name,
                title=title[:100],
            )
        )
    if len(header) > 1:
        notes.append(
            Message(
                "{place}: the names of the columns are in rows {first} to {last}",
                place=name,
                first=header[0].number,
                last=header[-1].number,
            )
        )
    texts = _joined(header)
    columns = _titles(texts, header[0].place, notes)
    body = _body(columns, header[0], chain(begin[len(above) + len(header) :], rows))
    body = _without_totals(body, notes)
    if not body:
        raise HdbenchError("{place}: has no rows, only names of columns", place=name)
    table = SourceTable(name, columns, _without_decimals(body), notes, heading=header[-1].number)
    return _without_empty(table, [index for index, text in enumerate(texts) if not text])


def _chosen(header_rows: str | None) -> tuple[int, int]:
    if header_rows is None:
        return 0, 0
    match = _HEADER_ROWS.fullmatch(header_rows)
    if match is None:
        raise HdbenchError(
            "--header-row {rows}: must be the number of a row, as in 3, or of the first and last "
            "one, as in 3-4",
            rows=header_rows,
        )
    return int(match[1]), int(match[2] or match[1])


def _find_header(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the row that names the columns, or the two of which the first has brackets."""
    filled = [sum(not _is_empty(cell) for cell in row.cells) for row in rows]
    if not any(filled):
        raise HdbenchError(
            "{place}: empty: needs the names of the columns in its first row", place=name
        )
    # A title, merged over all columns, fills one cell.
    several = max(filled) > 1
    above = next(number for number, count in enumerate(filled) if count > several)
    header = rows[above]
    texts = [text for text in _texts(header) if text]
    if any(map(has_ending, texts)) or 2 * sum(map(_is_number, texts)) > len(texts):
        raise HdbenchError(
            "{place}: the first row with several cells has values, not names of columns: name "
            "every column in a row above it, or choose that row with --header-row",
            place=header.place,
        )
    second = rows[above + 1 : above + 2]
    has_two = second and _has_brackets(_texts(header), _texts(second[0]))
    return [header, *second] if has_two else [header]


def _has_brackets(upper: list[str], lower: list[str]) -> bool:
    """Return whether a row has the names of groups of columns, and the next one theirs.

    A group is a name followed by blank cells, below which all columns are named; below all other
    names there is nothing.
    """
    pairs = list(zip_longest(upper, lower, fillvalue=""))
    inside, groups = False, 0
    for (name, below), (next_name, next_below) in pairwise([*pairs, ("", "")]):
        if name:
            inside = not next_name and bool(next_below)
            groups += inside
        if bool(below) != inside or _is_number(below):
            return False
    return groups > 0


def _joined(header: Sequence[Row]) -> list[str]:
    """Return the names of the columns: those of a group begin with the group's."""
    rows = [[" ".join(text.split()) for text in _texts(row)] for row in header]
    width = max(map(len, rows))
    for row in rows:
        row.extend([""] * (width - len(row)))
    for row, below in pairwise(rows):
        for column in range(1, width):
            if not row[column] and below[column]:
                row[column] = row[column - 1]
    texts = [" ".join(filter(None, column)) for column in zip(*rows, strict=True)]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _titles(texts: list[str], place: str, notes: list[str]) -> list[str]:
    """Return the names of the columns, each once: `Autor (2)` for a second one, and `column 3`."""
    if len(texts) > MAX_COLUMNS:
        raise HdbenchError("{place}: more than {most:,} columns", place=place, most=MAX_COLUMNS)
    for text in texts:
        if len(text) > MAX_TITLE or "\0" in text:
            raise HdbenchError(
                "{place}: a column's name has more than {most:,} characters, or NUL bytes: save "
                "it as CSV in UTF-8",
                place=place,
                most=MAX_TITLE,
            )
    taken, titles, again = set(texts), dict[str, None](), list[str]()
    for number, text in enumerate(texts, start=1):
        title = text or f"column {number}"
        if text in titles or (not text and title in taken):
            numbered = (f"{title} ({count})" for count in range(2, MAX_COLUMNS + 2))
            title = next(name for name in numbered if name not in taken)
            again += [title] if text else []
        taken.add(title)
        titles[title] = None
    if again:
        notes.append(
            Message(
                "{place}: columns of the same name are told apart: {names}",
                place=place,
                names=shown(again),
            )
        )
    return list(titles)


def _body(columns: Sequence[str], header: Row, rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """Return the rows as texts, as many as there are columns, without blank ones at the end."""
    body: list[tuple[str, list[str]]] = []
    width, size = len(columns), 0
    for row in rows:
        if (len(body) + 1) * width > MAX_CELLS:
            raise too_many_cells(row.place)
        texts = list(map(cell_of, row.cells))
        if any(text and not text.isspace() for text in texts[width:]):
            raise HdbenchError(
                "{place}: has {count} cells, and the header ({header}) {width}: name every "
                "column, or choose the row that does with --header-row; a cell that holds the "
                "delimiter is quoted",
                place=row.place,
                count=len(texts),
                header=header.place,
                width=width,
            )
        texts = texts[:width] + [""] * (width - len(texts))
        size += sum(map(len, texts))
        if size > MAX_TEXT:
            raise too_much_text(row.place)
        body.append((row.place, texts))
    while body and not any(text and not text.isspace() for text in body[-1][1]):
        body.pop()
    return body


def is_total(text: str) -> bool:
    """Return whether a cell begins with a word for a total.

    Example:
        >>> [is_total(text) for text in ("Summe:", "TOTAL 1912", "Gesamtausgabe", "")]
        [True, True, False, False]
    """
    return plain(text.strip().partition(" ")[0]) in TOTALS


def _without_totals(
    body: list[tuple[str, list[str]]], notes: list[str]
) -> list[tuple[str, list[str]]]:
    """Return the rows without those at the end that have totals: a word for it and numbers."""
    end = len(body)
    while end > 1:
        texts = [text for text in map(str.strip, body[end - 1][1]) if text]
        others = [text for text in texts if not is_total(text)]
        if (len(others) == len(texts) and texts) or any(map(str.isalpha, "".join(others))):
            break
        end -= 1
    totals = [place for place, cells in body[end:] if any(map(str.strip, cells))]
    if not totals:
        return body
    notes.append(Message("{place}: read as a row of totals, not as data", place=totals[0]))
    return body[:end]


def _without_decimals(rows: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    by_column = zip(*(cells for _, cells in rows), strict=True)
    by_row = zip(*map(without_decimals, by_column), strict=True)
    return [(place, list(cells)) for (place, _), cells in zip(rows, by_row, strict=True)]


def _without_empty(table: SourceTable, unnamed: list[int]) -> SourceTable:
    """Return the table without the columns that have neither a name nor a value."""
    empty = {index for index in unnamed if not any(cells[index].strip() for _, cells in table.rows)}
    if filled := [table.header[index] for index in unnamed if index not in empty]:
        table.notes.append(
            Message(
                "{place}: columns that have values and no name are called {names}",
                place=table.name,
                names=shown(filled),
            )
        )
    if not empty:
        return table
    kept = [index for index in range(len(table.header)) if index not in empty]
    header = [table.header[index] for index in kept]
    rows = [(place, [cells[index] for index in kept]) for place, cells in table.rows]
    return replace(table, header=header, rows=rows)


def _texts(row: Row) -> list[str]:
    return [cell_of(cell).strip() for cell in row.cells]


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


ACCEPTED = Message("a table of ground truths is CSV, XLSX or ODS")


def read_table(path: Path, header_rows: str | None = None) -> SourceTable:
    r"""Return the table in a CSV file or a workbook.

    CSV is in UTF-8, in UTF-16 with a byte order mark, or otherwise in cp1252, with commas,
    semicolons or tabs. A cell is text and never evaluated: a formula in CSV stays as it stands, and
    in a workbook its last value counts.

    Args:
        path: the file.
        header_rows: the row that names the columns, as `3`, or the first and last one, as `3-4`;
            None if they are to be found.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
        MissingExtraError: it is a workbook, and a package to read it is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wahrheit.csv"
        ...     _ = file.write_bytes("Dateiname;Verfasser\n0001.jpg;Müller\n".encode("cp1252"))
        ...     table = read_table(file)
        >>> table.header, table.rows
        (['Dateiname', 'Verfasser'], [('wahrheit.csv:2', ['0001.jpg', 'Müller'])])
    """
    name = path.name
    with read_errors(name):
        if is_workbook(path, name, ACCEPTED):
            return workbook_table(path, name, header_rows)
        return csv_table(read_whole(path, name), name, header_rows)


def first_rows(path: Path) -> list[Row]:
    """Return the first rows of a table as they are, for a person who looks for its headings.

    Args:
        path: a CSV file or a workbook.

    Raises:
        HdbenchError: it is neither, or unusable.
    """
    name = path.name
    with read_errors(name):
        if is_workbook(path, name, ACCEPTED):
            return chosen_sheet(path, name).rows[:FIRST_ROWS]
        lines, _ = read_csv(read_whole(path, name), name, blank=True)
        return [Row(line, name, cells) for line, cells in islice(lines, FIRST_ROWS)]


def is_workbook(path: Path, name: str, accepted: Message) -> bool:
    """Return whether a table is a workbook; otherwise it can only be CSV.

    Args:
        path: the file.
        name: what messages call it.
        accepted: the forms that the file could have.

    Raises:
        HdbenchError: it is something else.
    """
    with read_errors(name):
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe might never end
            raise HdbenchError("{place}: not a file: {accepted}", place=name, accepted=accepted)
        head = head_of(path)
        kind = _kind_of_zip(path, name) if head.startswith(ZIP) else other_kind(head)
        if kind:
            raise of_other_kind(kind, name, accepted)
        return head.startswith(ZIP)


def _kind_of_zip(path: Path, name: str) -> Message | None:
    """Return the kind of a ZIP; None for a workbook."""
    with closing(Zip(path, name)) as archive:
        kind = archive.office_kind()
    return Message("a ZIP: unpack it") if kind is None else kind or None
