"""The cells of tables, which are texts, and the values that a record has for them."""

import datetime
import json
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Literal

from hdbench.answers.words import meanings
from hdbench.common.jsonio import structured

Kind = Literal["text", "integer", "number", "date", "list", "boolean", "json", "any"]
"""Kinds of cells; those of a list are texts with a separator between them, or JSON. A field whose
schema has no type can have `any`."""

_GUESSED: tuple[Kind, ...] = ("boolean", "integer", "number", "date", "json")

MISSING = frozenset({"#N/A", "#NV"})
"""Texts of cells without a value in spreadsheets, English and German; R writes the first, too."""

FAULTS = frozenset(
    {"#REF!", "#BEZUG!", "#NAME?", "#VALUE!", "#WERT!", "#DIV/0!", "#NUM!", "#ZAHL!", "#NULL!"}
).union(map("Err:{}".format, range(501, 541)))
"""Texts that a spreadsheet shows where a formula failed; the last ones are LibreOffice's."""

BLANK = frozenset({"", "-", "–", "—", "n/a", "n. a.", "k. a.", "k.a.", "#n/a", "#nv"})
"""Contents of a cell without a value, case-folded: `k. A.` is German for `n/a`."""

NOTHING = frozenset({"NA", "NaN", "NULL"})
"""Contents of a cell without a value, as R, polars and databases write them."""

SEPARATORS = ("|", ";", "\n", " / ")
"""Separators of the texts in a list, the surest first."""

MIN_ROWS = 2
"""Minimum number of rows in which a separator makes a column a list."""

MAX_PART = 60
"""Maximum number of characters in the parts of a list divided by semicolons."""

NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,2})?")
_INTEGER = re.compile(r"([+-]?[0-9]{1,15})(?:\.|[.,]00?)?")  # 1.000 may be a thousand
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")
_BOOLEANS = {"true": True, "wahr": True, "false": False, "falsch": False}
_SPELLINGS = _BOOLEANS | dict.fromkeys(("ja", "yes", "oui", "sì", "si"), True)
_SPELLINGS |= dict.fromkeys(("nein", "no", "non"), False)


def cell_of(value: Any) -> str:
    """Return a value of a program or a spreadsheet as the text of a cell.

    Nothing and not-a-number are empty, whole numbers have no decimals, dates are in ISO form, and
    lists and objects are JSON; a list of numbers begins with a blank: see `json_list`.

    Example:
        >>> cell_of(1957.0), cell_of(0.1 + 0.2), cell_of(datetime.date(1826, 2, 16)), cell_of(False)
        ('1957', '0.3', '1826-02-16', 'false')
        >>> cell_of(None), cell_of(["Ott", "Wyss"]), cell_of([1912])
        ('', '["Ott", "Wyss"]', '[ 1912]')
    """
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, float):
        # A spreadsheet shows no more than 15 digits: 0.3 for the sum of 0.1 and 0.2.
        return str(int(value)) if value.is_integer() else format(value, ".15g")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    if not isinstance(value, bool | list | dict):
        return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return f"[ {text[1:]}" if isinstance(value, list) and not _are_texts(value) else text


def is_blank(cell: str) -> bool:
    """Return whether a cell, without white space around it, has no value.

    Example:
        >>> [is_blank(cell) for cell in ["", "-", "N/A", "NA", "0", "Na", "s. a."]]
        [True, True, True, True, False, False, False]
    """
    return cell in NOTHING or (len(cell) <= 5 and cell.casefold() in BLANK)  # noqa: PLR2004  the longest


def kind_of(name: str, cells: Sequence[str], *, divided: bool = True) -> Kind:
    """Return what the cells of a column are, none of them blank.

    A number must be written as Python writes it, so that no leading or last zero is lost; a date as
    `1912-09-17`. Anything else is text, as it stands.

    Args:
        name: the name of the column, or of its field.
        cells: the cells.
        divided: whether a list may be a text with a separator in it. Where lists are written as
            such, a text with `|` is a text.

    Example:
        >>> kind_of("Jahr", ["1912", "1913"]), kind_of("Autor", ["Müller | Ott", "Ott | Wyss"])
        ('integer', 'list')
    """
    distinct = list(dict.fromkeys(cells))
    for kind in _GUESSED if distinct else ():
        if all(_is_written_as(cell, kind) for cell in distinct):
            return kind
    is_list = any(json_list(cell) is not None for cell in distinct)
    return "list" if is_list or (divided and separator_of(name, cells)) else "text"


