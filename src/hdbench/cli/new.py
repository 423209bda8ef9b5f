"""Command that makes a benchmark from a person's own images and ground truth."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hdbench.cli.arguments import names_in
from hdbench.collections.new.drawing import Draw
from hdbench.collections.new.media import OTHER_IMAGES, unwrapped
from hdbench.collections.new.plan import (
    CollectionPlan,
    CollectionRequest,
    Sources,
    check_licence,
    make_plan,
    read_sources,
)
from hdbench.collections.new.truth_files import truth_beside
from hdbench.collections.new.writing import write_collection
from hdbench.common.display.terminal import (
    MAX_NOTE,
    localized,
    localized_table,
    number,
    one_line,
    printable,
    say,
    shown,
)
from hdbench.common.files import not_opened
from hdbench.errors import HdbenchError, Message, shortened

MAX_STRATA = 100
"""Maximum number of strata that are shown."""

MAX_SHOWN = 8
"""Maximum number of skipped files that are named."""


MAX_EXAMPLE = 24
"""Maximum characters of a value that are shown."""


_KINDS = {
    "image": Message("images"),
    "pages": Message("items with their pages"),
    "pdf": Message("PDFs"),
    "text": Message("texts"),
}


def command(
    name: str,
    images: Path,
    *,
    truth: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    like: Annotated[str | None, typer.Option(metavar="BENCHMARK")] = None,
    mapping: Annotated[list[str] | None, typer.Option("--map", metavar="COLUMN=FIELD")] = None,
    sample: Annotated[int | None, typer.Option(min=1, metavar="N")] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN,…")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    boxes: Annotated[bool | None, typer.Option("--boxes/--items")] = None,
    header_rows: Annotated[str | None, typer.Option("--header-row", metavar="N[-M]")] = None,
    skip_damaged: Annotated[bool, typer.Option("--skip-damaged")] = False,
    fields: Annotated[str | None, typer.Option(metavar="FIELD,…")] = None,
    title: str = "",
    licence: str = "other",
) -> None:
    """Make a benchmark from your own images, and a ground truth where there is one.

    What becomes of each column is shown before anything is written, and on a terminal it can be
    changed. The images are copied. Texts of pages beside the images, and those in an export of
    Transkribus, are the ground truth without --truth, and nothing is asked.

    Args:
        name: The benchmark's name, in small letters: letters-basel.
        images: A folder with an image, a PDF or a text (.txt) for each item, or with a folder for
            each item that has several pages.
        truth: The ground truth, as far as there is one: CSV, XLSX, ODS, Parquet, JSON, JSON Lines,
            MARC21, MARCXML, PAGE XML, ALTO, hOCR, or a folder with a file for each image.
        like: A benchmark whose fields, prompt and metric are taken over.
        mapping: Where a column of the table goes: Verfasser=author.name, Jahr=year,
            Personen=persons[], Datei=id for the one that names the images, Notiz=- for one that is
            not used, Jahrhundert=column:century for one to group by. For MARC: a mapping
            file. May be repeated.
        sample: Draw this many items at random, and take only these; scores become estimates for the
            whole. With the same items and the same seed, the same are drawn.
        by: Columns of the table in --truth, with commas between them: each combination of their
            values gets its share of the sample, and at least 2 items.
        seed: The seed of the draw.
        boxes: Whether a folder of images is a box, in which each image is an item with an id such
            as box1_0001, or one item with its pages, as it is otherwise.
        header_rows: The row of the table that names its columns, 3, or the first and the last one,
            3-4, where they are not found by themselves. What stands above is no data.
        skip_damaged: Leave out damaged records of MARC, and damaged files of PAGE XML, ALTO and
            hOCR, instead of refusing all of them. They are named.
        fields: Without a ground truth: the fields that it will have, with commas between them;
            persons[].name for those of a list. By default one text, a transcription.
        title: What people call the collection.
        licence: The licence of images and ground truth: cc0-1.0, cc-by-4.0, …
    """
    columns, mapping_file = _mapping(mapping or [])
    images = unwrapped(images)
    is_beside = not (truth or like or fields) and truth_beside(images) is not None
    if is_beside:
        say("the texts of the images are the ground truth: if they are not, say --fields text")
    is_asked = sys.stdin.isatty() and not is_beside
    requested = CollectionRequest(
        name=name,
        images=images,
        truth=images if is_beside else truth,
        like=like,
        columns=columns,
        mapping=mapping_file,
        sample=sample,
        by=names_in(by),
        seed=seed,
        boxes=bool(boxes),
        header_rows=header_rows,
        skip_damaged=skip_damaged,
        fields=tuple(names_in(fields)),
        title=title,
        licence=licence,
    )
    sources = read_sources(requested)
    if boxes is None and (folders := shortened(sources.media.folders)):
        if is_asked and not typer.confirm(
            localized("Is a folder ({names}) one item, with its images as pages?", names=folders),
            default=True,
        ):
            requested = replace(requested, boxes=True)
            sources = read_sources(requested)
        elif not is_asked:
            say(
                "each folder ({names}) is one item, with its images as pages: if each image is an "
                "item, say --boxes",
                names=folders,
            )
    plan = make_plan(requested, sources)
    console = Console()
    if sources.drawn is not None:
        _show_sample(sources.drawn, console)
    _show(plan, console)
    if is_asked:
        plan = _asked(plan, sources, console)
    folder = write_collection(plan)
    _say_next(folder, plan)


def _mapping(texts: Sequence[str]) -> tuple[dict[str, str], Path | None]:
    """Return the columns' fields from `--map`, and the mapping file for MARC."""
    columns: dict[str, str] = {}
    mapping_file = None
    for text in texts:
        column, sign, path = text.rpartition("=")
        if not sign and Path(text).is_file():
            mapping_file = Path(text)
        elif not column or not path:
            raise HdbenchError(
                "--map {given}: must be COLUMN=FIELD, as in Verfasser=author, or a mapping file",
                given=text,
            )
        else:
            columns[column] = path
    return columns, mapping_file


