"""Models on an OpenAI-compatible server: vLLM, llama.cpp, Ollama, inference providers."""

import base64
import dataclasses
import importlib.metadata
import time
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from anyio import to_thread
from anyio.from_thread import start_blocking_portal
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    wait_exponential,
    wait_random,
)

from hdbench.errors import HdbenchError, Message, escaped, shortened
from hdbench.models.backend import (
    LOST_IN_A_ROW,
    SILENT,
    Asked,
    Backend,
    Observer,
    Question,
    Reply,
)
from hdbench.models.endpoint_client import EndpointClient, list_models, no_connection
from hdbench.models.endpoint_listing import Prices, listed_model, listed_prices, served_model
from hdbench.models.endpoint_patience import PATIENCE, ServerPatience
from hdbench.models.endpoint_response import (
    ParameterRefused,
    Refused,
    SchemaCheck,
    SchemaRefused,
    Unanswered,
    response_format,
)
from hdbench.models.endpoint_server import OWN_KEY, Server
from hdbench.models.images import encoded_images, why_unreadable

ATTEMPTS = 6
ATTEMPTS_LIMITED = 100
"""Attempts if the server limits the rate of requests."""
ATTEMPTS_IN_VAIN = 2
"""Attempts if each one times out: the answer may be too long for the time limit."""
ATTEMPTS_AT_FIRST = 3
"""Attempts before anything has been answered, if the server does not say that it is busy."""
LONGEST_WAIT = 120.0
"""Maximum seconds between attempts, whatever the server asks for."""
LIMITED_WAIT = 30.0
"""Maximum seconds to wait for a server that answers other requests and does not say how long."""
LOST_AT_FIRST = 3
"""Number of items that end a run if they fail for the same reason before any answer."""
MODELS_SHOWN = 10


class _Attempted(NamedTuple):
    """Reply, with whether the server is working; None if it was not asked."""

    reply: Reply
    at_work: bool | None


@dataclass
class _Attempts:
    """Failed attempts at an item.

    Attributes:
        answers: how many answers there were in all when it was last asked.
        counted: attempts that count.
    """

    answers: int
    counted: int = 0


