"""The form of a file or folder of answers, recognized by its contents; packed ones unpacked."""

import json
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.answers.entries import Container
from hdbench.answers.folders import OUR_ANSWERS, RUN_FILE, answers_files, open_items
from hdbench.answers.forms import (
    ACCEPTED,
    PACKED,
    PACKED_ENDINGS,
    ZIP,
    Folder,
    check_kind,
    check_unpacked,
    head_of,
    office_kind,
    open_zip,
    scratch,
    unpacking,
    without_mark,
)
from hdbench.answers.ids import plain_form
from hdbench.answers.json_files import AnswersSource, open_json, open_lines
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import raw_table, table_of
from hdbench.common.bounds import MAX_LINE
from hdbench.common.files import check_name, read_errors
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 200
"""Number of rows of a Parquet file that are in memory at once."""

VALUE = 64
"""Number of bytes that a value of a Parquet file takes in memory, beside its text."""


def unpack(path: Path, name: str, closing: ExitStack) -> Path:
    """Return a file as it is, or a copy of one that is packed or Parquet.

    The rows of Parquet become JSON Lines.

    Args:
        path: the file.
        name: what messages call it.
        closing: deletes the copy, which has the file's name.

    Raises:
        HdbenchError: it is damaged or too large.
    """
    for kinds in (PACKED, {b"PAR1": "Parquet"}):  # which may be packed too
        head = head_of(path)
        kind = next((kinds[mark] for mark in kinds if head.startswith(mark)), None)
        if kind is None:
            continue
        import pyarrow as pa  # noqa: PLC0415  slow to import

        is_named, size = path.suffix.lower() in PACKED_ENDINGS, 0
        copy = scratch(closing) / (path.stem if is_named else path.name)
        with unpacking(name, kind, (OverflowError, pa.ArrowException)), copy.open("wb") as out:
            blocks = _lines(path, name)
            if kind != "Parquet":
                stream = closing.enter_context(pa.input_stream(str(path), compression=kind))
                blocks = iter(partial(stream.read, 2**20), b"")
            for block in blocks:
                size += out.write(block)
                check_unpacked(size, name)
        path = copy
    return path


def _lines(path: Path, name: str) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as JSON Lines.

    A text that values share is in the file once, and is held once here too: written out, a file of
    a few hundred bytes can be gigabytes. So rows are measured before they are.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  slow to import

    about = pq.read_metadata(path)
    columns = [about.schema.column(index) for index in range(len(about.schema.names))]
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [(column, group.column(at)) for group in groups for at, column in enumerate(columns)]
    width = VALUE // 4
    size = sum(
        chunk.total_uncompressed_size + chunk.num_values * max(width, column.length)
        for column, chunk in chunks
    )
    check_unpacked(size, name)
    texts, number = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"], 0
    # Arrow's type for JSON would hold texts once for each value.
    with pq.ParquetFile(path, read_dictionary=texts, arrow_extensions_enabled=False) as file:
        for batch in file.iter_batches(batch_size=ROWS):
            is_small = _size(batch.to_struct_array()) <= MAX_LINE
            for piece in [batch] if is_small else map(batch.slice, range(len(batch)), repeat(1)):
                if _size(piece.to_struct_array()) > MAX_LINE:
                    raise HdbenchError(
                        "{place}, row {number}: larger than {most} MiB",
                        place=name,
                        number=number + 1,
                        most=MAX_LINE >> 20,
                    )
                for row in piece.to_pylist():
                    number += 1
                    given = row.pop("prediction", None)
                    if isinstance(given, str):  # JSON, as in a CSV file
                        with suppress(ValueError):  # otherwise a text, as it is
                            given = parse_json(given)
                    if given is not None:
                        row["prediction"] = given
                    line = json.dumps(row, ensure_ascii=False, default=_as_text)
                    yield f"{line}\n".encode(errors="backslashreplace")


