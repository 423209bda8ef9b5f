"""The published repository's archive: read as it streams, so that only what is needed is kept."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hdbench.common.cache import FileCache, user_cache
from hdbench.common.jsonio import parse_json, write_whole
from hdbench.common.os_errors import read_errors, write_errors
from hdbench.common.progress import progress
from hdbench.datasets.building.tar_stream import MAX_FILE, MAX_UNPACKED, Packed, packed_files
from hdbench.errors import HdbenchError, Message

MAX_FILES = 1_000_000
"""Maximum number of needed files in an archive."""

MAX_KEPT = 4 * 2**30
"""Maximum number of bytes of what is kept of an archive."""

ATTEMPTS = 3
"""How often a download that breaks off is begun, before that is an error."""

PAUSE = 2.0
"""Seconds before such a download is begun again."""

TIMEOUT = 30
"""Seconds for which a server may send nothing."""

_FORM = 1  # the form of what is kept of a file: what has another form is not found
_INDEX = "index.json"
_CHUNK = 2**16
_MIB = 2**20

KeepForm = Callable[[str, bytes], bytes]
"""Function (path, content of a file) → what is kept of it; b"" if it is unusable."""


class PublishedArchive(NamedTuple):
    """The archive of a public repository at a commit.

    Attributes:
        address: where its .tar.gz is downloaded from.
        revision: the commit.
    """

    address: str
    revision: str


class KeptFiles:
    """What is kept of an archive's needed files, each under the sha256 of its content.

    Args:
        cache: where it is kept.
        keys: path → sha256; None if it is not a plain file, or is too large.
        index: the file that lists them once the archive was read to its end.

    Attributes:
        paths: the files' paths, also of those that are unusable.
    """

    def __init__(self, cache: FileCache, keys: dict[str, str | None], index: Path) -> None:
        self._cache, self._keys, self._index = cache, keys, index
        self.paths = list(keys)

    def read(self, path: str) -> bytes:
        """Return what is kept of a file; b"" if it is unusable.

        Raises:
            HdbenchError: it is not there any more.
        """
        key = self._keys[path]
        if key is None:
            return b""
        data = self._cache.get(key)
        if data is None:
            self._index.unlink(missing_ok=True)  # so that the archive is read again
            raise HdbenchError(
                "{place}: lacks {name}, or has no room for it: make room and run again",
                place=self._index.parent,
                name=path,
            )
        return data


def downloaded(archive: PublishedArchive, needed: re.Pattern[str], keep: KeepForm) -> KeptFiles:
    """Return what is kept of a public archive; it is downloaded unless that was done before.

    A download that breaks off is begun again, from the start, as such archives are sent without a
    length and not in ranges. What was kept before it broke off is not written again.

    Args:
        archive: which one.
        needed: a pattern of the needed paths.
        keep: see `KeepForm`.

    Raises:
        HdbenchError: it cannot be downloaded, is not that archive, or is larger than allowed.
    """
    cache, index = _cache(archive.revision)
    keys = _listed(index)
    attempts = 0
    while keys is None:
        attempts += 1
        try:
            with _download(archive.address) as (packed, length):
                reading = _Reading(cache, keep, packed, archive.address)
                keys = reading.keys(needed, archive.revision, length, strict=True)
        except _BrokenOffError as error:
            if attempts == ATTEMPTS:
                raise HdbenchError(
                    "{place}: cannot be downloaded ({why}): check the connection and run again "
                    "(what was downloaded is kept), or give a copy with --source",
                    place=archive.address,
                    why=error,
                ) from error
            time.sleep(PAUSE)
        else:
            write_whole(index, json.dumps(keys).encode())
    return KeptFiles(cache, keys, index)


def from_file(path: Path, revision: str, needed: re.Pattern[str], keep: KeepForm) -> KeptFiles:
    """Return what is kept of an archive that was downloaded by other means.

    Args:
        path: a .tar.gz.
        revision: the commit that it is of, if it names one.
        needed: a pattern of the needed paths.
        keep: see `KeepForm`.

    Raises:
        HdbenchError: it is not such an archive, or is larger than allowed.
    """
    cache, index = _cache(revision)
    with read_errors(path):
        file, size = path.open("rb"), path.stat().st_size
    with file:
        try:
            reading = _Reading(cache, keep, file, str(path))
            keys = reading.keys(needed, revision, size, strict=False)
        except _BrokenOffError as error:
            raise HdbenchError("{place}: ends too early: get it again", place=path) from error
    return KeptFiles(cache, keys, index)


class _BrokenOffError(Exception):
    """A transfer ended too early, or did not begin; the next one may succeed."""


class _Reading:
    """One pass through an archive."""

    def __init__(self, cache: FileCache, keep: KeepForm, packed: Packed, place: str) -> None:
        self._cache, self._keep, self._packed, self._place = cache, keep, packed, place
        self._bytes_read = 0
        self._keys: dict[str, str | None] = {}

    def read(self, size: int, /) -> bytes:
        """Return the next bytes of the archive, see `Packed`."""
        data = self._packed.read(size)
        self._bytes_read += len(data)
        if self._bytes_read > MAX_UNPACKED:  # gzip files can consist of parts without any content
            raise self._too_large()
        return data

    def keys(
        self, needed: re.Pattern[str], revision: str, length: int | None, *, strict: bool
    ) -> dict[str, str | None]:
        """Keep the needed files, and return path → sha256.

        Args:
            needed: a pattern of their paths.
            revision: the archive's commit.
            length: how many bytes the archive has, if that is known.
            strict: see `packed_files`.
        """
        done = self._mebibytes(needed, revision, strict=strict)
        for _ in progress(done, "MiB of the archive", length and length // _MIB):
            pass
        return self._keys

    def _mebibytes(self, needed: re.Pattern[str], revision: str, *, strict: bool) -> Iterator[None]:
        """Keep the needed files, and yield once for each MiB of the archive."""
        yielded = kept = 0
        try:
            for file in packed_files(self, needed, revision, self._place, strict=strict):
                if file is not None:
                    self._keys[file.path] = None
                    kept += 0 if file.data is None else self._add(file.path, file.data)
                    if len(self._keys) > MAX_FILES or kept > MAX_KEPT:
                        raise self._too_large()
                while yielded < self._bytes_read // _MIB:
                    yielded += 1
                    yield
        except EOFError as error:
            raise _BrokenOffError(Message("the transfer broke off")) from error

    def _add(self, path: str, data: bytes) -> int:
        """Keep a file, unless that was done before; return the size of what is kept."""
        key = hashlib.sha256(data).hexdigest()
        self._keys[path] = key
        kept = self._cache.get(key)
        if kept is None:
            kept = self._keep(path, data)
            self._cache.add(key, kept)
        return len(kept)

    def _too_large(self) -> HdbenchError:
        return HdbenchError(
            "{place}: larger than any archive of the published repository", place=self._place
        )


class _Chunks:
    """Bytes that come in chunks, as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


