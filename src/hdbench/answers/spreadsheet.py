"""XLSX workbooks: read by python-calamine once they are known to be harmless.

calamine holds a sheet as one rectangle, so two cells in far corners would kill the process, and so
would a long text that many cells share, of which it gives each a copy; and it turns a formula's
error into an empty cell. Each part of a workbook is therefore run through expat first, which finds
all of these, and calamine gets only the parts that passed.
"""

import io
import re
import sys
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from hdbench.answers.bounds import MAX_CELLS, MAX_TEXT, too_much_text
from hdbench.answers.cells import Cell, column_letter
from hdbench.common.extras import needed
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_UNPACKED = 256 * 2**20
"""Maximum size in bytes of a workbook, packed and unpacked. A million filled cells take some 60
MiB."""

MAX_PARTS = 1_000
"""Maximum number of files in a workbook."""

MAX_SHEETS = 2 * MAX_PARTS
"""Maximum number of sheets, of which several may name the same file."""

NOT_NEEDED = (
    "customxml/",
    "docprops/",
    "xl/charts/",
    "xl/drawings/",
    "xl/externallinks/",
    "xl/theme/",
)

CHUNK = 2**18

PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
ROW = re.compile(r"[0-9]{1,7}")
NUMBER = re.compile(r"[0-9]{1,9}")


class Sheet(NamedTuple):
    """A sheet that is not empty.

    Attributes:
        name: its name.
        rows: number → cells, the first row of the sheet first. A cell whose formula gave an error
            holds its code, such as `#REF!`.
    """

    name: str
    rows: Iterator[tuple[int, list[Cell]]]


def read_sheets(file: Path, name: str) -> Iterator[Sheet]:
    """Yield the visible sheets of a workbook that have cells, one at a time.

    Args:
        file: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is not an XLSX workbook, is damaged, has a password, or is too large.
        MissingExtraError: python-calamine is not installed.
    """
    with needed("excel", "Excel files need"):
        import python_calamine as calamine  # noqa: PLC0415

    with read_errors(name):
        if file.stat().st_size > MAX_UNPACKED:
            raise _too_large(name)
        checked, parts = _check(file, name)
    yield from _sheets(calamine, checked, parts, name)


def _sheets(calamine: Any, checked: io.BytesIO, parts: "_Parts", name: str) -> Iterator[Sheet]:
    wanted = (calamine.SheetTypeEnum.WorkSheet, calamine.SheetVisibleEnum.Visible)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(checked)
        listed = [
            (index, about.name)
            for index, about in enumerate(workbook.sheets_metadata)
            if (about.typ, about.visible) == wanted
        ]
        scans = {title: parts.of_sheet(title) for _, title in listed}
        # Several sheets may name the same part.
        if sum(scan.area for scan in scans.values()) > MAX_CELLS:
            raise _too_many_cells(name)
        if sum(scan.size for scan in scans.values()) > MAX_UNPACKED:
            raise _too_large(name)
        if parts.has_more_text_than(MAX_TEXT, list(scans.values()), checked):
            raise too_much_text(name)
        if len(scans) < len(listed):
            raise HdbenchError(
                "{place}: two sheets have the same name: save it again, or as CSV", place=name
            )
        for index, title in listed:
            sheet = workbook.get_sheet_by_index(index)
            if sheet.height:
                yield Sheet(title, _rows(sheet, scans[title], f"{name}: {title}"))
    except HdbenchError:
        raise
    except Exception as error:  # calamine raises many kinds of exception for damaged files
        raise _damaged(name, error) from error


def _rows(sheet: Any, scan: "_Scan", where: str) -> Iterator[tuple[int, list[Cell]]]:
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        for column, fault in scan.faults.get(number, {}).items():
            if not fault:
                raise HdbenchError(
                    "{place}, row {number}: the formula in column {column} has no value: open the "
                    "file in a spreadsheet program and save it",
                    place=where,
                    number=number,
                    column=column_letter(column),
                )
            cells[column - 1] = fault
        yield number, cells


