"""The form of a file or folder of answers, recognized by its contents and not by its name."""

import codecs
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from hdbench.answers.container import AnswersSource, Container
from hdbench.answers.encodings import UTF16_MARKS, write_as_utf8
from hdbench.answers.folders import answers_files, open_members
from hdbench.answers.forms import FORMS, JSON_LINES, AnswerForm, accepted, form_of
from hdbench.answers.json_files import open_lines
from hdbench.answers.json_lines import LinesFile
from hdbench.answers.members import Folder, Members, Zip
from hdbench.answers.run_parts import run_parts
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.unpacking import check_unpacked, gunzip, unpack_zstandard
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

HEAD = 2**16
"""Number of bytes by which a file is recognized; white space before them is skipped."""

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")

OTHERS = {
    b"\x89PNG": Message("a PNG image"),
    b"\xff\xd8\xff": Message("a JPEG image"),
    b"GIF8": Message("a GIF image"),
    b"II*\0": Message("a TIFF image"),
    b"MM\0*": Message("a TIFF image"),
    b"%PDF": Message("a PDF"),
    b"\xd0\xcf\x11\xe0": Message(
        "an old Excel file (.xls), or one with a password: save it as .xlsx"
    ),
    b"7z\xbc\xaf": Message("a 7-Zip archive"),
    b"Rar!": Message("a RAR archive"),
    b"BZh": Message("a bzip2 file"),
    b"\xfd7zXZ": Message("an xz file"),
    b"SQLite format 3": Message("an SQLite database"),
    b"<": Message("an HTML or XML file"),
}
"""Beginnings of files of other types, without leading white space."""

