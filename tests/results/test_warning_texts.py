"""Warnings in words, in English and German."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hdbench.evaluation.parts import _TEXTS as TEXTS
from hdbench.evaluation.parts import in_words


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_every_language_has_every_text_with_the_same_places():
    texts = TEXTS.translations
    assert texts["en"].keys() == texts["de"].keys()
    for key, text in texts["en"].items():
        assert places(text) == places(texts["de"][key]), key


VALUES = st.text(max_size=40)


@example(field="{shown}", shown="{field.__class__}")
@given(field=VALUES, shown=VALUES)
def test_any_value_is_carried_over(field, shown):
    values = {"count": 1, "answers": None, "and_type": None, "without": None}
    told = in_words("wrong_value", {"field": field, "shown": shown, **values}, "de")
    assert told.startswith(f"{field} lautet in 1 von  fälschlich {shown}: Verlangt der Prompt")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("nothing", {}),
        ("partial", {"given": 1, "items": 2}),
        ("partial", {"given": 1, "items": 2, "count": "many"}),
        ("partial", {"given": 1, "items": 2, "count": [3]}),
        ("truncated", {"count": {"key": "answers", "values": {"number": {}}}, "given": 1}),
        ("wrong_type", {"answers": {"key": "answers"}}),
        ("truncated", {"count": 10**5000, "given": 1}),
    ],
)
def test_what_is_no_message_is_refused(key, values):
    with pytest.raises(ValueError, match=r"no message|no part|format|digits|Cannot specify"):
        in_words(key, values)
