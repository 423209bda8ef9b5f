"""The sheet that a benchmark was made from is scored as the ground truth that it is."""

import csv

import openpyxl
import pytest
from helpers.results import flat_of
from PIL import Image

ROWS = [
    ["Bild", "Titel", "Schlagwörter", "Größe", "Datierung", "Jahr"],
    ["Kasten3 0001", "Die Ehe; ein Lied", "Ehe; Lied", "21", "1912-09-17", "1912"],
    ["Kasten3 0002", "Stellingen", "Tiere; Zoo; Hamburg", "-", "1913-01-02", ""],
    ["Kasten3 0003", "Rheinfahrt", "Rhein", "20,5", "1914-02-03", "1914"],
    ["Kasten3 0004", "Gotthard", "Alpen; Bahn", "k. A.", "1915-03-04", "1915"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run_hdbench):
    folder = tmp_path_factory.mktemp("sheets")
    (folder / "scans").mkdir()
    for number in range(1, 5):
        image = Image.new("RGB", (9, 9), (number, 0, 0))
        image.save(folder / f"scans/Kasten3_000{number}.jpg")
    write(folder, ROWS)
    done = run_hdbench("new", "cards", "scans", "--truth", "t.csv", cwd=folder)
    assert "note: 'Kasten3_0001' is 'Kasten3 0001' there" in done.stdout, done
    done = run_hdbench("build", "cards", "--accept-licence", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def write(folder, rows):
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append([None if cell == "" else cell for cell in row])
    workbook.save(folder / "t.xlsx")


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_the_sheet_that_a_benchmark_was_made_from_is_perfect(folder, name, run_hdbench):
    write(folder, ROWS)
    done = run_hdbench("score", "hdb/cards", name, "--json", "r.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = flat_of(folder / "r.json")
    assert (result["f1_micro"], result["items_perfect"]) == (1.0, 4)
    assert "Bild → id, Titel → titel, Schlagwörter → schlagwoerter[] (';')" in (
        " ".join(done.stdout.split())
    )


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_with_one_value_changed_it_is_not(folder, name, run_hdbench):
    changed = [list(row) for row in ROWS]
    changed[2][2] = "Tiere; Zoo; Bremen"
    write(folder, changed)
    done = run_hdbench("score", "hdb/cards", name, "--json", "r.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = flat_of(folder / "r.json")
    # Of four titles, eight keywords, two sizes, four dates and three years, one keyword is wrong.
    found = [result[name] for name in ("true_positives", "false_positives", "false_negatives")]
    assert found == [20, 1, 1]
