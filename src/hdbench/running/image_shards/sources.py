"""Images in shards: tar files as WebDataset packs them, and Parquet files that `datasets` wrote."""

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import fsspec

from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import InShard, Question

SUFFIXES = (".tar", ".parquet")

MAX_BYTES = 256 * 2**20
"""Maximum bytes of a file in a shard."""

_WITH_QUERY = re.compile(r"""(https?://[^\s'"?]*)\?[^\s'"]*""")
"""A web address in a message, of which the query may hold a secret."""


def find_shards(source: str) -> list[str]:
    """Return the shards that a source names, in the order of the numbers in their names.

    Args:
        source: a shard, a folder with shards at any depth, or a pattern such as `cards/*.tar`: a
            path, or a URL that fsspec reads, such as `hf://datasets/…` or `s3://…`.

    Raises:
        HdbenchError: it cannot be read, or the address has a password.
    """
    if urlsplit(source).password is not None:
        raise HdbenchError(
            "--images: leave the user and the password out of the address: they are read from the "
            "environment, such as HF_TOKEN or AWS_ACCESS_KEY_ID"
        )
    with one_line_errors(without_query(source)):
        files, path = fsspec.url_to_fs(source)
        is_pattern = bool(re.search(r"[*?\[]", without_query(path)))
        if is_shard(path) and (not is_pattern or files.isfile(path)):
            paths = [path]
        else:
            paths = files.glob(path) if is_pattern else files.find(path)
        is_local = "file" in (files.protocol if isinstance(files.protocol, tuple) else ())
        names = [
            str(shard) if is_local else files.unstrip_protocol(shard)
            for shard in paths
            if is_shard(shard) and not (is_local and files.islink(shard) and shard != path)
        ]
    return sorted(names, key=_by_numbers)


def is_shard(name: str) -> bool:
    """Return whether a path or URL is that of a shard, by its ending."""
    return without_query(name).lower().endswith(SUFFIXES)


def questions_in(shard: str) -> Iterator[Question]:
    """Yield the items of a shard, in its order; their images are not read.

    Raises:
        HdbenchError: it cannot be read, or is damaged.
    """
    yield from _reader(shard).questions(shard)


def read_in_shard(stored: InShard) -> list[bytes]:
    """Return the files at a place in a shard.

    Raises:
        HdbenchError: the shard cannot be read, there is no such place, or a file is too large.
    """
    files: list[bytes] = _reader(stored.shard).read(stored)
    if any(len(data) > MAX_BYTES for data in files):
        raise too_large(stored)
    return files


def too_large(stored: InShard) -> HdbenchError:
    """Return the error of a file in a shard that has more than `MAX_BYTES`."""
    return HdbenchError(
        "{place}: larger than {most} MiB", place=place_of(stored), most=MAX_BYTES >> 20
    )


def place_of(stored: InShard) -> Message:
    """Return a place in a shard, as messages name it.

    Example:
        >>> place_of(InShard("https://h/a.tar?key=1", "x/1.jpg", 512, 90))
        'https://h/a.tar: x/1.jpg'
        >>> place_of(InShard("a.parquet", "image", 16))
        'a.parquet: row 17'
    """
    place = stored.name if stored.size is not None else Message("row {row:,}", row=stored.place + 1)
    return Message("{shard}: {place}", shard=without_query(stored.shard), place=place)


def without_query(name: str) -> str:
    """Return a path as it is, or a web address without its query, which may hold a secret."""
    if name.startswith(("http://", "https://")):
        return urlunsplit((*urlsplit(name)[:3], "", ""))
    return name


def opened(shard: str, **options: Any) -> Any:
    """Return a shard, opened for reading at any place, with fsspec's options."""
    files, path = fsspec.url_to_fs(shard)
    return files.open(path, "rb", **options)


@contextmanager
def one_line_errors(where: str, template: str = "{place}: cannot be read: {why}") -> Iterator[None]:
    """Turn any error of a file system or a damaged shard into one line that names the file.

    Args:
        where: the file or folder.
        template: the message.

    Raises:
        HdbenchError: something was raised.
    """
    try:
        yield
    except HdbenchError:
        raise
    except FileNotFoundError as error:
        raise HdbenchError("{place}: there is no such file or folder", place=where) from error
    except Exception as error:  # each file system has errors of its own
        reason = _WITH_QUERY.sub(r"\1", " ".join(str(error).split()))[:300] or type(error).__name__
        raise HdbenchError(template, place=where, why=reason) from error


def _reader(shard: str) -> ModuleType:
    """Return the module that reads such shards, imported only now, as that is slow."""
    kind = "tar" if without_query(shard).lower().endswith(".tar") else "parquet"
    return importlib.import_module(f"hdbench.running.image_shards.{kind}")


def _by_numbers(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", str(PurePosixPath(name)).casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
