"""Anybody's text in the cells of an Excel sheet: shown, and never run."""

import re
from typing import Any

from hdbench.errors import escaped

MAX_CELL = 32_767
"""Characters, counted in UTF-16, that a cell can hold."""

_OVERLAP = re.compile(r"(?<=_x[0-9a-fA-F]{4})_(?=x[0-9a-fA-F]{4}_)")


def write_text(sheet: Any, row: int, column: int, value: str, look: Any) -> None:
    """Write anybody's text into a cell of an xlsxwriter sheet, as text and nothing else."""
    cell = cell_text(value)
    if cell.startswith("<r>") and cell.endswith("</r>"):
        # xlsxwriter takes such a string for markup of its own, and copies it into the file.
        sheet.write_rich_string(row, column, cell[0], cell[1], cell[2:], look)
    elif cell:
        sheet.write_string(row, column, cell, look)


def cell_text(value: str) -> str:
    r"""A text as a cell can hold it: escaped but for line breaks, and cut with a note.

    Example:
        >>> cell_text("a\nb\x00\ud800")
        'a\nb\\x00\\ud800'
    """
    shown = value[:MAX_CELL]  # escapes only make it longer
    if not shown.isprintable():
        shown = "\n".join(map(escaped, shown.split("\n")))
    # Of two codes for characters that share a sign xlsxwriter would protect only the first.
    shown = _OVERLAP.sub(r"\\x5f", shown)
    units = shown.encode("utf-16-le")
    if len(value) <= MAX_CELL and len(units) <= 2 * MAX_CELL:
        return shown
    note = f"… [cut: {len(value)} characters]"
    return units[: 2 * (MAX_CELL - len(note))].decode("utf-16-le", "ignore") + note
