"""The answers in a file or folder, whatever its form."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError


class AnswersSource(NamedTuple):
    """A file of answers that is to be read.

    Attributes:
        path: the file.
        name: what messages call it.
        schema: the form of the benchmark's answers.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.
    """

    path: Path
    name: str
    schema: AnswerSchema | None = None
    ids: Iterable[str] = ()


class AnswerEntry(NamedTuple):
    """An answer that is held in memory, and its place."""

    where: str
    fields: WrittenAnswer


class Container:
    """Answers, which are found by id.

    Args:
        load: see below; by default, keys are entries.
        where: see below.

    Attributes:
        runs: model → id, as in the file → the key with which its answer is loaded. Without a
            `model` in the file, there is one run, under None.
        notes: what was assumed while reading, one line each, for a person to check.
        load: returns the answer under a key without its id: `prediction` or `text`, or both, and
            further facts. It raises HdbenchError if that cannot be read.
        where: returns the place of the answer under a key, for messages: `answers.jsonl:17`.
        closing: what is held open.
    """

    def __init__(
        self,
        load: Callable[[Any], WrittenAnswer] = lambda key: key.fields,
        where: Callable[[Any], str] = lambda key: key.where,
    ) -> None:
        self.runs: dict[str | None, dict[str, Any]] = {}
        self.notes: list[str] = []
        self.load, self.where = load, where
        self.closing = ExitStack()

    def add(self, model: str | None, item_id: str, key: Any) -> None:
        """Add the answer of a model to an item.

        Raises:
            HdbenchError: the model has one already.
        """
        first = self.runs.setdefault(model, {}).setdefault(item_id, key)
        if first is not key:
            raise HdbenchError(
                "{place}: a second answer for id {id!r}, the first is {first}: keep one",
                place=self.where(key),
                id=item_id,
                first=self.where(first),
            )

    def close(self) -> None:
        """Close what is held open, and delete copies of what was packed."""
        self.closing.close()
