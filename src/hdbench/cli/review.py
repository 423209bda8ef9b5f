"""Command with which people look again at values of a ground truth."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.reviewing.review import Review
from hdbench.benchmarks.names import full_name
from hdbench.cli.annotate import serve_page
from hdbench.cli.arguments import Annotator, Port
from hdbench.cli.terminal import page_language, say_notes


def command(
    folder: Annotated[Path, typer.Argument(metavar="BENCHMARK")],
    path: Annotated[Path, typer.Argument(metavar="LIST")],
    *,
    annotator: Annotator = "me",
    port: Port = 7870,
) -> None:
    """Look again at doubtful values of a ground truth, in the browser.

    You read each value without seeing what the ground truth has, and judge then. hdbench errata
    from-review records the slips.

    Args:
        folder: The benchmark, or the folder of a collection.
        path: The list of hdbench audit --list; what you decide is saved beside it.
    """
    review = Review(Path(full_name(str(folder))), path, annotator, page_language())
    say_notes(review.notes)
    serve_page(review, port)
