"""JSON objects and lists in a text, intact, damaged or cut off, with a bound on the work."""

import json
import re
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from hdbench.answers.answer import Status
from hdbench.answers.plain_text import unescaped
from hdbench.common.bounds import MAX_BLOCKS, MAX_DAMAGED, MAX_DEPTH, MAX_RESTARTS, MAX_WORK
from hdbench.common.jsonio import DECODER, FINITE, is_too_deep

SCANNED, REPAIRED = 5, 16

MIN_REPAIRED, OF_BRACE, OF_QUOTES = 3_000, 50, 1 / 32
"""The number of characters that a shorter block counts as when it is repaired: many small ones can
take as long as a large one. For each opening bracket it is at least so many, and for quotation
marks this part of the square of their number, with which the time grows."""

TOKEN = re.compile(
    r"""
    "[^"\\]*+(?:\\.[^"\\]*+)*+(?P<double>"?+)    # a text, also one that breaks off
    | '[^'\\]*+(?:\\.[^'\\]*+)*+(?P<single>'?+)  # as Python writes it
    | [{}\[\],:]
    | [^\s{}\[\],:"']++
    """,
    re.VERBOSE | re.DOTALL,
)
WHOLE = re.compile(r"true|false|null|True|False|None|NaN|(?P<number>[-+]?[0-9][0-9.eE+-]*)")
CLOSING = {"{": "}", "[": "]"}

OBJECT = re.compile(r"\{")
OBJECT_OR_LIST = re.compile(r"\{|\[(?=\s*\{)")
FENCE = re.compile(r"\n[ \t]*(?:```|~~~)")
NO_VALUE = re.compile(r"(?<=[:\[,\s])(?:-?Infinity|NaN|undefined)(?=\s*[,}\]])")
INNER = re.compile(r"(?<=[\n{])(?=\{)")


def scan(block: str) -> tuple[int, str, bool]:
    """Find the end of a block that begins with an opening bracket.

    A value is complete if something follows it, or if its closing quotation mark or bracket is
    there; so a number at the very end is not, since digits may be missing. Blocks nested more than
    `MAX_DEPTH` deep are given up.

    Returns:
        Where the block's first bracket is closed, 0 if it never is; the block up to its last
        complete value, with its brackets closed, empty if it has none; and whether the block ends
        within a text.

    Example:
        >>> scan('{"title": "Die {sic} Welt"} and more')[0]
        27
        >>> scan('{"author": {"last_name": "Müller", "first_name": "Mau')[1]
        '{"author": {"last_name": "Müller"}}'
    """
    open_brackets: list[str] = []
    end = depth = 0
    is_value = in_text = False
    for token in TOKEN.finditer(block):
        text, is_closed = token[0], bool(token["double"] or token["single"])
        in_text = text[0] in "\"'" and not is_closed
        if text in CLOSING:
            open_brackets.append(CLOSING[text])
            is_value = False
            if len(open_brackets) > MAX_DEPTH:
                break
            continue
        if text in ("}", "]"):
            if text in open_brackets:
                while open_brackets.pop() != text:
                    pass
            if not open_brackets:
                return token.end(), "", False
        elif text in (":", ","):
            is_value = text == ":"
            continue
        else:
            word = WHOLE.fullmatch(text)
            is_whole = is_closed or (word and (not word["number"] or token.end() < len(block)))
            if not is_whole or not (is_value or open_brackets[-1] == "]"):
                continue
        is_value = False
        end, depth = token.end(), len(open_brackets)
    # A closing bracket ends a complete value, so those open at the last one are still open.
    return 0, block[:end] + "".join(reversed(open_brackets[:depth])), in_text


class Block(NamedTuple):
    """An object or list in a text.

    Attributes:
        value: the object or list; None if nothing could be made of the bracket.
        end: where it ends in the text.
        status: `unwrapped`, `repaired` or `truncated`.
    """

    value: Any
    end: int
    status: Status = "unwrapped"


