"""Helpers for readers of all forms: files within bounds, names of files, and remarks."""

from collections import defaultdict
from pathlib import Path

from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message, shortened

MAX_BYTES = 64 * 2**20
"""Maximum size of a file."""


class Remarks:
    """Assumptions that were made, and where: a note for each kind, however many places it has."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = defaultdict(list)

    def add(self, remark: str, place: str) -> None:
        """Keep a remark about a place."""
        self._places[remark].append(place)

    def notes(self) -> list[str]:
        """Return one line for each remark, with its first places."""
        return [
            Message("{remark}: {places}", remark=remark, places=shortened(places))
            for remark, places in self._places.items()
        ]


def read_bounded(path: Path, where: str) -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        where: what messages call it.

    Raises:
        HdbenchError: it cannot be read, is empty, is larger than `MAX_BYTES`, or is not a file.
    """
    if path.exists() and not path.is_file():  # a pipe or device might never end
        raise HdbenchError("{place}: not a file", place=where)
    with read_errors(where), path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise HdbenchError(
            "{place}: larger than {most} MiB: export it in several files",
            place=where,
            most=MAX_BYTES >> 20,
        )
    if not data.strip():
        raise HdbenchError("{place}: empty", place=where)
    return data


def file_name(text: str | None) -> str | None:
    r"""Return the last part of a path or address, of any system; None if it is empty.

    Example:
        >>> file_name("C:\\scans\\0012.tif"), file_name("../images/0012.jpg"), file_name(" ")
        ('0012.tif', '0012.jpg', None)
    """
    return (text or "").strip().replace("\\", "/").rpartition("/")[2] or None
