"""Provenance of a ground truth, as a row of the metadata has it."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Self, TypeGuard

from hdbench.benchmarks.spec import ColumnType

PROVENANCE = "provenance"
DRAFT_MODEL = "draft_model"
COLUMNS: dict[str, ColumnType] = {PROVENANCE: "string", DRAFT_MODEL: "string"}
"""The keys of a row, and their types as columns of a dataset."""

BLIND = "blind"
IMPORTED = "imported"
AUDITED = "corrected after audit"
DRAFT = "draft:"
"""Beginning of the provenance of a corrected draft; the name of the run follows."""

_LINE = r"[^\x00-\x1f]{1,200}"
_HOW = re.compile(rf"{BLIND}|{IMPORTED}|{AUDITED}|{DRAFT}{_LINE}")
_MODEL = re.compile(_LINE)


class Provenance(NamedTuple):
    """Way in which a ground truth was made.

    Attributes:
        how: `blind` (typed in without a draft), `draft:RUN` (some of its values come from the
            answers of a run), `imported`, or `corrected after audit`.
        model: the model that wrote the draft, if that is known.
    """

    how: str
    model: str | None = None

    @property
    def run(self) -> str | None:
        """The run that the draft comes from; None without a draft."""
        return self.how.removeprefix(DRAFT) if self.how.startswith(DRAFT) else None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self | None:
        """Return a row's provenance; None without one, or if its column is about another thing.

        A collection may have a column `provenance` of its own, such as a book's former owners.

        Example:
            >>> Provenance.of_row({"provenance": "draft:qwen-1", "draft_model": "Qwen"})
            Provenance(how='draft:qwen-1', model='Qwen')
            >>> Provenance.of_row({"provenance": "St. Gallen, Stiftsbibliothek"})
        """
        how, model = row.get(PROVENANCE), row.get(DRAFT_MODEL)
        return cls(how, model if is_model(model) else None) if is_provenance(how) else None

    def as_row(self) -> dict[str, str]:
        """Return the keys of a row that say it."""
        model = {} if self.model is None else {DRAFT_MODEL: self.model}
        return {PROVENANCE: self.how, **model}


def is_provenance(value: Any) -> TypeGuard[str]:
    """Return whether a value says how a ground truth was made."""
    return isinstance(value, str) and _HOW.fullmatch(value) is not None


def is_model(value: Any) -> TypeGuard[str]:
    """Return whether a value can be the name of a draft's model."""
    return isinstance(value, str) and _MODEL.fullmatch(value) is not None
