"""How two values of a field are compared: each way gives a similarity from 0.0 to 1.0."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from hdbench.errors import HdbenchError
from hdbench.scoring.text_equality import similarity

Comparator = Callable[[Any, Any], float]
"""Called with the ground truth's value and the answer's."""

_ISO_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_DIRECTIVE = re.compile(r"%(.)")
_FINER = {"m": 2, "b": 2, "B": 2, "d": 3, "j": 3}
"""What the directives of a date's format say beyond the year: 2 parts, with the month, or 3."""


class _Signs(NamedTuple):
    """How numbers are written in a locale."""

    decimal: str
    groups: str


_GROUP = 3
"""Digits of a group of a number."""

_LOCALES: dict[str, _Signs] = {
    "en": _Signs(".", ","),
    "de": _Signs(",", "."),
    "de-AT": _Signs(",", ". "),
    "de-CH": _Signs(".", "'’"),
    "fr": _Signs(",", " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"),
    "fr-CH": _Signs(",", "'’ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"),
    "it": _Signs(",", "."),
    "it-CH": _Signs(".", "'’"),
}


def exact(reference: Any, prediction: Any) -> float:
    """1.0 if the two values have the same text: 1947 and "1947", but not true and 1.

    Example:
        >>> exact(1947, "1947"), exact(True, 1)
        (1.0, 0.0)
    """
    return float(_text(reference) == _text(prediction))


def cer_similarity(reference: Any, prediction: Any) -> float:
    """1 − CER: the edit distance over the reference's length, which counts as 1 at most.

    Example:
        >>> cer_similarity("Haus", "Hans")
        0.75
    """
    truth, answer = _text(reference), _text(prediction)
    if not truth:
        return float(not answer)
    return 1.0 - min(1.0, Levenshtein.distance(truth, answer) / len(truth))


def read_number(signs: _Signs, value: Any) -> Decimal | None:
    """The number that a value is or is written as; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = Decimal(repr(value))  # 0.1 as it is written, and integers of any length
        return number if number.is_finite() else None
    if not isinstance(value, str):
        return None
    whole, point, part = value.strip().partition(signs.decimal)
    sign = whole[:1] if whole[:1] in ("-", "+", "−") else ""
    groups = re.split(f"[{re.escape(signs.groups)}]", whole.removeprefix(sign))
    digits = [*groups, part] if point else groups
    if (
        not all(group.isascii() and group.isdigit() for group in digits)
        or any(len(group) != _GROUP for group in groups[1:])
        or (len(groups) > 1 and len(groups[0]) > _GROUP)
    ):
        return None
    number = Decimal("".join(groups) + ("." + part if point else ""))
    return number.copy_negate() if sign in ("-", "−") else number


def read_date(formats: Sequence[str], value: Any) -> tuple[int, ...] | None:
    """Year, month and day, as far as a value says them; None if it is not a date."""
    text = _text(value).strip()
    if match := _ISO_DATE.fullmatch(text):
        date = tuple(int(part) for part in match.groups() if part)
        return date if _is_date(date) else None
    for form in formats:
        try:
            at = datetime.strptime(text, form)
        except ValueError:
            continue
        parts = max([1, *(_FINER.get(directive, 1) for directive in _DIRECTIVE.findall(form))])
        return (at.year, at.month, at.day)[:parts]
    return None


def comparator(option: str, value: Any) -> Comparator:
    """The comparator that an option names.

    Args:
        option: its place, for messages.
        value: `similarity`, `exact`, `number`, `date`, `boolean` or `cer`; the middle three may be
            the only key of an object with their parameters: `{"number": {"locale": "de-CH"}}`,
            `{"date": {"formats": ["%d.%m.%Y"]}}`, `{"boolean": {"true": ["ja"], "false": []}}`.

    Raises:
        HdbenchError: there is none of that name, or a parameter is unusable.
    """
    name, parameters = value, {}
    if has_parameters(value):
        [(name, settings)] = value.items()
        parameters = {_name(key): setting for key, setting in settings.items()}
    if isinstance(name, str) and name in _PLAIN:
        return _PLAIN[name]
    if not isinstance(name, str) or name not in _MAKERS:
        raise HdbenchError(
            "{option}: {value} is none of {choices}",
            option=option,
            value=repr(value),
            choices=", ".join((*_PLAIN, *_MAKERS)),
        )
    return _MAKERS[name](option, **parameters)


def has_parameters(value: Any) -> bool:
    """Whether a value is a comparator with its parameters, and not paths with comparators."""
    return (
        isinstance(value, Mapping)
        and len(value) == 1
        and all(
            name in _PARAMETERS
            and isinstance(settings, Mapping)
            and set(map(_name, settings)) <= _PARAMETERS[name]
            for name, settings in value.items()
        )
    )


def _name(key: Any) -> str:
    """Return a parameter's name; YAML reads an unquoted `true:` as a boolean."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _number(option: str, locale: Any = "en") -> Comparator:
    signs = _LOCALES.get(str(locale).replace("_", "-"))
    if signs is None:
        raise HdbenchError(
            "{option}: no locale {locale}: choose one of {choices}",
            option=option,
            locale=repr(locale),
            choices=", ".join(_LOCALES),
        )
    return partial(_same, partial(read_number, signs), _equal)


