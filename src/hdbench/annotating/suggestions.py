"""Suggestions while typing: values already entered in a field, then those of its authority."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hdbench.answers.csv_lines import at_most, lines
from hdbench.answers.encodings import decode
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_LINES = 1_000_000
"""Maximum number of lines of an authority file."""

MAX_BYTES = 64 * 2**20
"""Maximum size of an authority file, so that it can be searched between two keystrokes."""

MAX_VALUE = 500
"""Maximum number of characters of a value and its identifier."""

MAX_CELL = 2**20
"""Maximum number of characters in any other cell."""

_LOADED = 8  # authorities that are kept for further editors
_FIRST = 20  # rows by which the delimiter is recognised


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
        self._values = _Lines("\n".join(values))
        self._identifiers = _Lines("\n".join(values.values()))
        self._folded = _Lines(folded("\n".join(values)))

    def find(self, typed: str, at_most: int) -> list[Suggested]:
        """Return the values that begin with a text, then those that contain it elsewhere."""
        wanted = folded(typed)
        if "\n" in wanted:
            return []
        numbers = list(islice(self._folded.find(wanted), at_most))
        if len(numbers) < at_most:
            numbers.sort(key=lambda number: not self._folded[number].startswith(wanted))
        else:  # then values that begin with it may come later
            beginning = islice(self._folded.find(f"\n{wanted}"), at_most)
            numbers = list(dict.fromkeys([*beginning, *numbers]))[:at_most]
        return [Suggested(self._values[number], self._identifiers[number]) for number in numbers]


class _Lines:
    """Many short texts in little memory, searched all at once."""

    def __init__(self, text: str) -> None:
        self._data = f"\n{text}\n".encode()
        self._breaks = np.flatnonzero(np.frombuffer(self._data, np.uint8) == ord("\n"))

    def __getitem__(self, number: int) -> str:
        return self._data[self._breaks[number] + 1 : self._breaks[number + 1]].decode()

    def find(self, wanted: str) -> Iterator[int]:
        """Yield the numbers of the lines that contain a text; lines begin with a line break."""
        sought = wanted.encode(errors="replace")
        position, last = self._data.find(sought), len(self._breaks) - 1
        while position >= 0:
            number = int(np.searchsorted(self._breaks, position, side="right")) - 1
            if number == last:
                return
            yield number
            position = self._data.find(sought, self._breaks[number + 1])


def folded(text: str) -> str:
    """Return a text for comparison: in NFC and case-folded."""
    return unicodedata.normalize("NFC", text.casefold())


def read_authorities(
    folder: Path, files: Mapping[str, str], fields: Iterable[str]
) -> dict[str, Authority]:
    """Return the authority of each field that has one.

    Args:
        folder: the collection.
        files: field → file in the folder, as in `annotation.yaml`.
        fields: the fields of the collection, such as `persons[].name`.

    Raises:
        HdbenchError: there is no such field, or a file is unusable or not in the folder.
    """
    names = list(fields)
    authorities = {}
    for field, name in files.items():
        if field not in names:
            raise HdbenchError(
                "annotation.yaml: authorities: {field!r}: no such field: choose one of {names}",
                field=field[:100],
                names=", ".join(names),
            )
        try:
            path = (folder / name).resolve()
        except ValueError as error:
            raise HdbenchError(
                "annotation.yaml: authorities: {name!r}: {why}", name=name, why=error
            ) from error
        if not path.is_relative_to(folder.resolve()):
            raise HdbenchError(
                "annotation.yaml: authorities: {name}: not in the folder {folder}",
                name=name,
                folder=folder,
            )
        with read_errors(path):
            stat = path.stat()
            authorities[field] = _loaded(path, stat.st_mtime_ns, stat.st_size)
    return authorities


@lru_cache(maxsize=_LOADED)
def _loaded(path: Path, _changed: int, size: int) -> Authority:
    """Return the authority in a file; a changed file has another time and is read again."""
    if size > MAX_BYTES:
        raise HdbenchError("{place}: larger than {most} MiB", place=path, most=MAX_BYTES >> 20)
    text = unicodedata.normalize("NFC", decode(path.read_bytes(), str(path)))
    with at_most(MAX_CELL):
        return Authority(_values(_rows(text, path), path))


def _values(rows: Iterable[tuple[int, Sequence[str]]], path: Path) -> dict[str, str]:
    """Return value → identifier."""
    values: dict[str, str] = {}
    for number, cells in rows:
        if number > MAX_LINES:
            raise HdbenchError("{place}: more than {most:,} lines", place=path, most=MAX_LINES)
        value, identifier = cells[0].strip(), cells[1].strip() if len(cells) > 1 else ""
        if len(value) + len(identifier) > MAX_VALUE or "\n" in value or "\n" in identifier:
            raise HdbenchError(
                "{place}:{number}: several lines in a cell, or more than {most} characters",
                place=path,
                number=number,
                most=MAX_VALUE,
            )
        if value:
            values.setdefault(value, identifier)
    if not values:
        raise HdbenchError("{place}: has no values", place=path)
    return values


def _rows(text: str, path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Return the number and the cells of each line."""
    if path.suffix.lower() != ".csv":
        return enumerate(zip(text.removesuffix("\n").split("\n")), 1)

    def divided(delimiter: str) -> int:
        with suppress(HdbenchError):
            return sum(len(cells) > 1 for _, cells in islice(lines(text, delimiter, ""), _FIRST))
        return 0

    # Names contain commas, so commas come last.
    return lines(text, max("\t;,", key=divided), str(path))


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
        path, wanted = _NUMBER.sub("[]", field), folded(typed)
        counts = self._counts.get(path, Counter())
        entered = [text for text in counts if wanted in folded(text)]
        entered.sort(key=lambda text: (not folded(text).startswith(wanted), -counts[text], text))
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
