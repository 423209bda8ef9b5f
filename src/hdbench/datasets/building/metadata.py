"""The lines of a built `metadata.jsonl`."""

import json
from typing import Any

from hdbench.benchmarks.provenance import COLUMNS
from hdbench.benchmarks.spec import MEDIA_KEYS, BenchmarkSpec
from hdbench.benchmarks.truths import PROPOSED, PUBLISHED, TRUTH
from hdbench.datasets.building.recipe import RecipeRow
from hdbench.errors import HdbenchError, Message

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


def metadata_line(
    row: RecipeRow, copies: list[tuple[str, str]], spec: BenchmarkSpec, *, has_proposed: bool
) -> bytes:
    """One line of the metadata; a ground truth is JSON text, so "", null and absent stay so.

    Args:
        row: the row.
        copies: the path in the repository and the sha256 of each of its media that are there.
        spec: the benchmark.
        has_proposed: whether the rows also have a ground truth with proposed corrections.

    Raises:
        HdbenchError: the row's columns are not the benchmark's, or a value is unusable.
    """
    # Only some rows have those that say how the ground truth was made.
    columns = {**dict.fromkeys(COLUMNS.keys() & spec.columns.keys()), **row.columns}
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
    """Return what a model is shown of a row, and the row's id.

    The media are null unless all are there: half a letter is not the letter.
    """
    if media == "text":
        if not row.text.strip():
            raise HdbenchError("{id}: has no text", id=row.id)
        return {"text": row.text, "id": row.id}
    whole = copies if len(copies) == len(row.media) else []
    names: Any = [name for name, _ in whole] or None
    hashes: Any = [sha256 for _, sha256 in whole] or None
    if whole and media != "pages":
        (names,), (hashes,) = names, hashes
    return {MEDIA_KEYS[media]: names, "id": row.id, "sha256": hashes}
