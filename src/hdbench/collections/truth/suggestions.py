"""Suggestions while typing: values already entered in a field, then those of its authority."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import RootModel

from hdbench.benchmarks.authority_files import read_authority_lines
from hdbench.common.files import file_in
from hdbench.common.validation import read_yaml, validate
from hdbench.errors import HdbenchError

AUTHORITIES = "authorities.yaml"
"""The file in a collection's folder with a line `FIELD: FILE` for each field whose values are
suggested from an authority file. It is never published."""


class Suggested(NamedTuple):
    """A value to choose.

    Attributes:
        value: the value to enter.
        identifier: its identifier, which is shown but not entered; empty if there is none.
    """

    value: str
    identifier: str = ""


class Authority:
    """The values of an authority file, in its order.

    Args:
        values: value → identifier, which may be empty.

    Example:
        >>> authority = Authority({"Müller, Karl": "118585053", "Frey": "", "Karlsruhe": ""})
        >>> [suggested.value for suggested in authority.find("karl", 50)]
        ['Karlsruhe', 'Müller, Karl']
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = list(values.items())
        self._folded = list(map(case_folded, values))

    def find(self, typed: str, at_most: int) -> list[Suggested]:
        """Return the values that begin with a text, then those that contain it elsewhere."""
        wanted = case_folded(typed)
        begin = (n for n, text in enumerate(self._folded) if text.startswith(wanted))
        contain = (n for n, text in enumerate(self._folded) if text.find(wanted) > 0)
        return [Suggested(*self._values[n]) for n in islice(chain(begin, contain), at_most)]


def case_folded(text: str) -> str:
    """Return a text for comparison: in NFC and case-folded."""
    return unicodedata.normalize("NFC", text.casefold())


class _Files(RootModel[dict[str, str]]):
    """Content of `authorities.yaml`: field → file in the folder."""


def read_authorities(folder: Path, fields: Iterable[str]) -> dict[str, Authority]:
    """Return the authority of each field that has one.

    Args:
        folder: the collection.
        fields: the fields of the collection, such as `persons[].name`.

    Raises:
        HdbenchError: there is no such field, or a file is unusable or not in the folder.
    """
    names, authorities, path = list(fields), dict[str, Authority](), folder / AUTHORITIES
    files = validate(_Files, read_yaml(path) or {}, path).root if path.is_file() else {}
    for field, name in files.items():
        if field not in names:
            raise HdbenchError(
                "authorities.yaml: {field!r}: no such field: choose one of {names}",
                field=field[:100],
                names=", ".join(names),
            )
        values: dict[str, str] = {}
        for line in read_authority_lines(file_in(folder, name)):
            values.setdefault(line.value, line.identifier)
        authorities[field] = Authority(values)
    return authorities


MAX_SUGGESTED = 50
"""Maximum number of values that are suggested at a time."""

MAX_LENGTH = 120
"""Maximum number of characters in a value that is suggested; longer ones hardly ever recur."""

_NUMBER = re.compile(r"\[\d+\]")


class Suggestions:
    """The values of each field, such as `persons[].name`, and how often they were entered.

    Args:
        authorities: field → its authority.
    """

    def __init__(self, authorities: Mapping[str, Authority] | None = None) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._authorities = authorities or {}

    def add(self, value: Any, field: str = "") -> None:
        """Count the values in a record, or in a part of one.

        Args:
            value: the record or part.
            field: the path of the part, such as `persons[0]`.

        Example:
            >>> suggestions = Suggestions()
            >>> suggestions.add({"persons": [{"name": "Frey"}, {"name": "Vischer"}]})
            >>> suggestions.add("Vischer", "persons[0].name")
            >>> [suggested.value for suggested in suggestions.of("persons[2].name", "")]
            ['Vischer', 'Frey']
        """
        for path, text in _texts(value, _NUMBER.sub("[]", field)):
            self._counts[path][text] += 1

    def of(self, field: str, typed: str) -> list[Suggested]:
        """Return values that contain a text: entered ones, the most frequent first, then others.

        Args:
            field: the path of the field.
            typed: the text typed so far.
        """
        path, wanted = _NUMBER.sub("[]", field), case_folded(typed)
        counts = self._counts.get(path, Counter())
        entered = [text for text in counts if wanted in case_folded(text)]
        entered.sort(
            key=lambda text: (not case_folded(text).startswith(wanted), -counts[text], text)
        )
        values = {text: Suggested(text) for text in entered[:MAX_SUGGESTED]}
        if path in self._authorities:
            # Some of them may have been entered already.
            for suggested in self._authorities[path].find(typed, MAX_SUGGESTED):
                values[suggested.value] = suggested
        return list(values.values())[:MAX_SUGGESTED]


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, f"{path}[]")
    elif isinstance(value, str) and value and len(value) <= MAX_LENGTH and "\n" not in value:
        yield path, value
