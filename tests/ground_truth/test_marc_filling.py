"""Values put into MARC records, expected as a cataloguer would write them."""

import io

import pytest
from lxml import etree
from pymarc import parse_xml_to_array

from hdbench.ground_truth.marc_filling import (
    CONTROL_FIELD,
    NO_PLACE,
    NO_XML,
    NOT_THE_SAME,
    OTHER_VALUE,
    Filled,
    Left,
    Process,
    fill,
)
from hdbench.ground_truth.marc_mapping import DEFAULT_MAPPING, read_mapping

NAMESPACE = "http://www.loc.gov/MARC21/slim"
BY = Process("hdbench trust, plan 5f", 0.95, "20261123")
MAPPING = read_mapping(DEFAULT_MAPPING)
LEADER = "00000nam a2200000uu 4500"


def element(*fields, namespace=NAMESPACE):
    """A record from lines such as `264 _1 $aBasel :$bSchwabe`."""
    name = f"{{{namespace}}}" if namespace else ""
    record = etree.Element(f"{name}record", nsmap={None: namespace} if namespace else None)
    etree.SubElement(record, f"{name}leader").text = LEADER
    for line in fields:
        tag, said = line[:3], line[4:]
        if tag < "010":
            etree.SubElement(record, f"{name}controlfield", tag=tag).text = said
            continue
        indicators = said[:2].replace("_", " ")
        attributes = {"tag": tag, "ind1": indicators[0], "ind2": indicators[1]}
        field = etree.SubElement(record, f"{name}datafield", attributes)
        for part in said[3:].split("$")[1:]:
            etree.SubElement(field, f"{name}subfield", code=part[0]).text = part[1:]
    return record


def lines(record):
    """The fields of a record as pymarc reads them, in the form of `element`."""
    file = io.BytesIO(etree.tostring(record))
    (read,) = parse_xml_to_array(file)
    assert str(read.leader) == LEADER
    return [
        f"{field.tag} {field.data}"
        if field.control_field
        else f"{field.tag} {''.join(field.indicators).replace(' ', '_')} "
        + "".join(f"${each.code}{each.value}" for each in field.subfields)
        for field in read.fields
    ]


def test_empty_record_gets_ordered_fields_and_one_field_883():
    record = element("001 991", "008 x", "300 __ $a22 S.", "999 __ $alocal")
    values = {
        "title": "Die Stadt : Roman : Fassung",
        "imprint.year": "1912",
        "imprint.place": "Basel",
        "isbn": ["3406", "3407"],
    }
    filled, left = fill(record, MAPPING, values, BY)
    assert left == []
    assert lines(record) == [
        "001 991",
        "008 x",
        r"020 __ $81\p$a3406",
        r"020 __ $81\p$a3407",
        r"245 00 $81\p$aDie Stadt$bRoman : Fassung",
        r"264 _1 $81\p$aBasel$c1912",
        "300 __ $a22 S.",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
        "999 __ $alocal",
    ]
    assert filled == [
        Filled("title", "245", "a", "Die Stadt", is_new=True),
        Filled("title", "245", "b", "Roman : Fassung", is_new=True),
        Filled("imprint.year", "264", "c", "1912", is_new=True),
        Filled("imprint.place", "264", "a", "Basel", is_new=True),
        Filled("isbn", "020", "a", "3406", is_new=True),
        Filled("isbn", "020", "a", "3407", is_new=True),
    ]
    assert MAPPING.truth(parse(record))[1]["title"] == "Die Stadt : Roman : Fassung"


def parse(record):
    (read,) = parse_xml_to_array(io.BytesIO(etree.tostring(record)))
    return read


def test_completed_field_is_marked_partially_machine_generated():
    record = element(
        r"245 10 $84.1\u$aDie Stadt /$cMüller", "260 __ $bSchwabe,$c1912.", "852 __ $bA1"
    )
    values = {
        "imprint.place": "Basel",
        "imprint.year": "1912",
        "shelfmark": "HS 7",
        "extent": "9 S.",
    }
    filled, left = fill(record, MAPPING, values, BY)
    assert lines(record) == [
        r"245 10 $84.1\u$aDie Stadt /$cMüller",
        r"260 __ $86\p$aBasel$bSchwabe,$c1912.",
        r"300 __ $85\p$a9 S.",
        r"852 __ $86\p$bA1$hHS 7",
        r"883 0_ $85\p$ahdbench trust, plan 5f$c0.95$d20261123",
        r"883 1_ $86\p$ahdbench trust, plan 5f$c0.95$d20261123",
    ]
    assert left == []  # the year is the one that the record has
    assert {each.name: each.is_new for each in filled} == {
        "imprint.place": False,
        "shelfmark": False,
        "extent": True,
    }


def test_what_a_record_has_stays_and_what_differs_is_reported():
    fields = [
        "001 991",
        "008 850101s1912    sz            000 0 ger d",
        "245 10 $aDie Stadt :$bRoman",
    ]
    fields += ["020 __ $a3406$qkart."]
    record = element(*fields)
    values = {
        "title": "Die Statt",
        "language": "fre",
        "isbn": ["3406", "3407"],
        "names": "Müller",
        "nothing": "x",
    }
    filled, left = fill(record, MAPPING, values, BY)
    assert filled == []
    assert lines(record) == fields
    assert left == [
        Left("title", OTHER_VALUE, "Die Stadt : Roman"),
        Left("language", OTHER_VALUE, "ger"),
        Left("isbn", OTHER_VALUE, "3406"),
        Left("names", NO_PLACE, ""),
        Left("nothing", NO_PLACE, ""),
    ]


def test_values_that_marc_cannot_hold_leave_the_record_unchanged():
    record = element("001 991", "008 " + "#" * 40, "245 __ $cMüller", "264 _1 $bSchwabe")
    before = etree.tostring(record, method="c14n2")
    values = {
        "language": "ger",
        "title": "<<Die>> Stadt",  # marks what is ignored in sorting
        "extent": "22\x00 S.",
        "imprint.place": ["Basel", "Bern"],
        "isbn": ["3406", "34\ud80007"],
    }
    filled, left = fill(record, MAPPING, values, BY)
    assert filled == []
    assert [(each.name, each.why) for each in left] == [
        ("language", CONTROL_FIELD),
        ("title", NOT_THE_SAME),
        ("extent", NO_XML),
        ("imprint.place", NOT_THE_SAME),
        ("isbn", NO_XML),
    ]
    assert etree.tostring(record, method="c14n2") == before


def test_final_punctuation_of_a_value_is_written():
    record = element("001 991")
    filled, left = fill(record, MAPPING, {"extent": "22 Seiten."}, BY)
    assert left == []
    assert filled[0].value == "22 Seiten."


def test_markup_in_a_value_is_text():
    record = element("001 991")
    fill(record, MAPPING, {"extent": "</subfield><x>&amp;"}, BY)
    assert parse(record)["300"]["a"] == "</subfield><x>&amp;"


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_fields_have_the_namespace_of_their_record(namespace):
    record = element("001 991", namespace=namespace)
    fill(record, MAPPING, {"extent": "22 S."}, BY)
    assert {etree.QName(each).namespace or "" for each in record.iter()} == {namespace}
