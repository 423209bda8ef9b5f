r"""Texts that are JSON except for how it is spelled, made into JSON.

Each function takes a text that is not JSON as a whole, and returns it unchanged if it does not find
what it looks for. It decides what to change from the text around the first bracket, so that
typographic quotation marks, `>` or `&quot;` within the values of valid JSON stay as they are.
"""

import html
import re
from collections.abc import Container
from contextlib import suppress

MAX_TIMES = 3
"""Maximum number of times a text may have been escaped."""

OPENING = "„“”‟‚‘’‛«»‹›＂"
CLOSING = "“”„‟’‘‚‛»«›‹＂"
FULL_WIDTH = str.maketrans("｛｝［］：，", "{}[]:,")
INVISIBLE = re.compile(
    r"[\u200b\u200c\u2060\ufeff]|(?m:^[ \t]*\u00a0[\u00a0 \t]*)|\x1b\[[\d;]{0,20}m"
    r"|<br ?/?>(?=[ \t]{0,20}(?:\n|\Z))"
)
"""Zero-width characters, hard blanks that indent, terminal colors, and line ends in HTML."""

DOUBLED_QUOTE = re.compile(r"[{\[]\s{0,30}\"\"\w")
MARKDOWN = re.compile(r"(?<!\\)\\([_*\[\]#~&<>(){}+.!|-])")

FIRST_QUOTE = re.compile(rf"[{{\[｛［][\s{{\[｛［]{{0,30}}+([{OPENING}]|``)|[\"{CLOSING}]\s*：")
SIGN = re.compile(
    rf"""
    "(?: [^"\\]*+ (?:\\.[^"\\]*+)*+ " | .* )  # a text as JSON has it, or one that never ends
    | (?:[{OPENING}]|``) (?P<text>.*?)
        (?: (?:[{CLOSING}"]|'') (?=\s{{0,50}}+(?:[,:}}\]，：｝］]|\Z)) | (?P<open>\Z) )
    | [｛｝［］：，]
    """,
    re.VERBOSE | re.DOTALL,
)
STRAIGHT = re.compile(r'(?<!\\)((?:\\\\)*+)"')

ESCAPED = re.compile(r"[{\[](?:[\s{\[]|\\{1,8}[nrt]){0,30}(?:\\{1,8}\"|\\{1,8}[nrt]\s{0,30}\")")
ESCAPE = re.compile(r"\\([\"'\\/nrt])")
BLANKS = {"n": "\n", "r": "\r", "t": "\t"}
ENTITY = re.compile(
    r"[{\[][\s{\[]{0,30}+&(?:amp;){0,3}+(?:quot|#34|#x22|#39|#x27|apos);", re.IGNORECASE
)

QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
PREFIXES = (
    QUOTED,
    re.compile(r"^(?:\+|[ \t]*(?:\||#+|//))[ \t]?", re.MULTILINE),
    re.compile(r"^[ \t]*\d{1,5}(?:[ \t]*[.:|)\t][ \t]?|[ \t]|$)", re.MULTILINE),
)
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
    text = _without_prefixes(INVISIBLE.sub("", text))
    for _ in range(MAX_TIMES if "&" in text else 0):
        if not ENTITY.search(text):
            break
        with suppress(ValueError):  # a number with thousands of digits
            text = html.unescape(text)
    for _ in range(MAX_TIMES if "\\" in text else 0):
        if not (first := ESCAPED.search(text)):
            break
        inner = ESCAPE.sub(lambda sign: BLANKS.get(sign[1], sign[1]), text[first.start() :])
        text = text[: first.start()] + inner
    if DOUBLED_QUOTE.search(text):  # as CSV writes them
        text = text.replace('""', '"')
    if FIRST_QUOTE.search(text):
        start = min((text.find(sign) for sign in "{[｛［" if sign in text), default=0)
        text = text[:start] + SIGN.sub(_straight, text[start:])
    return _with_first_brace(MARKDOWN.sub(r"\1", text), names)


def _without_prefixes(text: str) -> str:
    """Return the lines without their prefix, if those from first to last bracket have the same.

    Quoted lines need not go that far: an answer can follow a quoted prompt.
    """
    first = re.search(r"[{\[]", text)
    last = max(text.rfind("}"), text.rfind("]"))
    if first is None or last < first.start():
        return text
    begin = text.rfind("\n", 0, first.start()) + 1
    lines = text[begin : last + 1].split("\n")
    for prefix in PREFIXES if len(lines) > 1 else ():
        if all(map(prefix.match, lines[:2] if prefix is QUOTED else lines)):
            return prefix.sub("", text)
    return text


def _straight(sign: re.Match[str]) -> str:
    """Return a text with straight quotation marks, or an ASCII bracket, colon or comma."""
    if sign["text"] is None:
        return sign[0] if sign[0].startswith('"') else sign[0].translate(FULL_WIDTH)
    return sign[0] if sign["open"] is not None else '"' + STRAIGHT.sub(r"\1\"", sign["text"]) + '"'


def _with_first_brace(text: str, names: Container[str]) -> str:
    """Return the text with a brace before a first field that comes before any bracket."""
    key = KEY_FIRST.search(text)
    if key is None or re.search(r"[{\[]", text[: key.start()]):
        return text
    if key[1] not in names if names else key.start():
        return text
    rest = text[key.end() :]
    missing = "}" if rest.count("{") >= rest.count("}") else ""
    fence = re.search(r"\n[ \t]*(?:```|~~~)", rest)
    end = fence.start() if fence else len(rest.rstrip())
    return f"{text[: key.start()]}{{{rest[:end].rstrip()}{missing}{rest[end:]}"
