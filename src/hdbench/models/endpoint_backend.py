"""Models on an OpenAI-compatible server, asked through the client of OpenAI."""

import base64
import dataclasses
import importlib.metadata
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cached_property
from itertools import islice
from typing import Any

import anyio
import httpx2
from anyio import to_thread
from anyio.from_thread import start_blocking_portal
from openai import APIError, APIStatusError, APITimeoutError, AsyncOpenAI, OpenAIError

from hdbench.errors import HdbenchError, Message, escaped, shortened
from hdbench.models.backend import (
    LOST_IN_A_ROW,
    SILENT,
    Asked,
    Backend,
    Observer,
    Question,
    Replies,
    Reply,
)
from hdbench.models.completion import (
    body_of,
    error_in,
    read_completion,
    refused_parameter,
    response_format,
)
from hdbench.models.endpoint_client import connected
from hdbench.models.images import encoded_images
from hdbench.models.server import COMPLETIONS, OWN_KEY, Server

LOST_AT_FIRST = 3
"""Number of items that end a run if they fail for the same reason before any answer."""
PATIENCE = 1800.0
"""Seconds without any answer from a busy server that end a run."""
PAUSE = 10.0
"""Seconds before a busy server is asked again, after OpenAI's client has given it up."""
LOOK_SECONDS = 10.0
"""Maximum seconds for a list of models."""
MAX_MESSAGE = 300
"""Maximum characters of what a server says about an error."""
MODELS_SHOWN = 10
_LEAST_SECRET = 8
"""Characters of a key that is one, and not a word for a server that needs none."""

