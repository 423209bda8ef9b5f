"""Leaderboards for a terminal, and as Markdown, LaTeX, CSV and JSON."""

import json
import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text
from tabulate import tabulate

from hdbench.benchmarks.agreement import Ceiling
from hdbench.common.printing import folded, heading, plain_table, printable
from hdbench.leaderboard.boards import Board, Row
from hdbench.leaderboard.changes import Changes
from hdbench.leaderboard.words import (
    MAX_NAME,
    about_ranks,
    marks_of,
    notes,
    people_in_short,
    short_name,
    spread_in_words,
    title,
)
from hdbench.report.csv_files import csv_bytes
from hdbench.report.rows import Cell, Rows
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval

_SEVERAL = "several runs"
_INTERVAL = "95 % interval"

_DISPENSABLE = ("answered", "s/item", "tokens/item", "USD/run")
"""The columns that are left out, from the right, if there is no room for the models' names."""

_LEAST_ROOM = 24
_PART = re.compile(r".+?(?:[-/_: ]+|$)")
"""A part of a name, up to where it may be broken."""

_MARKDOWN = str.maketrans({each: f"\\{each}" for each in r"\`*_{}[]<>#|"})


def print_boards(console: Console, boards: Sequence[Board]) -> None:
    """Print each leaderboard, with what its runs have in common above it.

    What several runs of a model have in common stands below its name. In a narrow terminal, columns
    are left out if the names would have too little room.
    """
    for board in boards:
        head, rows = _shown(board)
        below = [""] * len(rows)
        if _SEVERAL in head:
            column = head.index(_SEVERAL)
            head.remove(_SEVERAL)
            below = [row.pop(column) for row in rows]
        left_out: list[str] = []
        while head[-1] in _DISPENSABLE and _room(console, head, rows) < _wanted(head, rows):
            left_out.insert(0, head.pop())
            rows = [row[:-1] for row in rows]
        _print(console, title(board), head, rows, above=about_ranks(board), below=below)
        for note in notes(board):
            _print_text(console, note)
        if left_out:
            _print_text(console, f"No room for {', '.join(left_out)}: see --format csv.")
        console.print()


def print_changes(console: Console, found: Sequence[Changes]) -> None:
    """Print each model's value and place under each of the rules, and how the place changes."""
    for each in found:
        board = next(iter(each.boards.values()))
        rows = []
        for model, places in each.models.items():
            first = next(iter(places.values())).place
            rows.append(
                [
                    short_name(model),
                    *(
                        f"{place.value:.3f} ({place.place}{_moved(first, place.place)})"
                        for place in places.values()
                    ),
                ]
            )
        what = f"{title(board, protocol=False)}: {board.headline} (place, change)"
        _print(console, what, ["model", *map(heading, each.boards)], rows)
        _print_text(
            console,
            "Places go by the value alone: they do not tell whether a difference may be chance.\n",
        )


def _moved(before: int, now: int) -> str:
    """How many places a model moves up or down; nothing if it stays."""
    if now == before:
        return ""
    return f" ↑{before - now}" if now < before else f" ↓{now - before}"


def print_revisions(console: Console, found: Sequence[Changes]) -> None:
    """Print the value and rank of each model by each revision, and the last minus the first."""
    for each in found:
        first = next(iter(each.boards.values()))
        heads = [
            f"{revision} ({board.kind.dataset_version})" for revision, board in each.boards.items()
        ]
        rows = []
        for model, places in each.models.items():
            values = [place.value for place in places.values()]
            shown = [
                f"{place.value:.3f}" + ("" if place.rank is None else f" ({place.rank.shown()})")
                for place in places.values()
            ]
            rows.append([short_name(model), *shown, f"{values[-1] - values[0]:+.3f}"])
        ranked = " (rank)" if first.kind.items >= MIN_ITEMS else ""
        what = f"{first.kind.benchmark}, {first.kind.protocol}: {first.headline}{ranked}"
        _print(console, what, ["model", *heads, "change"], rows, above=about_ranks(first))
        _print_text(console, notes(first)[0] + "\n")


def markdown(boards: Sequence[Board]) -> str:
    """A heading, a table and its notes for each leaderboard."""
    return "\n".join(
        "\n\n".join(
            [
                f"## {_in_markdown(title(board))}",
                about_ranks(board),
                _markdown(board),
                *map(_in_markdown, notes(board)),
            ]
        )
        + "\n"
        for board in boards
    )


def latex(boards: Sequence[Board]) -> str:
    """A `booktabs` table for each leaderboard, the headline with the longer side of its interval.

    Untrusted text is escaped.
    """
    parts = []
    for board in boards:
        head, rows = _shown(board, plus_minus=True)
        about = [title(board), about_ranks(board), *notes(board)]
        if board.kind.items >= MIN_ITEMS:
            about.append("± is the longer side of the 95 % interval.")
        table = tabulate(rows, head, tablefmt="latex_booktabs", disable_numparse=True)
        parts.append("\n".join([*(f"% {line}" for line in about), table, ""]))
    return "\n".join(parts)


