"""A work list that is filled in as a table, and taken in: all of its values or none."""

import csv
import json

import openpyxl
import pytest
from helpers.people_files import add_events
from trust import collection as collections
from trust.collection import RUNS, Collection, truth

from hdbench.collections.trust.delivery import finish
from hdbench.collections.trust.folder import read_applied
from hdbench.collections.trust.work_list import take_in
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import WorkedValue
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow

SILENT, OTHER = "0001", "0002"
HOSTILE = ['=HYPERLINK("http://x";"y")', "Ott; =1+1", '+41 "a"\n@b']
FILLED = {
    "title": ("=1+1; Müller", "=1+1; Müller"),
    "year": ("0", 0),
    "imprint.place": ("null", None),
    "keywords": ('["Recht; Land", "Diss."]', ["Recht; Land", "Diss."]),
    "shelfmark": ("007", "007"),
    "printed": ("FALSCH", False),
    "price": ("3,5", 3.5),
}
"""What is filled in of the item without an answer, and the values that it means."""


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """A collection with a number and a yes or no in each record: 0 and false."""
    more = {"printed": {"type": ["boolean", "null"]}, "price": {"type": ["number", "null"]}}
    monkeypatch.setitem(collections.SCHEMA, "properties", collections.SCHEMA["properties"] | more)
    monkeypatch.setattr(
        collections, "truth", lambda item: truth(item) | {"printed": False, "price": 0}
    )
    hostile = [{"shelfmark": text, "printed": False} for text in HOSTILE]
    made = Collection(tmp_path, given={1: [None] * 3, 2: hostile}, ids="{:04}".format)
    made.apply()
    return made


