"""Files that the browser sends, untrusted: written beside what they are for, within bounds."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from anyio import to_thread
from starlette.requests import Request

from hdbench.common.bounds import MAX_UPLOAD
from hdbench.common.files import is_writable, write_errors
from hdbench.common.writing import refuse_links
from hdbench.errors import HdbenchError

MAX_NAME = 200
"""Maximum number of bytes of a file's name."""


class UploadedFile(NamedTuple):
    """A file that was sent.

    Attributes:
        path: where it is until the block ends.
        name: its name, with the name of the folder that it was in, if there was one.
    """

    path: Path
    name: PurePosixPath


@asynccontextmanager
async def uploaded(request: Request, folder: Path) -> AsyncIterator[UploadedFile]:
    """Write the body of a request into a hidden folder, which is removed when the block ends.

    Args:
        request: the request; `name` in its query is the file's name.
        folder: a folder that is there, on the disk that the file is going to be moved to.

    Raises:
        HdbenchError: it is too large, has an unusable name, or cannot be written.
    """
    name = checked_name(request.query_params.get("name", ""))
    refuse_links(folder)
    with write_errors(folder):
        inside = Path(tempfile.mkdtemp(dir=folder, prefix=".upload-"))
    try:
        path, size = inside / name.name, 0
        with write_errors(path), path.open("wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > MAX_UPLOAD:
                    raise HdbenchError(
                        "{place}: larger than {most} GiB", place=name.name, most=MAX_UPLOAD >> 30
                    )
                await to_thread.run_sync(file.write, part)
        yield UploadedFile(path, name)
    finally:
        shutil.rmtree(inside, ignore_errors=True)


def checked_name(given: str) -> PurePosixPath:
    """Return a file's name, or that of its folder and its own, as a browser says it.

    Of more folders, the last one is kept.

    Raises:
        HdbenchError: it leads elsewhere, is hidden, or cannot be a file's name everywhere.
    """
    parts = [part for part in given.split("/") if part][-2:]
    if not parts or any(
        part.startswith(".")
        or len(part.encode(errors="replace")) > MAX_NAME
        or not part.isprintable()
        or not is_writable(part)
        or not set(part).isdisjoint('\\:*?"<>|')
        for part in parts
    ):
        raise HdbenchError("{name!r}: not a usable name: rename the file", name=given[:MAX_NAME])
    return PurePosixPath(*parts)
