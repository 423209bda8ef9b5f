"""Images in shards: tar files as WebDataset packs them, and Parquet files that `datasets` wrote."""

import importlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import ModuleType
from urllib.parse import urlsplit

import fsspec

from hdbench.errors import HdbenchError
from hdbench.running.backend import InShard, Question
from hdbench.running.image_shards.files import MAX_BYTES, one_line_errors, too_large, without_query

SUFFIXES = (".tar", ".parquet")


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
            found = [path]
        else:
            found = files.glob(path) if is_pattern else files.find(path)
        is_local = "file" in (files.protocol if isinstance(files.protocol, tuple) else ())
        names = [
            str(each) if is_local else files.unstrip_protocol(each)
            for each in found
            if is_shard(each) and not (is_local and files.islink(each) and each != path)
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


def _reader(shard: str) -> ModuleType:
    """Return the module that reads such shards, imported only now: what it needs is slow to."""
    kind = "tar" if without_query(shard).lower().endswith(".tar") else "parquet"
    return importlib.import_module(f"hdbench.running.image_shards.{kind}")


def _by_numbers(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", str(PurePosixPath(name)).casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