def _date(option: str, formats: Any = ()) -> Comparator:
    if not _are_texts(formats):
        raise HdbenchError(
            '{option}: formats: {formats} is not a list such as ["%d.%m.%Y"]',
            option=option,
            formats=repr(formats),
        )
    for form in formats:
        if not _reads_years(form):
            raise HdbenchError(
                "{option}: formats: {form!r} is not a format of dates with a year",
                option=option,
                form=form,
            )
    return partial(_same, partial(read_date, tuple(formats)), _is_within)


def _reads_years(form: str) -> bool:
    """Return whether a format has a year, and nothing that Python cannot read."""
    year = 1987
    try:
        return datetime.strptime(datetime(year, 3, 2).strftime(form), form).year == year
    except ValueError:
        return False


def _boolean(option: str, **spellings: Any) -> Comparator:
    truth_of = {"true": True, "false": False}
    for name, texts in spellings.items():
        if not _are_texts(texts):
            raise HdbenchError(
                "{option}: {name}: {texts} is not a list of texts",
                option=option,
                name=name,
                texts=repr(texts),
            )
        truth_of |= {text.casefold(): truth_of[name] for text in texts}
    return partial(_same, partial(_read_boolean, truth_of), _equal)


_PLAIN: dict[str, Comparator] = {
    "similarity": similarity,
    "exact": exact,
    "cer": cer_similarity,
}
_MAKERS: dict[str, Callable[..., Comparator]] = {
    "number": _number,
    "date": _date,
    "boolean": _boolean,
}
_PARAMETERS: dict[str, set[str]] = {
    "number": {"locale"},
    "date": {"formats"},
    "boolean": {"true", "false"},
}


def _same(
    read: Callable[[Any], Any], agree: Callable[[Any, Any], bool], reference: Any, prediction: Any
) -> float:
    """1.0 if both can be read and agree; if one cannot, whether their texts are the same."""
    truth, answer = read(reference), read(prediction)
    if truth is None or answer is None:
        return exact(reference, prediction)
    return float(agree(truth, answer))


def _equal(truth: Any, answer: Any) -> bool:
    return bool(truth == answer)


def _is_within(truth: tuple[int, ...], answer: tuple[int, ...]) -> bool:
    """Return whether two dates are the same as precisely as the ground truth says it."""
    return answer[: len(truth)] == truth


def _is_date(date: tuple[int, ...]) -> bool:
    try:
        datetime(*(*date, 1, 1)[:3])  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def _read_boolean(truth_of: Mapping[str, bool], value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return truth_of.get(value.strip().casefold()) if isinstance(value, str) else None


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(text, str) for text in value)
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
