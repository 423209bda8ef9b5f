r"""Texts that are JSON except for how it is spelled, made into JSON.

Each function takes a text that is not JSON as a whole, and returns it unchanged if it does not find
what it looks for. It decides what to change from the text around the first bracket, so that
typographic quotation marks, `>` or `&quot;` within the values of valid JSON stay as they are.
"""

import html
import json
import re
from collections.abc import Callable, Container

MAX_TIMES = 3
"""Maximum number of times a text may have been escaped."""

OPENING = "„“”‟‚‘’‛«»‹›＂"
CLOSING = "“”„‟’‘‚‛»«›‹＂"
FULL_WIDTH = str.maketrans("｛｝［］：，", "{}[]:,")
INVISIBLE = re.compile(
    r"[\u200b\u200c\u2060\ufeff]|(?m:^[ \t]*\u00a0[\u00a0 \t]*)|\x1b\[[\d;]{0,20}m"
    r"|<br ?/?>(?=[ \t]{0,20}(?:\n|\Z))"
)
DOUBLED_QUOTE = re.compile(r"[{\[]\s{0,30}\"\"\w")

FIRST_QUOTE = re.compile(rf"[{{\[｛［][\s{{\[｛［]{{0,30}}+([{OPENING}]|``)|[\"{CLOSING}]\s*：")
UNUSUAL = re.compile(rf"[{OPENING}：]|``")
MARK = re.compile(rf"[\"{OPENING}｛｝［］：，]|``")
TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
END_OF_TEXT = re.compile(rf"(?:[{CLOSING}\"]|'')(?=\s{{0,50}}+(?:[,:}}\]，：｝］]|\Z))")
STRAIGHT = re.compile(r'(?<!\\)((?:\\\\)*+)"')

ESCAPED = re.compile(r"[{\[](?:[\s{\[]|\\{1,8}[nrt]){0,30}(?:\\{1,8}\"|\\{1,8}[nrt]\s{0,30}\")")
ESCAPE = re.compile(
    r"\\(?:([\"'\\/])|([nrt])|u((?:[dD][89abAB][0-9a-fA-F]{2}\\u)?+[0-9a-fA-F]{4}))"
)
"""A character beyond U+FFFF is escaped as two halves."""
ENTITY = re.compile(
    r"[{\[][\s{\[]{0,30}+&(?:amp;){0,3}+(?:quot|#34|#x22|#39|#x27|apos);", re.IGNORECASE
)
MARKDOWN = re.compile(r"(?<!\\)\\([_*\[\]#~&<>(){}+.!|-])")

QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
PREFIXES = [
    QUOTED,
    *map(
        re.compile,
        (
            r"\+[ \t]?",
            r"[ \t]*\|[ \t]?",
            r"[ \t]*#+[ \t]?",
            r"[ \t]*//[ \t]?",
            r"[ \t]*\d{1,5}[ \t]*[.:|)\t][ \t]?",
            r"[ \t]*\d{1,5}(?:[ \t]|$)",
        ),
    ),
]
KEY_FIRST = re.compile(r"(?:\A|(?<=\n))[ \t]*+(?:,[ \t]*+)?(?=\"([^\"\n\\]{1,60})\"\s*:)")


def respelled(text: str, names: Container[str] | None = None) -> str:
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
    steps: tuple[Callable[[str], str], ...] = (
        _without_invisible,
        _without_prefixes,
        _without_entities,
        _unescaped,
        _without_doubled,
        _without_typographic,
        _without_markdown,
    )
    for step in steps:
        text = step(text)
    return _with_first_brace(text, names)


def _without_invisible(text: str) -> str:
    """Return the text without zero-width characters, terminal colors and HTML line breaks."""
    return INVISIBLE.sub("", text)


