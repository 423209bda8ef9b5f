"""Files that say which hdbench wrote them, and since which version they are read."""

import re
from pathlib import Path

from hdbench.errors import HdbenchError

SINCE = (0, 3)
"""The first version whose files this one reads: raise it with any change of their form."""

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.")


def check_written_by(version: object, place: Path | str, remedy: str) -> None:
    """Refuse a file of a version whose files have another form.

    Args:
        version: what the file says, from anywhere.
        place: where it is.
        remedy: what to do instead.

    Raises:
        HdbenchError: it was written by another version.
    """
    found = _VERSION.match(version) if isinstance(version, str) else None
    if found is None or tuple(map(int, found.groups())) < SINCE:
        raise HdbenchError(
            "{place}: of hdbench before {since}: {remedy}",
            place=place,
            since=".".join(map(str, SINCE)),
            remedy=remedy,
        )
