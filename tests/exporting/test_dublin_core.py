"""Finished records as Dublin Core and as CSV, by a mapping."""

import csv
from pathlib import Path

import pytest
from exporting.finished_records import FIELDS, HOSTILE, RECORDS, write_finished
from lxml import etree

from hdbench.benchmarks.authority_files import read_identifiers
from hdbench.collections.records.fields import NO_XML
from hdbench.collections.records.forms import DC, OAI_DC, write_columns, write_dublin_core
from hdbench.collections.records.mapping import ELEMENTS, read_mapping

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("oai_dc.xsd")))
MAPPING = """
dublin-core:
  identifier: ["{id}", "https://example.org/[[1]]/{{{id}}}"]
  title: {text: "{title}", language: de-CH}
  date: "{year}"
  coverage: "{imprint.place}[ ({year})]"
  subject: ["{keywords}", "Sammlung <A&B>"]
  source: "Signatur {shelfmark}[, {keywords}]"
  relation: "{imprint.place: identifier}"
"""
HEAD = ["identifier", "title", "date", "coverage", "subject", "source", "relation"]


@pytest.fixture
def written(tmp_path):
    _, records = write_finished(tmp_path)
    (tmp_path / "places.csv").write_text("Basel;Q78\n")

    def write(form, text=MAPPING, known=f"imprint.place={tmp_path / 'places.csv'}"):
        path = tmp_path / "mapping.yaml"
        path.write_text(text.replace("dublin-core:", f"{form}:"))
        mapping, identifiers = read_mapping(path, form, FIELDS), read_identifiers([known], FIELDS)
        writer = write_dublin_core if form == "dublin-core" else write_columns
        return writer(records, tmp_path, mapping=mapping, identifiers=identifiers)

    return tmp_path, write


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def elements(record):
    return [(etree.QName(each).localname, each.text) for each in record]


def test_each_record_is_valid_dublin_core(written):
    folder, write = written
    write("dublin-core")
    first, second = etree.parse(folder / "records.dc.xml").getroot()
    for record in (first, second):
        assert record.tag == f"{{{OAI_DC}}}dc"
        SCHEMA.assertValid(etree.fromstring(etree.tostring(record)))
    assert elements(first) == [
        ("identifier", "0012"),
        ("identifier", "https://example.org/[1]/{0012}"),
        ("title", "Über die Ehe"),
        ("date", "1898"),
        ("coverage", "Basel (1898)"),
        ("subject", "Recht"),
        ("subject", "Diss."),
        ("subject", "Sammlung <A&B>"),
        ("source", "Signatur 1898-03-04, Recht, Diss."),
        ("relation", "http://www.wikidata.org/entity/Q78"),
    ]
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    assert [each.get(language) for each in first if each.tag == f"{{{DC}}}title"] == ["de-CH"]
    # The year is still open, the place and the keywords are empty, the title is no text of XML.
    assert elements(second)[2:] == [("subject", "Sammlung <A&B>"), ("source", "Signatur 0007")]


def test_csv_has_a_column_for_each_name(written):
    folder, write = written
    write("csv", MAPPING.replace("coverage:", "Ort und Jahr:").replace(", language: de-CH", ""))
    first, second = table(folder / "records.csv")
    assert list(first) == [name.replace("coverage", "Ort und Jahr") for name in HEAD]
    assert first["subject"] == "Recht | Diss. | Sammlung <A&B>"
    assert first["Ort und Jahr"] == "Basel (1898)"
    assert second["title"] == second["date"] == second["Ort und Jahr"] == ""


@pytest.mark.parametrize(("form", "name"), [("dublin-core", "records.dc.xml"), ("csv", "records")])
def test_all_forms_leave_out_the_same(written, form, name):
    folder, write = written
    conditions = "leave_out: {not wanted: {shelfmark: [1898-03-04]}}\n"
    done = write(form, conditions + MAPPING)
    left = [list(row.values()) for row in table(folder / f"not_in_{name}.csv")]
    assert left == [
        ["0012", "", "", "not wanted"],
        ["a/b ü", "title", HOSTILE.replace("=", "'=").replace("\x00", "␀"), NO_XML],
        ["a/b ü", "year", "1900", "still open"],
    ]
    assert (done.records, done.left_out, done.values_left) == (1, 1, 2)


def test_each_value_of_a_list_has_its_own_identifier(written):
    folder, write = written
    (folder / "subjects.csv").write_text("Diss.;4113937-9\n")
    known = f"keywords={folder / 'subjects.csv'}"
    mapping = (
        "dublin-core:\n  subject: '{keywords}[ <{keywords: identifier}>]'\n"
        "  relation: '{keywords: identifier}'\n"
    )
    address = "https://d-nb.info/gnd/4113937-9"
    write("dublin-core", mapping, known)
    (first,) = etree.parse(folder / "records.dc.xml").getroot()
    assert elements(first) == [
        ("subject", "Recht"),
        ("subject", f"Diss. <{address}>"),
        ("relation", address),
    ]
    # In CSV, an empty place tells which value it belongs to.
    write("csv", mapping, known)
    rows = [list(row.values()) for row in table(folder / "records.csv")]
    assert rows == [[f"Recht | Diss. <{address}>", f" | {address}"]]
    nothing = "nothing is known of it that has a place in the mapping"
    assert [[*RECORDS][1], "", "", nothing] in map(
        list, map(dict.values, table(folder / "not_in_records.csv"))
    )


def test_elements_are_the_fifteen_of_the_schema():
    tree = etree.parse(Path(__file__).with_name("dc.xsd"))
    names = tree.xpath("//*[local-name()='element']/@name")
    assert sorted(names) == sorted(ELEMENTS)
