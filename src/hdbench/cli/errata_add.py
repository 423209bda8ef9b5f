"""Command that records a correction of a published ground truth."""

from typing import Annotated, Literal

import typer

from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.cli.terminal import say
from hdbench.datasets.building.errata_add import add_correction

RecipeName = Annotated[
    str, typer.Argument(help="The benchmark, or the folder of its recipe.", metavar="BENCHMARK")
]
ApprovedBy = Annotated[str, typer.Option(metavar="NAME")]
AcceptedAt = Annotated[str | None, typer.Option("--accepted", metavar="URL")]


def command(
    name: RecipeName,
    item: Annotated[str, typer.Argument(metavar="ID")],
    field: str,
    old: str,
    new: str,
    *,
    kind: Annotated[Literal["form", "value"], typer.Option()],
    evidence: Annotated[str, typer.Option()],
    proposed_by: Annotated[str, typer.Option(metavar="NAME")],
    approved_by: ApprovedBy,
    upstream: Annotated[str | None, typer.Option(metavar="URL")] = None,
    accepted: AcceptedAt = None,
) -> None:
    """Record a correction in a recipe's errata.yaml, which makes a new version of the dataset.

    What was published is kept, and the protocol `published` still scores against it. A correction
    of form counts at once; one of a value counts when the data's owners, whom benchmark.yaml names,
    accepted it, and until then only with `hdbench score --errata proposed`. The version
    in benchmark.yaml is raised, and CHANGELOG.md says what was changed and why. If the dataset is
    built in ./hdb, OLD is compared with the published value. Both values are JSON; what is not JSON
    is taken as a text.

    Args:
        item: The item's id; * for every item that has the wrong value.
        field: Where in its ground truth: publication.year, advertisements[3].date or
            advertisements.3.date, persons[name=Frey].alternateName; [*] for every item of a list.
        old: The published value; null where the field is absent.
        new: The right value; null removes the field.
        kind: form: a stray sign, a misplaced key or a wrong type, which nobody reads differently.
            value: anything that somebody read.
        evidence: What shows that it is right; the card quotes it.
        proposed_by: Who proposed it.
        upstream: Where it was reported to those who published the ground truth.
    """
    added = add_correction(
        name,
        item,
        field,
        kind=kind,
        old=old,
        new=new,
        evidence=evidence,
        proposed_by=proposed_by,
        approved_by=approved_by,
        upstream=upstream,
        accepted=accepted,
        out=DEFAULT_OUT,
    )
    say(
        "{place}: recorded as version {version}"
        if added.checked
        else "{place}: recorded as version {version}, not yet compared with the published ground "
        "truth, which a build does",
        place=added.path,
        version=added.version,
    )
    say("build it: hdbench build {name}", name=name)
