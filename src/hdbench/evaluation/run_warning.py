"""What a warning on a run says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from hdbench.results.drafts import own_drafts
from hdbench.results.result import Result
from hdbench.results.warning_texts import Message, in_words, message

Kind = Literal[
    "no_shared_field",
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
        kind: what it is about.
        said: what was seen, what it can mean, and what to do.
        count: in how many items or values it was seen.
        of: among how many.
        ids: the first items that show it.
    """

    kind: Kind
    said: Message
    count: int
    of: int
    ids: list[str]

    @property
    def message(self) -> str:
        """Return what it says, in one line of English."""
        return in_words(**self.said)

    def to_dict(self) -> dict[str, Any]:
        """The warning as JSON data."""
        about = {"count": self.count, "of": self.of, "ids": self.ids}
        return {"kind": self.kind, "message": self.message, **self.said, **about}


def gravest_first(warnings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A record's warnings by the order of `Kind`, and as they were within a kind.

    Example:
        >>> [each["kind"] for each in gravest_first([{"kind": "ids"}, {"kind": "partial"}])]
        ['partial', 'ids']
    """
    kinds: tuple[str, ...] = get_args(Kind)
    place = {kind: number for number, kind in enumerate(kinds)}
    return sorted(warnings, key=lambda each: place.get(each.get("kind", ""), len(kinds)))


def with_draft_warning(result: Result) -> Result:
    """A result that warns if its ground truths were made from drafts of its own model.

    Call it whenever the model's name is known, or another one.
    """
    others = [each for each in result.reading["warnings"] if each["kind"] != "drafted"]
    count, of = own_drafts(result), len(result.ids)
    if count:
        told = message("drafted", count=count, items=of)
        others.insert(0, RunWarning("drafted", told, count, of, []).to_dict())
    return replace(result, reading={**result.reading, "warnings": others})
