"""Markdown and plain text from Jinja templates, in which untrusted text does no harm."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2

from hdbench.common.bounds import MAX_FILLED
from hdbench.common.templates import STRICT
from hdbench.errors import HdbenchError, Message, escaped

# Untrusted text in Markdown: shown as it is, and never a tag, a link, a table or a placeholder

_SIGNS = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)")
_TAGS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_BRACES = re.compile(r"\{(?=[{%#])|[}%#](?=\})")
"""Sign that opens or closes a placeholder of a card together with the one behind it."""


def as_text(text: str) -> str:
    r"""Return untrusted text as a piece of a line of Markdown, also in a table.

    Example:
        >>> as_text("<b>a|b</b>\n[c](d) and {{ rows }}, year_of_birth")
        '&lt;b&gt;a\\|b&lt;/b&gt; \\[c\\](d) and { { rows } }, year_of_birth'
    """
    return _SIGNS.sub(r"\\\g<0>", _one_line(text)).translate(_TAGS)


def as_code(text: str, *, in_table: bool = False) -> str:
    r"""Return untrusted text as a code span of Markdown; a backtick becomes an apostrophe.

    Args:
        text: the text.
        in_table: whether it stands in a table, where a bar would end the cell.

    Example:
        >>> as_code("a`<b>`|c"), as_code("a|b", in_table=True)
        ("`a'<b>'|c`", '`a\\|b`')
    """
    code = _one_line(text).replace("`", "'")
    if in_table:
        code = code.replace("|", r"\|")
    return f"`{code}`"


def as_prose(text: str) -> str:
    r"""Return Markdown of those who correct a benchmark, in one line and without HTML.

    Example:
        >>> as_prose("see `a`:<br>\n**b**")
        'see `a`:&lt;br> **b**'
    """
    return _one_line(text).replace("<", "&lt;")


def _one_line(text: str) -> str:
    return _BRACES.sub(r"\g<0> ", escaped(" ".join(text.split())))


# The placeholders of a card: a few names that stand for texts, and no template language


_SHOWN = 40
"""Maximum number of characters shown of what is not a placeholder."""

_PART = re.compile(
    r"\{\{(?P<name>[^{}\n]{1,80})\}\}"
    # A tag alone on its line leaves no empty line.
    r"|(?P<begin>^[ \t]*)?\{%(?P<tag>[^{}%\n]{1,80})%\}(?(begin)(?:[ \t]*\n)?)"
    r"|\{[{%#](?=\s)",
    re.MULTILINE,
)
_LIKE_A_TAG = " \t-+"
"""Signs after the braces that only occur in a placeholder or a template's tag."""

_CONDITION = re.compile(r"if (not )?(.+)")


class PlaceholderError(HdbenchError):
    """A card has what is not a placeholder, or an `if` without its end.

    Attributes:
        line: where.
        why: what is wrong.
        remedy: what to do.
    """

    def __init__(self, place: Path, line: int, why: Message, remedy: Message) -> None:
        super().__init__(
            "{place}:{line}: {why}: {remedy}", place=place, line=line, why=why, remedy=remedy
        )
        self.line, self.why, self.remedy = line, why, remedy


def fill(text: str, values: Mapping[str, str], place: Path, first: int = 1) -> str:
    """Return a text with its placeholders filled in, in one pass: values are not searched.

    `{{ name }}` stands for the value of that name. What is between `{% if name %}`, or
    `{% if not name %}`, and `{% else %}` or `{% endif %}` stays if the value is not empty, or if
    it is. Braces that no blank follows, as in BibTeX, are text like any other.

    Args:
        text: the text, untrusted.
        values: name → what stands for it.
        place: where the text is from.
        first: the number of its first line there.

    Raises:
        PlaceholderError: there is no such placeholder, or an `if` lacks its `endif`.
        HdbenchError: the whole is too long.

    Example:
        >>> values = {"rows": "3", "picture": ""}
        >>> fill("{{ rows }} of {{RISE}}{% if picture %}, {{ picture }}{% endif %}", values, Path())
        '3 of {{RISE}}'
    """
    parts: list[str] = []
    shown = [True]  # whether what is in each `if` around stays
    opened: list[re.Match[str]] = []  # the `if`s
    length = end = 0

    def error(at: re.Match[str], why: str, remedy: Message) -> PlaceholderError:
        line = text[at.start() : at.start() + _SHOWN].strip().partition("\n")[0]
        number = first + text.count("\n", 0, at.start())
        return PlaceholderError(place, number, Message(why, found=escaped(line)), remedy)

    for match in _PART.finditer(text):
        before, value = text[end : match.start()], ""
        end = match.end()
        name, tag = (match["name"] or "").strip(), (match["tag"] or "").strip()
        condition = _CONDITION.fullmatch(tag)
        stays = shown[-1]
        if name in values:
            value = values[name]
        elif condition and condition[2] in values:
            opened.append(match)
            shown.append(stays and bool(values[condition[2]]) is not bool(condition[1]))
        elif tag == "else" and opened:
            shown[-1] = shown[-2] and not stays
        elif tag == "endif" and opened:
            opened.pop()
            shown.pop()
        elif (match["name"] or match["tag"] or " ")[0] in _LIKE_A_TAG:
            names = ", ".join(name for name in values if " " not in name)
            remedy = Message(
                "choose one of {names}; or, where braces are meant, write no blank behind them",
                names=names,
            )
            raise error(match, "{found} is not a placeholder", remedy)
        else:
            value = match[0]
        if stays:
            parts += (before, value)
            length += len(before) + len(value)
        if length > MAX_FILLED:
            raise HdbenchError(
                "{place}: longer than {most} MiB when it is filled in: shorten it",
                place=place,
                most=MAX_FILLED >> 20,
            )
    if opened:
        raise error(opened[-1], "{found} has no endif", Message("write it where the part ends"))
    return "".join([*parts, text[end:]])


@cache
def markdown_templates(package: str) -> jinja2.Environment:
    """Return the templates of a package, with filters for untrusted text.

    The filters `text`, `code` and `prose` are `as_text`, `as_code` and `as_prose`; without one, a
    value stands as it is.

    Args:
        package: its name; the templates are in its folder `templates`.
    """
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.PackageLoader(package), keep_trailing_newline=True, **STRICT
    )
    environment.filters |= {"text": as_text, "code": as_code, "prose": as_prose}
    return environment
