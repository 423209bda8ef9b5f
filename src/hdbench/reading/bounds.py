"""How much is read from a file of answers, if the caller sets bounds."""

from typing import Any, NamedTuple


class Bounds(NamedTuple):
    """How much a file of answers may have; None is any number.

    Attributes:
        models: the maximum number of models.
        values: the maximum number of values in all answers of a model.
    """

    models: int | None = None
    values: int | None = None


def number_of_values(answer: Any) -> int:
    """The number of values in an answer, at any depth; an empty object or list counts as one.

    Example:
        >>> number_of_values({"title": "Stellingen", "pages": [1, 2], "notes": {}})
        4
    """
    number, left = 0, [answer]
    while left:
        value = left.pop()
        if isinstance(value, dict | list) and value:
            left.extend(value.values() if isinstance(value, dict) else value)
        else:
            number += 1
    return number
