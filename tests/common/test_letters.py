"""The texts of values, by the rules that decide what agrees and what is right."""

import pytest

from hdbench.common.value_text import folded, text_of


@pytest.mark.parametrize(
    "value", [None, "", "  ", "null", " null\n", [], {}, [None, "", "null"], [[]]]
)
def test_what_stands_for_nothing_is_empty(value):
    assert text_of(value) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" Basel\t", "Basel"),
        ("0", "0"),
        (0, "0"),
        (0.0, "0"),
        ("NULL", "NULL"),
        (1924, "1924"),
        (1924.0, "1924"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        (["Basel", None, " Bern "], "Basel / Bern"),
        ([1924, ["a", "b"]], "1924 / a / b"),
        ({"b": "ü", "a": 1}, '{"a": 1, "b": "ü"}'),
    ],
)
def test_the_text_of_a_value(value, text):
    assert text_of(value) == text


def test_folding():
    assert folded("Zu\u0308rich  STADT", "ignored") == folded("z\u00fcrich\nstadt", "ignored")
    assert folded("Straße", "ignored") == folded("STRASSE", "ignored")
    assert folded("Basel", "counts") != folded("BASEL", "counts") == "BASEL"
    for one, other in (("1957", "1958"), ("Diss. 1961", "Diss 1961"), ("Müller", "Muller")):
        assert folded(one, "ignored") != folded(other, "ignored")
