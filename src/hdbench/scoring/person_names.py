"""What a name in a letter names: a person by surname, or an organisation or office.

General rules for German, and a little English and French; no list of names of real people. They
serve figures shown next to the score, never the score itself.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 200
"""Maximum number of characters in a name; anything longer is text, and names nobody."""

_ADDRESS = re.compile(r"(?:herrn?|hr|frau|fräulein|frl|monsieur|madame|mr|mrs|dr|prof)\b")
"""Forms of address for one person. "Herren" is not among them: it often addresses a firm."""

_FIRM = re.compile(
    r"\b(?:ag|a\.\s?-\s?g|gmbh|g\.\s?m\.\s?b\.\s?h|ltd|inc|fa\.|firma|gebr\.|gebrüder)(?!\w)"
    # With initials alone ("A. G. Meier"), only the end of a part tells a firm from a person.
    r"|\b(?:a\.\s?g|s\.\s?a|e\.\s?v)\.?\s*(?=[,;(]|$)"
    r"|(?:&|\+|\bund|\bu\.|\bet)\s*(?:co|cie|comp|söhne|fils|sons)\b"
)

_BODY = re.compile(
    # German compounds these words with others, so they are looked for within words …
    r"gesellschaft|genossenschaft|verein|verband|vorstand|departement|department|direktion"
    r"|redaktion|schriftleitung|gesch(?:ä|ae)ftsleitung|kommission|komitee|ausschuss|kanzlei"
    r"|ministerium|behörde|partei|ausstellung|bureau|büro|société|compagnie|association|committee"
    # … and these at the end of words, or on their own.
    r"|(?:amt|amtes|werk|werke|bank|verwaltung|zeitung|nachrichten)\b"
    r"|\b(?:company|council|society|office|ministry|government|corporation|party|conseil|comité)\b"
)

_OFFICE = (
    r"(?:\w*(?:präsident|direktor|sekretär|inspektor|delegiert|vorsteher|vorsitzend|geschäftsführer"
    r"|redaktor|redakteur|mitglied|minister|notar|advokat|prokurist|ingenieur)(?:in|innen|en|er|e|s)?"
    r"|\w+(?:leiter|leiters|leiterin)"
    r"|(?:regierungs|verwaltungs|bundes|national|stände|stadt|gemeinde)r[aä]t(?:es|s|e|en|in)?"
    r"|president|director|secretary|manager|chairman|editor)"
)
_OFFICES_AT_END = re.compile(rf"(?:(?:^|\s)(?:&\s|und\s)?{_OFFICE})+$")
_OFFICE_OF = re.compile(rf"\b({_OFFICE})\s+(?:der|des|of|für)\b.*")

_NO_SURNAME = re.compile(
    r"herr|herrn|herren|hr|frau|fräulein|frl|monsieur|madame|mr|mrs|dr|prof|der|die|das|den|dem|an"
    r"|sig|gez|ppa"
)
_BESIDE = re.compile(r",|\(|\b[ci]\s?/")
"""Where a person's name ends: "…, Präsident", "… (Basel)", "… i/Fa. …", "… c/o …"."""

_GENERATION = frozenset({"jun", "junior", "jr", "sen", "senior", "sr"})

_HYPHEN = re.compile(r"\s*[-‐-–]\s*")
_ALLIANCE = re.compile(r"(?:-(?:(?:von|van|vom|zu|zur|de|du|der|den|la|le)\s+)*[^\s-]+)+$")
"""The part of a Swiss double name after its hyphen: "-Wackernagel", "-von Planta"."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class NamedBy(NamedTuple):
    """What a name refers to.

    Attributes:
        surname: the person's, in lower case; None if no person is named by one.
        is_organisation: whether it names an organisation or an office.
    """

    surname: str | None
    is_organisation: bool


@lru_cache(maxsize=4096)  # a collection's letters name the same few people again and again
def _read(name: str) -> NamedBy:
    text = unicodedata.normalize("NFC", name).casefold().strip()
    head = _OFFICE_OF.sub(r"\1", _BESIDE.split(text, maxsplit=1)[0]).strip(" .:;")
    person, offices = _OFFICES_AT_END.subn("", head)
    words = _WORD.findall(_ALLIANCE.sub("", _HYPHEN.sub("-", person)))
    while words and words[-1] in _GENERATION:
        words.pop()
    last = words[-1] if words else ""
    is_named = len(last) > 1 and not _NO_SURNAME.fullmatch(last)
    if is_named and _ADDRESS.match(text) and not _is_body(head):
        return NamedBy(last, False)  # whatever follows: his firm, his office
    is_organisation = bool(offices) or _is_body(text)
    return NamedBy(last if is_named and not is_organisation else None, is_organisation)


def _is_body(text: str) -> bool:
    return bool(_FIRM.search(text) or _BODY.search(text))


def read_name(name: str) -> NamedBy:
    """The surname in a person's name, or whether it is the name of an organisation or office.

    The surname is the last word before the first comma, bracket, "i/" or "c/o", without the second
    part of a double name joined by a hyphen (the Swiss alliance name) and without "jun." and the
    like; capitals are ignored. One letter, a title, an article or an office is not a surname.

    A name is an organisation if it has a company marker (AG, A.-G., GmbH, & Co., Fa.) or a word for
    a body (-gesellschaft, -verein, Direktion, Departement, Vorstand, -amt, Council, …) anywhere; it
    is an office if it ends in a word for one (Präsident, Direktor, Geschäftsführer, …) or has such
    a word before "der", "des", "für" or "of". But one person's form of address at the beginning,
    together with a surname with no such marker before the first comma, makes it a person, whatever
    follows.

    Args:
        name: a name as a letter, a model or an authority file has it.

    Example:
        >>> read_name("Herrn P. Muster - Beispiel, i/Fa. Muster & Co.")
        NamedBy(surname='muster', is_organisation=False)
        >>> read_name("Muster-von Beispiel, Max").surname
        'muster'
        >>> read_name("Der Präsident")
        NamedBy(surname=None, is_organisation=True)
        >>> read_name("Muster, Beispiel & Co.")
        NamedBy(surname=None, is_organisation=True)
    """
    # Checked here, so that the cache never holds a long text.
    return _read(name) if len(name) <= _LONGEST else NamedBy(None, False)
