"""The form of a file or folder of answers, recognized by its contents; packed ones unpacked."""

import json
import stat
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from hdbench.answers.answer import too_many_cells
from hdbench.answers.container import AnswersSource, Container
from hdbench.answers.csv_lines import read_csv
from hdbench.answers.folders import answers_files, open_items, run_parts
from hdbench.answers.forms import (
    GZIP,
    JSON_LINES,
    PACKED_ENDINGS,
    UTF16_MARKS,
    ZIP,
    ZSTANDARD,
    accepted,
    head_of,
    of_other_kind,
    other_kind,
    read_whole,
    without_mark,
    write_as_utf8,
)
from hdbench.answers.json_files import LinesFile, open_json, open_lines
from hdbench.answers.members import Folder, Zip
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.spreadsheets import read_workbook
from hdbench.answers.tables import table_of
from hdbench.common.bounds import MAX_GROUP_VALUES, MAX_LINE, MAX_UNPACKED
from hdbench.common.jsonio import parse_json
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message, is_full, write_reason

ROWS = 1_000
"""Maximum number of rows of a Parquet file that are in memory at once."""


def decompress(source: Path, target: Path, name: str, method: str) -> None:
    """Unpack a file of gzip or Zstandard.

    Args:
        source: the file.
        target: where the plain one goes.
        name: what messages call the file.
        method: how it is packed, as pyarrow calls it.

    Raises:
        HdbenchError: it is damaged, or too large.
    """
    import pyarrow as pa  # noqa: PLC0415  slow to import

    size = 0
    try:
        with pa.input_stream(str(source), compression=method) as file, target.open("wb") as out:
            while block := file.read(2**20):
                size += len(block)
                check_unpacked(size, name)
                out.write(block)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(name, method, error) from error


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


_PACKED = {GZIP: "gzip", ZSTANDARD: "zstd"}


def unpack(path: Path, name: str, scratch: Path) -> Path:
    """Return a file as it is, or a plain copy of one that is packed or Parquet.

    Args:
        path: the file.
        name: what messages call it.
        scratch: where the copy goes, which has the file's name.

    Raises:
        HdbenchError: it is damaged, too large, or packed twice.
    """
    is_named = path.suffix.lower() in PACKED_ENDINGS
    copy = Path(mkdtemp(dir=scratch), path.stem if is_named else path.name)
    head = head_of(path)
    if method := next((_PACKED[mark] for mark in _PACKED if head.startswith(mark)), None):
        decompress(path, copy, name, method)
        if head_of(copy).startswith(tuple(_PACKED)):
            raise packed_twice(name)
        return unpack(copy, name, scratch)
    if head.startswith(b"PAR1"):
        write_as_lines(path, copy, name)
        return copy
    return path


def packed_twice(name: str) -> HdbenchError:
    """Return the error of a packed file within a packed file."""
    return HdbenchError("{place}: packed twice: unpack it once", place=name)


def open_container(
    path: Path,
    schema: AnswerSchema | None,
    *,
    name: str | None = None,
    all_are_loaded: bool = False,
    ids: Iterable[str] = (),
) -> Container:
    """Return the answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, or a file in one of `FORMS`; the files may be compressed with gzip or
            Zstandard. A folder may hold the parts of a run.
        schema: the form of the benchmark's answers.
        name: what messages call it; by default its path.
        all_are_loaded: see `open_lines`.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where.
    """
    source = AnswersSource(path, name or str(path), schema, all_are_loaded, ids)
    with ExitStack() as closing, read_errors(source.name):
        folder = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
        opener = _Opener(closing, Path(closing.enter_context(folder)))
        container = opener.opened(source)
        closing.callback(container.closing.close)
        container.closing = closing.pop_all()
    return container


class _Opener(NamedTuple):
    """Opens files and folders of answers.

    Attributes:
        closing: closes what is opened.
        scratch: a folder for copies, which is deleted then.
    """

    closing: ExitStack
    scratch: Path

    def opened(self, source: AnswersSource) -> Container:
        """Return the answers in a file or folder."""
        path, name = source.path, source.name
        mode = path.stat().st_mode
        check_name(path)
        if stat.S_ISDIR(mode):
            if parts := run_parts(path):
                paths = [part.answers for part in parts if part.answers]
                return open_lines([LinesFile(each, str(each)) for each in paths], source)
            return self.of_members(Folder(path), source)
        if not stat.S_ISREG(mode):  # a pipe or device might never end
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=name, accepted=accepted()
            )
        return self.of_file(source)

    def of_members(self, members: Folder | Zip, source: AnswersSource) -> Container:
        """Return the answers in a folder or ZIP: in one file or its parts, or one per item."""
        names = answers_files(members, source.schema)
        if not names:
            return open_items(members, source.schema, source.ids)
        is_packed = isinstance(members, Zip)
        files = [
            LinesFile(members.unpacked(name, self.scratch), members.place(name)) for name in names
        ]
        if len(files) == 1:
            [(path, name)] = files
            return self.of_file(source._replace(path=path, name=name), is_packed=is_packed)
        size, plain = 0, []
        for path, name in files:
            copy = self.plain(path, name)
            if kind := other_kind(head_of(copy)):
                raise of_other_kind(kind, name, accepted())
            if not path.stat().st_size and not name.lower().endswith(JSON_LINES):
                raise HdbenchError(
                    "{place}: is empty, so it was cut off: write it again", place=name
                )
            if is_packed and copy != path:
                # A small ZIP could hold any number of parts that are small too.
                size += copy.stat().st_size
                check_unpacked(size, name)
            plain.append(LinesFile(copy, name))
        return open_lines(plain, source)

    def of_file(self, source: AnswersSource, *, is_packed: bool = False) -> Container:
        """Return the answers in a file, which may have been unpacked already."""
        name, path = source.name, self.plain(source.path, source.name)
        is_packed |= path != source.path
        source, head = source._replace(path=path), head_of(path)
        if not head.strip():
            raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
        kind, is_zip = other_kind(head), head.startswith(ZIP)
        if is_zip:
            archive = Zip(path, name)
            self.closing.callback(archive.close)
            kind = archive.office_kind()
            if kind is None:
                if is_packed:
                    raise packed_twice(name)
                return self.of_members(archive, source)
        if kind:
            raise of_other_kind(kind, name, accepted())
        if is_zip:
            table = table_of(read_workbook(path, name))
        elif without_mark(head).startswith((b"{", b"[")):
            return open_json(source)
        else:
            table = table_of(read_csv(read_whole(path, name), name))
        return table_answers(table, source.schema, source.ids)

    def plain(self, path: Path, name: str) -> Path:
        """Return a file that is not packed and, if it is a text, in UTF-8."""
        plain = unpack(path, name, self.scratch)
        if not head_of(plain).startswith(UTF16_MARKS):
            return plain
        copy = Path(tempfile.mkdtemp(dir=self.scratch), "answers")
        write_as_utf8(plain, copy, name)
        return copy
