"""Command that records the slips that reviews found."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.annotating.reviewing.accepted import SECOND_LOOKS, record_review
from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.cli.errata_add import AcceptedAt, ApprovedBy, RecipeName
from hdbench.cli.terminal import say, say_notes
from hdbench.errors import Message


def command(
    name: RecipeName,
    path: Annotated[Path, typer.Argument(metavar="LIST")],
    *,
    approved_by: ApprovedBy,
    proposed_by: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    accepted: AcceptedAt = None,
) -> None:
    """Record the slips that second looks found, all as one new version of the dataset.

    They are corrections of values: they count when the data's owners accepted them, see --accepted.

    A slip is taken if everybody who judged it calls it one and gives the same value. The dataset
    must be built in ./hdb, in the version that was looked at. Pseudonyms are not recorded.

    Args:
        path: The list of hdbench audit --list; the looks are beside it.
        proposed_by: Who proposed it; by default, the second looks.
    """
    recorded = record_review(
        name,
        path,
        approved_by=approved_by,
        proposed_by=proposed_by or SECOND_LOOKS,
        accepted=accepted,
        out=DEFAULT_OUT,
    )
    outcome, head, added = recorded.outcome, recorded.review.head, recorded.added
    say_notes(outcome.notes)
    kinds = (
        ("finding", Message("findings"), head.findings),
        ("control", Message("controls"), head.controls),
    )
    for kind, title, all_of_kind in kinds:
        say(
            "{kind}: {count}, looked at {looked}, slips in the ground truth {slips}",
            kind=title,
            count=all_of_kind,
            looked=outcome.looked[kind],
            slips=outcome.slips[kind],
        )
    for entry in outcome.disagreed:
        say("left out, as people disagree: {id} {field}", id=entry.id, field=entry.field)
    number = len(outcome.accepted)
    say(
        "{place}: {count} slip, version {version}"
        if number == 1
        else "{place}: {count} slips, version {version}",
        place=added.path,
        count=number,
        version=added.version,
    )
    say("build it: hdbench build {name}", name=name)
