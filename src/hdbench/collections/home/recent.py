"""The collections that were opened before, in the user's folder for such things: paths alone."""

import os
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock, Timeout
from pydantic import Field

from hdbench.common.files import without_links, write_errors
from hdbench.common.jsonio import write_json
from hdbench.common.validation import Strict
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
        return self._change(lambda _: {}).token

    def add(self, folder: Path, *, is_draft: bool = False) -> None:
        """Remember a collection, or one that is being made, as the last one that was used."""
        kind, name = "drafts" if is_draft else "collections", os.fspath(without_links(folder))
        self._change(lambda now: {kind: [name, *_others(now[kind], name)][:MAX_USED]})

    def forget(self, folder: Path) -> None:
        """Forget a collection or a draft; its files stay."""
        name = os.fspath(folder)
        self._change(lambda now: {k: _others(now[k], name) for k in ("collections", "drafts")})

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
            with suppress(Timeout):
                self._serving.acquire()
                self.note_address("")  # that of a server that is gone
                return None
            if address := self.read().address:
                return address
            time.sleep(0.1)
        raise HdbenchError("another hdbench open is starting: try again in a moment")

    def _change(self, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Remembered:
        with write_errors(self._path), self._changing:
            now = self.read().model_dump()
            write_json(self._path, now | changed(now))
            self._path.chmod(0o600)
            return self.read()


def _others(names: Iterable[str], name: str) -> list[str]:
    return [other for other in names if other != name]
