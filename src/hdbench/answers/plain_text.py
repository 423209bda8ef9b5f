r"""The words of a page in what a model wrote, as `plain_text` gives them.

What is not known to be a mark stays as written: asterisks, numbers and hyphens that begin a line,
and anything in angle brackets that is not a tag of HTML or DocTags. Tags are looked for one by one,
since models leave them open, and a parser of HTML would nest them.
"""

import html
import re
from functools import cache
from typing import TYPE_CHECKING

from hdbench.common.bounds import MAX_MARKDOWN

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_THOUGHTS = "(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
THOUGHT = re.compile(
    rf"[<◁\[](?:(?P<end>/{_THOUGHTS}>|/think▷|/THINK\]|\|end_of_thought\|>)"
    rf"|{_THOUGHTS}>|think▷|THINK\]|\|begin_of_thought\|>)",
    re.IGNORECASE,
)
"""The tags around thoughts: those of many models, of Kimi and of Magistral."""

BOUNDARY = re.compile(
    r"""
    < (?:
        (?P<end> /s> | end_of_turn> | eos> | ｜end▁of▁sentence｜>
            | \|(?:im_end|eot_id|eom_id|end|return|call|endoftext|end_of_text|end_of_turn)\|> )
        | (?: (?:\|(?:start|im_start|start_header_id)\|>|start_of_turn>) \s* (?P<role>\w*)
            | \|channel\|> \s* (?P<channel>\w*) )
            (?: [^<{\n]{0,200} (?=<\|(?:channel|constrain|message)\|>) )?
        | \|constrain\|> \s* \w{0,20} | \|(?:message|end_header_id)\|>
    )
    """,
    re.VERBOSE,
)
"""Where a turn ends, and what comes before the next: whose it is, or its channel."""


def answer_in(text: str) -> str:
    """Return the answer in a text: of several turns the first, and of several channels `final`.

    Returns:
        An empty text if there are only thoughts, calls, and what others say.

    Example:
        >>> answer_in("<think>A card.</think>Stellingen<|im_end|><|im_start|>user")
        'Stellingen'
        >>> answer_in("<|channel|>analysis<|message|>A card.<|end|>Stellingen")
        'Stellingen'
    """
    if text.startswith(("analysis", "commentary")):  # Harmony without its tokens
        text = text.partition("assistantfinal")[2] or text
    if re.match(r"[a-z]{5,10}<\|message\|>", text):
        text = f"<|channel|>{text}"
    role = channel = answer = ""
    start, struck = 0, text.find("<s>", 1)
    for boundary in (*BOUNDARY.finditer(text), None):
        if boundary and boundary[0] == "</s>" and -1 < struck < boundary.start():
            continue  # a tag of HTML
        part = text[start : boundary.start() if boundary else None]
        is_spoken = role in ("", "assistant", "model") and channel in ("", "final")
        if is_spoken and part.strip() not in ("", "assistant"):
            answer = part if channel else answer or part
            if channel:
                break
        if boundary:
            start = boundary.end()
            if boundary["end"] or boundary["role"] is not None:
                role, channel = boundary["role"] or "", ""
            channel = boundary["channel"] or channel
    return _without_thoughts(answer)


def _without_thoughts(text: str) -> str:
    """Return the text outside thoughts; a missing tag counts as at the text's beginning or end."""
    kept: list[str] = []
    position, thinking = 0, False
    for tag in THOUGHT.finditer(text):
        if tag["end"]:
            if not thinking:
                kept.clear()
            position, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    return "\n".join(filter(None, kept if thinking else [*kept, text[position:]]))


PAGE_BREAK = "\f"

WHOLE_FENCE = re.compile(r"\s*(```+|~~~+)[\w-]*\n(?P<inner>.*)\n[ \t]*\1\s*", re.DOTALL)

LABELS = (
    "text|title|sub_title|image|image_caption|figure|figure_caption|figure_title|table|"
    "table_caption|table_footnote|equation|formula|header|footer|footnote|list|page_number"
)
PLACES = re.compile(
    rf"""
    <\|ref\|>(?:{LABELS})<\|/ref\|>\n?
    | <\|(?P<box>det|box_start|quad_start)\|> (?:(?:{LABELS})\ (?=\[))? [\s\d.,()\[\]-]*+
      <\|(?:/det|box_end|quad_end)\|>\n?
    | <(?P<name>bbox|box|quad)> [\s\d.,()\[\]-]*+ </(?P=name)>
    | <(?:loc|bbox|x|y|class)_[\w.-]{{1,30}}> | <location\ value="\d+"\s?/>
    | <\|/?\w{{1,30}}\|> | \A<(?:s|bos)>
    """,
    re.VERBOSE,
)
"""Where on the image something is, what part of a page it is, and other tokens of models."""

