"""The application: its pages and its endpoints for programs on a server, which anyone may use."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from hdbench.common.pictures import keep_in
from hdbench.common.servers import GRACE, end_in_time, interrupt_on_sigterm, listening
from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError, escaped
from hdbench.space import work
from hdbench.space.comparison import Wanted, comparison_records
from hdbench.space.context import SpaceContext
from hdbench.space.guard import Guard
from hdbench.space.pages import AT_ONCE, Pages
from hdbench.space.queue import Queue
from hdbench.space.scoring import Upload, records, thumbnails
from hdbench.space.texts import reason
from hdbench.space.visits import forget_in_time

SESSIONS = 200
"""Maximum page states of programs that Gradio keeps in memory: the latest ones."""

_PUBLISHED = {"name", "title", "version", "metric", "headline", "higher_is_better", "licence"}
"""The keys of a benchmark in the answer to programs."""


def build_api(context: SpaceContext, queue: Queue) -> gr.Blocks:
    """Return the endpoints for programs, not yet served; people see the pages of our own.

    Args:
        context: the operator's settings.
        queue: the work that programs and people wait for.
    """

    def done(request: gr.Request, task: work.Task, *arguments: Any) -> list[dict[str, Any]]:
        """Return the result of a task."""
        try:
            piece = queue.piece(object(), partial(work.work, task, *arguments))
            piece.wait()
            if piece.problem:
                raise piece.problem
        except HdbenchError as error:
            told = escaped(reason(error, language_of(request.headers.get("accept-language"))))
            raise gr.Error(told, print_exception=False) from error
        records: list[dict[str, Any]] = piece.shown
        return records

    def score(
        request: gr.Request, benchmark: str, file: str | None, protocol: str = "documented"
    ) -> dict[str, Any]:
        """Score a file of answers; the records are those that hdbench score --json writes."""
        upload = Upload(benchmark, Path(file or ""), protocol)
        return {"runs": [_for_client(each) for each in done(request, records, context, upload)]}

    def compare(
        request: gr.Request,
        benchmark: str,
        files: list[str] | None,
        recorded: list[str] | None = None,
        protocol: str = "documented",
    ) -> dict[str, Any]:
        """Compare runs in pairs; the comparisons are those that hdbench compare --json writes."""
        paths = tuple(Path(file) for file in files or ())
        wanted = Wanted(benchmark, paths, tuple(recorded or ()), protocol)
        return {"comparisons": done(request, comparison_records, context, wanted)}

    def benchmarks() -> list[dict[str, Any]]:
        """Return the benchmarks that answers can be scored against."""
        specs = [benchmark.spec for benchmark in context.benchmarks.values()]
        return [spec.model_dump(include=_PUBLISHED) for spec in specs]

    keep = context.keep_seconds
    with gr.Blocks(analytics_enabled=False, delete_cache=(max(1, keep // 10), keep)) as made:
        # Not gr.api: to that, gradio_client sends a file's local path, and uploads nothing.
        benchmark, file = gr.Textbox(label="Benchmark"), gr.File(label="File")
        files = gr.File(label="Files", file_count="multiple")
        several: dict[str, Any] = {"multiselect": True, "allow_custom_value": True}
        recorded = gr.Dropdown([], value=[], label="Recorded runs", **several)
        protocol, output = gr.Textbox("documented", label="Protocol"), gr.JSON(label="Result")
        compared = [benchmark, files, recorded, protocol]
        gr.Button("score").click(score, [benchmark, file, protocol], output, api_name="score")
        gr.Button("compare").click(compare, compared, output, api_name="compare")
        gr.Button("benchmarks").click(benchmarks, None, output, api_name="benchmarks")
    # As many as can be done at once, and a few that wait there; the others wait in Gradio's queue.
    app: gr.Blocks = made
    app.queue(max_size=context.max_waiting, default_concurrency_limit=2 * AT_ONCE, api_open=False)
    return app


def _for_client(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without a path: Gradio's client would take it for a file, and fetch it."""
    return {
        **{key: value for key, value in record.items() if key != "answers"},
        "answers_sha256": record["answers"]["sha256"],
    }


def serve(
    context: SpaceContext,
    *,
    port: int | None = None,
    started: Callable[[str], object] = str,
) -> None:
    """Serve the application until it is interrupted.

    Uploads and downloads are in a folder of their own, which is deleted at the end.

    Args:
        context: the operator's settings.
        port: by default Gradio's GRADIO_SERVER_PORT, else the first free one from 7860 on.
        started: called with the address when the server is ready.

    Raises:
        HdbenchError: see `Pages` and `listening`.
    """
    if port is not None:
        listening("127.0.0.1", port).close()  # Gradio would name one of its own options
    # In Gradio's own folder, the same for all programs on a computer, any file would be served.
    with TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        remove = partial(shutil.rmtree, folder, ignore_errors=True)
        interrupt_on_sigterm(end_in_time(work.ended.set, remove))
        os.environ["GRADIO_TEMP_DIR"] = str(folder / "files")
        (folder / "files").mkdir()
        keep_in(thumbnails())
        forget_in_time(context.keep_seconds, work.ended)
        pages = Pages(context)
        work.load()
        pages.boards.begin()
        api = build_api(context, pages.queue)
        _, url, _ = api.launch(
            prevent_thread_lock=True,
            quiet=True,
            server_port=port,
            share=False,
            show_error=False,
            max_file_size=context.max_upload,
            state_session_capacity=SESSIONS,
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
            pwa=False,
            app_kwargs={
                "middleware": [Middleware(Guard, context=context)],
                "routes": pages.routes,
            },
        )
        api.server.config.timeout_graceful_shutdown = GRACE
        started(url)
        try:
            api.block_thread()
        finally:
            pages.end()
