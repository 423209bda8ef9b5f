"""Search for a field that answers and ground truth have in common."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from hdbench.answers.answer import Answer
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.items import ScoredItem

MAX_NAMES = 10
"""Maximum number of names that are kept of either side; these are shown."""

MAX_TEXT = 100_000
"""Maximum number of characters of an answer that is not a record and whose fields are looked at."""

MAX_NODES = 200
"""Maximum number of objects, and of fields in one, that are looked at in an answer."""

EXAMPLES = 5
"""Maximum number of ids that are named."""

_NAME = 60
_INDEX = re.compile(r"\[\d*\]")


class SharedFields:
    """Names of fields in answers, until one has a field of the ground truth."""

    def __init__(self) -> None:
        self._is_shared = False
        self._count = 0
        self._written: dict[str, None] = {}
        self._expected: dict[str, None] = {}
        self._names: set[str] = set()

    def add(self, answer: Answer, scored: ScoredItem) -> None:
        """Take the names of fields in an answer, unless it is not an object, or an empty one."""
        if self._is_shared:
            return
        record = scored.answer.prediction if scored.coverage == "answered" else None
        if answer.kind == "other":  # an object without any of the schema's fields is not a record
            record = _value(scored.answer.prediction)
        if not isinstance(record, dict) or not record:
            return
        self._is_shared = any(
            match.outcome in ("correct", "substituted") for match in scored.matches
        )
        self._count += 1
        for match in scored.matches:
            if match.outcome == "missing":
                field = _INDEX.sub("", match.field)
                _keep(self._expected, field)
                self._names.update(field[:_NAME].split("."))
                self._is_shared |= field in record  # a list, none of whose entries has a partner
        for name in _names_in(record):
            self._is_shared |= name in self._names
            _keep(self._written, name)

    def check(self, place: object, answers: int) -> None:
        """Refuse answers that share no field with the ground truth: their score says nothing.

        Args:
            place: what messages call the answers.
            answers: the number that were looked at; half of them must be objects.

        Raises:
            HdbenchError: they share none.
        """
        if self._is_shared or 2 * self._count <= answers or not self._expected:
            return
        raise HdbenchError(
            "{place}: the answers share no field with the ground truth: they have {written}, and "
            "the ground truth has {expected}: are these the answers to this benchmark, and does "
            "the prompt name its fields?",
            place=place,
            written=escaped(", ".join(self._written)),
            expected=escaped(", ".join(self._expected)),
        )


def _names_in(record: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the fields that hold no further ones, at any depth."""
    waiting: list[Any] = [record]
    for _ in range(MAX_NODES):
        if not waiting:
            return
        node = waiting.pop()
        for name, value in islice(node.items(), MAX_NODES):
            values = value if isinstance(value, list) else [value]
            inner = [item for item in islice(values, MAX_NODES) if item and isinstance(item, dict)]
            waiting += inner
            if not inner:
                yield name


def _keep(names: dict[str, None], name: str) -> None:
    if len(names) < MAX_NAMES:
        names[name[:_NAME]] = None


def _value(text: Any) -> Any:
    """Return the JSON value of a text that is not too long; None if it is not JSON."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None
