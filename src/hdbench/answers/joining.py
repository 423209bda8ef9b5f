"""One record from the several that an answer holds: joined if possible, otherwise the last."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from hdbench.answers.answer import Answer, Status
from hdbench.answers.schema import AnswerSchema
from hdbench.common.bounds import MAX_CHARACTERS, MAX_COMPARED

SAME = 80.0
"""Minimum similarity of two texts, 0 to 100, at which one is taken for a draft of the other."""

SEVERITY: dict[Status, int] = {"clean": 0, "unwrapped": 1, "repaired": 2, "truncated": 3}


def at_least(status: Status, answer: Answer) -> Answer:
    """Return an answer with the more serious of two statuses, or as it is without a record."""
    if SEVERITY.get(answer.status, 9) >= SEVERITY[status]:
        return answer
    return answer._replace(status=status)


class Joiner:
    """Joins the records of one answer, until too much has been compared.

    Args:
        schema: the form of the benchmark's answers.
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self.schema = schema
        self._to_compare = MAX_COMPARED

    def one(self, records: Sequence[Answer]) -> Answer:
        """Return the one record of several.

        Two records are joined if they do not say the same thing differently: other items of the
        list, other fields. If they do, the later one counts, unless it is only a part of a record.

        Args:
            records: at least one, in order.

        Returns:
            The record, with `set_aside` if one of them is not part of it.
        """
        with_content = [record for record in records if not is_blank(record.prediction)]
        one, *others = with_content or records
        if self.schema.list_of_objects is None:  # here a blank field is one of the record's
            one, *others = records
        singly = self._has_one_item(one.prediction)
        for record in others:
            if record.prediction == one.prediction:
                continue
            singly = singly and self._has_one_item(record.prediction)
            joined = self._joined(one.prediction, record.prediction, singly=singly)
            if joined is not None:
                status = at_least(one.status, record).status
                one = at_least("unwrapped", Answer(joined, status, None, one.set_aside))
            elif self._is_plausible(record, one):
                one = record._replace(set_aside=True)
            elif record.status != "truncated":  # otherwise it is the same again, and broke off
                one = one._replace(set_aside=True)
        return one

    def _has_one_item(self, record: dict[str, Any]) -> bool:
        name = self.schema.list_of_objects[0] if self.schema.list_of_objects else None
        items = record.get(name) if name else None
        return isinstance(items, list) and len(items) == 1

    def _is_plausible(self, record: Answer, other: Answer) -> bool:
        """Return whether a record is whole, or has at least half of what the other has."""
        fit, other_fit = self.schema.fit(record.prediction), self.schema.fit(other.prediction)
        if record.status == "truncated" != other.status:
            return fit > other_fit
        has_all = self.schema.list_of_objects is None and self.schema.has_required(
            record.prediction
        )
        return has_all or 2 * fit >= other_fit

    def _joined(
        self, one: dict[str, Any], other: dict[str, Any], *, singly: bool
    ) -> dict[str, Any] | None:
        """Return both as one record; None if they are about the same.

        Items that came one by one are each taken as a new item, however similar to another.
        """
        if self.schema.list_of_objects is None:
            comparison = _compared(one, other)
            about_the_same = comparison.both and not (comparison.one and comparison.other)
            return None if comparison.differ or about_the_same else _merged(one, other)
        name, _ = self.schema.list_of_objects
        items, more = one.get(name), other.get(name)
        if not isinstance(items, list) or not isinstance(more, list):
            return None
        is_next = singly and len(items) > 1
        return {name: [*items, *more]} if is_next or not self._is_draft(items, more) else None

    def _is_draft(self, items: list[Any], others: list[Any]) -> bool:
        """Return whether half of the shorter list's items or more are (nearly) in the other."""
        shorter, longer = sorted((items, others), key=len)
        self._to_compare -= len(shorter) * len(longer)
        if self._to_compare < 0:
            return False
        of_longer = [_main_text(item) for item in longer]
        same = sum(
            any(fuzz.ratio(text, other, score_cutoff=SAME) for other in of_longer)
            for text in map(_main_text, shorter)
        )
        return same * 2 >= len(shorter)


class _Compared(NamedTuple):
    """Numbers of values that only one or only the other has, or both, equal or different."""

    one: int = 0
    other: int = 0
    both: int = 0
    differ: int = 0

    def plus(self, more: "_Compared") -> "_Compared":
        return _Compared(*map(sum, zip(self, more, strict=True)))


def _compared(one: Any, other: Any) -> _Compared:
    if isinstance(one, dict) and isinstance(other, dict):
        total = _Compared()
        for key in one.keys() | other.keys():
            total = total.plus(_compared(one.get(key), other.get(key)))
        return total
    if is_blank(one) or is_blank(other):
        return _Compared(one=not is_blank(one), other=not is_blank(other))
    return _Compared(both=1) if one == other else _Compared(differ=1)


def is_blank(value: Any) -> bool:
    """Return whether there is nothing in it: null, "", `"null"`, or objects and lists of such."""
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    if isinstance(value, list):
        return all(map(is_blank, value))
    return value is None or (isinstance(value, str) and value.strip() in ("", "null"))


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = _merged(merged[key], value)
        elif key not in merged or not is_blank(value):
            merged[key] = value
    return merged


def _main_text(item: Any) -> str:
    """Return the longest text of an item."""
    values = item.values() if isinstance(item, dict) else [item]
    texts = (value for value in values if isinstance(value, str))
    return max(texts, key=len, default="")[:MAX_CHARACTERS]
