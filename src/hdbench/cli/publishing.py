"""The command that publishes what was built."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.cli.app import DEFAULT_OUT, app


@app.command()
def publish(
    folder: Annotated[
        Path, typer.Argument(help="The namespace folder that was built.")
    ] = DEFAULT_OUT,
    *,
    namespace: Annotated[
        str | None,
        typer.Option(help="The user or organisation on the Hub; without it the folder's name."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A repository's name; may be repeated.", metavar="NAME"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be published.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Create new repositories as private ones.")
    ] = False,
    accept_licence: Annotated[
        bool,
        typer.Option("--accept-licence", help="Publish datasets without an open licence too."),
    ] = False,
) -> None:
    """Publish datasets, metrics, the scorer's Space and the recorded runs on the Hugging Face Hub.

    Only changed files are sent, one commit a repository, with the tag of its version. If it ends
    in the middle, the same command goes on. The token is that of `hf auth login`, or HF_TOKEN.
    """
    from huggingface_hub import constants  # noqa: PLC0415  slow to import

    from hdbench.publishing.publish import publish as send  # noqa: PLC0415
    from hdbench.publishing.repositories import find_repositories  # noqa: PLC0415
    from hdbench.tables import print_repositories  # noqa: PLC0415

    repositories = find_repositories(
        folder,
        endpoint=constants.ENDPOINT,
        namespace=namespace,
        only=only or (),
        accept_licence=accept_licence,
    )
    if dry_run:
        print_repositories(Console(), repositories)
        return
    for published in send(repositories, private=private):
        typer.echo(published)
