"""Servers: the sockets on which they listen, those for this machine alone, and their quick end."""

import errno
import logging
import os
import signal
import socket
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from hdbench.errors import HdbenchError, os_reason

END_SECONDS = 5.0
"""Maximum seconds from the signal until the process has ended."""

GRACE = 2
"""Seconds of these in which requests may be answered; streams never end by themselves."""

_CLEANING = 1.0  # seconds for what has to be done before the process is ended by force


def end_in_time(
    begin: Callable[[], object] = lambda: None, last: Callable[[], object] = lambda: None
) -> Callable[[], None]:
    """Return what has this process end within `END_SECONDS`; also signal handlers can call it.

    A thread that computes or waits cannot be ended, and Python waits for all of them. So a process
    that has not ended by itself by then is ended by force, with the status 1.

    Args:
        begin: called at once, in a thread of its own: has work come to its end.
        last: called before the process is ended by force: removes what it leaves.
    """
    signals: SimpleQueue[None] = SimpleQueue()  # unlike with an event, its `put` can be interrupted

    def ending() -> None:
        signals.get()
        logging.getLogger("uvicorn.error").addFilter(_is_worth_saying)
        threading.Thread(target=begin, daemon=True).start()
        time.sleep(END_SECONDS - _CLEANING)
        cleaning = threading.Thread(target=last, daemon=True)
        cleaning.start()
        cleaning.join(_CLEANING)
        os._exit(1)

    threading.Thread(target=ending, daemon=True).start()
    return lambda: signals.put(None)


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Return whether a record is anything but a request that was cancelled, as all are at last."""
    return record.exc_info is None or not isinstance(record.exc_info[1], CancelledError)


def interrupt_on_sigterm(end: Callable[[], None]) -> None:
    """Have SIGTERM and Ctrl+C interrupt the main thread, and the process end in time.

    Args:
        end: what `end_in_time` returned.
    """
    signals = (signal.SIGTERM, signal.SIGINT)

    def interrupt(*_: object) -> None:
        for number in signals:  # a second one must not interrupt what ends it
            signal.signal(number, signal.SIG_IGN)
        end()
        raise KeyboardInterrupt

    for number in signals:
        signal.signal(number, interrupt)


def ends() -> HdbenchError:
    """Return the error for a request that arrives while the server shuts down."""
    return HdbenchError("the server is shutting down")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port; 0 for any that is free.

    Raises:
        HdbenchError: the port is taken, or cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
        # Otherwise each further answer on a connection waits 40 ms: asyncio does not know that what
        # it accepts is TCP, and would say so only for sockets it made itself.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise HdbenchError(
                "port {port} is taken: choose another one with --port", port=port
            ) from error
        raise HdbenchError(
            "port {port} of {host}: cannot be listened on: {why}: choose another one with --port",
            port=port,
            host=host,
            why=os_reason(error),
        ) from error


# Servers for programs on this machine alone

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
