"""Command that writes a whole collection: what was checked, accepted and worked off."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import split_benchmark_and_one
from hdbench.cli.terminal import FIELD_WIDTH, localized_table, number, print_line, say
from hdbench.common.printing import heading
from hdbench.common.progress import in_lines
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.output.exporting.applied import check_table
from hdbench.output.exporting.finished import write_finished
from hdbench.output.exporting.finished_records import (
    FILES,
    LEFT_LIST,
    read_record_mapping,
    write_records_of,
)
from hdbench.trust.applied_folder import WORK_LIST, read_begun
from hdbench.trust.finishing import CHANGES, ORIGINS, RECORDS, Finished, finish

FinishForm = Literal["jsonl", "csv", "xlsx", "marcxml", "pica-plain", "pica-normalized", "pica-xml"]

ORIGIN_HEADS = {
    "checked": Message("checked"),
    "accepted": Message("accepted"),
    "worked": Message("worked off"),
    "corrected": Message("corrected"),
    "open": Message("open"),
}
"""Origin → the heading of its column."""


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] OUT")],
    *,
    out: Annotated[Path | None, typer.Option("-o", "--out")] = None,
    form: Annotated[FinishForm, typer.Option("--format")] = "jsonl",
    mapping: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
) -> None:
    """Write the whole collection as records: what was checked, accepted and worked off.

    Each value has its origin; what a person said always wins over a model, and what was said later
    over what was said before. Run it at any time and again: records that have not changed stay as
    they are, and changes.jsonl says what was delivered when.

    Args:
        paths: The folder of hdbench trust apply. Before it, the benchmark with what people entered,
            if it is not the one that the plan names.
        out: The folder to write; by default finished in OUT.
        form: csv, xlsx: also a table with a row for each item. marcxml, pica-…: also records that
            library systems load.
        mapping: How records of MARC or PICA are made of the fields; by default as those of a card
            catalogue are.
    """
    benchmark, applied = split_benchmark_and_one(paths)
    plan, _ = read_begun(applied)
    loaded = load_benchmark(benchmark or plan.benchmark)
    record_mapping = None
    if form in ("csv", "xlsx"):
        check_table(form, loaded)
    elif form in FILES:
        record_mapping = read_record_mapping(form, mapping)
    if mapping and record_mapping is None:
        raise HdbenchError("--mapping: goes with --format marcxml or pica-…")
    folder = out or applied / "finished"
    try:
        with in_lines():
            finished = finish(applied, loaded, folder)
            path = records = None
            if form in ("csv", "xlsx"):
                path = write_finished(folder, form, loaded, plan.fields)
            elif record_mapping is not None:
                records = write_records_of(applied, folder, form, record_mapping)
    except KeyboardInterrupt:
        say("interrupted: the same command begins again", err=True)
        raise typer.Exit(130) from None
    print_finished(Console(), finished, applied, folder)
    if path:
        typer.echo(escaped(str(path)))
    if records:
        written = Message(
            "{path}: {records:,} records; {left_out:,} items and {values:,} further values are in "
            "none, see {list}",
            path=records.path,
            records=records.records,
            left_out=records.left_out,
            values=records.values_left,
            list=folder / LEFT_LIST,
        )
        say(written)


def print_finished(console: Console, finished: Finished, applied: Path, folder: Path) -> None:
    """Print how many values there are by origin, and the next step.

    Args:
        console: the terminal.
        finished: what was written.
        applied: the folder of `hdbench trust apply`.
        folder: the folder that was written.
    """
    title = Message(
        "{records:,} records, {complete:,} of them complete",
        records=finished.records,
        complete=finished.complete,
    )
    print_line(console, title, style="bold")
    table = localized_table("By field", "field", right=tuple(map(str, ORIGIN_HEADS.values())))
    for name, counts in finished.by_field.items():
        cells = (number(counts.get(origin, 0), ",") for origin in ORIGINS)
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    delivered = (
        Message(
            "delivery {number}: {changed:,} records are new or have changed: {path}",
            number=finished.delivery,
            changed=finished.changed,
            path=folder / CHANGES,
        )
        if finished.changed
        else Message("nothing has changed since delivery {number}", number=finished.delivery)
    )
    print_line(console, delivered)
    print_line(console, Message("{path}: values and origins", path=folder / RECORDS))
    if still := finished.count("open"):
        left = Message(
            "{count:,} values are open: hdbench annotate FOLDER --only {path}, then this command "
            "again",
            count=still,
            path=applied / WORK_LIST,
        )
        print_line(console, left)
