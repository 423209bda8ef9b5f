"""Translations of all texts: a gettext catalogue for each language but English."""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from hdbench.common.jsonio import whole_file

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
    with whole_file(compiled) as part, part.open("wb") as file:
        mofile.write_mo(file, catalog)
