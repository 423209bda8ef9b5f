"""Texts for readers, in each of the languages that hdbench has."""

from collections.abc import Mapping
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from string import Formatter
from typing import Any, Literal, NamedTuple, TypedDict, get_args

import yaml

from hdbench.common.catalogues import translation

Language = Literal["en", "de"]
LANGUAGES: tuple[str, ...] = get_args(Language)
"""All languages, the one that texts are first written in before the other."""


class Numbers(NamedTuple):
    """Signs in the numbers of a language: before decimals, between thousands, and for percent."""

    point: str = "."
    thousands: str = ","
    percent: str = "%"

    def written(self, number: str) -> str:
        """Return a number that Python wrote, as the language writes it."""
        signs = {",": self.thousands, ".": self.point, "%": self.percent}
        return "".join(signs.get(sign, sign) for sign in number)


@cache
def numbers_of(language: str) -> Numbers:
    """Return the signs in the numbers of a language, as Unicode's CLDR has them."""
    if language == "en":  # which needs no import
        return Numbers()
    from babel import Locale  # noqa: PLC0415  slow to import

    locale = Locale.parse(language)
    signs = locale.number_symbols["latn"]
    percent = locale.percent_formats[None].pattern.removeprefix("#,##0")
    return Numbers(signs["decimal"], signs["group"], percent)


def language_of(accept: str | None) -> str:
    """Return the language for a browser, from its Accept-Language; English without one.

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
    return number.replace(".", numbers_of(language).point)


def written(number: float, digits: int, language: str) -> str:
    """Return a number with that many decimals, as a language writes it.

    Example:
        >>> written(2312.55, 1, "en"), written(2312.55, 1, "de")
        ('2,312.6', '2.312,6')
    """
    return numbers_of(language).written(f"{number:,.{digits}f}")


def in_terminal(number: float, form: str, language: str) -> str:
    """Return a number in a format such as `.4f`, as a language writes it, for a terminal.

    A terminal would show a no-break space as its escape: it is a space here.

    Example:
        >>> in_terminal(0.5, ".1%", "en"), in_terminal(0.5, ".1%", "de")
        ('50.0%', '50,0 %')
    """
    text = numbers_of(language).written(format(number, form))
    return text.replace("\N{NO-BREAK SPACE}", " ")


def grouped(number: int, language: str) -> str:
    """Return a whole number with what a language writes between the thousands.

    Example:
        >>> grouped(700_000, "en"), grouped(700_000, "de")
        ('700,000', '700.000')
    """
    return numbers_of(language).written(f"{number:,}")


class _Formatter(Formatter):
    """Writes numbers and dates as a language does."""

    def __init__(self, language: str) -> None:
        self._language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value, formatted for its placeholder."""
        text = str(super().format_field(value, format_spec))
        if isinstance(value, int | float):
            return numbers_of(self._language).written(text)
        if isinstance(value, date) and self._language != "en":
            from babel.dates import format_date  # noqa: PLC0415  slow to import

            return format_date(value, locale=self._language)
        return text


def formatted(template: str, language: str, values: Mapping[str, Any]) -> str:
    """Return a text with its values, whose numbers are written as the language writes them."""
    return _Formatter(language).vformat(template, (), values)


class Counted(TypedDict):
    """Text that differs for a single thing."""

    one: str
    other: str


class Texts:
    """Texts in English in the YAML files of a folder, `key: text`, and their translations.

    One that differs for a single thing is `key: {one: text, other: text}`; its value `count`
    decides.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def english(self) -> dict[str, str | Counted]:
        """Key → text.

        Raises:
            ValueError: two files have the same key.
        """
        english: dict[str, str | Counted] = {}
        for path in sorted(self._folder.glob("*.yaml")):
            texts = read_texts(path)
            if twice := english.keys() & texts.keys():
                raise ValueError(f"{path}: another file has the key {min(twice)} too")
            english |= texts
        return english

    @cached_property
    def translations(self) -> dict[str, dict[str, str]]:
        """Language → key → text, for pages: of those with a plural, the plural."""
        return {
            language: {key: self.template(key, language) for key in self.english}
            for language in LANGUAGES
        }

    def text(self, key: str, language: str, **values: Any) -> str:
        """Return the text of a key.

        Args:
            key: its key in a file.
            language: one of `LANGUAGES`.
            values: the values of its placeholders.
        """
        return formatted(self.template(key, language, values.get("count", 0)), language, values)

    def template(self, key: str, language: str, count: int = 0) -> str:
        """Return the text of a key with its placeholders; `count` decides on its plural."""
        text = self.english[key]
        one, other = (text, None) if isinstance(text, str) else (text["one"], text["other"])
        english = one if other is None or count == 1 else other
        return translation(one, language, plural=other, count=count) or english


def read_texts(path: Path) -> Any:
    """Return the content of a file with texts, which is this package's own."""
    # libyaml is ten times as fast. Not for others' files: it crashes if they are nested too deeply.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506  both are safe
