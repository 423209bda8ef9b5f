"""The messages of warnings: written in English, as records keep them, and shown in German too."""

import re
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from hdbench.common.texts import Texts

MAX_MESSAGE = 1_000
"""Characters of a message that is translated: a record can hold any."""

_TEXTS = Texts(Path(__file__).with_name("translations"))

_PARTS = {
    "answers": ("answers", "answers_looked_at"),
    "and_type": ("and_type",),
    "without": ("without",),
    "example": ("example",),
}
"""Place → the texts that can stand in it; in that of all but the first also none."""


class Told(NamedTuple):
    """A message as it is shown.

    Attributes:
        text: the message.
        language: what it is written in.
    """

    text: str
    language: str


def message(key: str, **values: Any) -> str:
    """A warning's message, or a part of one, in English.

    Args:
        key: its key in `translations/warnings.yaml`.
        values: what stands in its places.
    """
    return _TEXTS.text(key, "en", **values)


def in_language(warning: str, language: str) -> Told:
    """A warning's message in a language; in English where it is none of those that are known.

    Records hold messages, not what stands in their places: that is read off the message.

    Example:
        >>> in_language(message("truncated", count=3, given=1263), "de").text[:39]
        '3 von 1263 Antworten brechen ab, und wa'
    """
    if language != "en" and len(warning) <= MAX_MESSAGE:
        keys = _TEXTS.translations["en"].keys() - {key for keys in _PARTS.values() for key in keys}
        for key in sorted(keys):
            if translated := _translated(key, warning, language):
                return Told(translated, language)
    return Told(warning, "en")


def _translated(key: str, english: str, language: str) -> str | None:
    match = re.fullmatch(_pattern(key), english, re.DOTALL)
    if match is None:
        return None
    values = match.groupdict()
    for _, name, spec, _ in Formatter().parse(_TEXTS.translations["en"][key]):
        if name in _PARTS:
            parts = (_translated(part, values[name], language) for part in _PARTS[name])
            values[name] = next(filter(None, parts), "")
        elif name and spec == ",":  # in German a comma is another sign
            values[name] = values[name].replace(",", "")
    return _TEXTS.text(key, language, **values)


@cache
def _pattern(key: str) -> str:
    """What the English text looks like, with a group for each place."""
    pattern = ""
    for literal, name, spec, _ in Formatter().parse(_TEXTS.translations["en"][key]):
        pattern += re.escape(literal)
        if name in _PARTS:
            parts = "|".join(re.sub(r"\?P<\w+>", "?:", _pattern(part)) for part in _PARTS[name])
            pattern += f"(?P<{name}>(?:{parts})?)"
        elif name:
            sign = r"[\d,.]+" if spec else ".*?"
            pattern += f"(?P<{name}>{sign})"
    return pattern
