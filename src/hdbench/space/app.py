"""The application: its tabs, and its server, which anyone may use."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from hdbench.about import __version__
from hdbench.common.display.marks import STYLE, TOKENS
from hdbench.common.pictures import keep_in
from hdbench.common.servers import GRACE, end_in_time, interrupt_on_sigterm, listening
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import working
from hdbench.space.jobs.recorded_runs import run_reports
from hdbench.space.server.guard import Guard
from hdbench.space.server.page import PageLanguage
from hdbench.space.tabs import about, compare, leaderboard, run, score, shared
from hdbench.space.texts import translations
from hdbench.space.views.first_look import FirstLooks
from hdbench.space.views.report_files import REPORTS, thumbnails
from hdbench.space.views.theme import theme

_PREFIX = "hdbench_"  # Gradio has texts of its own, one of which is called "file"

AT_ONCE = 10
"""Maximum visitors for whom each function that takes no time runs at the same time."""

SESSIONS = 200
"""Maximum page states of visitors that Gradio keeps in memory: the latest ones."""


def build_app(context: SpaceContext, looks: FirstLooks) -> gr.Blocks:
    """Return the application with all its tabs, not yet served.

    Args:
        context: the operator's settings.
        looks: the first view of each benchmark.

    Raises:
        HdbenchError: the namespace folder has no benchmark, or one is unusable.
    """
    texts = _texts(context, looks)

    def say(key: str) -> Any:
        return texts(_PREFIX + key)

    app = gr.Blocks(
        analytics_enabled=False,
        title="hdbench",
        delete_cache=(max(1, context.keep_seconds // 10), context.keep_seconds),
    )
    with app:
        shared.skip_link()
        shared.settings()
        gr.Markdown(say("title"), elem_id="title")
        gr.Markdown(say("intro"))
        shared.announcer()
        with gr.Column(elem_id="chosen"):
            benchmark = gr.Dropdown(
                context.choices(), value=context.first, label=say("benchmark"), elem_id="benchmark"
            )
        linked: dict[str, shared.Choice] = {}
        with gr.Tabs(overflow_behavior="wrap", elem_id="tabs"):
            with gr.Tab(say("tab_score"), id="score"):
                score.score_tab(context, say, benchmark, looks)
            with gr.Tab(say("tab_compare"), id="compare"):
                compare.compare_tab(context, say, benchmark)
            if context.models:
                with gr.Tab(say("tab_run"), id="run"):
                    run.run_tab(context, say, benchmark)
            if context.results and context.ranked:
                with gr.Tab(say("tab_leaderboard"), elem_id=shared.LEADERBOARD_TAB) as tab:
                    linked = leaderboard.leaderboard_tab(context, say, benchmark, tab)
            with gr.Tab(say("tab_about"), id="about"):
                about.about_tab(context, say)
        shared.at_first(app, context, linked)
        score.score_api(context)
        compare.compare_api(context)
    app.queue(max_size=context.max_waiting, default_concurrency_limit=AT_ONCE, api_open=False)
    return app


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
        HdbenchError: see `build_app` and `listening`.
    """
    if port is not None:
        listening("127.0.0.1", port).close()  # Gradio would name one of its own options
    # In Gradio's own folder, the same for all programs on a computer, any file would be served.
    with TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        remove = partial(shutil.rmtree, folder, ignore_errors=True)
        interrupt_on_sigterm(end_in_time(working.end, remove))
        os.environ["GRADIO_TEMP_DIR"] = str(folder / "files")
        (folder / "files").mkdir()
        keep_in(thumbnails())
        working.load()
        looks = FirstLooks(context)
        app = build_app(context, looks)
        _, url, _ = app.launch(
            prevent_thread_lock=True,
            quiet=True,
            server_port=port,
            share=False,
            show_error=False,
            max_file_size=context.max_upload,
            state_session_capacity=SESSIONS,
            i18n=_texts(context, looks),
            theme=theme(),
            css_paths=[TOKENS, STYLE, Path(__file__).with_name("style.css")],
            footer_links=["api"],
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
            pwa=False,
            app_kwargs={
                "middleware": [
                    Middleware(PageLanguage),
                    Middleware(Guard, context=context),
                ],
                "routes": [
                    REPORTS,
                    looks.route,
                    run_reports(context),
                    leaderboard.PAGES,
                ],
            },
        )
        app.server.config.timeout_graceful_shutdown = GRACE
        started(url)
        app.block_thread()


def _texts(context: SpaceContext, looks: FirstLooks) -> gr.I18n:
    """Return the texts with the operator's and the benchmarks' values."""
    address = context.contact or ""
    values = {
        "megabytes": context.max_upload >> 20,
        "minutes": context.keep_seconds // 60,
        "contact": f"[{address.removeprefix('mailto:')}]({address})",
        "version": __version__,
    }
    with_values = ("file", "file_info", "about_")
    return gr.I18n(
        **{
            language: {
                _PREFIX + key: value.format(**values) if key.startswith(with_values) else value
                for key, value in texts.items()
            }
            | {f"{_PREFIX}{about.TITLE}{name}": title for title, name in context.choices(language)}
            | {_PREFIX + score.FIRST_LOOK: looks.html(context.first, language)}
            for language, texts in translations().items()
        }
    )
