"""How much the accounts of the Space may save."""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hdbench.annotating.history import HISTORY, SUFFIX
from hdbench.errors import HdbenchError


class Quota:
    """What each account, and all of them together, have saved and may save.

    What is saved are histories, of which every other file of a collection is made. An account
    cannot make collections or items.

    Args:
        folder: the folder that the collections are in.
        per_account: maximum bytes of what one account saves, in all collections.
        total: maximum bytes of what all accounts save.
    """

    def __init__(self, folder: Path, per_account: int, total: int) -> None:
        self._folder = folder
        self._per_account, self._total = per_account, total
        self._lock = threading.Lock()
        self._saving: Counter[str] = Counter()  # account → bytes that are being written

    @contextmanager
    def saving(self, account: str, size: int) -> Iterator[None]:
        """Have room for what is written meanwhile.

        Args:
            account: who writes.
            size: its bytes.

        Raises:
            HdbenchError: it would be more than the account, or all of them, may save.
        """
        with self._lock:
            saved = self._saved()
            own, everyone = saved[account] + self._saving[account], saved.total()
            if own + size > self._per_account:
                raise HdbenchError(
                    "not saved: {name} has used {used:,} kB of {most:,} kB: ask who runs this "
                    "server for more",
                    name=account,
                    used=own // 1_000,
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
        """Account → the bytes of its files, whose sizes are all that is looked at."""
        saved: Counter[str] = Counter()
        with suppress(FileNotFoundError):  # a folder that goes away meanwhile
            for collection in os.scandir(self._folder):
                for where, _, names in os.walk(Path(collection.path, HISTORY)):
                    for name in names:
                        with suppress(FileNotFoundError):
                            size = os.lstat(os.path.join(where, name)).st_size
                            saved[name.removesuffix(SUFFIX)] += size
        return saved
