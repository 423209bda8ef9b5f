import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.common.display.differences import (
    MAX_MARKED,
    MAX_VALUES,
    characters,
    differences,
    marked_values,
)

TEXT = st.text(st.sampled_from("abc \u0301\u0308\u200d👩é\u05d0\x00\ud800"), max_size=30)


def marked(parts):
    return "".join(f"[{part.text}]" if part.differs else part.text for part in parts)


def both(reference, prediction):
    truth, answer = differences(reference, prediction)
    return marked(truth), marked(answer)


def test_one_letter_for_another_is_marked_in_both():
    assert both("Ludvig", "Ludwig") == ("Lud[v]ig", "Lud[w]ig")


def test_what_was_left_out_is_marked_in_the_truth_alone():
    assert both("Maurice Edmond", "Maurice") == ("Maurice[ Edmond]", "Maurice")


def test_what_was_added_is_marked_in_the_answer_alone():
    assert both("X,184", "X, 184") == ("X,184", "X,[ ]184")


def test_equal_texts_have_no_mark():
    assert both("Stellingen", "Stellingen") == ("Stellingen", "Stellingen")


def test_texts_with_little_in_common_are_marked_whole():
    assert both("Glaser", "Bern") == ("[Glaser]", "[Bern]")


def test_a_letter_stays_with_its_combining_marks():
    assert both("Mu\u0308ller", "Muller") == ("M[u\u0308]ller", "M[u]ller")


def test_an_empty_text_has_no_parts():
    assert differences("", "Bern")[0] == []
    assert differences("", "") == ([], [])


@given(TEXT, TEXT)
def test_the_parts_are_the_texts_and_what_is_not_marked_is_equal(reference, prediction):
    truth, answer = differences(reference, prediction)
    assert "".join(part.text for part in truth) == reference
    assert "".join(part.text for part in answer) == prediction
    assert "".join(part.text for part in truth if not part.differs) == "".join(
        part.text for part in answer if not part.differs
    )
    for parts in (truth, answer):
        assert all(part.text for part in parts)
        kinds = [part.differs for part in parts]
        assert all(a != b for a, b in pairwise(kinds))


@given(TEXT)
def test_no_character_but_the_first_begins_with_a_mark(text):
    found = characters(text)
    assert "".join(found) == text
    assert not any(unicodedata.combining(character[0]) for character in found[1:])


@pytest.mark.parametrize(
    "values", [["a", ["b"]], [True, "a"], ["a" * (MAX_MARKED + 1), "a"], ["a"] * (MAX_VALUES + 1)]
)
def test_lists_long_and_many_values_are_not_compared(values):
    assert marked_values(values) is None


def test_texts_and_numbers_are_compared_missing_values_not():
    parts = [[("Mai", True, False)], [], [("7", True, False)]]
    assert marked_values(["Mai", None, 7]) == parts
