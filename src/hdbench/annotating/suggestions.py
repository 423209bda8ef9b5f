"""Values already given in a field, to choose from while typing."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

MAX_SUGGESTED = 300
"""Maximum number of values suggested for a field, the most frequent first."""

MAX_LENGTH = 120
"""A longer text is hardly ever given twice."""

_NUMBER = re.compile(r"\[\d+\]")


class Suggestions:
    """The values of each field, such as `persons[].name`, and how often they were given."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, value: Any, field: str = "") -> None:
        """Count the values in a record, or in a part of one.

        Args:
            value: the record or part.
            field: where it stands, such as `persons[0]`.

        Example:
            >>> suggestions = Suggestions()
            >>> suggestions.add({"persons": [{"name": "Frey"}, {"name": "Vischer"}]})
            >>> suggestions.add("Vischer", "persons[0].name")
            >>> suggestions.of("persons[2].name")
            ['Vischer', 'Frey']
        """
        for path, text in _texts(value, _NUMBER.sub("[]", field)):
            self._counts[path][text] += 1

    def of(self, field: str) -> list[str]:
        """The values given in a field, the most frequent first."""
        counts = self._counts.get(_NUMBER.sub("[]", field), Counter[str]())
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return [text for text, _ in ranked[:MAX_SUGGESTED]]


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, f"{path}[]")
    elif isinstance(value, str) and value and len(value) <= MAX_LENGTH and "\n" not in value:
        yield path, value
