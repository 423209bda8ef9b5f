"""When two texts are equal, what can be done to them before, and how alike they are otherwise.

Whether two values of a field match is decided in `records/compare.py`, by these and by the ways to
compare in `records/values.py`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any
from unicodedata import combining, is_normalized, normalize

from rapidfuzz import fuzz

from hdbench.common.bounds import MAX_DEPTH
from hdbench.errors import HdbenchError

_JOINERS = "\u200c\u200d\u2060"
"""Zero-width joiner and non-joiner, and word joiner: between two letters they mean something."""

_FORMS = {
    **dict.fromkeys("\r\u2028\u2029", "\n"),
    **dict.fromkeys("\u00a0\u202f\u2007", " "),
    # Zero-width space, byte order mark, and marks, embeddings and isolates of a direction.
    **dict.fromkeys("\u200b\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e", ""),
    **dict.fromkeys("\u2066\u2067\u2068\u2069", ""),
}
_OTHER_FORMS = re.compile(rf"\r\n|[{''.join(_FORMS)}]")

_MANY_MARKS = re.compile(r"[^\w\s!-~]{30,}")
"""Finds long runs of combining marks, among others. `normalize` sorts them in quadratic time."""


def canonical_text(text: str) -> str:
    r"""A text in Unicode's form NFC, with one kind of line ends and spaces, without signs unseen.

    CR LF, CR, U+2028 and U+2029 become line feeds, no-break spaces (U+00A0, U+202F, U+2007) spaces.
    Zero-width spaces, byte order marks and signs of direction go, joiners at the ends. Everything
    else stays, soft hyphens too.

    Example:
        >>> canonical_text("Za\u0308hle\u00a010\r\n\ufeff") == "Zähle 10\n"
        True
    """
    if text.isascii() and "\r" not in text:  # as most are
        return text
    if not text.replace("\n", "").isprintable():  # as hardly any is
        text = _OTHER_FORMS.sub(_canonical_sign, text).strip(_JOINERS)
    if is_normalized("NFC", text):
        return text
    return normalize("NFC", _MANY_MARKS.sub(_in_order, text))


class OtherFormError(Exception):
    """A text is not written in canonical form."""


def check_forms(values: Iterable[Any]) -> None:
    """Refuse texts that are not written in canonical form.

    Raises:
        OtherFormError: one of them is not.
    """
    for value in values:
        if not isinstance(value, str):
            continue
        if value.isascii():  # as most are
            has_form = "\r" not in value
        else:
            has_form = value.isprintable() and is_normalized("NFC", value)
        if not has_form and canonical_text(value) != value:
            raise OtherFormError


def canonical_value(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A JSON value with its texts and keys in canonical form; the value itself if they are.

    Args:
        value: the value.
        depth: what is nested deeper is left as it is: no JSON that is read has it.
    """
    if isinstance(value, str):
        return canonical_text(value)
    if not isinstance(value, dict | list) or not depth:
        return value
    if depth == MAX_DEPTH and _has_form(value):
        return value
    form: Any
    if isinstance(value, dict):
        form = {
            canonical_value(key): canonical_value(child, depth - 1) for key, child in value.items()
        }
    else:
        form = [canonical_value(child, depth - 1) for child in value]
    return value if form == value else form


def _has_form(value: Any) -> bool:
    """Whether all texts are surely in canonical form, as those of nearly all records are."""
    text = repr(value)  # has a backslash for each sign that is not shown
    return "\\" not in text and (text.isascii() or is_normalized("NFC", text))


def _canonical_sign(match: re.Match[str]) -> str:
    return _FORMS[match[0][0]]


def _in_order(marks: re.Match[str]) -> str:
    """Marks decomposed and in canonical order, which `normalize` then finds in linear time."""
    apart = "".join(normalize("NFD", mark) for mark in marks[0])
    runs = groupby(apart, key=lambda mark: combining(mark) > 0)
    return "".join(mark for _, run in runs for mark in sorted(run, key=combining))


# What can be done to texts before they are compared, as a named, ordered list

Normalizer = Callable[[str], str]

_HYPHENATION = re.compile(r"[-‐¬⸗=][^\S\n]*\n[^\S\n]*")