def _without_prefixes(text: str) -> str:
    """Lines without their common prefix, from the line of the first bracket to that of the last.

    Quoted lines need not go that far: an answer can follow a quoted prompt.
    """
    first = re.search(r"[{\[]", text)
    last = max(text.rfind("}"), text.rfind("]"))
    if first is None or last < first.start():
        return text
    lines = text.split("\n")
    begin, end = text.count("\n", 0, first.start()), text.count("\n", 0, last)
    for prefix in PREFIXES if begin < end else ():
        needed = lines[begin : begin + 2] if prefix is QUOTED else lines[begin : end + 1]
        if all(map(prefix.match, needed)):
            while begin and prefix.match(lines[begin - 1]):
                begin -= 1
            for number in range(begin, len(lines)):
                if not prefix.match(lines[number]):
                    break
                lines[number] = prefix.sub("", lines[number], count=1)
            return "\n".join(lines)
    return text


def _without_entities(text: str) -> str:
    for _ in range(MAX_TIMES):
        if "&" not in text or not ENTITY.search(text):
            break
        try:
            text = html.unescape(text)
        except ValueError:  # a number with thousands of digits
            break
    return text


def _unescaped(text: str) -> str:
    r"""JSON that is written as if it were inside a JSON string: `{\"title\": …}`."""
    for _ in range(MAX_TIMES):
        first = ESCAPED.search(text) if "\\" in text else None
        if first is None:
            break
        start = first.start()
        end = max(text.rfind("}"), text.rfind("]")) + 1
        inner = text[start:end] if end > start else text[start:]
        try:
            plain = json.loads('"' + inner.replace("\n", "\\n").replace("\t", "\\t") + '"')
        except ValueError:
            plain = ESCAPE.sub(_meant, inner)
        if plain == inner:
            break
        text = text[:start] + plain + text[start + len(inner) :]
    return text


def _meant(escape: re.Match[str]) -> str:
    sign, blank, code = escape.groups()
    if code:
        units = bytes.fromhex(code.replace("\\u", ""))
        return units.decode("utf-16-be", "surrogatepass")
    return sign or {"n": "\n", "r": "\r", "t": "\t"}[blank]


def _without_doubled(text: str) -> str:
    """Return each quotation mark once: CSV writes each one twice."""
    return text.replace('""', '"') if DOUBLED_QUOTE.search(text) else text


def _without_typographic(text: str) -> str:
    """Straight quotation marks, and ASCII brackets, colons and commas, outside texts."""
    if not UNUSUAL.search(text) or not FIRST_QUOTE.search(text):
        return text
    position = min(text.find(bracket) for bracket in "{[｛［" if bracket in text)
    parts = [text[:position]]
    while mark := MARK.search(text, position):
        parts.append(text[position : mark.start()])
        if mark[0] in "｛｝［］：，":
            parts.append(mark[0].translate(FULL_WIDTH))
            position = mark.end()
            continue
        find = TEXT.match if mark[0] == '"' else END_OF_TEXT.search
        end = find(text, mark.start() if mark[0] == '"' else mark.end())
        if end is None:
            position = mark.start()
            break
        inner = text[mark.end() : end.start()]
        parts.append(end[0] if mark[0] == '"' else '"' + STRAIGHT.sub(r"\1\"", inner) + '"')
        position = end.end()
    return "".join([*parts, text[position:]])


def _without_markdown(text: str) -> str:
    r"""Without Markdown's escapes, as in `last\_name`: JSON has none of them."""
    return MARKDOWN.sub(r"\1", text) if MARKDOWN.search(text) else text


def _with_first_brace(text: str, names: Container[str] | None) -> str:
    """With a brace before a first field that comes before any bracket."""
    key = KEY_FIRST.search(text)
    if key is None or re.search(r"[{\[]", text[: key.start()]):
        return text
    if key[1] not in names if names is not None else key.start():
        return text
    rest = text[key.end() :]
    missing = "}" if rest.count("{") >= rest.count("}") else ""
    fence = re.search(r"\n[ \t]*(?:```|~~~)", rest)
    end = fence.start() if fence else len(rest.rstrip())
    return f"{text[: key.start()]}{{{rest[:end].rstrip()}{missing}{rest[end:]}"
