"""A work sheet as it comes back."""

import datetime

import pytest
from openpyxl import load_workbook
from trust.collection import Collection
from trust.sheet.work_sheets import (
    ODD,
    Desk,
    as_csv,
    filled,
    lines_of,
    place_of,
    rows_of,
)
from trust.test_apply import HOSTILE, applied

from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly


@pytest.fixture
def hdbench(desk, run_hdbench):
    def run(*arguments, sheet=desk.sheet, **options):
        command = ("trust", "read-sheet", desk.out, sheet, *arguments)
        return run_hdbench(*map(str, command), cwd=desk.collection.folder, **options)

    return run


def said(desk, path=None):
    """Item and field → the value in the sheet, and the run that says so too."""
    reading = desk.read(path)
    assert reading.problems == []
    return {tuple(row.key): (row.value, row.run) for row in reading.filled}


def entries(desk):
    """What is chosen and typed, and what it means."""
    sheet = {tuple(row[:2]): row for row in rows_of(desk.sheet)[1:]}
    return {
        # As they are in the lists of choices, and so in the cells.
        (desk.hostile, "title"): (sheet[desk.hostile, "title"][3], (HOSTILE, "one")),
        (desk.odd, "title"): (sheet[desk.odd, "title"][5], (ODD[2], "three")),
        (desk.scattered, "title"): ("bbbb", ("bbbb", "two")),
        (desk.scattered, "shelfmark"): ("0012", ("0012", None)),
        (desk.silent, "title"): ("=1+1", ("=1+1", None)),
        (desk.silent, "year"): ("1931", (1931, None)),
        (desk.silent, "keywords"): ("Ehe; Recht", (["Ehe", "Recht"], None)),
        (desk.silent, "imprint.place"): ("(Nicht auf dem Bild)", (None, None)),
        (desk.silent, "shelfmark"): ("zwei\nZeilen", ("zwei\nZeilen", None)),
    }


def test_choices_and_typed_values_come_back_as_they_are(desk):
    wanted = entries(desk)
    filled(desk.sheet, {key: cell for key, (cell, _) in wanted.items()})
    assert said(desk) == {key: value for key, (_, value) in wanted.items()}


def test_candidates_that_a_cell_cannot_hold_come_back_whole(desk):
    for column, (run, text) in enumerate(zip(("one", "two", "three"), ODD, strict=True), start=3):
        cell = next(row for row in rows_of(desk.sheet) if row[0] == desk.odd)[column]
        path = filled(desk.sheet, {(desk.odd, "title"): cell}, desk.out / f"{run}.xlsx")
        assert said(desk, path) == {(desk.odd, "title"): (text, run)}


def test_the_sheet_may_be_sorted_cut_and_widened(desk):
    filled(desk.sheet, {(desk.scattered, "title"): "bbbb", (desk.silent, "year"): 1931})
    head, *rows = rows_of(desk.sheet)
    # Twenty rows, the last one first; the columns from behind, and one more; a title above.
    moved = [[*reversed(row), "?"] for row in (head, *rows[19::-1])]
    moved.insert(0, ["Stand: Montag"])
    for delimiter, encoding in ((";", "cp1252"), (",", "utf-8-sig"), ("\t", "utf-16")):
        path = as_csv(None, desk.out / "w.csv", delimiter=delimiter, encoding=encoding, rows=moved)
        assert said(desk, path) == {
            (desk.scattered, "title"): ("bbbb", "two"),
            (desk.silent, "year"): (1931, None),
        }


def test_a_german_sheet_is_read_as_csv_with_semicolons(desk):
    path = desk.sheet.with_name("deutsch.xlsx")
    desk.write(path, language="de")
    filled(path, {(desk.scattered, "title"): "Käse; „Wein“"}, heading="Wert")
    saved = as_csv(path, desk.out / "deutsch.csv")
    assert said(desk, saved) == {(desk.scattered, "title"): ("Käse; „Wein“", None)}


def refused(desk, key, cell, heading="Value"):
    """Why a cell is refused."""
    filled(desk.sheet, {key: cell}, heading=heading)
    reading = desk.read()
    assert reading.filled == []
    (problem,) = reading.problems
    place = place_of(desk.sheet, key, heading)
    start = f"{desk.sheet}: Work list!{place}: "
    assert problem.startswith(start)
    return problem.removeprefix(start)


def test_a_value_that_the_schema_refuses_is_named(desk):
    assert refused(desk, (desk.silent, "year"), "um 1931") == "'um 1931': not a number"


def test_a_date_of_the_program_is_refused(desk):
    day = datetime.date(2026, 5, 3)
    why = refused(desk, (desk.silent, "title"), day)
    assert why.startswith("a date of the spreadsheet program, which hides what was entered")


def test_a_formula_that_failed_is_refused(desk):
    why = refused(desk, (desk.silent, "title"), "#NAME?")
    assert why == "a formula that failed: enter the text itself in its place"


def test_a_remark_that_is_too_long_is_refused(desk):
    filled(desk.sheet, {(desk.silent, "title"): "Faust"})
    why = refused(desk, (desk.silent, "title"), "x" * 10_001, heading="Remark")
    assert why == "longer than 10,000 characters: shorten it"


