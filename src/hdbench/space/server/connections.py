"""Connections on which a request is begun but never completed."""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.space.server import limits

_PATIENCE = "hdbench.patience"


class Patience:
    """How long a client may take until its next request is there."""

    def __init__(self) -> None:
        self._answering = 0
        self._closing: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """A client has connected."""
        self._transport = transport
        self._wait()

    def begin_answer(self) -> None:
        """A request is there: its answer may take as long as it likes."""
        self._answering += 1
        self.end()

    def end_answer(self) -> None:
        """A request was answered; the next one on this connection may have begun already."""
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
    """One of Uvicorn's protocols, which closes connections on which no request is made.

    Uvicorn itself waits for the headers of a request as long as the client likes, and no setting
    of it, nor of h11, says otherwise. Of the protocol this uses only how Uvicorn makes it, what
    asyncio calls, and that requests have the application's state (the lifespan state of ASGI), in
    which `Answering` finds the connection of its request.

    Args:
        protocol: the class of a connection.
    """

    class Impatient(protocol):  # type: ignore[misc]
        def __init__(self, *, app_state: dict[str, Any], **given: Any) -> None:
            self.patience = Patience()
            super().__init__(app_state=app_state | {_PATIENCE: self.patience}, **given)

        def connection_made(self, transport: asyncio.Transport) -> None:
            self.patience.begin(transport)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self.patience.end()
            super().connection_lost(exc)

    return Impatient


class Answering:
    """Keeps a connection open while a request that came on it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered."""
        patience = scope.get("state", {}).get(_PATIENCE)
        if patience is None:  # the server starts, or the connection was there before `impatient`
            await self._app(scope, receive, send)
            return
        patience.begin_answer()
        try:
            await self._app(scope, receive, send)
        finally:
            patience.end_answer()
