"""Problems as data, collected in bounded memory: a hostile folder can have millions."""

import json
from collections import Counter
from dataclasses import dataclass
from dataclasses import field as with_default
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal, NamedTuple

from hdbench.benchmarks.benchmark import METADATA
from hdbench.common.bounds import MAX_ALIKE
from hdbench.common.files import MissingFileError, RefusedFileError, file_in
from hdbench.common.texts import read_texts
from hdbench.errors import HdbenchError, Message, escaped, joined

Severity = Literal["error", "warning"]

EXAMPLES = 5
"""Number of examples that are kept of a problem, by default."""


_SHOWN = 80
"""Maximum number of characters shown of a value or name."""


class Example(NamedTuple):
    """Place that has a problem; unknown or inapplicable parts are None.

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
        """Return the problem as JSON data."""
        return {**self.__dict__, "examples": [example._asdict() for example in self.examples]}


@cache
def _texts() -> Any:
    """Return the texts of each problem, by its name."""
    return read_texts(Path(__file__).with_name("problems.yaml"))


def _filled(template: str, values: dict[str, Any]) -> Message:
    """Return a text with those values that it has placeholders for."""
    names = (name for _, name, *_ in Formatter().parse(template) if name)
    return Message(template, **{name: values[name] for name in names})


class Problems:
    """The problems found so far, each once, with a count and its first examples.

    Attributes:
        left_out: how many places had a problem that is not kept, see `MAX_ALIKE`.
    """

    def __init__(self) -> None:
        self._problems: dict[tuple[str, str, str, str], Problem] = {}
        self._kinds: Counter[str] = Counter()
        self.left_out = 0

    def add(
        self,
        name: str,
        /,
        *at: Example,
        file: str = METADATA,
        field: str = "",
        times: int = 1,
        severity: Severity | None = None,
        **values: Any,
    ) -> None:
        """Add a problem.

        Args:
            name: its name in `problems.yaml`: a kind, or a case of it, as in `key_wrong.version`.
                Its kind, `file`, `field` and the message are what makes a problem the same one.
            at: the first of the places that have it.
            file: the file.
            field: the field.
            times: how many places there are.
            severity: instead of the usual one.
            values: for the placeholders of its texts.
        """
        texts = _texts()[name]
        problem = Problem(
            name.partition(".")[0].format_map(values),
            severity or texts["severity"],
            file,
            field,
            _filled(texts["message"], values),
            _filled(texts["remedy"], values),
        )
        key = (problem.kind, problem.file, problem.field, problem.message)
        if key not in self._problems:
            if self._kinds[problem.kind] == MAX_ALIKE:
                self.left_out += times
                return
            self._kinds[problem.kind] += 1
        recorded = self._problems.setdefault(key, problem)
        recorded.count += times
        recorded.examples += at[: EXAMPLES - len(recorded.examples)]

    @property
    def errors(self) -> int:
        """Return how many different errors there are."""
        return sum(problem.severity == "error" for problem in self._problems.values())

    def by_file(self) -> list[Problem]:
        """Return the problems of each file in turn, errors first."""
        files = list(dict.fromkeys(problem.file for problem in self._problems.values()))
        return sorted(
            self._problems.values(),
            key=lambda problem: (files.index(problem.file), problem.severity != "error"),
        )


@dataclass(frozen=True)
class CheckReport:
    """The problems of a folder.

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
        """Return a line for a person."""
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
        """Return the report as JSON data."""
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
    """Return a value as one short line.

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


def is_usable(folder: Path, name: str, problems: Problems, case: str = "", **values: Any) -> bool:
    """Return whether a file can be read; if not, that is added to the problems.

    Args:
        folder: the benchmark's folder.
        name: the file's path in it.
        problems: where to add what is wrong.
        case: of `file_missing`: its remedy says what to do if it is missing.
        values: for the placeholders of that.
    """
    try:
        file_in(folder, name)
    except MissingFileError:
        problems.add(f"file_missing.{case}" if case else "file_missing", file=name, **values)
    except RefusedFileError as error:
        problems.add("file_unusable.refused", file=name, what=error.why)
    except HdbenchError as error:
        reason = without_place(error, folder / name)
        problems.add("file_unusable.permissions", file=name, what=reason)
    else:
        return True
    return False


def without_place(error: HdbenchError, place: object) -> Message:
    """Return an error's message without the place that it begins with.

    Example:
        >>> without_place(HdbenchError("{place}: empty: fill it", place="a.csv"), "a.csv")
        'empty: fill it'
    """
    message = error.message
    head, _, remainder = message.template.partition(": ")
    is_place = remainder and Message(head, **message.values) == str(place)
    return Message(remainder, **message.values) if is_place else message
