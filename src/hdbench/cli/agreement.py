"""Command that says how well people agree."""

from pathlib import Path
from typing import Any

from rich.console import Console

from hdbench.benchmarks.agreement import Agreement, IntervalEstimate
from hdbench.cli.arguments import JsonOut
from hdbench.collections.truth.agreement import agreement_of
from hdbench.collections.truth.double import read_doubly_read
from hdbench.common.display.table import Column, Table
from hdbench.common.display.terminal import print_line, print_table
from hdbench.common.jsonio import write_json
from hdbench.common.texts import current_language
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.parts import in_words, people_in_words
from hdbench.statistics.agreement import MAX_DIFFERENT, MIN_DOUBLE


def command(
    folder: Path,
    *,
    json_out: JsonOut = None,
) -> None:
    """How well do the people agree who annotated the same items?

    For each field, and as the score that they reach against each other, by the benchmark's own
    rules. It follows from what each of them entered before anything was settled.

    Args:
        folder: The collection's folder.
        json_out: Write the figures to this file.
    """
    finished, unfinished = read_doubly_read(folder)
    agreement = agreement_of(folder, finished)
    if agreement is None:
        why = Message("let two people read the same items, with hdbench annotate --double")
        if unfinished:
            why = Message("{count} assigned, and not all are done with them", count=unfinished)
        raise HdbenchError(
            "{folder}: no item yet that several people are done with: {why}", folder=folder, why=why
        )
    if json_out:
        write_json(json_out, agreement.model_dump(mode="json"))
    print_agreement(Console(), agreement, unfinished)


def print_agreement(console: Console, agreement: Agreement, unfinished: int) -> None:
    """Print the agreement in each field, and the people's figures against each other.

    Args:
        console: the terminal.
        agreement: the figures.
        unfinished: the number of assigned items that some annotators have not finished.
    """
    title = Message(
        "{annotators} annotators, {items:,} item"
        if agreement.items == 1
        else "{annotators} annotators, {items:,} items",
        annotators=agreement.annotators,
        items=agreement.items,
    )
    print_line(console, title, style="bold")
    print_table(console, agreement_table(agreement), current_language())
    for line in _lines(agreement, unfinished):
        print_line(console, line)


def agreement_table(agreement: Agreement) -> Table:
    """Return a row for each field, with shares and alphas, each with its interval."""
    columns = [
        Column("field", "field", Message("field")),
        Column("values", "number", Message("values")),
        Column("share", "rate", Message("same"), ("share_low", "share_high")),
        Column("alpha", "rate", Message("alpha"), ("alpha_low", "alpha_high")),
        Column(
            "alpha_similarity",
            "rate",
            Message("alpha by similarity"),
            ("alpha_similarity_low", "alpha_similarity_high"),
        ),
    ]
    rows = []
    for name, field in agreement.fields.items():
        row: dict[str, Any] = {"field": name, "values": field.units}
        for of, (low, high) in ((each.name, each.ends) for each in columns if each.ends):
            estimate: IntervalEstimate = getattr(field, of)
            row[of] = estimate.value
            row[low], row[high] = estimate.interval or (None, None)
        rows.append(row)
    return Table(rows, columns)


def _lines(agreement: Agreement, unfinished: int) -> list[str]:
    lines: list[str] = []
    if agreement.ceiling is not None:
        reached = people_in_words(agreement.ceiling, current_language())
        lines.append(f"{agreement.ceiling.headline}, {reached}")
        lines.append(in_words("people_means", {}, current_language()))
    if agreement.items < MIN_DOUBLE:
        lines.append(Message("fewer than {least} items: too few for intervals", least=MIN_DOUBLE))
    if agreement.without_truth:
        line = Message(
            "{count:,} item: at least one annotator entered nothing, or said that nobody can know "
            "the ground truth"
            if agreement.without_truth == 1
            else "{count:,} items: at least one annotator entered nothing, or said that nobody can "
            "know the ground truth",
            count=agreement.without_truth,
        )
        lines.append(line)
    fields = agreement.fields.values()
    if any(field.alpha.value is None for field in fields):
        lines.append(Message("–: alpha is not defined where all values are equal"))
    defined = (field for field in fields if field.alpha.value is not None)
    if any(field.alpha_similarity.value is None for field in defined):
        line = Message(
            "–: no alpha by similarity for more than {most:,} different values", most=MAX_DIFFERENT
        )
        lines.append(line)
    if unfinished:
        line = Message(
            "{count:,} assigned item is not here yet: not all are done with it"
            if unfinished == 1
            else "{count:,} assigned items are not here yet: not all are done with them",
            count=unfinished,
        )
        lines.append(line)
    return lines
