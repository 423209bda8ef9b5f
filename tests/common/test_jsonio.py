"""JSON and JSON Lines files from anybody."""

import json
import os

import pytest

from hdbench.common.jsonio import MAX_DEPTH, parse_json, read_jsonl, write_json
from hdbench.errors import HdbenchError


def nested(depth):
    return "[" * depth + "]" * depth


def test_depth_is_bounded_at_exactly_the_limit():
    assert json.dumps(parse_json(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 1_000_000):
        with pytest.raises(ValueError, match="nested more than 100 deep"):
            parse_json(nested(depth))


def test_many_brackets_side_by_side_are_not_deep():
    assert len(parse_json("[" + ",".join(["[{}]"] * 1000) + "]")) == 1000


def test_lines_know_their_number_and_offset(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes('\ufeff{"a": "ä"}\r\n\r\n \n{"b": 2}'.encode())
    lines = list(read_jsonl(path))
    assert [(line.number, line.value) for line in lines] == [(1, {"a": "ä"}), (4, {"b": 2})]
    assert path.read_bytes()[lines[1].offset :] == b'{"b": 2}'


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.common.jsonio.MAX_LINE", 2**20)
    path = tmp_path / "lines.jsonl"
    with path.open("wb") as file:
        file.truncate(2**31)  # 2 GiB of one line, and no room on the disk
    with pytest.raises(HdbenchError, match=r"lines\.jsonl:1: the line is longer than 1 MiB"):
        list(read_jsonl(path))


@pytest.mark.parametrize("value", [{"a": "ä\ud800"}, [], {"text": 'quote " and \\ud800'}])
def test_what_was_written_is_read_again(tmp_path, value):
    write_json(tmp_path / "value.json", value)
    assert json.loads((tmp_path / "value.json").read_bytes()) == value
    assert os.listdir(tmp_path) == ["value.json"]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    write_json(tmp_path / "value.json", {"old": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "value.json", {"new": float("nan")})
    assert json.loads((tmp_path / "value.json").read_text()) == {"old": 1}
    assert os.listdir(tmp_path) == ["value.json"]
