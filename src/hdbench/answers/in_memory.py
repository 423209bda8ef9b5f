"""Answers that a program has in memory, as the entries of a JSON Lines file."""

import datetime
import json
import math
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hdbench.answers.cells import cell_of
from hdbench.answers.entries import is_empty
from hdbench.errors import HdbenchError

_MEDIA = ("Image", "Audio", "Video", "Pdf")
"""Types of columns of a `datasets.Dataset` that are no answers."""

Entry = dict[str, Any]
"""An id and an answer, as `EntryReader` reads it."""


def entries(values: Any, *, content: str = "prediction") -> Iterator[Entry]:
    """Yield an entry for each answer, in their order.

    A pandas index that has a name, or texts, is a column if there is no column `id`.

    Args:
        values: a DataFrame of pandas or polars, a `datasets.Dataset`, entries as dictionaries with
            an `id`, pairs of id and answer, or a dictionary or pandas Series id → answer.
        content: the key under which an answer that is a record stands.

    Raises:
        HdbenchError: it is none of these, or a table has no ids.

    Example:
        >>> list(entries({"0001": {"year": 1957}, "0002": "The year is 1957."}))
        [{'id': '0001', 'prediction': {'year': 1957}}, {'id': '0002', 'text': 'The year is 1957.'}]
    """
    if _is(values, "pandas", "Series"):
        values = values.to_dict()
    if _is(values, "pandas", "DataFrame"):
        values = _of_pandas(values)
    elif _is(values, "polars", "DataFrame"):
        values = values.to_dicts()
    elif _is(values, "datasets", "Dataset"):
        features = values.features.items()
        media = [name for name, kind in features if type(kind).__name__ in _MEDIA]
        values = values.remove_columns(media).with_format(None)
    elif isinstance(values, Mapping):
        values = values.items()
    elif isinstance(values, str | bytes) or not isinstance(values, Iterable):
        values = [values]
    for value in values:
        if isinstance(value, Mapping):
            yield dict(value)
        elif isinstance(value, tuple | list) and len(value) == 2:  # noqa: PLR2004
            item, answer = value
            item_id = str(item) if isinstance(item, int) else item
            answer = None if content == "prediction" and is_empty(_plain(answer)) else answer
            yield {"id": item_id, ("text" if isinstance(answer, str) else content): answer}
        else:
            raise HdbenchError(
                "{value}: give a path, a DataFrame, a Dataset, a list of dictionaries with an id "
                "or of pairs, or a dictionary of ids and answers",
                value=reprlib.repr(value),
            )


def write_entries(path: Path, written: Iterable[Entry]) -> None:
    """Write entries as JSON Lines; NaN within lists and dictionaries becomes null.

    Raises:
        HdbenchError: a value cannot be written as JSON.
    """
    with path.open("w", encoding="ascii", newline="\n") as file:
        for entry in written:
            file.write(as_json(entry) + "\n")


def as_json(value: Any) -> str:
    """Return a value as JSON; NaN within lists and dictionaries becomes null.

    Raises:
        HdbenchError: there is something in it that JSON cannot hold.
    """
    return json.dumps(_plain(value))


def _is(value: Any, package: str, name: str) -> bool:
    """Return whether a value is of a class of a package, which is not imported for that."""
    module = sys.modules.get(package)
    return module is not None and isinstance(value, getattr(module, name))


def _of_pandas(frame: Any) -> Iterator[Entry]:
    if "id" not in frame.columns and (frame.index.name or frame.index.inferred_type == "string"):
        frame = frame.reset_index(names=frame.index.name or "id")
    if not frame.columns.is_unique:
        raise HdbenchError(
            "two columns are called {name!r}",
            name=str(frame.columns[frame.columns.duplicated()][0]),
        )
    for row in frame.to_dict("records"):
        yield {str(name): value for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Return what JSON can hold in the place of a value of numpy, pandas or the calendar."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # an array or a number of numpy
        return _plain(value.tolist())
    if type(value).__name__ in ("NAType", "NaTType") or value != value:  # noqa: PLR0124  not a number
        return None
    if isinstance(value, datetime.date):  # also with a time
        return cell_of(value)
    if isinstance(value, str | int | float | None) and value not in (math.inf, -math.inf):
        return value
    raise HdbenchError(
        "{value}: a {type} cannot be an answer: leave its column out, or make it text or numbers",
        value=reprlib.repr(value),
        type=type(value).__name__,
    )
