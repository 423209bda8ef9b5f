"""Images in Parquet files, as `datasets` writes them."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from threading import Lock
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from hdbench.errors import HdbenchError
from hdbench.running.backend import InShard, Question
from hdbench.running.image_shards.sources import one_line_errors, opened, place_of, without_query

ID_COLUMNS = ("id", "key", "__key__", "image_id")
"""Columns with ids, the preferred first."""
NAME_COLUMNS = ("file_name", "filename", "path", "name")
"""Columns with the files' names, whose ids are without the extension."""
IMAGE_COLUMNS = ("image", "images", "pages", "page", "jpg", "png", "pdf", "document")
"""Columns with images, the preferred first."""

MAX_GROUP = 2 * 2**30
"""Maximum bytes of the images in a group of rows."""

_LISTED_AT_ONCE = 10_000
_READ_AT_ONCE = 16
_KEPT = 4
"""Number of latest batches in memory: several threads ask for neighboring rows."""
_OPEN = 2
"""Shards that are open at once: such threads may ask on both sides of a shard's end."""


def questions(shard: str) -> Iterator[Question]:
    """Yield the items of a Parquet file: one per row.

    The image is in a column of `datasets`' feature Image or a list of them, or in one of bytes; the
    id in one of `ID_COLUMNS` or `NAME_COLUMNS`, or else it is the image's own path. Images are not
    read.

    Raises:
        HdbenchError: it cannot be read, is damaged, or lacks such columns.
    """
    where = without_query(shard)
    with one_line_errors(where), opened(shard) as file, pq.ParquetFile(file) as table:
        column = _image_column(table.schema_arrow, where)
        ids, is_name = _id_column(table.schema_arrow, column, where)
        _check_groups(table, column, where)
        row = 0
        for batch in table.iter_batches(_LISTED_AT_ONCE, columns=[ids], use_threads=False):
            for value in batch.column(0).to_pylist():
                stored = InShard(shard, column, row)
                row += 1
                item_id = value["path"] if isinstance(value, dict) else value
                if item_id is None or not str(item_id).strip():
                    raise HdbenchError(
                        "{place}: no id in its column {column!r}",
                        place=place_of(stored),
                        column=ids,
                    )
                yield Question(_without_extension(item_id) if is_name else str(item_id), [stored])


def read(stored: InShard) -> list[bytes]:
    """Return the files in a row; fast if rows are read in about their order.

    Raises:
        HdbenchError: the shard cannot be read, or has no image there.
    """
    where = place_of(stored)
    with one_line_errors(where):
        value = _opened(os.getpid(), stored.shard, stored.name).value(stored.place)
    files = [
        image.get("bytes") if isinstance(image, dict) else image
        for image in (value if isinstance(value, list) else [value])
    ]
    if not files or not all(files):
        raise HdbenchError(
            "{place}: no image in its column {column!r}", place=where, column=stored.name
        )
    return cast(list[bytes], files)


class _ImageColumn:
    """One column of an open shard. Only some rows around the latest ones are in memory."""

    def __init__(self, shard: str, column: str) -> None:
        self._column = column
        # Pages are read as they are needed: a group of rows can have gigabytes.
        self._table = pq.ParquetFile(opened(shard), pre_buffer=False, buffer_size=2**20)
        self._lock = Lock()
        self._latest: deque[tuple[int, pa.RecordBatch]] = deque(maxlen=_KEPT)
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._next = self._end = 0

    def value(self, row: int) -> Any:
        """Return the value in a row."""
        with self._lock:
            while True:
                for first, batch in self._latest:
                    if first <= row < first + len(batch):
                        return batch.column(0)[row - first].as_py()
                if not self._next <= row < self._end:
                    self._begin_group(row)
                batch = next(self._batches)
                self._latest.append((self._next, batch))
                self._next += len(batch)

    def _begin_group(self, row: int) -> None:
        first = 0
        for group in range(self._table.num_row_groups):
            end = first + self._table.metadata.row_group(group).num_rows
            if row < end:
                self._next, self._end = first, end
                self._latest.clear()
                self._batches = self._table.iter_batches(
                    _READ_AT_ONCE, row_groups=[group], columns=[self._column], use_threads=False
                )
                return
            first = end
        raise HdbenchError("the shard has only {count:,} rows: it was changed", count=first)


@lru_cache(maxsize=_OPEN)
def _opened(_process: int, shard: str, column: str) -> _ImageColumn:
    """Return an open column; one for each process, as forks share the position in a file."""
    return _ImageColumn(shard, column)


def _image_column(schema: pa.Schema, where: str) -> str:
    columns = [field.name for field in schema if _has_images(field.type)]
    if len(columns) == 1:
        return str(columns[0])
    if best := _first(IMAGE_COLUMNS, columns):
        return best
    raise HdbenchError(
        "{place}: it has {count} columns with images ({columns}): call one of them {name!r}",
        place=where,
        count=len(columns),
        columns=", ".join(schema.names)[:200],
        name=IMAGE_COLUMNS[0],
    )


def _has_images(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = kind.value_type
    if pa.types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        return "bytes" in names and _is_binary(kind.field("bytes").type)
    return _is_binary(kind)


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def _check_groups(table: pq.ParquetFile, column: str, where: str) -> None:
    """Refuse groups of rows that would not fit into memory: often, a group has one page."""
    for number in range(table.num_row_groups):
        group = table.metadata.row_group(number)
        chunks = [group.column(index) for index in range(group.num_columns)]
        size = sum(
            chunk.total_uncompressed_size
            for chunk in chunks
            if chunk.path_in_schema.partition(".")[0] == column
        )
        if size > MAX_GROUP:
            raise HdbenchError(
                "{place}: its group of rows {number} has {size:.1f} GiB of images, and at most "
                "{most} GiB are read: write it with 100 rows per group",
                place=where,
                number=number + 1,
                size=size / 2**30,
                most=MAX_GROUP >> 30,
            )


def _id_column(schema: pa.Schema, image: str, where: str) -> tuple[str, bool]:
    """Return the column with ids, and whether they are files' names."""
    if column := _first(ID_COLUMNS, schema.names):
        return column, False
    if column := _first(NAME_COLUMNS, schema.names):
        return column, True
    kind = schema.field(image).type
    if pa.types.is_struct(kind) and kind.get_field_index("path") >= 0:
        return f"{image}.path", True
    raise HdbenchError(
        "{place}: no column with ids ({columns}): call one of them 'id'",
        place=where,
        columns=", ".join(schema.names)[:200],
    )


def _first(preferred: Sequence[str], among: Sequence[str]) -> str | None:
    return next((name for name in preferred if name in among), None)


def _without_extension(name: object) -> str:
    return str(PurePosixPath(str(name)).with_suffix(""))
