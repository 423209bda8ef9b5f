"""One request to an OpenAI-compatible server."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
from huggingface_hub import AsyncInferenceClient

from hdbench.errors import escaped
from hdbench.jsonio import parse_json
from hdbench.running.endpoint_server import COMPLETIONS, Server

MAX_BODY = 8 * 2**20
"""Bytes of a response, at most; the text of 100,000 tokens has less than one million."""

MAX_MESSAGE = 300
"""Characters of what a server says of an error, at most."""

CONNECT_SECONDS = 10.0
_UNCONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class Unanswered(Exception):  # noqa: N818  not all of them are errors
    """No usable answer came, and asking again may help.

    Attributes:
        retry_after: seconds that the server asks to wait.
        timed_out: whether the time was up.
        unconnected: whether there was no connection at all.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        timed_out: bool = False,
        unconnected: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.timed_out = timed_out
        self.unconnected = unconnected


class Refused(Exception):  # noqa: N818
    """The server refuses the request; it would again.

    Attributes:
        status: the HTTP status.
        hopeless: whether every other request would be refused too.
        no_model: whether it does not know the model, or the address.
    """

    def __init__(self, status: int, message: str, code: object) -> None:
        super().__init__(message)
        self.status = status
        self.no_model = status in (404, 405) or code == "model_not_found"
        self.hopeless = self.no_model or status in (401, 402, 403) or status in range(300, 400)


class SchemaRefused(Exception):  # noqa: N818
    """The server cannot hold answers to the schema."""


