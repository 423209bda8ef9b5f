"""Values of an authority file that contain what somebody types."""

import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np


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
        self._folded = _Lines(case_folded("\n".join(values)))

    def find(self, typed: str, at_most: int) -> list[Suggested]:
        """Return the values that begin with a text, then those that contain it elsewhere."""
        wanted = case_folded(typed)
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


def case_folded(text: str) -> str:
    """Return a text for comparison: in NFC and case-folded."""
    return unicodedata.normalize("NFC", text.casefold())
