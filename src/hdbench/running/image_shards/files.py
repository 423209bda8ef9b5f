"""Helpers for reading shards of every kind."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import fsspec

from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import InShard

MAX_BYTES = 256 * 2**20
"""Maximum bytes of a file in a shard."""

_WITH_QUERY = re.compile(r"""(https?://[^\s'"?]*)\?[^\s'"]*""")
"""A web address in a message, of which the query may hold a secret."""


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
def one_line_errors(where: str, what: str = "{place}: cannot be read: {why}") -> Iterator[None]:
    """Whatever a file system or a damaged shard raises, in one line that says where.

    Args:
        where: the file or folder.
        what: the template of that line.

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
        said = _WITH_QUERY.sub(r"\1", " ".join(str(error).split()))[:300] or type(error).__name__
        raise HdbenchError(what, place=where, why=said) from error
