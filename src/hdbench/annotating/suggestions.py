"""Values to choose from while typing: those already given in a field, then its authority's."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from hdbench.annotating.authorities import Authority, Suggested, folded

MAX_SUGGESTED = 50
"""Maximum number of values that are suggested at a time."""

MAX_LENGTH = 120
"""A longer text is hardly ever given twice."""

_NUMBER = re.compile(r"\[\d+\]")


class Suggestions:
    """The values of each field, such as `persons[].name`, and how often they were given.

    Args:
        authorities: field → what else it may be.
    """

    def __init__(self, authorities: Mapping[str, Authority] | None = None) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._authorities = authorities or {}

    def add(self, value: Any, field: str = "") -> None:
        """Count the values in a record, or in a part of one.

        Args:
            value: the record or part.
            field: where it stands, such as `persons[0]`.

        Example:
            >>> suggestions = Suggestions()
            >>> suggestions.add({"persons": [{"name": "Frey"}, {"name": "Vischer"}]})
            >>> suggestions.add("Vischer", "persons[0].name")
            >>> [each.value for each in suggestions.of("persons[2].name", "")]
            ['Vischer', 'Frey']
        """
        for path, text in _texts(value, _NUMBER.sub("[]", field)):
            self._counts[path][text] += 1

    def of(self, field: str, typed: str) -> list[Suggested]:
        """The values with a text in them: those given, the most frequent first, then others.

        Args:
            field: where it is typed.
            typed: what is there so far.
        """
        path, wanted = _NUMBER.sub("[]", field), folded(typed)
        given = [each for each in self._counts.get(path, {}).items() if wanted in folded(each[0])]
        given.sort(key=lambda each: (not folded(each[0]).startswith(wanted), -each[1], each[0]))
        found = {text: Suggested(text) for text, _ in given[:MAX_SUGGESTED]}
        if path in self._authorities:
            # Some of them may have been given already.
            for each in self._authorities[path].find(typed, MAX_SUGGESTED):
                found[each.value] = each
        return list(found.values())[:MAX_SUGGESTED]


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, f"{path}[]")
    elif isinstance(value, str) and value and len(value) <= MAX_LENGTH and "\n" not in value:
        yield path, value
