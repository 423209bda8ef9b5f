"""Command that gives the same items to several people."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.annotation import ANNOTATION
from hdbench.annotating.annotation import assign as assign_items
from hdbench.cli.terminal import say
from hdbench.errors import Message


def command(
    folder: Path,
    people: Annotated[list[str], typer.Argument(metavar="PSEUDONYM…")],
    *,
    items: Annotated[int | None, typer.Option("-n", "--items", min=1)] = None,
    seed: int = 1,
) -> None:
    """Give the same items to several people, to see how well they agree.

    They do not see each other's entries until they are all done with an item. Items are drawn at
    random among those that nobody has started.

    Args:
        folder: The collection's folder.
        people: Their pseudonyms, such as anna ben.
        items: How many items; by default all.
        seed: Another draw for each seed; it is recorded.
    """
    assigned = assign_items(folder, people, items=items, seed=seed)
    first, *others = assigned.assignment.annotators
    names = Message("{name}", name=first)
    for name in others:
        names = Message("{names} and {name}", names=names, name=name)
    say(
        "{path}: {count:,} of {of:,} items that nobody has started are now assigned to {names}",
        path=folder / ANNOTATION,
        count=len(assigned.assignment.items),
        of=assigned.of,
        names=names,
    )
    say(
        "Each opens the folder with hdbench annotate --as; hdbench hand-over takes the assignment "
        "along to a copy."
    )
