"""The answers in a file or folder, whatever its form."""

from collections.abc import Callable, Iterable, Mapping
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
        all_are_loaded: see `open_lines`.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.
    """

    path: Path
    name: str
    schema: AnswerSchema | None = None
    all_are_loaded: bool = False
    ids: Iterable[str] = ()


class AnswerEntry(NamedTuple):
    """An answer that is held in memory, and its place."""

    where: str
    fields: WrittenAnswer


class Container:
    """Answers, which are found by id.

    Attributes:
        runs: model → id, as in the file → the key with which its answer is loaded. Without a
            `model` in the file, there is one run, under None.
        notes: what was assumed while reading, one line each, for a person to check.
        load: returns the answer under a key without its id: `prediction` or `text`, or both, and
            further facts. By default, keys are entries. It raises HdbenchError if that cannot be
            read.
        where: returns the place of the answer under a key, for messages: `answers.jsonl:17`.
        closing: what is held open.
    """

    def __init__(
        self,
        runs: Mapping[str | None, Mapping[str, Any]],
        notes: Iterable[str] = (),
        load: Callable[[Any], WrittenAnswer] = lambda key: key.fields,
        where: Callable[[Any], str] = lambda key: key.where,
    ) -> None:
        self.runs, self.notes = runs, list(notes)
        self.load, self.where = load, where
        self.closing = ExitStack()

    def close(self) -> None:
        """Close what is held open, and delete copies of what was packed."""
        self.closing.close()


def held(
    answers: Iterable[tuple[str | None, str, AnswerEntry]], notes: Iterable[str] = ()
) -> Container:
    """Return answers that are held in memory.

    Args:
        answers: the model, the id, and the answer.
        notes: what was assumed while reading.

    Raises:
        HdbenchError: a model has two answers for an id.
    """
    runs: dict[str | None, dict[str, AnswerEntry]] = {}
    for model, item_id, answer in answers:
        first = runs.setdefault(model, {}).setdefault(item_id, answer)
        if first is not answer:
            raise second_answer(answer.where, item_id, first.where)
    return Container(runs, notes)


def second_answer(place: str, item_id: str, first: str) -> HdbenchError:
    """Return the error of a second answer for an id."""
    return HdbenchError(
        "{place}: a second answer for id {id!r}, the first is {first}: keep one",
        place=place,
        id=item_id,
        first=first,
    )


class AnswerPlace:
    """The place of an answer, which is put into words when a message needs it.

    Args:
        where: says where an answer is, by its key.
        key: the answer's key.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: Callable[[Any], str], key: Any) -> None:
        self._where, self._key = where, key

    def __str__(self) -> str:
        return self._where(self._key)
