"""Messages, which are made in English, put into another language where they are shown."""

from string import Formatter
from typing import Any

from hdbench.common.catalogues import translation
from hdbench.common.texts import LANGUAGES, formatted
from hdbench.errors import Message

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

    A translation has the same placeholders as the message's template. A template without words
    needs none.

    Args:
        message: what is told; a text that is not a `Message` stays as it is.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Example:
        >>> translated(Message("{place}: more than {most:,} columns", place="a", most=5_000), "de")
        'a: mehr als 5.000 Spalten'
    """
    if not isinstance(message, Message) or language == "en":
        return str(message)
    template = _translated_template(message, language)
    if not message.values:  # it is not a template, and may have any braces
        return template or str(message)
    if not template and _has_words(message):
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
        bool(_translated_template(message, language)) or not _has_words(message)
    )


def _translated_template(message: Message, language: str) -> str:
    count = message.values.get("count") if message.plural else 1
    number = count if isinstance(count, int) else 0
    return translation(message.template, language, plural=message.plural, count=number)


def _has_words(message: Message) -> bool:
    if not message.values:  # it is not a template, and may have any braces
        return True
    literals = (literal for literal, *_ in Formatter().parse(message.template))
    return any(map(str.isalpha, "".join(literals)))
