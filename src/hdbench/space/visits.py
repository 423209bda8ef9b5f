"""What visitors have brought, and what was made of it: a folder each, kept for a while."""

import re
import secrets
import shutil
import time
from pathlib import Path
from threading import Event, Thread
from typing import IO

from hdbench.space.context import uploads

_ID = re.compile(r"[A-Za-z0-9_-]{32}")
_BYTES = 24  # for an id of 32 characters, which cannot be guessed
_UNUSUAL = re.compile(r"[^\w.() +-]")
_MAX_NAME = 100
_OWN = "visits"


def new_visit() -> str:
    """Make the folder of a visitor's files, and return the id by which it is found."""
    name = secrets.token_urlsafe(_BYTES)
    (uploads().parent / _OWN / name).mkdir(parents=True)
    return name


def folder_of(name: str) -> Path | None:
    """Return the folder with an id, if it is still there: no path is made from anything else."""
    folder = uploads().parent / _OWN / name if _ID.fullmatch(name) else None
    return folder if folder is not None and folder.is_dir() else None


def add_file(name: str, file: IO[bytes], file_name: str) -> None:
    """Add a file to a folder, by its own name as far as that is harmless."""
    folder = folder_of(name)
    assert folder is not None  # noqa: S101  just made
    place = folder / "files" / str(len(files_of(name)))
    place.mkdir(parents=True)
    plain = _UNUSUAL.sub("_", re.split(r"[/\\]", file_name)[-1])[-_MAX_NAME:]
    with (place / (plain if plain.strip(". ") else f"answers{plain.strip(' ')}")).open("wb") as to:
        shutil.copyfileobj(file, to)


def files_of(name: str) -> list[Path]:
    """Return the files that a visitor has brought, in their order."""
    folder = folder_of(name)
    return sorted((folder / "files").glob("*/*")) if folder else []


def forget(seconds: float) -> None:
    """Delete the folders that are older than so many seconds."""
    for folder in (uploads().parent / _OWN).glob("*"):
        if time.time() - folder.stat().st_mtime > seconds:
            shutil.rmtree(folder, ignore_errors=True)


def forget_in_time(seconds: float, ended: Event) -> None:
    """Delete folders, as soon as they are older than so many seconds, until the server ends."""

    def forgetting() -> None:
        while not ended.wait(max(1.0, seconds / 10)):
            forget(seconds)

    Thread(target=forgetting, daemon=True).start()
