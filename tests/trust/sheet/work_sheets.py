"""A folder of `hdbench trust apply`, and its work sheet as people fill it in."""

import csv
import json
import shutil
from contextlib import closing

from openpyxl import load_workbook
from trust.collection import Collection
from trust.test_apply import GIVEN, HOSTILE, applied, record

from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.output.exporting.work_sheet import SheetOptions, write_work_sheet
from hdbench.trust.sheet.reading import read_sheet
from hdbench.trust.working import AppliedWorkList

ODD = ("#N/A", "_x0041_x0042_ <r>a</r>", ' 0012\t;\r\n"=1+1" ')
CONTRADICTED = GIVEN | {
    6: [record(title=HOSTILE), record(title="0012"), record(title="+49 61")],
    7: [record(title=text) for text in ODD],
}
OPEN = 97
"""Values to look at: three below the threshold, five without an answer, 89 shelfmarks."""


class Desk:
    """A folder with a decision that was applied, `out` in it, and a work sheet.

    Args:
        collection: the collection, its runs and its plan.
        folder: a folder of its own, with a copy of what was applied.
    """

    def __init__(self, collection, folder):
        self.collection = collection
        self.out = folder / "out"
        shutil.copytree(collection.folder / "out", self.out)
        self.sheet = folder / "work.xlsx"
        self.benchmark = collection.benchmark
        self.scattered, self.silent = collection.rest[:2]
        self.hostile, self.odd = collection.rest[6:8]

    def write(self, path=None, *, language="en", **options):
        with self._work_list() as work_list:
            return write_work_sheet(
                path or self.sheet, work_list, SheetOptions(language, **options)
            )

    def read(self, path=None):
        with self._work_list() as work_list:
            return read_sheet(path or self.sheet, work_list)

    def _work_list(self):
        return closing(AppliedWorkList(self.out / "worklist.csv", self.benchmark))

    def worked(self):
        """Item and field → value, of all that is worked off."""
        current = WorkedValues(self.out).current()
        return {tuple(key): decision.value for key, decision in current.items()}


def made_collection(folder):
    """A collection whose plan was applied."""
    collection = Collection(folder, given=CONTRADICTED)
    applied(collection)
    return collection


def rows_of(path, sheet=0):
    """The cells of each row."""
    return [list(row) for row in load_workbook(path).worksheets[sheet].values]


def filled(path, entries, to=None, *, heading="Value"):
    """The workbook with entries: item and field → the cell below a heading."""
    book = load_workbook(path)
    sheet = book.worksheets[0]
    column = [cell.value for cell in sheet[1]].index(heading) + 1
    left = dict(entries)
    for row in sheet.iter_rows(min_row=2):
        key = row[0].value, row[1].value
        if key in left:
            cell = sheet.cell(row[0].row, column)
            cell.value = left.pop(key)
            if cell.data_type == "f":
                cell.data_type = "s"  # as it is where the cell is formatted as text
    assert not left
    book.save(to or path)
    return to or path


def place_of(path, key, heading="Value"):
    """Where a cell stands in the sheet, such as `G12`."""
    sheet = load_workbook(path).worksheets[0]
    column = [cell.value for cell in sheet[1]].index(heading)
    return next(
        row[column].coordinate
        for row in sheet.iter_rows(min_row=2)
        if (row[0].value, row[1].value) == key
    )


def as_csv(path, to, *, delimiter=";", encoding="cp1252", rows=None):
    """The first sheet as a spreadsheet program saves it in CSV."""
    with to.open("w", encoding=encoding, errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows(rows or rows_of(path))
    return to


def lines_of(out):
    """The lines of the file of worked values."""
    path = out / "worked-values.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
