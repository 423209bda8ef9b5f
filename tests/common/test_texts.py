"""Texts in two languages, from several files."""

import pytest

from hdbench.common.texts import Texts


def test_a_key_that_two_files_have_is_an_error(tmp_path):
    (tmp_path / "one.yaml").write_text("en: {a: A, b: B}\nde: {a: Ä, b: B}")
    (tmp_path / "two.yaml").write_text("en: {c: C}\nde: {c: C}")
    assert Texts(tmp_path).text("a", "de") == "Ä"
    (tmp_path / "two.yaml").write_text("en: {b: another}\nde: {c: C}")
    with pytest.raises(ValueError, match=r"two\.yaml: another file has the key b too"):
        Texts(tmp_path).text("a", "de")
