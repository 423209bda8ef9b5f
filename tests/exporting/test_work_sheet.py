"""The work list as a spreadsheet."""

import json
import shutil
import zipfile
from urllib.parse import unquote

import pytest
from openpyxl import load_workbook
from PIL import Image
from trust.sheet.work_sheets import OPEN, Desk, filled, lines_of, made_collection, rows_of
from trust.test_apply import HOSTILE

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.errors import HdbenchError
from hdbench.output.exporting import work_sheet
from hdbench.trust.sheet.reading import FilledRow
from hdbench.trust.sheet.taking import as_decisions

pytestmark = pytest.mark.slow

HEADINGS = ["Item", "Field", "Image", "Run one", "Run two", "Run three", "Value", "Remark"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return made_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture
def desk(collection, tmp_path):
    return Desk(collection, tmp_path)


def test_each_value_to_look_at_has_a_row_worst_item_first(desk):
    assert desk.write().values == OPEN
    head, *rows = rows_of(desk.sheet)
    assert head == [*HEADINGS, "Confidence", "Reason", "Key (leave as it is)"]
    # No run has an answer to any of its five values; of the next one, three runs contradict.
    assert [row[:2] for row in rows[:7]] == [
        [desk.silent, "title"],
        [desk.silent, "year"],
        [desk.silent, "imprint.place"],
        [desk.silent, "keywords"],
        [desk.silent, "shelfmark"],
        [desk.scattered, "title"],
        [desk.scattered, "shelfmark"],
    ]
    assert rows[5][2:10] == ["card.png", "aaaa", "bbbb", "cccc", None, None, 0, rows[5][9]]
    assert rows[5][9] == "score below threshold"
    assert rows[6][3:10] == ["X", "X", "X", None, None, 1, "field without accepted values"]
    assert rows[0][3:10] == [None, None, None, None, None, None, "no answer"]
    assert len({row[10] for row in rows}) == len(rows) == OPEN


def test_choices_are_in_a_hidden_sheet_by_the_key_of_the_row(desk):
    desk.write()
    book = load_workbook(desk.sheet)
    sheet, choices = book.worksheets
    assert choices.sheet_state == "hidden"
    by_key = {row[0]: row[1 : 2 + row[1]] for row in list(choices.values)[1:]}
    keys = {(row[0], row[1]): row[10] for row in sheet.values}
    nothing = "(not on the image)"
    scattered = by_key[keys[desk.scattered, "title"]]
    assert scattered == (4, "aaaa", "bbbb", "cccc", nothing)
    assert by_key[keys[desk.scattered, "shelfmark"]] == (2, "X", nothing)
    assert by_key[keys[desk.silent, "year"]] == (1, nothing)
    (rule,) = sheet.data_validations.dataValidation
    assert str(rule.sqref) == f"G2:G{OPEN + 1}"
    assert not rule.showErrorMessage  # something else may be typed
    assert "MATCH($K2,Choices!$A$2:$A$98,0)" in rule.formula1.replace("'", "")


def test_headings_choices_and_reasons_are_in_german(desk):
    desk.write(language="de")
    head, *rows = rows_of(desk.sheet)
    assert head[:4] == ["Eintrag", "Feld", "Bild", "Lauf one"]
    assert head[6:] == ["Wert", "Bemerkung", "Konfidenz", "Grund", "Schlüssel (bitte so lassen)"]
    assert rows[0][9] == "keine Antwort"
    assert rows_of(desk.sheet, 1)[1][2] == "(nicht auf dem Bild)"


def test_nothing_that_a_model_wrote_is_a_formula(desk):
    desk.write()
    sheet = load_workbook(desk.sheet).worksheets[0]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    value = sheet.cell(2, 7)
    assert value.number_format == "@"  # so that a typed =1+1 or 0012 stays text
    hostile = next(row for row in sheet.iter_rows() if row[0].value == desk.hostile)
    assert hostile[3].value == HOSTILE.replace("\x00", "␀").replace("\ud800", "\ufffd")
    assert hostile[3].value.startswith("=")
    assert hostile[4].value == "0012"


@pytest.fixture
def renamed(collection, desk):
    """Let the sheet be about a copy of the collection, with other names of images."""

    def renamed(names):
        copied = desk.out.parent / "cards"
        shutil.copytree(collection.benchmark, copied)
        (copied / "images").mkdir(exist_ok=True)
        path = copied / "metadata.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        named = (row | {"file_name": names.get(row["id"], "images/card.png")} for row in rows)
        path.write_text("".join(json.dumps(row) + "\n" for row in named))
        desk.benchmark = copied
        return copied

    return renamed


def test_a_link_leads_from_the_sheet_to_the_image(desk, renamed):
    name = "images/Käse & Co #1 100%.png"
    copied = renamed({desk.silent: name})
    Image.new("RGB", (9, 6)).save(copied / name)
    (desk.out / "sheets").mkdir()
    path = desk.out / "sheets/work.xlsx"
    desk.write(path)
    cell = load_workbook(path).worksheets[0].cell(2, 3)
    assert cell.value == "Käse & Co #1 100%.png"
    target = unquote(cell.hyperlink.target).replace("\\", "/")
    assert (path.parent / target).resolve() == (copied / name).resolve()


def test_odd_names_of_images_are_shown_without_harm(desk, renamed):
    renamed(
        {
            desk.silent: "images/<r>&lt;.png",
            desk.scattered: "images/\ud800=1+1.png",
            desk.odd: f"images/{'0123456789' * 6}.png",
        }
    )
    desk.write()
    sheet = load_workbook(desk.sheet).worksheets[0]
    shown = {row[0].value: row[2] for row in sheet.iter_rows(min_row=2)}
    assert shown[desk.silent].value == "<r>&lt;.png"
    assert shown[desk.scattered].value == "\ufffd=1+1.png"
    assert shown[desk.scattered].hyperlink is None
    assert shown[desk.odd].value == "0123456789012345678…6789.png"


def test_thumbnails_are_bounded_and_missing_images_counted(collection, desk, monkeypatch):
    images = collection.benchmark / "images"
    images.mkdir()
    try:
        Image.effect_noise((1200, 900), 90).save(images / "card.png")
        monkeypatch.setattr(work_sheet, "MAX_THUMBNAILS", 1)
        # The items are the silent one, with five values, and 89 others; one fills the room.
        assert desk.write(thumbnails=True).without_thumbnail == 89
        with zipfile.ZipFile(desk.sheet) as archive:
            (name,) = (each for each in archive.namelist() if "media/" in each)
            with archive.open(name) as file, Image.open(file) as picture:
                assert (picture.format, picture.size) == ("JPEG", (320, 240))
        assert load_workbook(desk.sheet).worksheets[0].row_dimensions[2].height == 195  # 260 px
    finally:
        shutil.rmtree(images)
    assert desk.write(desk.out / "without.xlsx", thumbnails=True).without_thumbnail == 90


def test_a_sheet_with_too_many_values_is_refused_first(desk, monkeypatch):
    monkeypatch.setattr(work_sheet, "MAX_VALUES", 40)
    with pytest.raises(HdbenchError, match="97 values to look at are more than the 40 that a"):
        desk.write()
    assert not desk.sheet.exists()
    written = desk.write(limit=7)
    assert (written.values, written.left) == (7, 90)
    assert [row[0] for row in rows_of(desk.sheet)[1:]] == [desk.silent] * 5 + [desk.scattered] * 2


def test_a_sheet_that_may_be_filled_in_is_not_replaced(desk):
    desk.write()
    filled(desk.sheet, {(desk.silent, "title"): "Faust"})
    before = desk.sheet.read_bytes()
    with pytest.raises(HdbenchError, match="may be filled in: choose another -o"):
        desk.write()
    assert desk.sheet.read_bytes() == before


def test_what_is_worked_off_is_left_out_until_nothing_is_left(desk):
    desk.write()
    rows = [FilledRow(ValueKey(*row[:2]), "x", None, "", "") for row in rows_of(desk.sheet)[1:]]
    worked = WorkedValues(desk.out)
    worked.add(as_decisions(rows[:90], "anna"))
    written = desk.write(desk.out / "next.xlsx")
    assert (written.values, written.worked) == (7, 90)
    worked.add(as_decisions(rows[90:], "anna"))
    with pytest.raises(HdbenchError, match="nothing to look at is left"):
        desk.write(desk.out / "last.xlsx")
    assert len(lines_of(desk.out)) == OPEN


def test_the_same_sheet_is_written_byte_for_byte(desk):
    desk.write()
    other = desk.sheet.with_name("other.xlsx")
    desk.write(other)
    assert other.read_bytes() == desk.sheet.read_bytes()


def test_the_command_says_what_it_wrote_and_what_comes_next(desk, run_hdbench):
    def told(*arguments):
        command = ("trust", "sheet", desk.out, "-o", desk.sheet, *arguments)
        return run_hdbench(*map(str, command), cwd=desk.collection.folder)

    done = told("--limit", "7")
    assert done.stdout.splitlines() == [
        f"{desk.sheet}: 7 values to look at",
        "left for a next sheet, as less doubtful: 90",
        f"when it is filled in: hdbench trust read-sheet {desk.out} {desk.sheet}",
    ], done.stderr
    again = told()
    assert (again.returncode, again.stdout) == (2, "")
    assert "is there already, and may be filled in" in again.stderr
    other = told("-o", "work.csv")
    assert other.stderr == "error: work.csv: a work sheet is XLSX: choose -o FILE.xlsx\n"
