"""Columns of a table, and the fields that they go to."""

from dataclasses import dataclass

from hdbench.answers.sheets.fields import Kind
from hdbench.errors import Message


@dataclass(frozen=True)
class Column:
    """A column of a table, and the field that it goes to.

    Attributes:
        title: its name in the table.
        path: where its values go in the record, as `FieldPath.path` has it; None if it is not used.
        kind: what its cells are read as.
        key: whether it names the item.
        separator: what divides the texts of a list.
        example: one of its values.
        why: the reason for this proposal, for a person to check.
        nullable: whether a blank cell becomes null, if it is not text or a list; otherwise the
            record lacks the field.
    """

    title: str
    path: str | None
    kind: Kind
    key: bool
    separator: str | None
    example: str
    why: str
    nullable: bool = True

    def in_short(self) -> Message:
        """Return the column and what becomes of it, for a list of columns."""
        becomes = "id" if self.key else self.path
        if self.separator is None:
            return Message("{column} → {becomes}", column=self.title, becomes=becomes)
        return Message(
            "{column} → {becomes} (divided by {separator!r})",
            column=self.title,
            becomes=becomes,
            separator=self.separator,
        )

    @property
    def read_as(self) -> Message:
        """Return how its cells are read, for a person."""
        if self.separator is None:
            return Message(self.kind)
        return Message("list, divided by {separator!r}", separator=self.separator)
