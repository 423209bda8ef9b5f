"""The columns of a work sheet, and the texts in its cells."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal, get_args

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.answers.cells import plain
from hdbench.answers.letters import text_of
from hdbench.common.excel import cell_text
from hdbench.common.texts import COMPLETE, decimal
from hdbench.common.translation import translated
from hdbench.errors import Message

Column = Literal["item", "field", "image", "value", "remark", "confidence", "reason", "key"]

COLUMNS: tuple[Column, ...] = get_args(Column)

HEADINGS: dict[Column, Message] = {
    "item": Message("Item"),
    "field": Message("Field"),
    "image": Message("Image"),
    "value": Message("Value"),
    "remark": Message("Remark"),
    "confidence": Message("Confidence"),
    "reason": Message("Reason"),
    "key": Message("Key (leave as it is)"),
}

NOT_ON_IMAGE = Message("(not on the image)")
NOT_IN_TEXT = Message("(not in the text)")
"""Choices for an empty value, of images and of texts."""

_LETTERS = "bcdfghjklmnpqrstvwxz"
_KEY_LENGTH = 16


def key_of(seal: str, key: ValueKey) -> str:
    """Return the key of a value in a work sheet.

    It has letters only, as a spreadsheet program might take digits for a number, and no vowels, so
    that it is not taken for a word. It tells rows of other folders from those of this one, and
    rows whose cells were moved.

    Args:
        seal: sha256 of the values in the folder of `hdbench trust apply`.
        key: the value.
    """
    text = json.dumps([seal, *key])
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    letters = []
    for _ in range(_KEY_LENGTH):
        number, digit = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[digit])
    return "".join(letters)


def column_called(heading: str) -> Column | None:
    """Return the column with a heading in any language; None if it is another one.

    Example:
        >>> column_called(" wert"), column_called("Value"), column_called("Run otter")
        ('value', 'value', None)
    """
    wanted = _folded(heading)
    return next((column for column in COLUMNS if wanted in _in_all(HEADINGS[column])), None)


def nothing_in(media: str) -> Message:
    """Return what stands for an empty value.

    Args:
        media: the media of the benchmark: `image` or `text`.
    """
    return NOT_IN_TEXT if media == "text" else NOT_ON_IMAGE


def means_nothing(text: str) -> bool:
    """Return whether a cell stands for an empty value.

    Example:
        >>> means_nothing("(Nicht auf dem Bild)"), means_nothing("")
        (True, False)
    """
    return _folded(text) in _in_all(NOT_ON_IMAGE) | _in_all(NOT_IN_TEXT)


def shown_value(value: Any, language: str) -> str:
    r"""Return a value as the text of a cell; empty for nothing.

    The values of a list stand behind each other, separated by "; ", or on a line each if one of
    them has a semicolon.

    Example:
        >>> shown_value(1.5, "de"), shown_value(["Ehe", "Recht"], "en"), shown_value("007", "en")
        ('1,5', 'Ehe; Recht', '007')
        >>> shown_value(["Ehe; Lied", "Zoo"], "en")
        'Ehe; Lied\nZoo'
    """
    return shown_text(_as_text(value, language))


def shown_text(text: str) -> str:
    """Return a text that a cell of any spreadsheet program can hold.

    LibreOffice loses tabs in cells of several lines, so they are spaces.
    """
    return cell_text(plain(text).replace("\t", " "), is_plain=True)


def in_each_language(value: Any) -> Iterable[str]:
    """Return the texts that a value may have in a cell."""
    return {shown_value(value, language) for language in COMPLETE}


def _as_text(value: Any, language: str) -> str:
    if isinstance(value, float) and text_of(value):
        return decimal(text_of(value), language)
    if isinstance(value, list) and not any(isinstance(part, dict | list) for part in value):
        parts = [part for part in (_as_text(part, language) for part in value) if part]
        return ("\n" if any(";" in part for part in parts) else "; ").join(parts)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return text_of(value)


def _in_all(message: Message) -> set[str]:
    return {_folded(translated(message, language)) for language in COMPLETE}


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
