"""What hdbench says of itself: version, year, and where its benchmarks and its folders are."""

from pathlib import Path
from typing import Literal

__version__ = "0.3.0"

YEAR = 2026
"""The year of this version, for citations."""

NAMESPACE = "hdb"
"""Where the benchmarks that hdbench builds are on the Hub, unless another namespace is named."""

PACKAGE = Path(__file__).parent
"""The folder of the package hdbench."""

FOLDERS: tuple[Literal["metrics", "dataset_scripts", "spaces"], ...]
FOLDERS = ("metrics", "dataset_scripts", "spaces")
"""Folders beside `src/` that an installed package holds within it."""


def installed_folder(name: Literal["metrics", "dataset_scripts", "spaces"]) -> Path:
    """Return one of these folders: inside an installed package, or beside `src/` in a checkout."""
    return PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE.parents[1] / name
