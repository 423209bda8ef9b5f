"""The tab that scores a file."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError, escaped
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.held_out import Looks
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.submitting import Scored
from hdbench.space.jobs.tasks import records
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.result_view import download_buttons, result_views
from hdbench.space.tabs.submit_panel import submit_panel
from hdbench.space.tabs.telling import visitor_of
from hdbench.space.texts import Say, TextError, reason
from hdbench.space.views.example import write_example

FORMS = [".jsonl", ".json", ".csv", ".tsv", ".txt", ".xlsx", ".zip", ".gz"]
"""The extensions that a browser offers; the content decides what a file is."""


def score_tab(context: SpaceContext, workers: Workers, say: Say) -> None:
    """The tab's controls, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that score.
        say: the texts.
    """
    names = context.choices
    looks = Looks(context)
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            benchmark = gr.Dropdown(
                names,
                value=names[0][1],
                label=say("benchmark"),
                info=say("benchmark_info"),
                elem_id="benchmark",
            )
            file = gr.File(label=say("file"), elem_id="file", height=150)
            gr.Markdown(say("file_info"))
            score = gr.Button(say("score"), variant="primary", elem_id="score")
            example = gr.Button(say("example"), elem_id="example")
            with gr.Accordion(say("advanced"), open=False):
                protocol = gr.Radio(
                    list(PROTOCOLS),
                    value="documented",
                    label=say("protocol"),
                    info=say("protocol_info"),
                )
                strict = gr.Checkbox(label=say("strict"), info=say("strict_info"))
                reread = gr.Checkbox(label=say("reread"), info=say("reread_info"))
        with gr.Column(scale=3, min_width=300):
            bar = gr.HTML(elem_id="progress", min_height=60)
            first = gr.HTML(elem_id="first")
            run = gr.Dropdown(
                [], visible=False, label=say("run"), info=say("run_info"), elem_id="run"
            )
            with gr.Row():
                files = download_buttons(say)
            repository = context.results_repository
            scored = submit_panel(context, workers, say, repository) if repository else None
    report = gr.HTML(elem_id="report")

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
        for outputs in result_views(workers, context, upload, run, visitor, progress, looks):
            done = Scored(upload, run) if outputs[2] else None
            yield outputs if scored is None else [*outputs, done]

    def example_file(benchmark: str) -> Iterator[str]:
        with TemporaryDirectory() as folder:
            yield str(write_example(context.benchmark(benchmark), Path(folder)))

    shown: dict[str, Any] = {
        "fn": view,
        "inputs": [benchmark, file, protocol, strict, reread, run],
        "outputs": [first, run, report, *files, *([] if scored is None else [scored])],
        "show_progress_on": bar,
        "api_visibility": "private",
    }
    score.click(**shown)
    run.input(**shown)
    example.click(example_file, benchmark, file, api_visibility="private").success(**shown)


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