def _show_sample(drawn: Draw, console: Console) -> None:
    """Print how many items were drawn, in all and of each stratum."""
    sample = drawn.sample
    _line(
        console,
        "{items:,} of {of:,} items drawn, seed {seed}",
        items=sample.items,
        of=sample.of,
        seed=sample.seed,
    )
    if sample.by:
        columns = [printable(name) for name in sample.by]
        table = localized_table(None, *columns, right=("in the whole", "drawn"))
        for stratum in sample.strata[:MAX_STRATA]:
            values = [stratum.values.get(name) for name in sample.by]
            table.add_row(
                *(localized("(none)") if value is None else printable(value) for value in values),
                number(stratum.of, ","),
                number(stratum.items, ","),
            )
        if len(sample.strata) > MAX_STRATA:
            table.add_row(localized("and {count} more", count=len(sample.strata) - MAX_STRATA))
        console.print(table)
    for note in drawn.notes:
        _line(console, "note: {note}", note=note)


def _show(plan: CollectionPlan, console: Console) -> None:
    """Print what would be written."""
    requested, media = plan.requested, plan.media
    if plan.columns:
        console.print()
        console.print(_columns_table(plan))
    console.print()
    _line(
        console,
        "{place}: {count} {kind}, {truths} with a ground truth",
        place=requested.images,
        count=len(media.items),
        kind=_KINDS[media.kind],
        truths=len(plan.truths),
    )
    passed_over, others = media.passed_over, any(map(_is_other_image, media.passed_over))
    if requested.truth == requested.images:  # the rest was looked at as ground truth
        passed_over = [name for name in passed_over if _is_other_image(name)]
    if passed_over:
        _line(
            console,
            "passed over: {names}: export images as JPEG, PNG or TIFF"
            if others
            else "passed over: {names}",
            names=shortened(passed_over, MAX_SHOWN),
        )
    if media.not_opened:
        _line(console, "note: {note}", note=not_opened(media.not_opened))
    for note in plan.notes:
        _line(console, "note: {note}", note=note)
    if not plan.columns:
        _line(console, "fields: {names}", names=", ".join(field.path for field in plan.fields))
    metric, headline = plan.spec["metric"], plan.spec["headline"]
    console.print(
        localized("metric: {metric}, ranked by {headline}", metric=metric, headline=headline)
    )


