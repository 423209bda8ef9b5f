"""Pages on which people edit, each open for as long as it is used."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from anyio import CapacityLimiter
from starlette.routing import Router

from hdbench.collections.truth.in_threads import PATIENCE, BusyError, in_thread, one_at_a_time
from hdbench.collections.truth.server import Edited, routes_of
from hdbench.common.servers import ends
from hdbench.errors import HdbenchError

logger = logging.getLogger(__name__)

Opening = Callable[[], Edited]
"""Opens what a page edits."""


class OpenPages:
    """Pages that are opened with their first request, and closed once nobody uses them.

    Args:
        idle: seconds without a request after which a page is closed; the next one opens it again.
    """

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._lock = threading.Lock()
        self._turns: dict[Hashable, CapacityLimiter] = defaultdict(one_at_a_time)
        self._open: dict[Hashable, _OpenPage] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._closing, daemon=True).start()

    async def enter(self, stack: ExitStack, key: Hashable, opening: Opening) -> Router:
        """Enter `page` in a thread: no more than one of them for each page.

        Raises:
            BusyError: the page's other requests take too long.
            HdbenchError: see `page`.
        """
        entered = self.page(key, opening)
        return await in_thread(self._turns[key], stack.enter_context, entered)

    @contextmanager
    def page(self, key: Hashable, opening: Opening) -> Iterator[Router]:
        """Provide a page, which stays open until the block ends.

        Args:
            key: tells the page from others.
            opening: opens what it edits, if it is not open.

        Raises:
            BusyError: closing it takes too long; then it can be opened again.
            HdbenchError: it cannot be opened, or the server ends.
        """
        with self._lock:
            opened = self._open.setdefault(key, _OpenPage())
            opened.users += 1
        try:
            if not opened.opening.acquire(timeout=PATIENCE):
                raise BusyError
            try:
                if self._ended.is_set():
                    raise ends()
                router = opened.open(opening)
            finally:
                opened.opening.release()
            yield router
        finally:
            with self._lock:
                opened.users -= 1
                opened.used = time.monotonic()

    def close_idle(self, seconds: float) -> bool:
        """Close the pages that have not been used for some time; return whether any was open."""
        late = time.monotonic() - seconds
        was_open = False
        for opened in list(self._open.values()):
            with opened.opening:  # a request that comes now waits, and opens it again
                was_open |= opened.edited is not None
                with self._lock:
                    is_idle = not opened.users and opened.used <= late
                if is_idle:
                    opened.close()
        return was_open

    def close(self) -> None:
        """Close all pages, and open no more."""
        self._ended.set()  # first, so that none is opened that is not closed below
        for opened in list(self._open.values()):
            with opened.opening:
                opened.close()

    def _closing(self) -> None:
        while not self._ended.wait(self._idle / 30):
            self.close_idle(self._idle)


@dataclass
class _OpenPage:
    """A page, open or not.

    Attributes:
        users: the number of requests that use it.
        used: the time when the last of them ended.
        opening: the lock that is held while it is opened or closed.
    """

    users: int = 0
    used: float = 0.0
    opening: threading.Lock = field(default_factory=threading.Lock)
    edited: Edited | None = None
    router: Router | None = None

    def open(self, opening: Opening) -> Router:
        if self.router is None:
            self.edited = opening()
            for note in self.edited.notes:
                logger.warning("%s", note)
            self.router = Router(routes_of(self.edited))
        return self.router

    def close(self) -> None:
        if self.edited is None:
            return
        try:
            self.edited.close()
        except HdbenchError as error:
            logger.warning("%s", error)
        except Exception:  # the others are closed nevertheless
            logger.exception("a page could not be closed: what was changed is in the history")
        self.edited = self.router = None
