"""Leaderboards for a terminal, and as Markdown, LaTeX, CSV and JSON."""

import json
from collections.abc import Sequence

from rich.console import Console
from tabulate import tabulate

from hdbench.common.printing import plain_table, printable
from hdbench.errors import escaped
from hdbench.leaderboard.boards import Board, Row
from hdbench.leaderboard.changes import RULES, Changes
from hdbench.report.csv_files import csv_bytes
from hdbench.report.rows import Cell, Rows
from hdbench.statistics.bootstrap import MIN_ITEMS, too_few

MAX_NAME = 60
"""How many characters of an untrusted name are shown."""

_MARKDOWN = str.maketrans({each: f"\\{each}" for each in r"\`*_{}[]<>#|"})


def print_boards(console: Console, boards: Sequence[Board]) -> None:
    """Print each leaderboard, with what its runs have in common above it."""
    for board in boards:
        head, rows = _shown(board)
        _print(console, title(board), head, rows)
        for note in notes(board):
            console.print(note, soft_wrap=True, markup=False, highlight=False)
        console.print()


def print_changes(console: Console, found: Sequence[Changes]) -> None:
    """Print the value and place of each model under each of the rules."""
    for each in found:
        board = next(iter(each.boards.values()))
        rows = [
            [_name(model), *(f"{place.value:.3f} ({place.place})" for place in places.values())]
            for model, places in each.models.items()
        ]
        what = f"{title(board, protocol=False)}: {board.headline} (place)"
        _print(console, what, ["model", *RULES], rows)
        console.print(
            "Places go by the value alone: they do not tell whether a difference may be chance.\n",
            soft_wrap=True,
        )


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
                f"{place.value:.3f}" + ("" if place.rank is None else f" ({place.rank})")
                for place in places.values()
            ]
            rows.append([_name(model), *shown, f"{values[-1] - values[0]:+.3f}"])
        ranked = " (rank)" if first.kind.items >= MIN_ITEMS else ""
        what = f"{first.kind.benchmark}, {first.kind.protocol}: {first.headline}{ranked}"
        _print(console, what, ["model", *heads, "change"], rows)
        console.print(notes(first)[0] + "\n", soft_wrap=True, markup=False, highlight=False)


def markdown(boards: Sequence[Board]) -> str:
    """A heading, a table and its notes for each leaderboard."""
    return "\n".join(
        "\n".join([f"## {_in_markdown(title(board))}", "", _markdown(board), "", *notes(board), ""])
        for board in boards
    )


def latex(boards: Sequence[Board]) -> str:
    """A `booktabs` table for each leaderboard, the headline with the longer side of its interval.

    Untrusted text is escaped.
    """
    parts = []
    for board in boards:
        head, rows = _shown(board, plus_minus=True)
        about = [title(board), *notes(board)]
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


def title(board: Board, *, protocol: bool = True) -> str:
    """What the runs of a leaderboard have in common, in one line."""
    kind = board.kind
    prompt = "prompt not known"
    if kind.prompt is not None:
        prompt = f"{kind.prompt} ({(kind.prompt_sha256 or 'hash not known')[:12]})"
    parts = [
        f"{kind.benchmark} {kind.dataset_version}",
        *([kind.protocol] if protocol else []),
        *(kind.read_as if protocol else ()),
        f"{kind.items} items" + (f" ({kind.subset})" if kind.subset else ""),
        prompt,
    ]
    return escaped(", ".join(parts))


def notes(board: Board) -> list[str]:
    """How to read a leaderboard, one line each."""
    runs = sum(len(row.runs) for row in board.rows)
    if board.kind.items < MIN_ITEMS:
        ranks = (
            f"{too_few(board.kind.items)} or a rank, which need {MIN_ITEMS}: no model is called "
            "better than another."
        )
    else:
        ranks = (
            "The rank is 1 + the number of models that are significantly better, all pairs tested "
            "together at 5 %."
        )
    return [
        f"{len(board.rows)} models, {runs} runs; {board.headline}, "
        f"{'higher' if board.higher_is_better else 'lower'} is better. {ranks}"
    ]


def _print(console: Console, heading: str, head: Sequence[str], rows: list[list[str]]) -> None:
    console.print(printable(heading, 1_000), style="bold")
    where = list(head).index("model") + 1
    table = plain_table(None, *head[:where], right=head[where:])
    for row in rows:
        table.add_row(*(printable(cell, MAX_NAME) for cell in row))
    console.print(table)


def _shown(board: Board, *, plus_minus: bool = False) -> tuple[list[str], list[list[str]]]:
    """The head and the cells; columns about which nothing is known are left out."""
    rows = [_cells(board, row, plus_minus) for row in board.rows]
    head = [name for name in rows[0] if name == "model" or any(row[name] for row in rows)]
    return head, [[row[name] for name in head] for row in rows]


def _cells(board: Board, row: Row, plus_minus: bool) -> dict[str, str]:
    value, interval = f"{row.value:.3f}", ""
    if row.interval is not None and plus_minus:
        value += f" ± {max(row.interval.high - row.value, row.value - row.interval.low):.3f}"
    elif row.interval is not None:
        interval = f"{row.interval.low:.3f} to {row.interval.high:.3f}"
    spread = ""
    if row.spread is not None:
        spread = f"{row.spread[0]:.3f} to {row.spread[1]:.3f} ({len(row.runs)})"
    return {
        "rank": "" if row.rank is None else str(row.rank),
        "model": _name(row.model),
        board.headline: value,
        "95 % interval": interval,
        "spread (runs)": spread,
        "answered": f"{row.answered:.0%}",
        "s/item": "" if row.seconds is None else f"{row.seconds:.1f}",
        "tokens/item": "" if row.tokens is None else f"{row.tokens:.0f}",
        "USD/run": "" if row.cost_usd is None else f"{row.cost_usd:.2f}",
    }


def _lines(board: Board) -> list[dict[str, Cell]]:
    kind = board.kind
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
            "rank": row.rank,
            "model": row.model,
            "provider": row.provider,
            "headline": board.headline,
            "value": row.value,
            "low": row.interval.low if row.interval else None,
            "high": row.interval.high if row.interval else None,
            "lowest_run": row.spread[0] if row.spread else row.value,
            "highest_run": row.spread[1] if row.spread else row.value,
            "runs": " ".join(run.run or "" for run in row.runs),
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


def _name(name: str) -> str:
    text = escaped(name[: MAX_NAME + 1])
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"
