"""Backends: questions in, replies out. `BACKENDS` lists them."""

import io
import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from hdbench.common.bounds import MAX_IMAGE
from hdbench.common.extras import needed
from hdbench.common.validation import why_unfit
from hdbench.errors import HdbenchError, Message, did_you_mean
from hdbench.models.model_files import model_name

LOST_IN_A_ROW = 10
"""This many items in a row without an answer end a run."""

IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".pdf"}
"""Extensions of the files that a model is shown."""


_CHECKED = ConfigDict(extra="forbid", defer_build=True, coerce_numbers_to_str=True)


class StoredImage(NamedTuple):
    """An image in memory, as a tar or Parquet file has it; it opens as a file does.

    Attributes:
        place: where it is, for messages.
        data: the file's bytes; one more than `MAX_IMAGE` if it is larger.
    """

    place: str
    data: bytes

    def __str__(self) -> str:
        return self.place

    def open(self, mode: str = "rb") -> io.BytesIO:
        """Return it as an open file.

        Raises:
            HdbenchError: it is too large.
        """
        return io.BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        """Return its bytes.

        Raises:
            HdbenchError: it is too large.
        """
        if len(self.data) > MAX_IMAGE:
            raise HdbenchError(
                "{place}: larger than {most} MiB: shorten or divide it",
                place=self.place,
                most=MAX_IMAGE >> 20,
            )
        return self.data


class Question(NamedTuple):
    """An item to be answered.

    Attributes:
        id: the item's id.
        media: what the model is shown: images in order, or one PDF; the backend opens them.
        text: what it is given instead of media.
        values: name → what replaces it in the prompt, where it is in braces.
        without_media: whether the model gets the prompt alone, though the item has media.
        prompt: what an `Asker` is asked: the prompt with the values and the text.
    """

    id: str
    media: Sequence[Path | StoredImage]
    text: str = ""
    values: Mapping[str, str] = MappingProxyType({})
    without_media: bool = False
    prompt: str = ""

    @property
    def shows_media(self) -> bool:
        """Return whether the model is shown images."""
        return not (self.text or self.without_media)

    def in_prompt(self, prompt: str) -> str:
        r"""Return the prompt for this item: its values filled in, and its text at the end.

        Example:
            >>> Question("2", [], "<b>", {"page": "7"}).in_prompt('Fix page {page}: {"a": {id}}')
            'Fix page 7: {"a": {id}}\n\n<b>'
        """
        filled = re.sub(r"\{([^{}]+)\}", lambda match: self.values.get(match[1], match[0]), prompt)
        return f"{filled.rstrip()}\n\n{self.text}" if self.text else filled


CUT_OFF = Message("cut off before any text: raise --option max_new_tokens=N")
EMPTY = Message("an empty answer")
"""Why there is no answer, where a model wrote nothing."""


@dataclass(frozen=True)
class Reply:
    """The outcome of one question.

    Attributes:
        text: what the model wrote; None if there is no answer.
        tokens: `input` and `output`, if they were counted.
        seconds: how long it took; in a batch, the batch's time divided by its size.
        finish_reason: why the model stopped, such as `stop` or `length`, if known.
        constrained: whether the model was asked to hold the answer to the benchmark's schema.
        usd: what it cost in US dollars, if the server says so.
        error: why there is no text, in one line; None if there is one.
        reasoning: the model's thoughts, if it wrote nothing else.
        refusal: the model's own words, if it refused to answer.
        raw_error: the server's error, as it was sent.
    """

    text: str | None
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    finish_reason: str | None = None
    constrained: bool = False
    error: str | None = None
    usd: float | None = None
    reasoning: str | None = None
    refusal: str | None = None
    raw_error: str | None = None


