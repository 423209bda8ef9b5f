"""Images in tar files, as WebDataset packs them. Nothing is unpacked to disk."""

import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, cast

import fsspec

from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import IMAGES, InShard, Question
from hdbench.running.image_shards.sources import (
    MAX_BYTES,
    one_line_errors,
    opened,
    place_of,
    too_large,
    without_query,
)

_MAX_HEADER = 2**20
_FETCHED = 2**16
"""Bytes fetched around a header from a server; larger members between headers are not fetched."""
_BLOCK = b"\0" * tarfile.BLOCKSIZE


def questions(shard: str) -> Iterator[Question]:
    """Yield the items of a tar file: neighboring members whose paths are equal up to the first dot.

    That part of the path is the item's id, and its images are those members that have the
    extension of one, in the tar file's order. Other members are passed over, and so are links and
    hidden files. Only headers are read.

    Raises:
        HdbenchError: it cannot be read, is damaged, cut off or compressed, or an item has two
            images of the same name, of which programs that unpack it would keep the last.
    """
    for key, members in groupby(_members(shard), key=lambda member: _key(member.name)):
        media: dict[str, InShard] = {}
        for member in members:
            if PurePosixPath(member.name).suffix.lower() not in IMAGES:
                continue
            stored = InShard(shard, member.name, member.offset_data, member.size)
            if media.setdefault(member.name.removeprefix("./"), stored) is not stored:
                raise HdbenchError(
                    "{place}: is in the tar file twice: keep one", place=place_of(stored)
                )
        if media:
            yield Question(key, list(media.values()))


def read(stored: InShard) -> list[bytes]:
    """Return the bytes of a member, as those of the only file in its place.

    Raises:
        HdbenchError: the shard cannot be read or is shorter, or the member is too large.
    """
    size = stored.size or 0
    if size > MAX_BYTES:
        raise too_large(stored)
    where = place_of(stored)
    with one_line_errors(where):
        files, path = fsspec.url_to_fs(stored.shard)
        data = cast(bytes, files.cat_file(path, stored.place, stored.place + size))
    if len(data) != size:
        raise HdbenchError(
            "{place}: {there:,} of its {size:,} bytes are there: the shard was changed or cut off, "
            "or the server cannot send parts of a file",
            place=where,
            there=len(data),
            size=size,
        )
    return [data]


class _Headers:
    """A tar file of which only headers are read: a huge one would fill the memory."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MAX_HEADER:
            raise tarfile.ReadError(Message("a header of {size:,} bytes", size=size))
        return cast(bytes, self._file.read(size))


def _members(shard: str) -> Iterator[tarfile.TarInfo]:
    where = without_query(shard)
    last, headers = Message("its beginning"), None
    with one_line_errors(where), opened(shard, block_size=_FETCHED) as file:
        try:
            headers = tarfile.open(  # noqa: SIM115  closed with the file
                fileobj=cast(Any, _Headers(file)), mode="r:", errors="backslashreplace"
            )
            while (member := headers.next()) is not None:
                cast(Any, headers).members = []  # tarfile would keep all of them
                if member.size < 0:
                    raise tarfile.ReadError(Message("a member of {size:,} bytes", size=member.size))
                last = Message("{name}", name=member.name)
                hidden = PurePosixPath(member.name).name.startswith(".")
                if member.isreg() and not member.issparse() and not hidden:
                    yield member
            # tarfile takes a damaged header for the end, which is a block of zeros.
            file.seek(headers.offset)
            if file.read(tarfile.BLOCKSIZE) != _BLOCK:
                raise tarfile.ReadError(Message("no end of the archive"))
        except tarfile.TarError as error:
            at = headers.offset if headers is not None else 0
            raise HdbenchError(
                "{place}: damaged, cut off or compressed at byte {byte:,}, after {last} ({why}): "
                "make it again, as a plain tar file",
                place=where,
                byte=at,
                last=last,
                why=error,
            ) from error


def _key(name: str) -> str:
    """Return WebDataset's key of a member.

    Example:
        >>> _key("./cards/0017.front.jpg")
        'cards/0017'
    """
    folder, _, file = name.removeprefix("./").rpartition("/")
    return f"{folder}/{file.partition('.')[0]}".lstrip("/")
