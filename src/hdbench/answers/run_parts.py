"""A run in parts: a folder of run folders, `part-2-of-4` and so on, which are read as one run."""

import re
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.folders import OUR_ANSWERS, RUN_FILE
from hdbench.errors import HdbenchError

_PART = re.compile(r"part-0*([1-9][0-9]{0,4})-of-([1-9][0-9]{0,4})")


class RunPart(NamedTuple):
    """One part of a run.

    Attributes:
        number: which one it is, from 1.
        of: how many there are.
        folder: its run folder.
    """

    number: int
    of: int
    folder: Path

    @property
    def exists(self) -> bool:
        """Return whether anything of it is recorded."""
        return (self.folder / RUN_FILE).is_file()

    @property
    def answers(self) -> Path | None:
        """Return the file with its answers; None if there are none yet."""
        path = self.folder / OUR_ANSWERS
        return path if path.is_file() and not path.is_symlink() else None

    def count_answers(self) -> int:
        """Return how many answers it has, without an incomplete one."""
        if self.answers is None:
            return 0
        with self.answers.open("rb") as file:
            return sum(line.endswith(b"\n") for line in file)


def part_folder(run: Path, number: int, of: int) -> Path:
    """Return the folder of a part; their names sort in the order of the parts.

    Example:
        >>> part_folder(Path("runs/qwen"), 2, 16).name
        'part-02-of-16'
    """
    return run / f"part-{number:0{len(str(of))}}-of-{of}"


def run_parts(run: Path) -> list[RunPart]:
    """Return all parts of a run in order, also those that do not exist; none for other folders.

    Raises:
        HdbenchError: the parts do not belong together.
    """
    if not run.is_dir() or (run / RUN_FILE).exists():
        return []
    found = {
        int(match[2]): path.name
        for path in run.glob("part-*-of-*")
        if (match := _PART.fullmatch(path.name)) and RunPart(0, 0, path).exists
    }
    if len(found) > 1:
        one, other = sorted(found.values())[:2]
        raise HdbenchError(
            "{place}: holds {one} and {other}: keep the parts of one run in a folder of their own",
            place=run,
            one=one,
            other=other,
        )
    return [
        RunPart(number, of, part_folder(run, number, of))
        for of in found
        for number in range(1, of + 1)
    ]


def whole_run(folder: Path) -> Path:
    """Return the folder of the run that a run folder is a part of, or else that folder itself."""
    return folder.parent if _PART.fullmatch(folder.name) else folder
