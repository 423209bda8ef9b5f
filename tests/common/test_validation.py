"""Values that people write, checked; and what is said about those that do not fit."""

import pytest

from hdbench.common.validation import read_yaml
from hdbench.errors import HdbenchError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a: 1\nb: "\\ud800"', "line 2: half a character (\\ud800)"),
        ('"\\udfff": 1', "line 1: half a character (\\ud800)"),
        ("a: .inf", "line 1: .inf is not a usable number"),
        ("a: -.inf", "line 1: -.inf is not a usable number"),
        ("a: .nan", "line 1: .nan is not a usable number"),
        ("a: 1.0e+999", "line 1: 1.0e+999 is not a usable number"),
        ("a: " + "1" * 5_000, "a number has too many digits: shorten it, or put it in quotes"),
    ],
)
def test_yaml_has_nothing_that_json_in_utf_8_cannot_hold(tmp_path, text, expected):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(HdbenchError) as caught:
        read_yaml(tmp_path / "a.yaml")
    assert str(caught.value) == f"{tmp_path / 'a.yaml'}: not YAML: {expected}"


def test_yaml_in_json_s_escapes_is_read(tmp_path):
    (tmp_path / "a.yaml").write_text('{"a": "\\ud83d\\ude00", "b": 1.5, "c": 0x10}')
    assert read_yaml(tmp_path / "a.yaml") == {"a": "😀", "b": 1.5, "c": 16}
