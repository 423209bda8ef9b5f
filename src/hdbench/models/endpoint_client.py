"""Requests to an OpenAI-compatible server."""

from collections.abc import Awaitable, Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal

from hdbench import __version__
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.models.backend import Reply
from hdbench.models.endpoint_response import (
    MAX_MESSAGE,
    Refused,
    Unanswered,
    parse_bounded,
    read_completion,
    read_failure,
)
from hdbench.models.endpoint_server import COMPLETIONS, Server

MAX_BODY = 8 * 2**20
"""Maximum bytes of a response; the text of 100,000 tokens has fewer than one million."""

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 10.0
"""Maximum seconds for a list of models."""

Answer = TypeVar("Answer")

_UNCONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class EndpointClient:
    """Connections to a server, open as long as the context lasts.

    Neither the key nor images go anywhere that was not named: redirects are not followed. Answers
    are bounded in length and time. Each request has a connection of its own, so that whatever a
    server sends besides its response belongs to no other item.

    Args:
        server: where requests go.
        timeout: seconds for a request, from connecting to the last byte.
        connections: how many at once.

    Attributes:
        server: where requests go; its address changes once the alternative one has answered.
    """

    def __init__(self, server: Server, *, timeout: float, connections: int = 1) -> None:
        self.server = server
        self._seconds = timeout
        self._http = httpx2.AsyncClient(
            auth=server.user,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # or they pile up
            follow_redirects=False,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            limits=httpx2.Limits(max_connections=connections),
        )

    async def __aenter__(self) -> Self:
        """Return the client; nothing is sent yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def models(self) -> list[dict[str, Any]]:
        """Return what the server says about its models; none if it does not say.

        The id of each is a string.
        """
        if models := await self._models(self.server):
            return models
        if self.server.alternative and (models := await self._models(self.server.elsewhere())):
            self.server = self.server.elsewhere()
        return models

    async def complete(self, body: dict[str, Any]) -> Reply:
        """Return the answer to a request for a chat completion.

        If there is nothing at the address, the alternative one is asked, and used from then on if
        there is something.

        Raises:
            Unanswered: no usable answer came.
            Refused: the request was refused.
            SchemaRefused: it was refused because of its `response_format`.
            ParameterRefused: it was refused because of another parameter.
        """
        try:
            return await self._complete(self.server, body)
        except (Refused, Unanswered) as failure:
            nothing = failure.not_here if isinstance(failure, Refused) else failure.unusable
            if not nothing or self.server.alternative is None:
                raise
            server = self.server.elsewhere()
            try:
                reply = await self._complete(server, body)
            except (Refused, Unanswered) as other:
                if isinstance(other, Unanswered) or other.not_here:
                    raise failure from other
                self.server = server  # it refuses this request, so it is there
                raise
        self.server = server
        return reply

    async def _complete(self, server: Server, body: dict[str, Any]) -> Reply:
        data, content_type = await self._sent("POST", server.url, body)
        return read_completion(data, content_type, self._line)

    async def connect(self) -> None:
        """Ask anything, whatever the server then says.

        Raises:
            HdbenchError: there is no connection.
        """
        try:
            await self._sent("GET", _models_url(self.server))
        except Unanswered as failure:
            if failure.unconnected:
                raise no_connection(self.server, failure) from failure
        except Refused:
            pass

    async def _models(self, server: Server) -> list[dict[str, Any]]:
        try:
            data, _ = await self._sent("GET", _models_url(server))
            value = parse_bounded(data.decode())
            listed = value["data"] if isinstance(value, dict) else value
            return [
                model
                for model in listed
                if isinstance(model, dict) and isinstance(model["id"], str)
            ]
        except (Unanswered, Refused, ValueError, KeyError, TypeError):
            return []

    async def _sent(
        self, method: str, url: str, body: dict[str, Any] | None = None
    ) -> tuple[bytes, str]:
        """Return the body of an answer, and its content type.

        Raises:
            Unanswered: no usable answer came.
            Refused: the request was refused.
            SchemaRefused: it was refused because of its `response_format`.
            ParameterRefused: it was refused because of another parameter.
        """
        headers = {
            "user-agent": f"hdbench/{__version__}",
            "accept-encoding": "identity",  # a small compressed answer can be gigabytes
            # On one that is used again, a response too many would be the next item's answer.
            "connection": "close",
        }
        if self.server.key:
            headers["authorization"] = f"Bearer {self.server.key}"
        try:
            with anyio.fail_after(self._seconds):
                async with self._http.stream(method, url, json=body, headers=headers) as response:
                    data = await _bounded(response)
        # A UnicodeError means that the host's name is too long to be looked up.
        except (*_UNCONNECTED, UnicodeError) as error:
            reason = Message(self._line(str(error)) or "no answer")
            raise Unanswered(
                Message("cannot be reached ({reason})", reason=reason), unconnected=True
            ) from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Unanswered(
                Message("no answer within {seconds:g} s", seconds=self._seconds), timed_out=True
            ) from error
        except httpx2.HTTPError as error:
            reason = Message(self._line(str(error)) or type(error).__name__)
            raise Unanswered(
                Message("the connection was lost ({reason})", reason=reason)
            ) from error
        if response.status_code != httpx2.codes.OK:
            raise read_failure(response, data, self._line, sent=body or {})
        return data, response.headers.get("content-type", "").lower()

    def _line(self, text: str) -> str:
        """Return what a server says as one short line, without the key, should it repeat that."""
        secrets = (self.server.key, (self.server.user or ("", ""))[1])
        for secret in filter(None, secrets):
            text = text.replace(secret, "…")
        text = escaped(" ".join(text[: 10 * MAX_MESSAGE].split()))
        return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _of_client(
    server: Server, timeout: float, ask: Callable[[EndpointClient], Awaitable[Answer]]
) -> tuple[Server, Answer]:
    """Return what a client learns, and at which address."""

    async def asking() -> tuple[Server, Answer]:
        async with EndpointClient(server, timeout=min(LOOK_SECONDS, timeout)) as client:
            answer = await ask(client)
            return client.server, answer

    with start_blocking_portal() as portal:  # in a notebook this thread has a loop of its own
        return portal.call(asking)


def list_models(server: Server, timeout: float) -> tuple[Server, list[dict[str, Any]]]:
    """Return what a server says about its models, and at which address; none if it does not.

    Args:
        server: the server.
        timeout: seconds for a request.
    """
    return _of_client(server, timeout, EndpointClient.models)


def check_connection(server: Server, timeout: float) -> None:
    """Refuse an address where nothing can be connected to.

    Args:
        server: the server.
        timeout: seconds for a request.

    Raises:
        HdbenchError: there is no connection.
    """
    _of_client(server, timeout, EndpointClient.connect)


def no_connection(server: Server, failure: Unanswered) -> HdbenchError:
    """Return the error for a server that cannot be connected to."""
    return HdbenchError(
        "{place}: {why}: is the server running, and is the address right?",
        place=server.shown,
        why=failure,
    )


def _models_url(server: Server) -> str:
    parts = urlsplit(server.url)
    return urlunsplit(parts._replace(path=parts.path.removesuffix(COMPLETIONS) + "/models"))


async def _bounded(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unanswered(
            Message("the server's answer is compressed, which was not asked for"), unusable=True
        )
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_BODY:
            raise Unanswered(
                Message("the server's answer is longer than {most} MiB", most=MAX_BODY >> 20),
                refused=True,
            )
    return bytes(data)
