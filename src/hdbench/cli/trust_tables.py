"""Plans and decisions for a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hdbench.cli.said_tables import print_line, print_marked, said_table
from hdbench.cli.saying import number, said
from hdbench.common.printing import heading, printable
from hdbench.common.told import spoken
from hdbench.errors import Message
from hdbench.exporting.applied_marc import LEFT_LIST, RECORDS, TAKEN_LIST
from hdbench.trust.out import CONTROL, VALUES, WORK_LIST
from hdbench.trust.words import control_sentences, sentences, warning_in_words

if TYPE_CHECKING:  # numpy takes long to import
    from hdbench.exporting.applied_marc import Written
    from hdbench.trust.control import Controlled
    from hdbench.trust.decision import Decision, Outcome
    from hdbench.trust.out import Applied
    from hdbench.trust.plan import Plan

FIELD_WIDTH = 30
"""How many characters of a field's path stand in one line."""


def print_plan(console: Console, plan: "Plan", path: Path) -> None:
    """Print what was fixed, and what to do next.

    Args:
        console: where to.
        plan: the plan.
        path: where it was written.
    """
    title = said(
        "{count:,} of {of:,} items drawn, seed {seed}",
        count=len(plan.sample),
        of=plan.whole.of,
        seed=plan.whole.seed,
    )
    console.print(Text(title), style="bold")
    lines = [Message("runs: {names}", names=", ".join(run.name for run in plan.runs))]
    if plan.scores:
        lines.append(Message("trust scores: {path}", path=plan.scores.path))
    lines.append(Message("fields: {names}", names=", ".join(plan.fields)))
    promise = Message(
        "at most {limit:g}% wrong, counted {right}, decided by the rule (calibrated for "
        "{confidence:.0%} confidence)"
        if plan.verdict == "rule"
        else "at most {limit:g}% wrong with {confidence:.0%} confidence, counted {right}, decided "
        "by the exact verdict",
        limit=100 * plan.limit,
        confidence=plan.confidence,
        right=_right(plan),
    )
    lines.append(promise)
    if plan.several_values:
        left = Message(
            "left out, as an item may have several values of them: {names}",
            names=", ".join(plan.several_values),
        )
        lines.append(left)
    for line in lines:
        print_line(console, line)
    if plan.known:
        known = Message(
            "{count:,} items of the sample have a ground truth already: what is decided by this "
            "plan will be no promise",
            count=plan.known,
        )
        print_marked(console, "warning: ", known)
    console.print(said("hash: {hash}", hash=plan.hash()), markup=False, highlight=False)
    console.print(printable(str(path)))
    then = Message(
        "next: hdbench annotate FOLDER --only {path}, without drafts; then hdbench trust decide "
        "{path}",
        path=path,
    )
    print_line(console, then)


def _right(plan: "Plan") -> Message:
    return Message(
        "to the letter" if plan.right == "letter" else "by the benchmark's own threshold"
    )


def print_decision(console: Console, decision: "Decision") -> None:
    """Print what was decided, the thresholds, the fields, and what to know.

    Args:
        console: where to.
        decision: the decision.
    """
    first, *others = sentences(decision, spoken())
    print_line(console, first, style="bold")
    for line in others:
        print_line(console, line)
    console.print()
    _print_walks(console, decision)
    if decision.outcome is not None:
        console.print()
        _print_fields(console, decision.outcome)
    for warned in decision.warnings:
        print_marked(console, "warning: ", warning_in_words(warned, spoken()))
    if decision.outcome is not None and decision.holds:
        then = Message("next: hdbench trust apply {path} --out OUT", path=decision.plan_file)
        print_line(console, then)
    made = Message("plan {hash}… of {created}", hash=decision.plan[:12], created=decision.created)
    print_line(console, made, style="dim")


def _print_walks(console: Console, decision: "Decision") -> None:
    heads = ("threshold", "taken over", "wrong", "bound")
    table = said_table("Loosest thresholds that pass", "right", "verdict", right=heads)
    values = decision.checked
    for walk in decision.walks:
        accepted = [step for step in walk.steps if step.accepted]
        counts = walk is decision.counting
        style = "bold" if counts else ""
        right = said("to the letter" if walk.right == "letter" else "by threshold")
        of = values * (len(walk.fields) + len(walk.left_out))
        if accepted:
            last = accepted[-1]
            cells = [
                number(last.threshold, "g"),
                number(last.passing / of, ".1%"),
                number(last.wrong / last.passing, ".1%"),
                number(last.bound, ".2%")
                if walk.verdict == "rule"
                else said("won {times:.3g} times", times=last.bound),
            ]
        else:
            cells = [said("none"), "", "", ""]
        table.add_row(right, said(walk.verdict), *cells, style=style)
    console.print(table)


