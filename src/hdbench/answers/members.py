"""The files in a folder or a ZIP, listed and read within bounds and without leaving it."""

import os
import re
import shutil
import stat
import zipfile
import zlib
from io import BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from typing import IO

from hdbench.answers.forms import folder_endings
from hdbench.common.jsonio import MAX_LINE
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, is_full, write_reason

MAX_FILES = 1_000_000
"""Maximum number of files in a folder or ZIP."""

MAX_UNPACKED = 512 * 2**20
"""Maximum size in bytes of all the files with answers in a ZIP, unpacked."""

MAX_DIRECTORY = 64 * 2**20
"""Maximum size in bytes of a ZIP's list of members: some 600,000 members."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


class Folder:
    """The files in a folder, but not those in its subfolders.

    Raises:
        HdbenchError: it cannot be listed, has too many files or one whose name is not UTF-8, or
            contains a symbolic link, which could lead out of it.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.names: list[str] = []
        self.others: list[str] = []
        self._path = path
        readable = folder_endings()
        with read_errors(path), os.scandir(path) as entries:
            for entry in entries:
                if _is_hidden(entry.name):
                    continue
                if entry.is_symlink():
                    raise HdbenchError(
                        "{place}: is a symbolic link, which is not followed: put the file "
                        "itself there",
                        place=path / entry.name,
                    )
                can_be_read = entry.is_file() and entry.name.lower().endswith(readable)
                if can_be_read:
                    check_name(path / entry.name)
                (self.names if can_be_read else self.others).append(entry.name)
                if len(self.names) + len(self.others) > MAX_FILES:
                    raise HdbenchError(
                        "{place}: more than {most:,} files", place=path, most=MAX_FILES
                    )
        self.names.sort()  # the order of a listing differs from one machine to the next
        self.others.sort()

    def place(self, name: str) -> str:
        """Return a file's path."""
        return str(self._path / name)

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            HdbenchError: it cannot be read, or is larger than `MAX_LINE`.
        """
        with read_errors(self.place(name)), (self._path / name).open("rb") as file:
            return _bounded(file.read(MAX_LINE + 1), self.place(name))

    def unpacked(self, name: str, scratch: Path) -> Path:
        """Return the file itself."""
        return self._path / name

    def close(self) -> None:
        """Nothing is held open."""


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
        self._readable = folder_endings()
        self._file = _ZipFile(path, name)
        try:
            self._archive = zipfile.ZipFile(self._file)
            self._file.is_listed = True
            members = self._checked()
        except HdbenchError:
            self.close()
            raise
        except _DAMAGED as error:
            self.close()
            raise HdbenchError("{place}: a damaged ZIP: {why}", place=name, why=error) from error
        self._top = _common_folder(list(members))
        self._members = {member.removeprefix(self._top): info for member, info in members.items()}
        self.names = [
            member
            for member in sorted(self._members)
            if "/" not in member and member.lower().endswith(self._readable)
        ]
        self.others = sorted(self._members.keys() - set(self.names))

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        """Return the members that are files and not hidden."""
        members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            place = f"{self.name}: {info.orig_filename}"
            if not info.orig_filename:
                raise HdbenchError(
                    "{place}: a file in it has no name: pack it again", place=self.name
                )
            if _leads_elsewhere(info.orig_filename):
                raise HdbenchError(
                    "{place}: a name that leads out of the ZIP: pack it again", place=place
                )
            if info.flag_bits & 0x1:
                raise HdbenchError(
                    "{place}: is encrypted: pack it again without a password", place=place
                )
            if stat.S_ISLNK(info.external_attr >> 16):
                raise HdbenchError("{place}: is a symbolic link: pack the file itself", place=place)
            if info.is_dir() or any(map(_is_hidden, info.filename.split("/"))):
                continue
            if info.filename in members:
                raise HdbenchError("{place}: is in the ZIP twice: keep one", place=place)
            members[info.filename] = info
        if len(members) > MAX_FILES:
            raise HdbenchError("{place}: more than {most:,} files", place=self.name, most=MAX_FILES)
        # A member gives no more bytes than its header says, so this bounds what is unpacked.
        size = sum(
            info.file_size
            for info in members.values()
            if info.filename.lower().endswith(self._readable)
        )
        if size > MAX_UNPACKED:
            raise HdbenchError(
                "{place}: the answers would take {size} MiB unpacked, and at most {most} are "
                "read: unpack it and give the folder",
                place=self.name,
                size=size >> 20,
                most=MAX_UNPACKED >> 20,
            )
        return members

    def holds(self, name: str) -> bool:
        """Return whether there is such a file."""
        return name in self._members

    def size(self, name: str) -> int:
        """Return the number of bytes that a member has unpacked."""
        return self._members[name].file_size

    def place(self, name: str) -> str:
        """Return the ZIP and the member's name in it."""
        return f"{self.name}: {self._top}{name}"

    def read(self, name: str) -> bytes:
        """Return a member's bytes; see `Folder.read`."""
        try:
            with self._open(name) as member:
                # Without a number, zipfile would first unpack whatever a block unpacks to.
                return _bounded(member.read(MAX_LINE + 1), self.place(name))
        except _DAMAGED as error:
            raise self._damaged(name, error) from error

    def unpacked(self, name: str, scratch: Path) -> Path:
        """Return a copy of the member."""
        copy = scratch / f"member{PurePosixPath(name).suffix}"
        try:
            with self._open(name) as member, copy.open("wb") as file:
                shutil.copyfileobj(member, file)
        except _DAMAGED as error:
            raise self._damaged(name, error) from error
        return copy

    def _open(self, name: str) -> IO[bytes]:
        info = self._members[name]
        # The other methods are unpacked block by block, without a bound.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise HdbenchError(
                "{place}: packed in an unusual way: pack it as a plain ZIP", place=self.place(name)
            )
        return self._archive.open(info)

    def _damaged(self, name: str, error: Exception) -> HdbenchError:
        if isinstance(error, HdbenchError):  # which is a ValueError too
            return error
        if is_full(error):  # the temporary folder, and not the ZIP
            return HdbenchError(
                "{place}: cannot be unpacked: {why}",
                place=self.place(name),
                why=write_reason(error),
            )
        return HdbenchError(
            "{place}: damaged, or not what the ZIP says: {why}", place=self.place(name), why=error
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


Members = Folder | Zip
"""The files in a folder or a ZIP: its `name` in messages, the `names` of those that can hold
answers, in order, and the `others`, except hidden ones."""


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


def _bounded(raw: bytes, place: str) -> bytes:
    if len(raw) > MAX_LINE:
        raise HdbenchError("{place}: larger than {most} MiB", place=place, most=MAX_LINE >> 20)
    return raw


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _leads_elsewhere(name: str) -> bool:
    """Return whether a member's name is absolute, contains `..`, or is read otherwise elsewhere."""
    return (
        name.startswith("/")
        or "\\" in name
        or "\0" in name
        or ".." in name.split("/")
        or re.match("[A-Za-z]:", name) is not None
    )


def _common_folder(names: list[str]) -> str:
    """Return the folder that all names begin with, such as `run/`; empty if there is none."""
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    top = tops.pop() if len(tops) == 1 else ""
    return f"{top}/" if top else ""
