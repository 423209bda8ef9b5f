"""The form in which texts are compared: what is canonically equal is equal."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any
from unicodedata import combining, is_normalized, normalize

from hdbench.common.bounds import MAX_DEPTH

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

_WITHOUT_TEXT = frozenset({int, float, bool, type(None)})

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
    if not text.replace("\n", "").isprintable():  # as hardly any is
        text = _OTHER_FORMS.sub(_canonical_sign, text).strip(_JOINERS)
    if is_normalized("NFC", text):
        return text
    return normalize("NFC", _MANY_MARKS.sub(_in_order, text))


class OtherFormError(Exception):
    """A text is not written in canonical form."""


def check_form(value: Any) -> None:
    """Refuse a text that is not written in canonical form.

    Raises:
        OtherFormError: it is not.
    """
    if (
        isinstance(value, str)
        and not (value.isprintable() and (value.isascii() or is_normalized("NFC", value)))
        and canonical_text(value) != value
    ):
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
    if depth == MAX_DEPTH and _is_plain(value):
        return value
    form: Any
    if isinstance(value, dict):
        form = {
            canonical_value(key): canonical_value(child, depth - 1) for key, child in value.items()
        }
    else:
        form = [canonical_value(child, depth - 1) for child in value]
    return value if form == value else form


def _is_plain(value: Any) -> bool:
    """Whether all texts are surely in canonical form, as those of nearly all records are."""
    texts: list[str] = []
    left = [value]
    for node in left:
        children = node
        if isinstance(node, dict):
            texts += node
            children = node.values()
        for child in children:
            kind = type(child)
            if kind is str:
                texts.append(child)
            elif kind is dict or kind is list:
                left.append(child)
            elif kind not in _WITHOUT_TEXT:
                return False
    try:
        return are_plain(texts)
    except TypeError:  # a key of another type, from Python
        return False


def are_plain(texts: Iterable[str]) -> bool:
    """Whether texts are surely in canonical form, as nearly all are."""
    text = "".join(texts)  # in canonical form only if each of them is
    return text.replace("\n", "").isprintable() and (text.isascii() or is_normalized("NFC", text))


def _canonical_sign(match: re.Match[str]) -> str:
    return _FORMS[match[0][0]]


def _in_order(marks: re.Match[str]) -> str:
    """Marks decomposed and in canonical order, which `normalize` then finds in linear time."""
    apart = "".join(normalize("NFD", mark) for mark in marks[0])
    runs = groupby(apart, key=lambda mark: combining(mark) > 0)
    return "".join(mark for _, run in runs for mark in sorted(run, key=combining))
