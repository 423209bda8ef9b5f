"""Command that serves the Space here."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.common.extras import needed
from hdbench.space.context import SpaceContext


def command(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 7860,
    namespace: Path = DEFAULT_OUT,
    model: list[str] | None = None,
    contact: Annotated[
        str | None, typer.Option(envvar="HDBENCH_CONTACT", metavar="ADDRESS")
    ] = None,
) -> None:
    """Serve the web application: score and compare in the browser.

    Args:
        host: The address to listen on; 0.0.0.0 is open to the network.
        port: The port.
        namespace: The folder with the built benchmarks.
        model: A model that visitors may run here: a repository on the Hub, or a folder.
            Repeat it for several.
        contact: Where you can be reached: https://… or mailto:…
    """
    with needed("space", "the web application needs"):
        from hdbench.space.app import serve  # noqa: PLC0415  Gradio is slow to import

    context = SpaceContext(
        namespace,
        models=tuple(model or ()),
        contact=contact,
    )
    serve(context, host=host, port=port, started=typer.echo)
