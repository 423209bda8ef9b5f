"""Command that writes a whole collection: what was checked, accepted and worked off."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.authority_files import read_identifiers
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.cli.arguments import Annotator, split_benchmark_and_one
from hdbench.collections.records.forms import FinishForm, writer_of
from hdbench.collections.records.own_records import CHANGED, OwnRecords
from hdbench.collections.trust.delivery import CHANGES, RECORDS, Finished, finish
from hdbench.collections.trust.folder import CONTROL, WORK_LIST, read_begun
from hdbench.collections.trust.origins import ORIGINS, unread_control
from hdbench.collections.trust.work_list import take_in
from hdbench.common.display.terminal import (
    FIELD_WIDTH,
    heading,
    localized_table,
    number,
    print_line,
    say,
)
from hdbench.common.progress import in_lines
from hdbench.errors import HdbenchError, Message

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
    identifiers: Annotated[list[str] | None, typer.Option(metavar="[FIELD=]FILE")] = None,
    own: Annotated[Path | None, typer.Option("--records", metavar="FILE")] = None,
    match: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    worked: Annotated[Path | None, typer.Option(metavar="TABLE")] = None,
    annotator: Annotator = "me",
) -> None:
    """Write the whole collection as records: what was checked, accepted and worked off.

    Each value has its origin; what a person said always wins over a model, and what was said later
    over what was said before. Run it at any time and again: records that have not changed stay as
    they are, and changes.jsonl says what was delivered when.

    Args:
        paths: The folder of hdbench trust apply. Before it, the benchmark with what people entered,
            if it is not the one that the plan names.
        out: The folder to write; by default finished in OUT.
        form: csv, xlsx: also a table with a row for each item. marcxml,
            dublin-core: also records in these forms.
        mapping: A file that says what goes where, in marcxml, dublin-core and csv, as the browser
            makes one; by default as cards of a catalogue go. csv has no other columns without it.
        identifiers: An authority file with the identifiers of values, for all fields or for one.
            It may be given several times.
        own: Records that you have, in MARC21 or MARCXML, into which the values are put, with
            --format marcxml. What they have is kept, unless the mapping says otherwise.
        match: The column of metadata.jsonl with the number (001) of each item's record; by default
            it is the item's id.
        worked: First take in worklist.csv of hdbench trust apply, filled in and saved as CSV or
            Excel: all of its values or none. An empty value was not looked at; null: there is none.
        annotator: The name of whoever filled it in.
    """
    benchmark, applied = split_benchmark_and_one(paths)
    plan, _ = read_begun(applied)
    loaded = load_benchmark(benchmark or plan.benchmark)
    folder = out or applied / "finished"
    known = read_identifiers(identifiers, plan.fields) if identifiers else None
    if match and not own:
        raise HdbenchError("--match: goes with --records")
    records = OwnRecords.of(own, loaded, match or "") if own else None
    write = writer_of(form, loaded, plan.fields, applied, mapping, known, records)
    try:
        with in_lines():
            if worked:
                count = take_in(worked, applied, loaded, annotator)
                say(
                    "{path}: {count:,} value taken in",
                    plural="{path}: {count:,} values taken in",
                    path=worked,
                    count=count,
                )
            finished, written = finish(applied, loaded, folder, write)
    except KeyboardInterrupt:
        say("interrupted: the same command begins again", err=True)
        raise typer.Exit(130) from None
    print_finished(Console(), finished, loaded, applied, folder)
    if written and written.given is not None:
        say(
            "{path}: {records:,} of your {given:,} records changed, {left_out:,} items have none, "
            "{values:,} values are in none: see {changes} and {list}",
            path=folder / written.path.name,
            records=written.records,
            given=written.given,
            left_out=written.left_out,
            values=written.values_left,
            changes=folder / CHANGED,
            list=folder / written.left.name,
        )
    elif written:
        say(
            "{path}: {records:,} records; {left_out:,} items and {values:,} further values are in "
            "none, see {list}",
            path=folder / written.path.name,
            records=written.records,
            left_out=written.left_out,
            values=written.values_left,
            list=folder / written.left.name,
        )
    if known:
        say(
            "{count:,} value has an identifier",
            plural="{count:,} values have an identifier",
            count=known.found,
        )


def print_finished(
    console: Console, finished: Finished, benchmark: Benchmark, applied: Path, folder: Path
) -> None:
    """Print how many values there are by origin, and the next step.

    Args:
        console: the terminal.
        finished: what was written.
        benchmark: the benchmark.
        applied: the folder of `hdbench trust apply`.
        folder: the folder that was written.
    """
    title = Message(
        "{records:,} records, {complete:,} of them complete",
        records=finished.records,
        complete=finished.counts.complete,
    )
    print_line(console, title, style="bold")
    table = localized_table("By field", "field", right=tuple(map(str, ORIGIN_HEADS.values())))
    for name, counts in finished.counts.by_field.items():
        cells = (number(counts.get(origin, 0), ",") for origin in ORIGINS)
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    delivered = (
        Message(
            "delivery {number}: {count:,} record is new or has changed: {path}",
            plural="delivery {number}: {count:,} records are new or have changed: {path}",
            number=finished.delivery,
            count=finished.counts.changed,
            path=folder / CHANGES,
        )
        if finished.counts.changed
        else Message("no value has changed since delivery {number}", number=finished.delivery)
    )
    print_line(console, delivered)
    print_line(console, Message("{path}: values and origins", path=folder / RECORDS))
    if corrected := finished.counts.of("corrected"):
        found = Message(
            "{count:,} accepted value was found wrong: hdbench trust control {out} says whether "
            "the others can be used",
            plural="{count:,} accepted values were found wrong: hdbench trust control {out} says "
            "whether the others can be used",
            count=corrected,
            out=applied,
        )
        print_line(console, found)
    if unread := unread_control(applied, benchmark):
        control = Message(
            "{count:,} of the control sample is not read yet, so that nothing shows whether the "
            "accepted values can be used: hdbench trust control {out} says how to go on",
            plural="{count:,} of the control sample are not read yet, so that nothing shows "
            "whether the accepted values can be used: hdbench trust control {out} says how to go "
            "on",
            count=unread,
            out=applied,
        )
        print_line(console, control)
    if disputed := finished.counts.read_again:
        again = Message(
            "{count:,} value is open that people could not read, or do not agree on: let somebody "
            "else read it: hdbench annotate {benchmark} --only {path}",
            plural="{count:,} values are open that people could not read, or do not agree on: let "
            "somebody else read them: hdbench annotate {benchmark} --only {path}",
            count=disputed,
            benchmark=benchmark.id,
            path=applied / CONTROL,
        )
        print_line(console, again)
    if finished.counts.listed:
        left = Message(
            "{count:,} value is open: hdbench annotate {benchmark} --only {path}, then this "
            "command again",
            plural="{count:,} values are open: hdbench annotate {benchmark} --only {path}, then "
            "this command again",
            count=finished.counts.listed,
            benchmark=benchmark.id,
            path=applied / WORK_LIST,
        )
        print_line(console, left)