class Blocks:
    """Finds blocks in texts, until too much work has been done.

    Args:
        lists: whether lists of objects are blocks too.
        is_whole: whether an object is a whole record, so that a damaged block before it ends there.
    """

    def __init__(self, *, lists: bool, is_whole: Callable[[Any], bool]) -> None:
        self._opening = OBJECT_OR_LIST if lists else OBJECT
        self._is_whole = is_whole
        self._left, self._work = MAX_BLOCKS, MAX_WORK

    def found(self, text: str) -> Iterator[Block]:
        """Yield the blocks of a text that are not empty, in order, without those within them."""
        position = 0
        while len(text) <= MAX_DAMAGED and (bracket := self._opening.search(text, position)):
            self._left -= 1
            if self._left < 0:
                return
            start, position = bracket.span()
            block = self._sound(text, start) or self._damaged(text, start)
            if block.value and not is_too_deep(block.value):
                position = max(position, block.end)
                yield block

    def _damaged(self, text: str, start: int) -> Block:
        """Return what damaged JSON holds, and where it ends: at the next fence at the latest."""
        if self._work < 0:
            return Block(None, start)
        fence = FENCE.search(text, start)
        end = self._restart(text, start, fence.start() if fence else len(text))
        self._work -= SCANNED * (end - start)
        block = text[start:end].rstrip("`~ \t\r\n")
        closed, kept, in_text = scan(block)
        closing = CLOSING[block[0]]
        # A stray quotation mark makes a complete block look as if it broke off in a text.
        if in_text and block.endswith(closing) and block.count(block[0]) <= block.count(closing):
            closed = len(block)
        if closed:
            return Block(self._repaired(block[:closed]), start + closed, "repaired")
        return Block(self._repaired(kept) if kept else None, end, "truncated")

    def _restart(self, text: str, start: int, end: int) -> int:
        """Return where a whole record begins in a damaged block, after a line end or a bracket."""
        for inner in islice(INNER.finditer(text, start + 1, end), MAX_RESTARTS):
            block = self._sound(text, inner.start())
            if block and self._is_whole(block.value):
                return inner.start()
        return end

    def _sound(self, text: str, start: int) -> Block | None:
        """Return the valid JSON that begins at a position."""
        end, block = len(text), None
        try:
            if self._work >= 0:
                block = Block(*FINITE.raw_decode(text, start))
                end = block.end
        except json.JSONDecodeError as error:
            end = error.pos
        except (ValueError, RecursionError):
            pass
        self._work -= end - start
        return block

    def _repaired(self, block: str) -> Any:
        """Return what a block holds when it is repaired; None for nothing, or another value."""
        braces, quotes = (sum(map(block.count, signs)) for signs in ("{[(", "\"'"))
        size = max(len(block), MIN_REPAIRED, OF_BRACE * braces, OF_QUOTES * quotes**2)
        self._work -= REPAIRED * int(size)
        if self._work < 0:
            return None
        import json_repair  # noqa: PLC0415  slow to import, and seldom needed

        with suppress(RecursionError, ValueError):
            value = json_repair.loads(NO_VALUE.sub("null", block))
            value = DECODER.decode(json.dumps(value))  # in which nothing is infinite
            if isinstance(value, dict if block[0] == "{" else list):
                return value
        return None


MAX_TIMES = 3
"""Maximum number of times a text may have been escaped."""

OPENING_QUOTES, CLOSING_QUOTES = "„“”‟‚‘’‛«»‹›＂", "“”„‟’‘‚‛»«›‹＂"
FULL_WIDTH = str.maketrans("｛｝［］：，", "{}[]:,")
GONE = re.compile(
    r"[\u200b\u200c\u2060\ufeff]|\x1b\[[\d;]{0,20}m|<br ?/?>(?=[ \t]{0,20}(?:\n|\Z))"
    r"|(?m:^(?:[ \t]*>)+[ \t]?|^[ \t]*\u00a0[\u00a0 \t]*)"
    r"|(?<!\\)\\(?=[_*\[\]#~&<>(){}+.!|-])"
)
"""Zero-width characters, terminal colors, and line ends in HTML; quotation in Markdown and hard
blanks that begin a line; and Markdown's backslashes."""

