"""The rows of a dataset, and the lines that they are in a built `metadata.jsonl`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hdbench.benchmarks.spec import (
    MEDIA_KEYS,
    PROPOSED,
    PROVENANCE_COLUMNS,
    PUBLISHED,
    TRUTH,
    BenchmarkSpec,
    Provenance,
)
from hdbench.errors import HdbenchError, Message

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

COLUMN_TYPES: dict[str, type] = {
    "string": str,
    "int32": int,
    "int64": int,
    "float64": float,
    "bool": bool,
    "date32": str,
    "strings": list,
}
"""The type of a column's values in JSON."""


class RecipeRow(NamedTuple):
    """One row to build.

    Attributes:
        media: the paths in the source of what a model is shown: one, or a letter's pages.
        ground_truth: all that scoring needs, and nothing else; None if it is missing.
        columns: the values of the benchmark's own columns.
        text: what a model is given where the benchmark has texts instead of media.
        published: the ground truth as published; None if it is `ground_truth`.
        proposed: the ground truth with the proposed corrections too; None if the benchmark has no
            such corrections.
    """

    id: str
    media: tuple[str, ...]
    ground_truth: dict[str, Any] | None
    columns: Mapping[str, Any] = MappingProxyType({})
    text: str = ""
    published: dict[str, Any] | None = None
    proposed: dict[str, Any] | None = None


@dataclass(frozen=True)
class Built:
    """A dataset that was built.

    Attributes:
        folder: the repository.
        version: the dataset's version.
        rows: how many rows it has.
        missing: the media files that the source lacks.
        without_truth: how many rows have no ground truth.
        metadata_sha256: the content hash.
        made: how a ground truth was made, where rows say it → how many were made so.
        truths: the columns with ground truths.
    """

    folder: Path
    version: str
    rows: int
    missing: list[str]
    without_truth: int
    metadata_sha256: str
    made: Mapping[Provenance, int] = field(default_factory=dict)
    truths: tuple[str, ...] = (TRUTH, PUBLISHED)


class DateColumns:
    """Finder of columns whose texts all begin like dates: `datasets` would add a time of day."""

    def __init__(self) -> None:
        self._all_dates: dict[str, bool] = {}

    def add(self, name: str, text: str) -> None:
        """Add the text of a column in a row."""
        if self._all_dates.get(name, True):
            self._all_dates[name] = bool(_ISO_DATE.match(text))

    def names(self) -> list[str]:
        """Return the columns in which every text seen begins like a date."""
        return [name for name, dates in self._all_dates.items() if dates]


def metadata_line(
    row: RecipeRow, copies: list[tuple[str, str]], spec: BenchmarkSpec, *, has_proposed: bool
) -> bytes:
    """Return a line of the metadata; a ground truth is JSON text, so "", null and absent stay so.

    Args:
        row: the row.
        copies: the path in the repository and the sha256 of each of its media that are there.
        spec: the benchmark.
        has_proposed: whether the rows also have a ground truth with proposed corrections.

    Raises:
        HdbenchError: the row's columns are not the benchmark's, or a value is unusable.
    """
    # Only some rows have the columns on how the ground truth was made.
    columns = {**dict.fromkeys(PROVENANCE_COLUMNS.keys() & spec.columns.keys()), **row.columns}
    if columns.keys() != spec.columns.keys():
        raise HdbenchError(
            "{id}: columns {there} where benchmark.yaml has {named}",
            id=row.id,
            there=", ".join(row.columns) or Message("none"),
            named=", ".join(spec.columns) or Message("none"),
        )
    for name, value in columns.items():
        if value is not None and type(value) is not COLUMN_TYPES[spec.columns[name]]:
            raise HdbenchError(
                "{id}: column {name}: {value} is not {kind}",
                id=row.id,
                name=name,
                value=repr(value),
                kind=spec.columns[name],
            )
    published = row.ground_truth if row.published is None else row.published
    shown = _shown(row, copies, spec.media)
    try:
        line = {
            **shown,
            TRUTH: _as_text(row.ground_truth),
            PUBLISHED: _as_text(published),
            **({PROPOSED: _as_text(row.proposed)} if has_proposed else {}),
            **{name: columns[name] for name in spec.columns},
        }
        return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except ValueError as error:  # NaN, or a lone surrogate
        raise HdbenchError("{place}: {why}", place=row.id, why=error) from error


def _as_text(truth: dict[str, Any] | None) -> str | None:
    return None if truth is None else json.dumps(truth, ensure_ascii=False, allow_nan=False)


def _shown(row: RecipeRow, copies: list[tuple[str, str]], media: str) -> dict[str, Any]:
    """Return the part of a row that a model is shown, and the row's id.

    The media are null unless all are there: half a letter is not the letter.
    """
    if media == "text":
        if not row.text.strip():
            raise HdbenchError("{id}: has no text", id=row.id)
        return {"text": row.text, "id": row.id}
    complete = copies if len(copies) == len(row.media) else []
    names: Any = [name for name, _ in complete] or None
    hashes: Any = [sha256 for _, sha256 in complete] or None
    if complete and media != "pages":
        (names,), (hashes,) = names, hashes
    return {MEDIA_KEYS[media]: names, "id": row.id, "sha256": hashes}


def next_version(version: str) -> str:
    """Return the version after one of three numbers; the part after a + is dropped.

    Example:
        >>> next_version("1.0.9")
        '1.0.10'
    """
    major, minor, patch = version.partition("+")[0].split(".")
    return f"{major}.{minor}.{int(patch) + 1}"
