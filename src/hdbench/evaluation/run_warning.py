"""What a warning on a run says."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from hdbench.results.drafts import own_drafts
from hdbench.results.result import Result
from hdbench.results.warning_texts import Message, in_words, message

Kind = Literal[
    "ids",
    "drafted",
    "partial",
    "unparsable",
    "no_record",
    "several_records",
    "truncated",
    "too_many_items",
    "same_input_tokens",
    "repeated_answer",
    "no_shared_field",
    "wrong_field",
    "organisations",
]


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
        """What it says, in one line of English."""
        return in_words(**self.said)

    def to_dict(self) -> dict[str, Any]:
        """The warning as JSON data."""
        about = {"count": self.count, "of": self.of, "ids": self.ids}
        return {"kind": self.kind, "message": self.message, **self.said, **about}


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
