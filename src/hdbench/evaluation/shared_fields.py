"""Whether answers and ground truth have any field in common."""

import re
from itertools import islice
from typing import Any, NamedTuple

from hdbench.common.jsonio import parse_json
from hdbench.errors import escaped
from hdbench.reading.answer import Answer
from hdbench.results.items import ScoredItem

MAX_NAMES = 10
"""Maximum number of names that are kept of either side; these are shown."""

MAX_LOOKED_AT = 1_000
"""Maximum number of names in an answer that are looked at."""

MAX_TEXT = 100_000
"""Maximum number of characters of an answer that is no record, and whose fields are looked at."""

EXAMPLES = 5

_NAME = 60
_INDEX = re.compile(r"\[\d*\]")


class Apart(NamedTuple):
    """Answers that share no field with the ground truth.

    Attributes:
        objects: how many objects there were among the answers.
        ids: the first items with one.
        written: the names of fields in answers.
        expected: the names of fields in the ground truth.
    """

    objects: int
    ids: list[str]
    written: str
    expected: str


class SharedFields:
    """Looks at the answers one at a time, until one has a field of the ground truth."""

    def __init__(self) -> None:
        self._is_shared = False
        self._count = 0
        self._ids: list[str] = []
        self._written: dict[str, None] = {}
        self._expected: dict[str, None] = {}

    def add(self, answer: Answer, scored: ScoredItem) -> None:
        """Look at one answer."""
        if self._is_shared:
            return
        record = scored.candidate.prediction if scored.coverage == "answered" else None
        if answer.kind == "other":  # an object without any of the schema's fields is no record
            record = _value(scored.candidate.prediction)
        if not isinstance(record, dict) or not record:
            return
        self._count += 1
        if len(self._ids) < EXAMPLES:
            self._ids.append(answer.id)
        names = _names(record)
        for match in scored.matches:
            field = _INDEX.sub("", match.field)
            # A name alone is enough, at any depth: a list may be empty, a record wrapped.
            if match.outcome in ("correct", "substituted"):
                self._is_shared = True
            elif match.outcome == "missing":
                self._is_shared = self._is_shared or not names.isdisjoint(field.split("."))
                _keep(self._expected, field)
        for name in islice(record, MAX_NAMES):
            _keep(self._written, name)

    def apart(self, of: int) -> Apart | None:
        """What both sides have, if they share no field.

        Args:
            of: how many answers were looked at; half of them must be objects.
        """
        if self._is_shared or 2 * self._count <= of or not self._expected:
            return None
        written, expected = (escaped(", ".join(each)) for each in (self._written, self._expected))
        return Apart(self._count, self._ids, written, expected)


def _names(record: dict[str, Any]) -> set[str]:
    """The names of the fields of an answer, at any depth."""
    names: set[str] = set()
    waiting: list[Any] = [record]
    while waiting and len(names) < MAX_LOOKED_AT:
        node = waiting.pop()
        if isinstance(node, dict):
            names |= node.keys()
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node[:MAX_NAMES]
    return names


def _keep(names: dict[str, None], name: str) -> None:
    if len(names) < MAX_NAMES:
        names[name[:_NAME]] = None


def _value(text: Any) -> Any:
    """The JSON value of a text that is not too long; None if it is not JSON."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None
