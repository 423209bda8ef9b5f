"""Whole MARC records, expected as the documentation of MARC 21 has them."""

import datetime
import io
from pathlib import Path

import pytest
from helpers.pages import blocks
from lxml import etree
from pymarc import parse_xml_to_array

from hdbench.benchmarks.authority_files import AuthorityLine, AuthorityTable, Identifiers
from hdbench.collections.records.fields import (
    CONDITION_OPEN,
    NO_PLACE,
    NO_XML,
    OTHER_OPEN,
    make_fields,
)
from hdbench.collections.records.finished_records import FinishedRecord
from hdbench.collections.records.mapping import CARDS, read_mapping, read_template
from hdbench.collections.records.marc_writing import (
    NO_CODE,
    NO_TITLE,
    TOO_LARGE,
    Process,
    marc_parts,
    nonfiling,
    record_element,
    why_none,
)
from hdbench.errors import HdbenchError

DAY = datetime.date(2026, 7, 1)
PLAN = Process("hdbench trust, plan 5f", 0.95, "20261123")

# The parts of a mapping that its fields need around them.
FRAME = """
articles: [ger, fre]
marc:
  008/07-10: "{year}"
  008/35-37: "{language}"
"""

CARD = {
    "type.type": "Dissertation or thesis",
    "author.last_name": "Müller",
    "author.first_name": "Hans",
    "publication.title": "Die Stadt",
    "publication.year": 1912,
    "publication.place": "Basel",
    "publication.pages": "VII, 97",
    "publication.publisher": "Schwabe",
    "publication.format": "8°",
    "library_reference.shelfmark": "U 22. 7301",
    "library_reference.subjects": "2/Stadt, mittelalterliche/Recht/ Jur Diss",
}


FIELDS = ["title", "year", "language", "keywords", "terms", "note", "notes", "a", "b", "kind"]
CARD_MAPPING = read_mapping(CARDS, "marc", CARD)


@pytest.fixture
def mapping_of(tmp_path):
    def made(*fields, frame=FRAME, known=FIELDS):
        path = tmp_path / "mapping.yaml"
        path.write_text(frame + "".join(f"  {field}\n" for field in fields), encoding="utf-8")
        return read_mapping(path, "marc", known)

    return made


def parse(record):
    (read,) = parse_xml_to_array(io.BytesIO(etree.tostring(record)))
    return read


def made_of(values, mapping=CARD_MAPPING, origins=None, identifiers=None, undecided=()):
    """A record and what is left of its values, or why there is none."""
    states = {name: {"origin": "checked", "value": value} for name, value in values.items()}
    states |= {name: {"origin": "open", "value": "perhaps"} for name in undecided}
    record = FinishedRecord("0041", states)
    tables = {
        name: AuthorityTable([AuthorityLine(*line) for line in lines.items()])
        for name, lines in (identifiers or {}).items()
    }
    made = make_fields(record, mapping, "marc", Identifiers(tables))
    if isinstance(made, str):
        return made
    parts = marc_parts(made, mapping, origins or {})
    why = why_none(parts, record, mapping)
    return why or (record_element(parts, record.item, DAY), parts.left)


def lines(values, mapping=CARD_MAPPING, origins=None, identifiers=None):
    """The leader and the fields of a record as pymarc reads them, blanks as `_`."""
    record = parse(made_of(values, mapping, origins, identifiers)[0])
    return [str(record.leader).replace(" ", "_")] + [
        f"{field.tag} {field.data}"
        if field.control_field
        else f"{field.tag} {''.join(field.indicators).replace(' ', '_')} "
        + "".join(f"${each.code}{each.value}" for each in field.subfields)
        for field in record.fields
    ]


def only(tags, values, mapping=CARD_MAPPING, origins=None, identifiers=None):
    """The fields with some tags."""
    return [line for line in lines(values, mapping, origins, identifiers) if line[:3] in tags]


def test_card_becomes_a_record_as_cataloguers_write_it():
    assert lines(CARD) == [
        "00000nam_a22000007i_4500",
        "007 tu",
        "008 260701s1912    xx ||||| m   |||| ||und d",
        "035 __ $a(hdbench)0041",
        "040 __ $bger",
        "100 1_ $aMüller, Hans",
        "245 14 $aDie Stadt.",
        "264 _1 $aBasel :$bSchwabe,$c1912",
        "300 __ $aVII, 97 S. ;$c8°",
        "336 __ $aText$btxt$2rdacontent",
        "337 __ $aohne Hilfsmittel zu benutzen$bn$2rdamedia",
        "338 __ $aBand$bnc$2rdacarrier",
        "502 __ $aHochschulschrift",
        "653 __ $aStadt, mittelalterliche",
        "653 __ $aRecht",
        "655 _7 $aHochschulschrift$0(DE-588)4113937-9$2gnd-content",
        "852 8_ $hU 22. 7301",
    ]
    assert made_of(CARD)[1] == {}


