"""Published files that a benchmark is built from, verified as they are read; images and PDFs."""

import hashlib
import io
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from PIL import Image

from hdbench.common import pdf
from hdbench.common.cache import user_cache
from hdbench.common.files import MissingFileError, file_in
from hdbench.common.pictures import FORMATS
from hdbench.errors import HdbenchError, Message

SHA256_DIGITS = 64


@dataclass(frozen=True)
class SourceFiles:
    """Files by their path, from a folder or a download.

    Attributes:
        locate: path → the file on this machine; raises `MissingFileError`.
        names: every path.
        registry: path → sha256, as pinned; empty for files whose publisher gives none, or that
            nobody else published, such as a sample's.
        may_differ: pinned paths that are accepted even if they are not as pinned.
    """

    locate: Callable[[str], Path]
    names: Collection[str]
    registry: Mapping[str, str] = field(default_factory=dict)
    may_differ: Collection[str] = ()

    def paths(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern, sorted."""
        return sorted(path for path in self.names if fnmatchcase(path, pattern))

    def read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            MissingFileError: it is not there.
            HdbenchError: its sha256 is not the pinned one.
        """
        local = self.locate(path)
        data = local.read_bytes()
        pinned = self.registry.get(path) if path not in self.may_differ else None
        if len(local.stem) == SHA256_DIGITS:  # a file named after its content
            pinned = local.stem
        if pinned and hashlib.sha256(data).hexdigest() != pinned:
            raise HdbenchError(
                "{place}: wrong checksum, so the file is damaged or was changed: get it again, or "
                "take a corrected one as it is with --accept-changed {name}"
                if local.suffix in {".csv", ".json"}
                else "{place}: wrong checksum, so the file is damaged or was changed: get it again",
                place=local,
                name=local.name,
            )
        return data

    def changes(self) -> list[str]:
        """Return the sha256 of each file that may differ, and does."""
        hashes = {path: hashlib.sha256(self.read(path)).hexdigest() for path in self.may_differ}
        return [hashes[path] for path in sorted(hashes) if hashes[path] != self.registry[path]]

    def json(self, path: str) -> Any:
        """Return the JSON value of a file.

        Raises:
            HdbenchError: it is not JSON, or see `read`.
        """
        data = self.read(path)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise HdbenchError(
                "{place}: not JSON: {why}", place=self.locate(path), why=error
            ) from error


def folder_source(
    folder: Path,
    registry: Mapping[str, str],
    *,
    may_differ: Collection[str] = (),
    within: Path | None = None,
) -> SourceFiles:
    """Return the files below a folder; paths that leave it, or leave `within`, are refused."""

    def locate(path: str) -> Path:
        return file_in(folder, path, within)

    if not folder.is_dir():
        raise HdbenchError("{place}: no such folder", place=folder)
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return SourceFiles(locate, registry or set(paths), registry, may_differ)


def download_source(url: str, revision: str, registry: Mapping[str, str]) -> SourceFiles:
    """Return the files of a published revision, each downloaded once into the user's cache.

    An interrupted download resumes where it stopped when it is started again. The cache is
    `hdbench` in the operating system's cache folder, or the folder that `HDBENCH_CACHE` names.
    """
    import pooch  # noqa: PLC0415  slow to import, and needed here only
    import requests  # noqa: PLC0415

    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        path=user_cache() / revision,
        base_url=url.rstrip("/") + "/",
        registry={path: sha256 or None for path, sha256 in registry.items()},
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
                raise MissingFileError(files.get_url(path), Message("not found")) from error
            raise HdbenchError(
                "{place}: cannot be downloaded: {why}", place=files.get_url(path), why=error
            ) from error
        except requests.RequestException as error:
            raise _not_downloaded(files.get_url(path), error) from error
        except ValueError as error:
            raise HdbenchError(
                "{place}: wrong checksum: what was downloaded is not the pinned file",
                place=files.get_url(path),
            ) from error

    return SourceFiles(locate, registry, registry)


def _not_downloaded(address: str, error: Exception) -> HdbenchError:
    return HdbenchError(
        "{place}: cannot be downloaded ({why}): check the connection and run again (what was "
        "downloaded is kept), or give a copy with --source",
        place=address,
        why=type(error).__name__,
    )


def hub_source(repository: str, revision: str) -> SourceFiles:
    """Return the files of a dataset repository on the Hub, downloaded into the user's cache.

    Raises:
        HdbenchError: it cannot be downloaded; what has arrived is kept for the next time.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow to import

    cache = user_cache() / "hub"
    try:
        snapshot = snapshot_download(
            repository, repo_type="dataset", revision=revision, cache_dir=cache
        )
    except OSError as error:  # all errors of the Hub's client are OSErrors
        raise _not_downloaded(repository, error) from error
    return folder_source(Path(snapshot), {}, within=cache)  # links into the cache


# Images and PDFs: checked to be whole, and stored under their sha256

MEDIA_FOLDERS = {"image": "images", "pages": "images", "pdf": "pdf"}

IMAGE_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "TIFF": "tif", "WEBP": "webp"}


def copy_media(files: SourceFiles, path: str, folder: Path, kind: str) -> tuple[str, str]:
    """Copy an image or a PDF from the source into a repository.

    Args:
        files: the source.
        path: its path there.
        folder: the repository.
        kind: the media column: `image`, `pages` or `pdf`.

    Returns:
        The copy's path in the repository, and its sha256.

    Raises:
        MissingFileError: the source lacks it.
        HdbenchError: it is damaged.
    """
    data = files.read(path)
    place = files.locate(path)
    suffix = _check_pdf(data, place) if kind == "pdf" else _check_image(data, place)
    sha256 = hashlib.sha256(data).hexdigest()
    copy = folder / MEDIA_FOLDERS[kind] / f"{sha256}.{suffix}"
    copy.write_bytes(data)
    if hashlib.sha256(copy.read_bytes()).hexdigest() != sha256:
        raise HdbenchError("{place}: is not what was written: check the disk", place=copy)
    return f"{copy.parent.name}/{copy.name}", sha256


def _check_image(data: bytes, place: Path) -> str:
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            image.load()
            return IMAGE_SUFFIXES[image.format or ""]
    except KeyError as error:
        formats = ", ".join(IMAGE_SUFFIXES)
        raise HdbenchError(
            "{place}: not an image that can be used: must be {formats}",
            place=place,
            formats=formats,
        ) from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise HdbenchError(
            "{place}: damaged image: {why}: replace it", place=place, why=error
        ) from error


def _check_pdf(data: bytes, place: Path) -> str:
    try:
        with pdf.opened(data) as document:
            for page in document:
                page.close()
    except pdf.PdfError as error:
        raise HdbenchError("{place}: damaged PDF: {why}", place=place, why=error) from error
    return "pdf"
