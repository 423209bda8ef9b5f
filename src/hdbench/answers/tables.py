"""Tables, whatever they come as, before their columns are mapped to fields."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any

from hdbench.answers.answer import too_many_cells, too_much_text
from hdbench.answers.cells import NUMBER, cell_of, is_blank, without_decimals
from hdbench.answers.csv_lines import FIRST_ROWS, RawTable, Row, read_csv
from hdbench.answers.forms import ZIP, check_kind, head_of, read_whole
from hdbench.answers.ids import has_ending
from hdbench.answers.spreadsheets import read_workbook
from hdbench.answers.words import plain
from hdbench.common.bounds import MAX_CELLS, MAX_COLUMNS, MAX_TEXT
from hdbench.common.files import read_errors
from hdbench.errors import HdbenchError, Message

TOTALS = frozenset(
    {"total", "totals", "sum", "summe", "summen", "gesamt", "gesamtsumme", "insgesamt"}
    | {"zwischensumme", "totaux", "somme", "totale", "somma"}
)
"""Words for a total in English, German, French and Italian."""

_HEADER_ROWS = re.compile(r"([1-9][0-9]{0,6})(?:-([1-9][0-9]{0,6}))?")


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
            raise _too_wide(place)
        if len(read) * len(columns) > MAX_CELLS:
            raise too_many_cells(place)
    full = [
        (place, [cells.get(index, "") for index in range(len(columns))]) for place, cells in read
    ]
    return SourceTable(name, list(columns), _without_decimals(full), [], has_lists=True)


def _flat(row: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        is_object = isinstance(value, dict) and value and key != "prediction"
        if is_object and all("." not in name for name in value):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def table_of(raw: RawTable, header_rows: str | None = None) -> SourceTable:
    """Return a table from its rows, with or without a title above the header.

    Args:
        raw: its rows.
        header_rows: the row that names the columns, as `3`, or the first and last one, as `3-4`;
            None if they are to be found.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    name, notes = raw.name, raw.notes
    begin = list(islice(raw.rows, FIRST_ROWS))
    header = _chosen(name, begin, header_rows) if header_rows else _find_header(name, begin)
    above = [row for row in begin if row.number < header[0].number]
    if title := " ".join(word for row in above for text in row.cells for word in text.split()):
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
    if len(texts) > MAX_COLUMNS:
        raise _too_wide(header[0].place)
    body = _body(len(texts), header[0], chain(begin[len(above) + len(header) :], raw.rows))
    body, rest = body[: (end := _end(body))], body[end:]
    if totals := [place for place, cells in rest if any(map(str.strip, cells))]:
        notes.append(Message("{place}: read as a row of totals, not as data", place=totals[0]))
    if not body:
        raise HdbenchError("{place}: has no rows, only names of columns", place=name)
    titles = _titles(texts)
    kept = [
        index
        for index, text in enumerate(texts)
        if text or any(cells[index].strip() for _, cells in body)
    ]
    if len(kept) < len(titles):  # between named columns there are some without name and value
        body = [(place, [cells[index] for index in kept]) for place, cells in body]
    columns = [titles[index] for index in kept]
    return SourceTable(name, columns, _without_decimals(body), notes, heading=header[-1].number)


def _chosen(name: str, rows: Sequence[Row], header_rows: str) -> list[Row]:
    match = _HEADER_ROWS.fullmatch(header_rows)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    header = [row for row in rows if first <= row.number <= last]
    if not header:
        raise HdbenchError(
            "--header-row {rows}: {place} has no such row at its beginning: give the number of a "
            "row, as in 3, or of the first and last one, as in 3-4",
            rows=header_rows,
            place=name,
        )
    return header


