"""Command that publishes what was built."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from huggingface_hub import constants
from rich.console import Console

from hdbench.about import NAMESPACE
from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.common.display.terminal import (
    MAX_NOTE,
    STAYS,
    in_bytes,
    localized,
    localized_table,
    print_line,
    printable,
    say,
    shown,
)
from hdbench.errors import HdbenchError, Message
from hdbench.integrations.publishing import Repository, find_repositories, token_namespaces
from hdbench.integrations.publishing import publish as send

MAX_ALIKE = 5
"""Maximum number of files listed per folder and extension; more are only counted."""


def command(
    folder: Annotated[Path, typer.Argument()] = DEFAULT_OUT,
    *,
    namespace: str | None = None,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    private: Annotated[bool, typer.Option("--private")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
    as_benchmark: Annotated[bool, typer.Option("--as-benchmark")] = False,
) -> None:
    """Publish datasets, metrics, runs and the Space on the Hub.

    It lists what leaves, and sends only changed files, in one commit per repository, tagged with
    its version. If it is interrupted, the same command resumes. The token is that of `hf auth
    login`, or HF_TOKEN. It asks first if the namespace is not the token's, or is `hdb` without
    --namespace.

    Args:
        folder: The namespace folder that was built.
        namespace: The user or organisation on the Hub; by default the folder's name.
        only: Only the repository of this name, a benchmark's, a metric's or results; may be
            repeated.
        dry_run: Only list what would be published.
        private: Make new repositories private.
        yes: Publish without asking.
        as_benchmark: Declare the datasets as benchmarks, with a leaderboard on their pages; the Hub
            takes this once it knows hdbench as an evaluation framework.
    """
    repositories = find_repositories(
        folder,
        endpoint=constants.ENDPOINT,
        namespace=namespace,
        only=only or (),
        as_benchmark=as_benchmark,
    )
    if dry_run:
        print_repositories(Console(), repositories)
        return
    owner, own = repositories[0].id.partition("/")[0], token_namespaces()
    print_repositories(Console(), repositories)
    if owner not in own:
        reason = Message(
            "{owner} is not a namespace of this token ({names})", owner=owner, names=", ".join(own)
        )
        _ask(reason, owner, yes=yes)
    elif owner == NAMESPACE and namespace is None:
        reason = Message("no --namespace was given, and the folder is called {owner}", owner=owner)
        _ask(reason, owner, yes=yes)
    for published in send(repositories, private=private):
        say(published.line())


def _ask(reason: str, owner: str, *, yes: bool) -> None:
    """Go on only if the user agrees.

    Raises:
        HdbenchError: there is nobody to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise HdbenchError(
            "{why}: nothing was sent: name yours with --namespace, or add --yes", why=reason
        )
    sentence = shown(reason)
    question = localized("Publish under {owner}?", owner=owner)
    typer.confirm(f"{sentence[0].upper()}{sentence[1:]}. {question}", abort=True)


def print_repositories(console: Console, repositories: Sequence[Repository]) -> None:
    """Print the repositories to publish, with licenses, files and sizes, and what is left out.

    Args:
        console: the terminal.
        repositories: from `hdbench.integrations.publishing`.
    """
    for repository in repositories:
        heading = Message(
            "{id} ({kind}, {licence}, {tag}): {count} files, {size}",
            id=repository.id,
            kind=Message(repository.kind),
            licence=repository.licence,
            tag=repository.tag or Message("no tag"),
            count=len(repository.files),
            size=in_bytes(repository.size),
        )
        print_line(console, heading, style="bold")
        if repository.rights:
            print_line(console, Message("rights: {rights}", rights=repository.rights))
        table = localized_table(None, "file", right=["size"])
        alike: dict[str, dict[str, int]] = defaultdict(dict)
        for path in repository.files:
            folder = path.rpartition("/")[0].partition("/")[0]
            pattern = f"{folder}/…/*{PurePosixPath(path).suffix}" if folder else path
            alike[pattern][path] = repository.file_size(path)
        for pattern, sizes in sorted(alike.items()):
            if len(sizes) > MAX_ALIKE:
                several = localized("{pattern} ({count} files)", pattern=pattern, count=len(sizes))
                sizes = {several: sum(sizes.values())}  # noqa: PLW2901
            for path, size in sizes.items():
                table.add_row(printable(path, MAX_NOTE), in_bytes(size))
        console.print(table)
    if any(repository.kind == "dataset" for repository in repositories):
        console.print(f"{localized(STAYS)}.\n", soft_wrap=True)
