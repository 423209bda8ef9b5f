"""Pages from templates; whatever they show is escaped."""

from functools import cache, partial
from pathlib import Path
from typing import Any

from hdbench.collections.home.state import HomeText
from hdbench.common.templates import html_templates, sentence
from hdbench.common.texts import Texts, grouped, translated
from hdbench.errors import shortened

TEXTS = Texts(Path(__file__).with_name("texts"))


def render(template: str, language: str, root: str, **values: Any) -> str:
    """Return a page.

    In a template, `t(key, name=value)` is a text, `say(message)` a message in the page's language,
    `some_of(names)` the first of some names, `grouped(1000)` a whole number, `at("runs")` the
    address of a page of the collection, and `root` the beginning of all addresses.

    Args:
        template: the name of its file.
        language: the page's language.
        root: the token behind its slash.
        values: the values for the template.
    """
    collection = values.get("collection")
    base = f"{root}/{collection.key}" if collection else root
    return (
        html_templates("hdbench.collections.home")
        .get_template(template)
        .render(
            t=partial(_text, language),
            say=lambda message: sentence(said(message, language)),
            some_of=lambda names: translated(shortened(names), language),
            at=lambda page: f"{base}/{page}",
            grouped=partial(grouped, language=language),
            root=root,
            language=language,
            **values,
        )
    )


def said(text: str | HomeText, language: str) -> str:
    """Return a text of ours, or a message, in a language."""
    if not isinstance(text, HomeText):
        return translated(text, language)
    values = {
        name: said(value, language) if isinstance(value, HomeText) else value
        for name, value in text.values.items()
    }
    return TEXTS.text(text.key, language, **values)


def _text(language: str, key: str, **values: Any) -> str:
    return TEXTS.text(key, language, **values) if values else _without_values(language, key)


@cache
def _without_values(language: str, key: str) -> str:
    return TEXTS.text(key, language)  # a page of many items has some of them many times
