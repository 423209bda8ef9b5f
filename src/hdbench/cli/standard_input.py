"""Answers from standard input, where a command takes a file of them."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hdbench.errors import HdbenchError, Message
from hdbench.reading.unpacking import MAX_UNPACKED

STANDARD_INPUT = Message("standard input")
_BLOCK = 2**20


class Source(NamedTuple):
    """A file of answers.

    Attributes:
        path: where it is.
        name: what messages and results call it; None if that is its path.
    """

    path: Path
    name: str | None = None


@contextmanager
def answers_at(path: Path) -> Iterator[Source]:
    """The file or folder at a path; for `-` a copy of standard input, until the block ends.

    Answers are read more than once, and in any order, which only a file allows.

    Raises:
        HdbenchError: there is more than a packed file may hold.
    """
    if path != Path("-"):
        yield Source(path)
        return
    with tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True) as folder:
        copy, size = Path(folder) / "answers", 0
        with copy.open("wb") as file:
            while block := sys.stdin.buffer.read(_BLOCK):
                size += len(block)
                if size > MAX_UNPACKED:
                    raise HdbenchError(
                        "{place}: larger than {most} GiB: name a file",
                        place=STANDARD_INPUT,
                        most=MAX_UNPACKED >> 30,
                    )
                file.write(block)
        yield Source(copy, STANDARD_INPUT)
