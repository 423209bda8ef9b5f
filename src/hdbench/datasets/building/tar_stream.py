"""Files of a gzipped tar archive, read while it streams: nothing is unpacked to disk."""

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from hdbench.errors import HdbenchError, Message

MAX_UNPACKED = 16 * 2**30
"""Maximum number of bytes of an unpacked archive; they are never held together."""

MAX_FILE = 16 * 2**20
"""Maximum number of bytes of a file in an archive that is read."""

_BLOCK = 2**16  # also the most that is read at once, which bounds what a header may hold
_MAX_FACTS = 100  # that an archive may state about all its files
_END = bytes(tarfile.BLOCKSIZE)

_DAMAGED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, ValueError, OverflowError)


class Packed(Protocol):
    """What an archive is read from; it need not have a length, nor go back."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""


class PackedFile(NamedTuple):
    """A file of an archive.

    Attributes:
        path: its path in the archive, without the archive's own folder.
        data: its bytes; None if it is not a plain file, or is too large.
    """

    path: str
    data: bytes | None


class _ForwardFile:
    """The unpacked bytes of an archive as `tarfile` reads them, in one direction and bounded.

    Attributes:
        last: what was read last.
    """

    def __init__(self, packed: Packed) -> None:
        # GzipFile asks for nothing but `read` where it does not go back.
        self._file = gzip.GzipFile(fileobj=packed)  # type: ignore[call-overload]
        self._at = 0
        self.last = b""

    def tell(self) -> int:
        return self._at

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _BLOCK:
            raise tarfile.ReadError(Message("a header is too large"))
        self.last = self._file.read(size)
        self._at += len(self.last)
        if self._at > MAX_UNPACKED:
            raise tarfile.ReadError(
                Message("more than {most} GiB unpacked", most=MAX_UNPACKED >> 30)
            )
        return self.last

    def seek(self, place: int) -> None:
        if place < self._at:
            raise tarfile.ReadError(Message("a file begins before the end of another"))
        while self._at < place and self.read(min(_BLOCK, place - self._at)):
            pass

    def read_exactly(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self.read(min(_BLOCK, size))):
            parts.append(part)
            size -= len(part)
        if size:
            raise tarfile.ReadError(Message("it ends in the middle of a file"))
        return b"".join(parts)


def packed_files(
    packed: Packed, needed: re.Pattern[str], revision: str, place: str, *, strict: bool
) -> Iterator[PackedFile | None]:
    """Yield the needed files of a repository's archive, and None for each other entry.

    Args:
        packed: a gzipped tar archive, as GitHub packs a revision: in one folder.
        needed: a pattern of the needed paths, without that folder.
        revision: the commit that the archive must be of.
        place: what to call the archive in messages.
        strict: also refuse an archive that does not say which commit it is of.

    Raises:
        EOFError: the archive ends too early.
        HdbenchError: it is not such an archive, is damaged, or is larger than `MAX_UNPACKED`.
    """
    unpacked = _ForwardFile(packed)
    try:
        with tarfile.TarFile(fileobj=unpacked) as archive:  # type: ignore[arg-type]
            stated = archive.pax_headers.get("comment")  # where git writes the commit
            if stated != revision and (strict or stated is not None):
                raise HdbenchError(
                    "{place}: not the archive of commit {revision}", place=place, revision=revision
                )
            yield from _entries(archive, unpacked, needed)
            if unpacked.last != _END:  # `tarfile` takes damage between two files for the end
                raise tarfile.ReadError(Message("its end is missing"))
            while unpacked.read(_BLOCK):  # up to the checksum of the whole
                if any(unpacked.last):
                    raise tarfile.ReadError(Message("something follows its end"))
    except HdbenchError:  # which is a ValueError
        raise
    except (*_DAMAGED, RecursionError) as error:
        raise HdbenchError(
            "{place}: not a .tar.gz of the published repository, or damaged: {why}",
            place=place,
            why=error,
        ) from error


def _entries(
    archive: tarfile.TarFile, unpacked: _ForwardFile, needed: re.Pattern[str]
) -> Iterator[PackedFile | None]:
    member = archive.next()
    top = member.name.partition("/")[0] if member else ""
    while member is not None:
        folder, _, path = member.name.partition("/")
        if folder == top and needed.fullmatch(path) and not member.isdir():
            data = None
            if member.isreg() and not member.issparse() and member.size <= MAX_FILE:
                unpacked.seek(member.offset_data)
                data = unpacked.read_exactly(member.size)
            yield PackedFile(path, data)
        else:
            yield None
        archive.members.clear()  # type: ignore[attr-defined]  # they would grow with the archive
        if len(archive.pax_headers) > _MAX_FACTS:
            raise tarfile.ReadError(Message("too many headers"))
        member = archive.next()
