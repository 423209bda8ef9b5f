r"""The words of a page in what a model wrote, as `plain_text` gives them.

What is not known to be a mark stays as written: asterisks, numbers and hyphens that begin a line,
and anything in angle brackets that is not a tag of HTML or DocTags. Tags are looked for one by one,
since models leave them open, and a parser of HTML would nest them.
"""

import html
import re

from hdbench.common.bounds import MAX_MARKDOWN

_THOUGHTS = "(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_END = rf"(?:</{_THOUGHTS}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>)"
END = re.compile(_END, re.IGNORECASE)
THOUGHT = re.compile(
    rf"(?:<{_THOUGHTS}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>).*?(?:{_END}|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Thoughts, in the tags of many models, of Kimi and of Magistral."""

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
        if is_spoken and part.strip() not in ("", "assistant", "<|begin_of_text|>", "<bos>"):
            answer = part if channel else answer or part
            if channel:
                break
        if boundary:
            start = boundary.end()
            if boundary["end"] or boundary["role"] is not None:
                role, channel = boundary["role"] or "", ""
            channel = boundary["channel"] or channel
    outside = "\n".join(filter(None, THOUGHT.split(answer)))
    return END.split(outside)[-1]  # a missing tag counts as at the text's beginning or end


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

FENCE = re.compile(
    r"^ {0,3}(?:```+|~~~+)[\w-]*\r?\n(.*?)(?:\r?\n {0,3}(?:```+|~~~+)[ \t]*(?=\r?$)|\Z)",
    re.M | re.S,
)
TABLE = re.compile(
    r"^[ \t]*\|.*\|[ \t\r]*\n[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*(?:\r?\n[ \t]*\|.*)*", re.M
)
EMPHASIS = (
    r"(?<![\w\\])(\*{1,3}|(?<!_)_{1,3})(?![\s*_)])((?:.|\n(?!\s*\n)){1,500}?)"
    r"(?<![\s\\])\1(?!\*|(?<=_)\w)"
)
MARKS = [
    (re.compile(pattern, re.MULTILINE), words)
    for pattern, words in (
        (r"^(?: {0,3}> ?)+", ""),
        (
            r"^ {0,3}#{1,6}[ \t]+(.*?)(?:(?<=[ \t])#+[ \t]*)?(?=\r?$)",
            lambda title: title[1].rstrip(),
        ),
        (r"(?<=\n)---(?=\r?\n\s*\S)", PAGE_BREAK),
        (r"^ {0,3}([*_-])(?:[ \t]*\1){2,}[ \t]*(?=\r?$)", ""),
        (r"!\[[^\]\n]{0,500}\]\([^()\n]{0,500}\)", ""),
        # Otherwise `[Müller](1820)` of a page would lose its date.
        (r"\[([^\]\[]{1,500})\]\((?=[^()\s]{0,500}[/.#:@])[^()\s]{1,500}\)", r"\1"),
        (EMPHASIS, r"\2"),
        (EMPHASIS, r"\2"),  # in one another
        (r"\\([!-/:-@\[-`{-~])", r"\1"),
    )
]
"""Markdown's marks, and what stays of them."""


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
        text = unescaped(without_tags).strip("\n")
    return _without_markdown(text) if markdown and len(text) <= MAX_MARKDOWN else text


def _between(tags: re.Match[str]) -> str:
    """Return what stands in place of tags: a line end, or a space between cells."""
    if "page_break" in tags[0]:
        return f"\n{PAGE_BREAK}\n"
    if IN_BLOCK.search(tags[0]):
        return "\n"
    return " " if re.match(rf"\s*</?(?:{CELLS})", tags[0], re.IGNORECASE) else ""


def unescaped(text: str) -> str:
    """Return a text with the signs that HTML's entities stand for."""
    try:
        return html.unescape(text)
    except ValueError:  # a number with thousands of digits
        return text


def _without_markdown(text: str) -> str:
    """Return the text without Markdown's marks; what is in a fence stays as it is."""
    parts = FENCE.split(text)
    for number, part in enumerate(parts[::2]):
        words = TABLE.sub(_rows, unescaped(part))
        for mark, kept in MARKS:
            words = mark.sub(kept, words)
        parts[2 * number] = words
    return "".join(parts)


def _rows(table: re.Match[str]) -> str:
    """Return the rows of a table with spaces between their cells."""
    header, _, *rows = table[0].split("\n")
    cells = ([cell.strip() for cell in row.split("|")] for row in (header, *rows))
    return "\n".join(" ".join(filter(None, row)) for row in cells)
