"""The time spent on each item, where a collection's annotators want it kept."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hdbench.annotating.history import HISTORY, SUFFIX
from hdbench.common.appending import append
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError

TIMES = "times"
"""The folder with the times, in that of the histories, which never leaves the collection."""

MAX_STAY = 100
"""Maximum number of bytes in the line of a stay, besides the item's id."""

MAX_SECONDS = 86_400
"""Maximum number of seconds of a stay at an item."""


class Times:
    """A file for each annotator, with a line for each stay at an item.

    Args:
        folder: the collection.
        annotator: the pseudonym.
    """

    def __init__(self, folder: Path, annotator: str) -> None:
        self._path = folder / HISTORY / TIMES / f"{annotator}{SUFFIX}"

    def add(self, item: str, seconds: Any) -> None:
        """Note a stay that has come to its end.

        Args:
            item: the item's id.
            seconds: its time, as the page measured it.

        Raises:
            HdbenchError: that is not a time, or it cannot be written.
        """
        if type(seconds) not in (int, float) or not 0 <= seconds <= MAX_SECONDS:
            raise HdbenchError("seconds must be a number from 0 to {most:,}", most=MAX_SECONDS)
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        line = json.dumps({"item": item, "seconds": round(seconds), "at": at})
        if self._path.is_symlink() or self._path.parent.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link: put the file itself there", place=self._path
            )
        with write_errors(self._path):
            self._path.parent.mkdir(exist_ok=True)
            append(self._path, f"{line}\n".encode())
