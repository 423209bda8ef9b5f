"""The open editors, one for each collection and account, and the accounts' quota."""

import os
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from starlette.routing import Router

from hdbench.annotating.editor import SCHEMA, Editor
from hdbench.annotating.history import HISTORY, SUFFIX
from hdbench.annotating.open_pages import OpenPages
from hdbench.benchmarks.benchmark import METADATA
from hdbench.errors import HdbenchError, Message, write_reason

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
        pages: the open ones, by collection and account.
    """

    def __init__(self, folder: Path, quota: Quota) -> None:
        self.folder = folder.resolve()
        self.pages = OpenPages()
        self._quota = quota

    def collections(self) -> list[str]:
        """Return the names of the collections."""
        return sorted(folder.name for folder in self.folder.iterdir() if _is_collection(folder))

    async def enter(self, stack: ExitStack, collection: str, account: str) -> Router | None:
        """Enter an editor's page in a thread; None if there is no such collection.

        Raises:
            HdbenchError: see `OpenPages.enter`; the collection cannot be used, or another program
                has it open under this pseudonym.
        """
        folder = self.folder / collection
        if not _is_collection(folder):
            return None
        saving = partial(self._quota.saving, account)
        opening = partial(Editor, folder, account, saving=saving)
        return await self.pages.enter(stack, account, (collection, account), opening)


def _is_collection(folder: Path) -> bool:
    files = (folder / METADATA, folder / SCHEMA)
    return (
        _NAME.fullmatch(folder.name) is not None
        and not folder.is_symlink()
        and all(file.is_file() for file in files)
    )
