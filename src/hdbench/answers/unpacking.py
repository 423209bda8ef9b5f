"""Compressed files and Parquet, written as plain files of lines, within bounds."""

import gzip
import json
import zlib
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from hdbench.answers.bounds import too_many_cells
from hdbench.answers.forms import GZIP, PACKED_ENDINGS, ZSTANDARD, head_of
from hdbench.common.bounds import MAX_GROUP_VALUES, MAX_LINE, MAX_UNPACKED
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, Message, is_full, write_reason

ROWS = 1_000
"""Maximum number of rows of a Parquet file that are in memory at once."""


def gunzip(source: Path, target: Path, name: str) -> None:
    """Unpack a gzip file.

    Args:
        source: the file.
        target: where the plain one goes.
        name: what messages call the file.

    Raises:
        HdbenchError: it is damaged, or too large.
    """
    try:
        with gzip.open(source) as file:
            _write(file, target, name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise HdbenchError("{place}: a damaged gzip file: {why}", place=name, why=error) from error


def unpack_zstandard(source: Path, target: Path, name: str) -> None:
    """Unpack a Zstandard file; see `gunzip`."""
    import pyarrow as pa  # noqa: PLC0415  slow to import

    try:
        with pa.input_stream(str(source), compression="zstd") as file:
            _write(file, target, name)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(name, "Zstandard", error) from error


def write_as_lines(source: Path, target: Path, name: str) -> None:
    """Write the rows of a Parquet file as JSON Lines, one line per row.

    A `prediction` that is text is JSON, as in a CSV file.

    Args:
        source: the file.
        target: where the lines go.
        name: what messages call the file.

    Raises:
        HdbenchError: it is damaged, or too large.
    """
    import pyarrow as pa  # noqa: PLC0415  slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        about = pq.read_metadata(source)
        # A text that many rows share is in the file once, and is held once here too: written out,
        # a file of 100 KiB can be gigabytes.
        schema = about.schema
        columns = [schema.column(index) for index in range(len(schema.names))]
        texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        # Arrow's type for JSON writes them out, too.
        is_json = any(column.logical_type.type == "JSON" for column in columns)
        rows = _rows_at_once(about, name)
        with (
            pq.ParquetFile(
                source, read_dictionary=texts, arrow_extensions_enabled=not is_json
            ) as file,
            target.open("wb") as out,
        ):
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise HdbenchError("{place}: two columns have the same name: keep one", place=name)
            size = number = 0
            for batch in file.iter_batches(batch_size=rows):
                number = _check_rows(batch, number, name)
                for row in zip(*batch.columns, strict=True):
                    values = (value.as_py() for value in row)
                    line = _line(dict(zip(names, values, strict=True)))
                    size += len(line)
                    check_unpacked(size, name)
                    out.write(line)
    except UnicodeDecodeError as error:
        raise HdbenchError("{place}: a text in it is not UTF-8", place=name) from error
    except (pa.ArrowException, OSError) as error:
        raise _damaged(name, "Parquet", error) from error


def _rows_at_once(about: Any, name: str) -> int:
    """Return how many rows of a Parquet file are read at once, so that they fit into memory.

    Raises:
        HdbenchError: by what the file says of itself, it is too large.
    """
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    size = sum(int(group.total_byte_size) for group in groups)
    check_unpacked(size, name)
    if size > MAX_LINE * max(1, about.num_rows):
        raise _long_row(name)
    for group in groups:
        columns = (group.column(number) for number in range(group.num_columns))
        if sum(column.num_values for column in columns) > MAX_GROUP_VALUES:
            raise too_many_cells(name)
    return max(1, min(ROWS, MAX_LINE * int(about.num_rows) // max(size, 1)))


def _check_rows(batch: Any, before: int, name: str) -> int:
    """Refuse rows that would be longer than a line may be; return the number of the last row.

    A few hundred bytes can hold a list of a thousand long texts, which are all the same.
    """
    if sum(map(_size, batch.columns)) > MAX_LINE:
        for row in range(batch.num_rows):
            if sum(_size(column.slice(row, 1)) for column in batch.columns) > MAX_LINE:
                number = before + row + 1
                raise _long_row(Message("{place}, row {number}", place=name, number=number))
    return before + int(batch.num_rows)


def _long_row(place: str) -> HdbenchError:
    return HdbenchError(
        "{place}: a row is larger than {most} MiB", place=place, most=MAX_LINE >> 20
    )


def _size(array: Any) -> int:
    """Return the bytes in an array of Arrow, where a text that values share counts for each."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if isinstance(array, pa.DictionaryArray):
        lengths = pc.binary_length(array.dictionary)
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if isinstance(array, pa.StructArray):
        return sum(map(_size, array.flatten()))
    if isinstance(array, pa.MapArray):
        start, end = array.offsets[0].as_py(), array.offsets[-1].as_py()  # of a slice, too
        return sum(_size(part.slice(start, end - start)) for part in (array.keys, array.items))
    lists = pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray
    if isinstance(array, lists | pa.ListViewArray | pa.LargeListViewArray):
        return _size(array.flatten())
    return int(array.nbytes)


def _line(row: dict[str, Any]) -> bytes:
    values = {key: _text(value) for key, value in row.items()}
    if isinstance(values.get("prediction"), str):
        with suppress(ValueError):  # otherwise a text, as it is
            values["prediction"] = parse_json(values["prediction"])
    if values.get("text") is not None and values.get("prediction") is None:
        values.pop("prediction", None)
    line = json.dumps(values, ensure_ascii=False, default=lambda value: str(_text(value))) + "\n"
    return line.encode(errors="backslashreplace")


def _text(value: Any) -> Any:
    """Return a text that was written as bytes, as some programs do; any other value as it is."""
    return value.decode() if isinstance(value, bytes) else value


def _write(file: BufferedIOBase, target: Path, name: str) -> None:
    size = 0
    with target.open("wb") as out:
        while block := file.read(2**20):
            size += len(block)
            check_unpacked(size, name)
            out.write(block)


def check_unpacked(size: int, name: str) -> None:
    """Refuse what is larger unpacked than may be.

    Raises:
        HdbenchError: it has more than `MAX_UNPACKED` bytes.
    """
    if size > MAX_UNPACKED:
        raise HdbenchError(
            "{place}: larger than {most} GiB unpacked: unpack it, or split it",
            place=name,
            most=MAX_UNPACKED >> 30,
        )


def _damaged(name: str, kind: str, error: Exception) -> HdbenchError:
    if is_full(error):  # the temporary folder, and not the file
        return HdbenchError(
            "{place}: cannot be unpacked: {why}", place=name, why=write_reason(error)
        )
    reason = next(iter(str(error).splitlines()), "")[:200]
    return HdbenchError("{place}: a damaged {kind} file: {why}", place=name, kind=kind, why=reason)


_WRITERS = {GZIP: gunzip, ZSTANDARD: unpack_zstandard, b"PAR1": write_as_lines}
"""Beginnings of files that are not read as they are, and what writes them as plain ones."""


class Unpacked(NamedTuple):
    """A file as it is, or a plain copy of one that is packed or Parquet.

    Attributes:
        path: the file, or the copy, which has its name.
        head: how it begins.
        is_packed: whether it was packed.
    """

    path: Path
    head: bytes
    is_packed: bool


def unpack(path: Path, name: str, scratch: Path, *, is_packed: bool = False) -> Unpacked:
    """Return a file as it is, or a plain copy of one that is packed or Parquet.

    Args:
        path: the file.
        name: what messages call it.
        scratch: where the copy goes.
        is_packed: whether it was unpacked already, so it must not be packed again.

    Raises:
        HdbenchError: it is damaged, too large, or packed twice.
    """
    while True:
        head = head_of(path)
        write = next((_WRITERS[mark] for mark in _WRITERS if head.startswith(mark)), None)
        if write is None:
            return Unpacked(path, head, is_packed)
        if write is not write_as_lines:
            check_packed_once(name, is_packed=is_packed)
            is_packed = True
        is_named = path.suffix.lower() in PACKED_ENDINGS
        copy = Path(mkdtemp(dir=scratch), path.stem if is_named else path.name)
        write(path, copy, name)
        path = copy


def check_packed_once(name: str, *, is_packed: bool) -> None:
    """Refuse a packed file that was unpacked already.

    Raises:
        HdbenchError: it was.
    """
    if is_packed:
        raise HdbenchError("{place}: packed twice: unpack it once", place=name)
