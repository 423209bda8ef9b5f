"""A result as visitors see it, whatever was scored: the first view, the report, the downloads."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError, escaped
from hdbench.reading.answers import UnknownIdsError
from hdbench.report.items import cut
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.held_out import HeldOutQuota
from hdbench.space.jobs.scoring import Upload, View, view
from hdbench.space.jobs.working import TaskProcesses
from hdbench.space.tabs.shared import Visitor, download, download_button, refusal, shown_work
from hdbench.space.texts import Say, text
from hdbench.space.views.report_files import keep_report, thumbnails
from hdbench.space.views.summary import frame, problem

DOWNLOADS = ("xlsx", "csv", "json", "html")

DOWNLOAD_ROW: dict[str, Any] = {"elem_classes": "hdb-downloads", "equal_height": True}
"""How the row of the buttons looks."""


def download_buttons(say: Say, prefix: str = "") -> list[gr.DownloadButton]:
    """Return a button for each of `DOWNLOADS`, hidden until there is something.

    Args:
        say: the texts.
        prefix: the prefix of the buttons' ids in the page.
    """
    return [
        download_button(say, f"download_{kind}", f"{prefix}download-{kind}", min_width=120)
        for kind in DOWNLOADS
    ]


def result_views(  # noqa: PLR0917  what a visitor gives, and where it is shown
    workers: TaskProcesses,
    context: SpaceContext,
    upload: Upload,
    visitor: Visitor,
    progress: gr.Progress,
    quota: HeldOutQuota | None = None,
) -> Iterator[list[Any]]:
    """Yield the outputs of a scored file: first what is quick, then the report and the downloads.

    With a `quota`, the first view has the totals of held-out items, as often as it allows.

    Raises:
        UnknownIdsError: the file has ids that are none of the benchmark's.
    """
    language = visitor.language
    if not upload.path.name:
        why = text("choose_file", language, megabytes=context.max_upload >> 20)
        yield refused_view(problem(why, language))
        return
    look = quota.take(visitor.address, upload.benchmark) if quota else None
    looked = False
    try:
        with TemporaryDirectory() as folder:
            task = (view, context, upload, language, Path(folder), thumbnails(), look)
            for told in shown_work(workers, visitor, progress, *task):
                if isinstance(told, View):
                    looked = looked or told.looked
                    # Gradio copies the files before this goes on, where they are deleted.
                    yield _outputs(told, language)
    except UnknownIdsError:
        raise
    except HdbenchError as error:
        yield refused_view(refusal(error, language, "error"))
    finally:
        if quota and look and look.path and not looked:
            quota.give_back(visitor.address, upload.benchmark)


def refused_view(message: str) -> list[Any]:
    """Return the outputs of a file that is not scored: why, as HTML, and nothing else."""
    return [message, gr.update(visible=False), "", *map(download, [None] * len(DOWNLOADS))]


def _outputs(view: View, language: str) -> list[Any]:
    """Return the first view, the choice of a model if there are several, the report and the files.

    The report and the files are there as soon as they are ready.
    """
    runs = gr.update(
        choices=[(cut(escaped(name or "")), name or "") for name in view.runs],
        value=view.chosen or "",
        visible=len(view.runs) > 1,
    )
    report = frame(keep_report(view.files[-1], language), language) if view.files else ""
    files: Sequence[Path | None] = view.files or [None] * len(DOWNLOADS)
    return [view.first, runs, report, *map(download, files)]