def _size(values: "pa.Array") -> int:
    """Return how many bytes values take in Python, a text that they share for each of them."""
    import pyarrow as pa  # noqa: PLC0415  slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    size = VALUE * len(values)
    if pa.types.is_dictionary(values.type):
        counts = values.indices.drop_null().value_counts()
        lengths = pc.binary_length(values.dictionary.take(counts.field("values")))
        return size + (pc.sum(pc.multiply(lengths, counts.field("counts"))).as_py() or 0)
    if pa.types.is_map(values.type):
        return size + _size(values.keys) + _size(values.items)
    if not pa.types.is_nested(values.type):
        return size
    inner = values.flatten()
    return size + sum(map(_size, inner if pa.types.is_struct(values.type) else [inner]))


def _as_text(value: Any) -> str:
    """Return a value that JSON does not have as a text, as which some programs write bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def open_container(
    path: Path,
    schema: AnswerSchema | None,
    *,
    name: str | None = None,
    ids: Iterable[str] = (),
) -> Container:
    """Return the answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, or a file in one of the forms in `ACCEPTED`; the files may be
            compressed with gzip or Zstandard. A folder may hold the parts of a run.
        schema: the form of the benchmark's answers.
        name: what messages call it; by default its path.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where. What is wrong with a line may be said only when its answer is loaded.
    """
    source = AnswersSource(path, name or str(path), schema, ids)
    with ExitStack() as closing, read_errors(source.name):
        container = _opened(source, closing)
        closing.callback(container.closing.close)
        container.closing = closing.pop_all()
    return container


def _opened(source: AnswersSource, closing: ExitStack) -> Container:
    """Return the answers in a file or folder."""
    path, name = source.path, source.name
    check_name(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        parts = sorted(path.glob(f"part-*-of-*/{OUR_ANSWERS}"))
        parts = [part for part in parts if not part.is_symlink()]
        if parts and not (path / RUN_FILE).exists():
            return open_lines([source._replace(path=part, name=str(part)) for part in parts])
        return _of_folder(Folder(path), source, closing)
    if not stat.S_ISREG(mode):  # a pipe or device might never end
        raise HdbenchError(
            "{place}: neither a file nor a folder: {accepted}", place=name, accepted=ACCEPTED
        )
    return _of_file(source, closing)


def _of_folder(
    folder: Folder, source: AnswersSource, closing: ExitStack, *, is_packed: bool = False
) -> Container:
    """Return the answers in a folder or ZIP: in one file or its parts, or one per item."""
    folder = folder.within()
    source = source._replace(ids=list(source.ids))
    forms = set(map(plain_form, source.ids))
    files = [
        source._replace(path=folder.file(name, closing), name=folder.place(name))
        for name in answers_files(folder, forms)
    ]
    if not files:
        return open_items(folder, source.schema, forms)
    if len(files) == 1:
        return _of_file(files[0], closing, is_packed=is_packed)
    size, parts = 0, []
    for file in files:
        parts.append(file._replace(path=unpack(file.path, file.name, closing)))
        if is_packed:  # a small ZIP could hold any number of parts that are small too
            size += parts[-1].path.stat().st_size
            check_unpacked(size, file.name)
    return open_lines(parts)


def _of_file(source: AnswersSource, closing: ExitStack, *, is_packed: bool = False) -> Container:
    """Return the answers in a file, which may have been unpacked already."""
    name, path = source.name, unpack(source.path, source.name, closing)
    is_packed |= path != source.path
    source, head = source._replace(path=path), head_of(path)
    if not head.strip():
        raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
    if head.startswith(ZIP) and not is_packed and office_kind(path, name) is None:
        return _of_folder(open_zip(path, name, closing), source, closing, is_packed=True)
    check_kind(path, name, ACCEPTED)
    if without_mark(head).startswith((b"{", b"[")):
        return open_json(source)
    return table_answers(table_of(raw_table(path, name, ACCEPTED)), source.schema, source.ids)
