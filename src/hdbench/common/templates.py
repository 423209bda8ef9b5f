"""HTML from Jinja templates, in which untrusted text does no harm."""

import re
from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import Any

import jinja2
from markupsafe import Markup, escape

from hdbench.errors import escaped

LINE_BREAK = "↵"
"""Sign before a line break in a value, so that it can be seen."""

_OUR_SPACE = re.compile(r"(\u00a0(?=%))")
"""A no-break space in our own texts, before a percent sign."""

_JOINT = re.compile(r"[._](?=.)")
"""After what a name may be broken; in the markup that `shown` makes there is neither."""

STRICT: dict[str, Any] = {
    "undefined": jinja2.StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
}
"""The options of every environment: a misspelt name is an error, and a tag leaves no blank line."""


@cache
def html_templates(
    package: str, *, finalize: Callable[[Any], Any] | None = None
) -> jinja2.Environment:
    """Return the HTML templates of a package; `shown`, `sentence` and `breakable` are filters.

    Args:
        package: its name; the templates are in its folder `templates`.
        finalize: what is done to each value before it is output.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package), autoescape=True, finalize=finalize, **STRICT
    )
    environment.filters |= {"shown": shown, "sentence": sentence, "breakable": breakable}
    return environment


def shown(text: str) -> Markup:
    r"""Return untrusted text as HTML, with marked escapes and with signs for line breaks.

    Example:
        >>> print(shown("<b>\u202e"))
        &lt;b&gt;<span class="invisible">\u202e</span>
    """
    if text.isprintable():  # as nearly all of it is
        return escape(text)
    return Markup().join(
        piece if printable else Markup().join(map(_invisible, piece))
        for printable, group in groupby(text, str.isprintable)
        for piece in ("".join(group),)
    )


def sentence(text: str) -> Markup:
    r"""Return a text of ours with untrusted values in it, as `shown` does; our own spaces stay.

    Example:
        >>> print(sentence("<b>\u202e 5\xa0%").replace("\xa0", "_"))
        &lt;b&gt;<span class="invisible">\u202e</span> 5_%
    """
    pieces = _OUR_SPACE.split(text)  # every second one is a space
    return Markup().join(
        escape(piece) if number % 2 else shown(piece) for number, piece in enumerate(pieces)
    )


def breakable(name: str) -> Markup:
    """Return the name of a field or figure, which may be broken after dots and underscores.

    Example:
        >>> print(breakable("title.sub_title"))
        title.<wbr>sub_<wbr>title
    """
    return Markup(_JOINT.sub(r"\g<0><wbr>", str(shown(name))))  # noqa: S704  escaped by `shown`


def _invisible(character: str) -> Markup:
    sign = LINE_BREAK if character == "\n" else escaped(character)
    after = character if character == "\n" else ""
    return Markup('<span class="invisible">{}</span>{}').format(sign, after)
