"""The tab that scores a file."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr
from gradio.components import Component

from hdbench.answers.answers import UnknownIdsError
from hdbench.evaluation.runs import recognized
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, records
from hdbench.space.tabs import shared
from hdbench.space.texts import Say, reason, text
from hdbench.space.views.example import write_example
from hdbench.space.views.first_look import FirstLooks
from hdbench.space.views.summary import problem

FIRST_LOOK = "first_look_html"
"""The key of the first benchmark's first look among the texts."""

_PRIMARY = """(file) => [file, !file].map((is_primary) => (
  {__type__: "update", variant: is_primary ? "primary" : "secondary"}))"""
"""The primary button: the example's, until there is a file."""

_PUBLISHED = {"name", "title", "version", "metric", "headline", "higher_is_better", "licence"}
"""The keys of a benchmark in the answer to programs."""


def score_tab(
    context: SpaceContext,
    say: Say,
    benchmark: gr.Dropdown,
    first_looks: FirstLooks,
) -> None:
    """Add the tab's controls to a `gr.Blocks`.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.
        first_looks: the view of each benchmark before anything is scored.
    """
    with gr.Row(elem_id="scoring"):
        # On a phone these are one above the other, in this order.
        with gr.Column(elem_id="first-look"):
            look = gr.HTML(say(FIRST_LOOK))
        with gr.Column(elem_id="scoring-controls"):
            file = gr.File(label=say("file"), elem_id="file", height=150)
            looks: dict[str, Any] = {"elem_classes": shared.STARTS, "size": "md", "min_width": 180}
            with gr.Row():
                score = shared.button(say, "score", **looks)
                example = shared.button(say, "example", variant="primary", **looks)
            gr.Markdown(say("file_info"))
            with gr.Accordion(say("advanced"), open=False):
                protocol = shared.protocol_choice(say)
        with gr.Column(elem_id="scored"):
            bar = gr.HTML(elem_id="progress", min_height=60)
            first = gr.HTML(elem_id="first", elem_classes=shared.RESULT)
            elsewhere = gr.Button(
                visible=False, variant="primary", elem_id="elsewhere", elem_classes=shared.STARTS
            )
            run = shared.field(gr.Dropdown, say, "run", choices=[], visible=False)
            with gr.Row(**shared.DOWNLOAD_ROW):
                files = shared.download_buttons(say)
    report = gr.HTML(elem_id="report")
    target = gr.State(time_to_live=context.keep_seconds)
    settings: list[Component] = [protocol, run]  # as in `Upload`

    def view(
        values: shared.Given, request: gr.Request, progress: gr.Progress = shared.BAR
    ) -> Iterator[list[Any]]:
        path = Path(values[file] or "")
        upload = Upload(values[benchmark], path, *(values[setting] for setting in settings))
        language = shared.language_of_visitor(request)
        try:
            for outputs in shared.result_views(context, upload, language, progress):
                yield [None, gr.update(visible=False), *outputs]
        except UnknownIdsError as error:
            name, shown, message = _elsewhere(context, upload, error, language)
            yield [name, shown, *shared.refused_view(message)]

    def example_file(benchmark: str) -> Iterator[str]:
        with TemporaryDirectory() as folder:
            yield str(write_example(context.benchmark(benchmark), Path(folder)))

    def first_look(benchmark: str, request: gr.Request) -> str:
        return first_looks.html(benchmark, shared.language_of_visitor(request))

    scoring: dict[str, Any] = {
        "fn": view,
        "inputs": {benchmark, file, *settings},
        "outputs": [target, elsewhere, first, run, report, *files],
        "show_progress_on": bar,
        **shared.STARTED,
    }
    score.click(**scoring)
    run.input(**scoring)
    example.click(example_file, benchmark, file, **shared.PRIVATE).success(**scoring)
    elsewhere.click(lambda name: name, target, benchmark, **shared.HIDDEN).success(**scoring)
    benchmark.change(first_look, benchmark, look, **shared.HIDDEN)
    # In the browser: nobody has to wait for a color.
    file.change(None, file, [score, example], js=_PRIMARY, **shared.HIDDEN)


def _elsewhere(
    context: SpaceContext, upload: Upload, error: UnknownIdsError, language: str
) -> tuple[str | None, dict[str, Any], str]:
    """Return the benchmark that has the ids of a file, a button for it, and the question."""
    name = recognized(error.ids, context.ids)
    if name is None:
        return None, gr.update(visible=False), problem(reason(error, language), language)
    titles_by_name = {name: title for title, name in context.choices(language)}
    titles = {"other": titles_by_name[name], "chosen": titles_by_name[upload.benchmark]}
    question = text("elsewhere_which", language, file=upload.path.name, **titles)
    label = text("elsewhere_button", language, **titles)
    return name, gr.update(visible=True, value=label), problem(question, language, "elsewhere")


def _for_client(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without a path: Gradio's client would take it for a file, and fetch it."""
    return {
        **{key: value for key, value in record.items() if key != "answers"},
        "answers_sha256": record["answers"]["sha256"],
    }


def score_api(context: SpaceContext) -> None:
    """Add the endpoints `/score` and `/benchmarks` to a `gr.Blocks`.

    Args:
        context: the Space's context.
    """

    def score(
        request: gr.Request, benchmark: str, file: str | None, protocol: str = "documented"
    ) -> dict[str, Any]:
        """Score a file of answers; the records are those that hdbench score --json writes."""
        upload = Upload(benchmark, Path(file or ""), protocol)
        results = shared.for_program(request, records, context, upload)
        return {"runs": [_for_client(record) for record in results]}

    def benchmarks() -> list[dict[str, Any]]:
        """Return the benchmarks that answers can be scored against."""
        specs = [benchmark.spec for benchmark in context.benchmarks.values()]
        return [spec.model_dump(include=_PUBLISHED) for spec in specs]

    # Not gr.api: to that, gradio_client sends a file's local path, and uploads nothing.
    with gr.Row(visible=False):
        inputs = [
            gr.Textbox(label="Benchmark"),
            gr.File(label="File"),
            gr.Textbox("documented", label="Protocol"),
        ]
        output = gr.JSON(label="Result")
        gr.Button("score").click(score, inputs, output, api_name="score", **shared.QUEUED)
        gr.Button("benchmarks").click(benchmarks, None, output, api_name="benchmarks")
