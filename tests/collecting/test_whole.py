import hashlib
from pathlib import Path

import pytest
import xlsxwriter
import yaml

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
    assert found.sha256 == hashlib.sha256(TABLE.encode("cp1252")).hexdigest()
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


def test_the_files_of_a_folder_are_its_items(tmp_path):
    for name in ("b.JPG", "a.pdf", "c.txt", ".hidden.jpg", "Thumbs.db"):
        (tmp_path / name).touch()
    (tmp_path / "d.jpg").symlink_to("/etc/passwd")
    (tmp_path / "e.jpg").mkdir()
    found = read_whole(tmp_path)
    assert found.ids == ["a.pdf", "b.JPG", "c.txt"]
    assert found.columns == {}
    # Thumbs.db and the link.
    assert found.notes == [f"{tmp_path}: 2 other files are not among the items"]
    assert found.sha256 == hashlib.sha256(b"a.pdf\nb.JPG\nc.txt\n").hexdigest()


def test_a_device_that_never_ends_is_not_read():
    with pytest.raises(HdbenchError, match="not a file: a table"):
        read_whole(Path("/dev/zero"))


def test_a_workbook_that_is_none(tmp_path):
    (tmp_path / "kat.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(HdbenchError, match="damaged ZIP"):
        read_whole(tmp_path / "kat.xlsx")


def test_the_command_prints_strata_and_writes_the_file(tmp_path, run_hdbench):
    rows = [f"{n:04}.jpg;{'Brief' if n % 10 else 'Karte'};{1600 + n % 300}" for n in range(1200)]
    (tmp_path / "kat.csv").write_text("Datei;Typ;Jahr\n" + "\n".join(rows))
    done = run_hdbench("sample", "kat.csv", "-n", 60, "--by", "Typ", "--seed", 3, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "60 of 1,200 items drawn, stratified by Typ, seed 3" in done.stdout
    [brief] = [line.split() for line in done.stdout.splitlines() if line.startswith("  Brief")]
    assert brief == ["Brief", "1,080", "54"]
    assert done.stdout.splitlines()[-1] == "sample.yaml"
    value = yaml.safe_load((tmp_path / "sample.yaml").read_text())
    assert len(value["ids"]) == 60
    other = run_hdbench("sample", "kat.csv", "-n", 60, "--by", "Type", cwd=tmp_path)
    assert other.returncode == 2
    said = "error: kat.csv: no column 'Type'; it has: Datei, Typ, Jahr; did you mean Typ?\n"
    assert other.stderr == said
