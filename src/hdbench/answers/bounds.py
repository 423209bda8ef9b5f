"""Bounds on reading: on tables, and on a file of answers if the caller sets them."""

from typing import Any, NamedTuple

from hdbench.common.bounds import MAX_CELLS, MAX_TEXT
from hdbench.errors import HdbenchError


def too_many_cells(place: object) -> HdbenchError:
    """Return the error of a table with over `MAX_CELLS`, those that short rows lack included."""
    return HdbenchError(
        "{place}: more than {most:,} cells, rows times columns: split the table",
        place=place,
        most=MAX_CELLS,
    )


def too_much_text(place: object) -> HdbenchError:
    """Return the error of a table with more text than `MAX_TEXT`."""
    return HdbenchError(
        "{place}: more than {most} million characters in its cells, where a text that several "
        "cells share counts for each: split the table",
        place=place,
        most=MAX_TEXT >> 20,
    )


class Bounds(NamedTuple):
    """Bounds on a file of answers; None stands for no bound.

    Attributes:
        models: the maximum number of models.
        values: the maximum number of values in all answers of a model.
    """

    models: int | None = None
    values: int | None = None


_NESTED = (dict, list)  # a union takes three times as long


def number_of_values(answer: Any) -> int:
    """Return the number of values in an answer, at any depth; an empty object or list counts as 1.

    Example:
        >>> number_of_values({"title": "Stellingen", "pages": [1, 2], "notes": {}})
        4
    """
    number, left = 1, [answer] if isinstance(answer, _NESTED) else []
    for node in left:
        if node:  # counts as what is in it
            number += len(node) - 1
            for value in node.values() if isinstance(node, dict) else node:
                kind = type(value)  # as JSON is read; `isinstance` takes twice as long
                if kind is dict or kind is list:
                    left.append(value)
    return number
