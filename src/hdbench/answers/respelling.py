r"""Texts that are JSON except for how it is spelled, made into JSON.

Each step leaves a text as it is if it does not find what it looks for. It decides what to change
from what the first bracket is followed by, so that typographic quotation marks or `&quot;` within
the values of valid JSON stay as they are.
"""

import html
import re
from collections.abc import Container
from contextlib import suppress

MAX_TIMES = 3
"""Maximum number of times a text may have been escaped."""

OPENING, CLOSING = "„“”‟‚‘’‛«»‹›＂", "“”„‟’‘‚‛»«›‹＂"
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

ODD = re.compile(rf"[{{\[｛［][\s{{\[｛［]{{0,30}}+(?:[{OPENING}]|``)|[\"{CLOSING}]\s*：")
QUOTE = re.compile(
    rf"([{{\[,:｛［，：]\s{{0,50}}+)(?:[{OPENING}]|``)"
    rf"|(?:[{CLOSING}]|'')(?=\s{{0,50}}+(?:[,:}}\]，：｝］]|\Z))"
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
        if "&" in text and ENTITY.search(text):
            with suppress(ValueError):  # a number with thousands of digits
                text = html.unescape(text)
        elif "\\" in text and (escaped := ESCAPED.search(text)):
            start = escaped.start()
            inner = ESCAPE.sub(lambda sign: BLANKS.get(sign[1], sign[1]), text[start:])
            text = text[:start] + inner
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
