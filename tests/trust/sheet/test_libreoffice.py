"""A work sheet that is saved by LibreOffice, as somebody's own program does it."""

import subprocess

import pytest
from openpyxl import load_workbook
from trust.sheet.test_reading import entries, said
from trust.sheet.work_sheets import OPEN, Desk, filled, made_collection, rows_of

from hdbench.answers.spreadsheet import read_sheets
from hdbench.common.excel import workbook_into, write_cell
from hdbench.trust.sheet.layout import shown_text

pytestmark = [pytest.mark.nightly, pytest.mark.needs("libreoffice")]

SEMICOLONS = (
    "csv:Text - txt - csv (StarCalc):59,34,{encoding},1,,1031,false,true,false,false,false,1"
)
"""The first sheet with semicolons, German, cells as shown."""

UTF_8, CP1252 = 76, 1


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return made_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save a file in a form, and return the new one."""
    profile = tmp_path_factory.mktemp("profile")

    def save(path, form, folder):
        command = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless"]
        command += ["--convert-to", form, "--outdir", str(folder), str(path)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        (made,) = folder.iterdir()
        return made

    return save


@pytest.fixture
def desk(collection, tmp_path):
    return Desk(collection, tmp_path)


def test_it_comes_back_without_loss(desk, saved, tmp_path):
    desk.write()
    wanted = entries(desk)
    filled(desk.sheet, {key: cell for key, (cell, _) in wanted.items()})
    path, all_values = desk.sheet, {key: value for key, (_, value) in wanted.items()}
    # As ODS and back: the second time it is another program's file.
    for number, form in enumerate(("xlsx", "ods", "xlsx")):
        (folder := tmp_path / f"saved{number}").mkdir()
        path = saved(path, form, folder)
        if form == "xlsx":
            assert said(desk, path) == all_values
    assert rows_of(path)[0] == rows_of(desk.sheet)[0]
    (folder := tmp_path / "csv").mkdir()
    assert said(desk, saved(path, SEMICOLONS.format(encoding=UTF_8), folder)) == all_values


def test_a_german_csv_in_cp1252_comes_back(desk, saved, tmp_path):
    desk.write(language="de")
    filled(desk.sheet, {(desk.silent, "title"): "Käse; 0,5 kg"}, heading="Wert")
    (folder := tmp_path / "csv").mkdir()
    path = saved(desk.sheet, SEMICOLONS.format(encoding=CP1252), folder)
    assert "Käse; 0,5 kg".encode("cp1252") in path.read_bytes()
    assert said(desk, path) == {(desk.silent, "title"): ("Käse; 0,5 kg", None)}


def test_it_finds_the_choices_of_a_row_that_was_sorted(desk, saved, tmp_path):
    """The rule of the cells, computed by LibreOffice in cells of their own."""
    desk.write()
    book = load_workbook(desk.sheet)
    sheet, hidden = book.worksheets
    (rule,) = sheet.data_validations.dataValidation
    keys = [cell.value for cell in sheet["K"]][1:]
    known = {row[0]: list(row[2 : 2 + row[1]]) for row in list(hidden.values)[1:]}
    for row, key in enumerate(reversed(keys), start=2):
        sheet.cell(row, 11).value = key
        formula = rule.formula1.replace("$K2", f"$K{row}")
        for place in range(1, 5):
            sheet.cell(row, 11 + place).value = f'=IFERROR(INDEX({formula},1,{place}),"")'
    book.save(desk.sheet)
    (folder := tmp_path / "saved").mkdir()
    computed = load_workbook(saved(desk.sheet, "xlsx", folder), data_only=True).worksheets[0]
    rows = list(computed.iter_rows(min_row=2, min_col=11, max_col=15, values_only=True))
    assert len(rows) == OPEN
    assert [[choice for choice in row[1:] if choice] for row in rows] == [
        known[key] for key in reversed(keys)
    ]


def test_links_choices_and_the_hidden_sheet_stay(desk, saved, tmp_path):
    desk.write()
    (folder := tmp_path / "saved").mkdir()
    sheet, choices = load_workbook(saved(desk.sheet, "xlsx", folder)).worksheets
    assert choices.sheet_state == "hidden"
    assert sheet.data_validations.dataValidation[0].formula1.startswith("OFFSET(")
    link = sheet.cell(2, 3).hyperlink.target.replace("\\", "/").removeprefix("file://")
    assert (folder / link).resolve() == desk.collection.benchmark / "images/card.png"
    assert sheet.cell(2, 7).number_format == "@"


def test_no_character_is_lost(saved, tmp_path):
    shown = [
        text
        for code in range(0x3000)
        for sign in [chr(code)]
        if (text := shown_text(f"a{sign}b\n{sign}c").strip())
    ]
    path = tmp_path / "signs.xlsx"
    with workbook_into(str(path), {}) as book:
        look, sheet = (
            book.add_format({"num_format": "@", "quote_prefix": True}),
            book.add_worksheet(),
        )
        for row, text in enumerate(shown):
            write_cell(sheet, row, 0, text, look)
    (folder := tmp_path / "saved").mkdir()
    (found,) = read_sheets(saved(path, "xlsx", folder), "signs.xlsx")
    assert [cells[0].strip() for _, cells in found.rows] == shown