def _check(packed: Path, name: str) -> tuple[io.BytesIO, "_Parts"]:
    """Return the workbook with only its XML parts, and what is in them.

    calamine is given a ZIP made here, since in a forged one it could find other files than Python
    does.
    """
    try:
        with zipfile.ZipFile(packed) as archive:
            members = [
                member
                for member in archive.infolist()
                if member.filename.lower().endswith((".xml", ".rels"))
                and not member.filename.lower().startswith(NOT_NEEDED)
            ]
            names = {member.filename.lower() for member in members}
            if not any(member.startswith("xl/") for member in names):
                raise HdbenchError(
                    "{place}: not an XLSX workbook: save it as XLSX or CSV", place=name
                )
            if len(names) < len(members) or len(members) > MAX_PARTS:
                raise HdbenchError(
                    "{place}: not made by a spreadsheet program: save it as CSV", place=name
                )
            if any(member.flag_bits & 1 for member in members):
                raise HdbenchError("{place}: has a password: save it without", place=name)
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise _too_large(name)
            parts, checked, left = _Parts(), io.BytesIO(), MAX_UNPACKED
            with zipfile.ZipFile(checked, "w") as copy:
                for member in members:
                    scan = parts.add(member.filename)
                    with (
                        archive.open(member) as source,
                        copy.open(member.filename, "w", force_zip64=True) as target,
                    ):
                        while chunk := source.read(min(CHUNK, left + 1)):
                            left -= len(chunk)
                            if left < 0:
                                raise _too_large(name)
                            scan.feed(chunk)
                            if scan.cells > MAX_CELLS:
                                raise _too_many_cells(name)
                            target.write(chunk)
                        scan.feed(b"", last=True)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        if isinstance(error, HdbenchError):
            raise
        raise _damaged(name, error) from error
    except expat.ExpatError as error:
        raise _damaged(name, error) from error
    checked.seek(0)
    return checked, parts


def _too_large(name: str) -> HdbenchError:
    return HdbenchError(
        "{place}: larger than {most} MiB unpacked: save it as CSV, in parts",
        place=name,
        most=MAX_UNPACKED >> 20,
    )


def _too_many_cells(name: str) -> HdbenchError:
    return HdbenchError(
        "{place}: its sheets span more than {most:,} cells: delete the empty rows and columns, or "
        "save it as CSV",
        place=name,
        most=MAX_CELLS,
    )


def _damaged(name: str, error: Exception) -> HdbenchError:
    reason = " ".join(str(error).split())[:200]
    return HdbenchError(
        "{place}: a damaged XLSX workbook ({why}): save it again, or as CSV", place=name, why=reason
    )


class _Parts:
    """The parts of a workbook, and which of them belong to which sheet."""

    def __init__(self) -> None:
        self.scans: dict[str, _Scan] = {}

    def add(self, part: str) -> "_Scan":
        self.scans[part] = _Scan(part)
        return self.scans[part]

    def has_more_text_than(self, most: int, sheets: "list[_Scan]", checked: io.BytesIO) -> bool:
        """Return whether the shared texts are longer than this, counted once for each cell.

        The other texts are in the sheets' parts themselves, which are not larger than they are.
        """
        tables = [scan.lengths for scan in self.scans.values() if scan.lengths]
        longest = max(map(max, tables), default=0)
        if longest * sum(scan.shared for scan in sheets) <= most:
            return False  # as in nearly all workbooks, so that their cells need not be looked at
        lengths = [max(tied) for tied in zip_longest(*tables, fillvalue=0)]
        with zipfile.ZipFile(checked) as archive:
            for scan in sheets:
                with archive.open(scan.part) as source:
                    most = _left(source, lengths, most)
                if most < 0:
                    return True
        return False

    def of_sheet(self, title: str) -> "_Scan":
        """Return the scan of a sheet's part; if that part is uncertain, the scan of the largest."""
        keys = {scan.sheets[title] for scan in self.scans.values() if title in scan.sheets}
        targets = {
            scan.targets[key]
            for part, scan in self.scans.items()
            if part.lower().endswith("/workbook.xml.rels")
            for key in keys & scan.targets.keys()
        }
        scans = [
            scan
            for part, scan in self.scans.items()
            if any(f"/{part}".lower().endswith(f"/{_base(target)}") for target in targets)
        ]
        return scans[0] if len(scans) == 1 else max(self.scans.values(), key=lambda scan: scan.area)


