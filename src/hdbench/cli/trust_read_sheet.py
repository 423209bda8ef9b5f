"""Command that reads a work list that was filled in as a spreadsheet."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from hdbench.annotating.changes import check_pseudonym
from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.cli.arguments import Annotator, split_benchmark
from hdbench.cli.terminal import localized, say, say_notes
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError, Message
from hdbench.trust.applied_folder import WORK_LIST, read_begun
from hdbench.trust.sheet.layout import nothing_in, shown_value
from hdbench.trust.sheet.reading import SheetReading, read_sheet
from hdbench.trust.sheet.taking import SheetChanges, as_decisions, changes_of
from hdbench.trust.working import AppliedWorkList

MAX_NAMED = 20
"""Maximum number of problems and conflicts that are named."""


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] OUT FILE")],
    *,
    annotator: Annotator = "me",
    overwrite: Annotated[bool, typer.Option("--overwrite")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> None:
    """Take in what people filled into a sheet of hdbench trust sheet.

    It says what would change, and asks first. If a single row does not fit, nothing is taken in.

    Args:
        paths: The folder of hdbench trust apply, and the sheet: XLSX or CSV. Before them, the
            benchmark, if it is not where the plan says.
        annotator: Who filled in the sheet.
        overwrite: Take the sheet's value also where somebody worked the value off otherwise.
        yes: Take it in without asking.
    """
    benchmark, others = split_benchmark(paths)
    if len(others) != 2:  # noqa: PLR2004
        raise HdbenchError("name the folder of hdbench trust apply, and then the sheet")
    folder, sheet = others
    check_pseudonym(annotator)
    plan, _ = read_begun(folder)
    collection = Path(benchmark or plan.benchmark)
    with closing(AppliedWorkList(folder / WORK_LIST, collection, with_read=True)) as work_list:
        reading = read_sheet(sheet, work_list)
        nothing = nothing_in(work_list.benchmark.spec.media)
    say_notes(reading.notes)
    _check(reading, sheet)
    worked = WorkedValues(folder)
    say_notes(worked.notes)
    changes = changes_of(reading.filled, worked.current(), annotator)
    for line in _counts(changes, reading):
        say("{path}: {news}", path=sheet, news=line)
    _say_conflicts(changes, nothing, overwrite=overwrite)
    if not changes.rows(overwrite=overwrite):
        return
    _ask(sheet, yes=yes)
    worked.refresh()  # others may have gone on meanwhile
    rows = changes_of(reading.filled, worked.current(), annotator).rows(overwrite=overwrite)
    if rows:
        worked.add(as_decisions(rows, annotator))
    say("{path}: taken in: {count:,}", path=sheet, count=len(rows))


def _check(reading: SheetReading, sheet: Path) -> None:
    """Refuse a sheet of which something does not fit, after naming it.

    Raises:
        HdbenchError: something does not fit.
    """
    if not reading.problems:
        return
    for problem in reading.problems[:MAX_NAMED]:
        say(problem, err=True)
    raise HdbenchError(
        "{place}: nothing was taken in: {count:,} cell does not fit: correct it, and read the "
        "sheet again"
        if len(reading.problems) == 1
        else "{place}: nothing was taken in: {count:,} cells do not fit: correct them, and read "
        "the sheet again",
        place=sheet,
        count=len(reading.problems),
    )


def _say_conflicts(changes: SheetChanges, nothing: Message, *, overwrite: bool) -> None:
    """Name the values that were worked off otherwise.

    Args:
        changes: what would change.
        nothing: what stands for an empty value.
        overwrite: whether the sheet's values are taken.
    """

    def shown(value: Any) -> str | Message:
        return repr(shown_value(value, current_language())[:100]) if value is not None else nothing

    for row, before in changes.conflicts[:MAX_NAMED]:
        say(
            "  {place}: {value}, but {name} has {other}: {item}, {field}",
            place=row.place,
            value=shown(row.value),
            name=before.by,
            other=shown(before.value),
            item=row.key.item,
            field=row.key.field,
        )
    if changes.conflicts and not overwrite:
        say("these stay as they are; --overwrite takes the sheet's values instead")


def _counts(changes: SheetChanges, reading: SheetReading) -> Iterator[Message]:
    yield Message("new values: {count:,}", count=len(changes.new))
    if changes.corrected:
        count = len(changes.corrected)
        yield Message("values corrected since you last read a sheet in: {count:,}", count=count)
    if changes.known:
        yield Message("values that are here already: {count:,}", count=changes.known)
    if reading.blank:
        yield Message("rows without a value, which stay open: {count:,}", count=reading.blank)
    if reading.lost_remarks:
        count = reading.lost_remarks
        yield Message("remarks in these rows, which are not kept: {count:,}", count=count)
    if changes.conflicts:
        count = len(changes.conflicts)
        yield Message("values that were worked off otherwise meanwhile: {count:,}", count=count)


def _ask(sheet: Path, *, yes: bool) -> None:
    """Go on only if the user agrees.

    Raises:
        HdbenchError: there is nobody to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise HdbenchError(
            "{path}: nothing is taken in without being asked for: run this in a terminal, or add "
            "--yes",
            path=sheet,
        )
    typer.confirm(localized("Take this in?"), abort=True)
