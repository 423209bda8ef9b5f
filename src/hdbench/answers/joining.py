"""One record from the several that an answer holds: joined if possible, otherwise the last."""

from collections.abc import Sequence
from typing import Any

from rapidfuzz import fuzz

from hdbench.answers.answer import Answer, Status
from hdbench.answers.schema import AnswerSchema, leaves_of
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
        filled = [record for record in records if any(leaves_of(record.prediction))]
        one, *others = records = (self.schema.list_of_objects and filled) or records
        # Items that came one by one are each taken as a new item, however similar to another.
        name, _ = self.schema.list_of_objects or ("", {})
        lists = [record.prediction.get(name) for record in records]
        singly = all(isinstance(items, list) and len(items) == 1 for items in lists)
        for record in others:
            if record.prediction == one.prediction:
                continue
            joined = self._joined(one.prediction, record.prediction, singly=singly)
            if joined is not None:
                status = at_least(one.status, record).status
                one = at_least("unwrapped", Answer(joined, status, None, one.set_aside))
            elif self._is_plausible(record, one):
                one = record._replace(set_aside=True)
            elif record.status != "truncated":  # otherwise it is the same again, and broke off
                one = one._replace(set_aside=True)
        return one

    def _is_plausible(self, record: Answer, other: Answer) -> bool:
        """Return whether a record is whole, or has at least half of what the other has."""
        fit, other_fit = self.schema.fit(record.prediction), self.schema.fit(other.prediction)
        if record.status == "truncated" != other.status:
            return fit > other_fit
        return 2 * fit >= other_fit

    def _joined(
        self, one: dict[str, Any], other: dict[str, Any], *, singly: bool
    ) -> dict[str, Any] | None:
        """Return both as one record; None if they are about the same."""
        if self.schema.list_of_objects is None:
            has, adds = dict(leaves_of(one)), dict(leaves_of(other))
            differ = any(has[path] != adds[path] for path in has.keys() & adds.keys())
            return None if differ else _merged(one, other)
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


def _merged(one: Any, other: Any) -> Any:
    """Return the values of both; of two that are no objects the second, unless it is blank."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {key: _merged(one.get(key), value) for key, value in other.items()}
    return other if any(leaves_of(other)) or one is None else one


def _main_text(item: Any) -> str:
    """Return the longest text of an item."""
    values = item.values() if isinstance(item, dict) else [item]
    texts = (value for value in values if isinstance(value, str))
    return max(texts, key=len, default="")[:MAX_CHARACTERS]
