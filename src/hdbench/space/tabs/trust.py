"""The tab that shows a decision of `hdbench trust`: how much of a collection must be checked."""

from collections.abc import Iterator
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError
from hdbench.output.report.items import cut
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.deciding import (
    ExampleDecision,
    decide_example,
    write_example,
    write_uploaded,
)
from hdbench.space.jobs.working import TaskProcesses
from hdbench.space.tabs import shared
from hdbench.space.texts import Say, text
from hdbench.space.views.report_files import keep_report
from hdbench.space.views.summary import frame

_OURS = "hdbench"
"""The address that the example is decided for; no visitor has one like it."""


def trust_tab(context: SpaceContext, workers: TaskProcesses, say: Say, tab: gr.Tab) -> None:
    """Add the tab's controls to its `gr.Tab`: the example is decided when it is first opened.

    Args:
        context: the Space's context.
        workers: the processes that decide.
        say: the texts.
        tab: the tab.
    """
    example = ExampleDecision(context, partial(workers.result, _OURS, decide_example, context))
    gr.Markdown(say("trust_intro"))
    with gr.Row():
        with gr.Column(min_width=300):
            file = gr.File(label=say("trust_file"), elem_id="decision-file", height=140)
        with gr.Column(min_width=300):
            gr.Markdown(say("trust_file_info"))
            page_button = shared.download_button(say, "trust_download", "decision-page")
    bar = gr.HTML(elem_id="decision-progress", min_height=60)
    output = gr.HTML(elem_id="decision")

    def view(
        file: str | None, request: gr.Request, progress: gr.Progress = shared.BAR
    ) -> Iterator[list[Any]]:
        visitor = shared.visitor_of(request)
        language = visitor.language
        kind = "uploaded" if file else "example"
        note = text(f"trust_{kind}", language, file=cut(Path(file or "").name))
        try:
            with TemporaryDirectory() as folder:
                page = Path(folder) / "decision.html"
                if file:
                    task = (write_uploaded, Path(file), page, language)
                    for _ in shared.shown_work(workers, visitor, progress, *task):
                        pass
                else:
                    work = example.work()
                    if work is None:
                        yield ["", shared.download(None)]
                        return
                    while not wait([work], timeout=0.3).done:
                        progress(None, desc=text("trust_deciding", language))
                    write_example(context, work.result(), page, language)
                html = frame(keep_report(page, language), language, f"trust_{kind}_title", note)
                # Gradio copies the file before this goes on, where it is deleted.
                yield [html, shared.download(page)]
        except HdbenchError as error:
            yield [shared.refusal(error, language, "trust_error"), shared.download(None)]

    gr.on(
        [tab.select, file.upload, file.clear],
        view,
        file,
        [output, page_button],
        show_progress_on=bar,
        trigger_mode="always_last",  # a file may be dropped while the example is being decided
        **shared.PRIVATE,
    )
