"""A result as visitors see it, whatever was scored: the first view, the report, the downloads."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError, escaped
from hdbench.progress import listening
from hdbench.report.items import cut
from hdbench.report.page import report_page
from hdbench.space.context import SpaceContext
from hdbench.space.downloads import write_downloads
from hdbench.space.scoring import Upload, score_upload
from hdbench.space.summary import frame, problem, summary
from hdbench.space.telling import teller
from hdbench.space.texts import Say, text

DOWNLOADS = ("xlsx", "csv", "json", "html")


def download_buttons(say: Say, prefix: str = "") -> list[gr.DownloadButton]:
    """A button for each of `DOWNLOADS`, hidden until there is something.

    Args:
        say: the texts.
        prefix: of the buttons' ids in the page.
    """
    return [
        gr.DownloadButton(
            say(f"download_{kind}"),
            visible=False,
            elem_id=f"{prefix}download-{kind}",
            size="sm",
            min_width=120,
        )
        for kind in DOWNLOADS
    ]


def result_views(
    context: SpaceContext,
    upload: Upload,
    run: str | None,
    language: str,
    progress: gr.Progress,
) -> Iterator[list[Any]]:
    """The outputs of a scored file: first what is short, then the report and the downloads."""
    hidden = [gr.update(visible=False, value=None)] * len(DOWNLOADS)
    if not upload.path.name:
        message = problem(text("choose_file", language), language)
        yield [message, gr.update(visible=False), "", *hidden]
        return
    tell = teller(progress, text("progress_read", language), language, 0.1, 0.4)
    try:
        benchmark, results = score_upload(context, upload, tell=tell)
        chosen = _chosen(list(results), run)
        result = results[chosen]
        progress(0.4, desc=text("progress_intervals", language))
        runs = gr.update(
            choices=[(cut(escaped(name or "")), name or "") for name in results],
            value=chosen or "",
            visible=len(results) > 1,
        )
        first = summary(upload.path, results, chosen, language, done=False)
        yield [first, runs, "", *hidden]
        with listening(teller(progress, text("progress_report", language), language, 0.5, 0.9)):
            page = report_page(result, benchmark, language=language)
        with TemporaryDirectory() as folder:
            paths = write_downloads(result, page, f"hdbench-{upload.benchmark}", Path(folder))
            first = summary(upload.path, results, chosen, language, done=True)
            # Gradio copies the files before it goes on here, where they are deleted.
            yield [
                first,
                runs,
                frame(page, language),
                *(gr.update(visible=True, value=str(path)) for path in paths),
            ]
    except HdbenchError as error:
        yield [problem(str(error), language), gr.update(visible=False), "", *hidden]


def _chosen(runs: list[str | None], run: str | None) -> str | None:
    """The run that is shown: the one that was asked for, else the first."""
    return run if run in runs else runs[0]
