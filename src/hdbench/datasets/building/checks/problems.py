"""Problems as data, collected in bounded memory: a hostile folder can have millions."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as with_default
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hdbench.common.folder_files import MissingFileError, RefusedFileError, file_in
from hdbench.errors import HdbenchError, Message, escaped, joined

Severity = Literal["error", "warning"]

EXAMPLES = 5
"""How many examples of a problem are kept, unless told otherwise."""

MAX_ALIKE = 100
"""Maximum number of different problems of one kind that are kept. A file of fields with made-up
names has one for each of them, and they must not hide what else is wrong."""

_SHOWN = 80
"""Maximum number of characters shown of a value or name."""


class Example(NamedTuple):
    """One place that has a problem; what is not known or does not apply is None.

    Attributes:
        line: the line of the file.
        id: the item.
        value: what is there, shortened.
    """

    line: int | None = None
    id: str | None = None
    value: str | None = None


@dataclass
class Problem:
    """Something wrong with a folder, and where it is.

    Attributes:
        kind: what it is, as a word for programs.
        severity: an `error` keeps the folder from being built.
        file: the file, relative to the folder.
        field: the field of the file or of the ground truth; empty if there is none.
        message: what is wrong.
        remedy: what to do.
        count: how often it is so.
        examples: the first places.
    """

    kind: str
    severity: Severity
    file: str
    field: str
    message: Message
    remedy: Message
    count: int = 0
    examples: list[Example] = with_default(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON data."""
        return {**self.__dict__, "examples": [each._asdict() for each in self.examples]}


class Problems:
    """The problems found so far, each once, with a count and its first examples.

    Args:
        examples: how many of these are kept.

    Attributes:
        examples: likewise.
        left_out: how many places had a problem that is not kept, see `MAX_ALIKE`.
    """

    def __init__(self, examples: int = EXAMPLES) -> None:
        self.examples = examples
        self._found: dict[tuple[str, str, str, str], Problem] = {}
        self._kinds: Counter[str] = Counter()
        self.left_out = 0

    def error(
        self,
        kind: str,
        file: str,
        message: Message,
        remedy: Message,
        *at: Example,
        field: str = "",
        count: int = 1,
    ) -> None:
        """Add an error: for the arguments see `Problem`.

        Args:
            kind: together with `file`, `field` and `message` what makes a problem the same one.
            file: the file.
            message: what is wrong.
            remedy: what to do.
            at: the first of the places that have it.
            field: the field.
            count: how many places there are.
        """
        self._add(Problem(kind, "error", file, field, message, remedy), at, count)

    def warning(
        self,
        kind: str,
        file: str,
        message: Message,
        remedy: Message,
        *at: Example,
        field: str = "",
        count: int = 1,
    ) -> None:
        """Add a warning; for the arguments see `error`."""
        self._add(Problem(kind, "warning", file, field, message, remedy), at, count)

    def _add(self, problem: Problem, at: Sequence[Example], count: int) -> None:
        key = (problem.kind, problem.file, problem.field, problem.message)
        if key not in self._found:
            if self._kinds[problem.kind] == MAX_ALIKE:
                self.left_out += count
                return
            self._kinds[problem.kind] += 1
        known = self._found.setdefault(key, problem)
        known.count += count
        known.examples += at[: self.examples - len(known.examples)]

    @property
    def errors(self) -> int:
        """Return how many different errors there are."""
        return sum(problem.severity == "error" for problem in self._found.values())

    def by_file(self) -> list[Problem]:
        """The problems of each file in turn, errors first."""
        files = list(dict.fromkeys(problem.file for problem in self._found.values()))
        return sorted(
            self._found.values(),
            key=lambda each: (files.index(each.file), each.severity != "error"),
        )


@dataclass(frozen=True)
class CheckReport:
    """What was found in a folder.

    Attributes:
        folder: the folder.
        problems: by file, in each errors first.
        left_out: how many places had further problems, after `MAX_ALIKE` of a kind.
        items: how many rows there are.
        without_truth: how many of them have no ground truth.
    """

    folder: str
    problems: list[Problem]
    left_out: int
    items: int
    without_truth: int

    @property
    def errors(self) -> int:
        """Return how many different errors there are."""
        return sum(problem.severity == "error" for problem in self.problems)

    @property
    def warnings(self) -> int:
        """Return how many different warnings there are."""
        return len(self.problems) - self.errors

    @property
    def summary(self) -> Message:
        """A line for a person."""
        one = self.items == 1
        facts = [Message("{count:,} item" if one else "{count:,} items", count=self.items)]
        if self.without_truth:
            facts.append(Message("{count:,} without a ground truth", count=self.without_truth))
        one = self.errors == 1
        facts.append(Message("{count:,} error" if one else "{count:,} errors", count=self.errors))
        facts.append(self.number_of_warnings)
        return Message("{place}: {facts}", place=self.folder, facts=joined(facts))

    @property
    def number_of_warnings(self) -> Message:
        """Return how many warnings there are."""
        one = self.warnings == 1
        return Message("{count:,} warning" if one else "{count:,} warnings", count=self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "folder": self.folder,
            "items": self.items,
            "without_truth": self.without_truth,
            "errors": self.errors,
            "warnings": self.warnings,
            "left_out": self.left_out,
            "problems": [problem.to_dict() for problem in self.problems],
        }


class FaultyFolderError(HdbenchError):
    """A folder has errors and cannot be built.

    Attributes:
        report: all of them.
    """

    def __init__(self, report: CheckReport) -> None:
        super().__init__(
            "{summary}: hdbench check {folder}", summary=report.summary, folder=report.folder
        )
        self.report = report


def shown(value: Any) -> str:
    """A value as one short line.

    Example:
        >>> shown("17.9.1912"), shown(None)
        ('"17.9.1912"', 'null')
    """
    # Only the beginning of a long text is needed, and a hostile one can be very long.
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except TypeError:  # YAML has keys that are dates
        text = str(value)
    return escaped(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def is_usable(folder: Path, name: str, problems: Problems, to_write: Message) -> bool:
    """Return whether a file can be read; if not, that is added to the problems.

    Args:
        folder: the benchmark's folder.
        name: the file's path in it.
        problems: where to add what is wrong.
        to_write: what to do if it is missing.
    """
    try:
        file_in(folder, name)
    except MissingFileError:
        problems.error("file_missing", name, Message("there is no such file"), to_write)
        return False
    except RefusedFileError as error:
        problems.error("file_unusable", name, error.why, Message("put the file itself there"))
        return False
    except HdbenchError as error:
        what = without_place(error, folder / name)
        problems.error("file_unusable", name, what, Message("check its permissions"))
        return False
    return True


def without_place(error: HdbenchError, place: object) -> Message:
    """Return what an error says after the place that its line begins with.

    Example:
        >>> without_place(HdbenchError("{place}: empty: fill it", place="a.csv"), "a.csv")
        'empty: fill it'
    """
    message = error.message
    head, _, rest = message.template.partition(": ")
    is_place = rest and Message(head, **message.values) == str(place)
    return Message(rest, **message.values) if is_place else message
