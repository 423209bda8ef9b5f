"""Authority files: a value on each line, and its identifier."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.csv_lines import at_most, lines
from hdbench.answers.encodings import decode
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_LINES = 1_000_000
"""Maximum number of lines of an authority file."""

MAX_BYTES = 64 * 2**20
"""Maximum size of an authority file, so that it can be searched between two keystrokes."""

MAX_VALUE = 500
"""Maximum number of characters of a value and its identifier."""

MAX_CELL = 2**20
"""Maximum number of characters in any other cell."""

_FIRST = 20  # rows by which the delimiter is recognised


class AuthorityLine(NamedTuple):
    """A line of an authority file.

    Attributes:
        value: a name of somebody or something.
        identifier: its identifier, such as that of the GND; empty if there is none. Lines with the
            same one have names of the same person or thing, the preferred name first.
    """

    value: str
    identifier: str


def read_authority_lines(path: Path) -> list[AuthorityLine]:
    """Return the lines of an authority file that have a value, in its order and in NFC.

    Raises:
        HdbenchError: the file is unusable or too large, or has no values.
    """
    text = _read_text(path)
    with at_most(MAX_CELL):
        found = list(_lines(text, path))
    if not found:
        raise HdbenchError("{place}: has no values", place=path)
    return found


def _read_text(path: Path) -> str:
    """Return the text of a file in NFC.

    Raises:
        HdbenchError: it cannot be read, or is too large.
    """
    with read_errors(path):
        if path.stat().st_size > MAX_BYTES:
            raise HdbenchError("{place}: larger than {most} MiB", place=path, most=MAX_BYTES >> 20)
        return unicodedata.normalize("NFC", decode(path.read_bytes(), str(path)))


def _lines(text: str, path: Path) -> Iterator[AuthorityLine]:
    for number, cells in _rows(text, path):
        if number > MAX_LINES:
            raise HdbenchError("{place}: more than {most:,} lines", place=path, most=MAX_LINES)
        value, identifier = cells[0].strip(), cells[1].strip() if len(cells) > 1 else ""
        if len(value) + len(identifier) > MAX_VALUE or "\n" in value or "\n" in identifier:
            raise HdbenchError(
                "{place}:{number}: several lines in a cell, or more than {most} characters",
                place=path,
                number=number,
                most=MAX_VALUE,
            )
        if value:
            yield AuthorityLine(value, identifier)


def _rows(text: str, path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Return the number and the cells of each line."""
    if path.suffix.lower() != ".csv":
        return enumerate(zip(text.removesuffix("\n").split("\n")), 1)

    def divided(delimiter: str) -> int:
        with suppress(HdbenchError):
            return sum(len(cells) > 1 for _, cells in islice(lines(text, delimiter, ""), _FIRST))
        return 0

    # Names contain commas, so commas come last.
    return lines(text, max("\t;,", key=divided), str(path))
