"""What a notebook shows of a result: HTML without scripts, from untrusted text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hdbench.common.display.cells import Cell, Drawn, Head
from hdbench.common.pictures import thumbnail
from hdbench.common.templates import html_templates
from hdbench.errors import HdbenchError

_LONG = 200
"""Maximum characters of a line in a cell."""

_SHORT = 24
"""Maximum characters of a cell that is not broken."""


def block(
    *,
    title: str = "",
    lines: Sequence[str] = (),
    tables: Sequence[Drawn] = (),
    below: Sequence[str] = (),
) -> str:
    """Return the HTML of an object in a notebook, in its colours, whether these are light or dark.

    Args:
        title: its first line.
        lines: what stands below it.
        tables: its tables.
        below: what stands below these.
    """
    template = html_templates("hdbench.common.display").get_template("block.html")
    drawn = [
        {
            "title": table.title,
            "columns": table.heads,
            "rows": [[*map(_cell, row, table.heads)] for row in table.rows],
        }
        for table in tables
    ]
    return template.render(title=title, lines=lines, tables=drawn, below=below)


def _cell(cell: Cell, head: Head) -> dict[str, Any]:
    """Return a cell's lines, or its picture, and whether it is a number."""
    if head.kind == "image":
        name = Path(cell.value or "").stem
        picture = {"picture": _picture(cell.value), "alt": name}
        return picture | {"lines": [], "is_number": False, "is_short": True}
    texts = cell.text if isinstance(cell.text, tuple) else (cell.text,)
    lines = [text if len(text) <= _LONG else f"{text[:_LONG]}…" for text in texts]
    is_short = max(map(len, lines), default=0) <= _SHORT
    is_number = head.is_number
    return {"picture": None, "lines": lines, "is_number": is_number, "is_short": is_short}


def _picture(path: str | None) -> str:
    """Return an image as an address in itself; an empty one if it cannot be shown."""
    try:
        return (path and thumbnail(Path(path), width=256)) or ""
    except HdbenchError:  # a damaged image, which a report names
        return ""
