"""Strata and groups of items as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.cli.said_tables import print_line, print_marked, said_table
from hdbench.cli.saying import ends, number, said
from hdbench.common.printing import printable
from hdbench.common.told import spoken
from hdbench.errors import Message
from hdbench.results.warning_texts import in_words
from hdbench.statistics.bootstrap import MIN_ITEMS

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.collecting.drawing import DrawnSample
    from hdbench.evaluation.by_column import ByColumn, Group, GroupDifference

MAX_ROWS = 100
"""Maximum rows of a table."""

_SIGNED = {"difference": "+.4f"}


def print_sample(console: Console, drawn: "DrawnSample", notes: Sequence[str]) -> None:
    """Print the strata of a sample with their sizes.

    Args:
        console: where to.
        drawn: the sample.
        notes: what a person should know about it.
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
        table = said_table(None, *columns, right=("in the whole", "drawn"))
        for stratum in drawn.strata[:MAX_ROWS]:
            values = (stratum.values.get(name) for name in drawn.by)
            cells = (Text(said("(none)")) if each is None else printable(each) for each in values)
            table.add_row(*cells, number(stratum.of, ","), number(stratum.items, ","))
        if len(drawn.strata) > MAX_ROWS:
            table.add_row(said("and {count} more", count=len(drawn.strata) - MAX_ROWS))
        console.print(table)
    for note in notes:
        print_marked(console, "note: ", note, style="")


def print_groups(console: Console, found: "ByColumn[Group] | ByColumn[GroupDifference]") -> None:
    """Print the headline by the values of a column, of one run or of two side by side.

    Args:
        console: where to.
        found: from `hdbench.evaluation.by_column`.
    """
    differ = bool(found.groups) and hasattr(found.groups[0], "difference")
    figures = {"a": "A", "b": "B", "difference": "A - B"} if differ else {"figure": found.headline}
    counts = ["items"] if differ else ["items", "answered"]
    column = printable(found.column)
    title = Message("By {column}", column=column.plain)
    if differ:
        title = Message("{figure} by {column}", figure=found.headline, column=column.plain)
    table = said_table(
        title,
        column,
        right=(*counts, *figures.values(), "95 % interval"),
    )
    for group in found.groups:
        interval, sign = group.interval, "+" if differ else ""
        few = said("too few") if group.items < MIN_ITEMS else ""
        table.add_row(
            Text(said("(none)")) if group.value is None else printable(group.value),
            *(_shown(getattr(group, name), "d") for name in counts),
            *(_shown(getattr(group, name), _SIGNED.get(name, ".4f")) for name in figures),
            ends(interval.low, interval.high, form=f"{sign}.4f") if interval else few,
        )
    console.print()
    console.print(table)
    if found.note:
        print_marked(console, "note: ", found.note, style="")
    if found.warning:
        print_marked(console, "warning: ", in_words(**found.warning, language=spoken()))


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else number(value, form)
