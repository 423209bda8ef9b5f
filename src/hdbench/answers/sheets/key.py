"""The column of a table that names the items."""

from collections.abc import Collection, Sequence
from itertools import chain

from hdbench.answers.ids import form_of_parts, form_without_page, plain_form
from hdbench.answers.sheets.words import meanings
from hdbench.errors import Message

ENOUGH = 0.5
"""The share of items or rows that a column must name to be the key."""


def key_of(
    header: Sequence[str],
    filled: Sequence[Sequence[str]],
    file_names: Sequence[str],
    *,
    allowed: Collection[int],
    unnamed: Collection[int],
) -> tuple[int, str] | None:
    """Return the column that names the items, and why; None if there is none.

    Args:
        header: the names of the columns.
        filled: their cells that are not blank.
        file_names: the names of the items' files.
        allowed: the columns that may be the key by their values.
        unnamed: those that may be it by their name.

    Example:
        >>> header, filled = ["Titel", "Nr."], [["Die Ehe", "Lieder"], ["7", "8"]]
        >>> both = {"allowed": {0, 1}, "unnamed": {0, 1}}
        >>> key_of(header, filled, ["Scan 0007.jpg", "0007.jpg", "0008.jpg"], **both)
        (1, 'names 2 of 3 files')
    """
    forms = {plain_form(name): number for number, name in enumerate(file_names)}
    for form in (form_of_parts, form_without_page):
        for number, name in enumerate(file_names):
            forms.setdefault(form(name), number)
    forms.pop("", None)
    best = (0, False, 0)
    for index in sorted(allowed):
        cells = set(filled[index])
        matched = {
            forms[form]
            for form in chain(map(plain_form, cells), map(form_of_parts, cells))
            if form in forms
        }
        if len(matched) >= ENOUGH * min(len(cells), len(file_names)):
            best = max(best, (len(matched), meanings(header[index]) == ["file"], -index))
    number, _, index = best
    if number:
        files = len(file_names)
        return -index, Message(
            "names {number:,} of 1 file",
            plural="names {number:,} of {count:,} files",
            number=number,
            count=files,
        )
    for word in ("file", "id"):
        called = [index for index in sorted(unnamed) if meanings(header[index]) == [word]]
        index = max(called, key=lambda column: len(set(filled[column])), default=-1)
        # An `ID type` has the same value in every row; several rows may belong to one image.
        least = min(2, len(filled[index])) if word == "id" else 1
        if called and filled[index] and len(set(filled[index])) >= least:
            return index, Message(
                "by its name: no file is called so" if file_names else "by its name"
            )
    return None
