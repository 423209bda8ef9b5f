"""Readings of single values, and stages of them."""

import uuid

from hdbench.collections.truth.events import Reading, ValueKey, now

PLAN = "0" * 64


def key(item, field="title"):
    return ValueKey(item, field)


def reading(item, by, value, *, what="value", field="title", plan=PLAN, stage="learn"):
    made = {"plan": plan, "stage": stage, "by": by, "at": now(), "seconds": 2.5}
    key = {"id": uuid.uuid4().hex, "item": item, "field": field}
    return Reading(**key, **made, what=what, value=value)