def _left(sheet: IO[bytes], lengths: list[int], most: int) -> int:
    """Return what is left of a number of characters after the shared texts of a sheet's cells.

    Raises:
        ValueError: a cell names its text otherwise than by a plain number: calamine takes nearly
            everything else for the number of the first text.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    index: list[str] = []
    is_shared = is_value = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal is_shared, is_value
        if is_value:
            raise ValueError("a cell has elements in its value")
        kind = name.rpartition(":")[2]
        if kind == "c":
            is_shared = attributes.get("t") == "s"
        is_value = is_shared and kind == "v"
        index.clear()

    def end(_: str) -> None:
        nonlocal most, is_value
        number = "".join(index).strip()
        if is_value and number:
            if not NUMBER.fullmatch(number):
                raise ValueError(f"a cell with the text number {number[:20]!r}")
            most -= lengths[int(number)] if int(number) < len(lengths) else 0
        is_value = False

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = index.append
    while most >= 0 and (chunk := sheet.read(CHUNK)):
        parser.Parse(chunk)
    return most


def _base(target: str) -> str:
    return target.lower().lstrip("./")


class _Scan:
    """Facts about a part, complete once all of it has been fed.

    Args:
        part: its name.

    Attributes:
        area: how many cells a rectangle around all of them has.
        size: how many bytes it has.
        cells: how many cells or texts it has.
        shared: how many of the cells hold a text that others may hold, too.
        lengths: how long each of these texts is, if the part lists them.
        faults: row → column → the error's code, or nothing for a formula without a value.
        sheets: name → key, if the part lists sheets.
        targets: key → part, if the part lists the workbook's parts.
    """

    def __init__(self, part: str) -> None:
        self.part = part
        self.size = self.cells = self.shared = 0
        self.lengths = array("Q")
        self.faults: dict[int, dict[int, str]] = {}
        self.sheets: dict[str, str] = {}
        self.targets: dict[str, str] = {}
        self._row = self._column = self._last_row = self._last_column = 0
        self._kind: str | None = None
        self._formula = False
        self._value: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.StartDoctypeDeclHandler = self._refuse

    @property
    def area(self) -> int:
        return self._last_row * self._last_column

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Take the next bytes of the part.

        Raises:
            ValueError: there is a document type, which could define entities, a cell without a
                place, or a list that is too long.
            ExpatError: it is not XML.
        """
        self.size += len(chunk)
        self._parser.Parse(chunk, last)
        if max(len(self.sheets), len(self.targets)) > MAX_SHEETS:
            raise ValueError("it has too many sheets")

    def _refuse(self, *_: object) -> None:
        raise ValueError("it defines a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "c":
            self._start_cell(attributes)
        elif kind == "row":
            reference = attributes.get("r")
            if reference and not ROW.fullmatch(reference):
                raise ValueError(f"a row at position {reference[:20]!r}")
            self._row = int(reference) if reference else self._row + 1
            self._column = 0
            self._last_row = max(self._last_row, self._row)
        elif kind == "f":
            self._formula = True
            self._watch()
        elif kind == "si":
            self.cells += 1
            self.lengths.append(0)
            self._parser.CharacterDataHandler = self._measure
        elif kind == "sheet":
            keys = [value for key, value in attributes.items() if key.rpartition(":")[2] == "id"]
            self.sheets[attributes.get("name", "")] = keys[0] if keys else ""
        elif kind == "Relationship" and self.part.lower().endswith("/workbook.xml.rels"):
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def _start_cell(self, attributes: dict[str, str]) -> None:
        reference = attributes.get("r")
        if reference:
            matched = PLACE.fullmatch(reference)
            if not matched:
                raise ValueError(f"a cell at position {reference[:20]!r}")
            letters, digits = matched.groups()
            column = 0
            for letter in letters.upper():
                column = column * 26 + ord(letter) - ord("A") + 1
            self._column, row = column, int(digits)
        else:
            self._column, row = self._column + 1, self._row
        self._place = row, self._column
        self._last_row = max(self._last_row, row)
        self._last_column = max(self._last_column, self._column)
        self._kind, self._formula = attributes.get("t"), False
        self.cells += 1
        self.shared += self._kind == "s"
        if self._kind == "e":
            self._watch()

    def _watch(self) -> None:
        """Listen to what is in this cell: for most cells there is no need to know."""
        self._value = []
        self._parser.CharacterDataHandler = self._text
        self._parser.EndElementHandler = self._end

    def _measure(self, text: str) -> None:
        self.lengths[-1] += len(text)

    def _text(self, text: str) -> None:
        self._value.append(text)

    def _end(self, name: str) -> None:
        kind = name.rpartition(":")[2]
        if kind == "f":
            self._value = []
        elif kind == "c":
            value = sys.intern("".join(self._value).strip()[:100])
            row, column = self._place
            if self._kind == "e" or (self._formula and self._kind != "str" and not value):
                self.faults.setdefault(row, {})[column] = value
            self._parser.CharacterDataHandler = None
            self._parser.EndElementHandler = None
