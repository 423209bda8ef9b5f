"""Facts about models besides their answers: `models.yaml` in the results dataset."""

import re
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    RootModel,
    StringConstraints,
    model_validator,
)

from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.validation import Strict, read_yaml, validate

MODELS_FILE = "models.yaml"
RESULTS = "results"
"""The name of the results dataset."""


Line = Annotated[str, StringConstraints(min_length=1, max_length=300, strict=True)]


_DAY = re.compile(r"\d{4}-\d\d(-\d\d)?", re.ASCII)


def _as_text(value: object) -> object:
    """Return a date as text: in YAML, a day is a date, and a month is a text already."""
    return value.isoformat() if type(value) is date else value


def _checked(text: str) -> str:
    if not _DAY.fullmatch(text):
        raise ValueError("must be a day or month, such as 2025-08-07 or 2025-09")
    date.fromisoformat(_first_day(text))
    return text


def _first_day(released: str) -> str:
    return released if len(released) == len("2025-08-07") else f"{released}-01"


class ModelFacts(Strict):
    """Facts about a model; None means not known.

    Attributes:
        open_weights: whether its maker publishes the weights.
        parameters: the total number, such as `70B`, or `not published`.
        licence: the licence of the weights, an SPDX identifier if there is one.
        runs_locally: whether one workstation graphics card can hold it; the file has the rule.
        source: an address that says so, or what it is based on.
        released: the day or month of its release, `2025-08-07` or `2025-09`; only where its own
            name says it.
    """

    open_weights: Annotated[bool, Field(strict=True)] | None
    parameters: Line | None
    licence: Line | None
    runs_locally: Annotated[bool, Field(strict=True)] | None
    source: Line
    released: Annotated[str, BeforeValidator(_as_text), AfterValidator(_checked)] | None = None

    @model_validator(mode="after")
    def _local_is_open(self) -> Self:
        if self.runs_locally and not self.open_weights:
            raise ValueError("what runs locally has open weights")
        return self

    def released_after(self, day: str | None) -> bool:
        """Return whether it is known that the model came out after a day, such as `2025-01-31`.

        If only the month is known, its first day must be later; an unknown date is not later.
        """
        are_known = self.released is not None and day is not None
        return are_known and _first_day(str(self.released)) > str(day)


class _File(RootModel[dict[Line, ModelFacts]]):
    """The file: name of a model, as recorded → what is known about it."""


def read_model_facts(results: Path) -> dict[str, ModelFacts]:
    """Return the facts about models in a results dataset.

    Args:
        results: the dataset's folder.

    Returns:
        A model's name, as recorded → what is known about it; nothing if there is no such file.

    Raises:
        HdbenchError: the file is unusable, has an unknown key, or is too large.
    """
    path = results / MODELS_FILE
    if not path.is_file():
        return {}
    return validate(_File, read_yaml(path, MAX_TEXT_FILE), path).root
