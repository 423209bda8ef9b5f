"""The open editors, one for each collection and account, and the accounts' quota."""

import logging
import os
import re
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anyio import CapacityLimiter
from starlette.routing import Router

from hdbench.annotating.editor import SCHEMA, Editor
from hdbench.annotating.history import HISTORY, SUFFIX
from hdbench.annotating.in_threads import PATIENCE, BusyError, in_thread, one_at_a_time
from hdbench.annotating.server import page_routes
from hdbench.annotating.store import Saving
from hdbench.benchmarks.benchmark import METADATA
from hdbench.common.servers import ends
from hdbench.errors import HdbenchError, Message, write_reason

logger = logging.getLogger(__name__)

IDLE = 900.0
"""Seconds without a request after which an editor is closed; the next request opens it again."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_folder(folder: Path) -> None:
    """Refuse a folder where people's work would be lost.

    Args:
        folder: the folder of the collections.

    Raises:
        HdbenchError: it does not exist, is temporary or not writable, or is itself a collection.
    """
    problem = None
    try:
        resolved = folder.resolve(strict=True)
        if resolved.is_relative_to(Path(tempfile.gettempdir()).resolve()):  # uploads are there, too
            problem = Message("is a temporary folder, in which nothing stays: name another one")
        elif "SPACE_ID" in os.environ and not any(
            map(os.path.ismount, (resolved, *resolved.parents[:-1]))
        ):
            problem = Message(
                "is lost when the Space restarts: attach a storage, and name a folder in it"
            )
        elif (resolved / METADATA).exists():
            problem = Message("is a collection: name the folder that it is in")
        else:
            with tempfile.TemporaryFile(dir=resolved):
                pass
    except OSError as error:
        problem = Message("cannot be written: {why}", why=write_reason(error))
    if problem is not None:
        raise HdbenchError(
            "{place}: no ground truth can be made there: it {why}", place=folder, why=problem
        )


class Quota:
    """The bytes that each account, and all of them together, have saved and may save.

    Only histories are saved; every other file of a collection is made from them. An account
    cannot make collections or items.

    Args:
        folder: the folder that the collections are in.
        per_account: maximum bytes that one account may save, in all collections.
        total: maximum bytes that all accounts may save.
    """

    def __init__(self, folder: Path, per_account: int, total: int) -> None:
        self._folder = folder
        self._per_account, self._total = per_account, total
        self._lock = threading.Lock()
        self._saving: Counter[str] = Counter()  # account → bytes that are being written

    @contextmanager
    def saving(self, account: str, size: int) -> Iterator[None]:
        """Reserve room for a write until the block ends.

        Args:
            account: the account that writes.
            size: the number of bytes.

        Raises:
            HdbenchError: it would be more than the account, or all of them, may save.
        """
        with self._lock:
            saved = self._saved()
            used, everyone = saved[account] + self._saving[account], saved.total()
            if used + size > self._per_account:
                raise HdbenchError(
                    "not saved: {name} has used {used:,} kB of {most:,} kB: ask who runs this "
                    "server for more",
                    name=account,
                    used=used // 1_000,
                    most=self._per_account // 1_000,
                )
            if everyone + self._saving.total() + size > self._total:
                raise HdbenchError(
                    "not saved: all accounts together have used {used:,} kB of {most:,} kB: ask "
                    "who runs this server for more",
                    used=everyone // 1_000,
                    most=self._total // 1_000,
                )
            self._saving[account] += size
        try:
            yield
        finally:
            with self._lock:
                self._saving[account] -= size

    def _saved(self) -> Counter[str]:
        """Return account → the bytes of its files, from their sizes alone."""
        saved: Counter[str] = Counter()
        with suppress(FileNotFoundError):  # a folder was deleted meanwhile
            for collection in os.scandir(self._folder):
                for directory, _, names in os.walk(Path(collection.path, HISTORY)):
                    for name in names:
                        with suppress(FileNotFoundError):
                            size = os.lstat(os.path.join(directory, name)).st_size
                            saved[name.removesuffix(SUFFIX)] += size
        return saved


class Editors:
    """The editors of the collections in a folder.

    Args:
        folder: the folder that the collections are in.
        quota: the quota of accounts there.

    Attributes:
        folder: same as in Args, without links.
    """

    def __init__(self, folder: Path, quota: Quota) -> None:
        self.folder = folder.resolve()
        self._quota = quota
        self._lock = threading.Lock()
        self._turns: dict[str, CapacityLimiter] = defaultdict(one_at_a_time)
        self._open: dict[tuple[str, str], _Open] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._closing, daemon=True).start()

    def collections(self) -> list[str]:
        """Return the names of the collections."""
        return sorted(folder.name for folder in self.folder.iterdir() if _is_collection(folder))

    async def enter(self, stack: ExitStack, collection: str, account: str) -> Router | None:
        """Enter `page` in a thread: no more than one of them for each account.

        Raises:
            BusyError: the account's other requests take too long.
            HdbenchError: see `page`.
        """
        opening = self.page(collection, account)
        return await in_thread(self._turns[account], stack.enter_context, opening)

    @contextmanager
    def page(self, collection: str, account: str) -> Iterator[Router | None]:
        """Provide an editor's page, open until the block ends; None if there is no such collection.

        Raises:
            BusyError: closing it takes too long; then it can be opened again.
            HdbenchError: the collection cannot be used, or another program has it open under this
                pseudonym.
        """
        folder = self.folder / collection
        if not _is_collection(folder):
            yield None
            return
        with self._lock:
            opened = self._open.setdefault((collection, account), _Open())
            opened.users += 1
        try:
            if not opened.opening.acquire(timeout=PATIENCE):
                raise BusyError
            try:
                if self._ended.is_set():
                    raise ends()
                if opened.router is None:
                    opened.open(folder, account, partial(self._quota.saving, account))
            finally:
                opened.opening.release()
            yield opened.router
        finally:
            with self._lock:
                opened.users -= 1
                opened.used = time.monotonic()

    def close_idle(self, seconds: float) -> None:
        """Close the editors that have not been used for some time."""
        late = time.monotonic() - seconds
        for opened in list(self._open.values()):
            with opened.opening:  # a request that comes now waits, and opens it again
                with self._lock:
                    is_idle = not opened.users and opened.used <= late
                if is_idle:
                    opened.close()

    def close(self) -> None:
        """Close all editors, and open no more."""
        self._ended.set()  # first, so that none is opened that is not closed below
        for opened in list(self._open.values()):
            with opened.opening:
                opened.close()

    def _closing(self) -> None:
        while not self._ended.wait(IDLE / 30):
            self.close_idle(IDLE)


def _is_collection(folder: Path) -> bool:
    files = (folder / METADATA, folder / SCHEMA)
    return (
        _NAME.fullmatch(folder.name) is not None
        and not folder.is_symlink()
        and all(file.is_file() for file in files)
    )


@dataclass
class _Open:
    """The editor for a collection and an account, open or not.

    Attributes:
        users: the number of requests that use it.
        used: the time when the last of them ended.
        opening: the lock that is held while it is opened or closed.
    """

    users: int = 0
    used: float = 0.0
    opening: threading.Lock = field(default_factory=threading.Lock)
    editor: Editor | None = None
    router: Router | None = None

    def open(self, folder: Path, account: str, saving: Saving) -> None:
        self.editor = Editor(folder, account, saving=saving)
        for note in self.editor.notes:
            logger.warning("%s", note)
        self.router = Router(page_routes(self.editor))

    def close(self) -> None:
        if self.editor is None:
            return
        try:
            self.editor.close()
        except Exception:  # the others are closed nevertheless
            logger.exception("an editor could not be closed: what was changed is in the history")
        self.editor = self.router = None