@checked_dataclass(frozen=True, config=_CHECKED)
class Decoding:
    """Rules by which answers are sampled; None leaves one to the server, or to the model's family.

    Attributes:
        max_new_tokens: where an answer is cut off.
        temperature: 0 is greedy, and so is None for a local model.
        top_p: nucleus sampling; 1 is off.
        seed: for the random numbers.
        schema: hold answers to the benchmark's schema, where the backend can.
    """

    max_new_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    seed: int | None = None
    schema: bool = False


@checked_dataclass(frozen=True, config=_CHECKED)
class ImageLimits:
    """Limits of what is shown of an item.

    Attributes:
        max_side: maximum pixels of the longer side; larger images are scaled down.
        pages: how many pages of a PDF, from the first.
    """

    max_side: int = Field(default=2048, ge=1)
    pages: int = Field(default=5, ge=1)


class Observer:
    """Observer of a backend between replies; this base class ignores everything.

    Its methods can be called from any thread.
    """

    def notice(self, message: str) -> None:
        """Report something about the whole run that a person should know."""

    def loading(self) -> None:
        """Report that the model is being loaded."""

    def writing(self, tokens: int) -> None:
        """Report how many tokens the model has written to each of the items it is at."""


SILENT = Observer()


Replies = Generator[tuple[str, Reply], None, None]
"""Each item's id and reply, as they come."""


class Backend(ABC):
    """A way to ask a model: questions in, replies out.

    Args:
        asked: the model, and how it is asked.
        prompt: the prompt's text.
        schema: the benchmark's answer schema.

    Raises:
        HdbenchError: it lacks something, or has no such model.
    """

    def __init__(self, asked: "Asked", prompt: str, schema: dict[str, Any] | None) -> None:
        self.asked, self.prompt, self.schema = asked, prompt, schema

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that define a run: model, revision and all that can change an answer.

        JSON data. A resumed run must have the same settings.
        """

    def hardware(self) -> Mapping[str, Any]:
        """Return the hardware and versions, as JSON data; they may differ between sittings."""
        return {"cpus": os.cpu_count()}

    @abstractmethod
    def answer(self, questions: Iterable[Question], observer: Observer = SILENT) -> Replies:
        """Yield each question's id and reply, as they come, in any order; closing stops it at once.

        Questions are taken only as they can be worked on, so a long run needs no more memory than
        a short one. If one item fails, its reply has an `error`, and the others go on.

        Args:
            questions: what to ask.
            observer: notified of events between replies.

        Raises:
            HdbenchError: nothing can be answered at all: no such model, no connection, a wrong key.
        """


class Asker(Protocol):
    """A backend as people write one: an object that is asked one question after another."""

    def ask(self, question: Question) -> "Reply | str | Mapping[str, Any]":
        """Return what the model replies: its text, a record, or a `Reply` with tokens and price."""


class AskerBackend(Backend):
    """Asks an `Asker`, so many questions at once as it takes; an exception is its item's error."""

    at_once = 1

    def __init__(self, asker: Asker, asked: "Asked", prompt: str, schema: Any) -> None:
        super().__init__(asked, prompt, schema)
        self._asker = asker

    def settings(self) -> Mapping[str, Any]:
        """Return the model's name, which is all that is known."""
        return {"model": self.asked.model}

    def answer(self, questions: Iterable[Question], observer: Observer = SILENT) -> Replies:
        """Yield each question's id and reply, in order.

        Raises:
            HdbenchError: the first `LOST_IN_A_ROW` items fail, or a reply is none.
        """
        lost = 0
        pool = ThreadPoolExecutor(self.at_once)
        try:
            replies = in_order(pool, self._replied, questions, self.at_once - 1)
            for number, (item, reply) in enumerate(replies, 1):
                lost += reply.text is None
                if lost == number == LOST_IN_A_ROW:
                    raise HdbenchError(
                        "{backend}: failed for the first {count} items: {why}",
                        backend=self.asked.kind.name,
                        count=lost,
                        why=reply.error,
                    )
                yield item, reply
        finally:
            pool.shutdown(cancel_futures=True)

    def _replied(self, question: Question) -> tuple[str, Reply]:
        begun = time.monotonic()
        try:
            given = self._asker.ask(question._replace(prompt=question.in_prompt(self.prompt)))
        except HdbenchError as error:
            reply = Reply(None, error=error.message)
        except Exception as error:
            reply = Reply(None, error=f"{type(error).__name__}: {error}")
        else:
            reply = _as_reply(given)
        seconds = time.monotonic() - begun if reply.seconds is None else reply.seconds
        return question.id, replace(reply, seconds=seconds)


