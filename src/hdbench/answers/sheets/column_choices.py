"""A person's choices for the columns of a table: `--map COLUMN=path`."""

import re
from collections.abc import Mapping, Sequence

from hdbench.answers.fields import shown
from hdbench.answers.sheets.fields import FieldPath
from hdbench.answers.sheets.table import Table
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError

LEFT_OUT, KEY = "-", "id"
"""Choices for a column that is not used, and for the one that names the items."""

_PATH = re.compile(r"[^.\[\]\s][^.\[\]]*(?:\[\])?(?:\.[^.\[\]\s][^.\[\]]*(?:\[\])?){0,9}")


def read_choices(
    table: Table, choices: Mapping[str, str], paths: Sequence[FieldPath] | None
) -> dict[int, str]:
    """Return the choice for each column that has one, by its index, in the fields' spelling.

    Args:
        table: the table.
        choices: column's name → path, `-` or `id`.
        paths: the fields of a benchmark; None if the table makes its own.

    Raises:
        HdbenchError: there is no such column or field, or two columns are the key.
    """
    spellings = {field.path: field.path for field in paths or ()}
    spellings |= {path.removesuffix("[]"): path for path in spellings if path.endswith("[]")}
    chosen: dict[int, str] = {}
    for title, path in choices.items():
        choice = f"{title[:60]}={path[:60]}"
        index = _index(table, title, choice)
        if path in (LEFT_OUT, KEY):
            if path == KEY and KEY in chosen.values():
                raise HdbenchError(
                    "{choice}: another column is already given as id: keep one", choice=choice
                )
            chosen[index] = path
        elif paths is None:
            if not _PATH.fullmatch(path) or path.count("[]") > path.endswith("[]") + 1:
                raise HdbenchError(
                    "{choice}: not the path of a field: write it as publication.year, authors[] "
                    "or persons[].name",
                    choice=choice,
                )
            chosen[index] = path
        elif path in spellings:
            chosen[index] = spellings[path]
        else:
            raise HdbenchError(
                "{choice}: there is no such field: there are {names}{near}",
                choice=choice,
                names=shown(field.path for field in paths),
                near=did_you_mean(path, spellings),
            )
    return chosen


def _index(table: Table, title: str, choice: str) -> int:
    """Return the column of that name, in any case if there is one only."""
    alike = [
        index
        for index, name in enumerate(table.header)
        if name.casefold() == title.strip().casefold()
    ]
    exact = [index for index in alike if table.header[index] == title]
    if len(exact or alike) != 1:
        raise HdbenchError(
            "{choice}: {table} has no column of that name: it has {names}{near}",
            choice=choice,
            table=table.name,
            names=shown(table.header),
            near=did_you_mean(title, table.header),
        )
    return (exact or alike)[0]
