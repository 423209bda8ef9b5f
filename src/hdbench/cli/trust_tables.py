"""Plans and decisions for a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.common.printing import MAX_NOTE, heading, plain_table, printable
from hdbench.exporting.applied_marc import LEFT_LIST, RECORDS, TAKEN_LIST
from hdbench.trust.out import CONTROL, WORK_LIST
from hdbench.trust.words import control_sentences, sentences, warning_in_words

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.exporting.applied_marc import Written
    from hdbench.trust.control import Controlled
    from hdbench.trust.decision import Decision, Outcome
    from hdbench.trust.out import Applied
    from hdbench.trust.plan import Plan

FIELD_WIDTH = 30
"""How many characters of a field's path stand in one line."""

_VERDICTS = {"rule": "the rule", "exact": "the exact verdict"}


def print_plan(console: Console, plan: "Plan", path: Path) -> None:
    """Print what was fixed, and what to do next.

    Args:
        console: where to.
        plan: the plan.
        path: where it was written.
    """
    title = f"{len(plan.sample):,} of {plan.whole.of:,} items drawn, seed {plan.whole.seed}"
    console.print(Text(title), style="bold", highlight=False)
    names = ", ".join(run.name for run in plan.runs)
    lines = [
        f"runs: {names}",
        *([f"trust scores: {plan.scores.path}"] if plan.scores else []),
        f"fields: {', '.join(plan.fields)}",
        f"at most {100 * plan.limit:g}% wrong with {plan.confidence:.0%} confidence, counted "
        f"{_right(plan)}, decided by {_VERDICTS[plan.verdict]}",
    ]
    if plan.several_values:
        left = ", ".join(plan.several_values)
        lines.append(f"left out, as an item may have several values of them: {left}")
    for line in lines:
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)
    if plan.known:
        text = (
            f"{plan.known:,} items of the sample have a ground truth already: what is decided by "
            "this plan will be no promise"
        )
        console.print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)
    console.print(f"hash: {plan.hash()}", markup=False, highlight=False)
    then = (
        f"next: hdbench annotate FOLDER --only {path}, without drafts; then hdbench trust decide "
        f"{path}"
    )
    console.print(printable(str(path)), highlight=False)
    console.print(printable(then, MAX_NOTE), highlight=False, soft_wrap=True)


def _right(plan: "Plan") -> str:
    return "to the letter" if plan.right == "letter" else "by the benchmark's own threshold"


def print_decision(console: Console, decision: "Decision") -> None:
    """Print what was decided, the thresholds, the fields, and what to know.

    Args:
        console: where to.
        decision: the decision.
    """
    first, *others = sentences(decision)
    console.print(printable(first, MAX_NOTE), style="bold", highlight=False, soft_wrap=True)
    for line in others:
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)
    console.print()
    _print_walks(console, decision)
    if decision.outcome is not None:
        console.print()
        _print_fields(console, decision.outcome)
    for warned in decision.warnings:
        text = printable(warning_in_words(warned), MAX_NOTE)
        console.print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)
    console.print(
        Text(f"plan {decision.plan[:12]}… of {decision.created}", style="dim"), highlight=False
    )


def _print_walks(console: Console, decision: "Decision") -> None:
    heads = ("threshold", "taken over", "wrong", "bound")
    table = plain_table("Loosest thresholds that pass", "right", "verdict", right=heads)
    values = decision.checked
    for walk in decision.walks:
        accepted = [step for step in walk.steps if step.accepted]
        counts = walk is decision.counting
        style = "bold" if counts else ""
        right = "to the letter" if walk.right == "letter" else "by threshold"
        of = values * (len(walk.fields) + len(walk.left_out))
        if accepted:
            last = accepted[-1]
            cells = [
                f"{last.threshold:g}",
                f"{last.passing / of:.1%}",
                f"{last.wrong / last.passing:.1%}",
                f"{last.bound:.2%}" if walk.verdict == "rule" else f"won {last.bound:.3g} times",
            ]
        else:
            cells = ["none", "", "", ""]
        table.add_row(right, walk.verdict, *cells, style=style)
    console.print(table)


def _print_fields(console: Console, outcome: "Outcome") -> None:
    heads = ("taken over", "wrong", "bound", "empty", "wrong")
    table = plain_table("Fields, each by itself, and their empty values", "field", right=heads)
    for name, each in outcome.by_field.items():
        upper = f"{each.share.upper:.1%}" if each.passing else ""
        cells = (f"{each.passing:,}", f"{each.wrong:,}", upper)
        table.add_row(
            heading(name, FIELD_WIDTH), *cells, f"{each.empty:,}", f"{each.wrong_empty:,}"
        )
    console.print(table)


def print_applied(console: Console, applied: "Applied", out: Path) -> None:
    """Print what became of the values, and what to do next.

    Args:
        console: where to.
        applied: what was done.
        out: the folder.
    """
    values = applied.taken + applied.checked + sum(applied.check.values())
    items = _counted(applied.items, "item", "items")
    title = f"{applied.taken:,} of {values:,} values taken over, in {items}"
    console.print(Text(title), style="bold", highlight=False, soft_wrap=True)
    reasons = [f"{why}: {number:,}" for why, number in applied.check.items()]
    lines = [f"checked by people already: {applied.checked:,}", *reasons]
    for line in lines:
        console.print(printable(line, MAX_NOTE), highlight=False, soft_wrap=True)
    console.print()
    heads = ("taken over", "to look at", "checked")
    table = plain_table("By field", "field", right=heads)
    for name, counts in applied.by_field.items():
        taken, checked = counts.get("taken", 0), counts.get("checked", 0)
        look = sum(counts.values()) - taken - checked
        table.add_row(heading(name, FIELD_WIDTH), f"{taken:,}", f"{look:,}", f"{checked:,}")
    console.print(table)
    annotate = "hdbench annotate FOLDER --only"
    left = _counted(applied.to_look_at, "item", "items")
    lines = [f"{left} to look at"]
    if applied.to_look_at:
        lines = [f"{left} to look at: {annotate} {out / WORK_LIST}"]
    if applied.taken:
        # First: an item that was checked with a draft in sight says nothing about the others.
        lines = [
            f"first check the control sample, without drafts: {annotate} {out / CONTROL}, then "
            f"hdbench trust control {out}",
            *lines,
        ]
    for line in lines:
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)


def print_marc(console: Console, written: "Written", out: Path) -> None:
    """Print what was written as MARC.

    Args:
        console: where to.
        written: what it was.
        out: the folder.
    """
    records = _counted(written.records, "record", "records")
    added = _counted(written.values, "subfield", "subfields")
    left = _counted(written.left, "value", "values")
    lines = (
        f"{out / RECORDS}: {records}, {written.touched:,} of them filled",
        f"{out / TAKEN_LIST}: {added} added",
        f"{out / LEFT_LIST}: {left} taken over, but in no record, and why",
    )
    for line in lines:
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)


def print_controlled(console: Console, found: "Controlled") -> None:
    """Print what a control sample says.

    Args:
        console: where to.
        found: what it says.
    """
    first, *others = control_sentences(found)
    console.print(Text(first), style="bold", highlight=False, soft_wrap=True)
    for line in others:
        console.print(printable(line, MAX_NOTE), soft_wrap=True, highlight=False)
    console.print()
    table = plain_table("By field", "field", right=("taken over", "wrong", "upper bound"))
    for name, each in found.by_field.items():
        cells = (f"{each.taken:,}", f"{each.wrong:,}", f"{each.share.upper:.1%}")
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    console.print(Text(f"plan {found.plan[:12]}", style="dim"), highlight=False)


def _counted(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
