"""The files in a folder or a ZIP, listed and read within bounds and without leaving it."""

import copy
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO

from hdbench.answers.forms import FOLDER_ENDINGS, NO_ANSWERS, read_bounded
from hdbench.common.bounds import MAX_DIRECTORY, MAX_ZIP
from hdbench.common.files import check_name, read_errors
from hdbench.errors import HdbenchError, Message, is_full, write_reason

_OFFICE = {
    "xl/workbook.xml": Message(""),
    "META-INF/manifest.xml": Message(""),
    "xl/workbook.bin": Message("a binary Excel file (.xlsb): save it as .xlsx"),
    "word/document.xml": Message("a Word document"),
}
"""A part of an office document, and what such a file is; empty for those that are read."""

_ELSEWHERE = re.compile(r"/|[A-Za-z]:|.*[\\\0]|(.*/)?\.\.(/|$)|$", re.DOTALL)
"""The name of a member that is absolute, has `..` in it, is read otherwise elsewhere, or empty."""


class Folder:
    """The files in a folder, but not those in its subfolders.

    Raises:
        HdbenchError: it cannot be listed, has a file whose name is not UTF-8, or contains a
            symbolic link, which could lead out of it.
    """

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        with read_errors(path), os.scandir(path) as entries:
            found = [entry for entry in entries if not _is_hidden(entry.name)]
        for entry in found:
            if entry.is_symlink():
                raise HdbenchError(
                    "{place}: is a symbolic link, which is not followed: put the file itself there",
                    place=path / entry.name,
                )
        # The order of a listing differs from one machine to the next.
        self.names = sorted(
            each.name for each in found if each.is_file() and _can_be_read(each.name)
        )
        self.folders = sorted(each.name for each in found if each.is_dir())
        self.others = sorted({each.name for each in found}.difference(self.names))
        for name in self.names:
            check_name(path / name)

    def inner(self, name: str) -> "Folder":
        """Return the files in a subfolder."""
        return Folder(self._path / name)

    def place(self, name: str) -> str:
        """Return a file's path."""
        return str(self._path / name)

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            HdbenchError: it cannot be read, or is larger than `MAX_WHOLE`.
        """
        with read_errors(self.place(name)), (self._path / name).open("rb") as file:
            return read_bounded(file, self.place(name))

    def unpacked(self, name: str, scratch: Path) -> Path:
        """Return the file itself."""
        return self._path / name


class Zip:
    """The files in a ZIP, or in the only folder it contains.

    Args:
        path: the file.
        name: what messages call it.

    Raises:
        HdbenchError: it is damaged, encrypted or too large, or a member has a name that leads
            elsewhere, has the name of another member, or is a symbolic link.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._file = _ZipFile(path, name)
        try:
            with unpacking(name, "ZIP", *_DAMAGES):
                self._archive = zipfile.ZipFile(self._file)
            self._file.is_listed = True
            self._members = self._checked()
        except HdbenchError:
            self.close()
            raise
        tops = {member.partition("/")[0] if "/" in member else "" for member in self._members}
        top = tops.pop() if len(tops) == 1 else ""
        self._list(f"{top}/" if top else "")

    def _list(self, top: str) -> None:
        """List the files in a folder."""
        inside = sorted(name.removeprefix(top) for name in self._members if name.startswith(top))
        self._top = top
        self.names = [name for name in inside if "/" not in name and _can_be_read(name)]
        self.folders = sorted({name.partition("/")[0] for name in inside if "/" in name})
        self.others = sorted(set(inside).difference(self.names))

    def inner(self, name: str) -> "Zip":
        """Return the files in a folder of it."""
        inner = copy.copy(self)
        inner._list(f"{self._top}{name}/")
        return inner

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        """Return the members that are files and not hidden."""
        members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            place = f"{self.name}: {info.orig_filename}"
            if _ELSEWHERE.match(info.orig_filename) or stat.S_ISLNK(info.external_attr >> 16):
                raise HdbenchError(
                    "{place}: a symbolic link, or a name that is empty or leads out of the ZIP: "
                    "pack the file itself",
                    place=place,
                )
            if info.is_dir() or any(map(_is_hidden, info.filename.split("/"))):
                continue
            if info.filename in members:
                raise HdbenchError("{place}: is in the ZIP twice: keep one", place=place)
            members[info.filename] = info
        # A member gives no more bytes than its header says, so this bounds what is unpacked.
        size = sum(info.file_size for name, info in members.items() if _can_be_read(name))
        if size > MAX_ZIP:
            raise HdbenchError(
                "{place}: the answers would take {size} MiB unpacked, and at most {most} are "
                "read: unpack it and give the folder",
                place=self.name,
                size=size >> 20,
                most=MAX_ZIP >> 20,
            )
        return members

    def office_kind(self) -> Message | None:
        """Return the kind of an office document: empty for a workbook; None for any other ZIP."""
        return next((_OFFICE[part] for part in _OFFICE if part in self._members), None)

    def place(self, name: str) -> str:
        """Return the ZIP and the member's name in it."""
        return f"{self.name}: {self._top}{name}"

    def read(self, name: str) -> bytes:
        """Return a member's bytes; see `Folder.read`."""
        with self._open(name) as member:
            return read_bounded(member, self.place(name))

    def unpacked(self, name: str, scratch: Path) -> Path:
        """Return a copy of the member in a folder."""
        copied = Path(mkdtemp(dir=scratch), f"copy{PurePosixPath(name).suffix}")
        with self._open(name) as member, copied.open("wb") as file:
            shutil.copyfileobj(member, file)
        return copied

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        info = self._members[self._top + name]
        # The other methods are unpacked block by block, without a bound.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise HdbenchError(
                "{place}: packed in an unusual way: pack it as a plain ZIP", place=self.place(name)
            )
        with unpacking(self.place(name), "ZIP", *_DAMAGES), self._archive.open(info) as member:
            yield member

    def close(self) -> None:
        """Close the file."""
        self._file.close()


Members = Folder | Zip
"""The files in a folder or a ZIP: its `name` in messages, the `names` of those that can hold
answers, in order, the `folders`, and all `others`, except hidden ones."""


_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


@contextmanager
def unpacking(place: str, kind: str, *damages: type[BaseException]) -> Iterator[None]:
    """Say in one line that a packed file is damaged, or that there is no room to unpack it.

    Args:
        place: what messages call the file.
        kind: how it is packed.
        damages: exceptions that say that it is damaged.

    Raises:
        HdbenchError: one of them was raised.
    """
    try:
        yield
    except HdbenchError:  # which is a ValueError too
        raise
    except damages as error:
        if is_full(error):  # the temporary folder, and not the file
            raise HdbenchError(
                "{place}: cannot be unpacked: {why}", place=place, why=write_reason(error)
            ) from error
        why = next(iter(str(error).splitlines()), "")[:200]
        raise HdbenchError(
            "{place}: a damaged {kind} file: {why}", place=place, kind=kind, why=why
        ) from error


class _ZipFile(BufferedReader):
    """A ZIP whose list of members, which zipfile reads in one piece, cannot be huge."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(FileIO(path))
        self._called = name
        self.is_listed = False

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > MAX_DIRECTORY and not self.is_listed:
            raise HdbenchError(
                "{place}: more files in this ZIP than can be read", place=self._called
            )
        return super().read(size)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _can_be_read(name: str) -> bool:
    name = name.lower()
    return name.endswith(FOLDER_ENDINGS) and name not in NO_ANSWERS