def test_names_in_capitals_get_small_letters():
    names = CARD | {"author.last_name": "VON MÜLLER-LYER", "author.first_name": "HANS R."}
    assert only(("100",), names) == ["100 1_ $avon Müller-Lyer, Hans R."]
    names = CARD | {"author.last_name": "McKAY", "author.first_name": "II"}
    assert only(("100",), names) == ["100 1_ $aMcKAY, II"]


def test_empty_values_take_their_punctuation_with_them():
    card = CARD | {
        "author.first_name": "",
        "publication.publisher": None,
        "publication.format": "null",
        "publication.year": None,
        "library_reference.subjects": "Diss",
    }
    assert only(("008", "100", "264", "300", "653"), card) == [
        "008 260701nuuuuuuuuxx ||||| m   |||| ||und d",
        "100 1_ $aMüller",
        "264 _1 $aBasel",
        "300 __ $aVII, 97 S.",
    ]
    card |= {"publication.place": "", "publication.pages": "", "publication.year": "1912"}
    assert only(("264", "300"), card) == ["264 _1 $c1912"]


def test_record_without_author_has_its_title_as_main_entry():
    card = CARD | {"author.last_name": "", "author.first_name": ""}
    assert only(("100", "245"), card) == ["245 04 $aDie Stadt."]


def test_kind_of_record_is_chosen_by_a_value():
    card = CARD | {"type.type": "REFERENCE"}
    assert made_of(card) == "a card that only refers to another one"
    book = lines(CARD | {"type.type": ""})
    assert book[2] == "008 260701s1912    xx ||||| |||||||| ||und d"
    assert not [line for line in book if line.startswith(("502", "655"))]


def test_no_record_is_made_while_what_decides_it_is_open():
    unknown = {name: value for name, value in CARD.items() if name != "type.type"}
    assert made_of(unknown, undecided=["type.type"]) == CONDITION_OPEN
    assert made_of(CARD, undecided=["author.last_name"]) != CONDITION_OPEN
    reference = made_of({"type.type": "Reference"}, undecided=["publication.title"])
    assert reference == "a card that only refers to another one"


def test_half_a_name_is_not_written_while_the_rest_is_open():
    half = {name: value for name, value in CARD.items() if name != "author.last_name"}
    assert only(("100",), half) == ["100 1_ $aHans"]
    made, left = made_of(half, undecided=["author.last_name"])
    assert left == {"author.first_name": OTHER_OPEN}
    assert not parse(made).get_fields("100")
    imprint = {name: value for name, value in CARD.items() if name != "publication.place"}
    made, left = made_of(imprint, undecided=["publication.place"])
    assert left == {}
    assert [str(field) for field in parse(made).get_fields("264")] == ["=264  \\1$bSchwabe,$c1912"]


def test_record_without_a_title_is_left_out_and_says_why():
    assert made_of(CARD | {"publication.title": ""}) == NO_TITLE
    assert made_of(CARD | {"publication.title": "Duodenalgeschw\x14r"}) == NO_TITLE
    assert made_of(CARD | {"publication.place": "B\x14le"})[1] == {"publication.place": NO_XML}


def test_each_value_that_is_nowhere_is_named(mapping_of):
    mapping = mapping_of("245: $a{title}", "653: {text: '$a{terms}', when: {kind: [book]}}")
    values = {"title": "Basel", "year": "1911-1912", "note": "x", "kind": "map", "terms": "Recht"}
    left = {"year": NO_CODE, "note": NO_PLACE, "terms": NO_PLACE}
    assert made_of(values, mapping)[1] == left
    assert made_of(values | {"kind": "Book", "year": 1912}, mapping)[1] == {"note": NO_PLACE}


def test_fields_883_say_who_made_what():
    other = Process("a model", None, "20260101")
    origins = {
        "author.last_name": PLAN,
        "author.first_name": PLAN,
        "publication.title": PLAN,
        "publication.place": other,
        "publication.publisher": PLAN,
        "library_reference.subjects": other,
    }
    tags = ("100", "245", "264", "300", "502", "653", "883")
    assert only(tags, CARD, origins=origins) == [
        r"100 1_ $81\p$aMüller, Hans",
        r"245 14 $81\p$aDie Stadt.",
        r"264 _1 $83\p$82\p$aBasel :$bSchwabe,$c1912",
        "300 __ $aVII, 97 S. ;$c8°",
        "502 __ $aHochschulschrift",
        r"653 __ $84\p$aStadt, mittelalterliche",
        r"653 __ $84\p$aRecht",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
        r"883 1_ $82\p$aa model$d20260101",
        r"883 1_ $83\p$ahdbench trust, plan 5f$c0.95$d20261123",
        r"883 0_ $84\p$aa model$d20260101",
    ]


