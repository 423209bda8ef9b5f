"""The texts of the pages, also where a message names an option of a command, which they lack."""

from pathlib import Path

from hdbench.common.texts import Texts, formatted
from hdbench.common.translation import translated
from hdbench.errors import Message

TEXTS = Texts(Path(__file__).with_name("texts"))

WORDING = {
    "nothing in the ground truth says which image a row belongs to: name the column with the names "
    "of the images, as in --map Dateiname=id": "no_column_names_items",
    "no ground truth fits an image: the first is for {key!r} ({place}), the first image is "
    "{first!r}: name the column with the names of the images, as in --map Dateiname=id": (
        "no_row_fits"
    ),
    "{place}: no column goes to a field: give some with --map COLUMN=path; it has: {names}": (
        "no_column_is_used"
    ),
    "{place}: the columns {first!r} and {second!r} both go to {path}: leave one out with --map "
    "COLUMN=-": "columns_clash",
    "no field is just this: give one with --map ({names})": "no_field_is_this",
    "--map {title}={prefix}{name}: a column's name has small letters, digits and _ only, and is "
    "none of {names}": "wrong_own_column",
    "--map COLUMN=FIELD: is for tables; this ground truth is none": "no_table",
    "--language {language}: must be a code such as de, fr or la": "wrong_language",
    "{option}: another column is already given as id: keep one": "two_columns_name_items",
    "{option}: not the path of a field: write it as publication.year, authors[] or "
    "persons[].name": "wrong_field",
    "{option}: the benchmark has no such field: it has {names}{near}": "no_such_field",
    "--values: {number:,} values to verify are too few: at least {least:,} have to be read to show "
    "that at most {limit:.3g} of the values are wrong, even if no error is found; 600 are usual": (
        "too_few_to_verify"
    ),
    "{values:,} values are too few: {learn:,} of them are read to learn from, and at least "
    "{least:,} to verify it, so that none is left to accept: name fewer with --values, or read "
    "every value": "too_few_values",
    "{benchmark}: values of it were verified for another plan ({hash}…), and to look, learn again "
    "and try once more breaks the promise: use what was decided then; next time, plan for several "
    "tries (--tries)": "verified_before",
    "--control {control}: {place} has a control sample of {count:,} already, and its size is not "
    "changed afterwards: leave this option as it was, or choose another -o": "other_control",
    "--format {form}: none of the values has a place in the mapping: name one for the fields of "
    "this benchmark with --mapping": "mapping_places_nothing",
    "--drafts: two runs have the same name: rename one of them": "two_runs_of_a_name",
    "{place}: has changes by {name}, which is your own pseudonym here, that are not in {folder}: "
    "nothing is taken in. If you made them on another computer, copy the folder from there, or "
    "choose another pseudonym for this computer with --as": "own_changes",
    "the good models ({good}) come from {makers} only: name runs from at least {least} makers, as "
    "two may share an error{others}": "too_few_makers",
}
"""Template of a message → the key of what pages say instead, with the same values."""


def say_on_page(message: str, language: str) -> str:
    """Return a message in a language, in the words of the pages.

    Args:
        message: what is said.
        language: the page's language.
    """
    key = WORDING.get(message.template) if isinstance(message, Message) else None
    if key is None:
        return translated(message, language)
    assert isinstance(message, Message)  # noqa: S101  only these have a key
    values = {
        name: translated(value, language).removeprefix("--map ")
        if isinstance(value, str)
        else value
        for name, value in message.values.items()
    }
    return formatted(TEXTS.template(key, language), language, values)
