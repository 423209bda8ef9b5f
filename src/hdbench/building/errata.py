"""Reviewed corrections of published truths: never silent, and nothing published is lost."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from hdbench.benchmark import Strict
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import AS_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hdbench.building.recipe import Row

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+|\*)\]")


class Exclusion(Strict):
    """An item of the source that is left out, and why."""

    id: str
    reason: str


class Correction(Strict):
    """A value of a truth that was published wrongly.

    Attributes:
        id: the item; `*` for every item that has the wrong value.
        field: its path, `advertisements[3].date`; `[*]` stands for every item of a list.
        old: the published value; null where the field is absent.
        new: the right one; null takes the field away.
        reason: why, for the card.
    """

    id: str
    field: str
    old: Any
    new: Any
    reason: str


class Errata(Strict):
    """What `errata.yaml` says."""

    exclude: tuple[Exclusion, ...] = ()
    corrections: tuple[Correction, ...] = ()

    def apply(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows without the excluded ones, and the others corrected.

        A corrected truth keeps the published one under `as_published`.

        Raises:
            HdbenchError: something excluded or corrected is not in the source.
        """
        excluded = {item.id for item in self.exclude}
        unused = dict(enumerate(self.corrections))
        for row in rows:
            if row.id in excluded:
                excluded.remove(row.id)
                continue
            truth = copy.deepcopy(row.ground_truth)
            for number, correction in enumerate(self.corrections):
                if correction.id in {row.id, "*"} and _correct(truth, correction):
                    unused.pop(number, None)
            if truth == row.ground_truth:
                yield row
            else:
                yield row._replace(ground_truth={**truth, AS_PUBLISHED: row.ground_truth})
        if excluded:
            raise HdbenchError(
                f"errata.yaml: excludes {min(excluded)!r}, which is not in the source"
            )
        for correction in unused.values():
            raise HdbenchError(
                f"errata.yaml: {correction.id} {correction.field}: "
                f"nothing in the source is {correction.old!r} there"
            )


def _correct(truth: Any, correction: Correction) -> bool:
    """Correct a truth in place; False if the wrong value is not in it."""
    steps: list[str | int | None] = [
        key or (None if index == "*" else int(index))
        for key, index in _STEP.findall(correction.field)
    ]
    *path, last = steps
    holders = [truth]
    for step in path:
        holders = [child for holder in holders for child in _children(holder, step)]
    found = False
    for holder in holders:
        if (
            isinstance(holder, dict)
            and isinstance(last, str)
            and holder.get(last) == correction.old
        ):
            found = True
            if correction.new is None:
                holder.pop(last, None)
            else:
                holder[last] = correction.new
    return found


def _children(holder: Any, step: str | int | None) -> list[Any]:
    """The values that a step of a path leads to."""
    if isinstance(holder, dict) and isinstance(step, str):
        return [holder[step]] if step in holder else []
    if isinstance(holder, list) and step is None:
        return holder
    if isinstance(holder, list) and isinstance(step, int):
        return holder[step : step + 1]
    return []
