"""Where this installation keeps `metrics/` and `dataset_scripts/`."""

from pathlib import Path
from typing import Literal


def folder(name: Literal["metrics", "dataset_scripts"]) -> Path:
    """One of the two folders: inside an installed package, or beside `src/` in a checkout."""
    package = Path(__file__).parent
    return package / name if (package / name).is_dir() else package.parents[1] / name
