"""Where this installation keeps `metrics/`, `dataset_scripts/` and `spaces/`."""

from pathlib import Path
from typing import Literal

FOLDERS: tuple[Literal["metrics", "dataset_scripts", "spaces"], ...]
FOLDERS = ("metrics", "dataset_scripts", "spaces")


def folder(name: Literal["metrics", "dataset_scripts", "spaces"]) -> Path:
    """One of these folders: inside an installed package, or beside `src/` in a checkout."""
    package = Path(__file__).parents[1]
    return package / name if (package / name).is_dir() else package.parents[1] / name
