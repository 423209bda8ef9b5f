"""A visitor's run of a local model: the checked request, and the separate process that runs it."""

import importlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from hdbench.answers.answer import WrittenAnswer, answers_jsonl
from hdbench.answers.forms import OUR_ANSWERS, RUN_FILE
from hdbench.answers.text import read_text
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common import processes
from hdbench.common.bounds import MAX_THUMBNAIL_PIXELS
from hdbench.common.jsonio import write_json
from hdbench.common.pictures import BUILT_FORMATS, thumbnail
from hdbench.common.servers import ends
from hdbench.common.texts import translated
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.run import OF_ALL, STOPPED
from hdbench.models.backend import Question
from hdbench.models.items import of_benchmark
from hdbench.models.run import PROMPT, read_prompt, run_name
from hdbench.models.run_folder import read_answers
from hdbench.scoring.zettel_f1 import flatten
from hdbench.space.context import SpaceContext
from hdbench.space.work import ended

MAX_TOKENS = 512
"""Tokens of the longest answer to an item: visitors watch, and wait."""

MAX_PROMPT = 20_000
"""Maximum characters of a visitor's prompt: those of the benchmarks have 2,000."""

GOING = "going"
"""The file in a run's folder whose removal ends the run."""

_IMAGES, _LOG = "images", "log"
_POLL = 0.25
_MARGIN = 30  # seconds for a run to end by itself, before its GPU is taken away
_LAST = 4_000  # bytes at the end of a process's output, where its error is
_FOLDERS = re.compile(r"(?<![\w/:.])/(?:[^\s'\"/]+/)+")


class Ended(StrEnum):
    """The reason why a run has ended."""

    ALL = "all"
    STOPPED = "stopped"
    TIME = "time"
    FAILED = "failed"


class RunState(NamedTuple):
    """The state of a run at a given moment.

    Attributes:
        answers: lines of `answers.jsonl`, in the order in which they came.
        total: the number there will be.
        elapsed: seconds since it began.
        left: seconds until it is done, see `time_left`.
        ended: the reason why it ended; None while it goes on.
        problem: the error in one line, if it failed.
        now: what its process last said of how far it is, while it goes on.
    """

    answers: list[WrittenAnswer]
    total: int
    elapsed: float = 0.0
    left: float | None = None
    ended: Ended | None = None
    problem: str = ""
    now: str = ""


class ModelRun(NamedTuple):
    """A visitor's request to a model, after being checked.

    Attributes:
        folder: a folder for all its files, with nothing but `GOING` in it; the caller deletes it.
        model: the operator's name for it.
        benchmark: the benchmark whose prompt and, except for an own image, items are used.
        questions: the items.
        options: options of `hdbench run`, besides model and folder.
        own_image: whether it is over a visitor's image, which has no ground truth.
        language: the language of its errors.
    """

    folder: Path
    model: str
    benchmark: Benchmark
    questions: list[Question]
    options: list[str]
    own_image: bool = False
    language: str = "en"

    @property
    def path(self) -> Path:
        """Return the run folder."""
        return self.folder / run_name(self.benchmark, self.model)

    @property
    def command(self) -> list[str]:
        """Return the command line."""
        arguments = ["--model", self.model, "-o", str(self.path)]
        arguments = ["--language", self.language, "run", *self.options, *arguments]
        return processes.python("hdbench.cli.model_process", *arguments)


class ModelRunView(NamedTuple):
    """A run as its page shows it.

    Attributes:
        run: what was asked.
        state: its state.
        picture: the visitor's own image, as a data URI.
        fields: the record in the answer to that image.
    """

    run: ModelRun
    state: RunState
    picture: str | None = None
    fields: Sequence[tuple[str, str]] = ()


Watch = Callable[[list[str], Path, float], Generator[int | str | None, None, None]]


def model_names(models: Sequence[str]) -> dict[str, str]:
    """Return visitors' name → operator's name of each model: a folder's own name for its path.

    Raises:
        HdbenchError: two folders have the same name.

    Example:
        >>> model_names(["Qwen/Qwen3-VL-2B-Instruct", "/srv/models/llava"])
        {'Qwen/Qwen3-VL-2B-Instruct': 'Qwen/Qwen3-VL-2B-Instruct', 'llava': '/srv/models/llava'}
    """
    names: dict[str, str] = {}
    for model in models:
        path = Path(model)
        name = path.resolve().name if path.is_absolute() or path.is_dir() else model
        if names.setdefault(name, model) != model:
            raise HdbenchError(
                "{place}: a second model called {name!r}: rename its folder", place=model, name=name
            )
    return names


def run_on_items(
    context: SpaceContext, model: str, benchmark: str, items: float, folder: Path
) -> ModelRun:
    """Return a run on items of a benchmark: the same ones each time for the same number.

    Args:
        context: the Space's context.
        model: visitors' name for it.
        benchmark: the benchmark's name.
        items: the number of items.
        folder: see `ModelRun`.

    Raises:
        HdbenchError: there is no such model or benchmark here, or the items are too many.
    """
    source, loaded = _model(context, model), context.benchmark(benchmark)
    if not 1 <= items <= context.max_run_items:  # NaN is not either
        raise HdbenchError(
            "{count} items: ask 1 to {most}", count=items, most=context.max_run_items
        )
    limit = int(items)
    questions = of_benchmark(loaded, limit=limit).questions
    options = [loaded.id, "--limit", str(limit), "--option", f"max_new_tokens={MAX_TOKENS}"]
    return ModelRun(folder, source, loaded, questions, options)


