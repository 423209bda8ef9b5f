from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.avisblatt_cer import AvisblattCer
from hdbench.scoring.error_classes import (
    ERROR_CLASSES,
    classify,
    confused,
    errors,
    form,
    form_counts,
    summarise,
)
from hdbench.scoring.letters_f1 import LettersF1
from hdbench.scoring.metric import OUTCOMES, FieldMatch
from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.sciencemeta_accuracy import SciencemetaAccuracy
from hdbench.scoring.text_cer import TextCer
from hdbench.scoring.zettel_f1 import ZettelF1

TEXTS = st.text(max_size=12) | st.text("Mmüu. ,-18XI°'ſß/", max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda child: st.lists(child, max_size=3) | st.dictionaries(TEXTS, child, max_size=3),
    max_leaves=5,
)
FORMS = ZettelF1.value_forms
FIELDS = st.sampled_from(
    ["publication.year", "publication.format", "publication.pages", "sender_persons", "a[0].b"]
)
HARMLESS = ("case", "white_space", "punctuation")


def substituted(reference, prediction, field="title"):
    return FieldMatch(field, "substituted", reference, prediction, 0.5)


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        (1912, ",", "missing"),
        ("Bern", "", "missing"),
        ("", "Bern", "invented"),
        ("De Witt", "DE WITT", "case"),
        ("Haſe", "Hase", "case"),
        ("De Witt", "Dewitt", "white_space"),
        ("U 22. 7301", "[u 22, 7301]", "punctuation"),
        ("Sibalín", "Sibalin", "diacritics"),
        ("Stabryła", "STABRYLA", "diacritics"),
        ("Müller", "Mueller", "diacritics"),
        ("Maurice Edmond", "Maurice", "truncated"),
        ("Indol-Alkaloide/ Diss", "Indol-Alkaloide", "truncated"),
        ("DN:B 1939, 24", "B 1939,24", "truncated"),
        ("Sklavenhandel", "Sklavenh", "truncated"),
        ("Abhandlung über ein Thema", "Thema", "different"),  # 5 of 22 letters
        ("Thieme", "Thieme Verlag", "over_specified"),
        ("Thieme", "Thiemer", "ocr"),  # no word of it is "Thieme"
        (1697, "1637", "number_or_date"),
        ("1928-05-15", "1928-05-18", "number_or_date"),
        ("U 28. 689", "U 28.898", "number_or_date"),
        ("XI, 92", "XII, 94", "number_or_date"),
        ("XI, 92", "92", "truncated"),
        ("12-20", "1220", "number_or_date"),
        ("C.", "D.", "different"),  # initials, though they are Roman numerals too
        ("Ludvig", "Ludwig", "ocr"),
        ("Lang", "Long", "ocr"),  # 1 of 4
        ("Mai", "Mal", "different"),  # 1 of 3
        ("Glaser", "Blanke", "different"),
        (["1934"], "['1934']", "different"),  # the metric holds the same text for different
    ],
)
def test_each_class_by_its_rule(reference, prediction, expected):
    assert classify(substituted(reference, prediction)) == expected


def test_what_the_metric_finds_right_has_no_class():
    assert classify(FieldMatch("title", "correct", "Bern", "Berne", 0.95)) is None


def test_value_of_another_field_takes_precedence():
    others = ["Bern", 1924, "8", None]
    assert classify(FieldMatch("place", "spurious", None, "BERN.", 0.0), others) == "other_field"
    assert classify(substituted(1902, "Bern"), others) == "other_field"
    assert classify(substituted("Chur", 1924), others) == "other_field"
    assert classify(substituted("49", "8"), others) == "number_or_date"  # too short to be told
    assert classify(FieldMatch("place", "missing", "Bern", None, 0.0), others) == "missing"


def test_the_same_field_on_the_other_side_is_no_other_field():
    found = errors([substituted("Vène", "Vene", "author"), substituted("Bern", "vene", "place")])
    assert [error for _, error in found] == ["diacritics", "different"]
    found = errors([substituted("Vène", "Vene", "author"), substituted("Bern", "Vène", "place")])
    assert [error for _, error in found] == ["diacritics", "other_field"]


def test_a_person_is_also_read_first_name_first():
    def of(answer, field):
        return classify(substituted("Muster, Anna", answer, field), persons=["author"])

    assert of("Anna Muster", "author") == "punctuation"
    assert of("Frau Anna Muster", "author") == "over_specified"
    assert of("Anna Muster", "title") == "different"


