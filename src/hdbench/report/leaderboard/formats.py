"""Leaderboards for a terminal, and as Markdown, CSV and JSON."""

import json
import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from tabulate import tabulate

from hdbench.common.printing import folded, plain_table, printable
from hdbench.report.leaderboard.boards import Board
from hdbench.report.leaderboard.tables import shown_columns
from hdbench.report.leaderboard.words import (
    MAX_NAME,
    about_ranks,
    column_name,
    first_two,
    notes,
    say,
    title,
    verdict,
)
from hdbench.report.tables import Cell, TableRows, csv_bytes

_DISPENSABLE = ("answered", "cost", "seconds", "tokens")
"""Columns that are left out, from the right, if there is no room for the models' names."""

_LEAST_ROOM = 24
_PART = re.compile(r".+?(?:[-/_: ]+|$)")
"""A part of a name, up to where it may be broken."""

_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_{}[]<>#|"})


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
        columns, rows = shown_columns(board, language)
        below = [""] * len(rows)
        if "runs" in columns:
            several = columns.index("runs")
            del columns[several]
            below = [row.pop(several) for row in rows]
        head = [column_name(key, board, language) for key in columns]
        if "cost" in columns:  # its name is much wider than its figures
            cost = columns.index("cost")
            head[cost] = head[cost].replace(" ", "\n")
        model = columns.index("model")
        left_out: list[str] = []
        while columns[-1] in _DISPENSABLE and _room(console, head, rows, model) < _wanted(
            rows, model
        ):
            columns.pop()
            left_out.insert(0, head.pop().replace("\n", " "))
            rows = [row[:-1] for row in rows]
        _print(
            console,
            title(board, language),
            head,
            rows,
            model=model,
            above=about_ranks(board, language),
            below=below,
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
                f"## {_in_markdown(title(board, language))}",
                about_ranks(board, language),
                _markdown(board, language),
                *map(_in_markdown, [*first_two(board, language), *notes(board, language)]),
            ]
        )
        + "\n"
        for board in boards
    )


def csv(boards: Sequence[Board]) -> bytes:
    """Return a line for each model of each leaderboard, with all figures unrounded."""
    lines = [line for board in boards for line in _lines(board)]
    return csv_bytes(TableRows(list(lines[0]), iter([list(line.values()) for line in lines])))


def as_json(boards: Sequence[Board]) -> str:
    """Return the leaderboards as JSON, with each model's runs and the models better than it.

    It is ASCII, as it goes to a terminal: in untrusted names anything else is written as escapes.
    """
    data = {"leaderboards": [board.to_dict() for board in boards]}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _print(
    console: Console,
    caption: str,
    head: Sequence[str | Text],
    rows: Sequence[Sequence[str]],
    *,
    model: int = 0,
    above: str = "",
    below: Sequence[str] = (),
) -> None:
    """Print a table with the models' names broken where a word ends.

    Args:
        console: the terminal.
        caption: the text that stands above it.
        head: the columns' names.
        rows: their cells.
        model: the position of the column with the models' names.
        above: a sentence between the caption and the table.
        below: for each row, a text below the model's name.
    """
    console.print(printable(caption, 1_000), style="bold")
    if above:
        _print_text(console, above)
    room = _room(console, head, rows, model)
    table = _table(head, model)
    for row, extra in zip(rows, below or [""] * len(rows), strict=True):
        name = Text("\n".join(folded(_PART.findall(row[model]), room)))
        if extra:
            name.append(f"\n{extra}", "dim")
        cells = [printable(cell, MAX_NAME) for cell in row]
        table.add_row(*cells[:model], name, *cells[model + 1 :])
    console.print(table)


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)


def _table(head: Sequence[str | Text], model: int) -> Table:
    return plain_table(None, *head[: model + 1], right=head[model + 1 :])


def _room(
    console: Console, head: Sequence[str | Text], rows: Sequence[Sequence[str]], model: int
) -> int:
    """Return the width that the other columns leave for the models' names."""
    other_columns = _table(head, model)
    for row in rows:
        other_columns.add_row(*row[:model], "", *row[model + 1 :])
    width = Measurement.get(console, console.options.update_width(10_000), other_columns).maximum
    return console.width - width + len(head[model])


def _wanted(rows: Sequence[Sequence[str]], model: int) -> int:
    """Return the width with which the models' names are easy to read."""
    names = [row[model] for row in rows]
    parts = (cell_len(part.rstrip()) for name in names for part in _PART.findall(name))
    return max([min(max(map(cell_len, names)), _LEAST_ROOM), *parts])


def _lines(board: Board) -> list[dict[str, Cell]]:
    kind, people = board.kind, board.people
    return [
        {
            "benchmark": kind.benchmark,
            "dataset_version": kind.dataset_version,
            "protocol": kind.protocol,
            "read_as": " ".join(kind.read_as),
            "items": kind.items,
            "item_set": kind.item_set,
            "subset": kind.subset,
            "prompt": kind.prompt,
            "prompt_sha256": kind.prompt_sha256,
            "rank_low": row.rank.low if row.rank else None,
            "rank_high": row.rank.high if row.rank else None,
            "model": row.model,
            "provider": row.provider,
            "released": row.released,
            "public_since": board.public_since,
            "after_public": row.after_public,
            "drafted_items": row.drafted,
            "headline": board.headline,
            "value": row.value,
            "judged_by": board.judged_by,
            "judged": row.judged,
            "low": row.interval.low if row.interval else None,
            "high": row.interval.high if row.interval else None,
            "failures": row.failures,
            "without_media": row.without_media,
            "people": people.value if people else None,
            "people_low": people.interval[0] if people and people.interval else None,
            "people_high": people.interval[1] if people and people.interval else None,
            "people_items": people.items if people else None,
            "people_annotators": people.annotators if people else None,
            "lowest_run": row.spread[0] if row.spread else row.value,
            "highest_run": row.spread[1] if row.spread else row.value,
            "runs": " ".join(run.run or "" for run in row.runs),
            "runs_apart": row.runs_apart,
            "answered": row.answered,
            "seconds_per_item": row.seconds,
            "output_tokens_per_item": row.tokens,
            "cost_usd_per_run": row.cost_usd,
            "cost_usd_per_item": row.item_usd,
        }
        for row in board.rows
    ]


def _markdown(board: Board, language: str) -> str:
    columns, rows = shown_columns(board, language)
    head = [column_name(key, board, language) for key in columns]
    cells = [[_in_markdown(cell) for cell in row] for row in rows]
    align = ["left" if key == "model" else "right" for key in columns]
    return tabulate(cells, head, tablefmt="pipe", disable_numparse=True, colalign=align)


def _in_markdown(text: str) -> str:
    return text.translate(_MARKDOWN)