def _is_other_image(name: str) -> bool:
    return Path(name).suffix.lower() in OTHER_IMAGES


def _line(console: Console, template: str, **values: object) -> None:
    console.print(printable(localized(template, **values), MAX_NOTE), soft_wrap=True)


def _columns_table(plan: CollectionPlan) -> Table:
    table = localized_table(None, "column", "an example", "becomes", "read as", right=())
    for column in plan.columns:
        becomes = localized("the item's id") if column.key else column.path or "–"
        if column.title in plan.grouping:
            becomes = f"column:{plan.grouping[column.title]}"
        cells = (
            column.title,
            printable(column.example, MAX_EXAMPLE),
            becomes,
            "" if column.path is None and not column.key else shown(column.read_as),
        )
        table.add_row(*(cell if isinstance(cell, Text) else printable(cell) for cell in cells))
    return table


def _licence() -> str:
    """Ask for the license until it is a valid one."""
    while True:
        question = localized("Licence (cc0-1.0, cc-by-4.0, …; other if none is stated)")
        licence: str = typer.prompt(question, default="other")
        try:
            check_licence(licence)
        except HdbenchError as error:
            typer.echo(one_line(error), err=True)
            continue
        return licence


def _asked(plan: CollectionPlan, sources: Sources, console: Console) -> CollectionPlan:
    """Ask the person at the terminal what to change in the plan."""
    requested = plan.requested
    if not requested.title:
        requested = replace(
            requested,
            title=typer.prompt(localized("Title of the collection"), default=requested.name),
        )
    if requested.licence == "other":
        requested = replace(requested, licence=_licence())
    plan = make_plan(requested, sources)
    question = localized(
        "Write it? [y/n, or COLUMN=FIELD to change what becomes of a column]"
        if plan.columns
        else "Write it? [y/n]"
    )
    while True:
        reply = typer.prompt(question, default="y", show_default=False).strip()
        if reply.lower() in ("y", "yes", "j", "ja"):
            return plan
        if reply.lower() in ("n", "no", "nein"):
            say("nothing was written")
            raise typer.Exit(1)
        try:
            columns, _ = _mapping([reply])
            changed = replace(plan.requested, columns={**plan.requested.columns, **columns})
            plan = make_plan(changed, sources)
        except HdbenchError as error:
            typer.echo(one_line(error), err=True)
            continue
        _show(plan, console)


def _say_next(folder: Path, plan: CollectionPlan) -> None:
    """Print what was written, and the next steps."""
    name = plan.requested.name
    accept = "" if plan.requested.licence != "other" else " --accept-licence"
    typer.echo()
    say("{folder}: written. Next:", folder=folder)
    files = localized("{folder}/prompt.txt, answer.schema.json and README.md", folder=folder)
    steps = [
        (localized("read and improve"), files),
        (localized("look for problems"), f"hdbench check {folder}"),
        (localized("build it"), f"hdbench build {folder}{accept}"),
        (localized("ask a model"), f"hdbench run hdb/{name} --model MODEL -o runs/MODEL"),
        (localized("score its answers"), f"hdbench score hdb/{name} runs/MODEL"),
    ]
    if len(plan.truths) < len(plan.media.items):
        steps.insert(1, (localized("ground truth"), f"hdbench annotate {folder}"))
    for task, call in steps:
        typer.echo(f"  {task + ':':<21}{shown(call)}")
