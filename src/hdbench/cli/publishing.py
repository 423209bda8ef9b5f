"""The command that publishes what was built."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench import NAMESPACE
from hdbench.cli.app import DEFAULT_OUT, SHARE, app
from hdbench.cli.saying import said, say, shown
from hdbench.errors import HdbenchError, Message


@app.command(rich_help_panel=SHARE)
def publish(
    folder: Annotated[
        Path, typer.Argument(help="The namespace folder that was built.")
    ] = DEFAULT_OUT,
    *,
    namespace: Annotated[
        str | None,
        typer.Option(help="The user or organisation on the Hub; by default the folder's name."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only the repository of this name, a benchmark's, a metric's or results; may be "
            "repeated.",
            metavar="NAME",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be published.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Make new repositories private.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking.")] = False,
) -> None:
    """Publish datasets, metrics, runs and the Space on the Hub.

    It lists what leaves, and sends only changed files, in one commit per repository, tagged with
    its version. If it is interrupted, the same command resumes. The token is that of `hf auth
    login`, or HF_TOKEN. It asks first if the namespace is not the token's, or is `hdb` without
    --namespace.
    """
    from huggingface_hub import constants  # noqa: PLC0415  slow to import

    from hdbench.cli.leaving import print_repositories  # noqa: PLC0415
    from hdbench.publishing.publish import publish as send  # noqa: PLC0415
    from hdbench.publishing.publish import token_namespaces  # noqa: PLC0415
    from hdbench.publishing.repositories import find_repositories  # noqa: PLC0415

    repositories = find_repositories(
        folder,
        endpoint=constants.ENDPOINT,
        namespace=namespace,
        only=only or (),
    )
    if dry_run:
        print_repositories(Console(), repositories)
        return
    owner, own = repositories[0].id.partition("/")[0], token_namespaces()
    print_repositories(Console(), repositories)
    if owner not in own:
        why = Message(
            "{owner} is not a namespace of this token ({names})", owner=owner, names=", ".join(own)
        )
        _ask(why, owner, yes=yes)
    elif owner == NAMESPACE and namespace is None:
        why = Message("no --namespace was given, and the folder is called {owner}", owner=owner)
        _ask(why, owner, yes=yes)
    for published in send(repositories, private=private):
        say(published.line())


def _ask(why: str, owner: str, *, yes: bool) -> None:
    """Go on only if the user wants it.

    Raises:
        HdbenchError: there is nobody to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise HdbenchError(
            "{why}: nothing was sent: name yours with --namespace, or add --yes", why=why
        )
    told = shown(why)
    asked = said("Publish under {owner}?", owner=owner)
    typer.confirm(f"{told[0].upper()}{told[1:]}. {asked}", abort=True)
