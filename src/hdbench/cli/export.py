"""Command that writes a run's answers as a table, or its score for the Hub."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from hdbench.cli.arguments import Run, answers_at, split_benchmark_and_one
from hdbench.cli.terminal import STAYS, in_bytes, say, say_notes
from hdbench.common.jsonio import write_whole
from hdbench.errors import HdbenchError
from hdbench.output.exporting.export import Format
from hdbench.output.exporting.export import export as export_run
from hdbench.output.exporting.hub_results import HubForm, hub_results

TABLES: tuple[Format, ...] = get_args(Format)
HUB_FORMS: tuple[HubForm, ...] = get_args(HubForm)


def command(
    paths: Run,
    *,
    form: Annotated[Literal[Format, HubForm] | None, typer.Option("--format")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out")] = None,
    protocol: str = "documented",
) -> None:
    """Write a run's answers as a table, or its score for the Hub.

    A table has one row per item, or per entry of its list, and one column per field. hdbench score
    reads it back. What a table cannot hold is lost: above all, an empty cell is read as an empty
    text, whether the model wrote one, null or nothing; and what a page has beside its list is not
    read. JSON Lines and Parquet, with one row per item, lose nothing.

    Args:
        paths: A run folder; behind the name of its benchmark, such as zettelkatalog, also answers
            in any form, and - for those on standard input; for eval-results and model-index also a
            result of hdbench score --json.
        form: The answers as xlsx, csv, jsonl or parquet; or the score in a form that the Hub reads:
            eval-results for a model's folder .eval_results, model-index for its card. By default as
            the ending of --out says, and csv without --out.
        out: The file; by default one named after the run, and standard output for the Hub's forms.
    """
    benchmark, run_path = split_benchmark_and_one(paths)
    match form or _form_of(out):
        case "eval-results" | "model-index" as hub_form:
            text = hub_results(run_path, hub_form, benchmark=benchmark, protocol=protocol)
            if out is None:
                typer.echo(text, nl=False)
            else:
                write_whole(out, text.encode())
                size = in_bytes(out.stat().st_size)
                say(
                    "note: {path}: {size}: the score. {stays}.",
                    path=out,
                    size=size,
                    stays=STAYS,
                    err=True,
                )
        case table_form:
            if protocol != "documented":
                raise HdbenchError(
                    "--protocol only matters for scores: --format {form} writes the answers, leave "
                    "it out",
                    form=table_form,
                )
            with answers_at(run_path) as (path, called):
                exported = export_run(path, table_form, out=out, benchmark=benchmark, called=called)
            size = in_bytes(exported.path.stat().st_size)
            say(
                "{path}: {rows} rows, {size}: the model's answers. {stays}.",
                path=exported.path,
                rows=exported.rows,
                size=size,
                stays=STAYS,
            )
            say_notes(exported.notes)


def _form_of(out: Path | None) -> Format:
    """Return the form that a file's ending names: CSV, which needs no extra, without a file."""
    if out is None:
        return "csv"
    ending = out.suffix.lower().removeprefix(".")
    for form in TABLES:
        if form == ending:
            return form
    raise HdbenchError(
        "{path}: its ending says no format: choose one of {forms} with --format",
        path=out,
        forms=", ".join((*TABLES, *HUB_FORMS)),
    )
