"""Where hdbench keeps what it can fetch or make again."""

import os
from pathlib import Path

import platformdirs


def user_cache() -> Path:
    """`hdbench` in the operating system's cache folder, or the folder that `HDBENCH_CACHE` names.

    It need not exist.
    """
    return Path(os.environ.get("HDBENCH_CACHE") or platformdirs.user_cache_dir("hdbench"))