def rows(collection):
    with (collection.out / "worklist.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(collection, texts):
    """The work list, with texts of an item filled in: field → text."""
    found = rows(collection)
    for row in found:
        if row["id"] == SILENT:
            row["value"] = texts.get(row["field"], "")
    return found


def save_csv(path, found, encoding="utf-8-sig", delimiter=","):
    with path.open("w", encoding=encoding, newline="", errors="replace") as file:
        writer = csv.DictWriter(file, found[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(found)
    return path


def save_german(path, found):
    """As German Excel saves CSV: semicolons, cp1252, without zeros at the beginning of ids."""
    short = [row | {"id": row["id"].lstrip("0") or "0"} for row in reversed(found)]
    return save_csv(path, short, "cp1252", ";")


def save_workbook(path, found):
    """Sorted and cut, with what Excel makes of a yes or no and of numbers."""
    workbook = openpyxl.Workbook()
    workbook.active.append(["field", "value", "id"])
    cells = {"FALSCH": False, "0": 0, "3,5": 3.5}
    for row in found[:20][::-1]:
        value = cells.get(row["value"], row["value"]) if row["value"] else None
        workbook.active.append([row["field"], value, row["id"]])
        cell = workbook.active.cell(workbook.active.max_row, 2)
        if isinstance(value, str):
            cell.data_type = "s"  # not a formula
    path = path.with_suffix(".xlsx")
    workbook.save(path)
    return path


def taken(collection, path):
    return take_in(path, collection.out, collection.benchmark, "anna")


def seal(collection):
    return read_applied(collection.out).values_sha256


def entered(collection):
    return {path.name: path.read_bytes() for path in (collection.path / "people").glob("*.jsonl")}


def worked(collection):
    return dict(People(collection.path).worked(seal(collection)))


@pytest.mark.parametrize("save", [save_csv, save_german, save_workbook])
def test_a_filled_in_table_gets_into_the_records(collection, save):
    texts = {name: text for name, (text, _) in FILLED.items()}
    path = save(collection.folder / "worked.csv", filled(collection, texts))

    assert taken(collection, path) == len(FILLED)
    assert {(line.item, line.by, line.how) for line in worked(collection).values()} == {
        (SILENT, "anna", "table")
    }
    before = entered(collection)
    assert taken(collection, path) == 0  # the same table again
    assert entered(collection) == before

    finish(collection.out, collection.benchmark, collection.folder / "finished")
    lines = (collection.folder / "finished/records.jsonl").read_text().splitlines()
    records = {line["id"]: line["fields"] for line in map(json.loads, lines)}
    for name, (_, value) in FILLED.items():
        assert records[SILENT][name] == {"origin": "worked", "value": value}
        assert type(records[SILENT][name]["value"]) is type(value)
    accepted = [fields["printed"] for fields in records.values() if "score" in fields["printed"]]
    assert {(value["origin"], value["value"]) for value in accepted} >= {("accepted", False)}
    prices = {fields["price"]["value"] for item, fields in records.items() if item > OTHER}
    assert prices == {0}


def test_what_runs_say_can_be_copied_and_no_cell_is_a_formula(collection):
    found = rows(collection)
    of_other = {row["field"]: row for row in found if row["id"] == OTHER}
    assert [of_other["shelfmark"][run] for run in RUNS] == [
        '\'=HYPERLINK("http://x";"y")',
        "Ott; '=1+1",
        '\'+41 "a"\n@b',
    ]
    for row in of_other.values():
        row["value"] = row["one"]
    path = save_csv(collection.folder / "worked.csv", list(of_other.values()))
    assert taken(collection, path) == len(of_other)
    told = {key.field: line.value for key, line in worked(collection).items()}
    assert told["shelfmark"] == HOSTILE[0]
    assert {told[name] for name in told if name != "shelfmark"} <= {None}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": "c9"}, "title of 'c9' is not on the work list"),
        ({"field": "colour"}, "colour of '0001' is not on the work list"),
        ({"field": "year", "value": "19XX"}, "year: '19XX': not a number"),
        ({"field": "printed", "value": "perhaps"}, "printed: 'perhaps': not one of the choices"),
        ({"value": "#REF!"}, "title: holds the error #REF!"),
        ({"field": "shelfmark"}, "the same value as in worked.csv:3: keep one"),
        ({"field": "keywords"}, "keywords of '0001' was decided meanwhile, as 'Ehe'"),
    ],
)
def test_if_one_row_does_not_fit_nothing_is_taken_in(collection, changes, why, capsys):
    line = WorkedValue(
        list=seal(collection),
        id="1" * 32,
        item=SILENT,
        field="keywords",
        by="ben",
        at="2026-11-27T10:00:00.000Z",
        how="typed",
        value=["Ehe"],
    )
    add_events(collection.path, [line])
    before = entered(collection)
    good = [
        {"id": SILENT, "field": "price", "value": "1"},
        {"id": SILENT, "field": "shelfmark", "value": "S"},
    ]
    bad = {"id": SILENT, "field": "title", "value": "T"} | changes
    path = save_csv(collection.folder / "worked.csv", [*good, bad])
    with pytest.raises(HdbenchError, match="nothing was taken in, as 1 row does not fit"):
        taken(collection, path)
    assert f"worked.csv:4: {why}" in capsys.readouterr().err
    assert entered(collection) == before


def test_whoever_filled_it_in_may_correct_it(collection):
    for text in ("first", "second"):
        taken(
            collection, save_csv(collection.folder / "w.csv", filled(collection, {"title": text}))
        )
    assert [line.value for line in worked(collection).values()] == ["second"]


def test_the_command_says_how_many_values_are_new(collection, run_hdbench):
    path = save_csv(collection.folder / "worked.csv", filled(collection, {"title": "T"}))
    command = ("trust", "finish", collection.path, "out", "--worked", path, "--as", "anna")
    done = run_hdbench(*command, cwd=collection.folder)
    assert done.returncode == 0, done.stderr
    assert "worked.csv: 1 value taken in\n" in done.stdout
    (collection.folder / "other.csv").write_text("title,year\nFaust,1808\n")
    command = ("trust", "finish", collection.path, "out", "--worked", "other.csv")
    done = run_hdbench(*command, cwd=collection.folder)
    assert done.returncode == 2
    assert "other.csv: not a work list of hdbench trust apply, which has a column id" in done.stderr
