"""Connections on which a request is begun but never completed."""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.space.server import limits

_TIMER = "hdbench.timer"


class ConnectionTimer:
    """Closes a connection on which no request is made for too long."""

    def __init__(self) -> None:
        self._answering = 0
        self._closing: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request of a client that has connected."""
        self._transport = transport
        self._wait()

    def begin_answer(self) -> None:
        """Stop waiting, as a request is there: its answer may take as long as it likes."""
        self._answering += 1
        self.end()

    def end_answer(self) -> None:
        """Wait again, unless the next request on this connection has begun already."""
        self._answering -= 1
        if not self._answering:
            self._wait()

    def end(self) -> None:
        """Leave the connection alone."""
        if self._closing is not None:
            self._closing.cancel()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._closing = loop.call_later(limits.MAX_PAUSE, self._transport.close)


def impatient(protocol: type[Any]) -> type[Any]:
    """Return one of Uvicorn's protocols, which closes connections on which no request is made.

    Uvicorn itself waits for the headers of a request as long as the client likes, and no setting
    of it, nor of h11, says otherwise. Of the protocol this uses only how Uvicorn makes it, what
    asyncio calls, and that requests have the application's state (the lifespan state of ASGI), in
    which `Answering` finds the connection of its request.

    Args:
        protocol: the class of a connection.
    """

    class Impatient(protocol):  # type: ignore[misc]
        def __init__(self, *, app_state: dict[str, Any], **given: Any) -> None:
            self.timer = ConnectionTimer()
            super().__init__(app_state=app_state | {_TIMER: self.timer}, **given)

        def connection_made(self, transport: asyncio.Transport) -> None:
            self.timer.begin(transport)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.end()
            super().connection_lost(exc)

    return Impatient


class Answering:
    """Keeps a connection open while a request that came on it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered."""
        timer = scope.get("state", {}).get(_TIMER)
        if timer is None:  # the server starts, or the connection was there before `impatient`
            await self._app(scope, receive, send)
            return
        timer.begin_answer()
        try:
            await self._app(scope, receive, send)
        finally:
            timer.end_answer()
