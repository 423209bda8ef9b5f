"""Command with which people make and correct a ground truth."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.annotation import ANNOTATION, assign
from hdbench.annotating.changes import SETTLED
from hdbench.annotating.editor import Editor
from hdbench.annotating.merging import Incoming, hand_over, merge
from hdbench.annotating.reviewing.review import Review
from hdbench.benchmarks.names import full_name
from hdbench.benchmarks.provenance import BLIND
from hdbench.cli.terminal import localized, say, say_notes, shown
from hdbench.common.extras import needed
from hdbench.common.texts import Language
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError, Message, escaped, joined
from hdbench.trust.listed import read_listed

MAX_NAMED = 20
"""Maximum number of conflicts, assignments and people that are named."""


def command(
    folder: Path,
    *,
    annotator: Annotated[str, typer.Option("--as", metavar="PSEUDONYM")] = "me",
    drafts: Annotated[list[Path] | None, typer.Option(metavar="RUN")] = None,
    only: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 7870,
    language: Language | None = None,
    assigned: Annotated[str | None, typer.Option("--assign", metavar="PSEUDONYMS")] = None,
    number: Annotated[int | None, typer.Option("--items", min=1)] = None,
    seed: int = 1,
    review: Annotated[Path | None, typer.Option(metavar="LIST")] = None,
    handed_over: Annotated[Path | None, typer.Option("--hand-over", metavar="FILE")] = None,
    merged: Annotated[Path | None, typer.Option("--merge", metavar="FILE")] = None,
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> None:
    """Make or correct the ground truth in the browser, the image beside a form.

    Every entry is saved at once, into a history in FOLDER/history.

    Args:
        folder: The collection's folder, as hdbench new writes it; with --review also a benchmark.
        annotator: Your pseudonym, which stands in the history: a-z, 0-9, _ and -. If several people
            work on a collection, each needs one.
        drafts: A run whose answers can be filled in, to be corrected. Repeat it for a second one,
            to see where the models differ.
        only: Show these items only, in this order: a plan of hdbench trust plan, or a work list or
            control sample of hdbench trust apply. Samples are checked without --drafts.
        port: The port of the page; 0 for any that is free.
        language: The page's language; by default that of hdbench --language, and the browser's
            where that is English.
        assigned: Give the same items to several people, such as anna,ben, who do not see each
            other's entries until they are all done with an item, and do no more. Items are drawn at
            random among those that nobody has started.
        number: With --assign: how many; by default all.
        seed: With --assign: another draw for each seed; it is recorded.
        review: Look through this list of hdbench audit --list instead: read each value again,
            without seeing what the ground truth has, then judge.
        handed_over: Write your history into a ZIP for somebody else who works on the same
            collection, with which items are assigned to whom, and do no more.
        merged: Take in what somebody else handed over, and do no more. It shows whose work it is
            said to be, and asks first.
        yes: With --merge: take it in without asking.
    """
    if assigned is not None:
        _assign(folder, assigned.split(","), number, seed)
        return
    if handed_over or merged:
        _exchange(folder, annotator, handed_over, merged, yes=yes)
        return
    with needed("space", "the editor needs"):
        from hdbench.annotating.server import serve  # noqa: PLC0415  Starlette is slow to import

    page_language = language or (None if current_language() == "en" else current_language())
    if review and drafts:
        raise HdbenchError("--review: second looks are blind, so that --drafts does not go with it")
    if review and only:
        raise HdbenchError("--review: shows the items of its own list: leave out --only")
    if review:
        reviewed = Review(Path(full_name(str(folder))), review, annotator, page_language)
        say_notes(reviewed.notes)
        serve(reviewed, port=port, started=_say_address)
        return
    listed = _listed(only, with_drafts=bool(drafts)) if only else None
    editor = Editor(folder, annotator, drafts or (), page_language, listed)
    say_notes(editor.notes)
    if waiting := editor.waiting():
        names = ", ".join(
            localized("{name} ({count:,})", name=name, count=count)
            for name, count in sorted(waiting.items())
        )
        say(
            "note: assigned items have no ground truth yet, waiting for {names}",
            names=names,
            err=True,
        )
    serve(editor, port=port, started=_say_address)


def _listed(path: Path, *, with_drafts: bool) -> Mapping[str, Sequence[str]]:
    """Return the items of a list, and the fields to look at in each."""
    listed = read_listed(path)
    if listed.blind and with_drafts:
        raise HdbenchError(
            "{path}: a sample that is checked blind: leave out --drafts, since people overlook "
            "what a draft has wrong",
            path=path,
        )
    return listed.fields


def _say_address(url: str) -> None:
    # In one piece: a program that starts the editor may read only up to the address.
    typer.echo(f"{url}\n{localized('Ctrl+C ends it.')}")


def _assign(folder: Path, annotators: list[str], number: int | None, seed: int) -> None:
    """Assign the same items to several people."""
    assigned = assign(folder, [name.strip() for name in annotators], items=number, seed=seed)
    first, *others = assigned.assignment.annotators
    names = Message("{name}", name=first)
    for name in others:
        names = Message("{names} and {name}", names=names, name=name)
    say(
        "{path}: {count:,} of {of:,} items that nobody has started are now assigned to {names}",
        path=folder / ANNOTATION,
        count=len(assigned.assignment.items),
        of=assigned.of,
        names=names,
    )
    say("Each opens the folder with --as; --hand-over takes the assignment along to a copy.")


def _exchange(
    folder: Path, annotator: str, handed_over: Path | None, merged: Path | None, *, yes: bool
) -> None:
    """Merge somebody else's work, or write one's own for somebody else."""
    if merged:
        merged_work = merge(folder, merged, annotator, partial(_ask, merged, yes=yes))
        say(
            "{path}: new changes: {taken:,}, known: {known:,}, conflicts: {conflicts:,}, newly "
            "assigned items: {assigned:,}"
            if merged_work.assigned
            else "{path}: new changes: {taken:,}, known: {known:,}, conflicts: {conflicts:,}",
            path=merged,
            taken=merged_work.taken,
            known=merged_work.known,
            conflicts=len(merged_work.conflicts),
            assigned=merged_work.assigned,
        )
        for conflict in merged_work.conflicts[:MAX_NAMED]:
            typer.echo(f"  {escaped(conflict.item)}: {shown(conflict.field or conflict.what)}")
        if merged_work.conflicts:
            say("hdbench annotate shows both values of each: take one")
    if handed_over:
        count = hand_over(folder, annotator, handed_over)
        say(
            "{path}: {count:,} changes by {annotator}",
            path=handed_over,
            count=count,
            annotator=annotator,
        )


def _ask(path: Path, incoming: Incoming, *, yes: bool) -> None:
    """Show the incoming changes, and go on only if the user agrees.

    Raises:
        HdbenchError: there is nobody to ask.
    """
    news = _news(incoming)
    if not (yes or sys.stdin.isatty()):
        raise HdbenchError(
            "{path}: {news}: nothing is taken in without being asked for: run this in a "
            "terminal, or add --yes",
            path=path,
            news=joined(news, "; "),
        )
    for line in news:
        say("{path}: {news}", path=path, news=line)
    if not yes:
        typer.confirm(localized("Take this in? Nothing proves whose it is."), abort=True)


def _news(incoming: Incoming) -> list[Message]:
    """Return a line for each kind of incoming change."""
    changes = [change for change in incoming.changes if not change.is_base]
    news = []
    if changes:
        times = sorted(change.at[:10] for change in changes)
        news.append(
            Message(
                "new changes by {name}: {count:,}, items changed: {items:,}, {first} to {last}"
                if incoming.is_known
                else "changes by {name}, of whom nothing is here yet: {count:,}, items changed: "
                "{items:,}, {first} to {last}",
                count=len(changes),
                items=len({change.item for change in changes}),
                name=incoming.annotator,
                first=times[0],
                last=times[-1],
            )
        )
    statuses = Counter(change.to for change in changes if change.what == "status")
    hows = Counter(
        change.how for change in (*changes, *incoming.records) if change.what == "ground_truth"
    )
    if done := statuses["done"]:
        news.append(Message("items said to be done: {count:,}", count=done))
    if blind := hows[BLIND]:
        news.append(Message("values said to be made without a draft: {count:,}", count=blind))
    if settled := hows[SETTLED]:
        news.append(Message("values said to settle what differs: {count:,}", count=settled))
    if incoming.records:
        news.append(
            Message(
                "records from before anybody annotated, according to {name}, that are others here: "
                "{count:,}",
                name=incoming.annotator,
                count=len(incoming.records),
            )
        )
    for assignment in incoming.assignments[:MAX_NAMED]:
        names = ", ".join(assignment.annotators)
        count = len(assignment.items)
        news.append(Message("items assigned to {names}: {count:,}", names=names, count=count))
    if further := incoming.assignments[MAX_NAMED:]:
        count = sum(len(assignment.items) for assignment in further)
        news.append(Message("items assigned to others: {count:,}", count=count))
    if incoming.strangers:
        news.append(
            Message(
                "assigned, but not known here so far: {count:,}, such as {names}",
                count=len(incoming.strangers),
                names=", ".join(incoming.strangers[:MAX_NAMED]),
            )
        )
    if incoming.blind:
        news.append(
            Message("items no longer to be annotated from a draft: {count:,}", count=incoming.blind)
        )
    return news
