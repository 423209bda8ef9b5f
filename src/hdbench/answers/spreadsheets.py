"""Workbooks of Excel (XLSX) and of LibreOffice (ODS), within bounds, with their merged cells."""

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from hdbench.answers.answer import too_many_cells
from hdbench.common.bounds import MAX_CELLS, MAX_ROWS, MAX_TAGS, MAX_WORKBOOK
from hdbench.common.extras import needed
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

_DATE = re.compile(r"[yd]", re.IGNORECASE)
_NO_VALUE = re.compile(
    rb'<c r="([A-Z0-9]{2,10})"(?![^<>]*t="str")[^<>]*>\s*<f\b(?:[^<>]*/>|[^<>]*>[^<>]*</f>)'
    rb"\s*(?:<v\s*/>|<v></v>)?\s*</c>"
)
MAX_FORMULA = 2**14
"""Bytes of a cell with a formula, which can have 8,192 characters."""

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


class Sheet(NamedTuple):
    """A visible sheet.

    Attributes:
        name: its name.
        rows: its rows from the first one, also blank ones; a cell whose formula failed holds its
            code, such as `#REF!`.
        merged: how many cells got the value of one above that covers them.
    """

    name: str
    rows: list[list[Any]]
    merged: int


def read_sheets(file: Path, name: str) -> Iterator[Sheet]:
    """Yield the visible sheets of a workbook, one at a time.

    A merged cell gives its value to every row that it covers.

    Args:
        file: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is damaged, is too large, or has a formula without a value.
        MissingExtraError: a package of the extra is not installed.
    """
    with read_errors(name):
        try:
            yield from (_excel if _check(file, name) else _open_document)(file, name)
        except HdbenchError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise _damaged(name, error) from error


def _check(file: Path, name: str) -> bool:
    """Return whether it is of Excel, if it is within the bounds and all its formulas have values.

    Programs that do not calculate write formulas without one.
    """
    too_large = HdbenchError(
        "{place}: too large to be read whole: delete empty rows and columns, or save it as CSV, in "
        "parts",
        place=name,
    )
    tags = 0
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # No member gives more than its header says.
        if sum(member.file_size for member in members) > MAX_WORKBOOK:
            raise too_large
        for member in members:
            if not member.filename.lower().endswith((".xml", ".rels")):
                continue
            before = b""
            with archive.open(member) as source:
                while chunk := source.read(2**18):
                    tags += chunk.count(b"<")
                    if tags > MAX_TAGS:
                        raise too_large
                    if b"<!DOCTYPE" in chunk or b"<!ENTITY" in chunk:
                        raise HdbenchError("{place}: defines a document type", place=name)
                    if found := _NO_VALUE.search(before + chunk):
                        raise HdbenchError(
                            "{place}: the formula in cell {cell} ({part}) has no value: open the "
                            "file in a spreadsheet program and save it",
                            place=name,
                            cell=found[1].decode(),
                            part=member.filename,
                        )
                    before = chunk[-MAX_FORMULA:]
    return any(member.filename.lower().startswith("xl/") for member in members)


def _excel(file: Path, name: str) -> Iterator[Sheet]:
    with needed("excel", "Excel files need"):
        from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415

    # Row by row: otherwise a merged cell or a cell in a far corner would fill the memory.
    with file.open("rb") as source:  # whose name may have any ending
        try:
            reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
            reader.read()
            parts = {about.name: rel.target for about, rel in reader.parser.find_sheets()}
            if len(set(parts.values())) < len(parts):
                raise HdbenchError(
                    "{place}: several sheets are the same part of the file: save it again",
                    place=name,
                )
            cells = 0
            for sheet in reader.wb.worksheets:
                if sheet.sheet_state != "visible":
                    continue
                rows = _rows(sheet, f"{name}: {sheet.title}")
                cells += len(rows) * max(map(len, rows), default=0)
                if cells > MAX_CELLS:
                    raise too_many_cells(name)
                with reader.archive.open(parts[sheet.title]) as part:
                    ranges = list(_merged(part))
                yield Sheet(sheet.title, rows, _filled_down(rows, ranges))
        except HdbenchError:
            raise
        except Exception as error:  # openpyxl raises many kinds of exception for damaged files
            raise _damaged(name, error) from error


def _rows(sheet: Any, where: str) -> list[list[Any]]:
    sheet.reset_dimensions()
    rows: list[list[Any]] = []
    cells = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = max(cells, len(row))
        if number > MAX_ROWS or number * cells > MAX_CELLS:
            raise too_many_cells(where)
        rows.append([_value(cell, where) for cell in row])
    return rows


def _value(cell: Any, where: str) -> Any:
    if cell.value == datetime.time() and _DATE.search(cell.number_format or ""):
        raise HdbenchError(
            "{place}, row {number}: the date in column {column} is no date: enter it as text",
            place=where,
            number=cell.row,
            column=cell.column_letter,
        )
    return cell.value


