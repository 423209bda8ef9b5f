"""Texts for readers, in each of the languages that hdbench has."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import yaml


class Numbers(NamedTuple):
    """Signs in the numbers of a language: before decimals, between thousands, and for percent."""

    point: str = "."
    thousands: str = ","
    percent: str = "%"

    def written(self, number: str) -> str:
        """Return a number that Python wrote, as the language writes it."""
        signs = {",": self.thousands, ".": self.point, "%": self.percent}
        return "".join(signs.get(sign, sign) for sign in number)


NUMBERS = {"en": Numbers(), "de": Numbers(",", ".", "\N{NO-BREAK SPACE}%")}
"""Language → the signs in its numbers."""

LANGUAGES = tuple(NUMBERS)
"""The languages that every text has, the one that it is first written in before the others."""


def language_of(accept: str | None) -> str:
    """Return the language for a browser, from its Accept-Language; English if there is none.

    Browsers name the languages in the order in which the user wants them (RFC 9110, 12.5.4).

    Example:
        >>> language_of("fr-CH, de-CH;q=0.9, en;q=0.8"), language_of("fr"), language_of(None)
        ('de', 'en', 'en')
    """
    for part in (accept or "")[:1000].split(","):
        language = part.strip()[:2].lower()
        if language in LANGUAGES:
            return language
    return "en"


def decimal(number: str, language: str) -> str:
    """Return a number written with a decimal point, as a language writes it.

    Example:
        >>> decimal("0.672", "en"), decimal("0.672", "de")
        ('0.672', '0,672')
    """
    return number.replace(".", NUMBERS[language].point)


def written(number: float, digits: int, language: str) -> str:
    """Return a number with that many decimals, as a language writes it.

    Example:
        >>> written(2312.55, 1, "en"), written(2312.55, 1, "de")
        ('2,312.6', '2.312,6')
    """
    return NUMBERS[language].written(f"{number:,.{digits}f}")


def in_terminal(number: float, form: str, language: str) -> str:
    """Return a number in a format such as `.4f`, as a language writes it, for a terminal.

    A terminal would show a no-break space as its escape: it is a space here.

    Example:
        >>> in_terminal(0.5, ".1%", "en"), in_terminal(0.5, ".1%", "de")
        ('50.0%', '50,0 %')
    """
    return NUMBERS[language].written(format(number, form)).replace("\N{NO-BREAK SPACE}", " ")


def grouped(number: int, language: str) -> str:
    """Return a whole number with what a language writes between the thousands.

    Example:
        >>> grouped(700_000, "en"), grouped(700_000, "de")
        ('700,000', '700.000')
    """
    return NUMBERS[language].written(f"{number:,}")


class _Formatter(Formatter):
    """Writes numbers as a language does."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value, formatted for its placeholder."""
        text = str(super().format_field(value, format_spec))
        return self._numbers.written(text) if isinstance(value, int | float) else text


_FORMATTERS = {language: _Formatter(numbers) for language, numbers in NUMBERS.items()}


class Texts:
    """The texts in the YAML files of a folder, each `language: {key: text}`.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def translations(self) -> dict[str, dict[str, str]]:
        """Language → key → text; every language has every key.

        Raises:
            ValueError: two files have the same key.
        """
        by_language: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
        for path in sorted(self._folder.glob("*.yaml")):
            for language, texts in read_texts(path).items():
                if twice := by_language[language].keys() & texts.keys():
                    raise ValueError(f"{path}: another file has the key {min(twice)} too")
                by_language[language].update(texts)
        return by_language

    def text(self, key: str, language: str, **values: Any) -> str:
        """Return the text of a key.

        Args:
            key: its key in a file.
            language: one of `LANGUAGES`.
            values: the values of its placeholders.
        """
        return formatted(self.translations[language][key], language, values)


def formatted(template: str, language: str, values: Mapping[str, Any]) -> str:
    """Return a text with its values, whose numbers are written as the language writes them."""
    return _FORMATTERS[language].vformat(template, (), values)


def read_texts(path: Path) -> Any:
    """Return the content of a file with texts, which is this package's own."""
    # libyaml is ten times as fast. Not for others' files: it crashes if they are nested too deeply.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506  both are safe
