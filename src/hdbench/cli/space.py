"""The command that serves the Space here."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.app import DEFAULT_OUT, app
from hdbench.errors import HdbenchError


@app.command()
def space(
    *,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is open to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 7860,
    namespace: Annotated[
        Path, typer.Option(help="The folder with the built benchmarks.")
    ] = DEFAULT_OUT,
) -> None:
    """Serve the web application: score a file in the browser."""
    try:
        from hdbench.space.app import serve  # noqa: PLC0415  Gradio is slow to import
    except ModuleNotFoundError as error:
        if error.name != "gradio":
            raise
        raise HdbenchError(
            "the web application needs Gradio: pip install 'hdbench[space]'"
        ) from None
    from hdbench.space.context import SpaceContext  # noqa: PLC0415

    serve(SpaceContext(namespace), host=host, port=port, started=typer.echo)
