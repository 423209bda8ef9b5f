"""What is written about the benchmarks and their metrics, as HTML."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from hdbench.about import installed_folder
from hdbench.space.context import SpaceContext

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>")


def documents(context: SpaceContext, language: str) -> dict[str, Any]:
    """Return the operator's contact, and the cards of the benchmarks and of their metrics.

    Args:
        context: the Space's context.
        language: the language of the benchmarks' titles; the cards are in English.
    """
    titles = {name: title for title, name in context.choices(language)}
    metrics = dict.fromkeys(each.spec.metric for each in context.benchmarks.values())
    return {
        "contact": context.contact or "",
        "about_benchmarks": [
            (titles[name], _card(benchmark.folder))
            for name, benchmark in context.benchmarks.items()
        ],
        "about_metrics": [(name, _card(installed_folder("metrics") / name)) for name in metrics],
    }


@cache
def _card(folder: Path) -> Markup:
    path = folder / "README.md"
    return card_html(path.read_text(encoding="utf-8")) if path.is_file() else Markup()


def card_html(card: str) -> Markup:
    r"""Return a card to embed in a page: headings two levels deeper, without pictures and HTML.

    The files of its pictures are not served.

    Example:
        >>> print(card_html("---\nlicense: cc0-1.0\n---\n# Cards\n![one](a.jpg)<b>"))
        <h3>Cards</h3>
        <p>&lt;b&gt;</p>
        <BLANKLINE>
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_PICTURE.sub("", _FRONT_MATTER.sub("", card, count=1)))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        elif token.type in ("th_open", "td_open"):
            token.attrs = {}  # a style, which the page's policy forbids
        elif token.type == "fence":
            token.attrSet("tabindex", "0")
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704  no HTML in it
