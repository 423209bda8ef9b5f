"""The values that people decided on a work list, in one file to which all of them append."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.annotating.shared_file import SharedFile, check_author
from hdbench.common.checked import Strict, unfit
from hdbench.errors import Message

WORKED_VALUES = "worked-values.jsonl"
"""File in a folder of `hdbench trust apply`. It is never published."""

Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]

How = Literal["candidate", "typed", "nothing", "table"]
"""Where a value is from: a run, the keyboard, the decision that there is none, or a table."""


class WorkedValue(Strict):
    """What one person decided of a value, or that a decision is undone.

    Attributes:
        id: 32 hexadecimal digits.
        item: the item's id; of the first value if a group is undone.
        field: the field's path.
        by: the person's pseudonym.
        at: the time in UTC.
        what: `value` for a decision, `undo` if one is undone.
        value: the value; None if it is not on the card.
        how: where the value is from.
        run: the run whose value was taken.
        group: what the decisions have in common that were made at once, and are undone together.
        group_size: how many these are; their lines stand together.
        undoes: the `id` or `group` that is undone.
    """

    id: Id
    item: str
    field: str
    by: str
    at: str
    what: Literal["value", "undo"]
    value: Any = None
    how: How | None = None
    run: str | None = None
    group: Id | None = None
    group_size: Annotated[int, Field(ge=1)] | None = None
    undoes: Id | None = None

    @property
    def key(self) -> ValueKey:
        """Return the value that was decided."""
        return ValueKey(self.item, self.field)

    @model_validator(mode="after")
    def _is_whole(self) -> "WorkedValue":
        needed = "how" if self.what == "value" else "undoes"
        if getattr(self, needed) is None:
            raise unfit("{key} is missing", key=needed)
        if (self.group is None) != (self.group_size is None):
            raise unfit("group and group_size belong together")
        return self


class _Group(NamedTuple):
    """Lines of a group that is not complete yet.

    Attributes:
        id: the group.
        size: how many lines it has.
        lines: those that were read.
    """

    id: str
    size: int
    lines: list[WorkedValue]


class WorkedValues(SharedFile[WorkedValue]):
    """All decisions in a folder that are on disk.

    Args:
        folder: the folder of `hdbench trust apply`.

    Raises:
        HdbenchError: the file is unusable, or a symbolic link.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / WORKED_VALUES, Message("a file of worked values"), WorkedValue)

    def _forget(self) -> None:
        self._made: dict[ValueKey, list[WorkedValue]] = {}
        self._current: dict[ValueKey, WorkedValue] = {}
        self._keys: dict[str, list[ValueKey]] = {}  # id or group → what was decided by it
        self._by_person: dict[str, list[WorkedValue]] = {}
        self._undone: set[str] = set()
        self._begun: _Group | None = None

    def current(self) -> Mapping[ValueKey, WorkedValue]:
        """Return the last decision on each value that is not undone, whoever made it."""
        return MappingProxyType(self._current)

    def last_of(self, person: str) -> WorkedValue | None:
        """Return a person's last decision that is in force; None without one."""
        made = reversed(self._by_person.get(person, ()))
        return next((line for line in made if self._current.get(line.key) is line), None)

    def add(self, lines: Sequence[WorkedValue]) -> None:
        """Append decisions, all or none of them; when this returns they are on disk.

        Args:
            lines: one line, or all lines of one group.

        Raises:
            NotSavedError: they cannot be written now; then the file is as it was.
            HdbenchError: one is not JSON or too long, or the file is unusable.
        """
        self._append(lines)

    def _take(self, line: WorkedValue, where: Path) -> None:
        check_author(line.by, where)
        begun, self._begun = self._begun, None
        if line.group is None or line.group_size is None:
            self._take_in([line])
            return
        if begun is None or begun.id != line.group:  # whoever wrote the former one was killed
            begun = _Group(line.group, line.group_size, [])
        begun.lines.append(line)
        if len(begun.lines) == begun.size:
            self._take_in(begun.lines)
        else:
            self._begun = begun

    def _take_in(self, lines: Sequence[WorkedValue]) -> None:
        for line in lines:
            if line.undoes is not None:
                self._undone.add(line.undoes)
                changed = self._keys.get(line.undoes, [])
            else:
                self._made.setdefault(line.key, []).append(line)
                self._by_person.setdefault(line.by, []).append(line)
                for name in filter(None, (line.id, line.group)):
                    self._keys.setdefault(name, []).append(line.key)
                changed = [line.key]
            for key in changed:
                self._settle(key)

    def _settle(self, key: ValueKey) -> None:
        valid = (
            line for line in reversed(self._made[key]) if not {line.id, line.group} & self._undone
        )
        last = next(valid, None)
        if last is None:
            self._current.pop(key, None)
        else:
            self._current[key] = last
