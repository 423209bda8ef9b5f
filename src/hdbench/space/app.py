"""The application: its tabs, and how it is served so that anybody may use it."""

import os
import signal
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.space.about_tab import about_tab
from hdbench.space.compare_tab import compare_api, compare_tab
from hdbench.space.context import SpaceContext
from hdbench.space.leaderboard_tab import leaderboard_tab
from hdbench.space.run_tab import run_tab
from hdbench.space.score_tab import score_api, score_tab
from hdbench.space.texts import translations

_PREFIX = "hdbench_"  # Gradio has texts of its own, of which one is called "file"


def build_app(context: SpaceContext) -> gr.Blocks:
    """The application with all its tabs, not yet served.

    Args:
        context: what its operator sets.

    Raises:
        HdbenchError: the namespace folder has no benchmark, or one is unusable.
    """
    say = partial(_say, _texts(context))
    app = gr.Blocks(
        analytics_enabled=False,
        title="hdbench",
        delete_cache=(max(1, context.keep_seconds // 10), context.keep_seconds),
    )
    with app:
        gr.Markdown(say("title"), elem_id="title")
        gr.Markdown(say("intro"))
        with gr.Tab(say("tab_score"), id="score"):
            score_tab(context, say)
        with gr.Tab(say("tab_compare"), id="compare"):
            compare_tab(context, say)
        if context.models:
            with gr.Tab(say("tab_run"), id="run"):
                run_tab(context, say)
        if context.results:
            with gr.Tab(say("tab_leaderboard"), id="leaderboard"):
                leaderboard_tab(context, say)
        with gr.Tab(say("tab_about"), id="about"):
            about_tab(context, say)
        score_api(context)
        compare_api(context)
    app.queue(max_size=context.max_waiting, default_concurrency_limit=context.at_once)
    return app


def serve(
    context: SpaceContext,
    *,
    host: str | None = None,
    port: int | None = None,
    started: Callable[[str], object] = str,
) -> None:
    """Serve the application until it is interrupted.

    Uploads and downloads lie in a folder of their own, which is deleted at the end.

    Args:
        context: what its operator sets.
        host: the address to listen on; without it Gradio's GRADIO_SERVER_NAME, else 127.0.0.1.
        port: without it Gradio's GRADIO_SERVER_PORT, else the first free one from 7860 on.
        started: called with the address when it can be visited.

    Raises:
        HdbenchError: as of `build_app`.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the folder would stay
    # In Gradio's own folder, the same for all programs of a computer, any file would be served.
    with tempfile.TemporaryDirectory(prefix="hdbench-space-") as folder:
        os.environ["GRADIO_TEMP_DIR"] = str(Path(folder) / "files")
        os.environ["GRADIO_EXAMPLES_CACHE"] = str(Path(folder) / "examples")
        app = build_app(context)
        _, url, _ = app.launch(
            prevent_thread_lock=True,
            quiet=True,
            server_name=host,
            server_port=port,
            share=False,
            show_error=False,
            max_file_size=context.max_upload,
            i18n=_texts(context),
            theme=gr.themes.Default(
                font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
            ),
            css_paths=Path(__file__).with_name("style.css"),
            footer_links=["api", "settings"],
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
            pwa=False,
            app_kwargs={"middleware": [Middleware(NoForeignFiles)]},
        )
        started(url)
        app.block_thread()


class NoForeignFiles:
    """Refuses what would make the server fetch an address for a visitor.

    Gradio's file route passes on what lies at any address that it is asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        path = scope.get("path", "")
        if scope["type"] == "http" and ("file=http" in path.lower() or "/proxy=" in path):
            refused = PlainTextResponse("no file of this server", status_code=403)
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _say(texts: gr.I18n, key: str) -> Any:
    return texts(_PREFIX + key)


def _texts(context: SpaceContext) -> gr.I18n:
    """The texts with the operator's limits in them."""
    limits = {"megabytes": context.max_upload >> 20, "minutes": context.keep_seconds // 60}
    with_limits = ("file", "file_info")
    return gr.I18n(
        **{
            language: {
                _PREFIX + key: value.format(**limits) if key in with_limits else value
                for key, value in texts.items()
            }
            for language, texts in translations().items()
        }
    )
