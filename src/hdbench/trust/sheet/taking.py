"""Taking in what a work sheet says: what it would change, and whose work it contradicts."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.annotating.own_file import now
from hdbench.annotating.working.worked_values import WorkedValue
from hdbench.trust.sheet.reading import FilledRow


@dataclass
class SheetChanges:
    """What a work sheet would change.

    Attributes:
        new: values that nobody has worked off yet.
        corrected: values that the same person's sheet said otherwise before.
        known: how many values were worked off with the same outcome.
        conflicts: values that were worked off with another outcome: in the page, or by somebody
            else.
    """

    new: list[FilledRow] = field(default_factory=list)
    corrected: list[FilledRow] = field(default_factory=list)
    known: int = 0
    conflicts: list[tuple[FilledRow, WorkedValue]] = field(default_factory=list)

    def rows(self, *, overwrite: bool) -> list[FilledRow]:
        """Return the rows to take in.

        Args:
            overwrite: also those that conflict.
        """
        others = [row for row, _ in self.conflicts] if overwrite else []
        return [*self.new, *self.corrected, *others]


def changes_of(
    rows: Sequence[FilledRow], current: Mapping[ValueKey, WorkedValue], annotator: str
) -> SheetChanges:
    """Return what the rows of a sheet would change.

    Args:
        rows: the rows with a value.
        current: the decision on each value that was worked off.
        annotator: the pseudonym of whoever filled in the sheet.
    """
    changes = SheetChanges()
    for row in rows:
        before = current.get(row.key)
        if before is None:
            changes.new.append(row)
        elif _is_same(before, row):
            changes.known += 1
        elif before.by == annotator and before.how == "spreadsheet":
            changes.corrected.append(row)
        else:
            changes.conflicts.append((row, before))
    return changes


def _is_same(before: WorkedValue, row: FilledRow) -> bool:
    is_same_value = before.value == row.value and type(before.value) is type(row.value)
    return is_same_value and row.remark in ("", before.remark or "")


def as_decisions(rows: Sequence[FilledRow], annotator: str) -> list[WorkedValue]:
    """Return rows as decisions of one group, which count only together.

    Args:
        rows: the rows.
        annotator: the pseudonym of whoever filled in the sheet.
    """
    group, at = uuid.uuid4().hex, now()
    return [
        WorkedValue.model_validate(
            {
                "id": uuid.uuid4().hex,
                **row.key._asdict(),
                "by": annotator,
                "at": at,
                "what": "value",
                "value": row.value,
                "how": "spreadsheet",
                **({"run": row.run} if row.run is not None else {}),
                **({"remark": row.remark} if row.remark else {}),
                "group": group,
                "group_size": len(rows),
            }
        )
        for row in rows
    ]