def changed_cell(desk, heading, change):
    """Change the first row with a value, and return the problems."""
    filled(desk.sheet, {(desk.silent, "title"): "Faust"})
    book = load_workbook(desk.sheet)
    sheet = book.worksheets[0]
    column = [cell.value for cell in sheet[1]].index(heading) + 1
    cell = sheet.cell(2, column)
    cell.value = change(cell.value, sheet.cell(3, column).value)
    book.save(desk.sheet)
    reading = desk.read()
    assert reading.filled == []
    return [str(problem).partition("Work list!")[2] for problem in reading.problems]


def test_a_changed_key_is_refused(desk):
    (why,) = changed_cell(desk, "Key (leave as it is)", lambda key, _: key[::-1])
    assert why == f"K2: not a key of {desk.out}: restore it, delete the row, or write a new sheet"


def test_a_value_without_a_key_is_refused(desk):
    (why,) = changed_cell(desk, "Key (leave as it is)", lambda *_: None)
    assert why.startswith("G2: a value, but the row has no key")


def test_a_row_that_is_there_twice_is_refused(desk):
    (why,) = changed_cell(desk, "Key (leave as it is)", lambda _, below: below)[:1]
    assert why == f"K3: the same row as {desk.sheet}: Work list!K2: delete one of them"


@pytest.mark.parametrize(("heading", "place"), [("Item", "A2"), ("Field", "B2")])
def test_cells_that_were_sorted_without_the_others_are_refused(desk, heading, place):
    (why,) = changed_cell(desk, heading, lambda *_: "other")
    assert why.startswith(f"{place}: 'other' instead of ")


def test_a_sheet_of_another_folder_is_refused(desk, tmp_path_factory):
    other = Collection(tmp_path_factory.mktemp("other"), given={})
    applied(other)
    filled(desk.sheet, {(desk.silent, "shelfmark"): "X"})
    folder = tmp_path_factory.mktemp("desk")
    problems = Desk(other, folder).read(desk.sheet).problems
    assert len(problems) == len(rows_of(desk.sheet)) - 1
    assert all(f": not a key of {folder / 'out'}: " in problem for problem in problems)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (["Item", "Field", "Value"], "not a work sheet of hdbench trust sheet"),
        (["Item", "Field", "Key (leave as it is)"], "has no column Value"),
        (
            ["Item", "Field", "Value", "Wert", "Key (leave as it is)"],
            "several columns are called Value: rename those that you added",
        ),
    ],
)
def test_a_table_without_the_headings_is_refused(desk, head, why):
    path = as_csv(None, desk.out / "w.csv", rows=[head, ["a"] * len(head)])
    with pytest.raises(HdbenchError, match=why):
        desk.read(path)


def test_two_copies_of_the_sheet_in_a_workbook_are_refused(desk):
    book = load_workbook(desk.sheet)
    book.copy_worksheet(book.worksheets[0])
    book.save(desk.sheet)
    with pytest.raises(HdbenchError, match="several sheets have a column Key"):
        desk.read()


def test_a_single_wrong_cell_keeps_all_others_out(desk, hdbench):
    filled(desk.sheet, {(desk.silent, "title"): "Faust", (desk.silent, "year"): "?"})
    done = hdbench("--yes")
    assert done.returncode == 2
    place = place_of(desk.sheet, (desk.silent, "year"))
    assert f"Work list!{place}: '?': not a number\n" in done.stderr
    assert "nothing was taken in: 1 cell does not fit: correct it" in done.stderr
    assert lines_of(desk.out) == []


def test_it_says_what_changes_and_asks(desk, hdbench):
    filled(desk.sheet, {(desk.silent, "title"): "Faust", (desk.scattered, "title"): "bbbb"})
    filled(desk.sheet, {(desk.silent, "year"): "unleserlich"}, heading="Remark")
    unasked = hdbench()
    assert unasked.returncode == 2
    assert "run this in a terminal, or add --yes" in unasked.stderr
    assert lines_of(desk.out) == []
    done = hdbench("--yes", "--as", "anna")
    assert [line.partition(": ")[2] for line in done.stdout.splitlines()] == [
        "new values: 2",
        "rows without a value, which stay open: 95",
        "remarks in these rows, which are not kept: 1",
        "taken in: 2",
    ]
    first, second = lines_of(desk.out)
    shared = {"by": "anna", "what": "value", "how": "spreadsheet", "group_size": 2}
    assert shared.items() <= first.items()
    assert shared.items() <= second.items()
    assert first["group"] == second["group"]
    assert ("run" in first, second["run"]) == (False, "two")


def test_a_remark_is_kept_with_its_value(desk, hdbench):
    filled(desk.sheet, {(desk.silent, "title"): "Faust"})
    filled(desk.sheet, {(desk.silent, "title"): "oben rechts"}, heading="Remark")
    hdbench("--yes")
    (line,) = lines_of(desk.out)
    assert (line["value"], line["remark"]) == ("Faust", "oben rechts")
    # The same sheet again is not another decision; another remark is.
    assert "values that are here already: 1" in hdbench("--yes").stdout
    filled(desk.sheet, {(desk.silent, "title"): "unten"}, heading="Remark")
    assert "taken in: 1" in hdbench("--yes").stdout


def test_in_german_it_says_the_same(desk, hdbench):
    filled(desk.sheet, {(desk.silent, "title"): "Faust"})
    done = hdbench("--yes", HDBENCH_LANGUAGE="de")
    assert f"{desk.sheet}: neue Werte: 1\n" in done.stdout
    assert done.stdout.endswith("übernommen: 1\n")
