"""The values that people decided on a work list."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hdbench.annotating.events import ValueKey, WorkedValue
from hdbench.annotating.people import People


class WorkedValues:
    """All decisions on a work list that are on disk.

    Args:
        folder: the collection or the dataset.
        list_: sha256 of the values that the list is about.

    Attributes:
        people: what people did there.

    Raises:
        HdbenchError: what people did cannot be used.
    """

    def __init__(self, folder: Path, list_: str) -> None:
        self.people = People(folder)
        self._list = list_
        self._known: dict[str, int] = {}
        self._take_in()

    def refresh(self) -> None:
        """Read what others have decided since.

        Raises:
            HdbenchError: what people did cannot be used.
        """
        self.people.refresh()
        if self._known != self.people.numbers():
            self._take_in()

    def current(self) -> Mapping[ValueKey, WorkedValue]:
        """Return the last decision on each value that is not undone, whoever made it."""
        return MappingProxyType(self._current)

    def last_of(self, person: str) -> WorkedValue | None:
        """Return a person's last decision that is in force; None without one."""
        made = (line for line in reversed(self._valid) if line.by == person)
        return next((line for line in made if self._current.get(line.key) is line), None)

    def add(self, lines: Sequence[WorkedValue]) -> None:
        """Keep decisions of one person, all or none of them; when this returns they are on disk.

        Call it with the person's lock.

        Args:
            lines: one line, or all lines of one group.

        Raises:
            NotSavedError: they cannot be written now; then nothing is.
            HdbenchError: one is not JSON or too long, or the person's file is unusable.
        """
        self.people.append(lines)
        self.refresh()

    def _take_in(self) -> None:
        self._known = self.people.numbers()
        lines = [line for line in self.people.of_kind(WorkedValue) if line.list == self._list]
        undone = {line.undoes for line in lines if line.undoes}
        made = (
            line
            for line in _whole(lines)
            if line.what == "value" and not {line.id, line.group} & undone
        )
        self._valid = sorted(made, key=lambda line: (line.at, line.by, line.number))
        self._current = {line.key: line for line in self._valid}


class _Group(NamedTuple):
    """Lines of one person that were written at once, as far as they were read."""

    id: str | None
    lines: list[WorkedValue]


def _whole(lines: Sequence[WorkedValue]) -> list[WorkedValue]:
    """Return the lines without groups that were not written to their end."""
    whole: list[WorkedValue] = []
    begun = _Group(None, [])
    for line in lines:
        if line.group is None:
            whole.append(line)
            continue
        if begun.id != line.group:
            begun = _Group(line.group, [])
        begun.lines.append(line)
        if len(begun.lines) == line.group_size:
            whole += begun.lines
    return whole
