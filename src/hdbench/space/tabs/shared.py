"""The parts that tabs share: settings, fields, the progress of work, and a scored result."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from hdbench.answers.answers import UnknownIdsError
from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError, escaped
from hdbench.report.items import cut
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, View, view
from hdbench.space.jobs.working import Progress, Task, result, work
from hdbench.space.texts import Say, reason, text, translations
from hdbench.space.views.report_files import downloads, report_address, thumbnails
from hdbench.space.views.summary import frame, problem

LEADERBOARD_TAB = "leaderboards"
"""The id of the tab with the recorded runs in the page, and in links."""

Choice = gr.Dropdown | gr.Radio | gr.Checkbox
"""A field that a link can set."""

STARTS, RESULT = "hdb-starts", "hdb-result"
"""Classes of buttons that start work, and of the elements that show its result; `page.js`
knows them too."""

AT_ONCE = 2
"""The number of files that are scored, or sets of runs compared, at the same time."""

DOWNLOADS = ("xlsx", "csv", "json", "html")

DOWNLOAD_ROW: dict[str, Any] = {"elem_classes": "hdb-downloads", "equal_height": True}
"""Options of the row of these buttons."""

QUEUED: dict[str, Any] = {"concurrency_id": "work", "concurrency_limit": AT_ONCE}
"""Options of events that start work; others wait for them in Gradio's queue."""

PRIVATE: dict[str, Any] = {"api_visibility": "private"}
"""Options of events that no program may start."""

STARTED: dict[str, Any] = {**PRIVATE, **QUEUED}
"""Options of those events that start work."""

HIDDEN: dict[str, Any] = {**PRIVATE, "show_progress": "hidden"}
"""Options of those events that take no time."""

BAR = gr.Progress()
"""The default that tells Gradio that a function shows its progress."""

Given = dict[Component, Any]
"""Field → a visitor's input."""

_Field = TypeVar("_Field", bound=Component)

_UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);"


def announcer() -> None:
    """Add an element that screen readers watch to a `gr.Blocks`.

    It repeats the attribute `data-announce` of elements that appear in the page. Readers watch
    only an element that was there before its text. A problem, which they announce, is scrolled
    to: on a phone it appears below the window.
    """
    _made_by("hdbenchAnnouncer", "announcement", css_template=_UNSEEN)


def settings() -> None:
    """Add the choice of the language and the colors to a `gr.Blocks`."""
    _made_by("hdbenchSettings", "settings")


def skip_link() -> None:
    """Add a link past the title and the tabs, visible when it has the focus."""
    _made_by("hdbenchSkip", "skip")


def _made_by(function: str, elem_id: str, **options: Any) -> None:
    """Add an element that a function of `page.js` makes."""
    script = f"{function}(element);"
    gr.HTML("", elem_id=elem_id, html_template="", js_on_load=script, **options)


def field(kind: type[_Field], say: Say, key: str, **options: Any) -> _Field:
    """Return a field of a form.

    Args:
        kind: its class.
        say: the texts.
        key: the key of its label; its info, if it has one, is `<key>_info`, and its id in the page
            is the key with hyphens.
        options: other options of its class.
    """
    options = {"label": say(key), "elem_id": key.replace("_", "-")} | options
    if f"{key}_info" in translations()["en"]:
        options = {"info": say(f"{key}_info")} | options
    return kind(**options)


def button(say: Say, key: str, **options: Any) -> gr.Button:
    """Return a button; `key` is that of its text, and its id in the page the key with hyphens."""
    return gr.Button(say(key), **{"elem_id": key.replace("_", "-")} | options)


def download_button(say: Say, key: str, elem_id: str, **options: Any) -> gr.DownloadButton:
    """Return a button for a file, hidden until there is one; `key` is that of its text."""
    return gr.DownloadButton(say(key), visible=False, elem_id=elem_id, size="sm", **options)


