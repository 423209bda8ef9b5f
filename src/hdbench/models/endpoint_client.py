"""The client of OpenAI, as far as it may go: what it sends, where, and how much it reads."""

import datetime
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import anyio
import httpx2
from openai import APITimeoutError, AsyncOpenAI

from hdbench.about import __version__
from hdbench.common.bounds import MAX_RESPONSE, MAX_RESPONSE_VALUES
from hdbench.errors import Message
from hdbench.models.completion import body_of
from hdbench.models.server import Server

CONNECT_SECONDS = 10.0

_NO_KEY = "none"
"""Key that is not sent. Without any, OpenAI's client would take that of OpenAI."""

_SENT = {
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
}
"""The headers that are sent; OpenAI's client has more, about this machine and from variables."""


def connected(server: Server, *, timeout: float, connections: int = 1) -> AsyncOpenAI:
    """Return a client that asks one server, and no other.

    Args:
        server: where requests go.
        timeout: seconds for a request, from connecting to the last byte.
        connections: how many at once.
    """
    http = _BoundedClient(
        auth=server.user,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # or they pile up
        follow_redirects=False,
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        limits=httpx2.Limits(max_connections=connections),
    )
    return AsyncOpenAI(
        api_key=server.key or _NO_KEY,
        base_url=server.url,
        default_headers={
            "User-Agent": f"hdbench/{__version__}",
            "Accept-Encoding": "identity",  # a small compressed answer can be gigabytes
            # On one that is used again, a response too many would be the next item's answer.
            "Connection": "close",
        },
        default_query=dict(httpx2.QueryParams(server.query)),
        timeout=http.timeout,
        http_client=http,
    )


class _BoundedClient(httpx2.AsyncClient):
    """Reads whole answers, bounded in length and time; what is unusable is asked for again."""

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Return the answer to a request; see `httpx2.AsyncClient.send`.

        Raises:
            APITimeoutError: it took too long; the model may be too slow, so it is not asked again.
            httpx2.RequestError: there is no usable answer.
        """
        for name in set(request.headers) - _SENT:
            del request.headers[name]
        if request.headers.get("authorization") == f"Bearer {_NO_KEY}":
            del request.headers["authorization"]
        started = time.perf_counter()
        try:
            with anyio.fail_after(self.timeout.read):
                response = await super().send(request, stream=True, **options)
                try:
                    data = await _read(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
            raise APITimeoutError(request=request) from error
        except UnicodeError as error:  # the host's name is too long to be looked up
            raise httpx2.ConnectError(str(error), request=request) from error
        whole = httpx2.Response(
            response.status_code, headers=response.headers, content=data, request=request
        )
        whole.elapsed = datetime.timedelta(seconds=time.perf_counter() - started)
        if whole.status_code == httpx2.codes.OK and (why := _why_unusable(whole)):
            raise httpx2.DecodingError(why, request=request)
        return whole


async def _read(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError(
            Message("the server's answer is compressed, which was not asked for")
        )
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_RESPONSE:
            raise httpx2.DecodingError(
                Message("the server's answer is longer than {most} MiB", most=MAX_RESPONSE >> 20)
            )
    if data.count(b"{") + data.count(b"[") > MAX_RESPONSE_VALUES:
        raise httpx2.DecodingError(Message("the server's answer has too many objects and lists"))
    return bytes(data)


def _why_unusable(response: httpx2.Response) -> Message | None:
    """Return why a successful answer is neither JSON nor a stream of events."""
    try:
        body_of(response)
    except ValueError:
        return Message(
            "the server's answer is not JSON, or is cut off: is the address right? It begins "
            "{beginning!r}",
            beginning=response.content[:60].decode(errors="replace"),
        )
    return None