def _merged(part: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last row, and the first column, of each merged cell of a sheet."""
    from lxml import etree  # noqa: PLC0415
    from openpyxl.utils import range_boundaries  # noqa: PLC0415

    for _, element in etree.iterparse(part, tag="{*}mergeCell", resolve_entities=False):
        column, first, _, last = range_boundaries(element.get("ref", "A1"))
        yield int(first or 1), int(last or 1), int(column or 1)
        element.clear()


def _filled_down(rows: list[list[Any]], ranges: Sequence[tuple[int, int, int]]) -> int:
    """Give the value of merged cells to the first column of all rows that they cover."""
    merged = 0
    for first, last, column in ranges:
        top = rows[first - 1] if first <= len(rows) else []
        value = top[column - 1] if column <= len(top) else None
        for row in rows[first:last] if value is not None else ():
            row.extend([None] * (column - len(row)))
            row[column - 1] = value
            merged += 1
    return merged


def _open_document(file: Path, name: str) -> Iterator[Sheet]:
    with needed("excel", "OpenDocument files need"):
        from lxml import etree  # noqa: PLC0415

    try:
        with zipfile.ZipFile(file) as archive, archive.open("content.xml") as source:
            content = etree.parse(source, etree.XMLParser(resolve_entities=False, no_network=True))
    except (KeyError, etree.XMLSyntaxError) as error:
        raise _damaged(name, error) from error
    if next(content.iter(f"{_OFFICE}spreadsheet"), None) is None:
        raise HdbenchError(
            "{place}: this is an OpenDocument file, but no spreadsheet: save it as .ods or .csv",
            place=name,
        )
    hidden = {
        style.get("{urn:oasis:names:tc:opendocument:xmlns:style:1.0}name")
        for style in content.iter("{urn:oasis:names:tc:opendocument:xmlns:style:1.0}style")
        if any(part.get(f"{_TABLE}display") == "false" for part in style)
    }
    for table in content.iter(f"{_TABLE}table"):
        if table.get(f"{_TABLE}style-name") in hidden:
            continue
        title = table.get(f"{_TABLE}name", "")
        where = f"{name}: {title}"
        rows: list[list[Any]] = []
        ranges: list[tuple[int, int, int]] = []
        blank = width = 0
        for row in table.iter(f"{_TABLE}table-row"):
            cells = _cells_of(row, where, len(rows) + blank + 1, ranges)
            times = _number(row, "number-rows-repeated")
            if not cells:  # thousands of them stand below a table
                blank += times
                continue
            width = max(width, len(cells))
            if (len(rows) + blank + times) * width > MAX_CELLS:
                raise too_many_cells(where)
            rows += [[] for _ in range(blank)] + [list(cells) for _ in range(times)]
            blank = 0
        for cells in rows:
            cells.extend([None] * (width - len(cells)))
        yield Sheet(title, rows, _filled_down(rows, ranges))


def _cells_of(row: Any, where: str, number: int, ranges: list[tuple[int, int, int]]) -> list[Any]:
    """Return the cells of a row up to the last one with a value."""
    cells: list[Any] = []
    blank = 0
    for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        value = _open_value(cell, Message("{place}, row {number}", place=where, number=number))
        times = _number(cell, "number-columns-repeated")
        if value is None:
            blank += times
            continue
        column = len(cells) + blank + 1
        if column + times > MAX_CELLS:
            raise too_many_cells(where)
        if (spanned := _number(cell, "number-rows-spanned")) > 1:
            ranges.append((number, number + spanned - 1, column))
        cells += [None] * blank + [value] * times
        blank = 0
    return cells


def _open_value(cell: Any, place: Message) -> Any:
    kind = cell.get(f"{_OFFICE}value-type")
    if kind in ("float", "currency", "percentage"):
        return float(cell.get(f"{_OFFICE}value", "nan"))
    if kind == "date":
        value = cell.get(f"{_OFFICE}date-value", "")
        try:
            return datetime.datetime.fromisoformat(value)
        except ValueError:
            return value
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value") == "true"
    texts = ["".join(part.itertext()) for part in cell.iterchildren(f"{_TEXT}p")]
    text = "\n".join(texts)
    if text.startswith("Err:"):
        raise HdbenchError(
            "{place}: holds the error {cell}: enter the value, or empty the cell",
            place=place,
            cell=text[:20],
        )
    return text or None


def _number(element: Any, name: str) -> int:
    text = element.get(f"{_TABLE}{name}", "1")
    return int(text) if re.fullmatch("[0-9]{1,7}", text) else 1


def _damaged(name: str, error: Exception) -> HdbenchError:
    reason = " ".join(str(error).split())[:200]
    return HdbenchError(
        "{place}: a damaged workbook ({why}): save it again, or as CSV", place=name, why=reason
    )
