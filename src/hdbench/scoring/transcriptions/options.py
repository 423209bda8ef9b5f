"""The options of `text_cer`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError
from hdbench.scoring.checked_options import one_of
from hdbench.scoring.normalize import OF_TRANSCRIPTIONS, Normalizer, normalizer
from hdbench.scoring.transcriptions.texts import NUMBERED

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
