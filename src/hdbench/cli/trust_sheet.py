"""Command that writes a work list as a spreadsheet."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import split_benchmark_and_one
from hdbench.cli.terminal import say
from hdbench.common.texts import Language, completed
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError, Message
from hdbench.output.exporting.work_sheet import MAX_VALUES, SheetOptions, write_work_sheet
from hdbench.trust.applied_folder import WORK_LIST, read_begun
from hdbench.trust.working import AppliedWorkList


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] OUT")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE")],
    limit: Annotated[int | None, typer.Option(min=1, max=MAX_VALUES)] = None,
    thumbnails: Annotated[bool, typer.Option("--thumbnails")] = False,
    language: Language | None = None,
) -> None:
    """Write the values to look at as an Excel sheet, to be filled in.

    A row for each value, with what each run says, a link to the image, and a cell to choose or type
    the value in. Values that are worked off already are left out. hdbench trust read-sheet reads
    the sheet again, also if it was saved as CSV.

    Args:
        paths: The folder of hdbench trust apply. Before it, the benchmark, if it is not where the
            plan says.
        out: The file to write, in XLSX.
        limit: Maximum number of values, of the most doubtful items.
        thumbnails: Also put a small picture of each item into the sheet.
        language: The language of headings and choices.
    """
    benchmark, folder = split_benchmark_and_one(paths)
    if out.suffix.lower() != ".xlsx":
        raise HdbenchError("{place}: a work sheet is XLSX: choose -o FILE.xlsx", place=out)
    plan, _ = read_begun(folder)
    options = SheetOptions(completed(language or current_language()), limit, thumbnails)
    collection = Path(benchmark or plan.benchmark)
    with closing(AppliedWorkList(folder / WORK_LIST, collection)) as work_list:
        written = write_work_sheet(out, work_list, options)
    say(
        Message(
            "{path}: {count:,} value to look at",
            plural="{path}: {count:,} values to look at",
            path=out,
            count=written.values,
        )
    )
    if written.left:
        say("left for a next sheet, as less doubtful: {count:,}", count=written.left)
    if written.worked:
        say("left out, as worked off already: {count:,}", count=written.worked)
    if written.without_thumbnail:
        say("items without a thumbnail: {count:,}", count=written.without_thumbnail)
    say("when it is filled in: hdbench trust read-sheet {folder} {path}", folder=folder, path=out)
