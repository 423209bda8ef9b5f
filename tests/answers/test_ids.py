"""Ids as people write them."""

import pytest

from hdbench.answers.answers import match_ids
from hdbench.errors import HdbenchError

CARDS = ["00414956", "00415264", "01000000"]


def test_equal_ids_need_nothing():
    assert match_ids(CARDS, CARDS)[:3][:2] == ({}, [])


@pytest.mark.parametrize(
    ("written", "item"),
    [
        ("414956", "00414956"),
        ("0414956", "00414956"),
        ("00414956.jpg", "00414956"),
        ("414956.JPEG", "00414956"),
        ("images/00414956.tif", "00414956"),
        ("C:\\scans\\00414956.png", "00414956"),
        (" 00414956 ", "00414956"),
        ("LETTER01", "letter01"),
        ("letter01_p1", "letter01"),
        ("letter01-2", "letter01"),
        ("letter01 page 3.jpg", "letter01"),
        ("image_1_p1", "image_1"),
        ("Kasten3 0001", "Kasten3_0001.jpg"),
        ("kasten3-0001.TIF", "Kasten3_0001.jpg"),
        ("Kasten3_0001", "Kasten3_0001.jpg"),
    ],
)
def test_an_id_is_known_again(written, item):
    matched = match_ids([written], [*CARDS, "letter01", "image_1", "image_2", "Kasten3_0001.jpg"])
    assert (matched.ids, matched.unknown) == ({item: written}, [])


@pytest.mark.parametrize("written", ["00414957", "414956x", "image_3", "letter1", "", "00", "_p1"])
def test_an_unknown_id_stays_unknown(written):
    matched = match_ids([written], [*CARDS, "letter01", "image_1"])
    assert matched[:2] == ({}, [written])


def test_an_id_that_fits_two_items_fits_none():
    assert match_ids(["7"], ["07", "007"]).unknown == ["7"]
    assert match_ids(["a 1", "30001"], ["a_1", "a-1", "3 0001"]).unknown == ["a 1", "30001"]


def test_an_item_that_has_its_answer_takes_no_other():
    assert match_ids(["414956", "00414956"], CARDS).unknown == ["414956"]
    assert match_ids(["7"], ["7", "007"])[:3][:2] == ({}, [])


def test_two_ids_of_one_item_are_refused():
    with pytest.raises(HdbenchError, match="'letter01_p1' and 'letter01_p2' both look like 'lett"):
        match_ids(["letter01_p1", "letter01_p2"], ["letter01"])
    with pytest.raises(HdbenchError, match="both look like '00414956'"):
        match_ids(["414956", "00414956.jpg"], CARDS)