def csv(boards: Sequence[Board]) -> bytes:
    """A line for each model of each leaderboard, with all figures unrounded."""
    lines = [line for board in boards for line in _lines(board)]
    return csv_bytes(Rows(list(lines[0]), iter([list(line.values()) for line in lines])))


def as_json(boards: Sequence[Board]) -> str:
    """The leaderboards as JSON: also the runs of each model, and who is better than whom.

    It is ASCII, as it goes to a terminal: in untrusted names anything else is written as escapes.
    """
    data = {"leaderboards": [board.to_dict() for board in boards]}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _print(
    console: Console,
    what: str,
    head: Sequence[str | Text],
    rows: Sequence[Sequence[str]],
    *,
    above: str = "",
    below: Sequence[str] = (),
) -> None:
    """Print a table with the models' names broken where a word ends.

    Args:
        console: where to.
        what: stands above it.
        head: the columns' names.
        rows: their cells.
        above: a sentence between that and the table.
        below: for each row, what stands below the model's name.
    """
    console.print(printable(what, 1_000), style="bold")
    if above:
        _print_text(console, above)
    room = _room(console, head, rows)
    where = list(head).index("model")
    table = _table(head)
    for row, extra in zip(rows, below or [""] * len(rows), strict=True):
        name = Text("\n".join(folded(_PART.findall(row[where]), room)))
        if extra:
            name.append(f"\n{extra}", "dim")
        cells = [printable(cell, MAX_NAME) for cell in row]
        table.add_row(*cells[:where], name, *cells[where + 1 :])
    console.print(table)


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)


def _table(head: Sequence[str | Text]) -> Table:
    where = list(head).index("model") + 1
    return plain_table(None, *head[:where], right=head[where:])


def _room(console: Console, head: Sequence[str | Text], rows: Sequence[Sequence[str]]) -> int:
    """The width that the other columns leave for the models' names."""
    where = list(head).index("model")
    others = _table(head)
    for row in rows:
        others.add_row(*row[:where], "", *row[where + 1 :])
    taken = Measurement.get(console, console.options.update_width(10_000), others).maximum
    return console.width - taken + len("model")


def _wanted(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The width with which the models' names are easy to read."""
    names = [row[list(head).index("model")] for row in rows]
    parts = (cell_len(part.rstrip()) for name in names for part in _PART.findall(name))
    return max([min(max(map(cell_len, names)), _LEAST_ROOM), *parts])


def _shown(board: Board, *, plus_minus: bool = False) -> tuple[list[str], list[list[str]]]:
    """The head and the cells; columns about which nothing is known are left out."""
    rows = [_cells(board, row, plus_minus) for row in board.rows]
    if board.people is not None:
        rows.insert(0, dict.fromkeys(rows[0], "") | _of_people(board, board.people, plus_minus))
    head = [name for name in rows[0] if name == "model" or any(row[name] for row in rows)]
    return head, [[row[name] for name in head] for row in rows]


def _of_people(board: Board, people: Ceiling, plus_minus: bool) -> dict[str, str]:
    """The cells of what people reach: it stands first, as the ceiling above the models."""
    ends = people.interval and Interval(*people.interval)
    value, interval = _value(people.value, ends, plus_minus)
    name = people_in_short(people)
    return {"model": name, board.headline: value, _INTERVAL: interval}


def _value(value: float, ends: Interval | None, plus_minus: bool) -> tuple[str, str]:
    """A headline and its interval: in two cells, or, with `plus_minus`, in one."""
    if ends is None:
        return f"{value:.3f}", ""
    if plus_minus:
        return f"{value:.3f} ± {max(ends.high - value, value - ends.low):.3f}", ""
    return f"{value:.3f}", ends.shown(3)


def _cells(board: Board, row: Row, plus_minus: bool) -> dict[str, str]:
    value, interval = _value(row.value, row.interval, plus_minus)
    return {
        "rank": "" if row.rank is None else row.rank.shown(),
        "model": short_name(row.model) + (f" {marks}" if (marks := marks_of(row)) else ""),
        board.headline: value,
        _INTERVAL: interval,
        "without media": "" if row.without_media is None else f"{row.without_media:.3f}",
        _SEVERAL: spread_in_words(row),
        "answered": f"{row.answered:.0%}",
        "s/item": "" if row.seconds is None else f"{row.seconds:.1f}",
        "tokens/item": "" if row.tokens is None else f"{row.tokens:.0f}",
        "USD/run": "" if row.cost_usd is None else f"{row.cost_usd:.2f}",
    }


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
            "low": row.interval.low if row.interval else None,
            "high": row.interval.high if row.interval else None,
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
        }
        for row in board.rows
    ]


def _markdown(board: Board) -> str:
    head, rows = _shown(board)
    cells = [[_in_markdown(cell) for cell in row] for row in rows]
    align = ["left" if name in ("model",) else "right" for name in head]
    return tabulate(cells, head, tablefmt="pipe", disable_numparse=True, colalign=align)


def _in_markdown(text: str) -> str:
    return text.translate(_MARKDOWN)
