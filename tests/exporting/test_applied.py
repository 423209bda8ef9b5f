"""What was accepted as tables and as MARC records."""

import csv
import io

import pytest
from ground_truth.test_marc_filling import NAMESPACE, element, lines
from lxml import etree
from openpyxl import load_workbook
from pymarc import parse_xml_to_array
from trust.collection import Collection
from trust.test_apply import GIVEN, HOSTILE, applied

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.csv_files import as_it_was
from hdbench.errors import HdbenchError
from hdbench.output.exporting import applied as tables
from hdbench.output.exporting.applied import write_applied
from hdbench.output.exporting.applied_marc import check_marc, write_marc
from hdbench.output.exporting.formats import MAX_ROWS

pytestmark = pytest.mark.slow

MAPPING = """
key: 001
record:
  title: "245$a : $b"
  year: ["264|*1|$c", 260$c]
  imprint:
    place: ["264|*1|$a", 260$a]
  keywords:
    each: 653$a
"""


@pytest.fixture
def collection(tmp_path):
    made = Collection(tmp_path, given=GIVEN)
    applied(made)
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    return made


def rows(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by_id(path):
    return {row["id"]: row for row in rows(path)}


def table(collection, form):
    return write_applied(collection.folder / "out", form, load_benchmark(str(collection.benchmark)))


def test_a_table_has_a_row_for_each_item_and_no_formula(collection):
    found = by_id(table(collection, "csv"))
    assert list(found) == collection.ids
    scattered, silent, hostile = collection.rest[:3]
    assert found[scattered]["title"] == "aaaa"
    assert found[scattered]["title: decision"] == "score below threshold"
    assert found[scattered]["title: score"] == "0.0"
    assert found[silent]["title: decision"] == "no answer"
    assert found[silent]["title: score"] == ""
    assert found[hostile]["title"].startswith("'=HYPERLINK")
    other = collection.rest[6]
    assert found[other]["keywords"] == "Recht | Diss."
    assert found[other]["shelfmark: decision"] == "field left out"
    checked = collection.plan.sample[0]
    assert found[checked]["year: decision"] == "checked"
    assert found[checked]["year"] == str(collection.truth(checked)["year"])


def test_a_sheet_has_the_same_with_numbers_as_numbers(collection):
    sheet = load_workbook(table(collection, "xlsx")).active
    head, *cells = sheet.iter_rows(values_only=True)
    assert head[:4] == ("id", "title", "title: decision", "title: score")
    assert len(cells) == 150
    found = {row[0]: dict(zip(head, row, strict=True)) for row in cells}
    other = collection.rest[6]
    assert found[other]["year"] == collection.truth(other)["year"]
    assert found[collection.rest[2]]["title"].startswith("=HYPERLINK")
    kinds = {cell.data_type for row in sheet.iter_rows() for cell in row}
    assert "f" not in kinds


def test_more_items_than_a_sheet_can_hold_are_refused_first(monkeypatch):
    class Catalogue:
        def ids(self):
            return iter(range(MAX_ROWS))

    with pytest.raises(HdbenchError, match="use --format csv"):
        tables.check_table("xlsx", Catalogue())


def as_marc(collection, *records):
    """What is written if these are the library's records."""
    path = None
    if records:
        path = collection.folder / "own.xml"
        whole = etree.Element(f"{{{NAMESPACE}}}collection", nsmap={None: NAMESPACE})
        whole.extend(records)
        path.write_bytes(etree.tostring(whole, xml_declaration=True, encoding="UTF-8"))
    mapping = check_marc(path, collection.folder / "mapping.yaml")
    return write_marc(collection.folder / "out", mapping, path)


def written(collection):
    document = etree.parse(collection.folder / "out/records.xml")
    return list(document.getroot())


def test_library_records_are_filled_without_changing_content(collection):
    one, two, three = collection.rest[6:9]
    truth = collection.truth(one)
    full = collection.truth(three)
    own = [
        element(f"001 {one}", "245 10 $aEin anderer Titel", "264 _1 $bSchwabe"),
        element("001 unknown", "245 10 $aFremd"),
        element(f"001 {two.lstrip('c')}"),  # not an id
        element(
            f"001 {three}",
            f"245 10 $a{full['title'].upper()} /",
            f"260 __ $a{full['imprint']['place'] or 'Basel'} :$c{full['year']}.",
            "653 __ $aRecht",
            "653 __ $aDiss.",
        ),
    ]
    before = [etree.tostring(each, method="c14n2") for each in own]
    done = as_marc(collection, *own)
    assert (done.records, done.touched) == (4, 1)
    first, *others = written(collection)
    place = truth["imprint"]["place"]
    date = first_883(first)["d"]
    said = f"$ahdbench trust, plan {collection.plan.hash()}$c0.95$d{date}"
    subfields = f"$a{place}$bSchwabe" if place else "$bSchwabe"
    assert lines(first) == [
        f"001 {one}",
        "245 10 $aEin anderer Titel",
        rf"264 _1 $82\p{subfields}$c{truth['year']}",
        r"653 __ $81\p$aRecht",
        r"653 __ $81\p$aDiss.",
        rf"883 0_ $81\p{said}",
        rf"883 1_ $82\p{said}",
    ]
    assert [etree.tostring(each, method="c14n2", with_tail=False) for each in others] == before[1:]
    out = collection.folder / "out"
    left = [row for row in rows(out / "not_in_records.csv") if row["id"] == one]
    (title,) = left
    assert (title["field"], title["why"]) == ("title", "the record has another value")
    assert (title["value"], title["existing"]) == (truth["title"], "Ein anderer Titel")
    missing = {row["id"] for row in rows(out / "not_in_records.csv")} - {one}
    assert missing == set(collection.rest) - {collection.rest[1], one, three}
    assert done.left == len(rows(out / "not_in_records.csv"))


def test_of_two_records_with_the_same_id_none_is_filled(collection):
    one = collection.rest[6]
    with pytest.raises(HdbenchError, match=f"record 3 is the second one with the id of item {one}"):
        as_marc(collection, element(f"001 {one}"), element("001 other"), element(f"001 {one}"))
    assert not (collection.folder / "out/records.xml").exists()


def first_883(record):
    (read,) = parse_xml_to_array(io.BytesIO(etree.tostring(record)))
    return read["883"]


def test_changes_can_be_taken_back_by_the_list_and_plan_hash(collection):
    ids = collection.rest[6:40]
    own = [element(f"001 {item}", "245 __ $cMüller", "264 _1 $bSchwabe") for item in ids]
    before = [etree.tostring(each, method="c14n2") for each in own]
    done = as_marc(collection, *own)
    assert done.touched == len(ids)
    taken = rows(collection.folder / "out/taken.csv")
    assert {row["plan"] for row in taken} == {collection.plan.hash()}
    records = dict(zip(ids, written(collection), strict=True))
    for row in taken:
        take_back(records[row["id"]], row)
    for record in records.values():
        for field in list(record):
            linked = [each for each in field if each.get("code") == "8"]
            if field.get("tag") == "883" and collection.plan.hash() in field[1].text:
                record.remove(field)
            elif linked:
                field.remove(linked[0])
    after = [etree.tostring(each, method="c14n2", with_tail=False) for each in records.values()]
    assert after == before


def take_back(record, row):
    value = as_it_was(row["value"])
    for field in record:
        for subfield in field:
            if (field.get("tag"), subfield.get("code"), subfield.text) == (
                row["tag"],
                row["subfield"],
                value,
            ):
                field.remove(subfield)
                if row["new_field"] == "yes" and {each.get("code") for each in field} <= {"8"}:
                    record.remove(field)
                return
    raise AssertionError(row)


def test_without_records_there_are_new_ones_with_their_ids(collection):
    done = as_marc(collection)
    found = parse_xml_to_array(str(collection.folder / "out/records.xml"))
    assert done.records == done.touched == len(found) == 89  # one has no answer
    assert [record["001"].data for record in found] == [
        item for item in collection.ids if item in set(collection.rest) - {collection.rest[1]}
    ]
    other = collection.rest[6]
    (record,) = (each for each in found if each["001"].data == other)
    assert record["245"]["a"] == collection.truth(other)["title"]
    assert record["245"].indicators == ("0", "0")
    assert record.get_fields("883")[0]["c"] == "0.95"
    left = rows(collection.folder / "out/not_in_records.csv")
    (hostile,) = (row for row in left if row["why"] == "has characters that XML cannot have")
    assert hostile["id"] == collection.rest[2]
    assert hostile["value"].startswith("'" + HOSTILE[:10])


def test_ids_are_matched_as_people_write_them(tmp_path):
    made = Collection(tmp_path, ids="{:06}".format)
    applied(made)
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    item = made.rest[0]
    done = as_marc(made, element(f"001 {int(item)}"), element("001 9999999"))
    assert done.touched == 1
    assert {row["id"] for row in rows(tmp_path / "out/taken.csv")} == {item}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><collection><record/></collection>", "document type"),
        (b"<collection><record>", "not well-formed"),
        (b"<collection/>", "no MARC record in it"),
        (b"<record><datafield/></record>", "without a tag of three"),
        (b"00024nam a2200024", "not well-formed"),
    ],
)
def test_unusable_records_are_refused_and_nothing_is_written(collection, data, why):
    path = collection.folder / "own.xml"
    path.write_bytes(data)
    mapping = check_marc(path, None)
    before = set((collection.folder / "out").iterdir())
    with pytest.raises(HdbenchError, match=why):
        write_marc(collection.folder / "out", mapping, path)
    assert set((collection.folder / "out").iterdir()) == before


def test_what_was_written_is_not_taken_for_the_librarys_records(collection):
    as_marc(collection)
    path = collection.folder / "out/records.xml"
    with pytest.raises(HdbenchError, match="would be replaced"):
        write_marc(collection.folder / "out", check_marc(path, None), path)


def test_the_command_writes_them_beside_the_values(collection, run_hdbench):
    def told(*options):
        command = ["trust", "apply", "plan.yaml", "-o", "out", "--control", "20", *options]
        return run_hdbench(*command, cwd=collection.folder)

    assert "out/values.csv" in told("--format", "csv").stdout
    said = told("--format", "marcxml", "--marc", "mapping.yaml")
    assert "out/records.xml: 89 records, 89 of them filled" in said.stdout, said.stderr
    wrong = told("--records", "own.xml")
    assert wrong.returncode == 2
    assert wrong.stderr == "error: --records and --marc: go with --format marcxml\n"
    wrong = told("--format", "marcxml", "--records", "none.xml")
    assert wrong.stderr == "error: none.xml: no such file\n"
