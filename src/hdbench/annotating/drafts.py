"""Drafts of ground truths: the answers that models gave."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answers import Answers
from hdbench.answers.files import open_container
from hdbench.answers.run_info import is_run, read_run_info
from hdbench.answers.run_names import run_name
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError


class Draft(NamedTuple):
    """A run whose answers can be filled in.

    Attributes:
        run: its name, for the history.
        model: the model.
        answers: the answers, looked up by item.
    """

    run: str
    model: str
    answers: Answers

    def record(self, item: str) -> dict[str, Any] | None:
        """The model's record for an item; None if it gave none.

        Raises:
            HdbenchError: it cannot be loaded.
        """
        value = self.answers.take(item).prediction
        return value if isinstance(value, dict) else None


def read_drafts(
    paths: Sequence[Path], items: Sequence[str], folder: str, schema: AnswerSchema
) -> list[Draft]:
    """The runs that drafts come from.

    Args:
        paths: run folders, or files of answers in any form.
        items: the ids of the collection.
        folder: what messages call the collection.
        schema: the form of its records.

    Raises:
        HdbenchError: one of them is unusable, or answers something else.
    """
    drafts = []
    for path in paths:
        info = read_run_info(path) if is_run(path) else None
        container = open_container(path, schema, ids=items)
        for name in container.runs:
            run = info.run if info else run_name(path)
            model = info.model if info else name or run_name(path)
            answers = Answers(container, name, items, folder, schema)
            drafts.append(Draft(run, model, answers))
    if len({draft.run for draft in drafts}) < len(drafts):
        raise HdbenchError("--drafts: two runs have the same name: rename one of them")
    return drafts
