"""Values of a record as the cells of a table, such that reading the table gives them back."""

import json
import math
import re
from typing import Any

from hdbench.answers.cells import SEPARATORS, plain
from hdbench.output.exporting.columns import ColumnType

Cell = str | int | float

_WHOLE = re.compile(r"-?[1-9][0-9]{0,14}|0")
_MAX_WHOLE = 10**15


def cell(value: Any, field: ColumnType | None = None) -> Cell:
    """Return a value as a cell; nothing and null give an empty cell.

    Numbers stay numbers; a text becomes one only in a field of the schema that is a number, and
    only if it is written as one. Objects and lists become JSON.

    Args:
        value: a JSON value.
        field: the schema's field, if the column is one.

    Example:
        >>> cell("1957", ColumnType(is_list=False, is_number=True)), cell("0012"), cell(None)
        (1957, '0012', '')
        >>> cell(["Christ", "Paravicini"], ColumnType(is_list=True, is_number=False))
        'Christ | Paravicini'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        is_whole = field is not None and field.is_number and _WHOLE.fullmatch(value)
        return int(value) if is_whole else plain(value)
    is_list = isinstance(value, list) and field is not None and field.is_list
    if is_list and not any(isinstance(part, dict) for part in value):
        parts = [part for part in (str(cell(part)).strip() for part in value) if part]
        # Where no cell of a column has a `|`, its lists are divided by semicolons or the like.
        is_alone = len(parts) == 1 and any(sign in parts[0] for sign in SEPARATORS)
        return f"{parts[0]} |" if is_alone else " | ".join(parts)
    if isinstance(value, float):
        # Excel keeps 15 digits.
        is_kept = math.isfinite(value) and float(format(value, ".15g")) == value
        return value if is_kept else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _MAX_WHOLE else str(value)
    return as_json(value)


def as_json(value: Any) -> str:
    """Return a value as JSON that a table can hold."""
    return plain(json.dumps(value, ensure_ascii=False))