BLOCKS = (
    "p|div|h[1-6]|br|hr|li|[uo]l|dl|dt|dd|tr|table|thead|tbody|tfoot|section|article|header|footer|"
    "main|html|head|body|title|blockquote|pre|center|figure|figcaption|caption|doctag|text|"
    "section_header_level_\\d|page_header|page_footer|list_item|ordered_list|unordered_list|"
    "footnote|otsl|nl|picture|chart|formula|document_index|group|page_break|"
    "doclang|heading|list|list_text|PAGE"
)
CELLS = "td|th|[feluxc]cel|ched|rhed|srow"
INLINE = "b|i|u|em|strong|span|su[pb]|small|big|a|font|mark|del|ins|s|code|img"
ATTRIBUTES = r"""(?:\s+[\w:-]{1,40}=(?:"[^"<>]{0,500}"|'[^'<>]{0,500}'|[^\s"'<>]{1,200}))*\s*/?"""
TAGS = re.compile(
    rf"(?<!\s)\s*+(?:</?(?:{BLOCKS}|{CELLS}){ATTRIBUTES}>\s*+)+|</?(?:{INLINE}){ATTRIBUTES}>",
    re.IGNORECASE,
)
IN_BLOCK = re.compile(rf"</?(?:{BLOCKS})\b", re.IGNORECASE)

FRONT_MATTER = re.compile(
    r"---\n(?:(?:primary_language|is_rotation_valid|rotation_correction|is_table|is_diagram):.*\n)+"
    r"---(?:\n+|\Z)"
)
"""What olmOCR says of a page before its text."""

FOOTNOTE = re.compile(r"(?:(?<=\s)|\A)(?=\*{1,3}\))")
"""Before an asterisk as the sign of a note, as in `*) see below`, which opens no emphasis."""

LINE_END = re.compile(r"(\r\n?|\n)")
QUOTED = re.compile(r"\A(?:[ \t]{0,3}>[ \t]?)+")


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415  slow to import, and seldom needed

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["code", "html_block", "html_inline", "reference", "lheading", "backticks"])
    # Otherwise `[Müller](1820)` of a page would lose its date.
    parser.validateLink = lambda url: bool(re.search(r"[/.#:@]", url))  # type: ignore[method-assign]
    return parser


def plain_text(text: str, *, markdown: bool = True) -> str:
    r"""Return the words of a page in a model's text, with its line ends.

    Thoughts, further turns and tokens go; so do a fence around all of it, the tags of HTML and
    DocTags, and Markdown's marks: those of headings, emphasis, quotations, rules, links, images and
    fences. Rows of tables have spaces between their cells. The markers of lists stay, since a page
    may have them. `---` alone on a line, and `<page_break>`, are page breaks.

    Args:
        text: what the model wrote.
        markdown: whether Markdown's marks go.

    Returns:
        The text, with a form feed for each page break; a text without any of this is unchanged.

    Example:
        >>> plain_text("## Zu verkaufen\n\n1. Ein *neues* Klavier<br>\n2. Heu<|im_end|>")
        'Zu verkaufen\n\n1. Ein neues Klavier\n2. Heu'
    """
    if not text.strip():
        return text
    answer = answer_in(text)
    text = text if answer == text else answer.strip("\n ")
    if (fence := WHOLE_FENCE.fullmatch(text)) and f"\n{fence[1]}" not in fence["inner"]:
        text = fence["inner"]
    if front := FRONT_MATTER.match(text):
        text = text[front.end() :]
    text = PLACES.sub("", text)
    without_tags = TAGS.sub(_between, text)
    if without_tags != text:
        text = html.unescape(without_tags).strip("\n")
    return _without_markdown(text) if markdown and len(text) <= MAX_MARKDOWN else text


def _between(tags: re.Match[str]) -> str:
    """Return what stands in place of tags: a line end, or a space between cells."""
    if "page_break" in tags[0]:
        return f"\n{PAGE_BREAK}\n"
    if IN_BLOCK.search(tags[0]):
        return "\n"
    return " " if re.match(rf"\s*</?(?:{CELLS})", tags[0], re.IGNORECASE) else ""


def _without_markdown(text: str) -> str:
    """Return the text without Markdown's marks; a line without any stays as it is."""
    parts = [*LINE_END.split(text), ""]
    lines, ends = parts[::2], parts[1::2]
    source = LINE_END.split(FOOTNOTE.sub(r"\\", text))[::2]
    gone: set[int] = set()
    joined: dict[int, list[str]] = {}  # the headings, and the cells of the rows of tables
    tokens = _markdown().parse("\n".join(source))
    for token in tokens:
        first, last = token.map or (0, 0)
        match token.type:
            case "heading_open" | "tr_open":
                joined[first] = []
            case "hr":
                is_between = token not in (tokens[0], tokens[-1]) and lines[first] == "---"
                lines[first] = PAGE_BREAK if is_between else ""
            case "fence":
                is_closed = last - 1 > first and source[last - 1].strip("> \t") == token.markup
                gone |= {first, last - 1} if is_closed else {first}
            case "blockquote_open":
                for each in (lines, source):
                    each[first:last] = [QUOTED.sub("", line) for line in each[first:last]]
            case "table_open":
                gone.add(first + 1)
            case "inline" if first in joined:
                joined[first].append(_words(token))
                lines[first] = " ".join(filter(None, joined[first]))
            case "inline":
                marked, words = token.content.split("\n"), _words(token).split("\n")
                pairs = zip(marked, words, strict=True) if len(marked) == len(words) else ()
                for number, pair in enumerate(pairs, first):
                    was, now = (line.strip(" \t") for line in pair)
                    if was != now:
                        before, _, after = source[number].rpartition(was)
                        lines[number] = before + now + after
    return "".join(
        line + end
        for number, (line, end) in enumerate(zip(lines, ends, strict=True))
        if number not in gone
    )


def _words(token: "Token") -> str:
    """Return what is within marks."""
    return "".join(
        "\n" if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or []
        if child.type != "image"
    )
