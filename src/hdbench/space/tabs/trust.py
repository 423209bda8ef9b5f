"""The tab that shows a decision of `hdbench trust`: how much of a collection must be checked."""

from collections.abc import Iterator
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError
from hdbench.report.items import cut
from hdbench.report.trust_page import write_decision_page
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.deciding import Example
from hdbench.space.jobs.tasks import example_decision, uploaded_decision
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.telling import refusal, show, visitor_of
from hdbench.space.texts import Say, text
from hdbench.space.views.report_files import keep_report
from hdbench.space.views.summary import frame

_OURS = "hdbench"
"""Whose turn the example takes; no visitor has such an address."""


def trust_tab(context: SpaceContext, workers: Workers, say: Say, tab: gr.Tab) -> None:
    """The tab's controls, within its `gr.Tab`: the example is decided when it is first opened.

    Args:
        context: the Space's context.
        workers: the processes that decide.
        say: the texts.
        tab: the tab.
    """
    example = Example(context, partial(workers.result, _OURS, example_decision, context))
    gr.Markdown(say("trust_intro"))
    with gr.Row():
        with gr.Column(min_width=300):
            file = gr.File(label=say("trust_file"), elem_id="decision-file", height=140)
        with gr.Column(min_width=300):
            gr.Markdown(say("trust_file_info"))
            download = gr.DownloadButton(
                say("trust_download"), visible=False, elem_id="decision-page", size="sm"
            )
    bar = gr.HTML(elem_id="decision-progress", min_height=60)
    shown = gr.HTML(elem_id="decision")

    def view(
        file: str | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  so Gradio knows that one is wanted
    ) -> Iterator[list[Any]]:
        visitor = visitor_of(request)
        hidden = gr.update(visible=False, value=None)
        kind = "uploaded" if file else "example"
        note = text(f"trust_{kind}", visitor.language, file=cut(Path(file or "").name))
        try:
            with TemporaryDirectory() as folder:
                page = Path(folder) / "decision.html"
                if file:
                    task = (uploaded_decision, Path(file), page, visitor.language)
                    for told in workers.work(visitor.address, *task):
                        show(progress, told, visitor.language)
                else:
                    work = example.work()
                    if work is None:
                        yield ["", hidden]
                        return
                    while not wait([work], timeout=0.3).done:
                        progress(None, desc=text("trust_deciding", visitor.language))
                    write_decision_page(page, work.result(), visitor.language)
                html = frame(
                    keep_report(page, visitor.language),
                    visitor.language,
                    f"trust_{kind}_title",
                    note,
                )
                # Gradio copies the file before this goes on, where it is deleted.
                yield [html, gr.update(visible=True, value=str(page))]
        except HdbenchError as error:
            yield [refusal(error, visitor.language, "trust_error"), hidden]

    gr.on(
        [tab.select, file.upload, file.clear],
        view,
        file,
        [shown, download],
        show_progress_on=bar,
        trigger_mode="always_last",  # a file may be dropped while the example is being decided
        api_visibility="private",
    )