def run_on_image(  # noqa: PLR0917  what a visitor gives
    context: SpaceContext, model: str, benchmark: str, image: Path, prompt: str, folder: Path
) -> ModelRun:
    """Return a run on a visitor's own image.

    Args:
        context: the Space's context.
        model: visitors' name for it.
        benchmark: the benchmark whose kind of answer is wanted.
        image: the upload; it is copied.
        prompt: the prompt.
        folder: see `ModelRun`.

    Raises:
        HdbenchError: there is no such model or benchmark here, the prompt is empty or too long, or
            the upload is not an image or has too many pixels.
    """
    source, loaded = _model(context, model), context.benchmark(benchmark)
    if not prompt.strip() or len(prompt) > MAX_PROMPT:
        raise HdbenchError("the prompt must have 1 to {most:,} characters", most=MAX_PROMPT)
    copied = folder / _IMAGES / f"image.{_image_format(image).lower()}"
    copied.parent.mkdir()
    shutil.copyfile(image, copied)
    prompt_file = folder / PROMPT
    prompt_file.write_text(prompt, encoding="utf-8", errors="replace")
    options = [loaded.id, "--images", str(copied.parent), "--prompt", str(prompt_file)]
    questions = [Question(copied.stem, [copied])]
    return ModelRun(folder, source, loaded, questions, options, own_image=True)


def prompt_of(context: SpaceContext, benchmark: str) -> str:
    """Return a benchmark's prompt; the empty text if it has none.

    Raises:
        HdbenchError: there is no such benchmark here.
    """
    path = context.benchmark(benchmark).folder / PROMPT
    return read_prompt(path).text if path.is_file() else ""


def ask(context: SpaceContext, run: ModelRun, watch: Watch) -> Generator[RunState, None, None]:
    """Yield a run's state several times a second while it goes on; closing ends the run.

    When it is over, the run folder holds the answers, and says that nothing else was asked:
    otherwise its score would depend on the moment at which it was stopped.

    Args:
        context: the Space's context.
        run: the run.
        watch: `watched`, or its version with a GPU.
    """
    answers: list[WrittenAnswer] = []
    came: list[float] = []
    begun = time.monotonic()

    def now_is(why: Ended | None = None, problem: str = "") -> RunState:
        now = time.monotonic()
        total = len(run.questions)
        seconds_left = time_left(answers, came, total, now)
        said = [] if why else _last_lines(run.folder / _LOG)[-1:]
        shown = _public(context, run, "".join(said))
        return RunState(list(answers), total, now - begun, seconds_left, why, problem, shown)

    state: int | str | None = None
    with closing(watch(run.command, run.folder, context.max_run_seconds)) as states:
        for state in states:
            if ended.is_set():
                raise ends()
            _read_on(context, run, answers)
            came += [time.monotonic()] * (len(answers) - len(came))
            if state is None:
                yield now_is()
    if answers:
        _close(context, run, answers)
    if state in (Ended.TIME, Ended.STOPPED):
        yield now_is(Ended(state))
    elif state == 0:
        yield now_is(Ended.ALL)
    else:
        problem = _error(run.folder / _LOG, run.language)
        yield now_is(Ended.FAILED, _public(context, run, problem))


def run_views(
    context: SpaceContext, run: ModelRun, watch: Watch
) -> Generator[ModelRunView, None, None]:
    """Yield a run as its page shows it, several times a second; see `ask`."""
    own = run.questions[0] if run.own_image else None
    picture = picture_of(own) if own else None
    with closing(ask(context, run, watch)) as states:
        for state in states:
            read = own is not None and state.ended is not None and state.answers
            answer = state.answers[0].get("text") or "" if read else ""
            yield ModelRunView(
                run, state, picture, fields_of(run.benchmark, answer) if read else ()
            )


