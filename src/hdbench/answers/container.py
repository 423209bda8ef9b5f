"""The common interface for files and folders of answers in every form."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.schema import AnswerSchema


class AnswersSource(NamedTuple):
    """A file of answers that is to be read.

    Attributes:
        path: the file.
        name: what messages call it.
        schema: the form of the benchmark's answers.
        all_are_loaded: see `JsonLines`.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.
    """

    path: Path
    name: str
    schema: AnswerSchema | None = None
    all_are_loaded: bool = False
    ids: Iterable[str] = ()


class Container(Protocol):
    """A file or folder of answers, which are found by id.

    Attributes:
        runs: model → id, as in the file → the key with which its answer is loaded. Without a
            `model` in the file, there is one run, under None.
        notes: what was assumed while reading, one line each, for a person to check.
    """

    runs: Mapping[str | None, dict[str, Any]]
    notes: list[str]

    def load(self, key: Any) -> WrittenAnswer:
        """Return one answer without its id: `prediction` or `text`, or both, and further facts.

        Raises:
            HdbenchError: it cannot be read.
        """

    def where(self, key: Any) -> str:
        """Return the place of an answer, for messages: `answers.jsonl:17`."""

    def close(self) -> None:
        """Close what is held open."""


class AnswerEntry(NamedTuple):
    """An answer that is held in memory, and its place."""

    where: str
    fields: WrittenAnswer


class InMemory:
    """A container whose answers are held in memory: for files that can only be read whole."""

    def __init__(
        self, runs: Mapping[str | None, dict[str, AnswerEntry]], notes: list[str] | None = None
    ) -> None:
        self.runs = runs
        self.notes = notes or []

    def load(self, key: AnswerEntry) -> WrittenAnswer:
        """Return one answer; see `Container.load`."""
        return key.fields

    def where(self, key: AnswerEntry) -> str:
        """Return its place."""
        return key.where

    def close(self) -> None:
        """Do nothing: no file is held open."""
