"""A list of items that people look at: a plan's sample, a work list or a control sample."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hdbench.common.checked import check_file
from hdbench.common.csv_files import as_it_was
from hdbench.errors import HdbenchError
from hdbench.reading.csv_lines import decode_or_cp1252, delimiter_of, lines
from hdbench.trust.control import read_control
from hdbench.trust.plan import read_plan

MAX_FILE = 256 * 2**20
"""Maximum size in bytes of a list: a work list of a million items has a tenth of it."""

_KIND = re.compile(rb"^(plan|control): 1\s*$", re.MULTILINE)
_HEAD = 4096
"""Within so many bytes, a plan or a control sample says what it is."""


class Listed(NamedTuple):
    """What is to be looked at.

    Attributes:
        fields: id → the fields to look at, in the order in which the items come; none for all.
        blind: whether the items must be checked without seeing any answer.
    """

    fields: Mapping[str, tuple[str, ...]]
    blind: bool


def read_listed(path: Path) -> Listed:
    """The items of a plan, a control sample or a work list; see `hdbench.trust.out`.

    A work list is CSV with the columns `id` and, with commas between them, `fields`; others are
    ignored. It may be cut, sorted and saved again by a spreadsheet program.

    Raises:
        HdbenchError: it is none of them, cannot be read or has no item, or a plan or control sample
            was changed.
    """
    check_file(path, MAX_FILE, "a list of items")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from error
    kind = _KIND.search(data[:_HEAD])
    if kind:
        found = read_plan(path) if kind[1] == b"plan" else read_control(path)
        return Listed(dict.fromkeys(found.sample, ()), blind=True)
    return Listed(_work_list(data, str(path)), blind=False)


def _work_list(data: bytes, name: str) -> dict[str, tuple[str, ...]]:
    text, _ = decode_or_cp1252(data, name)
    delimiter = delimiter_of(text, lambda found: len(next(found, (0, []))[1]))
    rows = lines(text, delimiter, name)
    head = [title.strip().casefold() for title in next(rows, (0, []))[1]]
    if "id" not in head:
        raise HdbenchError(
            f"{name}: neither a plan of hdbench trust plan, nor a control sample or work list of "
            "hdbench trust apply, which has a column id"
        )
    places = [head.index(title) if title in head else None for title in ("id", "fields")]
    found = {}
    for _, cells in rows:
        item, fields = (
            cells[place] if place is not None and place < len(cells) else "" for place in places
        )
        if item:
            names = (each.strip() for each in fields.split(","))
            found[as_it_was(item)] = tuple(filter(None, names))
    if not found:
        raise HdbenchError(f"{name}: lists no items: there is nothing to look at")
    return found