def test_each_text_of_a_list_repeats_its_field_with_its_own_identifier(mapping_of):
    mapping = mapping_of(
        "245: $a{title}",
        "650|#4|:",
        "  - '$a{keywords}$0{keywords: identifier}'",
        "  - {text: '$a{terms}$0{terms: identifier}', split: /, without: '[0-9]'}",
    )
    values = {"title": "Basel", "keywords": ["Stadt", "", "Recht"], "terms": "2/Hand/ /Fuss"}
    known = {"keywords": {"Recht": "7"}, "terms": {"2": "p2", "Hand": "p3", "Fuss": "4004617-5"}}
    assert only(("650", "883"), values, mapping, {"terms": PLAN}, identifiers=known) == [
        "650 _4 $aStadt",
        "650 _4 $aRecht$07",
        r"650 _4 $81\p$aHand$0p3",
        r"650 _4 $81\p$aFuss$0(DE-588)4004617-5",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
    ]


def test_an_identifier_is_from_where_its_value_is():
    known = {"author.last_name": {"Müller": "118585053"}, "publication.place": {"Basel": "x"}}
    origins = {"author.last_name": PLAN, "author.first_name": PLAN}
    assert only(("100", "264", "883"), CARD, origins=origins, identifiers=known) == [
        r"100 1_ $81\p$aMüller, Hans$0(DE-588)118585053",
        "264 _1 $aBasel :$bSchwabe,$c1912",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
    ]
    assert only(("100",), CARD | {"author.last_name": ""}, identifiers=known) == ["100 1_ $aHans"]


def test_record_larger_than_marc_allows_is_left_out(mapping_of):
    mapping = mapping_of("245: $a{title}", "500: $a{notes}")
    values = {"title": "Basel", "notes": ["x" * 9_000] * 12}
    assert made_of(values, mapping) == TOO_LARGE


def test_codes_stand_for_values(mapping_of):
    mapping = mapping_of(
        "041: {text: '$a{kind}', codes: {Deutsch: ger}}",
        "008/15-17: [{text: '{note}', codes: {basel: sz}}, gw]",
        "245: $a{title}",
    )
    for place, code in (("Basel", "sz "), ("xx", "xx "), ("Bern", "gw "), ("", "gw ")):
        found = lines({"title": "T", "kind": "deutsch", "note": place}, mapping)
        assert found[1][19:22] == code
        assert found[2] == "041 __ $ager"


def test_constants_ids_and_languages_are_written(mapping_of):
    mapping = mapping_of(
        "003: CH-XXXX",
        "035: $a(CH-XXXX){id}",
        "245|{main}{article}|: '$a{title} : $b.'",
        "099: $a{note}.",
    )
    values = {"title": "Le droit : un essai!", "year": "[1912?]", "language": "fre"}
    assert lines(values, mapping)[1:] == [
        "001 0041",
        "003 CH-XXXX",
        "008 260701s1912    xx ||||| |||||||| ||fre d",
        "035 __ $a(CH-XXXX)0041",
        "245 03 $aLe droit :$bun essai!.",
    ]
    # In a German title, "Le" is no article.
    assert only(("245",), values | {"language": "ger"}, mapping) == [
        "245 00 $aLe droit :$bun essai!."
    ]
    assert only(("245",), {"title": "Das Recht"}, mapping) == ["245 04 $aDas Recht."]


