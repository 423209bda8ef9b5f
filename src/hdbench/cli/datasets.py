"""Commands that make datasets."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from hdbench.building.checks.problems import EXAMPLES, FaultyFolderError, Report
from hdbench.cli.app import DEFAULT_OUT, MAKE, app, say_error
from hdbench.cli.problems import lines_of, warnings_line
from hdbench.cli.saying import say
from hdbench.errors import HdbenchError, Message, joined

if TYPE_CHECKING:
    from hdbench.benchmarks.agreement import Agreement
    from hdbench.building.builder import Built
    from hdbench.building.recipe import Recipe

RecipeName = Annotated[str, typer.Argument(help="The benchmark, or the folder of its recipe.")]
ApprovedBy = Annotated[
    str,
    typer.Option(
        help="Who approved it: if possible, somebody who did not propose it.", metavar="NAME"
    ),
]
AcceptedAt = Annotated[
    str | None,
    typer.Option(
        "--accepted",
        help="Where the data's owners accepted it; without it, a value does not count yet.",
        metavar="URL",
    ),
]


@app.command(rich_help_panel=MAKE)
def check(
    folder: Annotated[
        Path, typer.Argument(help="The benchmark's folder, with benchmark.yaml and metadata.jsonl.")
    ],
    *,
    out: Annotated[
        Path, typer.Option(help="The namespace folder in which it may have been built before.")
    ] = DEFAULT_OUT,
    examples: Annotated[
        int, typer.Option(help="How many places to name for each problem.", min=0)
    ] = EXAMPLES,
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
) -> None:
    """Find everything that is wrong with a folder of your own before it is built.

    Errors keep it from being built; warnings are what a person should look at. Exit status 0: no
    errors; 2: errors.
    """
    from hdbench.building.checks.folder import check_folder  # noqa: PLC0415  slow to import

    report = check_folder(folder, out, examples=examples)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        for line in lines_of(report):
            typer.echo(line)
    if report.errors:
        raise typer.Exit(2)


@app.command(rich_help_panel=MAKE)
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks, or folders with a benchmark.yaml; or results, the dataset of the "
            "recorded runs.",
            metavar="[NAME…]",
        ),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Build every benchmark that hdbench has.")
    ] = False,
    source: Annotated[
        Path | None,
        typer.Option(help="A folder with the published files; by default they are downloaded."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The namespace folder to write to.")] = DEFAULT_OUT,
    sample: Annotated[
        bool, typer.Option("--sample", help="Build the small sample that hdbench carries.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Keep rows whose image is missing.")
    ] = False,
    accept_licence: Annotated[
        bool,
        typer.Option("--accept-licence", help="Build even if the licence is not an open one."),
    ] = False,
    run_script: Annotated[
        bool,
        typer.Option(
            "--run-script",
            help="Run the build.py of a folder that is not hdbench's own: a program with all your "
            "rights, so read it first.",
        ),
    ] = False,
    accept_changed: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of --source that may differ from the published one, such as a corrected "
            "table; the dataset then has a version of its own. May be repeated.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Build the datasets into a folder that stands for the Hub.

    The Spaces are put next to them. Afterwards `load_dataset("hdb/NAME")` and
    `evaluate.load("hdb/METRIC")` read from there.
    """
    from hdbench.benchmarks.names import recipe_names  # noqa: PLC0415
    from hdbench.building.builder import build as build_dataset  # noqa: PLC0415  slow to import
    from hdbench.building.builder import install_spaces  # noqa: PLC0415
    from hdbench.building.recipe import find_recipe  # noqa: PLC0415
    from hdbench.building.results_dataset import NAME, build_results  # noqa: PLC0415
    from hdbench.common.names import bare  # noqa: PLC0415

    if NAME in map(bare, names or ()) and not every:
        if len(names or ()) > 1 or sample or allow_missing or accept_changed:
            raise HdbenchError(
                "{name}: is built on its own, and takes only --source and --out", name=NAME
            )
        say(build_results(out, source).line)
        return
    if every == bool(names):
        raise HdbenchError(
            "name benchmarks ({names}), or give --all", names=", ".join(recipe_names())
        )
    checked = [] if sample else _checked(names or (), out, allow_missing=allow_missing)
    failed = False
    for recipe in [
        find_recipe(name, sample=sample, run_script=run_script) for name in names or recipe_names()
    ]:
        try:
            built = build_dataset(
                recipe,
                out,
                source=source,
                allow_missing=allow_missing,
                accept_licence=accept_licence,
                accept_changed=accept_changed or (),
                agreement=_agreement(recipe),
            )
        except HdbenchError as error:
            if not every:
                raise
            failed = True  # one source need not hold all of them: the others are built all the same
            say_error(error)
            continue
        say("{place}: {facts}", place=built.folder, facts=joined(_facts(built)))
        say("  files: {files}", files=joined(_files_of(built.folder)))
    for report in filter(lambda report: report.warnings, checked):
        typer.echo(warnings_line(report), err=True)
    for folder in install_spaces(out):
        say("{folder}: Space", folder=folder)
    if failed:
        raise typer.Exit(2)


def _facts(built: "Built") -> list[str]:
    """What is said about a dataset that was built."""
    facts: list[str] = [Message("{count} rows", count=built.rows)]
    if built.missing:
        facts.append(Message("{count} files missing", count=len(built.missing)))
    if built.without_truth:
        facts.append(Message("{count} without a ground truth", count=built.without_truth))
    facts.append(Message("version {version}", version=built.version))
    facts.append(Message("metadata sha256 {sha256}", sha256=built.metadata_sha256))
    return facts


