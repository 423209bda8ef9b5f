"""Decisions on values of a work list."""

import uuid

from hdbench.annotating.own_file import now
from hdbench.annotating.working.worked_values import WorkedValue


def decision(item, value, *, by="anna", field="title", how="typed", **more):
    return WorkedValue(
        id=uuid.uuid4().hex,
        item=item,
        field=field,
        by=by,
        at=now(),
        what="value",
        value=value,
        how=how,
        **more,
    )


def group_of(*values, by="anna"):
    """Decisions made at once, each for an item and a value."""
    group = uuid.uuid4().hex
    return [
        decision(item, value, by=by, group=group, group_size=len(values)) for item, value in values
    ]


def undo(line, target, by="anna"):
    made = {"id": uuid.uuid4().hex, "item": line.item, "field": line.field, "by": by}
    return WorkedValue(**made, at=now(), what="undo", undoes=target)