@pytest.mark.parametrize(
    ("title", "count"),
    [
        # The first five are examples of the documentation of field 245.
        ("The Year book of medicine", 4),
        ("A report to the legislature", 2),
        ('The "winter mind"', 5),
        ("L'enfant criminel", 2),
        ("--the serpent", 6),
        ('"Die Stadt"', 5),
        ("L’âge", 2),
        ("Diebe", 0),
        ("[Diary]", 0),
        ("A-Dur", 0),
        ("Die", 0),
        ("", 0),
    ],
)
def test_nonfiling_characters_are_counted_as_marc_does(title, count):
    assert nonfiling(title, ["eng", "fre", "ger"]) == count


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("$a{a}, {b}", {"b": "Hans"}, [("a", "Hans")]),
        ("$a{a} S. ; $c{b}", {"b": "8°"}, [("c", "8°")]),
        ("$a{a} : $b{b}", {"a": "Basel :", "b": "S"}, [("a", "Basel :"), ("b", "S")]),
        ("$a{a} / $c{b}.", {"a": "Titel"}, [("a", "Titel.")]),
        ("$a{a} / $c{b}.", {"a": "Titel", "b": "H. M."}, [("a", "Titel /"), ("c", "H. M.")]),
        ("$a{a} : $b / $c{b}", {"a": "T : R", "b": "M"}, [("a", "T :"), ("b", "R /"), ("c", "M")]),
        ("$a{a}[ ({b})].", {"a": "T"}, [("a", "T.")]),
        ("$bMain$h{a}", {"a": "A 1"}, [("b", "Main"), ("h", "A 1")]),
        ("$bMain$h{a}", {}, []),
        ("$aa constant", {}, [("a", "a constant")]),
        ("{a}[ ({b})]", {"a": "Basel", "b": "1898"}, [("", "Basel (1898)")]),
        ("{a}[ ({b})]", {"b": "1898"}, []),
        ("[[{{{a}}}]]", {"a": "x"}, [("", "[{x}]")]),
    ],
)
def test_templates_put_punctuation_where_isbd_has_it(template, values, expected):
    assert read_template(template).filled(lambda name: values.get(name, ""))[0] == expected


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("{marc: {leader/05-09: nam##}}", "marc: leader/05-09: is not codes such as nam#a"),
        ("{marc: {008/15-17: x1}}", "marc: 008/15-17: is not codes such as xx"),
        ("{marc: {005: x}}", "marc: '005' is not a field such as 245|10|, 007 or 008/35-37"),
        ("{marc: {245|1|: $ax}}", "marc: '245|1|' is not a field such as"),
        ("{marc: {245: x}}", "marc: 245: needs a subfield, such as $a{title}"),
        ("{marc: {007: $ax}}", "marc: 007: must be a text without subfields"),
        ("{marc: {245: $a}}", "marc.245.0.text: '$a': subfield $a is empty"),
        ("{marc: {245: '$a{title'}}", "marc.245.0.text: '{title': a bracket or brace without"),
        ("{marc: {245: {text: $ax, without: '['}}}", "marc.245.0.without: Input should be a valid"),
        ("{leave_out: {x: {titel: [a]}}, marc: {245: $ax}}", "titel: no such field: choose one of"),
        ("{csv: {Titel: '{titel}'}}", "titel: no such field: choose one of a, b, id, key"),
        ("{csv: {Titel: '$a{title}'}}", "csv: Titel: must be a text without subfields"),
        ("{csv: {Titel: ''}}", "csv.Titel.0.text: must be a text such as '{title}'"),
        ("{dublin-core: {titel: x}}", "dublin-core: titel: must be one of title, creator"),
        ("{dublin-core: {title: '[a[b]]'}}", "dublin-core.title.0.text: '[a[b]]': a bracket"),
        (
            "{dublin-core: {title: {text: x, language: d e}}}",
            "dublin-core.title.0.language: String",
        ),
        ("{csv: {}}", "has no part csv: say in it what goes where, as in"),
    ],
)
def test_an_unusable_mapping_is_named_with_its_key(tmp_path, mapping, message):
    path = tmp_path / "mapping.yaml"
    path.write_text(mapping, encoding="utf-8")
    form = next((form for form in ("marc", "dublin-core") if form in mapping), "csv")
    with pytest.raises(HdbenchError) as caught:
        read_mapping(path, form, FIELDS)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_the_example_of_the_guide_makes_a_record(mapping_of):
    guide = Path(__file__).parents[2] / "docs/trust.md"
    (frame, *_) = [each.text for each in blocks(guide, "In detail") if each.language == "yaml"]
    names = ("type", "title", "place", "publisher", "year", "subjects", "shelfmark")
    mapping = mapping_of(frame=frame, known=(*names, "last_name", "first_name"))
    values = {"type": "Thesis", "title": "Die Stadt : Roman", "place": "Basel", "year": 1912}
    assert lines(values | {"subjects": "Recht/Stadt", "shelfmark": "A 1"}, mapping) == [
        "00000nam_a22000007i_4500",
        "001 0041",
        "003 CH-XXXX",
        "008 260701s1912    sz ||||| m   |||| ||und d",
        "040 __ $aCH-XXXX$bger$cCH-XXXX",
        "245 04 $aDie Stadt :$bRoman.",
        "264 _1 $aBasel,$c1912",
        "502 __ $aHochschulschrift",
        "653 __ $aRecht",
        "653 __ $aStadt",
        "852 8_ $hA 1",
    ]