def _files_of(folder: Path) -> list[str]:
    """The names of the files of a dataset; of those in a folder, how many they are."""
    files = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    return [
        Message("{name} ({count:,} files)", name=f"{each.name}/", count=len(list(each.iterdir())))
        if each.is_dir()
        else each.name
        for each in files
    ]


def _agreement(recipe: "Recipe") -> "Agreement | None":
    """How well the people agree who annotated a collection, if several did."""
    from hdbench.annotating.annotation import read_annotation  # noqa: PLC0415

    if recipe.sample or not read_annotation(recipe.folder).assignments:
        return None
    from hdbench.annotating.agreement import agreement_of  # noqa: PLC0415  numpy is slow to import
    from hdbench.annotating.assigned import read_assigned  # noqa: PLC0415

    return agreement_of(recipe.folder, read_assigned(recipe.folder).finished)


def _checked(names: Iterable[str], out: Path, *, allow_missing: bool) -> list[Report]:
    """What is to say about those of the names that are folders of people's own."""
    from hdbench.building.checks.folder import refuse_errors  # noqa: PLC0415  slow to import
    from hdbench.building.recipe import plain_folder  # noqa: PLC0415

    folders = filter(None, map(plain_folder, names))
    try:
        return [refuse_errors(folder, out, allow_missing=allow_missing) for folder in folders]
    except FaultyFolderError as error:
        for line in lines_of(error.report):
            typer.echo(line, err=True)
        raise typer.Exit(2) from error


errata = typer.Typer(
    help="Record errata: known errors in a published ground truth.", no_args_is_help=True
)
app.add_typer(errata, name="errata", rich_help_panel=MAKE)


@errata.command()
def add(
    name: RecipeName,
    item: Annotated[
        str,
        typer.Argument(
            help="The item's id; * for every item that has the wrong value.", metavar="ID"
        ),
    ],
    field: Annotated[
        str,
        typer.Argument(
            help="Where in its ground truth: publication.year, advertisements[3].date or "
            "advertisements.3.date, persons[name=Frey].alternateName; [*] for every item of a list."
        ),
    ],
    old: Annotated[
        str, typer.Argument(help="The published value; null where the field is absent.")
    ],
    new: Annotated[str, typer.Argument(help="The right value; null removes the field.")],
    *,
    kind: Annotated[
        Literal["form", "value"],
        typer.Option(
            help="form: a stray sign, a misplaced key or a wrong type, which nobody reads "
            "differently. value: anything that somebody read."
        ),
    ],
    evidence: Annotated[str, typer.Option(help="What shows that it is right; the card quotes it.")],
    proposed_by: Annotated[str, typer.Option(help="Who proposed it.", metavar="NAME")],
    approved_by: ApprovedBy,
    upstream: Annotated[
        str | None,
        typer.Option(
            help="Where it was reported to those who published the ground truth.", metavar="URL"
        ),
    ] = None,
    accepted: AcceptedAt = None,
) -> None:
    """Record a correction in a recipe's errata.yaml, which makes a new version of the dataset.

    What was published is kept, and the protocol `published` still scores against it. A correction
    of form counts at once; one of a value counts when the data's owners, whom benchmark.yaml names,
    accepted it, and until then only with `hdbench score --errata proposed`. The version
    in benchmark.yaml is raised, and CHANGELOG.md says what was changed and why. If the dataset is
    built in ./hdb, OLD is compared with the published value. Both values are JSON; what is not JSON
    is taken as a text.
    """
    from hdbench.building.errata_add import add_correction  # noqa: PLC0415  slow to import

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


@errata.command()
def review(
    name: RecipeName,
    path: Annotated[
        Path,
        typer.Argument(
            help="The list of hdbench audit --list; the looks are beside it.", metavar="LIST"
        ),
    ],
    *,
    approved_by: ApprovedBy,
    proposed_by: Annotated[
        str | None,
        typer.Option(help="Who proposed it; by default, the second looks.", metavar="NAME"),
    ] = None,
    accepted: AcceptedAt = None,
) -> None:
    """Record the slips that second looks found, all as one new version of the dataset.

    They are corrections of values: they count when the data's owners accepted them, see --accepted.

    A slip is taken if everybody who judged it calls it one and gives the same value. The dataset
    must be built in ./hdb, in the version that was looked at. Pseudonyms are not recorded.
    """
    from hdbench.annotating.reviewing.accepted import (  # noqa: PLC0415  slow to import
        SECOND_LOOKS,
        record_review,
    )

    recorded = record_review(
        name,
        path,
        approved_by=approved_by,
        proposed_by=proposed_by or SECOND_LOOKS,
        accepted=accepted,
        out=DEFAULT_OUT,
    )
    outcome, head, added = recorded.outcome, recorded.review.head, recorded.added
    for note in outcome.notes:
        say("note: {note}", note=note, err=True)
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


@app.command(rich_help_panel=MAKE)
def demo(
    name: Annotated[
        str, typer.Argument(help="The benchmark whose sample is built.")
    ] = "zettelkatalog",
) -> None:
    """Build a small sample into ./hdb, load it, and score its example answers."""
    from hdbench.cli.demo import run_demo  # noqa: PLC0415  slow to import

    run_demo(name, DEFAULT_OUT, Console())
