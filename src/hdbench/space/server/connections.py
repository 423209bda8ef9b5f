"""Connections on which a request is begun but never completed."""

import asyncio
from typing import Any

from hdbench.space.server import limits


def impatient(protocol: type[Any]) -> type[Any]:
    """One of Uvicorn's protocols, which closes connections on which no request is made.

    Uvicorn itself waits for the headers of a request as long as the client likes.

    Args:
        protocol: the class of a connection.
    """

    class Impatient(protocol):  # type: ignore[misc]
        patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self.be_patient()
            super().connection_lost(exc)

        def watch(self) -> None:
            """Give the client some time from now, unless its request is being answered."""
            if self.cycle is not None and not self.cycle.response_complete:
                self.be_patient()
            elif self.patience is None:
                loop = asyncio.get_running_loop()
                self.patience = loop.call_later(limits.MAX_PAUSE, self.transport.close)

        def be_patient(self) -> None:
            if self.patience is not None:
                self.patience.cancel()
                self.patience = None

    return Impatient
