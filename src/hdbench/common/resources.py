"""Where this installation keeps `metrics/`, `dataset_scripts/` and `spaces/`."""

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).parents[1]
"""The folder of the package hdbench."""

FOLDERS: tuple[Literal["metrics", "dataset_scripts", "spaces"], ...]
FOLDERS = ("metrics", "dataset_scripts", "spaces")


def folder(name: Literal["metrics", "dataset_scripts", "spaces"]) -> Path:
    """One of these folders: inside an installed package, or beside `src/` in a checkout."""
    return PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE.parents[1] / name
