"""HTML pages in one file that request nothing from any host and run no script but their own."""

import base64
import hashlib
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from hdbench.common.display.marks import BASE, STYLE, TOKENS, icon, mark
from hdbench.common.templates import html_templates
from hdbench.common.texts import Texts, decimal, grouped, numbers_of
from hdbench.errors import escaped
from hdbench.scoring.metric import figure_heading, figure_title

TEXTS = Texts(Path(__file__).with_name("texts"))
"""The texts of the pages; they may hold HTML."""


def render(template: str, language: str = "en", **context: Any) -> str:
    """Return a page from a template of this package.

    In a template `t(key, name=value)` is a text from `TEXTS` in the page's language, and
    `decimal("0.5")` and `percentage("50.0")` are numbers as they are written in that language;
    `figure_title(name)` and `figure_heading(name)` are titles of figures in it.

    Whatever a template outputs is escaped, and its control and invisible characters and lone
    surrogates are written as escapes, so that the page can be written as UTF-8. The style sheet and
    the script that `base.html` includes are allowed by their sha256 in the page's
    Content-Security-Policy; no other style, script or address is.

    Args:
        template: its file name.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
        context: the values for the template.
    """
    own = {name: partial(function, language=language) for name, function in _WORDS.items()}
    return _environment().get_template(template).render(**own, language=language, **context)


def percentage(number: str, language: str) -> Markup:
    r"""Return a number with the percent sign, as a language writes them.

    It is markup, as a no-break space would be shown as its escape.

    Example:
        >>> percentage("12.5", "en"), percentage("12.5", "de")
        (Markup('12.5%'), Markup('12,5\xa0%'))
    """
    return escape(numbers_of(language).written(f"{number}%"))


def markup(key: str, language: str, **values: Any) -> Markup:
    """Return a text from `TEXTS` as HTML; the values in its placeholders are escaped.

    Whole numbers are written with separators between the thousands, as in the warnings.

    Example:
        >>> print(markup("from_to", "de", low=Markup("<b>1</b>"), high="<2>"))
        <b>1</b> bis &lt;2&gt;
        >>> print(markup("from_to", "de", low=999, high=1000))
        999 bis 1.000
    """
    if not values:
        return _without_values(key, language)
    count = values.get("count", 0)
    return _own(key, language, count if isinstance(count, int) else 0).format(
        **{
            name: grouped(value, language) if isinstance(value, int) else _plain(value)
            for name, value in values.items()
        }
    )


@cache
def _without_values(key: str, language: str) -> Markup:
    return _own(key, language).format()  # a page of many items has some of them thousands of times


def _own(key: str, language: str, count: int = 0) -> Markup:
    return Markup(TEXTS.template(key, language, count))  # noqa: S704  this package's own


def _plain(value: Any) -> Any:
    """Return untrusted text with nothing invisible in it; markup is kept."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return value if value.isprintable() else escaped(value)  # a picture's URI is long


def _csp_source(block: Markup) -> Markup:
    """Return a CSP source that allows exactly this inline block."""
    digest = hashlib.sha256(block.encode()).digest()
    return Markup("'sha256-{}'").format(base64.b64encode(digest).decode())


_WORDS: dict[str, Callable[..., str]] = {
    "t": markup,
    "decimal": decimal,
    "grouped": grouped,
    "percentage": percentage,
    "figure_title": figure_title,
    "figure_heading": figure_heading,
}
"""Functions of every template that give something in the language of its page."""


@cache
def _environment() -> jinja2.Environment:
    environment = html_templates("hdbench.report", finalize=_plain)
    environment.globals |= {"mark": mark, "icon": icon}
    own, page = Path(__file__).parent / "templates", files("hdbench.collections.truth") / "page"
    for name, sources in (
        ("style", (TOKENS, BASE, own / "style.css", STYLE)),
        ("items_script", (own / "items.js",)),
        ("sort_script", (own / "sort.js",)),
        ("viewer_script", (page / "viewer.js", own / "viewer.js")),
    ):
        # As plain files, not as templates: their braces are their own.
        text = "".join(source.read_text(encoding="utf-8") for source in sources)
        environment.globals[name] = Markup(text)  # noqa: S704  this package's own files
    environment.filters["csp_source"] = _csp_source
    return environment
