"""Names of runs whose answers do not say which model gave them: those of their files."""

import os
from pathlib import Path

from hdbench.reading.members import READ_ENDINGS

ENDINGS = (*READ_ENDINGS, ".gz", ".zst", ".zip")
"""Extensions that say in which form answers are, and so are no part of a name."""


def run_name(path: Path) -> str:
    """Return the name of a run: that of its file or folder, without the extensions of its form.

    Only known extensions are removed, as the names of many models have dots.

    Args:
        path: a file or folder of answers, or a result. A symbolic link is not followed, because
            the Hub's cache keeps files under their hashes.

    Example:
        >>> run_name(Path("runs/gpt-4.1.jsonl.gz")), run_name(Path("runs/gpt-4.1"))
        ('gpt-4.1', 'gpt-4.1')
    """
    name = Path(os.path.abspath(path)).name  # `.` and `..` have the names of their folders
    while ending := next((each for each in ENDINGS if _has(name, each)), ""):
        name = name[: -len(ending)]
    return name


def _has(name: str, ending: str) -> bool:
    return len(name) > len(ending) and name.lower().endswith(ending)
