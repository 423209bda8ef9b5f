"""A library's index card, typed or printed: author, title, imprint, shelfmark and subjects.

A card reads `Last, First. Title. -- Place: Publisher Year. -- 8' 184 S.`, then `Standort: …` and
`2/Subject/…`; a card that refers to another has a line `s.` between a name and a name.
"""

import re
from collections.abc import Sequence
from typing import Any

from hdbench.baselines.layout import joined

_SEE = re.compile(r"\W*[Ss]{1,2}(?:iehe)?\W*")
_SPACED = re.compile(r"\b(?:\w ){3,}\w\b")
_BROKEN = re.compile(r"(?<=[a-zäöüß]) (?!(?:von|van|de|du|der|den|zu|la)\b)(?=[a-zäöüß])")
_YEAR = re.compile(r"\(?\b(1[5-9]\d\d)\b[])]*")
_PAGES = re.compile(
    r"((?:\b[IVXLC]+\s?,\s?)?\b\d{1,4}(?:,\s?\d{1,3})?)\s?(?:S|p|pp|Bl)\b\.?"
    r"|((?:\b[IVXLC]+\s?,\s?)?\b\d{2,3})[5S8][.,](?=\W|$)"
)
_FORMAT = re.compile(r"(?<![\d,])([248]|1[26])\s?([°'’!*º]|[0o](?=[.,]|$))")
_STANDORT = re.compile(r"St[ae]ndort\W*(.+)")
_SUBJECTS = re.compile(r"^[1-9] ?/ ?(?=\w)")
_PRINTED_MARK = re.compile(r"[\[(|{]\s?(U \d\d[.,] ?\d+)")
_DISSERTATION = re.compile(
    r"[(,.;]?\s*[(\[]?(?:Maschinenschr|\bAus(?:zug)? |Inaug|Diss\b"
    r"|Th[eèéä&]se\b|Phil\. Diss|Med\. Diss|-- )"
)


def card(texts: Sequence[str]) -> dict[str, Any]:
    """Return the record that a card's lines make.

    Example:
        >>> card(["Oppenheim, Erwin: Über Mikropodie.", "Breslau 1917: Genossensch. 31 S. 8°"])[
        ...     "publication"
        ... ]["year"]
        1917
    """
    kept = [_letters_joined(text) for text in texts if re.search(r"\w", text)]
    for place, text in enumerate(kept):
        if _SEE.fullmatch(text) and 0 < place < len(kept) - 1:
            return _reference(joined(kept[place + 1 :]))
    return _dissertation(kept)


def _reference(text: str) -> dict[str, Any]:
    """Return the record of the card that another refers to: author and title after `s.`."""
    head, _, title = text.partition(" - ") if " - " in text else text.partition(". ")
    return _record("Reference", head, title)


def _dissertation(texts: Sequence[str]) -> dict[str, Any]:
    body: list[str] = []
    subjects: list[str] = []
    shelfmark = ""
    for text in texts:
        if match := _STANDORT.search(text):
            shelfmark = re.sub(r"\s?([,.])\s?", r"\1", match[1]).lstrip("- ")
        elif _SUBJECTS.match(text) or subjects:
            subjects.append(text)
        elif not shelfmark:
            body.append(text)
    whole = joined(body)
    mark = _PRINTED_MARK.search(whole)
    head, rest = _author(whole)
    before, imprint = _parted(rest)
    record = _record("Dissertation or thesis", head, _title(before))
    publication = record["publication"]
    if year := _YEAR.search(imprint):
        publication["year"] = int(year[1])
    publication["place"], publication["publisher"] = _place(imprint)
    after = imprint[year.end() if year else 0 :]
    if pages := _PAGES.search(after):
        publication["pages"] = pages[1] or pages[2]
    if form := _FORMAT.search(after):
        publication["format"] = form[1] + ("'" if form[2] in "'’!" else "°")
    record["library_reference"] = {
        "shelfmark": shelfmark or (mark[1].replace(",", ".") if mark else ""),
        "subjects": joined(subjects),
    }
    return record


def _record(kind: str, head: str, title: str) -> dict[str, Any]:
    last, _, first = head.partition("," if "," in head else "(")
    last = _BROKEN.sub("", last)
    first = re.split(r"[\[(,]| - ", first.strip())[0]
    publication = dict.fromkeys(("title", "place", "pages", "publisher", "format"), "")
    return {
        "type": {"type": kind},
        "author": {"last_name": last.strip(" .:-"), "first_name": first.strip(" .:,-")},
        "publication": publication | {"title": title.strip(" .:,-")},
        "library_reference": {"shelfmark": "", "subjects": ""},
    }


def _author(text: str) -> tuple[str, str]:
    """The name before the first colon or full stop, or before a bracket, as in `NAME (First)`."""
    if match := re.match(r"\W*([A-ZÄÖÜÉÈ]{3,}) [({]([^)]+)[)}]\W*", text):
        return f"{match[1].capitalize()}, {match[2]}", text[match.end() :]
    # An initial's full stop does not end a name.
    match = re.match(r"[\W\d]*(.{3,90}?)(?<![\s.][A-ZÄÖÜ])\]?\s?[.:]\s", text)
    return (match[1], text[match.end() :]) if match else ("", text)


def _parted(text: str) -> tuple[str, str]:
    """Return the title, and the imprint: the sentence that has the year, and what follows."""
    dashes = re.search(r"\s?(?:[-–—]{2,}|—)\s?(?=\(?\[?[A-ZÄÖÜ])", text)
    if dashes and _YEAR.search(text, dashes.end()):
        return text[: dashes.start()], text[dashes.end() :]
    year = _YEAR.search(text)
    if year is None:
        return text, ""
    begin = max(text.rfind(end, 0, year.start()) for end in (". ", ".) ", ", ")) + 1
    comma = text.rfind(". ", 0, year.start()) + 1
    return text[: comma or begin], text[comma or begin :]


def _title(text: str) -> str:
    # Where a printed list names the clinic first, the title is what follows.
    text = re.sub(
        r"^Aus (?:d\.|dem|der) .{5,120}?[.:]\s(?=[A-ZÄÖÜ]\w{3,})(?!Univ|Dir|Prof)", "", text
    )
    match = _DISSERTATION.search(text, 10)
    return text[: match.start()] if match else text


def _place(imprint: str) -> tuple[str, str]:
    """Place and publisher, from `Place: Publisher Year`, `Place Year: Publisher.`, `Place Year`."""
    year = _YEAR.search(imprint)
    if year is None:
        return "", ""
    before, after = imprint[: year.start()], imprint[year.end() :]
    mark = re.search("[:;]", before) or re.search(",", before)
    place = before[: mark.start()] if mark else before
    publisher = before[mark.end() :] if mark else ""
    if after.lstrip().startswith(":"):
        publisher = re.split(r"\.\s|--|—", after.lstrip(" :"), maxsplit=1)[0]
    return place.strip(" .,:()[]-"), publisher.strip(" .,:()[]-")


def _letters_joined(text: str) -> str:
    """Return letters that are spaced out for emphasis, joined to one word."""
    return _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
