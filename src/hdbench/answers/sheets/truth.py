"""Ground truths as a source has them, before they meet their items."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Truth(NamedTuple):
    """One item's ground truth as a source has it.

    Attributes:
        place: where it stands, for messages: `wahrheit.csv:12`, `wahrheit.xlsx: Tabelle1, row 12`,
            `truth.jsonl:4` or `b12.json`.
        key: what says which item it belongs to, an id or a file's name; None if nothing does.
        record: the ground truth; None if the source has the item but says nothing about it.
    """

    place: str
    key: str | None
    record: dict[str, Any] | None


@dataclass(frozen=True)
class Truths:
    """The ground truths of a source.

    Attributes:
        truths: in the source's order.
        notes: what was assumed, one line each, for a person to check.
    """

    truths: list[Truth]
    notes: list[str]
