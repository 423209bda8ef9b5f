"""The tab that compares runs."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError, escaped
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.comparing import MAX_COMPARED, Wanted, recorded_runs
from hdbench.space.jobs.tasks import Compared, comparison, comparison_records
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.settings import protocol_choice
from hdbench.space.tabs.telling import RESULT, STARTS, refusal, show, visitor_of
from hdbench.space.texts import Say, reason


def compare_tab(context: SpaceContext, workers: Workers, say: Say, benchmark: gr.Dropdown) -> None:
    """The tab's controls, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that compare.
        say: the texts.
        benchmark: the choice of all tabs.
    """
    gr.Markdown(say("compare_intro"))
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            files = gr.File(
                label=say("compare_files"),
                file_count="multiple",
                elem_id="compare-files",
                height=150,
            )
            gr.Markdown(say("file_info"))
            recorded = gr.Dropdown(
                **_offer(context, context.first),
                value=[],
                multiselect=True,
                max_choices=MAX_COMPARED,
                label=say("compare_recorded"),
                info=say("compare_recorded_info"),
                elem_id="compare-recorded",
            )
            start = gr.Button(
                say("compare_start"), variant="primary", elem_id="compare", elem_classes=STARTS
            )
            with gr.Accordion(say("advanced"), open=False):
                protocol = protocol_choice(say)
        with gr.Column(scale=3, min_width=300):
            bar = gr.HTML(elem_id="compare-progress", min_height=60)
            shown = gr.HTML(elem_id="comparison", elem_classes=RESULT)
            download = gr.DownloadButton(
                say("compare_json"), visible=False, elem_id="compare-json", size="sm"
            )

    def offer(benchmark: str, files: list[str] | None, chosen: list[str] | None) -> dict[str, Any]:
        offered = _offer(context, benchmark, whole=bool(files))
        still = {folder for _, folder in offered["choices"]}
        return gr.update(**offered, value=[each for each in chosen or () if each in still])

    def view(  # noqa: PLR0917  Gradio gives the inputs in their order
        benchmark: str,
        files: list[str] | None,
        recorded: list[str] | None,
        protocol: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  so Gradio knows that one is wanted
    ) -> Iterator[list[Any]]:
        visitor = visitor_of(request)
        paths = [Path(file) for file in files or ()]
        wanted = Wanted(benchmark, paths, recorded or [], protocol, visitor.language)
        try:
            with TemporaryDirectory() as folder:
                task = (comparison, context, wanted, Path(folder))
                for told in workers.work(visitor.address, *task):
                    show(progress, told, visitor.language)
                    if isinstance(told, Compared):
                        # Gradio copies the file before this goes on, where it is deleted.
                        yield [told.page, gr.update(visible=True, value=str(told.file))]
        except HdbenchError as error:
            message = refusal(error, visitor.language, "compare_error")
            yield [message, gr.update(visible=False, value=None)]

    gr.on(
        [benchmark.change, files.change],
        offer,
        [benchmark, files, recorded],
        recorded,
        api_visibility="private",
        show_progress="hidden",
    )
    start.click(
        view,
        [benchmark, files, recorded, protocol],
        [shown, download],
        show_progress_on=bar,
        api_visibility="private",
    )


def _offer(context: SpaceContext, benchmark: str, *, whole: bool = False) -> dict[str, Any]:
    """The choice of recorded runs: with an upload only those over all items, like the upload."""
    runs = recorded_runs(context, benchmark)
    choices = [(run.label, run.folder) for run in runs if run.whole or not whole]
    return {"choices": choices, "visible": bool(runs)}


def compare_api(context: SpaceContext, workers: Workers) -> None:
    """The endpoint `/compare`, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        workers: the processes that compare.
    """

    def compare(
        request: gr.Request,
        benchmark: str,
        files: list[str] | None,
        recorded: list[str] | None = None,
        protocol: str = "documented",
    ) -> dict[str, Any]:
        """Compare runs in pairs; the comparisons are those that hdbench compare --json writes."""
        visitor = visitor_of(request)
        paths = [Path(file) for file in files or ()]
        wanted = Wanted(benchmark, paths, recorded or [], protocol)
        try:
            found = workers.result(visitor.address, comparison_records, context, wanted)
        except HdbenchError as error:
            told = escaped(reason(error, visitor.language))
            raise gr.Error(told, print_exception=False) from error
        return {"comparisons": found}

    # Not gr.api: to that, gradio_client sends a file's local path, and uploads nothing.
    with gr.Row(visible=False):
        inputs = [
            gr.Textbox(label="Benchmark"),
            gr.File(label="Files", file_count="multiple"),
            gr.Dropdown(
                [], value=[], multiselect=True, allow_custom_value=True, label="Recorded runs"
            ),
            gr.Textbox("documented", label="Protocol"),
        ]
        output = gr.JSON(label="Comparison")
        gr.Button("compare").click(
            compare,
            inputs,
            output,
            api_name="compare",
        )