PREFIX = re.compile(r"^[ \t]*(?:\+|\||#+|//|\d{1,5}(?:[ \t]*[.:|)])?)[ \t]?", re.MULTILINE)
"""What every line of a difference, a table, a comment or a listing begins with."""

ENTITY = re.compile(
    r"[{\[][\s{\[]{0,30}+&(?:amp;){0,3}+(?:quot|#34|#x22|#39|#x27|apos);", re.IGNORECASE
)
ESCAPED = re.compile(r"[{\[](?:[\s{\[]|\\{1,8}[nrt]){0,30}(?:\\{1,8}\"|\\{1,8}[nrt]\s{0,30}\")")
ESCAPE = re.compile(r"\\([\"'\\/nrt])")
BLANKS = {"n": "\n", "r": "\r", "t": "\t"}

ODD = re.compile(
    rf"[{{\[｛［][\s{{\[｛［]{{0,30}}+(?:[{OPENING_QUOTES}]|``)|[\"{CLOSING_QUOTES}]\s*："
)
QUOTE = re.compile(
    rf"([{{\[,:｛［，：]\s{{0,50}}+)(?:[{OPENING_QUOTES}]|``)"
    rf"|(?:[{CLOSING_QUOTES}]|'')(?=\s{{0,50}}+(?:[,:}}\]，：｝］]|\Z))"
)
SIGN = re.compile(r'"(?:[^"\\]*+(?:\\.[^"\\]*+)*+"|.*)|[｛｝［］：，]', re.DOTALL)
KEY_FIRST = re.compile(r"(?:\A|(?<=\n))[ \t]*+(?:,[ \t]*+)?(?=\"([^\"\n\\]{1,60})\"\s*:)")


def respelled(text: str, names: Container[str] = ()) -> str:
    """Return the text with its JSON spelled as JSON.

    Args:
        text: a text that is not JSON as a whole.
        names: the fields of a record, if they are known.

    Example:
        >>> respelled("{„title“： “Stellingen”}")
        '{"title": "Stellingen"}'
        >>> respelled('{&quot;title&quot;: &quot;Stellingen&quot;}')
        '{"title": "Stellingen"}'
        >>> respelled('"title": "Stellingen"}', {"title"})
        '{"title": "Stellingen"}'
    """
    text = GONE.sub("", text)
    first, last = re.search(r"[{\[]", text), max(text.rfind("}"), text.rfind("]"))
    if first and first.start() < last:
        lines = text[text.rfind("\n", 0, first.start()) + 1 : last + 1].split("\n")
        if len(lines) > 1 and all(map(PREFIX.match, lines)):
            text = PREFIX.sub("", text)
    for _ in range(MAX_TIMES):
        if ENTITY.search(text):
            text = unescaped(text)
        elif escaped := ESCAPED.search(text):
            inner = ESCAPE.sub(lambda sign: BLANKS.get(sign[1], sign[1]), text[escaped.start() :])
            text = text[: escaped.start()] + inner
    if ODD.search(text):
        text = QUOTE.sub(lambda quote: f'{quote[1] or ""}"', text)
        text = SIGN.sub(
            lambda sign: sign[0] if sign[0][0] == '"' else sign[0].translate(FULL_WIDTH), text
        )
    key = KEY_FIRST.search(text)
    if key is None or re.search(r"[{\[]", text[: key.start()]):
        return text
    is_field = key[1] in names if names else key.start() == 0
    return f"{text[: key.start()]}{{{text[key.end() :]}" if is_field else text
