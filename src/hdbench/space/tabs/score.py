"""The tab that scores a file."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gradio as gr
from gradio.components import Component

from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.recognition import recognized
from hdbench.reading.answers import UnknownIdsError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.held_out import Looks
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.submitting import Scored
from hdbench.space.jobs.tasks import records
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.result_view import (
    DOWNLOAD_ROW,
    download_buttons,
    refused_view,
    result_views,
)
from hdbench.space.tabs.settings import protocol_choice
from hdbench.space.tabs.submit_panel import submit_panel
from hdbench.space.tabs.telling import RESULT, STARTS, refusal, visitor_of
from hdbench.space.texts import Say, TextError, reason, text
from hdbench.space.views.example import write_example
from hdbench.space.views.first_look import FirstLooks
from hdbench.space.views.summary import problem

FIRST_LOOK = "first_look_html"
"""The key of the first benchmark's first look among the texts."""

_PRIMARY = """(file) => [file, !file].map((is_primary) => (
  {__type__: "update", variant: is_primary ? "primary" : "secondary"}))"""
"""Which button comes first: the example's, until there is a file."""

FORMS = [".jsonl", ".json", ".csv", ".tsv", ".txt", ".xlsx", ".zip", ".gz"]
"""The extensions that a browser offers; the content decides what a file is."""


def score_tab(
    context: SpaceContext,
    workers: Workers,
    say: Say,
    benchmark: gr.Dropdown,
    first_looks: FirstLooks,
) -> None:
    """The tab's controls, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that score.
        say: the texts.
        benchmark: the choice of all tabs.
        first_looks: what is seen of each benchmark before anything is scored.
    """
    looks = Looks(context)
    with gr.Row(elem_id="scoring"):
        # On a phone these are one above the other, in this order.
        with gr.Column(elem_id="first-look"):
            look = gr.HTML(say(FIRST_LOOK))
        with gr.Column(elem_id="scoring-controls"):
            chosen = _controls(say)
        with gr.Column(elem_id="scored"):
            bar = gr.HTML(elem_id="progress", min_height=60)
            first = gr.HTML(elem_id="first", elem_classes=RESULT)
            elsewhere = gr.Button(
                visible=False, variant="primary", elem_id="elsewhere", elem_classes=STARTS
            )
            run = gr.Dropdown(
                [], visible=False, label=say("run"), info=say("run_info"), elem_id="run"
            )
            with gr.Row(**DOWNLOAD_ROW):
                files = download_buttons(say)
            repository = context.results_repository
            scored = submit_panel(context, workers, say, repository) if repository else None
    report = gr.HTML(elem_id="report")
    other = gr.State(time_to_live=context.keep_seconds)
    file, score, example = chosen.file, chosen.score, chosen.example

    def view(  # noqa: PLR0917  Gradio gives the inputs in their order
        benchmark: str,
        file: str | None,
        protocol: str,
        strict: bool,
        reread: bool,
        run: str | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  so Gradio knows that one is wanted
    ) -> Iterator[list[Any]]:
        upload = Upload(benchmark, Path(file or ""), protocol, strict, reread)
        visitor = visitor_of(request)
        try:
            for outputs in result_views(workers, context, upload, run, visitor, progress, looks):
                done = Scored(upload, run) if outputs[2] else None
                yield [None, gr.update(visible=False), *outputs, *([done] if repository else [])]
        except UnknownIdsError as error:
            name, button, message = _elsewhere(context, upload, error, visitor.language)
            yield [name, button, *refused_view(message), *([None] if repository else [])]

    def example_file(benchmark: str) -> Iterator[str]:
        with TemporaryDirectory() as folder:
            yield str(write_example(context.benchmark(benchmark), Path(folder)))

    def first_look(benchmark: str, request: gr.Request) -> str:
        return first_looks.html(benchmark, visitor_of(request).language)

    shown: dict[str, Any] = {
        "fn": view,
        "inputs": [benchmark, file, *chosen.settings, run],
        "outputs": [
            *(other, elsewhere, first, run, report),
            *files,
            *([] if scored is None else [scored]),
        ],
        "show_progress_on": bar,
        "api_visibility": "private",
    }
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    score.click(**shown)
    run.input(**shown)
    example.click(example_file, benchmark, file, api_visibility="private").success(**shown)
    elsewhere.click(lambda name: name, other, benchmark, **private).success(**shown)
    benchmark.change(first_look, benchmark, look, **private)
    # In the browser: nobody has to wait for a colour.
    file.change(None, file, [score, example], js=_PRIMARY, **private)


