"""Untrusted text in Markdown: shown as it is, and never a tag, a link, a table or a placeholder."""

import re

from hdbench.errors import escaped

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
