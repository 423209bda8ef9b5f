"""Values of a record as the cells of a table, such that reading the table gives them back."""

import json
import math
import re
from typing import Any

from hdbench.answers.cells import FAULTS, MISSING, SEPARATORS
from hdbench.collections.records.columns import ColumnType

Cell = str | int | float

_WHOLE = re.compile(r"-?[1-9][0-9]{0,14}|0")
_MAX_WHOLE = 10**15
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SIGNS, _DELETE = 0x2400, 0x7F


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


def plain(text: str) -> str:
    r"""Return a text that any table can hold, in the same number of characters.

    Control characters, which XML cannot have, become the symbols that Unicode has for them, or
    U+FFFD; a line break is `\n`. What a spreadsheet shows for a missing value or a failed formula
    (`#N/A`) gets an apostrophe before it, since it could not be read back.

    Example:
        >>> plain("a\r\nb\x00")
        'a\nb␀'
    """
    return "'" + text if text in FAULTS or text in MISSING else visible(text)


def visible(text: str) -> str:
    r"""Return a text that XML can hold: what it cannot is replaced as in `plain`.

    Example:
        >>> visible("#N/A\x07\ud800")
        '#N/A␇\ufffd'
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NO_TEXT.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "␡" if code == _DELETE else chr(_SIGNS + code) if code < ord(" ") else "\ufffd"
