"""Workbooks of Excel (XLSX) and of LibreOffice (ODS), within bounds, with their merged cells."""

import datetime
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from hdbench.answers.answer import too_large
from hdbench.answers.cells import cell_of
from hdbench.answers.csv_lines import RawTable, Row
from hdbench.answers.entries import shown
from hdbench.answers.forms import check_size, listed
from hdbench.common.bounds import MAX_CELLS, MAX_ROWS, MAX_TAGS, MAX_WORKBOOK
from hdbench.common.csv_and_excel import as_it_was
from hdbench.common.extras import needed
from hdbench.common.files import read_errors
from hdbench.errors import HdbenchError, Message

_DATE = re.compile(r"[yd]", re.IGNORECASE)
_DOCUMENT_TYPE = re.compile(b"<!(?:DOCTYPE|ENTITY)")
_LONGEST = len("<!DOCTYPE")

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


@dataclass
class Sheet:
    """A sheet.

    Attributes:
        place: what messages call it.
        title: its title.
        rows: its rows by their numbers, but not blank ones, as texts; a cell whose formula failed
            holds its code, such as `#REF!`.
        ranges: the first and last row, and the first column, of each merged cell.
        size: the number of its cells, also blank ones.
    """

    place: str
    title: str
    rows: dict[int, list[str]] = field(default_factory=dict)
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    size: int = 0

    def add(self, number: int, cells: list[str]) -> None:
        """Add a row.

        Raises:
            HdbenchError: the sheet is too large.
        """
        self.size = max(self.size, number * len(cells))
        if number > MAX_ROWS or self.size > MAX_CELLS:
            raise too_large(self.place)
        if any(map(str.strip, cells)):
            self.rows[number] = cells

    def filled(self) -> int:
        """Return how many cells have a text."""
        return sum(bool(text) for cells in self.rows.values() for text in cells)

    def fill_down(self) -> int:
        """Give the value of merged cells to the first column of all rows that they cover.

        Returns:
            How many rows that is.
        """
        end, merged = max(self.rows, default=0), 0
        for first, last, column in self.ranges:
            value = dict(enumerate(self.rows.get(first, ()), start=1)).get(column, "")
            covered = range(first + 1, min(last, end) + 1 if value else 0)
            if (merged := merged + len(covered)) > MAX_CELLS:
                raise too_large(self.place)
            for cells in filter(None, map(self.rows.get, covered)):
                cells.extend([""] * (column - len(cells)))
                cells[column - 1] = value
        return merged


def read_workbook(file: Path, name: str) -> RawTable:
    """Return the sheet with the most filled cells, of Excel only of those that are not hidden.

    A merged cell gives its value to every row that it covers.

    Args:
        file: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is damaged or too large.
        MissingExtraError: a package of the extra is not installed.
    """
    sheets, size = list[Sheet](), 0
    with read_errors(name), warnings.catch_warnings(action="ignore"):  # those of openpyxl
        try:
            for sheet in (_excel if _check(file, name) else _open_document)(file, name):
                if (size := size + sheet.size) > MAX_CELLS:
                    raise too_large(name)
                if sheet.rows:
                    sheets.append(sheet)
        except HdbenchError:
            raise
        except Exception as error:  # openpyxl raises many kinds of exception for damaged files
            reason = " ".join(str(error).split())[:200]
            raise HdbenchError(
                "{place}: a damaged workbook or another ZIP ({why}): save it again, or unpack it",
                place=name,
                why=reason,
            ) from error
    best, notes = max(sheets, key=Sheet.filled, default=Sheet(name, "")), list[str]()
    if others := [sheet.title for sheet in sheets if sheet is not best]:
        notes.append(
            Message(
                "{place}: only this sheet, the fullest, was read: delete it to read {names}",
                place=best.place,
                names=shown(others),
            )
        )
    if merged := best.fill_down():
        notes.append(
            Message(
                "{place}: rows with the value of a merged cell that covers them: {count:,}",
                place=best.place,
                count=merged,
            )
        )
    rows = (
        Row(number, Message("{place}, row {number}", place=best.place, number=number), cells)
        for number, cells in best.rows.items()
    )
    return RawTable(best.place, rows, notes)


