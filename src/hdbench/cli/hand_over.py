"""Command that writes one's work for somebody else who works on the same collection."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.merging import hand_over
from hdbench.cli.arguments import Annotator
from hdbench.cli.terminal import say


def command(
    folder: Path,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    *,
    annotator: Annotator = "me",
) -> None:
    """Write your work into a ZIP, for somebody who works on a copy of the collection.

    It has your history, and which items are assigned to whom. hdbench merge takes it in.

    Args:
        folder: The collection's folder.
        file: The ZIP to write.
    """
    count = hand_over(folder, annotator, file)
    say("{path}: {count:,} changes by {annotator}", path=file, count=count, annotator=annotator)
