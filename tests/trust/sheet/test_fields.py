"""The values that a cell of a work sheet can have."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hdbench.answers.letters import text_of
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError
from hdbench.trust.sheet.fields import SheetField
from hdbench.trust.sheet.layout import means_nothing, shown_value
from hdbench.trust.values import fields_of

SCHEMA = AnswerSchema(
    {
        "properties": {
            "title": {"type": ["string", "null"], "title": "Titel"},
            "year": {"type": ["integer", "null"], "minimum": 1450},
            "price": {"type": ["number", "null"]},
            "bound": {"type": ["boolean", "null"]},
            "language": {"enum": ["de", "fr", None]},
            "day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"},
            "keywords": {"type": "array", "items": {"type": "string", "maxLength": 20}},
            "marks": {"type": "array", "items": {"enum": ["red", "blue"]}},
        }
    }
)
FIELDS = {field.path: SheetField(field, SCHEMA) for field in fields_of(SCHEMA)[0]}


@pytest.mark.parametrize(
    ("field", "cell", "value"),
    [
        ("title", " 0012 ", "0012"),
        ("title", 1931.0, "1931"),  # a number cell
        ("title", "a\r\nb", "a\nb"),
        ("title", "=1+1", "=1+1"),
        ("year", "1931", 1931),
        ("year", 1931.0, 1931),
        ("price", "1,5", 1.5),
        ("price", "1.5", 1.5),
        ("price", "1500", 1500),
        ("price", 1.234, 1.234),  # a number cell is certain
        ("price", "1,2345", 1.2345),
        ("bound", "WAHR", True),
        ("bound", False, False),
        ("language", "fr", "fr"),
        ("day", "1931-05", "1931-05"),
        ("keywords", "Ehe; Recht", ["Ehe", "Recht"]),
        ("keywords", "Ehe; Recht\nZoo", ["Ehe", "Recht", "Zoo"]),
        ("marks", "red", ["red"]),
    ],
)
def test_a_typed_value_has_the_type_of_its_field(field, cell, value):
    found = FIELDS[field].value_in(cell, {})
    assert found == (value, None)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("field", "cell", "why"),
    [
        ("year", "1931?", "'1931?': not a number"),
        ("year", "1.931", "'1.931': not a number"),
        ("year", "1449", "the value is less than the minimum of 1450"),
        ("price", "1.234", "1.234: decimals or thousands? Write 1.2340 or 1234"),
        ("price", "-1,234", "-1,234: decimals or thousands? Write -1.2340 or -1234"),
        ("bound", "vielleicht", "'vielleicht': not one of the choices"),
        ("language", "it", "'it': not one of the choices"),
        ("day", "Mai 1931", 'the value does not match "^[0-9]{4}-[0-9]{2}$"'),
        ("keywords", "Ehe; " + 21 * "x", "the value is longer than 20 characters"),
        ("marks", "red; green", "'green': not one of the choices"),
    ],
)
def test_what_is_none_of_its_values_is_refused(field, cell, why):
    with pytest.raises(HdbenchError) as refused:
        FIELDS[field].value_in(cell, {})
    assert str(refused.value) == why


def test_a_candidate_that_the_schema_refuses_counts_as_typed():
    # A model wrote the year as a text; another one wrote none.
    assert FIELDS["year"].value_in("1931", {"one": "1931"}) == (1931, None)
    assert FIELDS["year"].value_in("1931", {"one": "1931", "two": 1931}) == (1931, "two")
    with pytest.raises(HdbenchError, match="not a number"):
        FIELDS["year"].value_in("um 1931", {"one": "um 1931"})


def test_choices_are_what_runs_say_and_what_the_schema_allows():
    assert FIELDS["title"].choices(["b", None, "a", "b "], "en") == ["b", "a"]
    assert FIELDS["language"].choices(["it", "fr"], "en") == ["it", "fr", "de"]
    assert FIELDS["bound"].choices([None], "en") == ["true", "false"]
    assert FIELDS["price"].choices([1.5], "de") == ["1,5"]


def test_a_field_is_known_by_its_title_and_its_path():
    assert FIELDS["title"].is_called("Titel")
    assert FIELDS["title"].is_called("title")
    assert not FIELDS["title"].is_called("year")


PLAIN = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=9)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(value=PLAIN | NUMBERS | st.lists(PLAIN, max_size=4), language=st.sampled_from(["en", "de"]))
def test_the_text_of_any_candidate_stands_for_it_alone(value, language):
    """In a field of any type, in whichever language the sheet is."""
    anything = fields_of(AnswerSchema({"properties": {"any": {}}}))[0]
    field = SheetField(anything[0], AnswerSchema({"properties": {"any": {}}}))
    shown = shown_value(value, language)
    assume(shown.strip())
    assert not means_nothing(shown)
    assert text_of(value)
    assert field.value_in(shown, {"other": None, "run": value}) == (value, "run")
