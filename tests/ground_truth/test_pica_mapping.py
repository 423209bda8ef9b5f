import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.errors import HdbenchError
from hdbench.ground_truth.marc_filling import NO_XML
from hdbench.ground_truth.pica import check_record, plain_field, to_plain
from hdbench.ground_truth.pica_export import new_record
from hdbench.ground_truth.pica_files import read_pica
from hdbench.ground_truth.pica_mapping import CARDS_MAPPING, PICA_MAPPING, read_pica_mapping

ROOT = Path(__file__).parents[2]

# Made up, with the fields and words of a record in K10plus.
BOOK = """002@ $0Aau
003@ $0481592954
004A $03774250936
010@ $ager
011@ $a2004
021A $aDer @Hamster$dartgerecht  halten$hPeter Hollmann
028A $BVerfasserIn$4aut$dPeter$aHollmann
028B/01 $8Meier, Anna ; ID: gnd/1
028C/00 $BHerausgeberIn$aKeller
033A $pMünchen$pBern$nGräfe und Unzer
034D $a127 S
101@ $a21
209A/02 $aA 12$x00
"""
TRUTH = {
    "title": "Der Hamster : artgerecht halten",
    "names": [
        {"name": "Hollmann, Peter", "role": "aut"},
        {"name": "Meier, Anna ; ID: gnd/1", "role": None},
        {"name": "Keller", "role": "HerausgeberIn"},
    ],
    "imprint": {"place": "München", "publisher": "Gräfe und Unzer", "year": "2004"},
    "extent": "127 S",
    "shelfmark": "A 12",
    "language": "ger",
    "isbn": ["3774250936"],
}

CARD = {
    "type": {"type": "Dissertation or thesis"},
    "author": {"last_name": "Oppenheim", "first_name": "Erwin"},
    "publication": {
        "title": "Über Mikropodie",
        "year": 1917,
        "place": "Breslau",
        "pages": "31",
        "publisher": "Genossenschaft",
        "format": "8°",
    },
    "library_reference": {"shelfmark": "Diss. 17.204", "subjects": "Anatomie/Hand"},
}
CARD_IN_PICA = """002@ $0Aau
006Y $00001.jpg
011@ $a1917
013D $aHochschulschrift
021A $aÜber Mikropodie
028A $aOppenheim$dErwin
033A $pBreslau$nGenossenschaft
034D $a31
034I $a8°
144Z $aAnatomie/Hand
209A/01 $aDiss. 17.204

"""


def record(text):
    return [plain_field(line) for line in text.splitlines() if line]


@pytest.fixture
def mapping(tmp_path):
    """Read a mapping from its text."""

    def mapping(text):
        (tmp_path / "mapping.yaml").write_text(text, encoding="utf-8")
        return read_pica_mapping(tmp_path / "mapping.yaml")

    return mapping


def made(mapping, values, key="1", identifiers=None):
    """A new record in PICA Plain, and what is left with the reasons."""
    new = new_record(mapping, values, key, identifiers or {})
    check_record(new.record)
    left = [(name, why, existing) for name, why, existing in new.left]
    return to_plain(new.record).decode(), left


def test_default_mapping_reads_a_record_of_a_union_catalogue(tmp_path):
    (tmp_path / "a.pica").write_text(f"{BOOK}\n{BOOK.replace('481592954', '2')}")
    found = read_pica(tmp_path / "a.pica")
    assert found.truths == [
        ("a.pica, record 1", "481592954", TRUTH),
        ("a.pica, record 2", "2", TRUTH),
    ]
    assert found.notes == []


