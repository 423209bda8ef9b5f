"""What becomes of values and their order when the same answers are scored by other rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hdbench.errors import HdbenchError
from hdbench.leaderboard.boards import Board, leaderboards
from hdbench.runs import load_runs

PUBLISHED, AS_RECORDED, READ = "published", "documented, as recorded", "documented"

RULES: Mapping[str, tuple[str, bool]] = {
    PUBLISHED: ("published", True),
    AS_RECORDED: ("documented", True),
    READ: ("documented", False),
}
"""Rules → their protocol, and whether predictions are taken as they stand: else the text beside one
of null is read, which is often an answer that the harness lost."""


class Place(NamedTuple):
    """A model's headline under some rules.

    Attributes:
        value: the headline.
        place: 1 + the number of models of better headline, whether significantly or not.
    """

    value: float
    place: int


@dataclass(frozen=True)
class Changes:
    """The places of the models of one leaderboard under several rules.

    Attributes:
        boards: rules → the leaderboard under them.
        models: model → rules → its place; in the order of the first rules.
    """

    boards: dict[str, Board]
    models: dict[str, dict[str, Place]]


def changes(paths: Sequence[Path], *, benchmark: str | None = None, seed: int = 0) -> list[Changes]:
    """Score runs by each of `RULES`, and put them in order.

    Args:
        paths: run folders, or answers of the benchmark; results are scored already, and refused.
        benchmark: as of `load_runs`.
        seed: of the random numbers.

    Raises:
        HdbenchError: as of `load_runs`, or a path is a result.
    """
    ranked = {
        rules: leaderboards(
            load_runs(paths, benchmark=benchmark, protocol=protocol, as_given=as_given).values(),
            seed=seed,
        )
        for rules, (protocol, as_given) in RULES.items()
    }
    found = []
    for first in ranked[PUBLISHED]:
        boards = {}
        for rules, (protocol, _) in RULES.items():
            same = [each for each in ranked[rules] if each.kind.question == first.kind.question]
            if len(same) != 1 or same[0].kind.protocol != protocol:
                raise HdbenchError(
                    "some of these are results, scored already: give run folders or answers"
                )
            boards[rules] = same[0]
        places = {rules: _places(board) for rules, board in boards.items()}
        models = {
            row.model: {rules: places[rules][row.model] for rules in RULES}
            for row in boards[PUBLISHED].rows
        }
        found.append(Changes(boards, models))
    return found


def _places(board: Board) -> dict[str, Place]:
    """Model → its place; the rows come best first."""
    values = [row.value for row in board.rows]
    return {row.model: Place(row.value, values.index(row.value) + 1) for row in board.rows}