@contextmanager
def _download(address: str) -> Iterator[tuple[Packed, int | None]]:
    """What a server sends, and its length if the server names one.

    Raises:
        _BrokenOffError: the transfer broke off, or may succeed later.
        HdbenchError: the server refuses it.
    """
    import requests  # noqa: PLC0415  slow to import, and needed here only

    own = {"Accept-Encoding": "identity"}  # the archive is compressed already
    try:
        with requests.get(address, stream=True, timeout=TIMEOUT, headers=own) as response:
            response.raise_for_status()
            length = response.headers.get("Content-Length", "")
            size = int(length) if re.fullmatch("[0-9]{1,15}", length) else None
            yield _Chunks(response.iter_content(_CHUNK)), size
    except requests.HTTPError as error:
        if error.response is not None and error.response.status_code in _PASSING:
            raise _BrokenOffError(Message(str(error))) from error
        raise HdbenchError(
            "{place}: cannot be downloaded: {why}", place=address, why=error
        ) from error
    except requests.RequestException as error:
        raise _BrokenOffError(Message(type(error).__name__)) from error


_PASSING = frozenset({429, 500, 502, 503, 504})
"""Statuses of a server that may be others later."""


def _cache(revision: str) -> tuple[FileCache, Path]:
    """Return what is kept of a revision's archive, and where it is listed."""
    folder = user_cache() / f"results-{_FORM}" / revision
    with write_errors(folder):
        return FileCache(folder, max_entry=MAX_FILE), folder / _INDEX


def _listed(index: Path) -> dict[str, str | None] | None:
    """Return path → sha256 of an archive that was read before; None if none was."""
    try:
        keys = parse_json(index.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return keys if isinstance(keys, dict) else None
