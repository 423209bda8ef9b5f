"""Finished records as Dublin Core and as CSV, by a mapping."""

import csv
import json
import re
from pathlib import Path

import pytest
import yaml
from exporting.finished_records import FIELDS, HOSTILE, write_finished
from lxml import etree

from hdbench.benchmarks.authority_files import read_identifiers
from hdbench.collections.records.dublin_core import (
    DC,
    ELEMENTS,
    OAI_DC,
    read_dublin_core_mapping,
    write_dublin_core,
    write_mapped_csv,
)
from hdbench.collections.records.record_mapping import EXAMPLE, read_record_mapping
from hdbench.errors import HdbenchError

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("oai_dc.xsd")))
MAPPING = """
record:
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
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    (tmp_path / "places.csv").write_text("Basel;Q78\n")
    identifiers = read_identifiers([str(tmp_path / "places.csv")], FIELDS)
    return tmp_path, records, identifiers


def elements(record):
    return [(etree.QName(each).localname, each.text) for each in record]


def test_each_record_is_valid_dublin_core(written):
    folder, records, identifiers = written
    mapping = read_dublin_core_mapping(folder / "mapping.yaml", FIELDS)
    write_dublin_core(records, folder, mapping, identifiers)
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
    # The year is still open, the place and the keywords are empty.
    assert elements(second)[2:] == [
        ("title", HOSTILE.replace("\x00", "␀")),
        ("subject", "Sammlung <A&B>"),
        ("source", "Signatur 0007"),
    ]


def test_csv_has_a_column_for_each_name(written):
    folder, records, identifiers = written
    (folder / "mapping.yaml").write_text(MAPPING.replace("coverage:", "Ort und Jahr:"))
    mapping = read_record_mapping(folder / "mapping.yaml", FIELDS)
    write_mapped_csv(records, folder, mapping, identifiers)
    with (folder / "records.csv").open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [name.replace("coverage", "Ort und Jahr") for name in HEAD]
    assert first["subject"] == "Recht | Diss. | Sammlung <A&B>"
    assert first["Ort und Jahr"] == "Basel (1898)"
    assert second["title"].startswith("'=cmd")
    assert second["date"] == second["Ort und Jahr"] == ""


def test_each_value_of_a_list_has_its_own_identifier(written):
    folder, records, _ = written
    (folder / "subjects.csv").write_text("Diss.;4113937-9\n")
    known = read_identifiers([f"keywords={folder / 'subjects.csv'}"], FIELDS)
    (folder / "mapping.yaml").write_text(
        "record:\n  subject: '{keywords}[ <{keywords: identifier}>]'\n"
        "  relation: '{keywords: identifier}'\n"
    )
    mapping = read_dublin_core_mapping(folder / "mapping.yaml", FIELDS)
    address = "https://d-nb.info/gnd/4113937-9"
    write_dublin_core(records, folder, mapping, known)
    first, second = etree.parse(folder / "records.dc.xml").getroot()
    assert elements(first) == [
        ("subject", "Recht"),
        ("subject", f"Diss. <{address}>"),
        ("relation", address),
    ]
    assert elements(second) == []
    # In CSV, an empty place tells which value it belongs to.
    write_mapped_csv(records, folder, mapping, known)
    with (folder / "records.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    assert rows == [[f"Recht | Diss. <{address}>", f" | {address}"], ["", ""]]


def test_the_example_maps_the_cards(tmp_path):
    text = EXAMPLE.read_text()
    fields = re.findall(r"[a-z]+\.[a-z_]+", text.partition("\nrecord:")[2])
    mapping = read_dublin_core_mapping(EXAMPLE, fields)
    names = {"author.last_name": "Wendler", "publication.title": "Diss."}
    values = {name: {"origin": "checked", "value": value} for name, value in names.items()}
    assert list(mapping.of("7", values)) == [
        ("identifier", "7", ""),
        ("title", "Diss.", ""),
        ("creator", "Wendler", ""),
        ("type", "Text", ""),
    ]
    # What its comments show is read, too.
    shown = re.findall(r"^#   (\w+: .*?)(?:   .*)?$", text, re.MULTILINE)
    assert len(shown) == 6
    for line in shown:
        (tmp_path / "m.yaml").write_text(json.dumps({"record": yaml.safe_load(line)}))
        fields = ["publication.title", "author.last_name", "author.first_name", "subjects", "notes"]
        read_dublin_core_mapping(tmp_path / "m.yaml", fields)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("record: {}", "needs record:, and nothing else"),
        ("record: {title: '{title}'}\nkey: 1", "needs record:, and nothing else"),
        ("record: {titel: '{title}'}", "m.yaml: titel: must be one of title, creator"),
        ("record: {title: '{titel}'}", "m.yaml: title: titel: no such field: choose one of"),
        ("record: {title: {text: '{title}', lang: de}}", "must be a text such as '{title}'"),
        ("record: {title: {text: '{title}', language: 'd e'}}", "must be a code such as de"),
        ("record: {title: [[a]]}", "must be a text such as '{title}'"),
        ("record: {title: ''}", "must be a text such as '{title}'"),
        ("record: {title: '{title'}", "without its counterpart"),
        ("record: {title: 'title]'}", "without its counterpart"),
        ("record: {title: '[a'}", "without its counterpart"),
        ("record: {title: '[a[b]]'}", "without its counterpart"),
        ("record: {title: &a x, date: *a}", "has an alias"),
        ("record: [", "not YAML"),
    ],
)
def test_an_unusable_mapping_is_one_line(tmp_path, text, why):
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(HdbenchError) as error:
        read_dublin_core_mapping(tmp_path / "m.yaml", FIELDS)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_elements_are_the_fifteen_of_the_schema():
    tree = etree.parse(Path(__file__).with_name("dc.xsd"))
    names = tree.xpath("//*[local-name()='element']/@name")
    assert sorted(names) == sorted(ELEMENTS)
