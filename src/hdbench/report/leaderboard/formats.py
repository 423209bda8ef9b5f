"""Leaderboards for a terminal, and as Markdown, CSV and JSON."""

import json
from collections.abc import Sequence

from rich.console import Console

from hdbench.common.display.table import MARKDOWN, Column, Table
from hdbench.common.display.terminal import print_table, printable
from hdbench.report.leaderboard.boards import Board
from hdbench.report.leaderboard.tables import board_table
from hdbench.report.leaderboard.words import (
    about_ranks,
    first_two,
    notes,
    say,
    spread_in_words,
    title,
    verdict,
)

_OPTIONAL = ("answered", "cost", "seconds", "tokens")
"""Columns that are left out, from the right, if there is no room for the models' names."""


def print_boards(console: Console, boards: Sequence[Board], language: str = "en") -> None:
    """Print each leaderboard, with what its runs have in common above it.

    The note on a model with several runs stands below its name. In a narrow terminal, columns
    are left out if the names would have too little room.

    Args:
        console: the terminal.
        boards: the leaderboards.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    for board in boards:
        console.print(printable(title(board, language), 1_000), style="bold")
        _print_text(console, about_ranks(board, language))
        people = [] if board.people is None else [""]
        left_out = print_table(
            console,
            board_table(board, language, with_runs=False),
            language,
            optional=_OPTIONAL,
            below=[*people, *(spread_in_words(row, language) for row in board.rows)],
        )
        for note in [*first_two(board, language), *notes(board, language)]:
            _print_text(console, note)
        if left_out:
            _print_text(console, say("no_room", language, columns=", ".join(left_out)))
        console.print()


def print_verdicts(console: Console, boards: Sequence[Board], language: str = "en") -> None:
    """Print of each leaderboard which model is best, whether that is sure, and its price."""
    for board in boards:
        for sentence in verdict(board, language):
            _print_text(console, sentence)
    console.print()


def markdown(boards: Sequence[Board], language: str = "en") -> str:
    """Return a heading, a table and its notes for each leaderboard.

    Args:
        boards: the leaderboards.
        language: same as in `print_boards`.
    """
    return "\n".join(
        "\n\n".join(
            [
                f"## {title(board, language).translate(MARKDOWN)}",
                about_ranks(board, language),
                board_table(board, language).to_markdown(language),
                *(
                    note.translate(MARKDOWN)
                    for note in [*first_two(board, language), *notes(board, language)]
                ),
            ]
        )
        + "\n"
        for board in boards
    )


def csv(boards: Sequence[Board]) -> bytes:
    """Return a line for each model of each leaderboard, with all figures unrounded."""
    rows = [row for board in boards for row in board.records()]
    names = dict.fromkeys(name for row in rows for name in row)
    return Table(rows, [*map(Column, names)]).to_csv()


def as_json(boards: Sequence[Board]) -> str:
    """Return the leaderboards as JSON, with each model's runs and the models better than it.

    It is ASCII, as it goes to a terminal: in untrusted names anything else is written as escapes.
    """
    data = {"leaderboards": [board.to_dict() for board in boards]}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)
