"""Whole MARC records, expected as the documentation of MARC 21 has them."""

import datetime
import io
from pathlib import Path

import pytest
from lxml import etree
from pymarc import parse_xml_to_array

from hdbench.collections.records.marc_making import (
    NO_TITLE,
    NO_XML,
    OTHER_OPEN,
    TOO_LARGE,
    Left,
    LeftOut,
    Process,
    make_record,
)
from hdbench.collections.truth.marc_mapping import read_mapping
from hdbench.collections.truth.marc_templates import (
    CARD_CATALOGUE,
    KIND_OPEN,
    NO_KIND,
    nonfiling,
    read_template,
)
from hdbench.errors import HdbenchError

DAY = datetime.date(2026, 7, 1)
CARDS = read_mapping(CARD_CATALOGUE).new_records
PLAN = Process("hdbench trust, plan 5f", 0.95, "20261123")

# The parts of a mapping that its fields need around them.
FRAME = """
key: 001
record: {title: 245$a}
new_records:
  articles: [ger, fre]
  008: {date: year, language: {field: language}}
  kinds:
    - leader/05-09: nam#a
      leader/17-19: 7i#
      008/18-34: "|||||#||||||||#||"
  fields:
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


@pytest.fixture
def mapping_of(tmp_path):
    def made(*fields, frame=FRAME):
        path = tmp_path / "mapping.yaml"
        path.write_text(frame + "".join(f"    - {field}\n" for field in fields), encoding="utf-8")
        return read_mapping(path).new_records

    return made


def parse(record):
    (read,) = parse_xml_to_array(io.BytesIO(etree.tostring(record)))
    return read


def made_of(values, mapping=CARDS, origins=None, identifiers=None, undecided=()):
    known = identifiers or {}
    return make_record(
        mapping, "0041", values, origins or {}, DAY, identifiers=known, undecided=undecided
    )


def lines(values, mapping=CARDS, origins=None, identifiers=None):
    """The leader and the fields of a record as pymarc reads them, blanks as `_`."""
    record = parse(made_of(values, mapping, origins, identifiers).record)
    return [str(record.leader).replace(" ", "_")] + [
        f"{field.tag} {field.data}"
        if field.control_field
        else f"{field.tag} {''.join(field.indicators).replace(' ', '_')} "
        + "".join(f"${each.code}{each.value}" for each in field.subfields)
        for field in record.fields
    ]


def only(tags, values, mapping=CARDS, origins=None, identifiers=None):
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
    assert made_of(CARD).left == []


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
    assert made_of(card) == LeftOut("a card that only refers to another one", [])
    book = lines(CARD | {"type.type": ""})
    assert book[2] == "008 260701s1912    xx ||||| |||||||| ||und d"
    assert not [line for line in book if line.startswith(("502", "655"))]


def test_no_kind_is_chosen_while_what_decides_it_is_open():
    unknown = {name: value for name, value in CARD.items() if name != "type.type"}
    undecided = {"type.type"}
    assert made_of(unknown, undecided=undecided) == LeftOut(KIND_OPEN, [])
    assert made_of(CARD, undecided={"author.last_name"}) != LeftOut(KIND_OPEN, [])
    assert made_of({"type.type": "Reference"}, undecided={"publication.title"}) == LeftOut(
        "a card that only refers to another one", []
    )


def test_half_a_name_is_not_written_while_the_rest_is_open():
    half = {name: value for name, value in CARD.items() if name != "author.last_name"}
    assert only(("100",), half) == ["100 1_ $aHans"]
    made = made_of(half, undecided={"author.last_name"})
    assert made.left == [Left("author.first_name", OTHER_OPEN)]
    assert not parse(made.record).get_fields("100")
    imprint = {name: value for name, value in CARD.items() if name != "publication.place"}
    made = made_of(imprint, undecided={"publication.place"})
    assert made.left == []
    assert [str(field) for field in parse(made.record).get_fields("264")] == [
        "=264  \\1$bSchwabe,$c1912"
    ]


def test_nothing_is_made_where_no_kind_fits(mapping_of):
    frame = FRAME.replace("    - leader/05", "    - when: {kind: [book, '']}\n      leader/05")
    mapping = mapping_of("245$a{title}", frame=frame)
    assert made_of({"kind": "map", "title": "Basel"}, mapping) == LeftOut(NO_KIND, [])
    assert only(("245",), {"title": "Basel"}, mapping) == ["245 __ $aBasel"]


def test_record_without_a_title_is_left_out_and_says_why():
    assert made_of(CARD | {"publication.title": ""}) == LeftOut(NO_TITLE, [])
    left = [Left("publication.title", NO_XML)]
    assert made_of(CARD | {"publication.title": "Duodenalgeschw\x14r"}) == LeftOut(NO_TITLE, left)


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


def test_lists_of_texts_and_of_objects_repeat_their_field(mapping_of):
    mapping = mapping_of(
        "245$a{title}",
        "{each: keywords, field: '650|#4|$a{keywords}'}",
        "{each: persons, field: '700|1#|$a{persons.name},$e{persons.role}'}",
    )
    values = {
        "title": "Basel",
        "keywords": ["Stadt", "", "Recht"],
        "persons": [{"name": "Meier, A.", "role": "Stecher"}, {"name": "Keller, G.", "role": None}],
    }
    assert only(("650", "700", "883"), values, mapping, {"persons": PLAN}) == [
        "650 _4 $aStadt",
        "650 _4 $aRecht",
        r"700 1_ $81\p$aMeier, A.,$eStecher",
        r"700 1_ $81\p$aKeller, G.",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
    ]


def test_each_value_of_a_list_has_its_own_identifier(mapping_of):
    mapping = mapping_of(
        "245$a{title}",
        "{each: keywords, field: '650|#4|$a{keywords}$0{keywords: identifier}'}",
        "{each: terms, split: /, without: '[0-9]', field: '650|#4|$a{terms}$0{terms: identifier}'}",
    )
    values = {"title": "Basel", "keywords": ["Stadt", "", "Recht"], "terms": "2/Hand/ /Fuss"}
    known = {"keywords": ["", "id of Recht"], "terms": ["id of 2", "id of Hand", "id of Fuss"]}
    assert only(("650",), values, mapping, identifiers=known) == [
        "650 _4 $aStadt",
        "650 _4 $aRecht$0id of Recht",
        "650 _4 $aHand$0id of Hand",
        "650 _4 $aFuss$0id of Fuss",
    ]
    # As many as there are values, or none: a wrong one is worse.
    assert only(("650",), values, mapping, identifiers={"keywords": ["id"], "terms": ["id"]}) == [
        "650 _4 $aStadt",
        "650 _4 $aRecht",
        "650 _4 $aHand",
        "650 _4 $aFuss",
    ]


def test_an_identifier_is_from_where_its_value_is():
    known = {"author.last_name": ["(DE-588)118585053"], "publication.place": ["elsewhere"]}
    origins = {"author.last_name": PLAN, "author.first_name": PLAN}
    assert only(("100", "264", "883"), CARD, origins=origins, identifiers=known) == [
        r"100 1_ $81\p$aMüller, Hans$0(DE-588)118585053",
        "264 _1 $aBasel :$bSchwabe,$c1912",
        r"883 0_ $81\p$ahdbench trust, plan 5f$c0.95$d20261123",
    ]
    assert only(("100",), CARD | {"author.last_name": ""}, identifiers=known) == ["100 1_ $aHans"]


def test_record_larger_than_marc_allows_is_left_out(mapping_of):
    mapping = mapping_of("245$a{title}", "{each: notes, field: '500$a{notes}'}")
    values = {"title": "Basel", "notes": ["x" * 9_000] * 12}
    assert made_of(values, mapping) == LeftOut(TOO_LARGE, [])


def test_constants_ids_and_languages_are_written(mapping_of):
    mapping = mapping_of(
        "003 CH-XXXX", "035$a(CH-XXXX){id}", "'245|{main}{article}|$a{title} : $b.'", "099$a{note}."
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
        ("100$a{a}, {b}", {"b": "Hans"}, [("a", "Hans")]),
        ("300$a{a} S. ; $c{b}", {"b": "8°"}, [("c", "8°")]),
        ("264$a{a} : $b{b}", {"a": "Basel :", "b": "S"}, [("a", "Basel :"), ("b", "S")]),
        ("245$a{a} / $c{b}.", {"a": "Titel"}, [("a", "Titel.")]),
        ("245$a{a} / $c{b}.", {"a": "Titel", "b": "H. M."}, [("a", "Titel /"), ("c", "H. M.")]),
        (
            "245$a{a} : $b / $c{b}",
            {"a": "T : R", "b": "M"},
            [("a", "T :"), ("b", "R /"), ("c", "M")],
        ),
        ("852$bMain$h{a}", {"a": "A 1"}, [("b", "Main"), ("h", "A 1")]),
        ("852$bMain$h{a}", {}, []),
        ("500$aa constant", {}, [("a", "a constant")]),
    ],
)
def test_templates_put_punctuation_where_isbd_has_it(template, values, expected):
    assert read_template(template).filled(lambda name: values.get(name, "")) == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "ger, fre",
            "ger, deu",
            "new_records.articles.1: 'deu' is not one of the languages dut, eng",
        ),
        (
            "008: {",
            "009: {",
            "new_records.008: Field required",
        ),
        ("nam#a", "nam##", "new_records.kinds.0.leader/05-09: 'nam##' is not codes such as nam#a"),
        ("year, lan", "year, land: x, lan", "new_records.008.land: Extra inputs are not permitted"),
        (
            "{field: language}",
            "deutsch",
            "new_records.008.language.otherwise: 'deutsch' is not codes such as",
        ),
        (
            "- 245",
            "- 005 x\n    - 245",
            "new_records.fields.0.field: '005 x' is not a field such as '245",
        ),
        ("{title}", "{title", "new_records.fields.0.field: '245$a{title' is not a field such as"),
        ("- 245", "- split: x\n      field: 245", "new_records.fields.0: split: and"),
        (
            "    - leader",
            "    - when: [x]\n      leader",
            "new_records.kinds.0.when: Input",
        ),
        (
            "    - leader",
            "    - when: {x: y}\n      leader",
            "new_records.kinds.0.when.x: Input should be a valid list",
        ),
        (
            "    - leader",
            "    - leave_out: x\n      leader",
            "new_records.kinds.0: must have leave",
        ),
        ("    - leader", "    - {}\n    - leader", "new_records.kinds.0: must have leave_out:, or"),
        (
            "- 245",
            "- field: [x]\n    - 245",
            "new_records.fields.0.field: \"['x']\" is not",
        ),
        (
            "- 245",
            "- each: x\n      without: '['\n      field: 245",
            "new_records.fields.0.without: '[' is not a regular expression (",
        ),
    ],
)
def test_an_unusable_mapping_is_named_with_its_key(tmp_path, old, new, message):
    path = tmp_path / "mapping.yaml"
    text = f"{FRAME}    - 245$a{{title}}\n"
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(HdbenchError) as caught:
        read_mapping(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_the_example_of_the_guide_makes_a_record(mapping_of):
    guide = Path(__file__).parents[2].joinpath("docs/marc.md").read_text(encoding="utf-8")
    mapping = mapping_of(frame=guide.partition("```yaml\n")[2].partition("```")[0])
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
