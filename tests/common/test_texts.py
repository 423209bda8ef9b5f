"""Texts in English from several files, and their translations."""

import pytest

from hdbench.common.texts import Texts


def test_a_key_that_two_files_have_is_an_error(tmp_path):
    (tmp_path / "one.yaml").write_text("a: not known\nb: B")
    (tmp_path / "two.yaml").write_text("c: C")
    assert Texts(tmp_path).text("a", "de") == "unbekannt"
    (tmp_path / "two.yaml").write_text("b: another")
    with pytest.raises(ValueError, match=r"two\.yaml: another file has the key b too"):
        Texts(tmp_path).text("a", "de")


def test_a_text_has_the_form_of_its_count(tmp_path):
    (tmp_path / "one.yaml").write_text('items: {one: "{count:,} item", other: "{count:,} items"}')
    texts = Texts(tmp_path)
    assert [texts.text("items", "de", count=count) for count in (1, 2000)] == [
        "1 Eintrag",
        "2.000 Einträge",
    ]
    assert texts.text("items", "en", count=1) == "1 item"
    assert texts.translations["en"]["items"] == "{count:,} items"