@pytest.mark.parametrize(
    ("field", "written", "expected"),
    [
        ("format", ["8°", "8'", "8 °", "8", "in-8", "In-8°.", "8vo", "8º", "8°'"], "8"),
        ("format", ["26,5 x 21,5 cm"], "26,5 x 21,5 cm"),
        ("format", ["gr. 8°"], "gr.8°"),
        ("year", [1924, "1924", "[1924?]", "c1924"], "1924"),
        ("year", ["1924-1925"], "1924-1925"),
        ("pages", ["X,184", "X, 184 S.", "pp. x, 184", "[X], 184", "x,184p"], "x,184"),
        ("pages", ["1 Bl., 35 S."], "1,35"),
        ("title", ["„Ueber  Eis“ – 1", '"UEBER EIS" - 1', "«Ueber Eis»—1"], '"ueber eis"-1'),
        ("title", ["S. 35"], "s.35"),
    ],
)
def test_values_of_one_form(field, written, expected):
    assert {form(value, FORMS.get(f"publication.{field}")) for value in written} == {expected}


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        ("Haſe", "Hafe", [("ſ", "f")]),
        ("Kern", "Kem", [("rn", "m")]),
        ("Kem", "Kern", [("m", "rn")]),
        ("nun", "uuu", [("n", "u"), ("n", "u")]),
        ("ece", "cce", [("e", "c")]),
        ("abc", "ab", []),
        ("abcdef", "xyzdef", []),
    ],
)
def test_confused_characters(reference, prediction, expected):
    assert [(old, new) for old, new, _ in confused(reference, prediction)] == expected


def explained(metric, answer, truth):
    prepared = metric.prepare(truth)
    return metric.explain(metric.score(answer, prepared))


def letter(answer):
    metric = LettersF1()
    persons = [{"name": name, "alternateName": []} for name in ("Muster, Anna", "Beispiel, Max")]
    truth = {"send_date": ["1929-03-12"], "sender_persons": persons, "receiver_persons": []}
    return explained(metric, answer, truth)


def test_similar_missing_and_spurious_persons_become_one_error():
    matches = letter(
        {"send_date": ["1931-10-30"], "sender_persons": ["Annq Muster", "Firma Muster AG"]}
    )
    of_persons = errors(matches, LettersF1.person_fields)
    found = [(m.reference, m.prediction, error) for m, error in of_persons]
    assert found == [
        (None, "Firma Muster AG", "invented"),
        ("1929-03-12", "1931-10-30", "number_or_date"),
        ("Muster, Anna", "Annq Muster", "ocr"),
        ("Beispiel, Max", None, "missing"),
    ]


def test_an_ad_read_wrong_is_classed_with_its_confusions():
    metric = AvisblattCer()
    page = {"advertisements": [{"text": "1. Rother Wein im Keſſel"}]}
    answer = {"advertisements": [{"text": "1. Rother Wein im Keffel"}]}
    summary = summarise([errors(explained(metric, answer, page))])
    assert summary.fields == {"advertisements": {"ocr": 1}}
    assert summary.confusions == {("ſ", "f"): 2}
    assert summary.examples["ſ", "f"].words == "Keſſel → Kefſel"


def test_characters_that_are_watched_come_first_with_how_many_there_were():
    metric = TextCer(watch="ſæ")
    truth = {"text": "Daſ iſt ein Waſſer und ein Hauß, hœre æ nicht mehr alz nutz"}
    answer = {"text": "Das ist ein Wasſer und eiu Hauß, hœre nicht mehr als nuts"}
    prepared = metric.prepare(truth)
    details = score_items(metric, [(Answer(answer, id="a"), prepared)], details=True)
    found = [tuple(pair.values()) for pair in details.errors_by_class["confusions"]]
    assert found == [
        ("ſ", "s", 3, 4, "Daſ → Das"),
        ("æ", "", 1, 1, "æ → "),
        ("z", "s", 2, 2, "alz → als"),
        ("n", "u", 1, 5, "ein → eiu"),
    ]


def test_errors_of_bibliographic_records_are_classed():
    metric = SciencemetaAccuracy()
    truth = {
        "kind": "paper",
        "sha256": "1",
        "doi": "10.1/x",
        "title": "On Wine",
        "author": "Muster",
    }
    answer = {"sha256": "1", "title": "On  Wine", "author": "Muster, A.", "keyword": "On Wine"}
    found = {m.field: error for m, error in errors(explained(metric, answer, truth))}
    assert found == {
        "doi": "missing",
        "title": "white_space",
        "author": "over_specified",
        "keyword": "other_field",
    }