def _check(file: Path, name: str) -> bool:
    """Return whether it is of Excel, if it is within the bounds."""
    tags, before = 0, b""
    with listed(file, name) as archive:
        members = archive.infolist()
        # No member gives more than its header says; any may be what a sheet is read from.
        check_size(sum(member.file_size for member in members), MAX_WORKBOOK, name)
        for member in members:
            with archive.open(member) as source:
                for chunk in iter(partial(source.read, 2**18), b""):
                    tags += chunk.count(b"<")
                    if tags <= MAX_TAGS and _DOCUMENT_TYPE.search(before + chunk):
                        raise HdbenchError("{place}: defines a document type", place=name)
                    before = chunk[-_LONGEST:]
    if tags > MAX_TAGS:
        raise too_large(name)
    return any(member.filename.lower().startswith("xl/") for member in members)


def _excel(file: Path, name: str) -> Iterator[Sheet]:
    with needed("excel", "Excel files need"):
        from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415

    # Row by row: otherwise a merged cell or a cell in a far corner would fill the memory.
    with file.open("rb") as source:  # whose name may have any ending
        reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
        reader.read()
        titles = {rel.target: about.name for about, rel in reader.parser.find_sheets()}
        parts = {title: part for part, title in titles.items()}  # each part is one sheet
        for sheet in reader.wb.worksheets:
            if sheet.sheet_state == "visible" and sheet.title in parts:
                sheet.reset_dimensions()
                found = Sheet(f"{name}: {sheet.title}", sheet.title)
                for number, row in enumerate(sheet.iter_rows(), start=1):
                    found.add(number, [_value(cell, found.place) for cell in row])
                with reader.archive.open(parts[sheet.title]) as part:
                    found.ranges += _merged(part)
                yield found


def _value(cell: Any, where: str) -> str:
    if cell.value == datetime.time() and _DATE.search(cell.number_format or ""):
        raise HdbenchError(
            "{place}: no date in {cell}: enter it as text", place=where, cell=cell.coordinate
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
    for table in content.iter(f"{_TABLE}table"):
        title = table.get(f"{_TABLE}name", "")
        sheet, number = Sheet(f"{name}: {title}", title), 1
        for row in table.iter(f"{_TABLE}table-row"):
            times = _number(row, "number-rows-repeated")
            if cells := _cells_of(row, number, sheet):  # thousands of others are below a table
                for each in range(number, number + times):
                    sheet.add(each, [*cells])
            number += times
        yield sheet


def _cells_of(row: Any, number: int, sheet: Sheet) -> list[str]:
    """Return the cells of a row up to the last one with a value, and add what is merged there."""
    cells: list[str] = []
    column = 0
    for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        times = _number(cell, "number-columns-repeated")
        if text := _open_text(cell):
            if column + times > MAX_CELLS:
                raise too_large(sheet.place)
            cells += [""] * (column - len(cells)) + [text] * times
            if (spanned := _number(cell, "number-rows-spanned")) > 1:
                sheet.ranges.append((number, number + spanned - 1, column + 1))
        column += times
    return cells


def _open_text(cell: Any) -> str:
    kind = cell.get(f"{_OFFICE}value-type")
    if kind in ("float", "currency", "percentage"):
        return cell_of(float(cell.get(f"{_OFFICE}value", "nan")))
    if kind in ("date", "boolean"):
        return str(cell.get(f"{_OFFICE}{kind}-value", "")).removesuffix("T00:00:00")
    return "\n".join("".join(part.itertext()) for part in cell.iterchildren(f"{_TEXT}p"))


def _number(element: Any, name: str) -> int:
    text = element.get(f"{_TABLE}{name}", "1")
    return int(text) if re.fullmatch("[0-9]{1,7}", text) else 1
