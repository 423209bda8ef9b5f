"""A run before it begins: its items, its prompt, its backend, and what run.json says about it."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.folder_files import MAX_TEXT
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError, os_reason
from hdbench.reading.run_info import Prompt
from hdbench.reading.schema import read_schema
from hdbench.running.backend import Backend, Decoding
from hdbench.running.choosing import Choice
from hdbench.running.images import Limits
from hdbench.running.model_files import model_name
from hdbench.running.run import Outcome, run_model
from hdbench.running.running_score import RunningScore

BACKENDS = ("transformers", "endpoint", "tesseract")
PROMPT = "prompt.txt"


@dataclass(frozen=True)
class Asked:
    """Who is asked, and how.

    Attributes:
        model: its name: a repository on the Hub, a folder, or what a server calls it.
        backend: one of `BACKENDS`; None leaves the choice to the model and the endpoint.
        endpoint: the address of an OpenAI-compatible server.
        revision: the model's revision: a branch, tag or commit.
        decoding: how answers are sampled; its `schema` is set by `schema` below.
        schema: hold answers to the benchmark's schema; None does so where a server may refuse it.
        limits: what is shown of an item.
        batch_size: items at once, for a local model.
        concurrency: maximum requests at once, for a server; None leaves it to the server's speed.
        timeout: seconds for one request to a server.
        trust_remote_code: run code that the model's repository contains.
    """

    model: str
    backend: str | None = None
    endpoint: str | None = None
    revision: str | None = None
    decoding: Decoding = field(default_factory=Decoding)
    schema: bool | None = None
    limits: Limits = field(default_factory=Limits)
    batch_size: int = 1
    concurrency: int | None = None
    timeout: float = 300.0
    trust_remote_code: bool = False

    @property
    def backend_name(self) -> str:
        """The name of the backend that is used."""
        if self.backend is not None:
            return self.backend
        if self.endpoint is not None:
            return "endpoint"
        return "tesseract" if self.model == "tesseract" else "transformers"

    @property
    def provider(self) -> str:
        """Who runs the model, as run.json names it: a server's host, or `local`."""
        if self.endpoint is None:
            return "local"
        return urlsplit(self.endpoint).hostname or "endpoint"

    @property
    def model_name(self) -> str:
        """The model, as run.json names it."""
        return model_name(self.model) if self.backend_name == "transformers" else self.model


class Prepared(NamedTuple):
    """What a run asks with.

    Attributes:
        prompt: the prompt's text.
        schema: the benchmark's answer schema, if it has one.
        settings: what run.json says about the run.
    """

    prompt: str
    schema: dict[str, Any] | None
    settings: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """A run to be begun or resumed.

    Attributes:
        benchmark: the one whose prompt and schema are used and, except for own images, whose items
            are asked.
        choice: the items.
        asked: who is asked.
        prompt: a file with the prompt; None for the benchmark's.
        own_images: whether the items are a user's own images.
    """

    benchmark: Benchmark
    choice: Choice
    asked: Asked
    prompt: Path | None = None
    own_images: bool = False

    @property
    def without_media(self) -> bool:
        """Whether the model gets the prompt alone."""
        return any(question.without_media for question in self.choice.questions)

    @property
    def prompt_file(self) -> Path:
        """The file with the prompt."""
        return self.prompt or self.benchmark.file(PROMPT)

    def run(
        self, folder: Path, *, retry_failed: bool = False, deadline: float | None = None
    ) -> Outcome:
        """Ask what has not been asked yet.

        Args:
            folder: the run's folder.
            retry_failed: see `run_model`.
            deadline: see `run_model`.

        Raises:
            HdbenchError: see `run_model` and `check`; there is no such backend, or no prompt.
        """
        with self._ready() as (backend, prepared):
            schema = self.benchmark.answer_schema(prepared.prompt)
            return run_model(
                backend,
                self.choice.questions,
                folder,
                prepared.settings,
                score=None if self.own_images else RunningScore(self.benchmark, schema),
                retry_failed=retry_failed,
                deadline=deadline,
            )

    def prepared(self) -> "Prepared":
        """What other processes need to ask.

        Raises:
            HdbenchError: see `check`; there is no such backend, or no prompt.
        """
        with self._ready() as (_, prepared):
            return prepared

    @contextmanager
    def _ready(self) -> Iterator[tuple[Backend, "Prepared"]]:
        prompt = read_prompt(self.prompt_file)
        self.check()
        path = self.benchmark.schema
        schema = None if path is None else read_schema(path)
        backend = make_backend(self.asked, prompt.text, schema)
        try:
            yield backend, Prepared(prompt.text, schema, self._settings(backend, prompt))
        finally:
            backend.close()

    def check(self) -> None:
        """Refuse to ask a backend with the prompt alone that only reads images.

        Raises:
            HdbenchError: the backend is Tesseract.
        """
        if self.without_media and self.asked.backend_name == "tesseract":
            raise HdbenchError("--without-media: tesseract reads images and nothing else")

    def _settings(self, backend: Backend, prompt: Prompt) -> dict[str, Any]:
        """What run.json says about the run; a later sitting must have the same."""
        partial = self.own_images or self.choice.subset is not None
        return {
            "benchmark": self.benchmark.id,
            "dataset": {
                "version": self.benchmark.spec.version,
                "sha256": self.benchmark.content_hash(),
            },
            "model": backend.settings().get("model", self.asked.model),
            "provider": self.asked.provider,
            "backend": backend.name,
            "settings": dict(backend.settings()),
            "prompt": dict(prompt),
            "own_images": self.own_images,
            "without_media": self.without_media or None,
            "subset": self.choice.subset,
            "items": [question.id for question in self.choice.questions] if partial else None,
        }