def test_the_same_field_of_another_entry_is_no_other_field():
    metric = RecordF1()
    truth = {
        "entries": [
            {"name": "Abegg", "city": "Lausanne"},
            {"name": "Boreux", "city": "11, St. Pierre, Lausanne"},
            {"name": "Cuno & Cie.", "city": "Basel"},
            {"name": "Diethelm Widow"},
        ]
    }
    answer = {
        "entries": [
            {"name": "Abegg", "city": "Lausanne"},
            {"name": "Boreux", "city": "Lausanne"},
            {"name": "Cuno & Cie.", "city": "Abegg"},
            {"name": "Diethelm Widow", "city": "Basel"},
        ]
    }
    found = {match.field: error for match, error in errors(explained(metric, answer, truth))}
    assert found == {
        "entries[1].city": "truncated",
        "entries[2].city": "other_field",
        "entries[3].city": "invented",
    }


CARD = {
    "author": {"last_name": "Müller", "first_name": "Maurice Edmond"},
    "publication": {"year": 1957, "format": "8°", "pages": "X,184", "publisher": "Thieme"},
    "subjects": ["Diss", "Bein"],
}
ANSWER = {
    "author": {"last_name": "Mueller", "first_name": "Maurice"},
    "publication": {"year": "1957", "format": "in-8", "pages": "X, 184 S.", "place": "Bern"},
    "subjects": ["Diff", "BEIN"],
}


def card(answer):
    metric = ZettelF1()
    return explained(metric, answer, CARD)


def test_a_summary_counts_classes_per_field_and_in_total():
    summary = summarise([errors(card(ANSWER), forms=FORMS), errors(card(ANSWER), forms=FORMS)])
    assert summary.fields == {
        "author.first_name": {"truncated": 2},
        "author.last_name": {"diacritics": 2},
        "publication.format": {"punctuation": 2},
        "publication.pages": {"punctuation": 2},
        "publication.place": {"invented": 2},
        "publication.publisher": {"missing": 2},
        "subjects": {"different": 2, "case": 2},
    }
    assert summary.total == sum(summary.fields.values(), Counter())
    assert summary.confusions == {}


def test_form_counts_take_what_is_equal_in_form_for_right():
    # right: year; by form: format, pages, "BEIN". Wrong: both names, "Diff"; place; publisher.
    assert form_counts([card(ANSWER)], FORMS) == (4, 4, 4)
    assert form_counts([card(ANSWER), card(CARD)], FORMS) == (12, 4, 4)
    assert form_counts([card(None)], FORMS) == (0, 0, 8)


def test_form_counts_of_letters_accept_equivalent_persons():
    assert form_counts([letter({"sender_persons": ["MUSTER,ANNA", "Max B."]})]) == (1, 1, 2)


@given(VALUES, VALUES, FIELDS, st.sampled_from(OUTCOMES), st.lists(VALUES, max_size=2))
def test_every_error_has_one_class_and_what_is_right_none(
    reference, prediction, field, outcome, others
):
    error = classify(FieldMatch(field, outcome, reference, prediction, 0.0), others)
    assert error is None if outcome == "correct" else error in ERROR_CLASSES


@given(TEXTS, TEXTS)
def test_error_classes_are_consistent_when_sides_are_swapped(one, other):
    there, back = classify(substituted(one, other)), classify(substituted(other, one))
    for error in (*HARMLESS, "diacritics"):
        assert (there == error) == (back == error)
    mirrored = {"missing": "invented", "invented": "missing"}
    if there in mirrored:
        assert back == mirrored[there]


@given(VALUES, VALUES, FIELDS)
def test_what_is_equal_in_form_is_harmless(one, other, field):
    both_say_something = any(map(str.isalnum, str(one))) and any(map(str.isalnum, str(other)))
    kind = FORMS.get(field)
    same_form = form(one, kind) == form(other, kind)
    if same_form and str(one) != str(other) and both_say_something:
        assert classify(substituted(one, other, field), forms=FORMS) in (
            *HARMLESS,
            "missing",
            "invented",
        )


@given(VALUES, FIELDS)
def test_form_is_idempotent(value, field):
    kind = FORMS.get(field)
    once = form(value, kind)
    assert form(once, kind) == once
