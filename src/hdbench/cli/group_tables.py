"""Strata and groups of items as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.common.printing import plain_table, printable

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.collecting.drawing import Sample

MAX_ROWS = 100
"""Maximum rows of a table."""

MAX_NOTE = 1_000
"""How many characters of a note are shown."""


def print_sample(console: Console, drawn: "Sample", notes: Sequence[str]) -> None:
    """Print the strata of a sample with their sizes.

    Args:
        console: where to.
        drawn: the sample.
        notes: what a person should know about it.
    """
    kind = f"stratified by {', '.join(drawn.by)}" if drawn.by else "simple"
    title = f"{drawn.items:,} of {drawn.of:,} items drawn, {kind}, seed {drawn.seed}"
    console.print(printable(title, MAX_NOTE), style="bold", soft_wrap=True)
    if drawn.by:
        columns = [printable(name) for name in drawn.by]
        table = plain_table(None, *columns, right=("in the whole", "drawn"))
        for stratum in drawn.strata[:MAX_ROWS]:
            values = (stratum.values.get(name) for name in drawn.by)
            shown = (Text("(none)") if value is None else printable(value) for value in values)
            table.add_row(*shown, f"{stratum.of:,}", f"{stratum.items:,}")
        if len(drawn.strata) > MAX_ROWS:
            table.add_row(f"and {len(drawn.strata) - MAX_ROWS} more")
        console.print(table)
    for note in notes:
        console.print(Text.assemble("note: ", printable(note, MAX_NOTE)), soft_wrap=True)
