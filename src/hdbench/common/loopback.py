"""Servers for programs on this machine alone."""

from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from hdbench.common.servers import GRACE, end_in_time, interrupt_on_sigterm, listening

HOST = "127.0.0.1"


def serve_here(app: ASGIApp, *, port: int, path: str, started: Callable[[str], object]) -> None:
    """Serve an application until it is interrupted.

    Args:
        app: the application.
        port: the port; 0 for any that is free.
        path: the path of the address that is announced; it begins with a slash.
        started: called with the address.

    Raises:
        HdbenchError: see `listening`.
    """
    with listening(HOST, port) as served_on:
        end = end_in_time()
        # Uvicorn sends itself the signal again when it has ended, and what is served must still be
        # closed.
        interrupt_on_sigterm(end)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=GRACE,
        )
        with suppress(KeyboardInterrupt):
            started(f"http://{HOST}:{served_on.getsockname()[1]}{path}")
            _Server(config, end).run(sockets=[served_on])


class _Server(uvicorn.Server):
    """Uvicorn's server, which ends in time.

    Args:
        config: Uvicorn's configuration.
        end: the function from `end_in_time`.
    """

    def __init__(self, config: uvicorn.Config, end: Callable[[], None]) -> None:
        super().__init__(config)
        self._end = end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end at a signal."""
        self._end()
        super().handle_exit(sig, frame)
