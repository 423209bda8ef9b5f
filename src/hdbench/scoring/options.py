"""Options that general metrics share, checked."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hdbench.errors import HdbenchError

_MAX_DIGITS = 15


def read_digits(value: Any, names: Sequence[str]) -> dict[str, int]:
    """The option `round`: what is rounded → decimals.

    Raises:
        HdbenchError: it is unusable.
    """
    if not isinstance(value, Mapping) or not all(
        name in names and type(digits) is int and 0 <= digits <= _MAX_DIGITS
        for name, digits in value.items()
    ):
        raise HdbenchError(
            "round: {value} is not an object of {names} and decimals",
            value=repr(value),
            names=", ".join(names),
        )
    return dict(value)


def read_figures(value: Any, names: Sequence[str]) -> dict[str, tuple[str, float]]:
    """The option `figures`: name → the figure that it repeats, and the factor.

    Args:
        value: the option.
        names: the keys of `rates`; `items` is a figure in any case.

    Raises:
        HdbenchError: it is unusable, or repeats a figure that there is not.
    """
    if not isinstance(value, Mapping):
        raise HdbenchError(
            "figures: {value} is not an object of names and figures", value=repr(value)
        )
    figures = {}
    for name, figure in value.items():
        if not isinstance(figure, Mapping) or not {"of"} <= figure.keys() <= {"of", "scale"}:
            raise HdbenchError(
                'figures: {name}: {each} is not {{"of": FIGURE, "scale": 1}}',
                name=name,
                each=repr(figure),
            )
        if figure["of"] not in (*names, "items"):
            raise HdbenchError(
                "figures: {name}: there is no figure {figure} to repeat",
                name=name,
                figure=repr(figure["of"]),
            )
        figures[str(name)] = (figure["of"], number("figures", figure.get("scale", 1)))
    return figures


def number(option: str, value: Any) -> float:
    """A number of 0 or more.

    Raises:
        HdbenchError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HdbenchError("{option}: {value} is not a number", option=option, value=repr(value))
    if not 0 <= value <= sys.float_info.max:  # nor NaN, nor an integer that is not a float
        raise HdbenchError(
            "{option}: {value} is not a number of 0 or more", option=option, value=repr(value)
        )
    return float(value)


def one_of(option: str, value: Any, choices: Sequence[str]) -> str:
    """A value, if it is one of the choices.

    Raises:
        HdbenchError: it is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise HdbenchError(
            "{option}: {value} is not one of {choices}",
            option=option,
            value=repr(value),
            choices=", ".join(choices),
        )
    return value


def renamed(figures: Mapping[str, Any], names: Mapping[str, tuple[str, float]]) -> dict[str, Any]:
    """The figures that the option `figures` adds, from those of the metric."""
    return {
        name: figures[of] if scale == 1 or figures[of] is None else figures[of] * scale
        for name, (of, scale) in names.items()
    }


def added_plainly(numbers: Iterable[float]) -> float:
    """From left to right, each sum rounded, as some published results were computed."""
    total = 0.0
    for value in numbers:  # sum() compensates from Python 3.12 on
        total += value
    return total
