"""Read and check the files that people write: YAML, text, and values that must fit a model."""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from hdbench.errors import HdbenchError

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """Unknown keys are rejected: a misspelt one must not go unnoticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_yaml(path: Path) -> Any:
    """The value in a YAML file.

    Raises:
        HdbenchError: it cannot be read, or is not YAML.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # 2026-13-01 is a ValueError
        raise HdbenchError(f"{path}: not YAML: {' '.join(str(error).split())}") from error


def read_text_file(path: Path) -> str:
    """The text of a file.

    Raises:
        HdbenchError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise HdbenchError(f"{path}: not UTF-8 (byte {error.start + 1}): save as UTF-8") from error


def validate(model: type[Model], value: Any, path: Path) -> Model:
    """A value from a file as a model.

    Raises:
        HdbenchError: it does not fit; the message names the file and the first wrong key.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise HdbenchError(f"{path}: {key or 'the file'}: {first['msg']}") from error
