"""The tab that runs a local model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr
from gradio.components import Component

from hdbench.answers.answer import WrittenAnswer, answers_jsonl
from hdbench.benchmarks.titles import FieldTitles
from hdbench.errors import HdbenchError, escaped
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.space.context import SpaceContext, uploads
from hdbench.space.jobs import running_model
from hdbench.space.jobs.running_model import GOING, Ended, ModelRun, RunState
from hdbench.space.jobs.scoring import Upload
from hdbench.space.tabs import shared
from hdbench.space.texts import Say, TextError, reason, text
from hdbench.space.views.summary import problem, render

FORMS = [".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp"]
"""The extensions that a browser offers; the content decides what a file is."""

ITEMS = 5
"""Suggested number of items."""

MAX_TEXT = 5_000
"""Maximum characters of an answer that are shown; the download has them all."""

MAX_FIELDS = 200
"""Maximum fields of a record that are shown."""


def run_tab(context: SpaceContext, say: Say, benchmark: gr.Dropdown) -> None:
    """Add the tab's controls to a `gr.Blocks`.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.

    Raises:
        HdbenchError: two of the models cannot be told apart.
    """
    names = list(running_model.model_names(context.models))
    most = context.max_run_items
    first_prompt = running_model.prompt_of(context, context.first)
    looks: dict[str, Any] = {"value": first_prompt, "lines": 6, "max_lines": 20}
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            model = shared.field(gr.Dropdown, say, "run_model", choices=names, value=names[0])
            with gr.Tab(say("run_tab_items")):
                suggested: dict[str, Any] = {"value": min(ITEMS, most), "step": 1}
                items = shared.field(
                    gr.Slider, say, "run_items", minimum=1, maximum=most, **suggested
                )
                with gr.Accordion(say("run_prompt"), open=False):
                    prompt = shared.field(gr.Textbox, say, "run_prompt", interactive=False, **looks)
                start = shared.button(say, "run_start", variant="primary")
            with gr.Tab(say("run_tab_image")):
                image = shared.field(gr.File, say, "run_image", file_types=FORMS, height=150)
                looks |= {"label": say("run_prompt"), "max_length": running_model.MAX_PROMPT}
                own_prompt = shared.field(gr.Textbox, say, "run_own_prompt", **looks)
                start_image = shared.button(say, "run_start_image", variant="primary")
        with gr.Column(scale=3, min_width=300):
            bar = gr.HTML(elem_id="run-bar", min_height=60)
            with gr.Column(elem_id="run-now"):  # on a phone, always in sight
                status = gr.HTML(elem_id="run-status")
                cancel = shared.button(say, "run_cancel", visible=False)
            first = gr.HTML(elem_id="run-first")
            with gr.Row(**shared.DOWNLOAD_ROW):
                lines = shared.download_button(
                    say, "run_download", "run-download-jsonl", min_width=120
                )
                files = shared.download_buttons(say, "run-")
            answers = gr.HTML(elem_id="run-answers")
    report = gr.HTML(elem_id="run-report")
    runs = _VisitorRuns(context)

    def on_items(
        values: shared.Given, request: gr.Request, progress: gr.Progress = shared.BAR
    ) -> Iterator[list[Any]]:
        choices = (values[model], values[benchmark], values[items])
        run = running_model.run_on_items
        yield from runs.views(lambda folder: run(context, *choices, folder), request, progress)

    def on_image(
        values: shared.Given, request: gr.Request, progress: gr.Progress = shared.BAR
    ) -> Iterator[list[Any]]:
        def plan(folder: Path) -> ModelRun:
            if not values[image]:
                raise TextError("run_choose_image")
            choices = (values[model], values[benchmark], Path(values[image]))
            return running_model.run_on_image(context, *choices, values[own_prompt] or "", folder)

        yield from runs.views(plan, request, progress)

    outputs: list[Component] = [status, cancel, first, lines, *files, answers, report]
    started: dict[str, Any] = {"outputs": outputs, "show_progress_on": bar, **shared.PRIVATE}
    started |= {"concurrency_id": "model", "concurrency_limit": 1}
    start.click(on_items, {model, benchmark, items}, **started)
    start_image.click(on_image, {model, benchmark, image, own_prompt}, **started)
    cancel.click(runs.stop, queue=False, **shared.PRIVATE)
    benchmark.change(
        lambda benchmark: [running_model.prompt_of(context, benchmark)] * 2,
        benchmark,
        [prompt, own_prompt],
        queue=False,
        **shared.HIDDEN,
    )


class _VisitorRuns:
    """The runs that visitors watch."""

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._watch = running_model.with_gpu(context.max_run_seconds)
        self._sessions: dict[Path, str] = {}  # folder of a run → its visitor

    def views(
        self, plan: Callable[[Path], ModelRun], request: gr.Request, progress: gr.Progress
    ) -> Iterator[list[Any]]:
        """Yield the outputs of a run while it goes on, and when it has ended."""
        language = shared.language_of_visitor(request)
        try:
            with self._folder(request.session_hash or "") as folder:
                run = plan(folder)._replace(language=language)
                yield from self._going(run, language, progress)
        except HdbenchError as error:
            message = problem(reason(error, language), language, "run_error")
            yield _outputs(message, going=False)

    def stop(self, request: gr.Request) -> None:
        """Cancel the runs of the page that a request comes from."""
        for folder, session in list(self._sessions.items()):
            if session == (request.session_hash or ""):
                (folder / GOING).unlink(missing_ok=True)

    @contextmanager
    def _folder(self, session: str) -> Iterator[Path]:
        """Make the folder of a run, which can be stopped until it has ended."""
        # Next to Gradio's own folder, all of which is served; deleted with it in the end.
        with TemporaryDirectory(prefix="running-", dir=uploads().parent) as name:
            folder = Path(name)
            (folder / GOING).touch()
            self._sessions[folder] = session
            try:
                yield folder
            finally:
                del self._sessions[folder]

    def _going(self, run: ModelRun, language: str, progress: gr.Progress) -> Iterator[list[Any]]:
        """Yield the outputs of a run while it goes on, and when it has ended."""
        questions = {question.id: question for question in run.questions}
        pictures: dict[str, str | None] = {}
        status, answers, count = "", "", 0
        state = RunState([], len(questions))
        with closing(running_model.ask(self._context, run, self._watch)) as states:
            for state in states:
                new = [questions[answer["id"]] for answer in state.answers[count:]]
                if new:
                    count += len(new)
                    pictures |= {
                        question.id: running_model.picture_of(question) for question in new
                    }
                    answers = run_answers(state.answers, pictures, language)
                before, status = status, run_status(state, language, self._context.max_run_seconds)
                if status != before:
                    yield _outputs(status, going=state.ended is None, answers=answers)
        if not state.answers:
            return
        with TemporaryDirectory() as scratch:  # Gradio copies its files to its own folder
            path = Path(scratch) / f"{run.path.name}-answers.jsonl"
            path.write_bytes(answers_jsonl(state.answers))
            ended = partial(_outputs, status, going=False, answers=answers, lines=path)
            if run.own_image:
                record = running_model.fields_of(run.benchmark, state.answers[0].get("text") or "")
                titles = run.benchmark.field_titles(language)
                yield ended(first=run_record(record, language, titles))
                return
            upload = Upload(run.benchmark.spec.name, run.path)
            views = shared.result_views(self._context, upload, language, progress)
            for first, _, report, *files in views:
                yield ended(first=first, report=report, files=files)


def _outputs(
    status: str,
    *,
    going: bool,
    answers: str = "",
    lines: Path | None = None,
    first: str = "",
    report: str = "",
    files: Sequence[Any] = (),
) -> list[Any]:
    """Return the outputs of the tab, in their order."""
    files = files or [shared.download(None)] * len(shared.DOWNLOADS)
    cancel = gr.update(visible=going)
    return [status, cancel, first, shared.download(lines), *files, answers, report]


def run_status(state: RunState, language: str, limit: float) -> str:
    """Return the progress of a run, or the reason why it ended, as HTML.

    Args:
        state: the run.
        language: the interface's language.
        limit: maximum seconds that it may take.
    """
    done = len(state.answers)
    counts = {"done": done, "total": state.total}
    times = {"elapsed": duration(state.elapsed), "limit": duration(limit)}
    if state.ended is None:
        key = "run_going" if done or state.now else "run_loading"
    elif done or state.ended == Ended.FAILED:
        key = f"run_{state.ended}"
    else:
        key = f"run_{state.ended}_none"
    return render(
        "run_status.html",
        language,
        line=text(key, language, **counts, **times),
        left=None if state.left is None else text("run_left", language, left=duration(state.left)),
        elapsed=text("run_elapsed", language, **times),
        now=cut(state.now),
        ended=state.ended,
        problem=cut(state.problem, MAX_MESSAGE),
        **counts,
    )


def run_answers(
    answers: Sequence[WrittenAnswer], pictures: Mapping[str, str | None], language: str
) -> str:
    """Return answers as HTML, the last one first: untrusted text is escaped.

    Args:
        answers: lines of `answers.jsonl`.
        pictures: id → a small picture as a data URI.
        language: the interface's language.
    """
    return render(
        "run_answers.html",
        language,
        answers=answers[::-1],
        pictures=pictures,
        cut=lambda value: cut(str(value), MAX_TEXT),
        plain=escaped,  # in attributes, which cannot have markup
    )


def run_record(fields: Sequence[tuple[str, str]], language: str, titles: FieldTitles) -> str:
    """Return the fields of a record, by their titles, as HTML: untrusted text is escaped."""
    few = [(cut(path), cut(value, MAX_TEXT)) for path, value in fields[:MAX_FIELDS]]
    more = len(fields) - len(few)
    return render("run_record.html", language, fields=few, more=more, titles=titles)


def duration(seconds: float) -> str:
    """Return a duration for readers.

    Example:
        >>> duration(42.4), duration(300)
        ('42 s', '5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    return " ".join([f"{minutes} min"] * (minutes > 0) + [f"{rest} s"] * (rest > 0 or not minutes))
