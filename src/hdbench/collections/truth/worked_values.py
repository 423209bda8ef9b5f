"""The values that people decided on a work list."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from hdbench.collections.truth.events import ValueKey, WorkedValue
from hdbench.collections.truth.people import People


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
        """Return the last decision on each value, whoever made it."""
        return MappingProxyType(self._current)

    def add(self, lines: Sequence[WorkedValue]) -> None:
        """Keep decisions of one person; when this returns they are on disk.

        Call it with the person's lock.

        Args:
            lines: the decisions.

        Raises:
            NotSavedError: they cannot be written now; then nothing is.
            HdbenchError: one is not JSON or too long, or the person's file is unusable.
        """
        self.people.append(lines)
        self.refresh()

    def _take_in(self) -> None:
        self._known = self.people.numbers()
        lines = [line for line in self.people.of_kind(WorkedValue) if line.list == self._list]
        lines.sort(key=lambda line: (line.at, line.by, line.number))
        self._current = {line.key: line for line in lines}