class EndpointBackend(Backend):
    """Any OpenAI-compatible server.

    Each item is one user message: its images in order, as data URLs, then the prompt, then its
    text if it has one. The first item is asked alone: what its request reveals about the
    connection, key, model and schema applies to the others, of which `asked.concurrency` are asked
    at once.

    A request that gets no usable answer (429, 5xx, no connection, timeout, not JSON) is sent up
    to `ATTEMPTS` times in all, `ATTEMPTS_IN_VAIN` times if it times out; the waits in between
    double, with a random part, or are what the server asks for, up to `LONGEST_WAIT`. Requests
    that are too many (429) while others are answered are not counted, up to `ATTEMPTS_LIMITED`.
    After that the item has an error. `LOST_IN_A_ROW` such items end the run and are not returned
    as replies, so the same command asks them again.

    Until something is answered, a failure is more likely the server's than the item's: the model
    may lack vision, say. If the server does not look busy, a request is then tried
    `ATTEMPTS_AT_FIRST` times, an item that fails like one before it is not tried again, and
    `LOST_AT_FIRST` such items end the run.

    Unless `asked.schema` is false, the schema is sent along as `response_format`; if the server
    refuses it, this request and all later ones go without it. A reply is `constrained` if the
    schema was sent and not refused, and `keeps_schema` says whether the answer keeps it, as many
    servers ignore it: if several of the first answers do not, a notice says so.

    Where nothing is answered for a long time, as the server only says that it is busy, limits
    requests or lets them time out, the run ends: see `ServerPatience`.

    The key is read from the environment variable HDBENCH_API_KEY; without it, HF_TOKEN is used for
    huggingface.co and OPENAI_API_KEY for openai.com, and these are sent nowhere else. A reply's
    `seconds` is the time of the request that was answered, without earlier attempts and waiting.

    Args:
        asked: the server's address, what it calls the model, and how it is asked.
        prompt: what is asked of each item.
        schema: the benchmark's answer schema.
        first_wait: seconds between the first two attempts.
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
        first_wait: float = 2.0,
        patience: float = PATIENCE,
    ) -> None:
        # The address can hold a password.
        super().__init__(dataclasses.replace(asked, endpoint=None), prompt, schema)
        if asked.endpoint is None:
            raise HdbenchError("name the server with --endpoint URL")
        self._server = Server.at(asked.endpoint)
        self._decoding = dataclasses.replace(asked.decoding, schema=asked.schema is not False)
        self._patience = ServerPatience(patience + asked.timeout)
        self._response_format = self._check = None
        if self._decoding.schema and schema:
            self._response_format, self._check = response_format(schema), SchemaCheck(schema)
        self._retrying = AsyncRetrying(
            retry=retry_if_exception_type(Unanswered),
            wait=self._pause,
            reraise=True,
        )
        self._first_wait = first_wait
        self._backoff = wait_exponential(first_wait, LONGEST_WAIT) + wait_random(0, first_wait)
        self._schema_refused = False
        self._not_sent: dict[str, str | None] = {}  # refused parameter → its other name
        self._first_is_over = False
        self._connected = False
        self._answers = 0
        self._first_failures: set[str] = set()
        self._fingerprint: str | None = None
        self._models: list[dict[str, Any]] | None = None
        self._observer = SILENT

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that can change an answer; the server's address cannot."""
        return {
            "model": self.asked.model,
            **dataclasses.asdict(self.asked.limits),
            "schema": self._response_format is not None,
            "decoding": dataclasses.asdict(self._decoding),
        }

    def hardware(self) -> Mapping[str, Any]:
        """Return the server's entry for the model, if it has one, and the client's version.

        The address is the one that requests go to, as far as that is known before the first answer.
        The fingerprint is that of the latest answer, None before the first. Parameters that the
        server refused are not sent.
        """
        served = served_model(self.models(), self.asked.model)
        return {
            "address": self._server.shown,
            "served": {
                name: escaped(str(served[name]))[:200]
                for name in ("id", "root", "owned_by", "created")
                if isinstance(served.get(name), str | int)
            }
            or None,
            "system_fingerprint": self._fingerprint,
            "not_sent": sorted(self._not_sent),
            "httpx2": importlib.metadata.version("httpx2"),
        }

    def prices(self) -> Prices | None:
        """See `Backend.prices`."""
        return listed_prices(listed_model(self.models(), self.asked.model))

    def models(self) -> list[dict[str, Any]]:
        """Return the server's list of models from the first request; empty if it has none."""
        if self._models is None:
            self._server, self._models = list_models(self._server, self.asked.timeout)
        return self._models

    def answer(
        self,
        questions: Iterable[Question],
        *,
        observer: Observer = SILENT,
    ) -> Generator[tuple[str, Reply], None, None]:
        """Yield each question's id and reply, as they come.

        Raises:
            HdbenchError: the server cannot be reached, refuses the key or does not know the model;
                it was gone for `LOST_IN_A_ROW` items, or never answers.
        """
        remaining = iter(questions)
        pending: dict[Future[_Attempted], str] = {}
        lost: list[tuple[str, Reply]] = []
        self._observer = observer
        if not self._server.is_local:
            observer.notice(Message("the items go to {host}", host=self._server.host))
        most = self.asked.concurrency
        client = EndpointClient(self._server, timeout=self.asked.timeout, connections=most)
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
                        outcome = future.result()
                        item = (pending.pop(future), outcome.reply)
                        if outcome.at_work is False:
                            lost.append(item)
                            self._end_if_away(lost)
                            continue
                        if outcome.at_work:
                            yield from lost
                            lost.clear()
                        yield item
                yield from lost
            finally:
                # Before the client is closed: otherwise they would see a lost connection and retry.
                for future in pending:
                    future.cancel()

    async def _ask(self, client: EndpointClient, question: Question) -> _Attempted:
        """Return the outcome of one item.

        Raises:
            HdbenchError: every item would have the same outcome.
        """
        try:
            messages = await to_thread.run_sync(self._messages, question)
        except (HdbenchError, MemoryError) as error:
            return _Attempted(Reply(None, error=why_unreadable(error)), None)
        try:
            retrying = self._retrying.copy(
                stop=partial(self._enough, _Attempts(self._answers)),
                before_sleep=partial(self._tell, question.id),
            )
            reply: Reply = await retrying(self._attempt, client, messages)
            self._answers += 1
            return _Attempted(reply, True)
        except Unanswered as failure:
            if not self._answers:
                self._first_failures.add(failure.message)
            if failure.unconnected and not self._connected:
                raise no_connection(self._server, failure) from failure
            return _Attempted(Reply(None, error=_no_answer(failure.message)), False)
        except Refused as refusal:
            if refusal.hopeless:
                raise await self._hopeless(client, refusal) from refusal
            # Before any answer it is just as likely that every item would be refused.
            refused = Message("refused: {why}", why=refusal)
            return _Attempted(Reply(None, error=refused), bool(self._answers))
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

    async def _attempt(self, client: EndpointClient, messages: list[dict[str, Any]]) -> Reply:
        """Send a request; if the schema is refused, send another without it."""
        if self._response_format is None or self._schema_refused:
            return await self._request(client, messages, constrained=False)
        try:
            return await self._request(client, messages, constrained=True)
        except SchemaRefused:
            self._connected = True
            reply = await self._request(client, messages, constrained=False)
            # Only now is it clear that the schema was refused, not something else about the item.
            self._schema_refused = True
            return reply

    async def _request(
        self, client: EndpointClient, messages: list[dict[str, Any]], *, constrained: bool
    ) -> Reply:
        body = {
            "model": self.asked.model,
            "messages": messages,
            "max_tokens": self._decoding.max_new_tokens,
            "temperature": self._decoding.temperature,
            "seed": self._decoding.seed,
            "stream": False,
        }
        if self._decoding.top_p < 1:  # some servers refuse it alongside a temperature; 1 is off
            body["top_p"] = self._decoding.top_p
        for name, other in self._not_sent.items():
            value = body.pop(name, None)
            if other is not None:
                body[other] = value
        if constrained:
            body["response_format"] = self._response_format
        started = time.perf_counter()
        try:
            reply = await client.complete(body)
        except ParameterRefused as refused:
            self._leave_out(refused)
            return await self._request(client, messages, constrained=constrained)
        except Unanswered as failure:
            self._connected |= not failure.unconnected
            if failure.busy:
                self._patience.busy(failure, self._server.shown, self._observer)
            raise
        seconds = time.perf_counter() - started
        self._patience.answered()
        self._connected = True
        if client.server != self._server:
            self._server = client.server
            self._observer.notice(
                Message(
                    "no server at the address given: using {address}", address=self._server.shown
                )
            )
        self._fingerprint = reply.fingerprint or self._fingerprint
        keeps = None
        if constrained and self._check is not None and reply.text is not None:
            keeps = self._check.kept_by(reply.text, self._observer, reply.finish_reason)
        return dataclasses.replace(
            reply, seconds=seconds, constrained=constrained, keeps_schema=keeps
        )

    def _leave_out(self, refused: ParameterRefused) -> None:
        """Send a parameter no more that the server refuses, or under its other name."""
        self._connected = True
        name = refused.name
        if name in self._not_sent:  # another request was under way
            return
        other = "max_completion_tokens" if name == "max_tokens" else None
        self._not_sent[name] = other
        self._observer.notice(
            Message(
                "the server does not take {name} ({why}): {other} is sent instead"
                if other
                else "the server does not take {name} ({why}): it is not sent",
                name=name,
                why=refused,
                other=other,
            )
        )

    def _enough(self, attempts: "_Attempts", state: RetryCallState) -> bool:
        failure = _failure_of(state)
        if failure.unconnected and not self._connected:
            return True
        if not self._answers and failure.message in self._first_failures:
            return True
        if failure.limited and self._answers > attempts.answers:
            attempts.answers = self._answers
            return state.attempt_number >= ATTEMPTS_LIMITED
        attempts.counted += 1
        if failure.timed_out:
            return attempts.counted >= ATTEMPTS_IN_VAIN
        at_first = failure.deliberate and not self._answers
        return attempts.counted >= (ATTEMPTS_AT_FIRST if at_first else ATTEMPTS)

    def _pause(self, state: RetryCallState) -> float:
        failure = _failure_of(state)
        if failure.retry_after is not None:
            return min(failure.retry_after, LONGEST_WAIT)
        if failure.deliberate and not self._answers:
            return self._first_wait / 2  # waiting longer would only delay the failure
        longest = LIMITED_WAIT if failure.limited and self._answers else LONGEST_WAIT
        return min(self._backoff(state), longest)

    def _tell(self, item_id: str, state: RetryCallState) -> None:
        self._observer.retrying(item_id, _failure_of(state).message, state.upcoming_sleep)

    def _end_if_away(self, lost: list[tuple[str, Reply]]) -> None:
        errors = {reply.error for _, reply in lost}
        if len(lost) == LOST_IN_A_ROW:
            raise HdbenchError(
                "{place}: {count} items in a row without an answer (the last one: {why}): fix it "
                "and run again: the command resumes where it stopped",
                place=self._server.shown,
                count=LOST_IN_A_ROW,
                why=lost[-1][1].error,
            )
        failed = errors <= set(map(_no_answer, self._first_failures))
        if not self._answers and len(lost) >= LOST_AT_FIRST and len(errors) == 1 and failed:
            raise HdbenchError(
                "{place}: the first {count} items all failed in the same way: {why}: fix it and "
                "run again",
                place=self._server.shown,
                count=len(lost),
                why=lost[-1][1].error,
            )

    async def _hopeless(self, client: EndpointClient, refusal: Refused) -> HdbenchError:
        """Return why no item would be answered."""
        about = {"place": client.server.shown, "model": self.asked.model, "why": refusal}
        if refusal.no_model:
            ids = [model["id"] for model in await client.models()]
            if not ids or self.asked.model in ids:
                return HdbenchError(
                    "{place}: no model {model!r}, or no server at this address ({why})", **about
                )
            names = shortened([escaped(model_id)[:100] for model_id in ids], MODELS_SHOWN)
            return HdbenchError(
                "{place}: no model {model!r}: choose one of {names}", **about, names=names
            )
        if refusal.status in (401, 403):
            return HdbenchError(
                "{place}: the server refuses the key in {variable} ({why})"
                if self._server.variable
                else "{place}: the server needs a key: set {variable} in the environment ({why})",
                **about,
                variable=self._server.variable or OWN_KEY,
            )
        return HdbenchError("{place}: answers no requests ({why})", **about)


def _no_answer(failure: str) -> Message:
    return Message("no answer: {why}", why=failure)


def _failure_of(state: RetryCallState) -> Unanswered:
    """Return why an attempt failed."""
    failure = state.outcome.exception() if state.outcome else None
    return failure if isinstance(failure, Unanswered) else Unanswered("")