def _print_fields(console: Console, outcome: "Outcome") -> None:
    heads = ("taken over", "wrong", "bound", "empty", "wrong")
    table = said_table("Fields, each by itself, and their empty values", "field", right=heads)
    for name, each in outcome.by_field.items():
        upper = number(each.share.upper, ".1%") if each.passing else ""
        passing, wrong, empty, wrong_empty = (
            number(count, ",") for count in (each.passing, each.wrong, each.empty, each.wrong_empty)
        )
        table.add_row(heading(name, FIELD_WIDTH), passing, wrong, upper, empty, wrong_empty)
    console.print(table)


def print_applied(console: Console, applied: "Applied", out: Path) -> None:
    """Print what became of the values, and what to do next.

    Args:
        console: where to.
        applied: what was done.
        out: the folder.
    """
    values = applied.taken + applied.checked + sum(applied.check.values())
    title = Message(
        "{taken:,} of {values:,} values taken over, in {items:,} item"
        if applied.items == 1
        else "{taken:,} of {values:,} values taken over, in {items:,} items",
        taken=applied.taken,
        values=values,
        items=applied.items,
    )
    print_line(console, title, style="bold")
    print_line(console, Message("checked by people already: {count:,}", count=applied.checked))
    for why, count in applied.check.items():
        print_line(console, Message("{why}: {count:,}", why=Message(why), count=count))
    console.print()
    heads = ("taken over", "to look at", "checked")
    table = said_table("By field", "field", right=heads)
    for name, counts in applied.by_field.items():
        taken, checked = counts.get("taken", 0), counts.get("checked", 0)
        look = sum(counts.values()) - taken - checked
        cells = (number(count, ",") for count in (taken, look, checked))
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    if applied.taken:
        # First: an item that was checked with a draft in sight says nothing about the others.
        first = Message(
            "first check the control sample, without drafts: hdbench annotate FOLDER --only "
            "{control}, then hdbench trust control {out}",
            control=out / CONTROL,
            out=out,
        )
        print_line(console, first)
    left = Message(
        "{count:,} item to look at" if applied.to_look_at == 1 else "{count:,} items to look at",
        count=applied.to_look_at,
    )
    if applied.to_look_at:
        work_list = out / WORK_LIST
        left = Message("{left}: hdbench annotate FOLDER --only {path}", left=left, path=work_list)
    print_line(console, left)


def print_marc(console: Console, written: "Written", out: Path) -> None:
    """Print what was written as MARC.

    Args:
        console: where to.
        written: what it was.
        out: the folder.
    """
    records = Message(
        "{path}: {count:,} record, {filled:,} of them filled"
        if written.records == 1
        else "{path}: {count:,} records, {filled:,} of them filled",
        path=out / RECORDS,
        count=written.records,
        filled=written.touched,
    )
    added = Message(
        "{path}: {count:,} subfield added"
        if written.values == 1
        else "{path}: {count:,} subfields added",
        path=out / TAKEN_LIST,
        count=written.values,
    )
    left = Message(
        "{path}: {count:,} value taken over, but in no record, and why"
        if written.left == 1
        else "{path}: {count:,} values taken over, but in no record, and why",
        path=out / LEFT_LIST,
        count=written.left,
    )
    for line in (records, added, left):
        print_line(console, line)


def print_controlled(
    console: Console, found: "Controlled", out: Path, *, left_to_look_at: bool
) -> None:
    """Print what a control sample says, and what to do next.

    Args:
        console: where to.
        found: what it says.
        out: the folder of `hdbench trust apply`.
        left_to_look_at: whether there are items on the work list.
    """
    first, *others = control_sentences(found, spoken())
    print_line(console, first, style="bold")
    for line in others:
        print_line(console, line)
    console.print()
    table = said_table("By field", "field", right=("taken over", "wrong", "upper bound"))
    for name, each in found.by_field.items():
        cells = (number(each.taken, ","), number(each.wrong, ","), number(each.share.upper, ".1%"))
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    if not found.holds:
        then = Message(
            "next: do not use the values in {values} unseen: look at them too, or make a new plan "
            "with a stricter --limit, a larger -n or --verdict exact, and check its sample",
            values=out / VALUES,
        )
    else:
        then = Message("next: the values in {values} can be used", values=out / VALUES)
        if left_to_look_at:
            then = Message(
                "{then}; for the others: hdbench annotate FOLDER --only {path}",
                then=then,
                path=out / WORK_LIST,
            )
    print_line(console, then)
    print_line(console, Message("plan {hash}", hash=found.plan[:12]), style="dim")
