import openpyxl
import pytest

from hdbench.answers.tables import read_table
from hdbench.errors import HdbenchError


@pytest.fixture
def read(tmp_path):
    def read(text, encoding="utf-8"):
        file = tmp_path / "wahrheit.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return read_table(file)

    return read


@pytest.fixture
def refusal(read):
    def refusal(text):
        with pytest.raises(HdbenchError) as caught:
            read(text)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300
        return str(caught.value)

    return refusal


@pytest.fixture
def workbook(tmp_path):
    def make(**sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        file = tmp_path / "wahrheit.xlsx"
        book.save(file)
        return file

    return make


def test_rows_keep_their_places_and_empty_ones_are_dropped(read):
    table = read('a;b\n1;"zwei\nZeilen"\n\n;\n2;\n;\n ; \n')
    assert table.rows == [
        ("wahrheit.csv:2", ["1", "zwei\nZeilen"]),
        ("wahrheit.csv:6", ["2", ""]),
    ]


def test_a_title_above_the_header_is_not_data(read):
    table = read('"Wahrheit der\nKarten 1912";;\n;;\nDatei;Titel;Jahr\n1.jpg;A;1912\n')
    assert table.header == ["Datei", "Titel", "Jahr"]
    assert table.rows == [("wahrheit.csv:5", ["1.jpg", "A", "1912"])]
    assert table.notes[0] == (
        "wahrheit.csv: read as a title above the table, not as data: Wahrheit der Karten 1912"
    )


def test_separator_line_and_two_line_heading_are_read(read):
    table = read('sep=;\r\nDatei;"Erscheinungs-\r\njahr, Ort"\r\n1.jpg;1912\r\n')
    assert table.header == ["Datei", "Erscheinungs- jahr, Ort"]
    assert table.rows == [("wahrheit.csv:4", ["1.jpg", "1912"])]


def test_columns_without_a_name_or_with_the_name_of_another(read):
    table = read("Datei,Autor,Autor (2),Autor,,,\n1.jpg,A,B,C,,,\n")
    assert table.header == ["Datei", "Autor", "Autor (2)", "Autor (3)"]


def test_short_rows_under_a_wide_header_count_as_wide(refusal, monkeypatch):
    monkeypatch.setattr("hdbench.answers.tables.MAX_CELLS", 5_000)
    rows = "".join(f"{number},a\n" for number in range(100))
    header = ",".join(f"c{number}" for number in range(100))
    assert refusal(f"{header}\n{rows}").startswith("wahrheit.csv:52: more than")


def test_names_of_groups_may_be_merged_with_the_cells_below(workbook):
    rows = [["Datei", "Autor", None, "Jahr"], [None, "Name", "Ort", None], ["b1", "Frey", "B", 1]]
    file = workbook(Karten=rows)
    book = openpyxl.load_workbook(file)
    for merged in ("A1:A2", "B1:C1", "D1:D2"):
        book["Karten"].merge_cells(merged)
    book.save(file)
    assert read_table(file).header == ["Datei", "Autor Name", "Autor Ort", "Jahr"]
