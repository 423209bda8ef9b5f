"""The texts of a transcription, each beside its counterpart, and the options of `text_cer`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.parsers import expat

from hdbench.common.bounds import MAX_XML_TEXT
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import one_of
from hdbench.scoring.text_equality import OF_TRANSCRIPTIONS, Normalizer, normalizer

# The texts of a ground truth, each beside its counterpart in an answer


NUMBERED = re.compile(r"(.*?)([1-9][0-9]*)", re.ASCII)


@dataclass(slots=True)
class Text:
    """A text beside its counterpart.

    Attributes:
        path: where it is.
        reference: the ground truth's.
        prediction: the answer's; None if the answer has no such page.
        similarity: 0.0 to 1.0.
        errors: `cer`, `wer` → edit distance.
        lengths: `cer`, `wer` → length of the reference.
        rates: `cer`, `wer` → the one divided by the other, at most 1.0.
        bag_errors: the errors in its words without their order.
    """

    path: str
    reference: str
    prediction: str | None
    similarity: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    bag_errors: int = 0


class Invented(NamedTuple):
    """A text where the ground truth has none."""

    path: str
    text: str


def page_texts(
    page: Any, answer: Any, prefix: str, fields: Mapping[str, str]
) -> tuple[list[Text], list[Invented]]:
    """The texts of a page that are scored, and numbered ones that only the answer has."""
    texts: list[Text] = []
    invented: list[Invented] = []
    for name, when in fields.items():
        names = [name]
        if when == "until_absent":
            names = _numbered(page, name)
            invented += [
                Invented(prefix + key, _text(answer, key))
                for key in (answer if isinstance(answer, dict) else ())
                if _is_numbered(key, name) and key not in names
            ]
        for key in names:
            reference, prediction = _text(page, key), _text(answer, key)
            if when == "always" or reference or prediction:
                shown = prediction if isinstance(answer, dict) else None
                texts.append(Text(prefix + key, reference, shown))
    return texts, invented


def _numbered(page: Any, first: str) -> list[str]:
    """The names of numbered texts from the first on, up to one that a page lacks."""
    stem, number = _stem(first)
    names = []
    while isinstance(page, dict) and f"{stem}{number}" in page:
        names.append(f"{stem}{number}")
        number += 1
    return names


def _is_numbered(key: str, first: str) -> bool:
    match = NUMBERED.fullmatch(key)
    return match is not None and match[1] == _stem(first)[0]


def _stem(name: str) -> tuple[str, int]:
    match = NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def _text(page: Any, name: str) -> str:
    """A text; null, white space alone and whatever is not a text are empty."""
    value = page.get(name) if isinstance(page, dict) else None
    text = str(value) if isinstance(value, str | int | float) else ""
    return text if text.strip() else ""


def pages_of(record: dict[str, Any], name: str) -> list[Any]:
    """The pages in a list of a record; none if it has no such list."""
    value = record.get(name)
    return value if isinstance(value, list) else []


def is_xml(text: str | None) -> bool:
    """Return whether a text is well-formed XML without a document type, and so without entities.

    Example:
        >>> is_xml("<a>x</a>"), is_xml("<a>"), is_xml("<!DOCTYPE a><a/>")
        (True, False, False)
    """
    if not text or len(text) > MAX_XML_TEXT:
        return False
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError, _RefusedError):
        return False
    return True


class _RefusedError(Exception):
    """A text has a document type."""


def _refuse(*_: Any) -> None:
    raise _RefusedError


DEFAULTS: dict[str, Any] = {
    "texts": {"text": "always"},
    "pages": "position",
    "normalize": ["nfc"],
    "unit": "character",
    "watch": "",
    "markdown": "remove",
    "xml": False,
    "unanswered": "failure",
    "round": {},
    "sum": "exact",
    "figures": {},
}
"""Every option with its default."""

WHEN = ("present", "always", "until_absent")
RATES = ("cer", "wer")

_PATH = re.compile(r"(?:(?P<list>[^.\[\]]+)\[\]\.)?(?P<field>[^.\[\]]+)")


class ScoredTexts(NamedTuple):
    """The texts of a record, or of each page in a list of it.

    Attributes:
        pages: the name of the list; None for the record itself.
        fields: name → when it is scored: `present`, `always`, `until_absent`.
    """

    pages: str | None
    fields: dict[str, str]


def read_texts(value: Any) -> list[ScoredTexts]:
    """The paths of texts, by the list that they are in."""
    if not isinstance(value, Mapping) or not value:
        raise HdbenchError(
            "texts: {value} is not an object of paths and {names}",
            value=repr(value),
            names=", ".join(WHEN),
        )
    lists: dict[str | None, dict[str, str]] = {}
    for path, when in value.items():
        match = _PATH.fullmatch(path) if isinstance(path, str) else None
        if match is None:
            raise HdbenchError(
                "texts: {path} is not a path such as text or pages[].text", path=repr(path)
            )
        one_of(f"texts: {path}", when, WHEN)
        if when == "until_absent" and not NUMBERED.fullmatch(match["field"]):
            raise HdbenchError(
                "texts: {path}: until_absent needs a number, as in addition1", path=path
            )
        lists.setdefault(match["list"], {})[match["field"]] = when
    return [ScoredTexts(name, fields) for name, fields in lists.items()]


@dataclass(frozen=True)
class Watched:
    """The characters of `watch`.

    Attributes:
        pattern: finds them.
    """

    pattern: re.Pattern[str]

    def __contains__(self, sign: object) -> bool:
        return isinstance(sign, str) and self.pattern.fullmatch(sign) is not None


def read_watched(value: Any) -> Watched | None:
    """Return the characters of `watch`; None if there are none.

    Example:
        >>> read_watched("ſ0-9").pattern.findall("Anno 12 iſt")
        ['1', '2', 'ſ']
    """
    if not isinstance(value, str):
        raise HdbenchError("watch: {value} is not a text of characters", value=repr(value))
    ranges = re.findall(r"(.)(?:-(.))?", value, re.DOTALL)
    for first, last in ranges:
        if last and last < first:
            raise HdbenchError("watch: {range} is not a range", range=repr(f"{first}-{last}"))
    signs = (f"{re.escape(first)}-{re.escape(last or first)}" for first, last in ranges)
    return Watched(re.compile(f"[{''.join(signs)}]")) if ranges else None


def read_steps(value: Any) -> dict[str, tuple[Normalizer, ...]]:
    """Return what is done to texts before each of the distances is taken."""
    names = (*RATES, "similarity")
    steps_by_name = value if isinstance(value, Mapping) else dict.fromkeys(names, value)
    for name in steps_by_name:
        one_of("normalize", name, names)
    return {
        name: normalizer(f"normalize: {name}", steps_by_name.get(name, ["nfc"]), OF_TRANSCRIPTIONS)
        for name in names
    }
