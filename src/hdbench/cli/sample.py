"""Command that draws a sample."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hdbench.cli.terminal import localized, localized_table, number, print_line, print_marked, shown
from hdbench.common.printing import printable
from hdbench.datasets.collecting.drawing import DrawnSample, draw, write_sample
from hdbench.datasets.collecting.whole import read_whole
from hdbench.errors import Message

MAX_ROWS = 100
"""Maximum rows of a table."""


def command(
    collection: Path,
    *,
    number: Annotated[int, typer.Option("-n", "--number", min=1)],
    by: Annotated[str | None, typer.Option(metavar="COLUMN,…")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    out: Annotated[Path, typer.Option("-o", "--out")] = Path("sample.yaml"),
) -> None:
    """Draw a sample of a collection, simple or stratified.

    Each stratum gets its share of the items, and at least 2. With the same items and the same seed,
    the same are drawn. The file says how, so that scores become estimates for the whole.

    Args:
        collection: All there is: a folder of images, PDFs or texts, or a table of the catalogue
            (CSV or XLSX) with one row per item and its id in a column id or Datei, or else in the
            first one.
        number: How many items to draw.
        by: Columns of the table, with commas between them; each combination of their values is a
            stratum. Without it, the sample is simple.
        seed: The seed of the draw.
        out: The file to write.
    """
    items = read_whole(collection)
    columns = [name.strip() for name in by.split(",")] if by else []
    drawn = draw(items, number, by=columns, seed=seed)
    write_sample(out, drawn.sample)
    print_sample(Console(), drawn.sample, [*items.notes, *drawn.notes])
    typer.echo(shown(str(out)))


def print_sample(console: Console, drawn: DrawnSample, notes: Sequence[str]) -> None:
    """Print the strata of a sample with their sizes.

    Args:
        console: the terminal.
        drawn: the sample.
        notes: notes about it.
    """
    kind = Message("simple")
    if drawn.by:
        kind = Message("stratified by {columns}", columns=", ".join(drawn.by))
    title = Message(
        "{items:,} of {of:,} items drawn, {kind}, seed {seed}",
        items=drawn.items,
        of=drawn.of,
        kind=kind,
        seed=drawn.seed,
    )
    print_line(console, title, style="bold")
    if drawn.by:
        columns = [printable(name) for name in drawn.by]
        table = localized_table(None, *columns, right=("in the whole", "drawn"))
        for stratum in drawn.strata[:MAX_ROWS]:
            values = (stratum.values.get(name) for name in drawn.by)
            cells = (
                Text(localized("(none)")) if value is None else printable(value) for value in values
            )
            table.add_row(*cells, number(stratum.of, ","), number(stratum.items, ","))
        if len(drawn.strata) > MAX_ROWS:
            table.add_row(localized("and {count} more", count=len(drawn.strata) - MAX_ROWS))
        console.print(table)
    for note in notes:
        print_marked(console, "note: ", note, style="")