OFFICE = {
    "xl/workbook.bin": Message("a binary Excel file (.xlsb): save it as .xlsx"),
    "word/document.xml": Message("a Word document"),
}
"""A part of an office document that is not read, and what such a file is."""


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
        all_are_loaded: see `JsonLines`.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where.
    """
    name = name or str(path)
    source = AnswersSource(path, name, schema, all_are_loaded, ids)
    with read_errors(name):
        mode = path.stat().st_mode
        check_name(path)
        if stat.S_ISDIR(mode):
            if parts := run_parts(path):
                paths = [part.answers for part in parts if part.answers]
                return open_lines([LinesFile(each, str(each)) for each in paths], source)
            return _open_members(Folder(path), source)
        # A pipe or device might never end.
        if not stat.S_ISREG(mode):
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=name, accepted=accepted()
            )
        return _open_file(source)


def _open_file(source: AnswersSource, *, packed: bool = False) -> Container:
    """Return the answers in a file.

    Args:
        source: the file.
        packed: it was already unpacked, so it must not be an archive itself.
    """
    path, name = source.path, source.name
    head = head_of(path)
    if not head.strip():
        raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
    write, is_packed = _plain_writer(head)
    if write is not None and not (packed and is_packed):
        with _scratch_folder() as scratch:
            copy = Path(scratch.name) / "answers"
            write(path, copy, name)
            opened = _open_file(source._replace(path=copy), packed=packed or is_packed)
            if write is write_as_utf8:
                opened.notes.append(
                    Message("{place}: is in UTF-16, and was read as such", place=name)
                )
            return _Unpacked(opened, scratch)
    if head.startswith(ZIP):
        return _open_zip(source, packed=packed)
    form = form_of(head)
    if form.is_text:
        _check_text(head, name)
    return _read(form, source)


def _plain_writer(head: bytes) -> tuple[Callable[[Path, Path, str], None] | None, bool]:
    """Return what writes a file as plain text, by its first bytes, and whether it is compressed."""
    if head.startswith(UTF16_MARKS):
        return write_as_utf8, False
    if head.startswith(GZIP):
        return gunzip, True
    if head.startswith(ZSTANDARD):
        return unpack_zstandard, True
    form = form_of(head)
    return (resolve_name(form.reader) if form.is_rewritten else None), False


def _read(form: AnswerForm, source: AnswersSource) -> Container:
    container: Container = resolve_name(form.reader)(source)
    return container


def _check_text(head: bytes, name: str) -> None:
    """Refuse what is neither JSON nor a table, by its first bytes."""
    if kind := other_kind(head):
        raise _other(kind, name)
    if head.startswith((GZIP, ZSTANDARD)):
        raise HdbenchError("{place}: packed twice: unpack it once", place=name)
    # Further down, a NUL may come from a model: recorded answers have some.
    if b"\0" in head.partition(b"\n")[0]:
        raise HdbenchError("{place}: this is not text: {accepted}", place=name, accepted=accepted())


def _other(kind: Message, name: str) -> HdbenchError:
    return HdbenchError(
        "{place}: this is {kind}: {accepted}", place=name, kind=kind, accepted=accepted()
    )


def other_kind(head: bytes) -> Message | None:
    """Return the kind of a file that is neither JSON nor a table, by its first bytes; else None.

    Example:
        >>> other_kind(b"%PDF-1.7")
        'a PDF'
    """
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((OTHERS[magic] for magic in OTHERS if start.startswith(magic)), None)
    return kind or (Message("a tar archive") if head[257:262] == b"ustar" else None)


def office_kind(archive: Zip) -> Message | None:
    """Return the kind of an office document in a ZIP: empty for XLSX; None for any other ZIP."""
    if _form_in(archive) is not None:
        return Message("")
    return next((OFFICE[part] for part in OFFICE if archive.holds(part)), None)


def _form_in(archive: Zip) -> AnswerForm | None:
    """Return the form of an office document; None if a ZIP is not one that can be read."""
    return next((form for form in FORMS if form.part and archive.holds(form.part)), None)


def _open_zip(source: AnswersSource, *, packed: bool) -> Container:
    archive = Zip(source.path, source.name)
    kind, form = office_kind(archive), _form_in(archive)
    if kind is None and not packed:
        return _open_members(archive, source)
    archive.close()
    if kind is None:
        raise HdbenchError("{place}: packed twice: unpack it once", place=source.name)
    if form is None:
        raise _other(kind, source.name)
    return _read(form, source)


def _open_members(members: Members, source: AnswersSource) -> Container:
    """Return the answers in a folder or ZIP: in one file or its parts, or in one file per item."""
    packed = isinstance(members, Zip)
    try:
        files = answers_files(members, source.schema)
        if not files:
            return open_members(members, source.schema)
    except BaseException:
        members.close()
        raise
    try:
        with _scratch_folder() as scratch:
            parts = []
            for number, name in enumerate(files):
                folder = Path(scratch.name) / str(number)
                folder.mkdir()
                path = members.unpacked(name, folder)
                parts.append(source._replace(path=path, name=members.place(name)))
            if len(parts) == 1:
                opened = _open_file(parts[0], packed=packed)
            else:
                opened = _open_parts(parts, packed=packed)
            return _Unpacked(opened, scratch)
    finally:
        members.close()


def _open_parts(parts: list[AnswersSource], *, packed: bool) -> Container:
    """Return the answers in parts, which are JSON Lines or can be written as such."""
    with _scratch_folder() as scratch:
        files, size = [], 0
        for number, (path, name, *_) in enumerate(parts):
            head = head_of(path)
            write, is_packed = _plain_writer(head)
            if packed and is_packed:
                raise HdbenchError("{place}: packed twice: unpack it once", place=name)
            if not head and not name.lower().endswith(JSON_LINES.endings):  # packed is never empty
                raise HdbenchError(
                    "{place}: is empty, so it was cut off: write it again", place=name
                )
            if write is None:
                if kind := other_kind(head):
                    raise _other(kind, name)
                files.append(LinesFile(path, name))
                continue
            copy = Path(scratch.name) / str(number)
            write(path, copy, name)
            if packed:  # a small ZIP could hold any number of parts that are small too
                size += copy.stat().st_size
                check_unpacked(size, name)
            files.append(LinesFile(copy, name))
        return _Unpacked(open_lines(files, parts[0]), scratch)


@contextmanager
def _scratch_folder() -> Iterator[tempfile.TemporaryDirectory[str]]:
    """Give a folder for copies, deleted if the block fails; otherwise the container deletes it."""
    scratch = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
    try:
        yield scratch
    except BaseException:
        scratch.cleanup()
        raise


class _Unpacked:
    """A container whose file is a copy, which is deleted on closing."""

    def __init__(self, container: Container, scratch: tempfile.TemporaryDirectory[str]) -> None:
        self.runs: Mapping[str | None, dict[str, Any]] = container.runs
        self.notes = container.notes
        self.load = container.load
        self.where = container.where
        self._container = container
        self._scratch = scratch

    def close(self) -> None:
        self._container.close()
        self._scratch.cleanup()


def head_of(path: Path) -> bytes:
    """Return the beginning of a file, or its first block that is not blank."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        while head and not head.strip():
            head = file.read(HEAD)
        return head
