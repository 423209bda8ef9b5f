"""Command that takes in somebody else's work on the same collection."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.merge_news import news_of
from hdbench.annotating.merging import Incoming
from hdbench.annotating.merging import merge as merge_work
from hdbench.cli.arguments import Annotator
from hdbench.cli.terminal import localized, say, shown
from hdbench.errors import HdbenchError, escaped, joined

MAX_NAMED = 20
"""Maximum number of conflicts that are named."""


def command(
    folder: Path,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    *,
    annotator: Annotator = "me",
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> None:
    """Take in what somebody else wrote with hdbench hand-over.

    It shows whose work it is said to be, and asks first.

    Args:
        folder: The collection's folder.
        file: The ZIP that they handed over.
        yes: Take it in without asking.
    """
    merged = merge_work(folder, file, annotator, partial(_ask, file, yes=yes))
    say(
        "{path}: new changes: {taken:,}, known: {known:,}, conflicts: {conflicts:,}, newly "
        "assigned items: {assigned:,}"
        if merged.assigned
        else "{path}: new changes: {taken:,}, known: {known:,}, conflicts: {conflicts:,}",
        path=file,
        taken=merged.taken,
        known=merged.known,
        conflicts=len(merged.conflicts),
        assigned=merged.assigned,
    )
    for conflict in merged.conflicts[:MAX_NAMED]:
        typer.echo(f"  {escaped(conflict.item)}: {shown(conflict.field or conflict.what)}")
    if merged.conflicts:
        say("hdbench annotate shows both values of each: take one")


def _ask(path: Path, incoming: Incoming, *, yes: bool) -> None:
    """Show the incoming changes, and go on only if the user agrees.

    Raises:
        HdbenchError: there is nobody to ask.
    """
    news = news_of(incoming)
    if not (yes or sys.stdin.isatty()):
        raise HdbenchError(
            "{path}: {news}: nothing is taken in without being asked for: run this in a "
            "terminal, or add --yes",
            path=path,
            news=joined(news, "; "),
        )
    for line in news:
        say("{path}: {news}", path=path, news=line)
    if not yes:
        typer.confirm(localized("Take this in? Nothing proves whose it is."), abort=True)
