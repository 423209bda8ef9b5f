"""Texts and messages for readers, in each of the languages that hdbench has."""

from collections.abc import Mapping
from datetime import date
from functools import cache, cached_property
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter
from typing import Any, Literal, NamedTuple, TypedDict, get_args

import yaml

from hdbench.common.writing import whole_file
from hdbench.errors import Message

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


# Translations of all texts: a gettext catalogue for each language but English

_LOCALE = Path(__file__).parents[1] / "locale"


class _NoTranslation(NullTranslations):
    """Fallback that tells a text without a translation from one that is the same in English."""

    def gettext(self, message: str) -> str:
        """Return nothing."""
        return ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return nothing."""
        return ""


def translation(text: str, language: str, *, plural: str | None = None, count: int = 1) -> str:
    """Return the translation of a text; an empty text if the catalogue has none.

    Args:
        text: the text in English; where there is a plural, that for one thing.
        language: one of `hdbench.common.texts.LANGUAGES`.
        plural: the text in English for any other count.
        count: the number that decides which of the language's plural forms is taken.

    Example:
        >>> translation("not known", "de"), translation("not in the catalogue", "de")
        ('unbekannt', '')
    """
    if not text:  # for which gettext has the catalogue's header
        return ""
    if plural is None:
        return catalogue(language).gettext(text)
    return catalogue(language).ngettext(text, plural, count)


@cache
def catalogue(language: str) -> NullTranslations:
    """Return the catalogue of a language, which is compiled first if its source is newer.

    That of English is empty.

    Raises:
        OSError: there is none.
    """
    if language == "en":
        return _NoTranslation()
    folder = _LOCALE / language / "LC_MESSAGES"
    source, compiled = folder / "hdbench.po", folder / "hdbench.mo"
    if source.exists() and not _is_newer(compiled, source):  # a wheel has no source
        _compile(source, compiled)
    with compiled.open("rb") as file:
        translations = GNUTranslations(file)
    translations.add_fallback(_NoTranslation())
    return translations


def _is_newer(path: Path, source: Path) -> bool:
    return path.exists() and path.stat().st_mtime_ns >= source.stat().st_mtime_ns


def _compile(source: Path, compiled: Path) -> None:
    """Write a catalogue as gettext reads it; other processes may read or write it now, too."""
    from babel.messages import mofile, pofile  # noqa: PLC0415  only in a checkout

    with source.open("rb") as file:
        catalog = pofile.read_po(file, abort_invalid=True)
    with whole_file(compiled) as compiling:
        mofile.write_mo(compiling, catalog)


# Messages, which are made in English, put into another language where they are shown

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


# How long something takes, as people say it

SHORT_HOURS = 1.5
"""Number of hours up to which a time is said in minutes."""

_MANY_HOURS = 10
"""Number of hours from which their tenths do not matter."""


def time_message(hours: float) -> Message:
    """Return a time in minutes or hours, with as many digits as say something.

    Example:
        >>> [str(time_message(hours)) for hours in (0.001, 0.2, 1.66, 1234.5)]
        ['1 minute', '12 minutes', '1.7 hours', '1,234 hours']
    """
    if hours < SHORT_HOURS:
        minutes = max(1, round(60 * hours))
        return Message("1 minute", plural="{count} minutes", count=minutes)
    if hours < _MANY_HOURS:
        return Message("{hours:,.1f} hours", hours=hours)
    return Message("{hours:,.0f} hours", hours=hours)


def time_in_words(hours: float, language: str) -> str:
    """Return a time as `time_message` does, in a language."""
    return translated(time_message(hours), language)
