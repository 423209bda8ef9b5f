"""The forms in which leaderboards are written to standard output."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import typer
from rich.console import Console

if TYPE_CHECKING:
    from hdbench.leaderboard.boards import Board


class Form(StrEnum):
    """How a leaderboard is written."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


def write_boards(boards: "Sequence[Board]", form: Form, language: str) -> None:
    """Write leaderboards to standard output.

    Args:
        boards: the leaderboards.
        form: how they are written.
        language: the language of a table or page; the other forms are English.
    """
    from hdbench.leaderboard import formats  # noqa: PLC0415  slow to import

    if form is Form.table:
        formats.print_boards(Console(), boards, language)
    elif form is Form.csv:
        sys.stdout.buffer.write(formats.csv(boards))
    elif form is Form.html:
        from hdbench.leaderboard.tables import leaderboard_page  # noqa: PLC0415

        page = leaderboard_page(boards, language)
        sys.stdout.buffer.write(page.encode(errors="backslashreplace"))
    else:
        write = {
            Form.markdown: formats.markdown,
            Form.json: formats.as_json,
            Form.latex: formats.latex,
        }
        typer.echo(write[form](boards), nl=False)
