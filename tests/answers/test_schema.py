"""The form of answers, and what breaks it."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.schema import MAX_NAME, AnswerSchema
from hdbench.common.bounds import MAX_CHECKED, MAX_VIOLATIONS
from hdbench.errors import HdbenchError

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
CARD = {
    "type": {"type": "Reference"},
    "author": {"last_name": "Luxemburg", "first_name": "Rosa"},
    "publication": {
        "title": "Die industrielle Entwickelung Polens",
        "year": 1898,
        "place": "Leipzig",
        "pages": "IV, 95",
        "publisher": "Duncker & Humblot",
        "format": "8°",
    },
    "library_reference": {"shelfmark": "Nat. oec. 1", "subjects": ""},
}


def schema_of(name):
    return AnswerSchema.load(SCRIPTS / name / "answer.schema.json")


@pytest.fixture
def cards():
    return schema_of("zettelkatalog")


def changed(**fields):
    """The card with other values in its publication; `...` takes a field away."""
    publication = {
        key: value for key, value in (CARD["publication"] | fields).items() if value is not ...
    }
    return CARD | {"publication": publication}


def found(schema, record):
    return sorted((violation.field, violation.rule) for violation in schema.violations(record))


def test_a_fitting_card_breaks_nothing(cards):
    assert cards.violations(CARD) == []
    assert cards.keeps_to(CARD)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (changed(year="place"), [("publication.year", "type")]),
        (changed(title=...), [("publication.title", "required")]),
        (changed(editor=None), [("publication.editor", "additionalProperties")]),
        (CARD | {"type": {"type": "Referenz"}}, [("type.type", "enum")]),
        (CARD | {"author": None}, [("author", "type")]),
        (
            changed(year="1898", pages=..., editor=None, series=1),
            [
                ("publication.editor", "additionalProperties"),
                ("publication.pages", "required"),
                ("publication.series", "additionalProperties"),
                ("publication.year", "type"),
            ],
        ),
        ([CARD], [("", "type")]),
    ],
)
def test_each_violation_names_its_field(cards, record, expected):
    assert found(cards, record) == expected
    assert not cards.keeps_to(record)


def test_items_of_a_list_share_a_field():
    page = {"advertisements": [{"date": "1731", "tags_section": "", "text": ""}] * 2 + [{}]}
    assert found(schema_of("avisblatt"), page) == [
        ("advertisements[].date", "pattern"),
        ("advertisements[].date", "pattern"),
        ("advertisements[].date", "required"),
        ("advertisements[].tags_section", "required"),
        ("advertisements[].text", "required"),
    ]


def test_a_field_that_may_have_two_forms_is_one_violation():
    names = ("letter_title", "send_date", "sender_persons", "receiver_persons")
    letter = dict.fromkeys(names, "null")
    letters = schema_of("rheinschifffahrt")
    assert found(letters, letter) == []
    assert found(letters, letter | {"send_date": "1926"}) == [("send_date", "anyOf")]
    assert found(letters, letter | {"send_date": [1926, None]}) == [("send_date", "anyOf")]


def test_of_two_kinds_the_one_that_fits_counts():
    documents = schema_of("sciencemetabench")
    paper = dict.fromkeys(("doi", "title", "author", "keyword", "abstract", "pub_time"), "")
    book = dict.fromkeys(
        ("isbn", "title", "author", "abstract", "category", "pub_time", "publisher"), ""
    )
    assert documents.violations(paper) == documents.violations(book) == []
    assert found(documents, paper | {"keyword": ["a"]}) == [("keyword", "type")]
    assert found(documents, book | {"isbn": 978}) == [("isbn", "type")]
    assert found(documents, paper | {"isbn": ""}) == [("isbn", "additionalProperties")]


def test_half_a_surrogate_pair_is_no_obstacle(cards):
    assert found(cards, changed(title="\ud800", year="1898")) == [("publication.year", "type")]
    assert found(cards, CARD | {"\ud800": 1}) == [("?", "additionalProperties")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, -0.0])
def test_numbers_that_are_no_json_are_no_obstacle(cards, value):
    assert ("publication.title", "type") in found(cards, changed(title=value))


def test_violations_are_bounded(cards):
    extra = {f"{'x' * 300}{number}": number for number in range(MAX_VIOLATIONS + 500)}
    violations = cards.violations(CARD | extra)
    assert len(violations) == MAX_VIOLATIONS
    assert {len(violation.field) for violation in violations} == {MAX_NAME}
    assert all(len(violation.message) <= MAX_NAME for violation in violations)


def test_a_huge_answer_that_breaks_the_schema_is_one_violation():
    pages = schema_of("avisblatt")
    assert found(pages, {"advertisements": [1] * MAX_CHECKED})[0][1] == "type"
    assert found(pages, {"advertisements": [1] * (MAX_CHECKED + 1)}) == [("", "size")]
    ad = {"date": "1731-01-02", "tags_section": "", "text": ""}
    assert found(pages, {"advertisements": [ad] * MAX_CHECKED}) == []


def test_fit_counts_values_in_their_places(cards):
    assert cards.fit(CARD) == 4 + 1 + 2 + 6 + 2
    assert cards.fit({"author": {"last_name": "A", "age": 3}, "year": 1}) == 2
    assert cards.fit(changed(year="place")) == cards.fit(CARD) - 1
    assert cards.fit({"type": {"type": "anything"}}) == 2
    assert cards.fit({"type": "object", "properties": CARD}) == 0
    assert [cards.fit(value) for value in ({}, None, "x", [CARD], 17)] == [0] * 5


def test_fit_of_lists_grows_with_their_items():
    pages = schema_of("avisblatt")
    ad = {"date": "1731-01-02", "text": "1. Ein Thälchen"}
    assert pages.fit({"advertisements": [ad, ad]}) == 1 + 2 * 3
    assert pages.fit({"advertisements": [ad, "ad"]}) == 1 + 3
    assert pages.fit(ad) == 0


def test_true_is_no_integer(cards):
    assert cards.fit({"publication": {"year": True}}) == 1


def test_names_and_types_of_fields():
    cards, pages = schema_of("zettelkatalog"), schema_of("avisblatt")
    assert cards.names == {"type", "author", "publication", "library_reference"}
    assert {"last_name", "year", "type"} < cards.all_names
    assert cards.type_of(("publication", "year")) == {"integer"}
    assert cards.type_of(("type", "type")) == {"string"}
    assert cards.type_of(("publication",)) == {"object"}
    assert cards.type_of(("publication", "editor")) == set()
    assert cards.type_of(("year",)) == set()
    assert pages.type_of(("advertisements", "[]", "ntokens")) == {"integer"}
    assert pages.type_of(("advertisements", "ntokens")) == set()
    assert "send_date" in schema_of("rheinschifffahrt").names
    assert {"array", "string"} <= schema_of("rheinschifffahrt").type_of(("send_date",))


def test_a_field_without_a_type_may_have_any():
    schema = AnswerSchema({"properties": {"note": {}, "size": {"type": "number"}}})
    assert schema.type_of(("note",)) > {"null", "string", "object"}
    assert schema.fit({"note": None, "size": 3}) == 2


def test_alternatives_are_without_references():
    letters, documents = schema_of("rheinschifffahrt"), schema_of("sciencemetabench")
    assert "$ref" not in json.dumps(letters.alternatives)
    assert [kind["title"] for kind in documents.alternatives] == ["Paper", "Textbook or ebook"]
    assert {"doi", "isbn"} < documents.names


def test_the_list_of_objects_of_a_page():
    name, ad = schema_of("avisblatt").list_of_objects
    assert name == "advertisements"
    assert ad["required"] == ["date", "tags_section", "text"]
    for other in ("zettelkatalog", "sciencemetabench"):
        assert schema_of(other).list_of_objects is None


def test_a_bare_list_or_object_of_a_page_stands_for_the_page():
    pages, ad = schema_of("avisblatt"), {"date": "1731-01-02", "tags_section": "A", "text": "Heu"}
    assert pages.of_objects([ad, {"text": "Wein"}]) == {"advertisements": [ad, {"text": "Wein"}]}
    assert pages.of_objects(ad) == {"advertisements": [ad]}
    for other in ([], [ad, {"page": 3}], [ad, 1], {"text": "Heu"}, [{"advertisements": [ad]}], "x"):
        assert pages.of_objects(other) is None
    assert schema_of("zettelkatalog").of_objects([ad]) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object in braces"),
        ('{"type": "objekt"}', "not a valid JSON Schema"),
        ('{"properties": 5}', "not a valid JSON Schema"),
        ('{"properties": {"a": {"pattern": "("}}}', "not a valid JSON Schema"),
        ('{"properties": {"a": {"$ref": "https://example.org/a"}}}', "not a valid JSON Schema"),
        ('{"properties": {"a": {"$ref": "#/$defs/b"}}}', "not a valid JSON Schema"),
        ('{"properties": {"a": {"$ref": "#"}}}', "refers to itself"),
        ('{"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}', "itself"),
        ('{"a": ' * 200 + "1" + "}" * 200, "not usable JSON: nested"),
    ],
)
def test_an_unusable_schema_is_refused_with_its_file(tmp_path, text, message):
    path = tmp_path / "answer.schema.json"
    path.write_text(text)
    with pytest.raises(HdbenchError, match=message) as refused:
        AnswerSchema.load(path)
    assert str(refused.value).startswith(f"{path}:")
    assert "\n" not in str(refused.value)


def test_references_that_double_at_every_step_are_refused():
    step = {f"d{n}": {"items": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2}} for n in range(20)}
    with pytest.raises(HdbenchError, match="too large"):
        AnswerSchema({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": step | {"d20": {}}})


NAMES = st.sampled_from(["type", "author", "publication", "year", "title", "last_name", "x", "a.b"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("Reference")
RECORDS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


@given(st.dictionaries(NAMES, RECORDS, max_size=6))
def test_schema_violations_agree_with_another_validator(record):
    schema = json.loads((SCRIPTS / "zettelkatalog/answer.schema.json").read_text())
    expected = set()
    for error in jsonschema.Draft202012Validator(schema).iter_errors(record):
        path = ".".join(map(str, error.path))
        names = [""]
        if error.validator == "required":
            names = set(error.validator_value) - error.instance.keys()
        elif error.validator == "additionalProperties":
            names = error.instance.keys() - error.schema["properties"].keys()
        expected |= {(".".join(filter(None, [path, name])), error.validator) for name in names}
    assert set(found(AnswerSchema(schema), record)) == expected
