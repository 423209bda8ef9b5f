"""Finished records in OpenRefine, and the way back with identifiers."""

import csv

import pytest
from authorities.reconciling import served
from exporting.finished_records import FIELDS, HOSTILE, write_finished
from helpers.openrefine import OpenRefine
from openpyxl import load_workbook

from hdbench.authorities.reconciled import read_identifiers
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import HdbenchError
from hdbench.output.exporting.openrefine import check_link, write_for_openrefine

LINK = "https://catalogue.example/items/{id}?view=1"
HEAD = ["id", "state", "link", "images", *(t for f in FIELDS for t in (f, f"{f}: origin"))]
TITLE = HOSTILE.replace("\x00", "␀")


def table(folder, form, link=LINK):
    benchmark, records = write_finished(folder)
    write_for_openrefine(records, folder / f"t.{form}", benchmark, FIELDS, link)
    return folder / f"t.{form}"


def rows_of(path):
    return [[cell.value for cell in row] for row in load_workbook(path).active.iter_rows()]


def test_a_workbook_has_values_of_the_right_types(tmp_path):
    head, first, second = rows_of(table(tmp_path, "xlsx"))
    assert head == HEAD
    assert first[0] == "0012"
    assert first[2] == "https://catalogue.example/items/0012?view=1"
    assert first[3] == (tmp_path / "cards/images/card 0.png").as_uri()
    assert first[4:] == [
        *("Über die Ehe", "checked", 1898, "accepted", "Basel", "worked"),
        *("Recht | Diss.", "accepted", "1898-03-04", "accepted"),
    ]
    assert second[2] == "https://catalogue.example/items/a%2Fb%20%C3%BC?view=1"
    # What is open is not there, and what might be a formula is text.
    assert second[4:8] == [TITLE, "corrected", None, "open"]
    assert second[1] != first[1]


def test_a_table_without_links_has_no_column_for_them(tmp_path):
    with table(tmp_path, "csv", link="").open(encoding="utf-8", newline="") as file:
        head, *_ = csv.reader(file)
    assert head == [title for title in HEAD if title != "link"]


@pytest.mark.parametrize("link", ["https://a.example/items", "cards/{id}", "javascript:{id}//"])
def test_what_is_not_an_address_of_an_item_is_refused(link):
    with pytest.raises(HdbenchError, match="is not an address such as"):
        check_link(link)


@pytest.mark.nightly
@pytest.mark.needs("openrefine")
def test_openrefine_opens_it_and_gives_ids_back(tmp_path):
    path = table(tmp_path, "csv")
    (tmp_path / "places.csv").write_text("Basilea;Q78\nBasel;Q78\nBern;Q70\n")
    with served([tmp_path / "places.csv"]) as url, OpenRefine(tmp_path / "refine") as program:
        project = program.open(path)
        assert project.columns() == HEAD
        first, second = project.rows()
        assert first[0] == "0012"
        assert first[4:] == [
            *("Über die Ehe", "checked", "1898", "accepted", "Basel", "worked"),
            *("Recht | Diss.", "accepted", "1898-03-04", "accepted"),
        ]
        assert second[12] == "0007"
        assert second[4].removeprefix("'") == TITLE
        project.reconcile("imprint.place", url, "places")
        project.add_identifiers("imprint.place", "imprint.place: identifier")
        exported = project.export(tmp_path / "reconciled.csv")
    known = read_identifiers([str(exported)], FIELDS)
    lines = [line.value for line in read_jsonl(tmp_path / "records.jsonl")]
    found = [known.of(line["id"], line["fields"]) for line in lines]
    assert found == [{"imprint.place": ["Q78"]}, {}]
    assert known.counts.outdated == 0
