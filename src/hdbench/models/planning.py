"""A run before it begins: its items, prompt and backend, and its settings for run.json."""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from hdbench.answers.schema import read_schema
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.titles import without_titles
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.jsonio import read_jsonl
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import read_at_most, utf8_text
from hdbench.errors import HdbenchError
from hdbench.evaluation.run_info import TEXT_PROMPT, Prompt
from hdbench.models.amounts import Price
from hdbench.models.backend import Asked, Backend, make_backend
from hdbench.models.choosing import Choice
from hdbench.models.folder import recorded_dataset
from hdbench.models.model_files import model_name
from hdbench.models.run import RunOutcome, run_model

PROMPT = "prompt.txt"


@dataclass(frozen=True)
class RunPlan:
    """A run to be begun or resumed.

    Attributes:
        benchmark: the one whose prompt and schema are used and, except for own images, whose items
            are asked.
        choice: the items.
        asked: who is asked.
        prompt: a file with the prompt; None for the benchmark's.
        own_images: whether the items are a user's own images.
        as_text: whether a model is asked for the text of the page alone, not for a record.
        price: of the model's tokens, if a person gave it.
    """

    benchmark: Benchmark
    choice: Choice
    asked: Asked
    prompt: Path | None = None
    own_images: bool = False
    as_text: bool = False
    price: Price | None = None

    @property
    def without_media(self) -> bool:
        """Return whether the model gets the prompt alone."""
        return any(question.without_media for question in self.choice.questions)

    @property
    def prompt_file(self) -> Path:
        """Return the file with the prompt."""
        own = Path(__file__).with_name(TEXT_PROMPT)
        return self.prompt or (own if self.as_text else self.benchmark.file(PROMPT))

    def run(self, folder: Path, *, retry_failed: bool = False) -> RunOutcome:
        """Ask what has not been asked yet.

        Args:
            folder: the run's folder.
            retry_failed: see `run_model`.

        Raises:
            HdbenchError: see `run_model` and `check`; there is no such backend, or no prompt.
        """
        prompt = read_prompt(self.prompt_file)
        self.check()
        self._check_same_items(folder)
        path = None if self.as_text else self.benchmark.schema
        schema = None if path is None else without_titles(read_schema(path))
        # A user's own prompt is sent as it is; where the text alone is asked for, a family's own.
        asked = replace(self.asked, own_prompt=False if self.prompt else self.as_text or None)
        backend = make_backend(asked, prompt.text, schema)
        try:
            return run_model(
                backend,
                self.choice.questions,
                folder,
                self.settings(backend, prompt),
                archives=self.choice.archives,
                price=self.price,
                retry_failed=retry_failed,
            )
        finally:
            backend.close()

    def check(self) -> None:
        """Refuse to ask for a text where answers are records, or for what a backend cannot answer.

        Raises:
            HdbenchError: the answers are records, a text is to keep a schema, or a backend that
                reads the text of images and nothing else gets no image.
        """
        kind = self.asked.kind
        is_text = self.benchmark.spec.make_metric().of_text("") is not None
        if self.as_text and not is_text:
            raise HdbenchError(
                "--as-text: an answer to {benchmark} is a record, not one text: leave it out",
                benchmark=self.benchmark.id,
            )
        if self.as_text and self.asked.schema:
            raise HdbenchError("--as-text: a text keeps no schema: leave out --option schema=true")
        if self.benchmark.schema is not None and not is_text and not kind.reads_prompts:
            raise HdbenchError(
                "--model {model}: reads plain text, and the answers of {benchmark} are records: "
                "choose a model that takes a prompt",
                model=kind.name,
                benchmark=self.benchmark.id,
            )
        if self.without_media and not kind.reads_prompts:
            raise HdbenchError(
                "--without-media: {backend} reads the text of images and nothing else",
                backend=kind.name,
            )

    def settings(self, backend: Backend, prompt: Prompt) -> dict[str, Any]:
        """Return the run's settings for run.json; a later sitting must have the same ones."""
        return {
            "benchmark": self.benchmark.id,
            "dataset": self._dataset(),
            "model": backend.settings().get("model", self.asked.model),
            "provider": self.asked.provider,
            "backend": self.asked.kind.name,
            "settings": dict(backend.settings()),
            "prompt": dict(prompt) if self.asked.kind.reads_prompts else None,
            "own_images": self.own_images,
            "without_media": self.without_media or None,
            "subset": self.choice.subset,
            "part": self.choice.part and self.choice.part.model_dump(),
            "items": [question.id for question in self.choice.questions]
            if self._is_partial
            else None,
        }

    @property
    def _is_partial(self) -> bool:
        return self.own_images or self.choice.subset is not None

    def _dataset(self) -> dict[str, Any]:
        """Return which data are asked about, and of a whole dataset what a later sitting checks."""
        dataset = {
            "version": self.benchmark.spec.version,
            "sha256": self.benchmark.content_hash(),
        }
        if self._is_partial:
            return dataset
        items = len(self.choice.questions)
        return dataset | {"items": items, "items_sha256": self._items_hash(items)}

    def _items_hash(self, items: int) -> str:
        """Return the hash of all that a model gets of the first items, besides the prompt."""
        path = self.benchmark.schema
        asked = hashlib.sha256(json.dumps(path and without_titles(read_schema(path))).encode())
        columns = ("id", "sha256", "text", *self.benchmark.spec.prompt_columns)
        for line in islice(read_jsonl(self.benchmark.metadata), items):
            asked.update(json.dumps([line.value.get(column) for column in columns]).encode())
        return asked.hexdigest()

    def _check_same_items(self, folder: Path) -> None:
        """Refuse to resume a run whose answers are to items that are others now.

        Further items behind them, and another ground truth, change nothing of what was asked.

        Raises:
            HdbenchError: an item, the schema or the choice of items has changed.
        """
        before = recorded_dataset(folder)
        if before is None or before.get("sha256") == self.benchmark.content_hash():
            return
        items = before.get("items")
        if (
            self._is_partial
            or not isinstance(items, int)
            or before.get("items_sha256") != self._items_hash(items)
        ):
            raise HdbenchError(
                "{place}: answers version {before} of {benchmark}, and the items of version {now} "
                "are others: choose another folder",
                place=folder,
                before=str(before.get("version")),
                benchmark=self.benchmark.id,
                now=self.benchmark.spec.version,
            )


def run_name(benchmark: Benchmark, model: str) -> str:
    """Return a folder name for a run: the benchmark, and the model or the name of its folder.

    Example:
        >>> _slug("Qwen/Qwen3-VL-8B"), _slug("../../etc")
        ('Qwen-Qwen3-VL-8B', 'etc')
    """
    return f"{_slug(benchmark.spec.name)}_{_slug(model_name(model))}"


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:80] or "run"


def read_prompt(path: Path) -> Prompt:
    """Return the prompt in a file.

    Raises:
        HdbenchError: it cannot be read, is too large, is not UTF-8, or is empty.
    """
    with read_errors(path):
        raw = read_at_most(path, MAX_TEXT_FILE)
    text = utf8_text(raw, path)
    if not text.strip():
        raise HdbenchError("{place}: the prompt is empty", place=path)
    return Prompt(name=path.name, sha256=hashlib.sha256(raw).hexdigest(), text=text)
