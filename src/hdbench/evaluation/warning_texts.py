"""Warnings about a run: data, put into words in English or German when they are shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.titles import Titles
from hdbench.common.texts import Texts
from hdbench.scoring.metric import figure_title

_TEXTS = Texts(Path(__file__).with_name("texts"))

WarningText = dict[str, Any]
"""`key`, the key of a text, and `values`: the values of its placeholders, that is, texts, numbers,
messages and None."""


WarningKind = Literal[
    "same_input_tokens",
    "repeated_answer",
    "unparsable",
    "partial",
    "drafted",
    "no_record",
    "truncated",
    "too_many_items",
    "wrong_field",
    "organisations",
    "several_records",
    "ids",
]
"""The gravest first: those because of which a score may not be the model's at all, those because of
which it cannot be compared, then those about a part of the answers."""


@dataclass(frozen=True)
class RunWarning:
    """Something about a run that a person should look at.

    Attributes:
        kind: what it is about: a `WarningKind`, unless it is from a file of results.
        text: what was seen, what it can mean, and what to do.
        count: in how many items or values it was seen.
        of: among how many.
        ids: the first items that show it.
    """

    kind: WarningKind | str
    text: WarningText
    count: int
    of: int
    ids: list[str]

    @property
    def message(self) -> str:
        """The text in one line of English."""
        return in_words(**self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as JSON data."""
        about = {"count": self.count, "of": self.of, "ids": self.ids}
        return {"kind": self.kind, "message": self.message, **self.text, **about}


def gravest_first(warnings: Iterable[RunWarning]) -> list[RunWarning]:
    """Return warnings in the order of `WarningKind`, and as they were within a kind.

    Example:
        >>> both = [RunWarning(kind, message(kind), 1, 2, []) for kind in ("ids", "partial")]
        >>> [warning.kind for warning in gravest_first(both)]
        ['partial', 'ids']
    """
    kinds: tuple[str, ...] = get_args(WarningKind)
    rank = {kind: number for number, kind in enumerate(kinds)}
    return sorted(warnings, key=lambda warning: rank.get(warning.kind, len(kinds)))


class Told(NamedTuple):
    """A message as it is shown.

    Attributes:
        text: the message.
        language: the language it is written in.
    """

    text: str
    language: str


def message(key: str, **values: Any) -> WarningText:
    """Return what a warning says, or a part of it, as JSON data.

    Args:
        key: its key in `texts/warnings.yaml`.
        values: the values of its placeholders; a placeholder with None stays empty.
    """
    return {"key": key, "values": values}


def in_words(key: str, values: Mapping[str, Any], language: str = "en") -> str:
    """Return a message in words.

    Args:
        key: same as in `message`.
        values: same as in `message`.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        ValueError: there is no such text, or it takes other values.

    Example:
        >>> in_words("truncated", {"count": 3, "given": 1263}, "de")[:40]
        '3 von 1.263 Antworten brechen ab, und wa'
        >>> in_words("truncated", {"count": 1, "given": 1263}, "de")[:40]
        '1 von 1.263 Antworten bricht ab, und was'
    """
    shown = {}
    for name, value in values.items():
        if isinstance(value, dict):
            parts = value.get("values")
            if not isinstance(parts, dict) or any(
                isinstance(part, dict) for part in parts.values()
            ):
                raise ValueError(f"{name} is no part of a message")
            value = in_words(value.get("key", ""), parts, language)  # noqa: PLW2901
        shown[name] = "" if value is None else value
    try:
        return _TEXTS.text(key, language, **shown)
    except (KeyError, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"no message {key!r} of {', '.join(values)}") from error


def people_in_words(people: Ceiling, language: str = "en") -> str:
    """Return the figure that people reach against each other, in one line.

    Args:
        people: from the benchmark.
        language: same as in `in_words`.

    Example:
        >>> ends = (0.93, 0.98)
        >>> people_in_words(
        ...     Ceiling(headline="f1", value=0.96, interval=ends, annotators=2, items=20)
        ... )
        'people: 0.960 (0.930 to 0.980), 2 annotators, 20 items'
    """
    low, high = people.interval or (None, None)
    values = {"value": people.value, "annotators": people.annotators, "count": people.items}
    if low is None:
        return in_words("people_few", values, language)
    return in_words("people", {**values, "low": low, "high": high}, language)


def id_messages(renamed: Mapping[str, str]) -> list[WarningText]:
    """Return the message about ids that differ from the benchmark's, if there are any.

    Args:
        renamed: the benchmark's id → the file's.
    """
    return [
        message("ids", count=len(renamed), written=repr(written), id=repr(item))
        for item, written in islice(renamed.items(), 1)
    ]


def in_language(warning: RunWarning, language: str, titles: Titles = str) -> Told:
    """Return a warning in a language.

    Args:
        warning: the warning.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title, before which the path is shown too, as in a prompt.
    """
    values = dict(warning.text["values"])
    for name in ("field", "list"):
        if isinstance(path := values.get(name), str) and titles(path) != path:
            values[name] = f"{titles(path)} ({path})"
    without = values.get("without")
    if isinstance(without, dict) and "headline" in (figures := without["values"]):
        headline = figure_title(str(figures["headline"]), language)
        values["without"] = without | {"values": figures | {"headline": headline}}
    return Told(in_words(warning.text["key"], values, language), language)
