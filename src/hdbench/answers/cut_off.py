"""The end of a block of damaged JSON, and the complete part of one that breaks off."""

import re
from typing import NamedTuple

from hdbench.common.jsonio import MAX_DEPTH

TOKEN = re.compile(
    r"""
    "[^"\\]*+(?:\\.[^"\\]*+)*+"?+    # a text, also one that breaks off
    | '[^'\\]*+(?:\\.[^'\\]*+)*+'?+  # as Python writes it
    | [{}\[\],:]
    | [^\s{}\[\],:"']++
    """,
    re.VERBOSE | re.DOTALL,
)
NUMBER = re.compile(r"[-+]?[0-9][0-9.eE+-]*")
WORDS = frozenset({"true", "false", "null", "True", "False", "None", "NaN"})
CLOSING = {"{": "}", "[": "]"}


class Scan(NamedTuple):
    """End of a block, and its complete part.

    Attributes:
        end: where the block's first bracket is closed; 0 if it never is.
        kept: the block up to its last complete value, with its brackets closed; empty if it has no
            complete value.
        in_text: whether the block ends within a text.
    """

    end: int
    kept: str
    in_text: bool = False


def scan(block: str) -> Scan:
    """Find the end of a block that begins with an opening bracket.

    A value is complete if something follows it, or if its closing quotation mark or bracket is
    there; so a number at the very end is not, since digits may be missing. Blocks nested more than
    `MAX_DEPTH` deep are given up.

    Example:
        >>> scan('{"title": "Die {sic} Welt"} and more').end
        27
        >>> scan('{"author": {"last_name": "Müller", "first_name": "Mau').kept
        '{"author": {"last_name": "Müller"}}'
    """
    open_brackets: list[str] = []
    end = depth = 0
    is_value = in_text = False
    for token in TOKEN.finditer(block):
        text = token[0]
        first = text[0]
        in_text = first in "\"'" and not _is_closed(text)
        if first in CLOSING:
            open_brackets.append(CLOSING[first])
            is_value = False
            if len(open_brackets) > MAX_DEPTH:
                break
            continue
        if first in "}]":
            if first in open_brackets:
                while open_brackets.pop() != first:
                    pass
            if not open_brackets:
                return Scan(token.end(), "")
        elif first in ":,":
            is_value = first == ":"
            continue
        elif not (is_value or open_brackets[-1] == "]") or not _is_whole(text, token.end(), block):
            continue
        is_value = False
        end, depth = token.end(), len(open_brackets)
    # A closing bracket ends a complete value, so those open at the last one are still open.
    kept = block[:end] + "".join(reversed(open_brackets[:depth]))
    return Scan(0, kept, in_text)


def _is_whole(text: str, end: int, block: str) -> bool:
    """Return whether a text, number or word is complete."""
    if text[0] in "\"'":
        return _is_closed(text)
    return text in WORDS or (end < len(block) and NUMBER.fullmatch(text) is not None)


def _is_closed(text: str) -> bool:
    """Return whether a text ends with the quotation mark that it begins with, not escaped."""
    inner = text[1:-1]
    escaped = (len(inner) - len(inner.rstrip("\\"))) % 2 == 1
    return len(text) > 1 and text[-1] == text[0] and not escaped
