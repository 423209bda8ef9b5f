"""The tab that runs a local model."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gradio as gr
from gradio.components import Component

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.running_model import (
    GOING,
    MAX_PROMPT,
    ModelRun,
    Progress,
    Watch,
    as_jsonl,
    ask,
    fields_of,
    model_names,
    picture_of,
    prompt_of,
    run_on_image,
    run_on_items,
    still_wanted,
    with_gpu,
)
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.turns import Turn, Turns
from hdbench.space.jobs.working import Waits, Workers
from hdbench.space.server.asking import uploads
from hdbench.space.tabs.result_view import (
    DOWNLOAD_ROW,
    DOWNLOADS,
    download_buttons,
    result_views,
)
from hdbench.space.tabs.run_view import run_answers, run_line, run_record, run_status, time_left
from hdbench.space.tabs.telling import Visitor, refusal, visitor_of, waits
from hdbench.space.texts import Say, TextError, text

FORMS = [".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp"]
"""The extensions that a browser offers; the content decides what a file is."""

ITEMS = 5
"""How many items are suggested."""

TOLD_EVERY = 2.0
"""Seconds after which those who wait for their run are told how many are ahead of them. Gradio sees
only then whether somebody has left."""


def run_tab(context: SpaceContext, workers: Workers, say: Say, benchmark: gr.Dropdown) -> None:
    """The tab's controls, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that score what a model answered.
        say: the texts.
        benchmark: the choice of all tabs: what is asked.

    Raises:
        HdbenchError: two of the models cannot be told apart.
    """
    names = list(model_names(context.models))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            asked = _asked(context, names, say)
        with gr.Column(scale=3, min_width=300):
            bar = gr.HTML(elem_id="run-bar", min_height=60)
            shown = _shown(say)
    report = gr.HTML(elem_id="run-report")
    watch = with_gpu(context.max_run_seconds)
    turns = Turns(1, context.max_waiting, context.max_per_visitor)
    sessions: dict[Path, str] = {}  # the folder of a run that waits or goes on → whose it is

    def views(
        plan: Callable[[Path], ModelRun], request: gr.Request, progress: gr.Progress
    ) -> Iterator[list[Any]]:
        visitor = visitor_of(request)
        session = request.session_hash or ""
        try:
            with turns.turn(visitor.address) as turn, _folder(sessions, session) as folder:
                yield from _waiting(turns, turn, folder, visitor.language)
                if not still_wanted(folder):
                    line = text("run_stopped_none", visitor.language)
                    yield _outputs(run_line(line, visitor.language), going=False)
                    return
                run = plan(folder)._replace(language=visitor.language)
                yield from _views(workers, context, run, watch, visitor, progress)
        except HdbenchError as error:
            yield _outputs(refusal(error, visitor.language, "run_error"), going=False)

    def on_items(
        model: str,
        benchmark: str,
        items: float,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  so Gradio knows that one is wanted
    ) -> Iterator[list[Any]]:
        def plan(folder: Path) -> ModelRun:
            return run_on_items(context, model, benchmark, items, folder)

        yield from views(plan, request, progress)

    def on_image(  # noqa: PLR0917  Gradio gives the inputs in their order
        model: str,
        benchmark: str,
        image: str | None,
        prompt: str | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[list[Any]]:
        def plan(folder: Path) -> ModelRun:
            if not image:
                raise TextError("run_choose_image")
            return run_on_image(context, model, benchmark, Path(image), prompt or "", folder)

        yield from views(plan, request, progress)

    def stop(request: gr.Request) -> None:
        for folder, session in list(sessions.items()):
            if session == (request.session_hash or ""):
                (folder / GOING).unlink(missing_ok=True)

    def prompts(benchmark: str) -> list[str]:
        return [prompt_of(context, benchmark)] * 2

    private: dict[str, Any] = {"api_visibility": "private"}
    shared: dict[str, Any] = {
        "outputs": [*shown.outputs, report],
        "show_progress_on": bar,
        **private,
    }
    model = asked.model
    asked.start.click(on_items, [model, benchmark, asked.items], **shared)
    of_image = [model, benchmark, asked.image, asked.own_prompt]
    asked.start_image.click(on_image, of_image, **shared)
    shown.cancel.click(stop, queue=False, **private)
    both = [asked.prompt, asked.own_prompt]
    benchmark.change(prompts, benchmark, both, queue=False, show_progress="hidden", **private)


class _Asked(NamedTuple):
    """What a visitor chooses."""

    model: gr.Dropdown
    items: gr.Slider
    prompt: gr.Textbox
    start: gr.Button
    image: gr.File
    own_prompt: gr.Textbox
    start_image: gr.Button


def _asked(context: SpaceContext, models: list[str], say: Say) -> _Asked:
    prompt = prompt_of(context, context.first)
    model = gr.Dropdown(
        models,
        value=models[0],
        label=say("run_model"),
        info=say("run_model_info"),
        elem_id="run-model",
    )
    looks: dict[str, Any] = {"value": prompt, "lines": 6, "max_lines": 20}
    with gr.Tab(say("run_tab_items")):
        items = gr.Slider(
            1,
            context.max_run_items,
            value=min(ITEMS, context.max_run_items),
            step=1,
            label=say("run_items"),
            info=say("run_items_info"),
            elem_id="run-items",
        )
        with gr.Accordion(say("run_prompt"), open=False):
            shown_prompt = gr.Textbox(
                interactive=False,
                label=say("run_prompt"),
                info=say("run_prompt_info"),
                elem_id="run-prompt",
                **looks,
            )
        start = gr.Button(say("run_start"), variant="primary", elem_id="run-start")
    with gr.Tab(say("run_tab_image")):
        image = gr.File(label=say("run_image"), file_types=FORMS, elem_id="run-image", height=150)
        own_prompt = gr.Textbox(
            max_length=MAX_PROMPT,
            label=say("run_prompt"),
            info=say("run_own_prompt_info"),
            elem_id="run-own-prompt",
            **looks,
        )
        start_image = gr.Button(
            say("run_start_image"), variant="primary", elem_id="run-start-image"
        )
    return _Asked(model, items, shown_prompt, start, image, own_prompt, start_image)


class _Shown(NamedTuple):
    """What a visitor sees of a run, besides its report."""

    status: gr.HTML
    cancel: gr.Button
    first: gr.HTML
    lines: gr.DownloadButton
    files: list[gr.DownloadButton]
    answers: gr.HTML

    @property
    def outputs(self) -> list[Component]:
        """All of it, in the order of `_outputs`, except the report."""
        return [self.status, self.cancel, self.first, self.lines, *self.files, self.answers]


def _shown(say: Say) -> _Shown:
    with gr.Column(elem_id="run-now"):  # on a phone, always in sight
        status = gr.HTML(elem_id="run-status")
        cancel = gr.Button(say("run_cancel"), visible=False, elem_id="run-cancel")
    first = gr.HTML(elem_id="run-first")
    with gr.Row(**DOWNLOAD_ROW):
        lines = gr.DownloadButton(
            say("run_download"),
            visible=False,
            elem_id="run-download-jsonl",
            size="sm",
            min_width=120,
        )
        files = download_buttons(say, "run-")
    answers = gr.HTML(elem_id="run-answers")
    return _Shown(status, cancel, first, lines, files, answers)


def _waiting(turns: Turns, turn: Turn, folder: Path, language: str) -> Iterator[list[Any]]:
    """The outputs while a run waits for its turn, until it is cancelled."""
    told = time.monotonic() - TOLD_EVERY
    while still_wanted(folder) and (before := turns.wait(turn)):
        if time.monotonic() - told >= TOLD_EVERY:
            told = time.monotonic()
            line = waits(Waits(before - 1, again=False), language)
            yield _outputs(run_line(line, language), going=True)


def _views(  # noqa: PLR0917  what a visitor asked for, and where it is shown
    workers: Workers,
    context: SpaceContext,
    run: ModelRun,
    watch: Watch,
    visitor: Visitor,
    progress: gr.Progress,
) -> Iterator[list[Any]]:
    """The outputs of a run while it goes on, and when it has ended."""
    total, limit, language = len(run.questions), context.max_run_seconds, visitor.language
    begun = time.monotonic()
    came: list[float] = []
    pictures: dict[str, str | None] = {}
    questions = {question.id: question for question in run.questions}
    status = answers = ""
    state = Progress([])
    with closing(ask(context, run, watch)) as states:
        for state in states:
            now = time.monotonic()
            if new := state.answers[len(came) :]:
                came += [now] * len(new)
                pictures |= {each["id"]: picture_of(questions[each["id"]]) for each in new}
                answers = run_answers(state.answers, pictures, language)
            left = time_left(state.answers, came, total, now)
            before = status
            status = run_status(state, total, language, elapsed=now - begun, left=left, limit=limit)
            if status != before:
                yield _outputs(status, going=state.ended is None, answers=answers)
    if not state.answers:
        return
    with TemporaryDirectory() as scratch:  # of which Gradio copies files to its own folder
        path = Path(scratch) / f"{run.path.name}-answers.jsonl"
        path.write_bytes(as_jsonl(state.answers))
        ended = partial(_outputs, status, going=False, answers=answers, lines=str(path))
        if run.own_image:
            record = fields_of(run.benchmark, state.answers[0].get("text", ""))
            titles = run.benchmark.field_titles(language)
            yield ended(first=run_record(record, language, titles))
            return
        upload = Upload(run.benchmark.spec.name, run.path)
        views = result_views(workers, context, upload, None, visitor, progress)
        for first, _, report, *files in views:
            yield ended(first=first, report=report, files=files)


def _outputs(
    status: str,
    *,
    going: bool,
    answers: str = "",
    lines: str | None = None,
    first: str = "",
    report: str = "",
    files: Sequence[Any] = (),
) -> list[Any]:
    """What each of `_Shown.outputs` gets, and then the report."""
    hidden = gr.update(visible=False, value=None)
    return [
        status,
        gr.update(visible=going),
        first,
        gr.update(visible=lines is not None, value=lines),
        *(files or [hidden] * len(DOWNLOADS)),
        answers,
        report,
    ]


@contextmanager
def _folder(sessions: dict[Path, str], session: str) -> Iterator[Path]:
    """The folder of a run, which is in `sessions` until the run has ended."""
    # Beside Gradio's own folder, which serves whatever is requested; deleted with it at the end.
    with TemporaryDirectory(prefix="running-", dir=uploads().parent) as name:
        folder = Path(name)
        (folder / GOING).touch()
        sessions[folder] = session
        try:
            yield folder
        finally:
            del sessions[folder]