class _Controls(NamedTuple):
    """What a visitor chooses."""

    file: gr.File
    score: gr.Button
    example: gr.Button
    settings: list[Component]


def _controls(say: Say) -> _Controls:
    file = gr.File(label=say("file"), elem_id="file", height=150)
    looks: dict[str, Any] = {"elem_classes": STARTS, "size": "md", "min_width": 180}
    with gr.Row():
        score = gr.Button(say("score"), elem_id="score", **looks)
        example = gr.Button(say("example"), variant="primary", elem_id="example", **looks)
    gr.Markdown(say("file_info"))
    with gr.Accordion(say("advanced"), open=False):
        protocol = protocol_choice(say)
        strict = gr.Checkbox(label=say("strict"), info=say("strict_info"))
        reread = gr.Checkbox(label=say("reread"), info=say("reread_info"))
    return _Controls(file, score, example, [protocol, strict, reread])


def _elsewhere(
    context: SpaceContext, upload: Upload, error: UnknownIdsError, language: str
) -> tuple[str | None, dict[str, Any], str]:
    """The benchmark that has the ids of a file, a button that scores it there, and the question."""
    name = recognized(error.ids, context.ids)
    if name is None:
        return None, gr.update(visible=False), refusal(error, language, "error")
    named = {each: title for title, each in context.choices_in(language)}
    titles = {"other": named[name], "chosen": named[upload.benchmark]}
    question = text("elsewhere_which", language, file=upload.path.name, **titles)
    label = text("elsewhere_button", language, **titles)
    return name, gr.update(visible=True, value=label), problem(question, language, "elsewhere")


def _for_client(record: dict[str, Any]) -> dict[str, Any]:
    """A record without a path: Gradio's client would take it for a file, and fetch it."""
    return {
        **{key: value for key, value in record.items() if key != "answers"},
        "answers_sha256": record["answers"]["sha256"],
    }


def score_api(context: SpaceContext, workers: Workers) -> None:
    """The endpoints `/score` and `/benchmarks`, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that score.
    """

    def score(
        request: gr.Request, benchmark: str, file: str | None, protocol: str = "documented"
    ) -> dict[str, Any]:
        """Score a file of answers; the records are those that hdbench score --json writes."""
        visitor = visitor_of(request)
        try:
            if file is None:
                raise TextError("not_uploaded")
            upload = Upload(benchmark, Path(file), protocol)
            found = workers.result(visitor.address, records, context, upload)
            return {"runs": [_for_client(record) for record in found]}
        except HdbenchError as error:
            told = escaped(reason(error, visitor.language))
            raise gr.Error(told, print_exception=False) from error

    def benchmarks() -> list[dict[str, Any]]:
        """The benchmarks that answers can be scored against."""
        return [
            {
                "name": name,
                "title": each.spec.title,
                "version": each.spec.version,
                "metric": each.spec.metric,
                "headline": each.spec.headline,
                "higher_is_better": each.spec.higher_is_better,
                "licence": each.spec.licence,
            }
            for name, each in context.benchmarks.items()
        ]

    # Not gr.api: to that, gradio_client sends a file's local path, and uploads nothing.
    with gr.Row(visible=False):
        inputs = [
            gr.Textbox(label="Benchmark"),
            gr.File(label="File"),
            gr.Textbox("documented", label="Protocol"),
        ]
        output = gr.JSON(label="Result")
        gr.Button("score").click(score, inputs, output, api_name="score")
        gr.Button("benchmarks").click(benchmarks, None, output, api_name="benchmarks")