def _without_punctuation(text: str) -> str:
    return "".join(sign for sign in text if not unicodedata.category(sign).startswith("P"))


def _without_diacritics(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    base = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", base)


def _without_long_s(text: str) -> str:
    return text.replace("ſ", "s")


def _fold_space(text: str) -> str:
    return " ".join(text.split())


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())


OF_VALUES: dict[str, Normalizer] = {
    "nfc": partial(unicodedata.normalize, "NFC"),
    "nfkc": partial(unicodedata.normalize, "NFKC"),
    "lowercase": str.lower,
    "casefold": str.casefold,
    "whitespace": _fold_space,
    "punctuation": _without_punctuation,
    "long_s": _without_long_s,
}
"""Steps for any text by name: `whitespace` folds runs of it to one space and strips the ends,
`punctuation` removes the characters of the Unicode categories P, `long_s` makes ſ an s."""

OF_TRANSCRIPTIONS: dict[str, Normalizer] = {
    **OF_VALUES,
    "line_breaks": _in_one_line,
    "hyphenation": partial(_HYPHENATION.sub, ""),
    "diacritics": _without_diacritics,
}
"""Steps for texts with lines: `line_breaks` makes each a space; `hyphenation` removes a hyphen
(`-`, `‐`, `¬`, `⸗` or `=`) at a line's end together with the line break; `diacritics` removes
combining characters, also from composed ones."""


def normalizer(
    name: str, steps: Any, steps_by_name: dict[str, Normalizer], *, can_remove: bool = True
) -> tuple[Normalizer, ...]:
    """The steps with these names, in order; `{"remove": "…"}` removes each of its characters.

    Args:
        name: what is normalized, for messages.
        steps: a list of names.
        steps_by_name: the steps that there are.
        can_remove: whether `{"remove": "…"}` is one as well.

    Raises:
        HdbenchError: it is not a list, or has an unknown name.

    Example:
        >>> lower, fold = normalizer("normalize", ["lowercase", "whitespace"], OF_VALUES)
        >>> fold(lower("Die  Ehe "))
        'die ehe'
    """
    if isinstance(steps, str) or not isinstance(steps, Sequence):
        raise HdbenchError(
            "{name}: {steps} is not a list of {names}",
            name=name,
            steps=repr(steps),
            names=", ".join(steps_by_name),
        )
    return tuple(_step(name, step, steps_by_name, can_remove) for step in steps)


def _step(
    name: str, step: Any, steps_by_name: dict[str, Normalizer], can_remove: bool
) -> Normalizer:
    if isinstance(step, str) and step in steps_by_name:
        return steps_by_name[step]
    is_remove = isinstance(step, dict) and step.keys() == {"remove"}
    if can_remove and is_remove and isinstance(step["remove"], str):
        return partial(_remove, str.maketrans("", "", step["remove"]))
    choices = [*steps_by_name, '{"remove": "CHARACTERS"}'] if can_remove else steps_by_name
    raise HdbenchError(
        "{name}: {step} is none of {choices}",
        name=name,
        step=repr(step),
        choices=", ".join(choices),
    )


def _remove(characters: dict[int, Any], text: str) -> str:
    return text.translate(characters)


# How alike two values are


def similarity(a: Any, b: Any) -> float:
    """Normalised Indel similarity of two values, case- and white-space-sensitive.

    1.0 if they or their `str()` forms are equal; 0.0 if one is null or neither a string nor a
    number; otherwise `rapidfuzz.fuzz.ratio(str(a), str(b)) / 100`. Symmetric.

    Args:
        a: a JSON value.
        b: a JSON value.

    Returns:
        A similarity from 0.0 to 1.0, higher is better.

    Example:
        >>> similarity("X,184", "X, 184")
        0.9090909090909091
        >>> similarity(1957, "1957")
        1.0
        >>> similarity("", None)
        0.0
    """
    if isinstance(a, str) and isinstance(b, str):  # nearly always
        return fuzz.ratio(a, b) / 100
    if a == b:
        return 1.0
    if a is None or b is None:
        return 0.0
    text_a, text_b = str(a), str(b)
    if text_a == text_b:
        return 1.0
    if not isinstance(a, str | int | float) or not isinstance(b, str | int | float):
        return 0.0
    return fuzz.ratio(text_a, text_b) / 100
