"""The form of a file or folder of answers, recognized by its contents; packed ones unpacked."""

import json
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

from hdbench.answers.container import AnswersSource, Container
from hdbench.answers.folders import OUR_ANSWERS, RUN_FILE, answers_files, open_items
from hdbench.answers.forms import (
    PACKED_ENDINGS,
    UTF16_MARKS,
    ZIP,
    accepted,
    head_of,
    other_kind,
    without_mark,
)
from hdbench.answers.json_files import open_json, open_lines
from hdbench.answers.members import Folder, Zip, unpacking
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import raw_table, table_of
from hdbench.common.bounds import MAX_LINE, MAX_UNPACKED
from hdbench.common.files import check_name, read_errors
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, Message

ROWS = 100
"""Number of rows of a Parquet file that are in memory at once."""

VALUE, SCALAR = 20, 200
"""Number of bytes in memory for a value of a Parquet file, beside its text, and for the object that
stands for it while it is taken out of a list."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""First bytes of a packed file, and how it is packed, as pyarrow calls it."""

_REWRITTEN = _PACKED | {b"PAR1": "Parquet"} | dict.fromkeys(UTF16_MARKS, "UTF-16")


def unpack(path: Path, name: str, scratch: Path) -> Path:
    """Return a file as it is, or a copy of one that is packed, Parquet or UTF-16.

    The rows of Parquet become JSON Lines, and UTF-16 becomes UTF-8.

    Args:
        path: the file.
        name: what messages call it.
        scratch: where the copy goes, which has the file's name.

    Raises:
        HdbenchError: it is damaged, too large, or packed twice.
    """
    head = head_of(path)
    kind = next((_REWRITTEN[mark] for mark in _REWRITTEN if head.startswith(mark)), None)
    if kind is None:
        return path
    import pyarrow as pa  # noqa: PLC0415  slow to import

    is_named = path.suffix.lower() in PACKED_ENDINGS
    copy = Path(mkdtemp(dir=scratch), path.stem if is_named else path.name)
    size = 0
    damages = (pa.ArrowException, OSError, UnicodeError)
    with unpacking(name, kind, *damages), copy.open("wb") as out:
        for block in _blocks(path, kind, name):
            size += len(block)
            check_unpacked(size, name)
            out.write(block)
    if kind not in _PACKED.values():
        return copy
    if head_of(copy).startswith(tuple(_PACKED)):
        raise packed_twice(name)
    return unpack(copy, name, scratch)


def _blocks(path: Path, kind: str, name: str) -> Iterator[bytes]:
    """Yield what a file is rewritten to."""
    import pyarrow as pa  # noqa: PLC0415  slow to import

    if kind == "Parquet":
        yield from _lines(path, name)
    elif kind == "UTF-16":
        with path.open(encoding="utf-16", newline="") as text:
            yield from map(str.encode, iter(partial(text.read, 2**20), ""))
    else:
        with pa.input_stream(str(path), compression=kind) as file:
            yield from iter(partial(file.read, 2**20), b"")


def _lines(path: Path, name: str) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as JSON Lines.

    A text that values share is in the file once, and is held once here too: written out, a file of
    a few hundred bytes can be gigabytes. So a row is taken apart value by value, up to a bound.
    """
    import pyarrow as pa  # noqa: PLC0415  slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    about = pq.read_metadata(path)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    size = sum(chunk.total_uncompressed_size + VALUE * chunk.num_values for chunk in chunks)
    check_unpacked(size, name)
    columns = [about.schema.column(index) for index in range(len(about.schema.names))]
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    # Arrow's type for JSON would hold them once for each value.
    is_json = any(column.logical_type.type == "JSON" for column in columns)
    number = 0

    def one_level(value: Any) -> Any:
        """Return a value as JSON has it, but those within it as they are."""
        nonlocal size
        if isinstance(value, pa.ListScalar) and value.is_valid:
            size += SCALAR * len(value.values)
        elif isinstance(value, pa.StructScalar) and value.is_valid:
            return dict(value.items())
        elif isinstance(value, pa.Scalar):
            value = value.as_py()
        if isinstance(value, bytes):
            value = value.decode()  # a text, as some programs write it
        if isinstance(value, str):
            size += len(value)
        if size > MAX_LINE:
            place = Message("{place}, row {number}", place=name, number=number)
            raise HdbenchError("{place}: larger than {most} MiB", place=place, most=MAX_LINE >> 20)
        if isinstance(value, pa.ListScalar):
            return list(value.values)
        return value if isinstance(value, str | float | int | None) else str(value)

    with pq.ParquetFile(path, read_dictionary=texts, arrow_extensions_enabled=not is_json) as file:
        for batch in file.iter_batches(batch_size=ROWS):
            for row in zip(*batch.columns, strict=True):
                number, size = number + 1, 0
                values = dict(zip(batch.schema.names, map(one_level, row), strict=True))
                if isinstance(values.get("prediction"), str):  # JSON, as in a CSV file
                    with suppress(ValueError):  # otherwise a text, as it is
                        values["prediction"] = parse_json(values["prediction"])
                if values.get("text") is not None and values.get("prediction") is None:
                    values.pop("prediction", None)
                line = json.dumps(values, ensure_ascii=False, default=one_level)
                yield f"{line}\n".encode(errors="backslashreplace")


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


def packed_twice(name: str) -> HdbenchError:
    """Return the error of a packed file within a packed file."""
    return HdbenchError("{place}: packed twice: unpack it once", place=name)


def open_container(
    path: Path,
    schema: AnswerSchema | None,
    *,
    name: str | None = None,
    ids: Iterable[str] = (),
) -> Container:
    """Return the answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, or a file in one of `FORMS`; the files may be compressed with gzip or
            Zstandard. A folder may hold the parts of a run.
        schema: the form of the benchmark's answers.
        name: what messages call it; by default its path.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where. What is wrong with a line may be said only when its answer is loaded.
    """
    source = AnswersSource(path, name or str(path), schema, ids)
    with ExitStack() as closing, read_errors(source.name):
        folder = TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
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
            parts = sorted(path.glob(f"part-*-of-*/{OUR_ANSWERS}"))
            files = [
                source._replace(path=part, name=str(part))
                for part in parts
                if not part.is_symlink()
            ]
            if files and not (path / RUN_FILE).exists():
                return open_lines(files)
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
        files = [
            source._replace(path=members.unpacked(name, self.scratch), name=members.place(name))
            for name in names
        ]
        is_packed = isinstance(members, Zip)
        if len(files) == 1:
            return self.of_file(files[0], is_packed=is_packed)
        size, parts = 0, []
        for file in files:
            path = unpack(file.path, file.name, self.scratch)
            if is_packed:  # a small ZIP could hold any number of parts that are small too
                size += path.stat().st_size
                check_unpacked(size, file.name)
            parts.append(file._replace(path=path))
        return open_lines(parts)

    def of_file(self, source: AnswersSource, *, is_packed: bool = False) -> Container:
        """Return the answers in a file, which may have been unpacked already."""
        name, path = source.name, unpack(source.path, source.name, self.scratch)
        is_packed |= path != source.path
        source, head = source._replace(path=path), head_of(path)
        if not head.strip():
            raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
        if head.startswith(ZIP):
            archive = Zip(path, name)
            self.closing.callback(archive.close)
            if archive.office_kind() is None:
                if is_packed:
                    raise packed_twice(name)
                return self.of_members(archive, source)
        elif without_mark(head).startswith((b"{", b"[")) and not other_kind(head):
            return open_json(source)
        table = table_of(raw_table(path, name, accepted()))
        return table_answers(table, source.schema, source.ids)