def _as_reply(given: object) -> Reply:
    if isinstance(given, Reply):
        return given
    if isinstance(given, Mapping):
        return Reply(json.dumps(given, ensure_ascii=False))
    if isinstance(given, str):
        return Reply(given)
    raise HdbenchError(
        "ask returned {kind}: return a text, a record as a dictionary, or hdbench.Reply",
        kind=type(given).__name__,
    )


class BackendKind(NamedTuple):
    """A backend as it declares itself; nothing else in hdbench knows backends by their names.

    Attributes:
        name: as run.json has it.
        source: its class, as `module:class`; imported when it is first used.
        extra: the extra of hdbench that has the packages it needs.
        is_remote: whether items go to the server at `--endpoint`, which may charge for them.
        loads_model: whether it loads a model from a folder or the Hub, onto an accelerator.
        reads_prompts: whether it answers a prompt; otherwise it reads the text of images.
    """

    name: str
    source: str
    extra: str | None = None
    is_remote: bool = False
    loads_model: bool = False
    reads_prompts: bool = True


BACKENDS = {
    kind.name: kind
    for kind in (
        BackendKind(
            "transformers",
            "hdbench.models.transformers_backend:TransformersBackend",
            extra="vlm",
            loads_model=True,
        ),
        BackendKind(
            "endpoint",
            "hdbench.models.endpoint_backend:EndpointBackend",
            extra="endpoint",
            is_remote=True,
        ),
        BackendKind(
            "tesseract",
            "hdbench.models.tesseract_backend:TesseractBackend",
            reads_prompts=False,
        ),
    )
}
"""Name → backend of hdbench itself."""

ENTRY_POINTS = "hdbench.backends"
"""The group of entry points by which other packages register theirs: a class of `Backend`, or an
`Asker` or what makes one."""


def backends() -> Mapping[str, BackendKind]:
    """Return name → backend, those of other packages among them."""
    return {**_others(), **BACKENDS}


@cache
def _others() -> Mapping[str, BackendKind]:
    from importlib.metadata import entry_points  # noqa: PLC0415  slow to import

    return {
        each.name: BackendKind(each.name, each.value) for each in entry_points(group=ENTRY_POINTS)
    }


OPTIONS = {
    **dict.fromkeys(("max_new_tokens", "temperature", "top_p", "seed"), "decoding"),
    **dict.fromkeys(("max_side", "pages"), "limits"),
    **dict.fromkeys(("schema", "revision", "batch_size", "concurrency", "timeout"), ""),
    "trust_remote_code": "",
}
"""Option of a model → the field of `Asked` that holds it; empty if it is one itself."""


