"""Command with which people make and correct a ground truth."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import Annotator, Port
from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.trust.work_list import AppliedWorkList
from hdbench.collections.truth.choice_pages import AuditPage, WorkPage
from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.reading_page import ValueCheck
from hdbench.collections.truth.value_page import ValuePage
from hdbench.common.display.terminal import localized, page_language, say_notes
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError
from hdbench.report.audit.findings import read_audited


def command(
    folder: Path,
    *,
    annotator: Annotator = "me",
    drafts: Annotated[list[Path] | None, typer.Option(metavar="RUN")] = None,
    only: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    double: Annotated[int | None, typer.Option(min=1, metavar="N")] = None,
    port: Port = 7870,
) -> None:
    """Make or correct the ground truth in the browser, the image beside a form.

    Every entry is saved at once, into FOLDER/people/NAME.jsonl. To take in a colleague's work, copy
    that person's file into this folder.

    Args:
        folder: The collection's folder, as hdbench new writes it; for single values of a plan or a
            control sample, the benchmark that the plan names, such as hdb/cards.
        drafts: A run whose answers can be filled in, to be corrected. Repeat it for a second one,
            to see where the models differ.
        only: A plan of hdbench trust plan or a control sample of hdbench trust apply: read its
            values one by one. Or a work list of hdbench trust apply, in its folder: decide its
            doubtful values, beside what each run says. Or the CSV file of hdbench audit: look at
            its values again, beside what the models read.
        double: Also read N items that everybody reads who gives this option, none seeing the
            others' entries, so that hdbench agreement can say how well people agree. The first
            one draws them among the items that nobody has started.
    """
    if double:
        read_double(folder, annotator, double)
    page: Editor | ValuePage
    if only is None:
        page = Editor(folder, annotator, drafts or (), page_language())
        say_notes(page.notes)
    elif drafts:
        raise HdbenchError(
            "{path}: a list of single values: leave out --drafts, since people overlook what a "
            "draft has wrong",
            path=only,
        )
    elif (values := values_to_read(only, folder)) is not None:
        page = ValueCheck(folder, values, annotator, page_language())
    elif (audited := read_audited(only)) is not None:
        page = AuditPage(folder, annotator, page_language(), audited)
    else:
        page = WorkPage(folder, AppliedWorkList(only, folder), annotator, page_language())
    serve_page(page, port)


def serve_page(edited: Editor | ValuePage, port: int) -> None:
    """Serve a page until it is interrupted, and say its address."""
    with needed("space", "the editor needs"):
        from hdbench.collections.truth.server import serve  # noqa: PLC0415  Starlette is slow to import

    serve(edited, port=port, started=say_address)


def say_address(url: str) -> None:
    """Say where something is served."""
    # In one piece: a program that starts the editor may read only up to the address.
    typer.echo(f"{url}\n{localized('Ctrl+C ends it.')}")