def _find_header(name: str, rows: Sequence[Row]) -> list[Row]:
    """Return the row that names the columns, or the two of which the first has brackets."""
    filled = [sum(map(bool, _texts(row))) for row in rows]
    if not any(filled):
        raise HdbenchError(
            "{place}: empty: needs the names of the columns in its first row", place=name
        )
    # A title, merged over all columns, fills one cell.
    several = max(filled) > 1
    above = next(number for number, count in enumerate(filled) if count > several)
    header, *second = rows[above : above + 2]
    texts = [text for text in _texts(header) if text]
    if any(map(has_ending, texts)) or 2 * sum(map(_is_number, texts)) > len(texts):
        raise HdbenchError(
            "{place}: the first row with several cells has values, not names of columns: name "
            "every column in a row above it, or choose that row with --header-row",
            place=header.place,
        )
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
    rows = zip(*zip_longest(*map(_texts, header), fillvalue=""), strict=True)
    above, *others = [[" ".join(text.split()) for text in row] for row in rows]
    for row in others:
        for column in range(1, len(row)):
            if row[column] and not above[column]:
                above[column] = above[column - 1]
        above = [" ".join(filter(None, pair)) for pair in zip(above, row, strict=True)]
    while above and not above[-1]:
        above.pop()
    return above


def _titles(texts: Sequence[str]) -> list[str]:
    """Return the names of the columns, each once: `Autor (2)` for a second one, and `column 3`."""
    given = set(texts)
    titles: dict[str, None] = {}
    for number, text in enumerate(texts, start=1):
        name = title = text or f"column {number}"
        count = 1
        while title in titles or (title != text and title in given):
            count += 1
            title = f"{name} ({count})"
        titles[title] = None
    return list(titles)


def _body(width: int, header: Row, rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """Return the rows with as many cells as there are columns."""
    body: list[tuple[str, list[str]]] = []
    size = 0
    for _, place, cells in rows:
        if (len(body) + 1) * width > MAX_CELLS:
            raise too_many_cells(place)
        if any(map(str.strip, cells[width:])):
            raise HdbenchError(
                "{place}: has {count} cells, and the header ({header}) {width}: name every "
                "column, or choose the row that does with --header-row; a cell that holds the "
                "delimiter is quoted",
                place=place,
                count=len(cells),
                header=header.place,
                width=width,
            )
        size += sum(map(len, cells))
        if size > MAX_TEXT:
            raise too_much_text(place)
        body.append((place, cells[:width] + [""] * (width - len(cells))))
    return body


def _end(body: Sequence[tuple[str, list[str]]]) -> int:
    """Return the number of rows before those at the end that are blank or have totals.

    Totals are a word for it and numbers.
    """
    for end in range(len(body), 0, -1):
        texts = [text for text in map(str.strip, body[end - 1][1]) if text]
        others = [text for text in texts if not is_total(text)]
        is_data = end == 1 or others == texts or any(map(str.isalpha, "".join(others)))
        if texts and is_data:
            return end
    return 0


def is_total(text: str) -> bool:
    """Return whether a cell begins with a word for a total.

    Example:
        >>> [is_total(text) for text in ("Summe:", "TOTAL 1912", "Gesamtausgabe", "")]
        [True, True, False, False]
    """
    return plain(text.strip().partition(" ")[0]) in TOTALS


def _without_decimals(rows: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    by_column = zip(*(cells for _, cells in rows), strict=True)
    by_row = zip(*map(without_decimals, by_column), strict=True)
    return [(place, list(cells)) for (place, _), cells in zip(rows, by_row, strict=True)]


def _texts(row: Row) -> list[str]:
    return list(map(str.strip, row.cells))


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def _too_wide(place: str) -> HdbenchError:
    return HdbenchError("{place}: more than {most:,} columns", place=place, most=MAX_COLUMNS)


ACCEPTED = Message("a table of ground truths is CSV, XLSX or ODS")


def read_table(path: Path, header_rows: str | None = None) -> SourceTable:
    r"""Return the table in a CSV file or a workbook.

    CSV is in UTF-8, in UTF-16 with a byte order mark, or otherwise in cp1252, with commas,
    semicolons or tabs. A cell is text and never evaluated: a formula in CSV stays as it stands, and
    in a workbook its last value counts.

    Args:
        path: the file.
        header_rows: see `table_of`.

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
    return table_of(raw_table(path), header_rows)


def raw_table(path: Path, name: str | None = None, accepted: Message = ACCEPTED) -> RawTable:
    """Return the table in a CSV file or a workbook as it is; see `read_table`.

    Args:
        path: the file.
        name: what messages call it; by default, the file's name.
        accepted: what it could be.
    """
    name = name or path.name
    with read_errors(name):
        check_kind(path, name, accepted)
        if head_of(path).startswith(ZIP):
            return read_workbook(path, name)
        return read_csv(read_whole(path, name), name)
