"""JSON objects and lists in a text, intact, damaged or cut off, with a bound on the work."""

import ast
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hdbench.answers.answer import Status
from hdbench.common.jsonio import DECODER, MAX_DEPTH, is_too_deep

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


MAX_DAMAGED = 500_000
"""Maximum number of characters in a text that is searched, if it is not JSON as a whole. The
longest texts of models have some 250,000."""

MAX_SCANNED = 1_000_000
"""Maximum number of characters searched for the ends of damaged blocks, over all blocks."""

MAX_REPAIRED = 300_000
"""Maximum number of characters that are repaired, over all blocks; a page of advertisements has
20,000."""

MIN_REPAIRED = 3_000
"""The number of characters that a shorter block counts as: many small ones can take as long as a
large one."""

MAX_BRACES = 10_000
"""Maximum number of opening brackets in a block that is repaired: hostile ones would take hours. A
page of advertisements has some thirty."""

MAX_QUOTES = 4_000
"""Maximum number of quotation marks in a block that is repaired: the time grows with their
square."""

MAX_DECODED = 5_000_000
"""Maximum number of characters read as valid JSON, over all places where it may begin."""

MAX_BLOCKS = 1_000
"""Maximum number of braces at which to look for a block, over all texts of an answer."""

MAX_RESTARTS = 20
"""Maximum number of lines of a damaged block at which to look for a whole record."""

OBJECT = re.compile(r"\{")
OBJECT_OR_LIST = re.compile(r"\{|\[(?=\s*\{)")
FENCE = re.compile(r"\n[ \t]*(?:```|~~~)")
INNER = re.compile(r"(?<=[\n{])(?=\{)")
DOUBLED_BRACE = re.compile(r"\{\s*(?=\{)")
NO_VALUE = re.compile(r"(?<=[:\[,\s])(?:NaN|undefined)(?=\s*[,}\]])")
ODD_ESCAPE = re.compile(r"\\[^\\'\"abfnrtvxuU\n]")
"""One that Python warns about."""

STRICT = json.JSONDecoder(parse_constant=int)  # which accepts none of them
LENIENT = json.JSONDecoder(  # line breaks in texts
    strict=False, parse_constant=DECODER.parse_constant, parse_float=DECODER.parse_float
)


def has_constant(text: str) -> bool:
    """Return whether NaN or an infinity is a value in what is otherwise JSON.

    Example:
        >>> has_constant('{"year": NaN}'), has_constant('{"title": "NaN"}')
        (True, False)
    """
    if "NaN" not in text and "Infinity" not in text:
        return False
    try:
        STRICT.decode(text)
    except ValueError:
        return True
    return False


def _literal(block: str) -> Any:
    """Return a block as a Python literal; None if it is not one, or if JSON cannot express it."""
    if "'" not in block or ODD_ESCAPE.search(block):
        return None
    try:
        return DECODER.decode(json.dumps(ast.literal_eval(block)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


class Block(NamedTuple):
    """An object or list in a text.

    Attributes:
        value: the object or list; None if nothing could be made of the bracket.
        status: `unwrapped`, `repaired` or `truncated`.
        end: where it ends in the text.
    """

    value: Any
    status: Status
    end: int


class Blocks:
    """Finds blocks in texts, until too much work has been done.

    Args:
        lists: whether lists of objects are blocks too.
        is_whole: whether an object is a whole record, so that a damaged block before it ends there.
    """

    def __init__(self, *, lists: bool, is_whole: Callable[[Any], bool]) -> None:
        self._opening = OBJECT_OR_LIST if lists else OBJECT
        self._is_whole = is_whole
        self._to_open = MAX_BLOCKS
        self._to_decode = MAX_DECODED
        self._to_scan = MAX_SCANNED
        self._to_repair = MAX_REPAIRED

    def next(self, text: str, position: int) -> int | None:
        """Return where the next block may begin; None if there are no more."""
        self._to_open -= 1
        if self._to_open < 0 or len(text) > MAX_DAMAGED:
            return None
        bracket = self._opening.search(text, position)
        return bracket.start() if bracket else None

    def at(self, text: str, start: int) -> Block:
        """Return the block that a bracket opens."""
        decoded = self._decoded(text, start)
        if decoded is None:
            return self._damaged(text, start)
        value, end = decoded
        brackets = text.count("{", start, end) + text.count("[", start, end)
        if brackets > MAX_DEPTH and is_too_deep(value):
            return Block(None, "repaired", end)
        return Block(value, "repaired" if has_constant(text[start:end]) else "unwrapped", end)

    def _damaged(self, text: str, start: int) -> Block:
        """Return what damaged JSON holds, and where it ends: at the next fence at the latest."""
        if self._to_scan < 0 or DOUBLED_BRACE.match(text, start):
            return Block(None, "repaired", start)
        fence = FENCE.search(text, start)
        end = self._restart(text, start, fence.start() if fence else len(text))
        self._to_scan -= end - start
        block = text[start:end].rstrip("`~ \t\r\n")
        scanned = scan(block)
        if scanned.end:
            value = self._repaired(block[: scanned.end])
            return Block(value, "repaired", start + scanned.end)
        # A stray quotation mark makes a complete block look as if it broke off in a text.
        closing = CLOSING[block[0]]
        is_closed = block.endswith(closing) and block.count(block[0]) <= block.count(closing)
        if scanned.in_text and is_closed:
            return Block(self._repaired(block), "repaired", end)
        return Block(self._repaired(scanned.kept) if scanned.kept else None, "truncated", end)

    def _restart(self, text: str, start: int, end: int) -> int:
        """Return where a whole record begins in a damaged block, after a line end or a bracket."""
        for number, line in enumerate(INNER.finditer(text, start + 1, end)):
            if number == MAX_RESTARTS:
                break
            decoded = self._decoded(text, line.start())
            if decoded and self._is_whole(decoded[0]):
                return line.start()
        return end

    def _decoded(self, text: str, start: int) -> tuple[Any, int] | None:
        """Return the valid JSON that begins at a position, and where it ends."""
        if self._to_decode < 0:
            return None
        try:
            value, end = DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            self._to_decode -= error.pos - start
            return None
        except (ValueError, RecursionError):
            self._to_decode -= len(text) - start
            return None
        self._to_decode -= end - start
        return value, end

    def _repaired(self, block: str) -> Any:
        """Return what a block holds, with repair if allowing line breaks in texts is not enough."""
        try:
            value = LENIENT.decode(block)
        except (ValueError, RecursionError):
            self._to_repair -= max(len(block), MIN_REPAIRED)
            brackets = sum(block.count(bracket) for bracket in "{[(")
            quotes = block.count('"') + block.count("'")
            if self._to_repair < 0 or brackets > MAX_BRACES or quotes > MAX_QUOTES:
                return None
            value = _literal(block)
            if value is None:
                try:
                    import json_repair  # noqa: PLC0415  slow to import, and seldom needed

                    value = json_repair.loads(NO_VALUE.sub("null", block), skip_json_loads=True)
                    value = DECODER.decode(json.dumps(value))  # in which nothing is infinite
                except (RecursionError, ValueError):
                    return None
        if not isinstance(value, dict if block[0] == "{" else list) or is_too_deep(value):
            return None
        return value
