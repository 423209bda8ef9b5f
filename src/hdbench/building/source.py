"""The published files that a benchmark is built from, each verified as it is read."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hdbench.errors import HdbenchError


class MissingFileError(HdbenchError):
    """A file is not in the source."""


@dataclass(frozen=True)
class Source:
    """Files by their path, from a folder or a download.

    Attributes:
        locate: path → the file on this machine; raises `MissingFileError`.
        registry: path → sha256 of every file, as pinned; empty for files that nobody else
            published, as a sample's.
    """

    locate: Callable[[str], Path]
    registry: Mapping[str, str] = field(default_factory=dict)

    def paths(self, pattern: str) -> list[str]:
        """The pinned paths that match a pattern, sorted."""
        return sorted(path for path in self.registry if fnmatchcase(path, pattern))

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            MissingFileError: it is not there.
            HdbenchError: its sha256 is not the pinned one.
        """
        local = self.locate(path)
        data = local.read_bytes()
        pinned = self.registry.get(path)
        if pinned and hashlib.sha256(data).hexdigest() != pinned:
            raise HdbenchError(
                f"{local}: wrong checksum, the file is damaged or was changed: get it again"
            )
        return data

    def json(self, path: str) -> Any:
        """The JSON value of a file.

        Raises:
            HdbenchError: it is not JSON, or as `read`.
        """
        data = self.read(path)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise HdbenchError(f"{self.locate(path)}: not JSON: {error}") from None


def folder_source(folder: Path, registry: Mapping[str, str]) -> Source:
    """The files below a folder; a path that leads out of it is refused."""
    root = folder.resolve()

    def locate(path: str) -> Path:
        local = folder / path
        if not local.resolve().is_relative_to(root):
            raise HdbenchError(f"{local}: leads out of {folder}")
        if not local.is_file():
            raise MissingFileError(f"{local}: no such file")
        return local

    if not folder.is_dir():
        raise HdbenchError(f"{folder}: no such folder")
    return Source(locate, registry)


def download_source(url: str, revision: str, registry: Mapping[str, str]) -> Source:
    """The files of a published revision, each downloaded once into the user's cache.

    A download that was interrupted goes on where it stopped when it is started again. The cache is
    `hdbench` in the operating system's cache folder, or the folder that `HDBENCH_CACHE` names.
    """
    import pooch  # noqa: PLC0415  slow to import, and needed here only
    import requests  # noqa: PLC0415

    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        path=Path(os.environ.get("HDBENCH_CACHE") or pooch.os_cache("hdbench")) / revision,
        base_url=url.rstrip("/") + "/",
        registry=dict(registry),
        retry_if_failed=3,
    )

    def locate(path: str) -> Path:
        try:
            return Path(files.fetch(path, downloader=pooch.HTTPDownloader(timeout=30)))
        except requests.HTTPError as error:
            if (
                error.response is not None
                and error.response.status_code == requests.codes.not_found
            ):
                raise MissingFileError(f"{files.get_url(path)}: not found") from None
            raise HdbenchError(f"{files.get_url(path)}: cannot be downloaded: {error}") from None
        except requests.RequestException as error:
            raise HdbenchError(
                f"{files.get_url(path)}: cannot be downloaded ({type(error).__name__}): "
                "look at the connection and start again, what is there is kept; "
                "or give a copy with --source"
            ) from None
        except ValueError:
            raise HdbenchError(
                f"{files.get_url(path)}: wrong checksum, what came is not the pinned file"
            ) from None

    return Source(locate, registry)
