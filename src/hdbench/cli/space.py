"""Command that serves the Space here."""

import os
from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.common.extras import needed
from hdbench.space.context import SpaceContext


def command(
    *,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 7860,
    namespace: Path = DEFAULT_OUT,
    model: list[str] | None = None,
) -> None:
    """Serve the web application: score and compare in the browser.

    HDBENCH_CONTACT says where you can be reached (https://… or mailto:…), GRADIO_SERVER_NAME on
    which address it listens: 0.0.0.0 is open to the network.

    Args:
        port: The port.
        namespace: The folder with the built benchmarks.
        model: A model that visitors may run here: a repository on the Hub, or a folder.
            Repeat it for several.
    """
    with needed("space", "the web application needs"):
        from hdbench.space.app import serve  # noqa: PLC0415  Gradio is slow to import

    context = SpaceContext(
        namespace,
        models=tuple(model or ()),
        contact=os.environ.get("HDBENCH_CONTACT"),
    )
    serve(context, port=port, started=typer.echo)
