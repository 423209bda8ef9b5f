"""The command with which people make and correct a ground truth."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.app import MAKE, app


class Language(StrEnum):
    """A language of the editor."""

    en = "en"
    de = "de"


@app.command(rich_help_panel=MAKE)
def annotate(
    folder: Annotated[
        Path, typer.Argument(help="The collection's folder, as hdbench new writes it.")
    ],
    *,
    annotator: Annotated[
        str,
        typer.Option(
            "--as",
            help="Your pseudonym, which stands in the history: a-z, 0-9, _ and -. If several "
            "people work on a collection, each needs one.",
            metavar="PSEUDONYM",
        ),
    ] = "me",
    drafts: Annotated[
        list[Path] | None,
        typer.Option(
            help="A run whose answers can be filled in, to be corrected. Repeat it for a second "
            "one, to see where the models differ.",
            metavar="RUN",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="The port of the page; 0 for any that is free.", min=0, max=65535)
    ] = 7870,
    language: Annotated[
        Language | None, typer.Option(help="The page's language; by default the browser's.")
    ] = None,
) -> None:
    """Make or correct the ground truth in the browser, the image beside a form.

    Every entry is saved at once, into a history in FOLDER/history.
    """
    from hdbench.common.extras import needed  # noqa: PLC0415

    with needed("space", "the editor needs"):
        from hdbench.annotating.server import serve  # noqa: PLC0415  Starlette is slow to import
    from hdbench.annotating.editor import Editor  # noqa: PLC0415

    editor = Editor(folder, annotator, drafts or (), language)
    serve(editor, port=port, started=lambda url: typer.echo(f"{url}\nCtrl+C ends it."))
