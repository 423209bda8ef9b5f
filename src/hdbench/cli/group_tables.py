"""Strata and groups of items as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.common.printing import MAX_NOTE, plain_table, printable
from hdbench.results.warning_texts import in_words
from hdbench.statistics.bootstrap import MIN_ITEMS

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.collecting.drawing import Sample
    from hdbench.evaluation.by_column import ByColumn, Group, GroupDifference

MAX_ROWS = 100
"""Maximum rows of a table."""

_SIGNED = {"difference": "+.4f"}


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


def print_groups(console: Console, found: "ByColumn[Group] | ByColumn[GroupDifference]") -> None:
    """Print the headline by the values of a column, of one run or of two side by side.

    Args:
        console: where to.
        found: from `hdbench.evaluation.by_column`.
    """
    differ = bool(found.groups) and hasattr(found.groups[0], "difference")
    figures = {"a": "A", "b": "B", "difference": "A - B"} if differ else {"figure": found.headline}
    counts = ["items"] if differ else ["items", "answered"]
    title = f"{found.headline} by {found.column}" if differ else f"By {found.column}"
    table = plain_table(
        printable(title).plain,
        printable(found.column),
        right=(*counts, *figures.values(), "95 % interval"),
    )
    for group in found.groups:
        ends, sign = group.interval, "+" if differ else ""
        few = "too few" if group.items < MIN_ITEMS else ""
        table.add_row(
            Text("(none)") if group.value is None else printable(group.value),
            *(_shown(getattr(group, name), "d") for name in counts),
            *(_shown(getattr(group, name), _SIGNED.get(name, ".4f")) for name in figures),
            f"{ends.low:{sign}.4f} to {ends.high:{sign}.4f}" if ends else few,
        )
    console.print()
    console.print(table)
    if found.note:
        console.print(Text.assemble("note: ", printable(found.note, MAX_NOTE)), soft_wrap=True)
    if found.warning:
        told = printable(in_words(**found.warning), MAX_NOTE)
        console.print(Text.assemble(("warning: ", "bold yellow"), told), soft_wrap=True)


def _shown(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