def make_backend(asked: Asked, prompt: str, schema: dict[str, Any] | None) -> Backend:
    """The backend that asks.

    Raises:
        HdbenchError: there is none of that name, it lacks something, or it has no such model.
    """
    name = asked.backend_name
    if name == "endpoint":
        if asked.endpoint is None:
            raise HdbenchError("--backend endpoint: name the server with --endpoint URL")
        from hdbench.running.endpoint_backend import EndpointBackend  # noqa: PLC0415  slow

        decoding = replace(asked.decoding, schema=asked.schema is not False)
        return EndpointBackend(
            asked.endpoint,
            asked.model,
            prompt,
            decoding=decoding,
            limits=asked.limits,
            schema=schema,
            concurrency=asked.concurrency,
            timeout=asked.timeout,
        )
    if name == "transformers":
        from hdbench.running.transformers_backend import TransformersBackend  # noqa: PLC0415

        return TransformersBackend(
            asked.model,
            prompt,
            decoding=replace(asked.decoding, schema=bool(asked.schema)),
            limits=asked.limits,
            schema=schema,
            revision=asked.revision,
            batch_size=asked.batch_size,
            trust_remote_code=asked.trust_remote_code,
        )
    if name == "tesseract":
        from hdbench.running.tesseract_backend import TesseractBackend  # noqa: PLC0415

        return TesseractBackend(schema=schema, limits=asked.limits)
    raise HdbenchError(
        "no backend {name!r}: choose one of {names}", name=name, names=", ".join(BACKENDS)
    )


def run_name(benchmark: Benchmark, model: str) -> str:
    """A folder name for a run: benchmark and model; for a model in a folder, that folder's name.

    Example:
        >>> _slug("Qwen/Qwen3-VL-8B"), _slug("../../etc")
        ('Qwen-Qwen3-VL-8B', 'etc')
    """
    return f"{_slug(benchmark.spec.name)}_{_slug(model_name(model))}"


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:80] or "run"


def read_prompt(path: Path) -> Prompt:
    """The prompt in a file.

    Raises:
        HdbenchError: it cannot be read, is too large, is not UTF-8, or is empty.
    """
    try:
        raw = read_at_most(path, MAX_TEXT)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be read: {why}", place=path, why=os_reason(error)
        ) from error
    except UnicodeDecodeError as error:
        raise HdbenchError(
            "{place}: not UTF-8 (byte {byte})", place=path, byte=error.start + 1
        ) from error
    if not text.strip():
        raise HdbenchError("{place}: the prompt is empty", place=path)
    return Prompt(name=path.name, sha256=hashlib.sha256(raw).hexdigest(), text=text)
