from pathlib import Path

import pytest
import xlsxwriter

from hdbench.datasets.collecting.whole import read_whole
from hdbench.errors import HdbenchError

TABLE = "Datei;Typ;Jahr\r\na.jpg;Brief;1800\r\nb.jpg;Größe, usw.;#NV\r\n\r\nc.jpg;;=1+1\r\n"


def test_a_table_as_a_german_spreadsheet_program_writes_it(tmp_path):
    path = tmp_path / "kat.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    found = read_whole(path)
    assert found.ids == ["a.jpg", "b.jpg", "c.jpg"]
    assert found.columns["Typ"] == ["Brief", "Größe, usw.", ""]
    assert found.columns["Jahr"] == ["1800", "", "=1+1"]
    assert any("the ids are in the column 'Datei'" in note for note in found.notes)


def test_a_workbook_has_the_same_items(tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "kat.xlsx")
    sheet = book.add_worksheet("Katalog")
    for row, cells in enumerate([["Jahr", "ID"], [1800, "a"], [1801.0, "b"]]):
        sheet.write_row(row, 0, cells)
    book.close()
    found = read_whole(tmp_path / "kat.xlsx")
    assert found.ids == ["a", "b"]
    assert found.columns["Jahr"] == ["1800", "1801"]


def test_first_column_has_the_ids_if_no_title_says_so(tmp_path):
    path = tmp_path / "kat.csv"
    path.write_text("Signatur,Typ\nMs 1,x\n")
    assert read_whole(path).ids == ["Ms 1"]


def test_a_device_that_never_ends_is_not_read():
    with pytest.raises(HdbenchError, match="neither a file nor a folder"):
        read_whole(Path("/dev/zero"))


def test_a_workbook_that_is_none(tmp_path):
    (tmp_path / "kat.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(HdbenchError, match="damaged ZIP"):
        read_whole(tmp_path / "kat.xlsx")
