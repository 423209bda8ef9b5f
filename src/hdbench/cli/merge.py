"""Command that takes in somebody else's work on the same collection."""

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.changes import SETTLED
from hdbench.annotating.merging import Incoming
from hdbench.annotating.merging import merge as merge_work
from hdbench.benchmarks.provenance import BLIND
from hdbench.cli.arguments import Annotator
from hdbench.cli.terminal import localized, say, shown
from hdbench.errors import HdbenchError, Message, escaped, joined

MAX_NAMED = 20
"""Maximum number of conflicts, assignments and people that are named."""


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
    news = _news(incoming)
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


def _news(incoming: Incoming) -> list[Message]:
    """Return a line for each kind of incoming change."""
    changes = [change for change in incoming.changes if not change.is_base]
    news = []
    if changes:
        times = sorted(change.at[:10] for change in changes)
        news.append(
            Message(
                "new changes by {name}: {count:,}, items changed: {items:,}, {first} to {last}"
                if incoming.is_known
                else "changes by {name}, of whom nothing is here yet: {count:,}, items changed: "
                "{items:,}, {first} to {last}",
                count=len(changes),
                items=len({change.item for change in changes}),
                name=incoming.annotator,
                first=times[0],
                last=times[-1],
            )
        )
    statuses = Counter(change.to for change in changes if change.what == "status")
    hows = Counter(
        change.how for change in (*changes, *incoming.records) if change.what == "ground_truth"
    )
    if done := statuses["done"]:
        news.append(Message("items said to be done: {count:,}", count=done))
    if blind := hows[BLIND]:
        news.append(Message("values said to be made without a draft: {count:,}", count=blind))
    if settled := hows[SETTLED]:
        news.append(Message("values said to settle what differs: {count:,}", count=settled))
    if incoming.records:
        news.append(
            Message(
                "records from before anybody annotated, according to {name}, that are others here: "
                "{count:,}",
                name=incoming.annotator,
                count=len(incoming.records),
            )
        )
    for assignment in incoming.assignments[:MAX_NAMED]:
        names = ", ".join(assignment.annotators)
        count = len(assignment.items)
        news.append(Message("items assigned to {names}: {count:,}", names=names, count=count))
    if further := incoming.assignments[MAX_NAMED:]:
        count = sum(len(assignment.items) for assignment in further)
        news.append(Message("items assigned to others: {count:,}", count=count))
    if incoming.strangers:
        news.append(
            Message(
                "assigned, but not known here so far: {count:,}, such as {names}",
                count=len(incoming.strangers),
                names=", ".join(incoming.strangers[:MAX_NAMED]),
            )
        )
    if incoming.blind:
        news.append(
            Message("items no longer to be annotated from a draft: {count:,}", count=incoming.blind)
        )
    return news
