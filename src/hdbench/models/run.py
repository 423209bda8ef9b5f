"""A run: its items, prompt and backend, its settings, and each answer kept as it comes."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from hdbench.answers.answer import WrittenAnswer
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.titles import without_titles
from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.extras import needed
from hdbench.common.files import read_at_most, read_errors, utf8_text
from hdbench.common.json_schema import read_schema
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import HdbenchError, Message, joined
from hdbench.evaluation.run import TEXT_PROMPT, Prompt
from hdbench.models.backend import CUT_OFF, EMPTY, Asked, Backend, Question, Reply, make_backend
from hdbench.models.items import Archives, Choice
from hdbench.models.model_files import model_name
from hdbench.models.run_folder import RunFolder, is_failed, known_usd, recorded, recorded_answers
from hdbench.models.run_progress import RunProgress
from hdbench.models.server import Server, addresses_with_keys

PROMPT = "prompt.txt"

MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float

    @classmethod
    def of(cls, given: tuple[float, float]) -> "Price":
        """Return the price that a person gives.

        Raises:
            HdbenchError: it is negative, or no number.
        """
        if not all(0 <= rate < MILLION for rate in given):
            raise HdbenchError(
                "--price {input} {output}: must be US dollars per million tokens, in and out",
                input=given[0],
                output=given[1],
            )
        return cls(*given)

    def usd(self, tokens: Mapping[str, float] | None) -> float | None:
        """Return what `input` and `output` tokens cost; None if their numbers are not known.

        Example:
            >>> Price(1, 4).usd({"input": 1_000_000, "output": 500_000})
            3.0
        """
        if tokens is None or not {"input", "output"} <= tokens.keys():
            return None
        return (tokens["input"] * self.input + tokens["output"] * self.output) / MILLION


@dataclass
class RunOutcome:
    """The outcome of a sitting.

    Attributes:
        items: how many items the run has.
        answered: for how many something is recorded, in this sitting or before.
        failed: for how many of these only an error is recorded.
        interrupted: whether a person stopped it.
        usd: what the answers cost, in US dollars; None if that is not known.
    """

    items: int
    answered: int = 0
    failed: int = 0
    interrupted: bool = False
    usd: float | None = None

    def counted(self, answers: Iterable[WrittenAnswer]) -> Iterator[WrittenAnswer]:
        """Count answers as they are taken."""
        for answer in answers:
            self.answered += 1
            self.failed += is_failed(answer)
            yield answer

    def trouble(self) -> Message | None:
        """Return why the run is of no use; None if it is of some."""
        if self.failed and self.answered == self.failed:
            return Message("no item was answered, of {asked} asked", asked=self.failed)
        return None

    def lines(self, folder: Path) -> list[Message]:
        """Return the lines that report the outcome to the user."""
        counts = [
            Message(
                "{place}: {answered} of {items} items answered",
                place=folder,
                answered=self.answered - self.failed,
                items=self.items,
            )
        ]
        if self.failed:
            counts.append(
                Message("{failed} failed (ask them again with --retry-failed)", failed=self.failed)
            )
        if left := self.items - self.answered:
            counts.append(
                Message(
                    "{left} not answered yet (run again: the command resumes where it stopped)",
                    left=left,
                )
            )
        lines = [joined(counts)]
        if self.usd is not None:
            lines.append(Message("price: {usd:.4f} USD", usd=self.usd))
        return lines


def run_model(
    backend: Backend,
    questions: Sequence[Question],
    folder: Path,
    settings: Mapping[str, Any],
    *,
    archives: Archives | None = None,
    price: Price | None = None,
    retry_failed: bool = False,
) -> RunOutcome:
    """Ask a model what has not been asked yet, and record each answer as it comes.

    If it is killed at any moment, the same call resumes where it stopped.

    Args:
        backend: the one that asks.
        questions: all items of the run.
        folder: the run's folder.
        settings: what `run.json` says about it.
        archives: where the images are, if they are not files of their own.
        price: of the model's tokens, where a reply does not say what it cost.
        retry_failed: ask again where only an error was recorded.

    Raises:
        HdbenchError: see `RunFolder.opened` and `Backend.answer`; what was recorded is kept.
    """
    interrupted = False
    with RunFolder.opened(folder, settings) as run:
        answers = run.answers
        if retry_failed:
            answers.forget_failed()
        left = [question for question in questions if question.id not in answers.failed]
        if left:
            asked = left if archives is None else archives.shown(left)
            with (
                run.sitting(backend.hardware, len(questions)),
                RunProgress.shown(len(questions), len(answers.failed)) as progress,
                closing(backend.answer(asked, observer=progress)) as got,
            ):
                try:
                    for item_id, reply in got:
                        answer = as_answer(item_id, reply, price)
                        answers.add(answer)
                        progress.answered(item_id, answer.get("error"))
                except KeyboardInterrupt:
                    interrupted = True
        return read_outcome(len(questions), folder, interrupted=interrupted)


def as_answer(item_id: str, reply: Reply, price: Price | None = None) -> WrittenAnswer:
    """Return a reply as a line of the answers; unknown values are left out.

    A blank text is no answer: the line then says why.
    """
    if reply.error is None and not (reply.text or "").strip():
        why = CUT_OFF if reply.finish_reason == "length" else EMPTY
        reply = replace(reply, text=None, error=why)
    answer = asdict(reply) | {"constrained": reply.constrained or None}
    if reply.usd is None and price is not None:
        answer["usd"] = price.usd(reply.tokens)
    if reply.seconds is not None:
        answer["seconds"] = round(reply.seconds, 3)
    values = {name: value for name, value in answer.items() if value is not None}
    return cast(WrittenAnswer, {"id": item_id} | values)


def read_outcome(items: int, folder: Path, *, interrupted: bool = False) -> RunOutcome:
    """Return the outcome of a run so far, of all its parts, or of one of them."""
    outcome = RunOutcome(items, interrupted=interrupted)
    outcome.usd = known_usd(outcome.counted(recorded_answers(folder)))
    return outcome


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
        return run_model(
            backend,
            self.choice.questions,
            folder,
            self.settings(backend, prompt),
            archives=self.choice.archives,
            price=self.price,
            retry_failed=retry_failed,
        )

    def check(self) -> None:
        """Refuse to ask for what nobody can answer, or for a text where answers are records.

        Raises:
            HdbenchError: the answers are records, a text is to keep a schema, a backend that reads
                the text of images and nothing else gets no image, or there is no such local model,
                and no server was named.
        """
        kind, model = self.asked.kind, self.asked.model
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
        if kind.loads_model and "/" not in model and not Path(model).is_dir():
            raise HdbenchError(
                "{model}: no such folder, and models on the Hub are called OWNER/NAME: to ask a "
                "server for it, give the server's address: --endpoint {address}",
                model=model,
                address=next(iter(addresses_with_keys()), "URL"),
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
        """Return which data are asked about, and what a later sitting checks of them."""
        items = None if self._is_partial else len(self.choice.questions)
        return {
            "version": self.benchmark.spec.version,
            "sha256": self.benchmark.content_hash(),
            "items": items,
            "items_sha256": self._items_hash(items),
        }

    def _items_hash(self, items: int | None) -> str:
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
        before = recorded(folder).get("dataset")
        if before and before["items_sha256"] != self._items_hash(before["items"]):
            raise HdbenchError(
                "{place}: answers version {before} of {benchmark}, and the items of version {now} "
                "are others: choose another folder",
                place=folder,
                before=before["version"],
                benchmark=self.benchmark.id,
                now=self.benchmark.spec.version,
            )

    def described(self, folder: Path, *, retry_failed: bool = False) -> list[Message]:
        """Return a description of the run before it begins, one line for each point.

        Nothing from any item is sent anywhere; a server is asked for its list of models.

        Args:
            folder: where it will be recorded.
            retry_failed: see `run_model`.

        Raises:
            HdbenchError: the run could not begin: there is no prompt, or the address is invalid.
        """
        read_prompt(self.prompt_file)
        self.check()
        over = {
            answer["id"]
            for answer in recorded_answers(folder)
            if not (retry_failed and is_failed(answer))
        }
        items = len(self.choice.questions)
        left = sum(question.id not in over for question in self.choice.questions)
        return [
            Message(
                "items: {left:,} of {items:,} to ask with the prompt alone"
                if self.without_media
                else "items: {left:,} of {items:,} to ask",
                left=left,
                items=items,
            ),
            *self._where(),
            Message("answers will be recorded in: {folder}", folder=folder),
        ]

    def _where(self) -> list[Message]:
        model = self.asked.model
        if not self.asked.kind.is_remote:
            return [Message("the items go to: nowhere; {model} runs on this machine", model=model)]
        server = Server.at(self.asked.endpoint or "")
        with needed("endpoint", "models need"):
            from hdbench.models.endpoint_backend import list_models  # noqa: PLC0415  slow
        models = list_models(server)
        listed = Message("not known; the server lists no models, or does not answer")
        if any(each["id"] == model for each in models):
            listed = Message("the server has it")
        elif models:
            listed = Message(
                "not among the {count:,} models that the server lists", count=len(models)
            )
        host = Message("{host} (this machine)" if server.is_local else "{host}", host=server.host)
        return [
            Message("the items go to: {host}", host=host),
            Message("address: {address}", address=server.url),
            Message("model: {model}: {listed}", model=model, listed=listed),
        ]


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
