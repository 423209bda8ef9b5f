"""What is known of models beside their answers: `models.yaml` of the results dataset."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, RootModel, StringConstraints, model_validator

from hdbench.common.checked import Strict, read_yaml, validate
from hdbench.errors import HdbenchError

MODELS_FILE = "models.yaml"

MAX_BYTES = 2**20
"""Bytes of the file, at most: some 5,000 models."""

Line = Annotated[str, StringConstraints(min_length=1, max_length=300, strict=True)]


class ModelFacts(Strict):
    """What is known of a model; None is not known.

    Attributes:
        open_weights: whether its maker gives out the weights.
        parameters: in all, as `70B`, or `not published`.
        licence: of the weights, an SPDX identifier where there is one.
        runs_locally: whether one graphics card of a workstation can hold it; the file has the rule.
        source: an address that says so, or on what it rests.
    """

    open_weights: Annotated[bool, Field(strict=True)] | None
    parameters: Line | None
    licence: Line | None
    runs_locally: Annotated[bool, Field(strict=True)] | None
    source: Line

    @model_validator(mode="after")
    def _local_is_open(self) -> Self:
        if self.runs_locally and not self.open_weights:
            raise ValueError("what runs locally has open weights")
        return self


class _File(RootModel[dict[Line, ModelFacts]]):
    """The file: name of a model, as recorded → what is known of it."""


def read_model_facts(results: Path) -> dict[str, ModelFacts]:
    """What a results dataset says of models.

    Args:
        results: the dataset's folder.

    Returns:
        A model's name, as recorded → what is known of it; nothing where there is no such file.

    Raises:
        HdbenchError: the file is unusable, has a key that is not known, or is too large.
    """
    path = results / MODELS_FILE
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_BYTES:
        raise HdbenchError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    return validate(_File, read_yaml(path), path).root