def download(path: Path | None) -> dict[str, Any]:
    """Return the update of a `download_button`, which is hidden without a file."""
    return gr.update(visible=path is not None, value=path and str(path))


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


def protocol_choice(say: Say, elem_id: str | None = None) -> gr.Radio:
    """Return the choice of the protocol."""
    options = {"choices": list(PROTOCOLS), "value": "documented", "elem_id": elem_id}
    return field(gr.Radio, say, "protocol", **options)


def at_first(app: gr.Blocks, context: SpaceContext, linked: Mapping[str, Choice]) -> None:
    """Open what a page's address names, with choices by their names in the visitor's language.

    Gradio translates labels into the browser's language, but not choices.

    Args:
        app: the application with all these fields.
        context: the Space's context.
        linked: parameter of a leaderboard's address → the field that it sets.
    """
    fields = [
        block
        for block in app.blocks.values()
        if isinstance(block, gr.Dropdown | gr.Radio)
        and block.choices
        and {value for _, value in block.choices} <= {*context.benchmarks, *PROTOCOLS}
    ]

    def opened(request: gr.Request) -> dict[Block, Any]:
        language = language_of_visitor(request)
        names = {name: title for title, name in context.choices(language)}
        names |= {protocol: text(f"protocol_{protocol}", language) for protocol in PROTOCOLS}
        updates: dict[Block, dict[str, Any]] = {
            field: {"choices": [(names[str(value)], value) for _, value in field.choices]}
            for field in fields
        }
        asked = request.query_params
        if asked.get("tab") == LEADERBOARD_TAB:
            for name, block in linked.items():
                if isinstance(block, gr.Checkbox):
                    updates[block] = {"value": bool(asked.get(name))}
                elif asked.get(name) in {value for _, value in block.choices}:
                    updates[block]["value"] = asked[name]
        return {block: gr.update(**update) for block, update in updates.items()}

    outputs = [*{*fields, *linked.values()}]
    app.load(opened, None, outputs, queue=False, **HIDDEN).then(js="() => hdbenchOpen()", **HIDDEN)


def language_of_visitor(request: gr.Request) -> str:
    """Return the language of the interface of the visitor who sent a request."""
    return language_of(request.headers.get("accept-language"))


def shown_work(progress: gr.Progress, task: Task, *arguments: Any) -> Iterator[Any]:
    """Do a task with a progress bar; yield what it sends and returns."""
    for message in work(task, *arguments):
        if isinstance(message, Progress):
            progress(message.share, desc=message.doing)
        else:
            yield message


def for_program(request: gr.Request, task: Task, *arguments: Any) -> list[dict[str, Any]]:
    """Return the result of a task for a program.

    Raises:
        gr.Error: the task failed.
    """
    try:
        records: list[dict[str, Any]] = result(task, *arguments)
    except HdbenchError as error:
        told = escaped(reason(error, language_of_visitor(request)))
        raise gr.Error(told, print_exception=False) from error
    return records


def result_views(
    context: SpaceContext, upload: Upload, language: str, progress: gr.Progress
) -> Iterator[list[Any]]:
    """Yield the outputs of a scored file: first the score, then the report and the downloads.

    Raises:
        UnknownIdsError: the file has ids that are not in the benchmark.
    """
    if not upload.path.name:
        message = text("choose_file", language, megabytes=context.max_upload >> 20)
        yield refused_view(problem(message, language))
        return
    try:
        with downloads() as folder:
            task = (view, context, upload, language, folder, thumbnails())
            for message in shown_work(progress, *task):
                yield _outputs(message, language)
    except UnknownIdsError:
        raise
    except HdbenchError as error:
        yield refused_view(problem(reason(error, language), language))


def refused_view(message: str) -> list[Any]:
    """Return the outputs of a file that is not scored: only the reason, as HTML."""
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
    report = frame(report_address(view.files[-1], language), language) if view.files else ""
    files: Sequence[Path | None] = view.files or [None] * len(DOWNLOADS)
    return [view.first, runs, report, *map(download, files)]
