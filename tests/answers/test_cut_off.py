"""Where damaged blocks end, and what is whole of those that break off."""

import pytest

from hdbench.answers.blocks import scan
from hdbench.common.jsonio import MAX_DEPTH


@pytest.mark.parametrize(
    ("block", "rest"),
    [
        ('{"a": 1,}', " and more"),
        ('{"a": "} \\" }"}', "}"),
        ("{'a': '} \\' }'}", "}"),
        ('{"a": [1, {"b": 2}]}', "]}"),
        ('{"a": [1, 2}', "]"),
        ("{sic}", ' {"a": 1}'),
    ],
)
def test_a_block_ends_with_its_bracket(block, rest):
    assert scan(block + rest).end == len(block)


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        ('{"a": 1, "b": 2', '{"a": 1}'),
        ('{"a": 1, "b": 2 ', '{"a": 1, "b": 2}'),
        ('{"a": 1, "b": true', '{"a": 1, "b": true}'),
        ('{"a": 1, "b": tru', '{"a": 1}'),
        ('{"a": 1, "b": "x', '{"a": 1}'),
        ('{"a": 1, "b": "x\\', '{"a": 1}'),
        ('{"a": 1, "b": "x\\"', '{"a": 1}'),
        ('{"a": 1, "b": "x\\\\"', '{"a": 1, "b": "x\\\\"}'),
        ('{"a": 1, "b": {"c": [', '{"a": 1}'),
        ('{"a": 1, "b": {}', '{"a": 1, "b": {}}'),
        ('{"a": [{"b": "x"}, {"b": "y", "c', '{"a": [{"b": "x"}, {"b": "y"}]}'),
        ('{"a": ["x", "y', '{"a": ["x"]}'),
        ('{"a": "x", "b"', '{"a": "x"}'),
        ('{"a": "x", "b":', '{"a": "x"}'),
        ('{"a', ""),
        ('{"a": {"b": "x', ""),
    ],
)
def test_what_is_whole_is_kept_and_closed(block, kept):
    assert (scan(block).end, scan(block).kept) == (0, kept)


def test_a_block_that_ends_within_a_text_is_known():
    assert scan('{"a": "x').in_text
    assert scan('{"a": "5" wide", "b": "x"}').in_text
    assert not scan('{"a": "x", "b": ').in_text


def test_blocks_nested_too_deep_are_given_up():
    deep = '{"a":' * MAX_DEPTH
    assert scan(deep + '"x"' + "}" * MAX_DEPTH).end > 0
    assert scan('{"a":' + deep + '"x"' + "}" * (MAX_DEPTH + 1)).end == 0
