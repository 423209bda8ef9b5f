"""Command that builds datasets."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from hdbench.benchmarks.building.builder import build as build_dataset
from hdbench.benchmarks.building.builder import build_results, install_spaces
from hdbench.benchmarks.building.checks.folder import refuse_errors
from hdbench.benchmarks.building.checks.problems import CheckReport, FaultyFolderError
from hdbench.benchmarks.building.drafts import write_drafts
from hdbench.benchmarks.building.metadata import Built
from hdbench.benchmarks.building.recipe import find_recipe, plain_folder
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.benchmarks.spec import bare
from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.cli.check import lines_of, warnings_line
from hdbench.collections.truth.agreement import agreement_of_recipe
from hdbench.common.display.terminal import say
from hdbench.errors import HdbenchError, Message, joined


def command(
    names: Annotated[list[str], typer.Argument(metavar="BENCHMARK…")],
    *,
    source: Path | None = None,
    out: Path = DEFAULT_OUT,
    sample: Annotated[bool, typer.Option("--sample")] = False,
    accept_licence: Annotated[bool, typer.Option("--accept-licence")] = False,
    allow_missing: Annotated[bool, typer.Option("--allow-missing")] = False,
    run_script: Annotated[bool, typer.Option("--run-script")] = False,
    accept_changed: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None,
) -> None:
    """Build the datasets into a folder that stands for the Hub.

    The Spaces are put next to them. Afterwards `load_dataset("hdb/NAME")` and
    `evaluate.load("hdb/METRIC")` read from there.

    Args:
        names: Benchmarks, or folders with a benchmark.yaml; or results, the dataset of the recorded
            runs.
        source: A folder with the published files; by default they are downloaded. For results also
            the published repository's .tar.gz, or a folder with .jsonl.gz files of recorded runs.
        out: The namespace folder to write to.
        sample: Build the small sample that hdbench carries.
        accept_licence: Build even if the licence is not an open one.
        allow_missing: Keep rows whose image the source lacks; the card names them.
        run_script: Run the build.py of a folder that is not hdbench's own: a program with all your
            rights, so read it first.
        accept_changed: A file of --source that may differ from the published one, such as a
            corrected table; the dataset then has a version of its own. May be repeated.
    """
    if RESULTS in map(bare, names):
        if len(names) > 1 or sample or allow_missing or accept_changed:
            raise HdbenchError(
                "{name}: is built on its own, and takes only --source and --out", name=RESULTS
            )
        for line in build_results(out, source):
            say(line)
        return
    checked = [] if sample else _checked(names, out)
    for recipe in [find_recipe(name, sample=sample, run_script=run_script) for name in names]:
        built = build_dataset(
            recipe,
            out,
            source=source,
            accept_licence=accept_licence,
            accept_changed=accept_changed or (),
            allow_missing=allow_missing,
            agreement=agreement_of_recipe(recipe),
        )
        say("{place}: {facts}", place=built.folder, facts=joined(_facts(built)))
        say("  files: {files}", files=joined(_files_of(built.folder)))
    for report in filter(lambda report: report.warnings, checked):
        typer.echo(warnings_line(report), err=True)
    if spaces := install_spaces(out):
        say("metrics and the scorer, as Spaces: {folders}", folders=", ".join(map(str, spaces)))


def _facts(built: Built) -> list[str]:
    """Return the facts to print about a dataset that was built."""
    facts: list[str] = [Message("{count} rows", count=built.rows)]
    if built.missing:
        facts.append(Message("{count} files missing", count=len(built.missing)))
    if built.without_truth:
        facts.append(Message("{count} without a ground truth", count=built.without_truth))
    facts.append(Message("version {version}", version=built.version))
    facts.append(Message("metadata sha256 {sha256}", sha256=built.metadata_sha256))
    return facts


def _files_of(folder: Path) -> list[str]:
    """Return the names of a dataset's files; for those in a folder, their number."""
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return [
        Message("{name} ({count:,} files)", name=f"{path.name}/", count=len(list(path.iterdir())))
        if path.is_dir()
        else path.name
        for path in files
    ]


def _checked(names: Iterable[str], out: Path) -> list[CheckReport]:
    """Check those of the names that are folders of the user's own, and write what they lack."""
    folders = filter(None, map(plain_folder, names))
    try:
        return [_completed(folder, out) for folder in folders]
    except FaultyFolderError as error:
        for line in lines_of(error.report):
            typer.echo(line, err=True)
        raise typer.Exit(2) from error


def _completed(folder: Path, out: Path) -> CheckReport:
    """Return what there is to look at in a folder without errors, with drafts of what it lacked."""
    report = refuse_errors(folder, out)
    drafts = write_drafts(folder)
    if not drafts:
        return report
    say("{place}: drafts written: {names}: read them", place=folder, names=", ".join(drafts))
    return refuse_errors(folder, out)
