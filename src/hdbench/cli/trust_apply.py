"""The commands that apply a decision, and that check what it did."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from hdbench.cli.saying import say
from hdbench.cli.trust import OfPlan, trust
from hdbench.errors import HdbenchError, escaped


class Format(StrEnum):
    """What is written besides the values as JSON Lines."""

    jsonl = "jsonl"
    csv = "csv"
    xlsx = "xlsx"
    marcxml = "marcxml"


@trust.command()
def apply(
    plan_file: Annotated[
        Path, typer.Argument(help="The plan; its sample has been checked.", metavar="PLAN")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", help="The folder to write. If it was interrupted there, it resumes."
        ),
    ],
    control: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many items are drawn at random from those with values taken over, to be "
            "checked blind.",
        ),
    ] = 100,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="csv, xlsx: also a table with a row for each item. marcxml: also MARC records, "
            "whose field 883 says what was filled by which plan.",
        ),
    ] = Format.jsonl,
    records: Annotated[
        Path | None,
        typer.Option(
            help="With --format marcxml: your own records in MARCXML. What they have stays as it "
            "is; what they do not have is filled in.",
            metavar="FILE",
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--marc",
            help="With --format marcxml: the mapping between fields and MARC, as for hdbench new.",
            metavar="MAPPING",
        ),
    ] = None,
    benchmark: OfPlan = None,
) -> None:
    """Take values over, item by item, and list what people have to look at.

    OUT gets values.jsonl (each value with its decision, trust score and run), control.yaml (items
    to be checked blind, before anything else) and worklist.csv (what to look at, worst first);
    hdbench annotate --only opens both.
    """
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.cli.trust_tables import print_applied, print_marc  # noqa: PLC0415
    from hdbench.common.progress import in_lines  # noqa: PLC0415
    from hdbench.exporting.applied import check_table, write_table  # noqa: PLC0415
    from hdbench.exporting.applied_marc import check_marc, write_marc  # noqa: PLC0415
    from hdbench.trust.applying import apply as apply_plan  # noqa: PLC0415
    from hdbench.trust.plan import read_plan  # noqa: PLC0415

    if (records or mapping) and form != Format.marcxml:
        raise HdbenchError("--records and --marc: go with --format marcxml")
    plan = read_plan(plan_file)
    of = load_benchmark(benchmark or plan.benchmark)
    table: Literal["csv", "xlsx"] | None = (
        "csv" if form == Format.csv else "xlsx" if form == Format.xlsx else None
    )
    if table:
        check_table(table, of)
    fields = check_marc(records, mapping) if form == Format.marcxml else None
    try:
        with in_lines():
            applied = apply_plan(plan, of, plan_file, out, control=control)
            path = write_table(out, table, of) if table else None
            marc = write_marc(out, fields, records) if fields else None
    except KeyboardInterrupt:
        say("interrupted: the same command resumes in {folder}", folder=out, err=True)
        raise typer.Exit(130) from None
    print_applied(Console(), applied, out)
    if path:
        typer.echo(escaped(str(path)))
    if marc:
        print_marc(Console(), marc, out)


@trust.command()
def control(
    out: Annotated[
        Path,
        typer.Argument(
            help="The folder of hdbench trust apply; its control sample has been checked.",
            metavar="OUT",
        ),
    ],
    *,
    benchmark: OfPlan = None,
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write everything to this file.", metavar="FILE"),
    ] = None,
) -> None:
    """Estimate again how many of the values taken over are wrong, from the control sample alone."""
    from hdbench.benchmarks.benchmark import load_benchmark  # noqa: PLC0415  slow to import
    from hdbench.cli.trust_tables import print_controlled  # noqa: PLC0415
    from hdbench.common.jsonio import write_json  # noqa: PLC0415
    from hdbench.trust.control import check_control  # noqa: PLC0415
    from hdbench.trust.out import read_applied, read_begun  # noqa: PLC0415
    from hdbench.trust.sealed import check_replaceable  # noqa: PLC0415

    if json_out:
        check_replaceable(json_out)
    plan, _ = read_begun(out)
    found = check_control(out, load_benchmark(benchmark or plan.benchmark))
    if json_out:
        write_json(json_out, found.model_dump(mode="json"))
    left = read_applied(out).to_look_at > 0
    print_controlled(Console(), found, out, left_to_look_at=left)
    if json_out:
        typer.echo(escaped(str(json_out)))