def test_records_without_key_or_fields_are_remarked(tmp_path):
    (tmp_path / "a.pica").write_text("021A $aX\n\n002@ $0Aau\n\n003@ $03\n021A $aY\n")
    found = read_pica(tmp_path / "a.pica")
    assert [(truth.key, truth.record is None) for truth in found.truths] == [
        (None, False),
        (None, True),
        ("3", False),
    ]
    assert found.notes == [
        "no key, which says which item it belongs to: a.pica, record 1",
        "none of the fields in the mapping, so no ground truth: a.pica, record 2",
    ]
    (tmp_path / "a.pica").write_text("002@ $0Aau\n")
    with pytest.raises(HdbenchError, match="no PICA record in it has any of the fields"):
        read_pica(tmp_path / "a.pica")


def test_a_file_has_a_bounded_number_of_records(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.ground_truth.pica_files.MAX_RECORDS", 2)
    (tmp_path / "a.pica").write_text("021A $aX\n\n" * 3)
    with pytest.raises(HdbenchError, match=r"a\.pica: more than 2 records: export fewer"):
        read_pica(tmp_path / "a.pica")


def test_a_card_becomes_the_record_that_k10plus_would_have():
    cards = read_pica_mapping(CARDS_MAPPING)
    assert made(cards, CARD, "0001.jpg") == (CARD_IN_PICA, [])
    assert cards.truth(record(CARD_IN_PICA)) == ("0001.jpg", CARD)


def test_mapping_in_the_documentation_reads_what_it_says(mapping):
    text = (ROOT / "docs/own-collection.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n(key: .*?)```", text, re.DOTALL)
    assert mapping(shown).truth(record(f"{BOOK}013D $aFestschrift\n")) == (
        "A 12",
        {
            "title": "Der Hamster : artgerecht halten",
            "year": 2004,
            "kind": "festschrift",
            "persons": [
                {"name": "Hollmann, Peter", "role": "aut"},
                {"name": "Keller", "role": "HerausgeberIn"},
            ],
        },
    )


def test_places_mean_occurrences_as_said(mapping):
    fields = record("028B $aX\n028B/00 $a0\n028B/01 $a1\n028B/02 $a2\n209A/01 $aA\n209A/002 $aB\n")
    places = {
        "028B$a": ["X", "0"],
        "028B/00$a": ["X", "0"],
        "028B/01$a": ["1"],
        "028B/*$a": ["X", "0", "1", "2"],
        "209A$a": ["A", "B"],
        "209A/002$a": ["B"],
        "209A/02$a": [],
        "[028B/02$a, 209A/01$a, 028B/09$a]": ["2", "A"],
    }
    for place, texts in places.items():
        read = mapping(f"key: 003@$0\nrecord:\n  a:\n    each: {place}\n").record.read(fields)
        assert read == {"a": texts}, place


def test_codes_differ_by_case_and_repeated_ones_are_all_read(mapping):
    fields = record("033A $pBern$pBasel$Pparis$nX\n033A $pGenf\n")
    read = mapping(
        "key: 003@$0\nrecord:\n  p: 033A$p\n  P: 033A$P\n  all: {each: 033A$p}\n"
        '  both: "033A$p : $n"\n  bare: 033A$n$p\n'
    )
    assert read.record.read(fields) == {
        "p": "Bern",
        "P": "paris",
        "all": ["Bern", "Basel", "Genf"],
        "both": "Bern : X",
        "bare": "X Bern",
    }


def test_words_and_whole_numbers_count_as_none_if_others(mapping):
    read = mapping(
        "key: 003@$0\nrecord:\n  type: {at: 013D$a, words: {thesis: Hochschulschrift}}\n"
        "  year: {at: [011@$a, 011B$a], as: integer}\n"
    )
    fields = "013D $aBildband\n013D $aHochschulschrift\n011@ $a[1912]\n011B $a1913\n"
    assert read.record.read(record(fields)) == {"type": "thesis", "year": 1913}
    assert read.truth(record("013D $aBildband\n011@ $a١٩١٢\n")) == (None, None)


def test_only_the_first_sign_for_sorting_is_removed(mapping):
    read = mapping("key: 003@$0\nrecord: {t: 021A$a}\n")
    for text, plain in {
        "Der @Hamster": "Der Hamster",
        "@Hamster": "Hamster",
        "L'@été @ Paris": "L'été @ Paris",
        "info@example.org": "info@example.org",
        "Preise @ 5": "Preise @ 5",
        "U\u0308ber": "\u00dcber",
    }.items():
        assert read.record.read(record(f"021A $a{text}\n")) == {"t": plain}
    assert read.key_of(record("003@ $0@7\n")) == "@7"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "key: 003@$0",
            "needs key: and record:, may have constants: and kinds:, and nothing else: see ",
        ),
        ("key: 003@$0\nrecord: {a: 021A$a}\nb: c", "needs key: and record:, may have "),
        ("- a", "needs key: and record:, may have constants:"),
        ("key: {at: 003@$0, as: integer}\nrecord: {a: 021A$a}", "key: must be a place such as "),
        ("key: {a: 003@$0}\nrecord: {a: 021A$a}", "key: must be a place such as 003@$0"),
        ("key: 003@$0\nrecord: 021A$a", "record: must have fields, such as title: 021A$a"),
        ("key: 003@$0\nrecord: {}", "record: has no fields"),
        ("key: 003@$0\nrecord: {a: []}", "record.a: has no place"),
        ("key: 003@$0\nrecord: {a: [[021A$a]]}", "record.a: 'a list or object' is not a place "),
        *(
            (
                f"key: 003@$0\nrecord: {{a: '{place}'}}",
                f"record.a: '{place}' is not a place such as 021A$a, 209A/01$a or 028B/*$a",
            )
            for place in (
                "245$a",
                "021A",
                "$a",
                "021A$",
                "021A/1$a",
                "/01$a",
                "321A$a",
                "021A$ä",
                "",
            )
        ),
        (
            "key: 003@$0\nrecord: {a: {each: 028A$a, fields: {b: $a}}}",
            "record.a: '028A$a' is not a field such as 028A or 028B/*",
        ),
        (
            "key: 003@$0\nrecord: {a: {each: 028A, fields: {b: 028A$a}}}",
            "record.a.b: '028A$a' is not a place such as $a or [$4, $B]",
        ),
        (
            "key: 003@$0\nrecord: {a: {each: 028A}}",
            "record.a: '028A' is not a place such as 021A$a",
        ),
        (
            "key: 003@$0\nrecord: {a: {each: 028A$a, x: 1}}",
            "besides each: only fields: and identifier: are allowed",
        ),
        *(
            (
                f"key: 003@$0\nrecord: {{a: {{{kind}: 028A$a, identifier: {given}}}}}",
                f"record.a: {why}",
            )
            for kind in ("at", "each")
            for given, why in (
                ("7", "'7' is not a place such as $a"),
                ("028A$7", "'028A$7' is not a place such as $a"),
                ("$7 $8", "identifier: must be a subfield such as $7"),
                ("[$7, $8]", "identifier: must be a subfield such as $7"),
            )
        ),
        ("key: 003@$0\nrecord: {a: {at: 028A$a, x: 1}}", "record.a: besides at: only words: "),
        ("key: 003@$0\nrecord: {a: {at: 028A$a, as: x}}", "record.a: besides at: only words: "),
        ("key: 003@$0\nrecord: {a: {at: 028A$a, words: [x]}}", "record.a: besides at: only words"),
        (
            "key: 003@$0\nrecord: {a: {at: 028A$a, words: {b: X, c: X}}}",
            "record.a: words: PICA must say another word for each value",
        ),
        (
            "key: 003@$0\nrecord: {a: {at: 028A$a, words: {b: X}, as: integer}}",
            "record.a: words: and as: exclude each other",
        ),
        ("key: 003@$0\nrecord: {a: 021A$a}\nconstants: 002@", "constants: must be a list of "),
        ("key: 003@$0\nrecord: {a: 021A$a}\nconstants: [[a]]", "constants: must be a list of "),
        (
            "key: 003@$0\nrecord: {a: 021A$a}\nconstants: [002@ Aau]",
            "constants: '002@ Aau' is not a field such as 021A $aTitel",
        ),
        (
            "key: 003@$0\nrecord: {a: 021A$a}\nconstants: [209A $aX]",
            "constants: 209A must have an occurrence",
        ),
        (
            "key: 003@$0\nrecord: {a: 021A$a}\nkinds: [{when: {a: b}}]",
            "kinds[1]: must have leave_out:, and may have when:",
        ),
        ("key: &a 003@$0\nrecord: {a: *a}", "has an alias"),
        ("key: 003@$0\nrecord: " + "{a: " * 30 + "021A$a" + "}" * 30, "nested more than 20 levels"),
        ("key: 003@$0\n" + "#" * 2**16, "longer than 65,536 characters"),
        ("key: [", "not YAML: "),
    ],
)
def test_mapping_that_cannot_be_used_is_refused(mapping, text, message):
    with pytest.raises(HdbenchError) as caught:
        mapping(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_that_have_no_place_are_left_with_the_reason(mapping):
    cards = mapping(
        "key: 006Y$0\nconstants: [010@ $ager]\nrecord:\n  title: 021A$a\n  language: 010@$a\n"
        "  year: {at: 011@$a, as: integer}\n  type: {at: 013D$a, words: {thesis: Diss}}\n"
        "  nested: {a: 033A$p}\n  isbn: {each: 004A$0}\n"
    )
    values = {
        "title": "Die @Stadt",
        "language": "lat",
        "year": "1912/13",
        "type": "atlas",
        "nested": "Basel",
        "isbn": "3406",
        "note": {"b": "x"},
        "empty": {"b": [None, "", {}]},
    }
    assert made(cards, values) == (
        "006Y $01\n010@ $ager\n\n",
        [
            ("title", "would not be read back as the same", ""),
            ("language", "the record has another value", "ger"),
            ("year", "would not be read back as the same", ""),
            ("type", "not among the words of the mapping", ""),
            ("nested", "no place in the mapping", ""),
            ("isbn", "would not be read back as the same", ""),
            ("note.b", "no place in the mapping", ""),
        ],
    )
    assert made(cards, {"language": "ger", "title": "a\x00b"}) == (
        "006Y $01\n010@ $ager\n\n",
        [("title", "has characters that XML cannot have", "")],
    )


def test_lists_have_a_field_for_each_entry(mapping):
    books = read_pica_mapping(PICA_MAPPING)
    values = {
        "title": "Die Stadt : Roman : Fassung",
        "names": [
            {"name": "Müller, Hans", "role": "aut"},
            {"name": "Meier", "role": None},
            {},
        ],
        "isbn": ["1", " 2  3 ", ""],
        "shelfmark": "A 1",
    }
    text, left = made(books, values, "7")
    assert text == (
        "003@ $07\n004A $01\n004A $02 3\n021A $aDie Stadt$dRoman : Fassung\n"
        "028A $aMüller$dHans$4aut\n028A $aMeier\n209A/01 $aA 1\n\n"
    )
    assert left == []
    unknown = {"names": [{"name": "Keller", "born": "1870"}]}
    assert made(books, unknown, "7") == (
        "003@ $07\n\n",
        [("names", "would not be read back as the same", "")],
    )


def test_values_have_their_identifiers_beside_them(mapping):
    cards = mapping(
        "key: 006Y$0\nrecord:\n"
        "  author: {first: 028A$d, last: {at: 028A$a, identifier: $7}}\n"
        "  title: 021A$a\n  subjects: {each: 044K$a, identifier: $7}\n"
        "  others: {each: 028C, fields: {name: $a}, identifier: $7}\n"
    )
    values = {
        "author": {"first": "Karl", "last": "Müller"},
        "title": "Basel",
        "subjects": ["Stadt", "", "Recht"],
        "others": [{"name": "Frey"}, {"name": "Meier"}],
    }
    known = {
        "author.last": ["gnd/118585053"],
        "title": ["no subfield for it"],
        "subjects": ["", "gnd/4048737-4"],
        "others": ["gnd/11", "gnd/12"],
    }
    text, left = made(cards, values, identifiers=known)
    assert text.splitlines()[1:-1] == [
        "021A $aBasel",
        "028A $7gnd/118585053$dKarl$aMüller",
        "028C $7gnd/11$aFrey",
        "028C $7gnd/12$aMeier",
        "044K $aStadt",
        "044K $7gnd/4048737-4$aRecht",
    ]
    assert left == []
    # As many as there are values, or none: a wrong one is worse.
    text, left = made(cards, {"subjects": ["Stadt", "Recht"]}, identifiers={"subjects": ["gnd/1"]})
    assert "$7" not in text
    text, left = made(cards, {"subjects": ["Stadt"]}, identifiers={"subjects": ["\x1f"]})
    assert "044K $aStadt" in text
    assert left == [("subjects: identifier", NO_XML, "")]


def test_fields_stand_in_the_order_of_levels_and_copies(mapping):
    both = mapping(
        "key: 206X/02$0\nconstants: [101@ $a21, 209A/02 $x00, 203@/01 $0e]\n"
        "record: {a: 209A/01$a, b: 021A$a, c: 144Z$a, d: 209A/02$a}\n"
    )
    values = {"a": "A", "b": "B", "c": "C", "d": "D"}
    assert made(both, values)[0] == (
        "021A $aB\n101@ $a21\n144Z $aC\n203@/01 $0e\n209A/01 $aA\n206X/02 $01\n209A/02 $x00$aD\n\n"
    )


def test_constants_stay_the_same_for_every_record():
    cards = read_pica_mapping(CARDS_MAPPING)
    first = made(cards, CARD, "0001.jpg")
    made(cards, {"author": {"last_name": "May"}}, "2")
    assert made(cards, CARD, "0001.jpg") == first


def test_a_key_that_cannot_be_read_back_is_refused():
    cards = read_pica_mapping(CARDS_MAPPING)
    assert made(cards, {}, "@a $b")[0] == "002@ $0Aau\n006Y $0@a $$b\n\n"
    for key in ("", " ", "a\x00b", "a\ud800b"):
        with pytest.raises(ValueError, match="cannot be the key of a PICA record"):
            new_record(cards, {}, key)


texts = st.text(max_size=8) | st.sampled_from(["$a", "Der @Hund", "a : b", "null", "5 $$", "A, B"])


@given(
    st.fixed_dictionaries(
        {
            "author": st.fixed_dictionaries({"last_name": texts, "first_name": texts}),
            "publication": st.fixed_dictionaries(
                {"title": texts, "year": st.integers(0, 3000), "pages": texts}
            ),
            "library_reference": st.fixed_dictionaries({"shelfmark": texts, "subjects": texts}),
        }
    ),
)
def test_what_is_not_left_is_read_back_from_the_file(values):
    cards = read_pica_mapping(CARDS_MAPPING)
    new = new_record(cards, values, "k")
    lines = to_plain(new.record).decode().split("\n")
    key, truth = cards.truth([plain_field(line) for line in lines if line])
    assert key == "k"
    left = {name for name, _, _ in new.left}
    for group, fields in values.items():
        for name, value in fields.items():
            plain = " ".join(unicodedata.normalize("NFC", str(value)).split())
            is_empty = plain in ("", "null") or value == 0
            read = (truth or {}).get(group, {}).get(name)
            if f"{group}.{name}" in left or is_empty:
                assert read is None
            else:
                assert read == (value if isinstance(value, int) else plain)
