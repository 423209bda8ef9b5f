"""Tables, whatever they come as, before their columns are mapped to fields."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, islice, zip_longest
from pathlib import Path
from typing import Any

from hdbench.answers.answer import too_large
from hdbench.answers.answers import has_ending
from hdbench.answers.cells import NUMBER, cell_of, is_blank
from hdbench.answers.csv_lines import FIRST_ROWS, RawTable, Row, read_csv
from hdbench.answers.forms import ZIP, check_kind, head_of, read_whole
from hdbench.answers.spreadsheets import read_workbook
from hdbench.answers.words import meanings
from hdbench.common.bounds import MAX_CELLS, MAX_COLUMNS, MAX_TEXT
from hdbench.common.files import read_errors
from hdbench.errors import HdbenchError, Message

_WHOLE_FLOAT = re.compile(r"-?[0-9]{1,15}\.0")
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

    @cached_property
    def filled(self) -> list[list[str]]:
        """Return the cells of each column that are not blank, without white space around them."""
        columns = zip(*(map(str.strip, cells) for _, cells in self.rows), strict=True)
        return [[cell for cell in cells if not is_blank(cell)] for cells in columns]


def rows_table(rows: Iterable[tuple[str, Mapping[str, Any]]], name: str) -> SourceTable:
    """Return a table from rows with names: lines of JSON, or the rows of a DataFrame.

    The fields of an object are columns of their own, with a dot between the names.

    Args:
        rows: the place of each row, and its values by name.
        name: what messages call it.

    Raises:
        HdbenchError: the table is too large.
    """
    columns: dict[str, None] = {}
    read: list[tuple[str, dict[str, str]]] = []
    for place, row in rows:
        cells = {key: cell_of(value) for key, value in _flat(row, "")}
        columns |= dict.fromkeys(cells)
        read.append((place, cells))
        if len(columns) > MAX_COLUMNS:
            raise _too_wide(place)
        if len(read) * len(columns) > MAX_CELLS:
            raise too_large(place)
    full = [(place, [cells.get(name, "") for name in columns]) for place, cells in read]
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
    titles = _titles(header)
    body = _body(len(titles), header[0], chain(begin[len(above) + len(header) :], raw.rows))
    if not body:
        raise HdbenchError("{place}: has no rows, only names of columns", place=name)
    end = len(body)
    while end > 1 and _are_totals(body[end - 1][1]):
        end -= 1
    if end < len(body):
        notes.append(Message("{place}: read as a row of totals, not as data", place=body[end][0]))
    rows = _without_decimals(body[:end])
    return SourceTable(name, titles, rows, notes, heading=header[-1].number)


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
    if any(map(has_ending, texts)) or 2 * sum(map(bool, map(NUMBER.fullmatch, texts))) > len(texts):
        raise HdbenchError(
            "{place}: the first row with several cells has values, not names of columns: name "
            "every column in a row above it, or choose that row with --header-row",
            place=header.place,
        )
    return [header, *second] if second and _has_brackets(header, *second) else [header]


def _has_brackets(upper: Row, lower: Row) -> bool:
    """Return whether a row has the names of groups of columns, and the next one theirs.

    A group is a name followed by blank cells, below which all columns are named; below all other
    names there is nothing, or the same in a cell that is merged with theirs.
    """
    groups: list[list[str]] = []
    for name, below in _columns([upper, lower]):
        if name:
            groups.append([])
        if groups:
            groups[-1].append("" if name == below else below)
    return any(len(group) > 1 for group in groups) and all(
        all(group) and not any(map(NUMBER.fullmatch, group)) if len(group) > 1 else not group[0]
        for group in groups
    )


def _columns(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the cells of each column up to the last one with a text."""
    columns = list(zip_longest(*map(_texts, rows), fillvalue=""))
    while columns and not any(columns[-1]):
        columns.pop()
    return columns


def _titles(header: Sequence[Row]) -> list[str]:
    """Return the names of the columns, each once: `Autor (2)` for a second one, and `column 3`.

    Those of a group begin with the group's.
    """
    columns = _columns(header)
    if len(columns) > MAX_COLUMNS:
        raise _too_wide(header[0].place)
    group, titles = "", dict[str, None]()
    for number, (top, *below) in enumerate(columns, start=1):
        group = top or (group if any(below) else "")
        name = " ".join(dict.fromkeys(filter(None, (group, *below)))) or f"column {number}"
        others = (f"{name} ({again})" for again in count(2))
        titles[next(title for title in chain([name], others) if title not in titles)] = None
    return list(titles)


def _body(width: int, header: Row, rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """Return the rows that are not blank, with as many cells as there are columns."""
    body: list[tuple[str, list[str]]] = []
    size = 0
    for _, place, cells in rows:
        if (len(body) + 1) * width > MAX_CELLS:
            raise too_large(place)
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
            raise too_large(place)
        if any(map(str.strip, cells)):
            body.append((place, cells[:width] + [""] * (width - len(cells))))
    return body


def _are_totals(cells: Sequence[str]) -> bool:
    """Return whether a row has totals: a word for it, and else numbers.

    Example:
        >>> _are_totals(["Summe:", "7"]), _are_totals(["TOTAL 1912", ""])
        (True, True)
        >>> _are_totals(["Gesamtausgabe", "7"]), _are_totals(["", ""])
        (False, False)
    """
    texts = map(str.strip, cells)
    others = [text for text in texts if meanings(text.partition(" ")[0]) != ["total"]]
    return len(others) < len(cells) and not any(map(str.isalpha, "".join(others)))


def _without_decimals(rows: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return the rows, whole numbers without the `.0` that pandas writes.

    It does that where numbers are missing; so all of a column's numbers have to end in it.

    Example:
        >>> _without_decimals([("", ["1800.0", "1.0"]), ("", ["", "1.1"]), ("", ["1912.0", ""])])
        [('', ['1800', '1.0']), ('', ['', '1.1']), ('', ['1912', ''])]
    """
    for index, column in enumerate(zip(*(cells for _, cells in rows), strict=True)):
        numbers = list(filter(None, column))
        if numbers and all(map(_WHOLE_FLOAT.fullmatch, numbers)):
            for _, cells in rows:
                cells[index] = cells[index].removesuffix(".0")
    return rows


def _texts(row: Row) -> list[str]:
    return [" ".join(cell.split()) for cell in row.cells]


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
        if head_of(path).startswith(ZIP):
            return read_workbook(path, name)
        check_kind(path, name, accepted)
        return read_csv(read_whole(path, name), name)
