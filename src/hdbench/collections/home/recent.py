"""The collections that were opened before, in the user's folder for such things: paths alone."""

import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock, Timeout
from pydantic import Field

from hdbench.common.os_errors import write_errors
from hdbench.common.regular_files import without_links
from hdbench.common.validation import Strict
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError

MAX_USED = 100
"""Maximum number of folders that are remembered."""

PATIENCE = 20.0
"""Maximum number of seconds until a server that begins has said where it is."""


class Remembered(Strict):
    """Content of the file.

    Attributes:
        token: the first part of all addresses, so that they stay the same.
        collections: the folders, the last used first.
        drafts: the folders of collections that are being made.
        address: where the home was served last.
        person: the name of whoever worked here last.
    """

    token: str = Field(default_factory=lambda: secrets.token_urlsafe(16))
    collections: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    address: str = ""
    person: str = "me"


class Recent:
    """The collections that were opened before, and the address of the home.

    Args:
        folder: the folder with the file; by default the user's own.

    Raises:
        HdbenchError: the folder cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or platformdirs.user_state_path("hdbench")
        self._path = folder / "home.json"
        with write_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._changing = FileLock(folder / ".home.json.lock")
        # Held by the process that serves the home.
        self._serving = FileLock(folder / ".home.lock", blocking=False, thread_local=False)

    def read(self) -> Remembered:
        """Return what is remembered; nothing if the file is missing or damaged."""
        with suppress(OSError, ValueError):
            return Remembered.model_validate_json(self._path.read_bytes())
        return Remembered()

    def token(self) -> str:
        """Return the first part of all addresses, which is made once."""
        self._change(lambda _: {})
        return self.read().token

    def add(self, folder: Path) -> None:
        """Remember a collection as the last one that was used."""
        name = os.fspath(without_links(folder))
        self._change(
            lambda now: {"collections": [name, *(n for n in now.collections if n != name)]}
        )

    def forget(self, folder: Path) -> None:
        """Forget a collection or a draft; its files stay."""
        name = os.fspath(folder)
        self._change(
            lambda now: {
                "collections": [other for other in now.collections if other != name],
                "drafts": [other for other in now.drafts if other != name],
            }
        )

    def add_draft(self, folder: Path) -> None:
        """Remember a collection that is being made."""
        name = os.fspath(without_links(folder))
        self._change(lambda now: {"drafts": [name, *(n for n in now.drafts if n != name)]})

    def note_address(self, address: str) -> None:
        """Remember where the home is served."""
        self._change(lambda _: {"address": address})

    def note_person(self, name: str) -> None:
        """Remember under which name somebody annotates here."""
        self._change(lambda _: {"person": name})

    def served_at(self) -> str | None:
        """Return where another process serves the home; None if this one serves it from now on.

        Raises:
            HdbenchError: another process is starting to serve it and has not saved its address yet.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                self._serving.acquire()
            except Timeout:
                if address := self.read().address:
                    return address
                time.sleep(0.1)
            else:
                self.note_address("")  # that of a server that is gone
                return None
        raise HdbenchError("another hdbench open is starting: try again in a moment")

    def _change(self, changed: Callable[[Remembered], dict[str, Any]]) -> None:
        with write_errors(self._path), self._changing:
            now = self.read()
            values = now.model_dump() | changed(now)
            for name in ("collections", "drafts"):
                values[name] = list(values[name])[:MAX_USED]
            text = json.dumps(values, ensure_ascii=True, indent=2) + "\n"
            write_whole(self._path, text.encode())
            self._path.chmod(0o600)