def _is_written_as(cell: str, kind: Kind) -> bool:
    """Return whether a cell is a value of a kind just as we would write it, booleans apart."""
    if kind == "boolean":
        return cell.casefold() in _BOOLEANS
    value = value_of(cell, kind)
    if kind == "json":
        return isinstance(value, dict)
    written = cell.removesuffix(".0") if kind == "number" else cell
    return value is not None and cell_of(value) == written


def are_nearly_integers(cells: Sequence[str]) -> bool:
    """Return whether most cells of a column are whole numbers, but not all."""
    odd = sum(value_of(cell, "integer") is None for cell in cells)
    return 0 < 2 * odd < len(cells)


def separator_of(name: str, cells: Iterable[str], *, is_list: bool = False) -> str | None:
    """Return what divides the texts in the cells of a column, none of them blank; None if nothing.

    In a list it is the surest that occurs. Otherwise it is `|` in several rows, or semicolons
    between short texts, in several rows and one of five. Titles and other long texts have
    semicolons and slashes of their own: only `|` divides them.

    Args:
        name: the name of the column, or of its field.
        cells: the cells; those with JSON are passed over.
        is_list: whether it is known that the column has lists.

    Example:
        >>> separator_of("subjects", ["Ehe; Lied"], is_list=True)
        ';'
        >>> separator_of("title", ["Ehe; Lied"], is_list=True), separator_of("x", ["Ehe; Lied"])
        (None, None)
    """
    cells = [cell for cell in cells if json_list(cell) is None]
    has_long_texts = {"text", "title", "abstract"} & set(meanings(name)[-1:])
    for sign in SEPARATORS[:1] if has_long_texts else SEPARATORS if is_list else SEPARATORS[:2]:
        divided = [cell.split(sign) for cell in cells if sign in cell]
        least = 1 if is_list else max(MIN_ROWS, len(cells) / 5 if sign == ";" else 0)
        if len(divided) >= least and (
            is_list
            or sign == "|"
            or all(0 < len(part.strip()) <= MAX_PART for part in chain(*divided))
        ):
            return sign
    return None


def value_of(cell: str, kind: Kind) -> Any:
    """Return the value of a cell that is not blank; None if it is not of that kind.

    Example:
        >>> [value_of(cell, "integer") for cell in ("1912", "1912,0", "um 1912")]
        [1912, 1912, None]
        >>> value_of("17.9.1912", "date"), value_of("ja", "boolean")
        ('1912-09-17', True)
    """
    if kind in {"integer", "number"}:
        if matched := _INTEGER.fullmatch(cell):
            return int(matched[1])
        return float(cell) if kind == "number" and NUMBER.fullmatch(cell) else None
    if kind == "date":
        return iso_date(cell)
    if kind == "boolean":
        return _SPELLINGS.get(cell.casefold())
    if kind == "json":
        return None if isinstance(value := structured(cell), str) else value
    return cell


def parts_of(cell: str, separator: str | None) -> list[Any]:
    """Return the texts in a cell that are not blank, or the values of a JSON list.

    Example:
        >>> parts_of("DE | NA | -", "|"), parts_of("NA", "|")  # Namibia, and nothing
        (['DE', 'NA'], [])
    """
    listed = json_list(cell)
    if listed is not None:
        return listed
    parts = [part.strip() for part in cell.split(separator)] if separator else [cell]
    return [part for part in parts if not is_blank(part) or (part in NOTHING and parts[1:])]


def iso_date(cell: str) -> str | None:
    """Return a date in ISO form, also from `17.9.1912`; None if a cell is no date.

    Example:
        >>> iso_date("17.9.1912"), iso_date("1912-09-17"), iso_date("1912-09-31")
        ('1912-09-17', '1912-09-17', None)
    """
    day = _DAY.fullmatch(cell)
    written = f"{day[3]}-{day[2]:0>2}-{day[1]:0>2}" if day else cell
    with suppress(ValueError):
        return datetime.date.fromisoformat(written).isoformat() if _ISO.fullmatch(written) else None
    return None


def json_list(cell: str) -> list[Any] | None:
    """Return the values of a JSON list of texts or objects; None if a cell is not one.

    `[1912]` stays text, as catalogers put what they inferred in brackets; `[ 1912]` is a list.

    Example:
        >>> json_list('["Ehe; Lied", "Zoo"]'), json_list("[1912]"), json_list("[ 1912]")
        (['Ehe; Lied', 'Zoo'], None, [1912])
    """
    value = structured(cell) if cell.startswith("[") else None
    is_list = isinstance(value, list) and (cell.startswith("[ ") or _are_texts(value))
    return value if is_list else None


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str | dict) for value in values)
