"""What a file or folder of answers is, decided by its contents and not by its name."""

import codecs
import gzip
import stat
import tempfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hdbench.errors import HdbenchError
from hdbench.reading.container import Container
from hdbench.reading.encodings import UTF16_MARKS, write_as_utf8
from hdbench.reading.folders import answers_file, open_members
from hdbench.reading.json_files import open_json, read_whole
from hdbench.reading.members import Folder, Members, Zip
from hdbench.reading.schema import AnswerSchema

MAX_GUNZIPPED = 2 * 2**30
"""Maximum number of bytes that a gzip file is unpacked to."""

HEAD = 2**16
"""Number of bytes by which a file is recognised; white space before them is skipped."""

GZIP = b"\x1f\x8b"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")

OTHERS: dict[bytes, str] = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls), or one with a password: save it as .xlsx",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"<": "an HTML or XML file",
}
"""How files of other types begin, without any leading white space."""

OFFICE = {
    "xl/workbook.xml": "",
    "xl/workbook.bin": "a binary Excel file (.xlsb): save it as .xlsx",
    "word/document.xml": "a Word document",
    "META-INF/manifest.xml": "an OpenDocument file: save it as .xlsx or .csv",
}
"""A part of an office document, and what such a file is; nothing for XLSX."""

ACCEPTED = (
    "answers are read from JSON, JSON Lines, CSV, XLSX, a folder or a ZIP of <id>.json or <id>.txt"
)


def open_container(path: Path, schema: AnswerSchema | None) -> Container:
    """The answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, JSON, JSON Lines, CSV or XLSX; the files may be compressed with gzip.
        schema: the form of the benchmark's answers.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where.
    """
    name = str(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _open_members(Folder(path), schema)
        # A pipe or device might never end.
        if not stat.S_ISREG(mode):
            raise HdbenchError(f"{name}: neither a file nor a folder: {ACCEPTED}")
        return _open_file(path, name, schema)
    except OSError as error:
        raise HdbenchError(f"{name}: cannot be read: {error.strerror or error}") from error


def _open_file(
    path: Path, name: str, schema: AnswerSchema | None, *, packed: bool = False
) -> Container:
    """The answers in a file.

    Args:
        path: the file.
        name: what messages call it.
        schema: the form of the benchmark's answers.
        packed: it was already unpacked, so it must not be an archive itself.
    """
    head = head_of(path)
    if not head.strip():
        raise HdbenchError(f"{name}: no predictions in this file: it is empty")
    if head.startswith(UTF16_MARKS):
        container = _with_scratch(path, name, schema, packed, write_as_utf8)
        container.notes.append(f"{name}: is in UTF-16, and was read as such")
        return container
    if head.startswith(GZIP) and not packed:
        return _with_scratch(path, name, schema, True, _gunzip)
    if head.startswith(ZIP):
        return _open_zip(path, name, schema, packed=packed)
    return _open_text(path, name, schema, head)


def _open_text(path: Path, name: str, schema: AnswerSchema | None, head: bytes) -> Container:
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if kind := other_kind(head):
        raise HdbenchError(f"{name}: this is {kind}: {ACCEPTED}")
    if head.startswith(GZIP):
        raise HdbenchError(f"{name}: packed twice: unpack it once")
    # Further down, a NUL may come from a model: recorded answers have some.
    if b"\0" in head.partition(b"\n")[0]:
        raise HdbenchError(f"{name}: this is not text: {ACCEPTED}")
    if start.startswith((b"{", b"[")):
        return open_json(path, name, schema)
    from hdbench.reading.tables import read_csv  # noqa: PLC0415  JSON needs no table library

    return read_csv(read_whole(path, name), name, schema)


def other_kind(head: bytes) -> str | None:
    """What a file is that holds neither JSON nor a table, by its first bytes; None if it may.

    Example:
        >>> other_kind(b"%PDF-1.7")
        'a PDF'
    """
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((OTHERS[magic] for magic in OTHERS if start.startswith(magic)), None)
    return kind or ("a tar archive" if head[257:262] == b"ustar" else None)


def office_kind(archive: Zip) -> str | None:
    """What a ZIP is that holds an office document: nothing for XLSX; None for any other ZIP."""
    return next((OFFICE[part] for part in OFFICE if archive.holds(part)), None)


def _open_zip(path: Path, name: str, schema: AnswerSchema | None, *, packed: bool) -> Container:
    archive = Zip(path, name)
    kind = office_kind(archive)
    if kind is None and packed:
        archive.close()
        raise HdbenchError(f"{name}: packed twice: unpack it once")
    if kind is None:
        return _open_members(archive, schema)
    archive.close()
    if kind:
        raise HdbenchError(f"{name}: this is {kind}: {ACCEPTED}")
    from hdbench.reading.tables import read_xlsx  # noqa: PLC0415

    return read_xlsx(path, name, schema)


def _open_members(members: Members, schema: AnswerSchema | None) -> Container:
    """The answers in a folder or ZIP: in its one file, or in one file per item."""
    try:
        whole = answers_file(members, schema)
        if whole is None:
            return open_members(members, schema)
    except BaseException:
        members.close()
        raise
    scratch = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
    try:
        path = members.unpacked(whole, Path(scratch.name))
        container = _open_file(path, members.place(whole), schema, packed=True)
    except BaseException:
        scratch.cleanup()
        raise
    finally:
        members.close()
    return _Unpacked(container, scratch)


def _with_scratch(
    path: Path,
    name: str,
    schema: AnswerSchema | None,
    packed: bool,
    write: Callable[[Path, Path, str], None],
) -> Container:
    """The answers in what `write` makes from a file."""
    scratch = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
    try:
        copy = Path(scratch.name) / "answers"
        write(path, copy, name)
        return _Unpacked(_open_file(copy, name, schema, packed=packed), scratch)
    except BaseException:
        scratch.cleanup()
        raise


class _Unpacked:
    """A container whose file is a copy, which is deleted on closing."""

    def __init__(self, container: Container, scratch: tempfile.TemporaryDirectory[str]) -> None:
        self.runs: Mapping[str | None, Mapping[str, Any]] = container.runs
        self.notes = container.notes
        self.load = container.load
        self.where = container.where
        self._container = container
        self._scratch = scratch

    def close(self) -> None:
        self._container.close()
        self._scratch.cleanup()


def head_of(path: Path) -> bytes:
    """The beginning of a file, or its first block that is not blank."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        while head and not head.strip():
            head = file.read(HEAD)
        return head


def _gunzip(source: Path, target: Path, name: str) -> None:
    try:
        with gzip.open(source) as file, target.open("wb") as out:
            size = 0
            while block := file.read(2**20):
                size += len(block)
                if size > MAX_GUNZIPPED:
                    raise HdbenchError(
                        f"{name}: larger than {MAX_GUNZIPPED >> 30} GiB unpacked: unpack it, "
                        "or split it"
                    )
                out.write(block)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise HdbenchError(f"{name}: a damaged gzip file: {error}") from error
