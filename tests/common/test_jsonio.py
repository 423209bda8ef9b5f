"""JSON and JSON Lines files from anybody."""

import json
import os

import pytest

from hdbench.common.bounds import MAX_KEYS
from hdbench.common.jsonio import (
    EXACT,
    MAX_DEPTH,
    SPELLED,
    UNIQUE,
    parse_file,
    parse_json,
    parse_line,
    read_jsonl,
    write_json,
)
from hdbench.errors import HdbenchError


def nested(depth):
    return "[" * depth + "]" * depth


def test_depth_is_bounded_at_exactly_the_limit():
    assert json.dumps(parse_json(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 1_000_000):
        with pytest.raises(ValueError, match="nested more than 100 deep"):
            parse_json(nested(depth))


def test_lines_know_their_number_and_offset(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes('\ufeff{"a": "ä"}\r\n\r\n \n{"b": 2}'.encode())
    lines = list(read_jsonl(path))
    assert [(line.number, line.value) for line in lines] == [(1, {"a": "ä"}), (4, {"b": 2})]
    assert path.read_bytes()[lines[1].offset :] == b'{"b": 2}'


def test_endless_line_is_refused_before_filling_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.common.jsonio.MAX_LINE", 2**20)
    path = tmp_path / "lines.jsonl"
    with path.open("wb") as file:
        file.truncate(2**31)  # 2 GiB of one line, and no room on the disk
    with pytest.raises(HdbenchError, match=r"lines\.jsonl:1: the line is longer than 1 MiB"):
        list(read_jsonl(path))


def test_a_line_has_a_bounded_number_of_keys_but_for_those_in_a_text():
    line = json.dumps(dict.fromkeys(map(str, range(MAX_KEYS + 1)), 1))
    with pytest.raises(HdbenchError, match="more than 200,000 keys in one line"):
        parse_line(line.encode(), "a.jsonl:1")
    assert parse_line(json.dumps({"text": line}).encode(), "a.jsonl:1") == {"text": line}


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    write_json(tmp_path / "value.json", {"old": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "value.json", {"new": float("nan")})
    assert json.loads((tmp_path / "value.json").read_text()) == {"old": 1}
    assert os.listdir(tmp_path) == ["value.json"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400 + ".0"])
def test_a_number_that_is_too_large_is_none_or_refused(number):
    text = f'{{"a": 1,\n "b": [{{"c": 2.5}}, {{"c": {number}}}]}}'
    assert parse_json(text) == {"a": 1, "b": [{"c": 2.5}, {"c": None}]}
    assert parse_json(text, UNIQUE) == parse_json(text)
    with pytest.raises(ValueError, match=r"^line 2, b\.1\.c: the number -?1.* is too large: "):
        parse_json(text, EXACT)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_has_no_number_for_is_none_or_refused(constant):
    text = f'{{"a": "{constant}",\n "b": [{{"c": 2.5}}, {{"c": {constant}}}]}}'
    assert parse_json(text) == {"a": constant, "b": [{"c": 2.5}, {"c": None}]}
    assert parse_json(text, UNIQUE) == parse_json(text)
    for decoder in (EXACT, SPELLED):
        with pytest.raises(ValueError, match=rf"^line 2, b\.1\.c: {constant} is not JSON: write "):
            parse_json(text, decoder)


@pytest.mark.parametrize("decoder", [EXACT, SPELLED])
def test_faults_behind_a_too_large_number_are_still_refused(decoder):
    deep, long = f"[1e999, {nested(100_000)}]", f"[1e999, {'1' * 5_000}]"
    for text, why in ((deep, "^nested more than 100 deep"), (long, "^a number has too many")):
        with pytest.raises(ValueError, match=why):
            parse_json(text, decoder)
    with pytest.raises(json.JSONDecodeError):
        parse_json('{"a": 1e999, "b":', decoder)
    in_quotes = '{"a": "\\" 1e999",\n "b": 1e999}'
    with pytest.raises(ValueError, match=r"^line 2, b: the number 1e999 is too large"):
        parse_json(in_quotes, decoder)


def test_a_file_that_is_not_json_is_named_with_the_place_in_it(tmp_path):
    assert parse_file('{"a": 1}', tmp_path / "a.json") == {"a": 1}
    with pytest.raises(HdbenchError, match=r"a\.json:1: not JSON: .*column 7"):
        parse_file('{"a": ', tmp_path / "a.json")
