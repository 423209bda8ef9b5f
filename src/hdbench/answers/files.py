"""The form of a file or folder of answers, recognized by its contents and not by its name."""

import stat
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.container import AnswersSource, Container
from hdbench.answers.encodings import UTF16_MARKS, write_as_utf8
from hdbench.answers.folders import answers_files, open_items
from hdbench.answers.forms import (
    JSON_LINES,
    ZIP,
    accepted,
    head_of,
    of_other_kind,
    other_kind,
    without_mark,
)
from hdbench.answers.json_files import LinesFile, open_json, open_lines, read_whole
from hdbench.answers.members import Folder, Zip
from hdbench.answers.records import table_answers
from hdbench.answers.run_parts import run_parts
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import csv_table, workbook_table
from hdbench.answers.unpacking import PACKED, check_unpacked, gunzip, unpack_zstandard
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

_WRITERS: dict[bytes, Callable[[Path, Path, str], None]] = {
    **dict.fromkeys(UTF16_MARKS, write_as_utf8),
    **PACKED,
}
"""Beginnings of files that are read from a plain copy, and what writes it."""


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
        container = _opened(source, closing)
        closing.callback(container.closing.close)
        container.closing = closing.pop_all()
    return container


def _opened(source: AnswersSource, closing: ExitStack) -> Container:
    path, name = source.path, source.name
    mode = path.stat().st_mode
    check_name(path)
    if stat.S_ISDIR(mode):
        if parts := run_parts(path):
            paths = [part.answers for part in parts if part.answers]
            return open_lines([LinesFile(each, str(each)) for each in paths], source)
        return _open_members(Folder(path), source, closing)
    if not stat.S_ISREG(mode):  # a pipe or device might never end
        raise HdbenchError(
            "{place}: neither a file nor a folder: {accepted}", place=name, accepted=accepted()
        )
    return _open_file(source, closing)


def _open_members(members: Folder | Zip, source: AnswersSource, closing: ExitStack) -> Container:
    """Return the answers in a folder or ZIP: in one file or its parts, or in one file per item."""
    names = answers_files(members, source.schema)
    if not names:
        return open_items(members, source.schema, source.ids)
    is_packed, scratch = isinstance(members, Zip), _scratch(closing)
    files = [LinesFile(members.unpacked(name, scratch), members.place(name)) for name in names]
    if len(files) == 1:
        [(path, name)] = files
        return _open_file(source._replace(path=path, name=name), closing, is_packed=is_packed)
    size, plain = 0, []
    for path, name in files:
        copy = _plain(path, name, closing, is_packed=is_packed)
        if kind := other_kind(copy.head):
            raise of_other_kind(kind, name, accepted())
        if not path.stat().st_size and not name.lower().endswith(JSON_LINES):
            raise HdbenchError("{place}: is empty, so it was cut off: write it again", place=name)
        if is_packed and copy.path != path:
            # A small ZIP could hold any number of parts that are small too.
            size += copy.path.stat().st_size
            check_unpacked(size, name)
        plain.append(LinesFile(copy.path, name))
    return open_lines(plain, source)


def _open_file(source: AnswersSource, closing: ExitStack, *, is_packed: bool = False) -> Container:
    """Return the answers in a file.

    Args:
        source: the file.
        closing: closes what is opened.
        is_packed: it was already unpacked, so it must not be packed itself.
    """
    name = source.name
    path, head, notes, is_packed = _plain(source.path, name, closing, is_packed=is_packed)
    source = source._replace(path=path)
    if not head.strip():
        raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
    kind, is_zip = other_kind(head), head.startswith(ZIP)
    if is_zip:
        archive = Zip(path, name)
        closing.callback(archive.close)
        kind = archive.office_kind()
        if kind is None:
            if is_packed:
                raise _packed_twice(name)
            return _open_members(archive, source, closing)
    if kind:
        raise of_other_kind(kind, name, accepted())
    if is_zip:
        return table_answers(workbook_table(path, name), source.schema, source.ids)
    # Further down, a NUL may come from a model: recorded answers have some.
    if b"\0" in head.partition(b"\n")[0]:
        raise HdbenchError("{place}: this is not text: {accepted}", place=name, accepted=accepted())
    if without_mark(head).startswith((b"{", b"[")):
        container = open_json(source)
    else:
        table = csv_table(read_whole(path, name), name)
        container = table_answers(table, source.schema, source.ids)
    container.notes += notes
    return container


class _Plain(NamedTuple):
    """A file as text in UTF-8, or as a ZIP.

    Attributes:
        path: the file, or a copy.
        head: how it begins.
        notes: what was assumed.
        is_packed: whether it was unpacked.
    """

    path: Path
    head: bytes
    notes: list[str]
    is_packed: bool


def _plain(path: Path, name: str, closing: ExitStack, *, is_packed: bool) -> _Plain:
    """Return a file as it is, or a plain copy of one that is packed, in UTF-16 or Parquet."""
    notes: list[str] = []
    while True:
        head = head_of(path)
        write = next((_WRITERS[mark] for mark in _WRITERS if head.startswith(mark)), None)
        if write is None:
            return _Plain(path, head, notes, is_packed)
        if write in (gunzip, unpack_zstandard):
            if is_packed:
                raise _packed_twice(name)
            is_packed = True
        if write is write_as_utf8:
            notes.append(Message("{place}: is in UTF-16, and was read as such", place=name))
        copy = _scratch(closing) / "answers"
        write(path, copy, name)
        path = copy


def _packed_twice(name: str) -> HdbenchError:
    return HdbenchError("{place}: packed twice: unpack it once", place=name)


def _scratch(closing: ExitStack) -> Path:
    """Return a new folder, which is deleted on closing."""
    folder = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
    return Path(closing.enter_context(folder))
