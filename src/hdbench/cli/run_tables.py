"""Runs in a terminal: two side by side, or a line for each benchmark."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.cli.said_tables import print_line, print_marked, said_table
from hdbench.cli.saying import ends, number, said, shown
from hdbench.cli.tables import MAX_FIELDS
from hdbench.common.printing import printable
from hdbench.errors import Message

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
    table = said_table(None, "figure", right=("A", "B", "A - B", *head))
    for name, difference in comparison.figures.items():
        interval = difference.interval
        table.add_row(
            name,
            number(difference.a, ".4f"),
            number(difference.b, ".4f"),
            number(difference.difference, "+.4f"),
            *([ends(interval.low, interval.high, form="+.4f")] if interval else []),
        )
    if comparison.estimated:
        print_line(console, comparison.estimated)
    console.print(table)
    verdict = Message("not separable")
    if comparison.better:
        verdict = Message("{better} is better", better=printable(comparison.better).plain)
    line = said(
        "{headline}: {verdict}: {why}",
        headline=comparison.judged_by,
        verdict=verdict,
        why=comparison.why,
    )
    console.print(line, soft_wrap=True, markup=False)
    if comparison.judged_by != comparison.headline:
        line = said(
            "runs are compared by {figure}, as one item can outweigh all others in {headline}",
            figure=comparison.judged_by,
            headline=comparison.headline,
        )
        console.print(line, soft_wrap=True, markup=False)
    if told and not comparison.resamples:
        line = said("intervals by the {method}", method=Message(comparison.method))
        console.print(line, soft_wrap=True)
    if comparison.detectable is not None:
        line = said(
            "{items} items can show a difference of {detectable:.3f} or more, four times in five",
            items=comparison.items,
            detectable=comparison.detectable,
        )
        console.print(line, soft_wrap=True)
    if comparison.fields:
        fields = said_table("Fields", "field", right=("A", "B", "A - B"))
        for name, effect in list(comparison.fields.items())[:MAX_FIELDS]:
            rates = (effect.a, effect.b, effect.difference)
            cells = ("" if rate is None else number(rate, ".3f") for rate in rates)
            fields.add_row(printable(name), *cells)
        console.print()
        console.print(fields)
    if comparison.items_apart:
        title = Message("Items that differ most ({figure})", figure=comparison.item_figure)
        items = said_table(title, "id", right=("A", "B"))
        for item in comparison.items_apart:
            items.add_row(printable(item.id), number(item.a, ".3f"), number(item.b, ".3f"))
        console.print()
        console.print(items)


def print_evaluations(console: Console, evaluations: Sequence["Evaluation"]) -> None:
    """Print a line for each benchmark that a model was run on, and one for what is left to do.

    Args:
        console: where to.
        evaluations: from `hdbench.running.evaluating`.
    """
    for each in evaluations:
        headline = each.result.headline
        interval = shown(each.result.intervals.describe(headline))
        answered = {"answered": each.result.answered, "items": len(each.result.ids)}
        parts = [
            f"{headline} {number(each.value, '.3f')} ({interval})",
            said("{answered} of {items} answered", **answered),
        ]
        if each.result.run.subset is not None:
            parts.append(shown(each.result.run.subset))
        if each.least is not None:
            least = each.least
            parts.append(
                said("reaches {least:g}" if each.passed else "below {least:g}", least=least)
            )
        print_line(console, f"{each.benchmark.spec.name}: {', '.join(parts)}")
        for line in each.outcome.lines(each.folder):
            print_marked(console, "  ", line, style="")
