"""Workbooks of Excel (XLSX) and of LibreOffice (ODS), within bounds, with their merged cells."""

import datetime
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from hdbench.answers.answer import too_many_cells
from hdbench.answers.cells import cell_of
from hdbench.answers.csv_lines import FIRST_ROWS, RawTable, Row
from hdbench.answers.entries import shown
from hdbench.common.bounds import MAX_CELLS, MAX_ROWS, MAX_TAGS, MAX_WORKBOOK
from hdbench.common.csv_and_excel import as_it_was
from hdbench.common.extras import needed
from hdbench.common.files import read_errors
from hdbench.errors import HdbenchError, Message

_DATE = re.compile(r"[yd]", re.IGNORECASE)
_DOCUMENT_TYPE = re.compile(b"<!(?:DOCTYPE|ENTITY)")
_LONGEST = len("<!DOCTYPE")

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


class Sheet(NamedTuple):
    """A visible sheet.

    Attributes:
        title: its title.
        rows: its rows from the first one, also blank ones, as texts; a cell whose formula failed
            holds its code, such as `#REF!`.
        ranges: the first and last row, and the first column, of each merged cell.
    """

    title: str
    rows: list[list[str]]
    ranges: list[tuple[int, int, int]]


def read_workbook(file: Path, name: str) -> RawTable:
    """Return the visible sheet with ids, else the one with the most filled cells.

    A merged cell gives its value to every row that it covers.

    Args:
        file: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is damaged or too large.
        MissingExtraError: a package of the extra is not installed.
    """
    best, most = Sheet("", [], []), (False, 0)
    titles: list[str] = []
    with read_errors(name):
        try:
            for sheet in (_excel if _check(file, name) else _open_document)(file, name):
                if filled := sum(bool(text.strip()) for cells in sheet.rows for text in cells):
                    titles.append(sheet.title)
                    begin = (text.strip() for cells in sheet.rows[:FIRST_ROWS] for text in cells)
                    has_id = "id" in map(str.casefold, begin)
                    if (has_id, filled) > most:
                        best, most = sheet, (has_id, filled)
        except HdbenchError:
            raise
        except Exception as error:  # openpyxl raises many kinds of exception for damaged files
            reason = " ".join(str(error).split())[:200]
            raise HdbenchError(
                "{place}: a damaged workbook ({why}): save it again, or as CSV",
                place=name,
                why=reason,
            ) from error
    notes: list[str] = []
    if others := [title for title in titles if title != best.title]:
        notes.append(
            Message(
                "{place}: only the sheet {title} was read; not read: {names} (to read another one, "
                "hide or delete {title})",
                place=name,
                title=best.title,
                names=shown(others),
            )
        )
    where = f"{name}: {best.title}" if best.title else name
    if merged := _fill_down(best):
        notes.append(
            Message(
                "{place}: {count:,} row got the value of the merged cell that covers it",
                plural="{place}: {count:,} rows got the value of a merged cell that covers them",
                place=where,
                count=merged,
            )
        )
    rows = (
        Row(number, Message("{place}, row {number}", place=where, number=number), cells)
        for number, cells in enumerate(best.rows, start=1)
    )
    return RawTable(where, rows, notes)


def _fill_down(sheet: Sheet) -> int:
    """Give the value of merged cells to the first column of all rows that they cover."""
    merged = 0
    for first, last, column in sheet.ranges:
        top = sheet.rows[first - 1] if first <= len(sheet.rows) else []
        value = top[column - 1] if column <= len(top) else ""
        for cells in sheet.rows[first:last] if value else ():
            cells.extend([""] * (column - len(cells)))
            cells[column - 1] = value
            merged += 1
    return merged


def _check(file: Path, name: str) -> bool:
    """Return whether it is of Excel, if it is within the bounds."""
    tags = 0
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # No member gives more than its header says.
        size = sum(member.file_size for member in members)
        for member in members:
            if size > MAX_WORKBOOK or not member.filename.lower().endswith((".xml", ".rels")):
                continue
            before = b""
            with archive.open(member) as source:
                while tags <= MAX_TAGS and (chunk := source.read(2**18)):
                    tags += chunk.count(b"<")
                    if _DOCUMENT_TYPE.search(before + chunk):
                        raise HdbenchError("{place}: defines a document type", place=name)
                    before = chunk[-_LONGEST:]
    if size > MAX_WORKBOOK or tags > MAX_TAGS:
        raise HdbenchError(
            "{place}: too large to be read whole: delete empty rows and columns, or save it as "
            "CSV, in parts",
            place=name,
        )
    return any(member.filename.lower().startswith("xl/") for member in members)


