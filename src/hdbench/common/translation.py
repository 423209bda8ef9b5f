"""Messages, which are made in English, put into another language where they are shown."""

from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from hdbench.common.texts import LANGUAGES, formatted, read_texts
from hdbench.errors import Message

_PACKAGES = Path(__file__).parents[1]

VARIABLE = "HDBENCH_LANGUAGE"
"""The environment variable that has the language in which a terminal is told everything."""

_language = "en"


def set_language(language: str | None) -> None:
    """Tell a terminal everything in this language from now on; in English if there is no such."""
    global _language  # noqa: PLW0603  one for the process, as its threads tell something too
    _language = language if language in LANGUAGES else "en"


def current_language() -> str:
    """Return the language in which a terminal is told everything."""
    return _language


def translated(message: str, language: str) -> str:
    """Return a message in a language, or in English where there is no translation of it.

    A translation is found by the message's template, in the file `messages/<language>.yaml` of any
    package: English → translation, with the same placeholders. One without words needs none.

    Args:
        message: what is told; a text that is not a `Message` stays as it is.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Example:
        >>> translated(Message("{place}: more than {most:,} columns", place="a", most=5_000), "de")
        'a: mehr als 5.000 Spalten'
    """
    if not isinstance(message, Message) or language == "en":
        return str(message)
    template = translations(language).get(message.template)
    if not message.values:  # it is not a template, and may have any braces
        return template or str(message)
    if template is None and _has_words(message):
        return str(message)
    values: dict[str, Any] = {
        name: translated(value, language) if isinstance(value, str) else value
        for name, value in message.values.items()
    }
    return formatted(template or message.template, language, values)


def is_translated(message: str, language: str) -> bool:
    """Return whether `translated` gives a message in that language."""
    if language == "en":
        return True
    return isinstance(message, Message) and (
        message.template in translations(language) or not _has_words(message)
    )


def _has_words(message: Message) -> bool:
    if not message.values:  # it is not a template, and may have any braces
        return True
    literals = (literal for literal, *_ in Formatter().parse(message.template))
    return any(map(str.isalpha, "".join(literals)))


@cache
def translations(language: str) -> dict[str, str]:
    """Template → translation, of all packages; none for English."""
    templates: dict[str, str] = {}
    for path in sorted(_PACKAGES.rglob(f"messages/{language}.yaml")):
        templates |= read_texts(path)
    return templates