def duration(seconds: float) -> str:
    """Return a duration for readers.

    Example:
        >>> duration(42.4), duration(300)
        ('42 s', '5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    return " ".join([f"{minutes} min"] * (minutes > 0) + [f"{rest} s"] * (rest > 0 or not minutes))


def time_left(
    answers: Sequence[WrittenAnswer], came: Sequence[float], total: int, now: float
) -> float | None:
    """Return the seconds until the last answer, at the pace of those so far; None before the first.

    Args:
        answers: the answers so far.
        came: the time of each.
        total: the number there will be.
        now: the time on the same clock.

    Example:
        >>> time_left([{}, {}, {}], [20.0, 24.0, 30.0], 5, 31.0)
        9.0
    """
    if not answers:
        return None
    if len(came) > 1:  # before the first answer the model was loaded
        pace = (came[-1] - came[0]) / (len(came) - 1)
    else:
        pace = answers[0].get("seconds") or 0.0
    return float(max(0.0, pace * (total - len(came)) - (now - came[-1])))


def watched(
    command: list[str], folder: Path, seconds: float
) -> Generator[int | str | None, None, None]:
    """Run a command until it ends, its time is up, or the file `GOING` is gone from its folder.

    Closing it ends the command too. Its arguments and results can be pickled, as ZeroGPU runs
    it in a process of its own; for the same reason, a file is used to stop it.

    Args:
        command: the command.
        folder: the folder of `GOING` and the log file.
        seconds: the maximum time.

    Yields:
        None while it goes on; finally its exit status, or the reason why it was ended.
    """
    end = time.monotonic() + seconds
    ending: Ended | None = None
    with (
        (folder / _LOG).open("wb") as log,
        processes.start(  # no visitor's text is in the command
            command,
            folder=Path.cwd(),  # from which the benchmark is named
            asks_servers=True,
            stdin=processes.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            while process.poll() is None and ending is None:
                yield None
                time.sleep(_POLL)
                if not (folder / GOING).exists():
                    ending = Ended.STOPPED
                elif time.monotonic() >= end:
                    ending = Ended.TIME
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with what it started itself
    yield process.returncode if ending is None else str(ending)


def with_gpu(seconds: float) -> Watch:
    """`watched`, on ZeroGPU with a GPU for as long as a run may take.

    There a GPU is lent only to a decorated function, and its package exists only there.
    """
    try:
        # Any folder of that name, such as the one in the sources, is a module too, but lacks this.
        lending = importlib.import_module("spaces").GPU
    except (ImportError, AttributeError):
        return watched
    lent: Watch = lending(duration=int(seconds) + _MARGIN)(watched)
    return lent


def picture_of(question: Question) -> str | None:
    """Return a small picture of an item as a data URI; None if there is none."""
    first = question.media[0] if question.media else None
    try:
        return thumbnail(first, width=160) if isinstance(first, Path) else None
    except HdbenchError:
        return None


def fields_of(benchmark: Benchmark, text: str) -> list[tuple[str, str]]:
    """Return the path and value of each field of the record in a model's text, if it has one."""
    value = read_text(text, benchmark.answer_schema()).prediction
    if not isinstance(value, dict):
        return []
    return [
        (path, leaf if isinstance(leaf, str) else json.dumps(leaf))
        for path, leaf in flatten(value).items()
    ]


def _model(context: SpaceContext, name: str) -> str:
    names = model_names(context.models)
    if name not in names:
        raise HdbenchError(
            "no model {name!r} here: choose one of {names}", name=name[:100], names=", ".join(names)
        )
    return names[name]


def _image_format(path: Path) -> str:
    """Return the format of an image that can be read completely."""
    try:
        with Image.open(path, formats=BUILT_FORMATS) as image:
            image_format = str(image.format)
        thumbnail(path, width=160)
    except (HdbenchError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise HdbenchError(
            "{place}: not a readable image: take a {forms} of at most {most} million pixels",
            place=path.name,
            forms=", ".join(BUILT_FORMATS),
            most=MAX_THUMBNAIL_PIXELS // 10**6,
        ) from error
    return image_format


def _read_on(context: SpaceContext, run: ModelRun, answers: list[WrittenAnswer]) -> None:
    """Add the complete lines that have come since; there are no more than `max_run_items`."""
    for answer in islice(read_answers(run.path / OUR_ANSWERS), len(answers), None):
        if (error := answer.get("error")) is not None:
            answer["error"] = _public(context, run, error)
        answers.append(answer)


def _close(context: SpaceContext, run: ModelRun, answers: list[WrittenAnswer]) -> None:
    write_whole(run.path / OUR_ANSWERS, answers_jsonl(answers))
    record = json.loads((run.path / RUN_FILE).read_text(encoding="utf-8"))
    record["benchmark"] = context.public_id(run.benchmark)
    if len(answers) < len(run.questions):
        record["items"] = [answer["id"] for answer in answers]
        chosen = record.get("subset") or OF_ALL.format(count=len(run.questions))
        record["subset"] = f"{STOPPED.format(count=len(answers))}; {chosen}"
    write_json(run.path / RUN_FILE, record)


def _last_lines(log: Path) -> list[str]:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST))
        return file.read().decode("utf-8", errors="replace").splitlines()


def _error(log: Path, language: str) -> str:
    """Return the error that a process ended with."""
    start = f"{translated(Message('error'), language)}: "
    lines = _last_lines(log)
    errors = [line.removeprefix(start) for line in lines if line.startswith(start)]
    silent = Message("the model's process ended without a word: perhaps out of memory")
    return errors[-1] if errors else translated(silent, language)


def _public(context: SpaceContext, run: ModelRun, text: str) -> str:
    """Return a text without the server's folders: only the last part of each path is left."""
    model = Path(run.model)
    folders = [model.parent] if model.is_absolute() else []
    return _FOLDERS.sub("", str(context.without_folders(text, *folders)))
