"""The tab that compares runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.comparing import (
    MAX_COMPARED,
    Wanted,
    comparison,
    comparison_records,
    recorded_runs,
)
from hdbench.space.tabs import shared
from hdbench.space.texts import Say, reason
from hdbench.space.views.report_files import downloads
from hdbench.space.views.summary import problem


def compare_tab(context: SpaceContext, say: Say, benchmark: gr.Dropdown) -> None:
    """Add the tab's controls to a `gr.Blocks`.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.
    """
    gr.Markdown(say("compare_intro"))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            files = shared.field(gr.File, say, "compare_files", file_count="multiple", height=150)
            gr.Markdown(say("file_info"))
            several: dict[str, Any] = {"multiselect": True, "max_choices": MAX_COMPARED}
            offered = _offer(context, context.first)
            recorded = shared.field(
                gr.Dropdown, say, "compare_recorded", value=[], **several, **offered
            )
            looks: dict[str, Any] = {"variant": "primary", "elem_classes": shared.STARTS}
            start = shared.button(say, "compare_start", elem_id="compare", **looks)
            with gr.Accordion(say("advanced"), open=False):
                protocol = shared.protocol_choice(say)
        with gr.Column(scale=3, min_width=300):
            bar = gr.HTML(elem_id="compare-progress", min_height=60)
            output = gr.HTML(elem_id="comparison", elem_classes=shared.RESULT)
            figures = shared.download_button(say, "compare_json", "compare-json")

    def offer(benchmark: str, files: list[str] | None, chosen: list[str] | None) -> dict[str, Any]:
        offered = _offer(context, benchmark, whole=bool(files))
        still = {folder for _, folder in offered["choices"]}
        return gr.update(**offered, value=[folder for folder in chosen or () if folder in still])

    def view(
        values: shared.Given, request: gr.Request, progress: gr.Progress = shared.BAR
    ) -> Iterator[list[Any]]:
        language = shared.language_of_visitor(request)
        paths = [Path(file) for file in values[files] or ()]
        choices = (values[benchmark], paths, values[recorded] or [], values[protocol])
        try:
            with downloads() as folder:
                task = (comparison, context, Wanted(*choices, language), folder)
                for message in shared.shown_work(progress, *task):
                    yield [message.page, shared.download(message.file)]
        except HdbenchError as error:
            message = problem(reason(error, language), language, "compare_error")
            yield [message, shared.download(None)]

    gr.on(
        [benchmark.change, files.change],
        offer,
        [benchmark, files, recorded],
        recorded,
        **shared.HIDDEN,
    )
    inputs: set[Block] = {benchmark, files, recorded, protocol}
    start.click(
        view, inputs, [output, figures], show_progress_on=bar, **shared.QUEUED, **shared.PRIVATE
    )


def _offer(context: SpaceContext, benchmark: str, *, whole: bool = False) -> dict[str, Any]:
    """Return the recorded runs to choose from: with an upload only those over all items."""
    runs = recorded_runs(context, benchmark)
    choices = [(run.label, run.folder) for run in runs if run.whole or not whole]
    return {"choices": choices, "visible": bool(runs)}


def compare_api(context: SpaceContext) -> None:
    """Add the endpoint `/compare` to a `gr.Blocks`.

    Args:
        context: the Space's context.
    """

    def compare(
        request: gr.Request,
        benchmark: str,
        files: list[str] | None,
        recorded: list[str] | None = None,
        protocol: str = "documented",
    ) -> dict[str, Any]:
        """Compare runs in pairs; the comparisons are those that hdbench compare --json writes."""
        wanted = Wanted(benchmark, [Path(file) for file in files or ()], recorded or [], protocol)
        return {"comparisons": shared.for_program(request, comparison_records, context, wanted)}

    # Not gr.api: to that, gradio_client sends a file's local path, and uploads nothing.
    with gr.Row(visible=False):
        several: dict[str, Any] = {"multiselect": True, "allow_custom_value": True}
        inputs = [
            gr.Textbox(label="Benchmark"),
            gr.File(label="Files", file_count="multiple"),
            gr.Dropdown([], value=[], label="Recorded runs", **several),
            gr.Textbox("documented", label="Protocol"),
        ]
        output = gr.JSON(label="Comparison")
        gr.Button("compare").click(compare, inputs, output, api_name="compare", **shared.QUEUED)