def _excel(file: Path, name: str) -> Iterator[Sheet]:
    with needed("excel", "Excel files need"):
        from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415

    # Row by row: otherwise a merged cell or a cell in a far corner would fill the memory.
    with file.open("rb") as source:  # whose name may have any ending
        reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
        reader.read()
        parts = {about.name: rel.target for about, rel in reader.parser.find_sheets()}
        if len(set(parts.values())) < len(parts):
            raise HdbenchError(
                "{place}: several sheets are the same part of the file: save it again", place=name
            )
        cells = 0
        for sheet in reader.wb.worksheets:
            if sheet.sheet_state != "visible":
                continue
            sheet.reset_dimensions()
            rows: list[list[str]] = []
            width = 0
            for row in sheet.iter_rows():
                rows.append([_value(cell, f"{name}: {sheet.title}") for cell in row])
                width = max(width, len(row))
                if len(rows) > MAX_ROWS or cells + len(rows) * width > MAX_CELLS:
                    raise too_many_cells(f"{name}: {sheet.title}")
            cells += len(rows) * width
            with reader.archive.open(parts[sheet.title]) as part:
                ranges = list(_merged(part))
            yield Sheet(sheet.title, rows, ranges)


def _value(cell: Any, where: str) -> str:
    if cell.value == datetime.time() and _DATE.search(cell.number_format or ""):
        raise HdbenchError(
            "{place}, row {number}: the date in column {column} is not a date: enter it as text",
            place=where,
            number=cell.row,
            column=cell.column_letter,
        )
    return as_it_was(cell_of(cell.value))


def _merged(part: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    """Yield the range of each merged cell of a sheet; see `Sheet.ranges`."""
    from lxml import etree  # noqa: PLC0415
    from openpyxl.utils import range_boundaries  # noqa: PLC0415

    for _, element in etree.iterparse(part, tag="{*}mergeCell", resolve_entities=False):
        column, first, _, last = range_boundaries(element.get("ref", "A1"))
        yield int(first or 1), int(last or 1), int(column or 1)
        element.clear()


def _open_document(file: Path, name: str) -> Iterator[Sheet]:
    with needed("excel", "OpenDocument files need"):
        from lxml import etree  # noqa: PLC0415

    with zipfile.ZipFile(file) as archive, archive.open("content.xml") as source:
        content = etree.parse(source, etree.XMLParser(resolve_entities=False, no_network=True))
    if next(content.iter(f"{_OFFICE}spreadsheet"), None) is None:
        raise HdbenchError(
            "{place}: this is an OpenDocument file, but no spreadsheet: save it as .ods or .csv",
            place=name,
        )
    hidden = {
        style.get(f"{_STYLE}name")
        for style in content.iter(f"{_STYLE}style")
        if any(part.get(f"{_TABLE}display") == "false" for part in style)
    }
    for table in content.iter(f"{_TABLE}table"):
        if table.get(f"{_TABLE}style-name") in hidden:
            continue
        sheet = Sheet(table.get(f"{_TABLE}name", ""), [], [])
        where = f"{name}: {sheet.title}"
        blank = width = 0
        for row in table.iter(f"{_TABLE}table-row"):
            cells = _cells_of(row, where, len(sheet.rows) + blank + 1, sheet.ranges)
            times = _number(row, "number-rows-repeated")
            if not cells:  # thousands of them stand below a table
                blank += times
                continue
            width = max(width, len(cells))
            if (len(sheet.rows) + blank + times) * width > MAX_CELLS:
                raise too_many_cells(where)
            sheet.rows.extend([] for _ in range(blank))
            sheet.rows.extend([*cells] for _ in range(times))
            blank = 0
        yield sheet


def _cells_of(row: Any, where: str, number: int, ranges: list[tuple[int, int, int]]) -> list[str]:
    """Return the cells of a row up to the last one with a value, and add what is merged there."""
    cells: list[str] = []
    blank = 0
    for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        times = _number(cell, "number-columns-repeated")
        if not (text := _open_text(cell)):
            blank = min(blank + times, MAX_CELLS)
            continue
        cells += [""] * blank
        if len(cells) + times > MAX_CELLS:
            raise too_many_cells(where)
        if (spanned := _number(cell, "number-rows-spanned")) > 1:
            ranges.append((number, number + spanned - 1, len(cells) + 1))
        cells += [text] * times
        blank = 0
    return cells


def _open_text(cell: Any) -> str:
    kind = cell.get(f"{_OFFICE}value-type")
    if kind in ("float", "currency", "percentage"):
        return cell_of(float(cell.get(f"{_OFFICE}value", "nan")))
    if kind == "date":
        return str(cell.get(f"{_OFFICE}date-value", "")).removesuffix("T00:00:00")
    if kind == "boolean":
        return str(cell.get(f"{_OFFICE}boolean-value", ""))
    return "\n".join("".join(part.itertext()) for part in cell.iterchildren(f"{_TEXT}p"))


def _number(element: Any, name: str) -> int:
    text = element.get(f"{_TABLE}{name}", "1")
    return int(text) if re.fullmatch("[0-9]{1,7}", text) else 1
