"""What stands in the table of a leaderboard, in any of the forms that people read."""

from hdbench.benchmarks.agreement import Ceiling
from hdbench.common.texts import in_terminal
from hdbench.output.leaderboard.boards import Board, BoardRow
from hdbench.output.leaderboard.words import (
    interval_in_words,
    marks_of,
    people_in_short,
    short_name,
    spread_in_words,
)
from hdbench.statistics.bootstrap import Interval


def shown_columns(
    board: Board, language: str, *, plus_minus: bool = False
) -> tuple[list[str], list[list[str]]]:
    """The columns' keys, and their cells; columns about which nothing is known are left out.

    Args:
        board: the leaderboard.
        language: one of `hdbench.common.texts.LANGUAGES`.
        plus_minus: show the longer side of an interval beside the figure that ranks, and no
            interval.
    """
    judged_apart = board.judged_by != board.headline
    rows = [_cells(row, language, plus_minus, judged_apart=judged_apart) for row in board.rows]
    if board.people is not None:
        people = _of_people(board.people, language, plus_minus)
        rows.insert(0, dict.fromkeys(rows[0], "") | people)
    columns = [key for key in rows[0] if key == "model" or any(row[key] for row in rows)]
    return columns, [[row[key] for key in columns] for row in rows]


def number(value: float | None, language: str, form: str = ".3f") -> str:
    """A number as the language writes it; empty if it is not known."""
    return "" if value is None else in_terminal(value, form, language)


def _of_people(people: Ceiling, language: str, plus_minus: bool) -> dict[str, str]:
    """The cells of what people reach: it stands first, as the ceiling above the models."""
    ends = people.interval and Interval(*people.interval)
    value, interval = _value(people.value, ends, language, plus_minus)
    return {"model": people_in_short(people, language), "headline": value, "interval": interval}


def _value(value: float, ends: Interval | None, language: str, plus_minus: bool) -> tuple[str, str]:
    """A figure and its interval: in two cells, or, with `plus_minus`, in one."""
    shown = number(value, language)
    if ends is None:
        return shown, ""
    if plus_minus:
        side = max(ends.high - value, value - ends.low)
        return f"{shown} ± {number(side, language)}", ""
    return shown, interval_in_words(ends, language)


def _cells(row: BoardRow, language: str, plus_minus: bool, *, judged_apart: bool) -> dict[str, str]:
    judged, interval = _value(row.judged, row.interval, language, plus_minus)
    return {
        "rank": "" if row.rank is None else row.rank.shown(),
        "model": short_name(row.model) + (f" {marks}" if (marks := marks_of(row)) else ""),
        "headline": number(row.value, language) if judged_apart else judged,
        "judged": judged if judged_apart else "",
        "interval": interval,
        "without_media": number(row.without_media, language),
        "runs": spread_in_words(row, language),
        "answered": number(row.answered, language, ".0%"),
        "seconds": number(row.seconds, language, ".1f"),
        "tokens": number(row.tokens, language, ".0f"),
        "cost": number(row.cost_usd, language, ".2f"),
    }
