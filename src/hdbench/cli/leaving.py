"""What leaves this computer, as tables for a terminal, and what does not."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rich.console import Console

from hdbench.cli.said_tables import print_line, said_table
from hdbench.cli.saying import number, said
from hdbench.common.printing import MAX_NOTE, printable
from hdbench.errors import Message

if TYPE_CHECKING:  # slow to import
    from hdbench.publishing.repositories import Repository

MAX_ALIKE = 5
"""Files below one folder, with one extension, that are each listed; more are counted."""

STAYS = Message("History, comments and annotators of a collection stay on this computer")
"""What is told where something leaves."""


def print_repositories(console: Console, repositories: Sequence["Repository"]) -> None:
    """Print what leaves: repositories with their licences, files and sizes; and what does not.

    Args:
        console: where to.
        repositories: from `hdbench.publishing.repositories`.
    """
    for each in repositories:
        heading = Message(
            "{id} ({kind}, {licence}, {tag}): {count} files, {size}",
            id=each.id,
            kind=each.kind,
            licence=each.licence,
            tag=each.tag or Message("no tag"),
            count=len(each.files),
            size=in_bytes(each.size),
        )
        print_line(console, heading, style="bold")
        if each.rights:
            print_line(console, Message("rights: {rights}", rights=each.rights))
        table = said_table(None, "file", right=["size"])
        alike: dict[str, dict[str, int]] = defaultdict(dict)
        for path in each.files:
            folder = path.rpartition("/")[0].partition("/")[0]
            pattern = f"{folder}/…/*{PurePosixPath(path).suffix}" if folder else path
            alike[pattern][path] = each.file_size(path)
        for pattern, sizes in sorted(alike.items()):
            if len(sizes) > MAX_ALIKE:
                several = said("{pattern} ({count} files)", pattern=pattern, count=len(sizes))
                sizes = {several: sum(sizes.values())}  # noqa: PLW2901
            for path, size in sizes.items():
                table.add_row(printable(path, MAX_NOTE), in_bytes(size))
        console.print(table)
    if any(each.kind == "dataset" for each in repositories):
        console.print(f"{said(STAYS)}.\n", soft_wrap=True)


def in_bytes(size: int) -> str:
    """A size for people, in powers of 1,000."""
    if size < 10_000:  # noqa: PLR2004
        return f"{number(size, ',')} B"
    return f"{number(size / 1000, ',.0f')} kB"
