"""Answers that a program has in memory, as the entries of a JSON Lines file."""

import datetime
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hdbench.answers.cells import cell_of
from hdbench.errors import HdbenchError

_MEDIA = ("Image", "Audio", "Video", "Pdf")
"""Columns of a `datasets.Dataset` that are no answers."""

Entry = dict[str, Any]
"""An id and an answer, as `EntryReader` reads it."""


def entries(values: Any, *, content: str = "prediction") -> Iterator[Entry]:
    """Yield an entry for each answer, in their order.

    A pandas index that has a name is a column, if there is no column `id`.

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
        yield from _of_pandas(values)
    elif _is(values, "polars", "DataFrame"):
        yield from values.to_dicts()
    elif _is(values, "datasets", "Dataset"):
        yield from _of_dataset(values)
    elif isinstance(values, Mapping):
        yield from (_entry(item, answer, content) for item, answer in values.items())
    elif isinstance(values, Iterable) and not isinstance(values, str | bytes):
        for value in values:
            if isinstance(value, Mapping):
                yield dict(value)
            elif isinstance(value, tuple | list) and len(value) == 2:  # noqa: PLR2004
                yield _entry(value[0], value[1], content)
            else:
                raise _unusable(value)
    else:
        raise _unusable(values)


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
    try:
        return _encode(value)
    except ValueError:  # a NaN somewhere inside
        return _encode(_plain(value))


def _is(value: Any, package: str, name: str) -> bool:
    """Return whether a value is of a class of a package, which is not imported for that."""
    module = sys.modules.get(package)
    return module is not None and isinstance(value, getattr(module, name))


def _unusable(value: Any) -> HdbenchError:
    return HdbenchError(
        "{value}: give a path, a DataFrame, a Dataset, a list of dictionaries with an id or of "
        "pairs, or a dictionary of ids and answers",
        value=_short(value),
    )


def _entry(item: Any, answer: Any, content: str) -> Entry:
    item_id = str(item) if isinstance(item, int) else item
    return {"id": item_id, ("text" if isinstance(answer, str) else content): answer}


def _of_pandas(frame: Any) -> Iterator[Entry]:
    if "id" not in frame.columns and frame.index.nlevels == 1 and frame.index.name is not None:
        frame = frame.reset_index(names="id" if frame.index.name == "id" else None)
    if not frame.columns.is_unique:
        raise HdbenchError(
            "two columns are called {name!r}",
            name=str(frame.columns[frame.columns.duplicated()][0]),
        )
    for row in frame.to_dict("records"):
        yield {str(name): value for name, value in row.items()}


def _of_dataset(dataset: Any) -> Iterator[Entry]:
    media = [name for name, kind in dataset.features.items() if type(kind).__name__ in _MEDIA]
    yield from dataset.remove_columns(media)


def _plain(value: Any) -> Any:
    """Return what JSON can hold in the place of a value of numpy, pandas or the calendar."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str | int | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if hasattr(value, "tolist"):  # an array or a number of numpy
        return _plain(value.tolist())
    if type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and math.isnan(value)
    ):
        return None
    if isinstance(value, datetime.date):  # also with a time
        return cell_of(value)
    raise HdbenchError(
        "{value}: a {type} cannot be an answer: leave its column out, or make it text or numbers",
        value=_short(value),
        type=type(value).__name__,
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004


_encode = json.JSONEncoder(allow_nan=False, default=_plain).encode