_BUSY = (429, 503)
_STREAMING = {"stream": True, "stream_options": {"include_usage": True}}
_NO_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class EndpointBackend(Backend):
    """Any OpenAI-compatible server.

    Each item is one user message: its images in order, as data URLs, then the prompt, then its
    text if it has one. The first item is asked alone: what its request reveals about the
    connection, key, model and parameters applies to the others, of which `asked.concurrency` are
    asked at once.

    Only the parameters that were given are sent, and the schema, unless `asked.schema` is false. A
    parameter that the server refuses is left out, or sent under its other name, as soon as a
    request without it is answered; a server that only streams is asked for a stream. A reply is
    `constrained` if the schema was sent and not refused; many servers ignore it.

    OpenAI's client repeats requests that fail, and waits as long as the server asks for. A server
    that then still says that it is busy, that its model is being loaded, or that is gone after it
    has answered, is waited for, until nothing has been answered for `PATIENCE` seconds. Any other
    failure is its item's error; `LOST_IN_A_ROW` such items end the run and are not returned as
    replies, so the same command asks them again. Until something is answered, a failure is more
    likely the server's than the item's, and `LOST_AT_FIRST` items that fail alike end the run.

    The key is read from the environment: see `Server`. A reply's `seconds` is the time of the
    request that was answered, without earlier attempts and waiting.

    Args:
        asked: the server's address, what it calls the model, and how it is asked.
        prompt: what is asked of each item.
        schema: the benchmark's answer schema.
        pause: same as `PAUSE`.
        patience: same as `PATIENCE`.

    Raises:
        HdbenchError: there is no address, or it or the key is invalid.
    """

    def __init__(
        self,
        asked: Asked,
        prompt: str,
        schema: dict[str, Any] | None,
        *,
        pause: float = PAUSE,
        patience: float = PATIENCE,
    ) -> None:
        # The address can hold a password.
        super().__init__(dataclasses.replace(asked, endpoint=None), prompt, schema)
        if asked.endpoint is None:
            raise HdbenchError("name the server with --endpoint URL")
        self._server = Server.at(asked.endpoint)
        self._pause, self._patience = pause, patience
        is_held = bool(schema) and asked.schema is not False
        self._format = response_format(schema or {}) if is_held else None
        self._names: dict[str, str | None] = {}  # refused parameter → its other name
        self._streams = False
        self._first_is_over = False
        self._connected = False
        self._answers = 0
        self._silent_since: float | None = None
        self._observer = SILENT

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that can change an answer; the server's address cannot."""
        return {
            "model": self.asked.model,
            **dataclasses.asdict(self.asked.limits),
            "decoding": dataclasses.asdict(self.asked.decoding) | {"schema": bool(self._format)},
        }

    @cached_property
    def _models(self) -> list[dict[str, Any]]:
        return list_models(self._server)

    def hardware(self) -> Mapping[str, Any]:
        """Return the server's entry for the model, if it has one, and the client's version.

        A server of a single model, such as llama.cpp's, answers with it whatever is asked for.
        `not_sent` are the parameters that the server refused under the name that was given.
        """
        only = self._models[0] if len(self._models) == 1 else {}
        served = next((each for each in self._models if each["id"] == self.asked.model), only)
        return {
            "address": self._server.url,
            "served": {
                name: escaped(str(served[name]))[:200]
                for name in ("id", "root", "owned_by", "created")
                if isinstance(served.get(name), str | int)
            }
            or None,
            "not_sent": sorted(self._names),
            "streams": self._streams,
            "openai": importlib.metadata.version("openai"),
        }

    def answer(self, questions: Iterable[Question], observer: Observer = SILENT) -> Replies:
        """Yield each question's id and reply, as they come.

        Raises:
            HdbenchError: the server cannot be reached, refuses the key or does not know the model;
                it failed for `LOST_IN_A_ROW` items, or never answers.
        """
        remaining = iter(questions)
        pending: dict[Future[tuple[Reply, bool | None]], str] = {}
        lost: list[tuple[str, Reply]] = []
        self._observer = observer
        if not self._server.is_local:
            observer.notice(Message("the items go to {host}", host=self._server.host))
        most = self.asked.concurrency
        client = connected(self._server, timeout=self.asked.timeout, connections=most)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            try:
                while True:
                    at_once = most if self._first_is_over else 1
                    for question in islice(remaining, max(0, at_once - len(pending))):
                        future = portal.start_task_soon(self._ask, client, question)
                        pending[future] = question.id
                    if not pending:
                        break
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        reply, at_work = future.result()
                        item = (pending.pop(future), reply)
                        if at_work is False:
                            lost.append(item)
                            self._end_if_away(lost)
                            continue
                        if at_work:
                            yield from lost
                            lost.clear()
                        yield item
                yield from lost
            finally:
                # Before the client is closed: otherwise they would see a lost connection and retry.
                for future in pending:
                    future.cancel()

    async def _ask(self, client: AsyncOpenAI, question: Question) -> tuple[Reply, bool | None]:
        """Return the reply to one item, and whether the server is working; None: it was not asked.

        Raises:
            HdbenchError: every item would have the same outcome.
        """
        try:
            messages = await to_thread.run_sync(self._messages, question)
        except HdbenchError as error:
            return Reply(None, error=error.message), None
        try:
            while True:
                try:
                    reply = await self._answered(client, messages)
                    return reply, reply.raw_error is None
                except APIError as error:
                    self._wait_for(error)
                await anyio.sleep(self._pause)
        except OpenAIError as error:
            why, status, code = self._why(error)
            if _is_hopeless(status, code):
                raise await self._hopeless(client, status, why, code) from error
            if not self._connected and isinstance(error.__cause__, _NO_CONNECTION):
                raise HdbenchError(
                    "{place}: {why}: is the server running, and is the address right?",
                    place=self._server.url,
                    why=why,
                ) from error
            is_refused = 0 < status < httpx2.codes.INTERNAL_SERVER_ERROR
            said = Message("refused: {why}" if is_refused else "no answer: {why}", why=why)
            # Before any answer it is just as likely that every item would be refused.
            return Reply(None, error=said), is_refused and bool(self._answers)
        finally:
            self._first_is_over = True

    def _messages(self, question: Question) -> list[dict[str, Any]]:
        encoded = encoded_images(question.media, self.asked.limits) if question.shows_media else []
        parts: list[dict[str, Any]] = [
            {
                "type": "image_url",
                "image_url": {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"},
            }
            for mime, data in encoded
        ]
        prompt = question.in_prompt(self.prompt)
        return [{"role": "user", "content": [*parts, {"type": "text", "text": prompt}]}]

    async def _answered(self, client: AsyncOpenAI, messages: list[dict[str, Any]]) -> Reply:
        """Return the reply to a request, without the parameters that the server refuses."""
        decoding = self.asked.decoding
        given = {
            "max_tokens": decoding.max_new_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": decoding.seed,
            "response_format": self._format,
        }
        names, streams = dict(self._names), self._streams
        refusals: list[Message] = []
        while True:
            sent = {
                other: value
                for name, value in (given | (_STREAMING if streams else {})).items()
                if value is not None and (other := names.get(name, name)) is not None
            }
            body = {"model": self.asked.model, "messages": messages, **sent}
            try:
                response = await client.post(COMPLETIONS, cast_to=httpx2.Response, body=body)
                break
            except APIStatusError as error:
                self._connected = True
                said, status, _ = self._why(error)
                refused = refused_parameter(status, said, sent)
                if refused is None or (refused == "stream" and streams):
                    raise
                if refused == "stream":
                    streams = True
                else:
                    name = "max_tokens" if refused == "max_completion_tokens" else refused
                    names[name] = "max_completion_tokens" if refused == "max_tokens" else None
                refusals.append(_as_notice(refused, said))
        reply = read_completion(body_of(response), self._line)
        # Only now is it clear that the parameters were refused, not something else about the item.
        if (names, streams) != (self._names, self._streams):
            self._names, self._streams = names, streams
            for refusal in refusals:
                self._observer.notice(refusal)
        self._connected, self._silent_since = True, None
        self._answers += reply.text is not None
        seconds = response.elapsed.total_seconds()
        return dataclasses.replace(reply, seconds=seconds, constrained="response_format" in sent)

    def _wait_for(self, error: APIError) -> None:
        """Return if the server may answer later.

        Raises:
            APIError: it will not; that is the error.
            HdbenchError: nothing was answered for too long.
        """
        why, status, code = self._why(error)
        is_gone = self._connected and isinstance(error.__cause__, _NO_CONNECTION)
        if not is_gone and (status not in _BUSY or _is_hopeless(status, code)):
            raise error
        now = time.monotonic()
        if self._silent_since is None:
            self._silent_since = now
            self._observer.notice(
                Message(
                    "{place}: {why}: asking again, for up to {minutes:.0f} min without an answer",
                    place=self._server.url,
                    why=why,
                    minutes=self._patience / 60,
                )
            )
        if now - self._silent_since > self._patience:
            raise HdbenchError(
                "{place}: nothing was answered for {minutes:.0f} min, only: {why}: run again "
                "later: the command resumes where it stopped",
                place=self._server.url,
                minutes=(now - self._silent_since) / 60,
                why=why,
            ) from error

    def _end_if_away(self, lost: list[tuple[str, Reply]]) -> None:
        errors = {reply.error for _, reply in lost}
        is_alike = not self._answers and len(lost) >= LOST_AT_FIRST and len(errors) == 1
        if is_alike or len(lost) == LOST_IN_A_ROW:
            raise HdbenchError(
                "{place}: {count} items in a row without an answer (the last one: {why}): fix it "
                "and run again: the command resumes where it stopped",
                place=self._server.url,
                count=len(lost),
                why=lost[-1][1].error,
            )

    async def _hopeless(
        self, client: AsyncOpenAI, status: int, said: str, code: object
    ) -> HdbenchError:
        """Return why no item would be answered."""
        about = {"place": self._server.url, "model": self.asked.model, "why": said}
        if _is_unknown(status, code):
            ids = [model["id"] for model in await _listed(client)]
            if not ids or self.asked.model in ids:
                return HdbenchError(
                    "{place}: no model {model!r}, or no server at this address, which for most "
                    "ends in /v1 ({why})",
                    **about,
                )
            names = shortened([escaped(model_id)[:100] for model_id in ids], MODELS_SHOWN)
            return HdbenchError(
                "{place}: no model {model!r}: choose one of {names}", **about, names=names
            )
        if status in (401, 403):
            return HdbenchError(
                "{place}: the server refuses the key in {variable} ({why})"
                if self._server.variable
                else "{place}: the server needs a key: set {variable} in the environment ({why})",
                **about,
                variable=self._server.variable or OWN_KEY,
            )
        return HdbenchError("{place}: answers no requests ({why})", **about)

    def _why(self, error: OpenAIError) -> tuple[Message, int, object]:
        """Return why no answer came, in one line, the status (0: none), and the server's code."""
        if not isinstance(error, APIStatusError):
            return self._why_lost(error), 0, None
        response = error.response
        try:
            said, code = error_in(body_of(response))
        except ValueError:
            said, code = response.text, None
        status = f"{response.status_code} {response.reason_phrase}".strip()
        if target := response.headers.get("location", "").partition("?")[0].rpartition("@")[2]:
            address = self._line(target)
            said = Message("redirects to {address}: give that as the endpoint", address=address)
        elif "<html" in said[:1000].lower():
            said = ""
        else:
            said = self._line(said)
        why = Message("{status}: {said}" if said else "{status}", status=status, said=said)
        return why, response.status_code, code

    def _why_lost(self, error: OpenAIError) -> Message:
        """Return why no answer came, in one line."""
        if isinstance(error, APITimeoutError):
            return Message("no answer within {seconds:g} s", seconds=self.asked.timeout)
        cause = error.__cause__
        if isinstance(cause, httpx2.DecodingError) and isinstance(cause.args[0], Message):
            return cause.args[0]
        reason = Message(self._line(str(cause or error)) or type(cause).__name__)
        return Message(
            "cannot be reached ({reason})"
            if isinstance(cause, _NO_CONNECTION)
            else "the connection was lost ({reason})",
            reason=reason,
        )

    def _line(self, text: str) -> str:
        """Return what a server says as one short line, without the key, should it repeat that."""
        secrets = (self._server.key, (self._server.user or ("", ""))[1])
        for secret in map(re.escape, filter(None, secrets)):
            # A key such as "token", for a server that needs none, is not cut out of max_tokens.
            whole = rf"(?<!\w){secret}(?!\w)" if len(secret) < _LEAST_SECRET else secret
            text = re.sub(whole, "…", text)
        text = escaped(" ".join(text[: 10 * MAX_MESSAGE].split()))
        return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def list_models(server: Server) -> list[dict[str, Any]]:
    """Return what a server says about its models, each with its id; none if it does not say."""

    async def asking() -> list[dict[str, Any]]:
        async with connected(server, timeout=LOOK_SECONDS) as client:
            return await _listed(client)

    with start_blocking_portal() as portal:  # in a notebook this thread has a loop of its own
        return portal.call(asking)


async def _listed(client: AsyncOpenAI) -> list[dict[str, Any]]:
    try:
        once = client.with_options(max_retries=0)
        value = body_of(await once.get("/models", cast_to=httpx2.Response))
        listed = value["data"] if isinstance(value, dict) else value
        return [
            model for model in listed if isinstance(model, dict) and isinstance(model["id"], str)
        ]
    except (OpenAIError, ValueError, KeyError, TypeError):
        return []


def _as_notice(refused: str, said: str) -> Message:
    if refused == "stream":
        return Message("the server only streams ({why}): it is asked for a stream", why=said)
    return Message(
        "the server does not take {name} ({why}): max_completion_tokens is sent instead"
        if refused == "max_tokens"
        else "the server does not take {name} ({why}): it is not sent",
        name=refused,
        why=said,
    )


def _is_unknown(status: int, code: object) -> bool:
    """Return whether the server does not know the model, or the address."""
    return status in (404, 405) or code == "model_not_found"


def _is_hopeless(status: int, code: object) -> bool:
    """Return whether every other request would be refused, too."""
    return (
        _is_unknown(status, code)
        or status in (401, 402, 403)
        or status in range(300, 400)
        or code == "insufficient_quota"
    )
