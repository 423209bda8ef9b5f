"""A result as visitors see it, whatever was scored: the first view, the report, the downloads."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from hdbench.errors import HdbenchError, escaped
from hdbench.reading.answers import UnknownIdsError
from hdbench.report.items import cut
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.held_out import Looks
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.tasks import View, view
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.telling import Visitor, refusal, show
from hdbench.space.texts import Say, text
from hdbench.space.views.report_files import keep_report, thumbnails
from hdbench.space.views.summary import frame, problem

DOWNLOADS = ("xlsx", "csv", "json", "html")


DOWNLOAD_ROW: dict[str, Any] = {"elem_classes": "hdb-downloads", "equal_height": True}
"""How the row of the buttons looks."""


def download_buttons(say: Say, prefix: str = "") -> list[gr.DownloadButton]:
    """A button for each of `DOWNLOADS`, hidden until there is something.

    Args:
        say: the texts.
        prefix: the prefix of the buttons' ids in the page.
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


def result_views(  # noqa: PLR0917  what a visitor gives, and where it is shown
    workers: Workers,
    context: SpaceContext,
    upload: Upload,
    run: str | None,
    visitor: Visitor,
    progress: gr.Progress,
    looks: Looks | None = None,
) -> Iterator[list[Any]]:
    """The outputs of a scored file: first what is quick, then the report and the downloads.

    With `looks`, the first view has the totals of held-out items, as often as these allow.

    Raises:
        UnknownIdsError: the file has ids that are none of the benchmark's.
    """
    language = visitor.language
    if not upload.path.name:
        why = text("choose_file", language, megabytes=context.max_upload >> 20)
        yield refused_view(problem(why, language))
        return
    look = looks.take(visitor.address, upload.benchmark) if looks else None
    looked = False
    try:
        with TemporaryDirectory() as folder:
            task = (view, context, upload, run, language, Path(folder), thumbnails(), look)
            for told in workers.work(visitor.address, *task):
                show(progress, told, language)
                if isinstance(told, View):
                    looked = looked or told.looked
                    # Gradio copies the files before this goes on, where they are deleted.
                    yield [told.first, _runs(told), *_report(told, language)]
    except UnknownIdsError:
        raise
    except HdbenchError as error:
        yield refused_view(refusal(error, language, "error"))
    finally:
        if looks and look and look.path and not looked:
            looks.give_back(visitor.address, upload.benchmark)


def refused_view(message: str) -> list[Any]:
    """The outputs of a file that is not scored: why, as HTML, and nothing else."""
    hidden = [gr.update(visible=False, value=None)] * len(DOWNLOADS)
    return [message, gr.update(visible=False), "", *hidden]


def _runs(view: View) -> dict[str, Any]:
    """The choice of a model, if the file has several."""
    return gr.update(
        choices=[(cut(escaped(name or "")), name or "") for name in view.runs],
        value=view.chosen or "",
        visible=len(view.runs) > 1,
    )


def _report(view: View, language: str) -> list[Any]:
    """The report and the downloads, as soon as they are ready."""
    if not view.files:
        return ["", *[gr.update(visible=False, value=None)] * len(DOWNLOADS)]
    files = (gr.update(visible=True, value=str(path)) for path in view.files)
    return [frame(keep_report(view.files[-1], language), language), *files]
