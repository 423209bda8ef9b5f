"""Answers in several files: the parts of a run, packed or not, and our own run in progress."""

import re
from pathlib import Path

from hdbench.answers.folders import OUR_ANSWERS, parts_of
from hdbench.answers.members import Folder
from hdbench.common.regular_files import by_numbers

SHARDS = "shards"
"""The folder in a run folder where the answers are until they are merged."""
LAUNCH = "launch.json"
"""The file there that says what was launched; without it, no process works in that folder."""
MERGING = "merging.json"
"""Name of `launch.json` while answers are merged."""

_SHARD = re.compile(r"\d+\.jsonl")


def answer_parts(folder: Path) -> list[Path]:
    """Return the files with a folder's answers, in order; none if each item has its own file.

    Raises:
        HdbenchError: the folder cannot be listed, or holds parts of several kinds.
    """
    if is_in_shards(folder):
        return our_parts(folder)
    names = Folder(folder).names
    return [
        folder / name
        for name in ([OUR_ANSWERS] if OUR_ANSWERS in names else parts_of(names, str(folder)))
    ]


def is_in_shards(folder: Path) -> bool:
    """Return whether a run has answers that are not merged yet.

    Shards that are being removed, one file after the other, have neither of these files any more.
    """
    return any((folder / SHARDS / name).is_file() for name in (LAUNCH, MERGING))


def our_parts(folder: Path) -> list[Path]:
    """Return the merged answers, then those of the shards, without the questions beside them."""
    merged, shards = folder / OUR_ANSWERS, folder / SHARDS
    names = filter(_SHARD.fullmatch, Folder(shards).names)
    return [
        *([merged] if merged.is_file() else []),
        *sorted((shards / name for name in names), key=by_numbers),
    ]