@checked_dataclass(frozen=True, config=_CHECKED)
class Asked:
    """Who is asked, and how. What can change an answer must be the same in a run that is resumed.

    Attributes:
        model: its name: a repository on the Hub, a folder, or what a server calls it.
        backend: a name in `BACKENDS`; None leaves the choice to the model and the endpoint.
        endpoint: the address of an OpenAI-compatible server.
        revision: the model's revision: a branch, tag or commit.
        decoding: how answers are sampled; its `schema` is set by `schema` below.
        schema: hold answers to the benchmark's schema; None does so where a server may refuse it.
        limits: what is shown of an item.
        batch_size: items at once, for a local model.
        concurrency: requests at once, for a server; images at once, for Tesseract.
        timeout: seconds for one request to a server, or for one image.
        trust_remote_code: run code that the model's repository contains.
        asker: the `Asker` that is asked in place of a backend of that name.
        own_prompt: ask with the prompt that a local model's family has for a page of text; None
            does so where it takes no other.
    """

    model: str
    backend: str | None = None
    endpoint: str | None = None
    revision: str | None = None
    decoding: Decoding = Field(default_factory=Decoding)
    schema: bool | None = None
    limits: ImageLimits = Field(default_factory=ImageLimits)
    batch_size: int = Field(default=1, ge=1)
    concurrency: int = Field(default=4, ge=1)
    timeout: float = Field(default=300.0, ge=0.1, allow_inf_nan=False)
    trust_remote_code: bool = False
    own_prompt: bool | None = None
    asker: Any = None

    @classmethod
    def with_options(cls, model: str, endpoint: str | None, given: Mapping[str, Any]) -> "Asked":
        """Return who is asked, with options as `--option` gives them.

        Raises:
            HdbenchError: an option is unknown, or has no usable value.
        """
        values: dict[str, Any] = {"decoding": {}, "limits": {}}
        for name, value in given.items():
            if name not in OPTIONS:
                raise HdbenchError(
                    "--option {option}: choose one of {names}{near}",
                    option=name,
                    names=", ".join(OPTIONS),
                    near=did_you_mean(name, OPTIONS),
                )
            if value is None:
                raise HdbenchError("--option {option}: has no value", option=name)
            values.get(OPTIONS[name], values)[name] = value
        try:
            return cls(model, endpoint=endpoint, **values)
        except ValidationError as error:
            first = error.errors()[0]
            raise HdbenchError(
                "--option {option}: {why}", option=first["loc"][-1], why=why_unfit(first)
            ) from error

    @property
    def kind(self) -> BackendKind:
        """Return the backend that is used: the one asked for, or that of the endpoint or the model.

        Raises:
            HdbenchError: there is none of that name.
        """
        if self.asker is not None:
            return BackendKind(type(self.asker).__name__, "")
        name, known = self.backend, backends()
        if name is None:
            of_model = known.get(self.model, BACKENDS["endpoint"])
            name = "transformers" if of_model.is_remote else of_model.name
            name = name if self.endpoint is None else "endpoint"
        if name not in known:
            raise HdbenchError(
                "no backend {name!r}: choose one of {names}", name=name, names=", ".join(known)
            )
        return known[name]

    @property
    def provider(self) -> str:
        """Return who runs the model, as run.json names it: a server's host, or `local`."""
        if self.endpoint is None:
            return "local"
        return urlsplit(self.endpoint).hostname or "endpoint"

    @property
    def model_name(self) -> str:
        """Return the model, as run.json names it."""
        return model_name(self.model) if self.kind.loads_model else self.model


def make_backend(asked: Asked, prompt: str, schema: dict[str, Any] | None) -> Backend:
    """Return the backend that asks; see `Backend`.

    Raises:
        HdbenchError: there is no such model; a package is missing.
    """
    if asked.asker is not None:
        return AskerBackend(asked.asker, asked, prompt, schema)
    with needed(asked.kind.extra or "", "models need"):
        found = resolve_name(asked.kind.source)
    if isinstance(found, type) and issubclass(found, Backend):
        return found(asked, prompt, schema)
    asker = found() if isinstance(found, type) or not hasattr(found, "ask") else found
    return AskerBackend(asker, asked, prompt, schema)


_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


def in_order(
    pool: Executor, function: Callable[[_Value], _Result], values: Iterable[_Value], ahead: int
) -> Iterator[_Result]:
    """Yield a function's results in the order of the values, of which so many are worked on ahead.

    Unlike a pool's own `map`, this takes a value only as there is room for it.
    """
    running: deque[Future[_Result]] = deque()
    for value in values:
        running.append(pool.submit(function, value))
        if len(running) > ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()
