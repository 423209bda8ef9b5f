"""The command that draws a sample."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.cli.app import MAKE, app
from hdbench.cli.saying import shown


@app.command(rich_help_panel=MAKE)
def sample(
    whole: Annotated[
        Path,
        typer.Argument(
            help="All there is: a folder of images, PDFs or texts, or a table of the catalogue "
            "(CSV or XLSX) with one row per item and its id in a column id or Datei, or else in "
            "the first one."
        ),
    ],
    *,
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many items to draw.")],
    by: Annotated[
        str | None,
        typer.Option(
            help="Columns of the table, with commas between them; each combination of their "
            "values is a stratum. Without it, the sample is simple.",
            metavar="COLUMN,…",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the draw.", min=0)] = 0,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")] = Path(
        "sample.yaml"
    ),
) -> None:
    """Draw a sample of a collection, simple or stratified.

    Each stratum gets its share of the items, and at least 2. With the same items and the same seed,
    the same are drawn. The file says how, so that scores become estimates for the whole.
    """
    from hdbench.cli.group_tables import print_sample  # noqa: PLC0415
    from hdbench.collecting.drawing import draw, write_sample  # noqa: PLC0415  slow to import
    from hdbench.collecting.whole import read_whole  # noqa: PLC0415

    items = read_whole(whole)
    columns = [name.strip() for name in by.split(",")] if by else []
    drawn = draw(items, number, by=columns, seed=seed)
    write_sample(out, drawn.sample)
    print_sample(Console(), drawn.sample, [*items.notes, *drawn.notes])
    typer.echo(shown(str(out)))
