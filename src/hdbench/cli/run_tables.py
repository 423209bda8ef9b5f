"""Runs in a terminal: two side by side, or a line for each benchmark."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.cli.tables import MAX_FIELDS
from hdbench.common.printing import MAX_NOTE, plain_table, printable

if TYPE_CHECKING:  # scipy takes long to import
    from hdbench.running.evaluating import Evaluation
    from hdbench.statistics.comparison import Comparison


def print_comparison(console: Console, comparison: "Comparison") -> None:
    """Print two runs side by side: their figures, fields, and the items where they differ most.

    Args:
        console: where to.
        comparison: from `hdbench.statistics.comparison`.
    """
    a, b = printable(comparison.a), printable(comparison.b)
    console.print(Text.assemble("A ", (a.plain, "bold"), ", B ", (b.plain, "bold")))
    told = any(each.interval for each in comparison.figures.values())
    head = ["95 % interval"] if told else []
    table = plain_table(None, "figure", right=("A", "B", "A - B", *head))
    for name, difference in comparison.figures.items():
        interval = difference.interval
        table.add_row(
            name,
            f"{difference.a:.4f}",
            f"{difference.b:.4f}",
            f"{difference.difference:+.4f}",
            *([f"{interval.low:+.4f} to {interval.high:+.4f}"] if interval else []),
        )
    if comparison.estimated:
        console.print(Text(comparison.estimated), soft_wrap=True)
    console.print(table)
    verdict = f"{printable(comparison.better)} is better" if comparison.better else "not separable"
    console.print(
        f"{comparison.headline}: {verdict}: {comparison.why}", soft_wrap=True, markup=False
    )
    if told and not comparison.resamples:
        console.print(f"intervals by the {comparison.method}", soft_wrap=True)
    if comparison.detectable is not None:
        console.print(
            f"{comparison.items} items can show a difference of {comparison.detectable:.3f} "
            "or more, four times in five",
            soft_wrap=True,
        )
    if comparison.fields:
        fields = plain_table("Fields", "field", right=("A", "B", "A - B"))
        for name, effect in list(comparison.fields.items())[:MAX_FIELDS]:
            rates = (effect.a, effect.b, effect.difference)
            shown = ("" if rate is None else f"{rate:.3f}" for rate in rates)
            fields.add_row(printable(name), *shown)
        console.print()
        console.print(fields)
    if comparison.items_apart:
        title = f"Items that differ most ({comparison.item_figure})"
        items = plain_table(title, "id", right=("A", "B"))
        for item in comparison.items_apart:
            items.add_row(printable(item.id), f"{item.a:.3f}", f"{item.b:.3f}")
        console.print()
        console.print(items)


def print_evaluations(console: Console, evaluations: Sequence["Evaluation"]) -> None:
    """Print a line for each benchmark that a model was run on, and one for what is left to do.

    Args:
        console: where to.
        evaluations: from `hdbench.running.evaluating`.
    """
    for each in evaluations:
        figures = each.result.figures()
        headline = each.result.headline
        parts = [
            f"{headline} {each.value:.3f} ({each.result.intervals.describe(headline)})",
            f"{figures['answered']} of {figures['items']} answered",
        ]
        if "subset" in each.result.run:
            parts.append(each.result.run["subset"])
        if each.least is not None:
            parts.append(f"{'reaches' if each.passed else 'below'} {each.least:g}")
        line = f"{each.benchmark.spec.name}: {', '.join(parts)}"
        console.print(printable(line, MAX_NOTE), soft_wrap=True)
        for said in each.outcome.lines(each.folder):
            console.print(Text("  ") + printable(said, MAX_NOTE), soft_wrap=True)