class EndpointClient(AsyncInferenceClient):
    """huggingface_hub's client with another way of sending, for any server.

    The original, at a URL of one's own, sends the Hub's token to whatever server it is, follows
    redirects, reads answers of any length, waits without end while a few bytes come, is switched
    off by HF_HUB_OFFLINE, and rewrites a `response_format` of `json_schema` to a `json_object`
    without a schema that other servers than the Hub's would know of.

    Args:
        server: where requests go.
        response_format: as servers are to get it where `chat_completion` is given one.
        timeout: seconds for a request, from connecting to the last byte.
        connections: at once.
    """

    def __init__(
        self,
        server: Server,
        *,
        response_format: Mapping[str, Any] | None = None,
        timeout: float,
        connections: int = 1,
    ) -> None:
        # Without any key at all, the original would look for one of the Hub.
        super().__init__(base_url=server.url, api_key=server.key or "none", timeout=timeout)
        self._server = server
        self._seconds = timeout
        self._response_format = response_format
        self._http = httpx2.AsyncClient(
            auth=server.user,
            follow_redirects=False,  # neither key nor images go where nobody said
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            limits=httpx2.Limits(max_connections=connections),
        )

    async def close(self) -> None:
        """Close the connections; the original never made any of its own."""
        await self._http.aclose()

    async def models(self) -> list[dict[str, Any]]:
        """What the server says of its models; none where it does not say.

        The id of each is a string.
        """
        parts = urlsplit(self._server.url)
        path = parts.path.removesuffix(COMPLETIONS) + "/models"
        try:
            data = await self._sent("GET", urlunsplit(parts._replace(path=path)))
            value = parse_json(data.decode())
            listed = value["data"] if isinstance(value, dict) else value
            return [
                each for each in listed if isinstance(each, dict) and isinstance(each["id"], str)
            ]
        except (Unanswered, Refused, ValueError, KeyError, TypeError):
            return []

    async def _inner_post(self, request_parameters: Any, *, stream: bool = False) -> Any:
        """Send a request of `chat_completion`; gives what is used of its answer."""
        body = dict(request_parameters.json)
        if "response_format" in body:
            body["response_format"] = self._response_format
        agent = request_parameters.headers.get("user-agent", "hdbench")
        data = await self._sent("POST", request_parameters.url, body, agent)
        try:
            value = parse_json(data.decode())
        except ValueError:
            raise Unanswered("the server's answer is not JSON, or cut off") from None
        return self._first_choice(value)

    async def _sent(
        self, method: str, url: str, body: dict[str, Any] | None = None, agent: str = "hdbench"
    ) -> bytes:
        """The body of an answer.

        Raises:
            Unanswered: none came that can be used.
            Refused: the request was refused.
            SchemaRefused: it was, for its `response_format`.
        """
        # No encoding: a small compressed answer can be gigabytes.
        headers = {"user-agent": agent, "accept-encoding": "identity"}
        if self._server.key:
            headers["authorization"] = f"Bearer {self._server.key}"
        try:
            with anyio.fail_after(self._seconds):
                async with self._http.stream(method, url, json=body, headers=headers) as response:
                    data = await _bounded(response)
        # A UnicodeError is of a host whose name is too long to be looked up.
        except (*_UNCONNECTED, UnicodeError) as error:
            reason = self._line(str(error)) or "no answer"
            raise Unanswered(f"cannot be reached ({reason})", unconnected=True) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise Unanswered(f"no answer within {self._seconds:g} s", timed_out=True) from None
        except httpx2.HTTPError as error:
            reason = self._line(str(error)) or type(error).__name__
            raise Unanswered(f"the connection was lost ({reason})") from None
        if response.status_code != httpx2.codes.OK:
            raise self._failure(response, data, of_schema="response_format" in (body or {}))
        return data

    def _failure(
        self, response: httpx2.Response, data: bytes, *, of_schema: bool
    ) -> Unanswered | Refused | SchemaRefused:
        status = response.status_code
        said, code = _error_of(data)
        message = self._line(f"{status} {response.reason_phrase}: {said}").rstrip(": ")
        if status in range(300, 400):
            target = response.headers.get("location", "").partition("?")[0].rpartition("@")[2]
            return Refused(status, self._line(f"{status}: redirects to {target}"), code)
        if of_schema and (status == httpx2.codes.NOT_IMPLEMENTED or _names_schema(status, said)):
            return SchemaRefused(message)
        if status in (408, 425, 429) or status >= httpx2.codes.INTERNAL_SERVER_ERROR:
            return Unanswered(message, retry_after=_retry_after(response.headers))
        return Refused(status, message, code)

    def _first_choice(self, value: Any) -> dict[str, Any]:
        """Of a chat completion what is used, each of its type.

        The original makes an object with all fields of everything in a list, however long.
        """
        try:
            choice = value["choices"][0]
            message = choice["message"]
            content, refusal = _text(message.get("content")), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError):
            said = _error_in(value)[0]
            reason = self._line(f": {said}") if said else ""
            raise Unanswered(f"the server's answer has no choices{reason}") from None
        usage = value.get("usage")
        reason = choice.get("finish_reason")
        return {
            "choices": [
                {
                    "finish_reason": self._line(reason)[:50] if isinstance(reason, str) else None,
                    "message": {
                        "content": content,
                        "refusal": self._line(refusal) if isinstance(refusal, str) else None,
                    },
                }
            ],
            "usage": {
                name: count
                for name in ("prompt_tokens", "completion_tokens")
                if type(count := usage.get(name)) is int and 0 <= count < 2**53
            }
            if isinstance(usage, dict)
            else None,
            **{
                name: self._line(text)[:100]
                for name in ("model", "system_fingerprint")
                if isinstance(text := value.get(name), str)
            },
        }

    def _line(self, text: str) -> str:
        """What a server says, as one short line without the key, should it give that back."""
        secrets = (self._server.key, (self._server.user or ("", ""))[1])
        for secret in filter(None, secrets):
            text = text.replace(secret, "…")
        text = escaped(" ".join(text[: 10 * MAX_MESSAGE].split()))
        return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


async def _bounded(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unanswered("the server's answer is compressed, which was not asked for")
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_BODY:
            raise Unanswered(f"the server's answer is longer than {MAX_BODY >> 20} MiB")
    return bytes(data)


def _text(content: Any) -> str | None:
    """The text of a message: a string, or, as some servers have it, a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _error_of(data: bytes) -> tuple[str, object]:
    """What a server says of an error, and its code; nothing where it is a page of HTML."""
    text = data.decode(errors="replace")
    try:
        value = parse_json(text)
    except ValueError:
        return ("" if "<html" in text[:1000].lower() else text[: 10 * MAX_MESSAGE]), None
    return _error_in(value)


def _error_in(value: Any) -> tuple[str, object]:
    """The same, in the forms of JSON that are common."""
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return "", None
    found = value.get("error") or value.get("detail") or value
    found = found[0] if isinstance(found, list) and found else found
    if isinstance(found, str):
        return found, value.get("code")
    if not isinstance(found, dict):
        return "", None
    said = [found.get(name) for name in ("message", "msg", "param", "loc")]
    return " ".join(str(part)[: 10 * MAX_MESSAGE] for part in said if part), found.get("code")


def _names_schema(status: int, said: str) -> bool:
    return status not in (401, 402, 403, 429) and bool(
        re.search(r"response.?format|schema|grammar|structured.?output|guided", said, re.IGNORECASE)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None
