"""How well people agree, as a table for a terminal."""

from rich.console import Console
from rich.text import Text

from hdbench.benchmarks.agreement import Agreement, Estimate
from hdbench.building.agreement_card import estimate_in_words
from hdbench.common.printing import plain_table, printable
from hdbench.results.warning_texts import in_words, people_in_words
from hdbench.statistics.agreement import MAX_DIFFERENT, MIN_ITEMS

LEAST_ROOM = 12
"""The width that a field's name has at least."""


def print_agreement(console: Console, agreement: Agreement, unfinished: int) -> None:
    """Print the agreement in each field, and what people reach against each other.

    Args:
        console: where to.
        agreement: the figures.
        unfinished: how many assigned items not all their annotators are done with.
    """
    heads: list[str | Text] = ["values", "same", "alpha", Text("alpha by\nsimilarity")]
    table = plain_table(None, "field", right=heads)
    table.columns[0].min_width = LEAST_ROOM
    for name, each in agreement.fields.items():
        figures = map(_cell, (each.share, each.alpha, each.alpha_similarity))
        table.add_row(printable(name), f"{each.units:,}", *figures)
    items = _count(agreement.items, "item")
    console.print(f"{agreement.annotators} annotators, {items}", style="bold", highlight=False)
    console.print(table)
    for line in _lines(agreement, unfinished):
        console.print(Text(line), soft_wrap=True)


def _cell(estimate: Estimate) -> Text:
    """A figure, and its interval below it."""
    value, _, ends = estimate_in_words(estimate).partition(" ")
    return Text.assemble(value, ("\n" + ends.strip("()"), "dim")) if ends else Text(value)


def _lines(agreement: Agreement, unfinished: int) -> list[str]:
    lines = []
    if agreement.ceiling is not None:
        lines.append(f"{agreement.ceiling.headline}, {people_in_words(agreement.ceiling)}")
        lines.append(in_words("people_means", {}))
    if agreement.items < MIN_ITEMS:
        lines.append(f"fewer than {MIN_ITEMS} items: too few for intervals")
    if agreement.without_truth:
        of = _count(agreement.without_truth, "item")
        lines.append(
            f"{of}: at least one annotator entered nothing, or said that nobody can know the "
            "ground truth"
        )
    fields = agreement.fields.values()
    if any(each.alpha.value is None for each in fields):
        lines.append("–: alpha is not defined where all values are equal")
    defined = (each for each in fields if each.alpha.value is not None)
    if any(each.alpha_similarity.value is None for each in defined):
        lines.append(f"–: no alpha by similarity for more than {MAX_DIFFERENT:,} different values")
    if unfinished:
        are = "is" if unfinished == 1 else "are"
        lines.append(
            f"{_count(unfinished, 'assigned item')} {are} not here yet: not all are done with "
            f"{'it' if unfinished == 1 else 'them'}"
        )
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
