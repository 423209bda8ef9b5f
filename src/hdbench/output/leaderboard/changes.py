"""Changes of values and their order under other rules, or by another revision of ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hdbench.answers import ReadAs
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.runs import load_runs, load_runs_under
from hdbench.evaluation.score import Settings
from hdbench.output.leaderboard.boards import Board, leaderboards
from hdbench.results.result import Result
from hdbench.statistics.ranking import Ranks

PUBLISHED, READ = "published", "documented"
AS_RECORDED = Message("documented, as recorded")

RULES: Mapping[str, Settings] = {
    PUBLISHED: Settings("published", read_as=ReadAs(as_given=True)),
    AS_RECORDED: Settings("documented", read_as=ReadAs(as_given=True)),
    READ: Settings("documented"),
}
"""Rules → how answers are scored under them. If predictions are not taken as given, the text beside
a null one is read, which is often an answer that the harness lost."""


class ModelPlace(NamedTuple):
    """A model's headline under some rules, or by the ground truth of some revision.

    Attributes:
        value: the headline.
        place: 1 + the number of models that are better by the ranking figure, whether
            significantly or not.
        rank: the ranks that it may have; None where there are too few items.
    """

    value: float
    place: int
    rank: Ranks | None


@dataclass(frozen=True)
class Changes:
    """The places of the models of one leaderboard under several rules, or by several revisions.

    Attributes:
        boards: rules, or revision → the leaderboard.
        models: model → the same keys → its place; models in the order of the first board.
    """

    boards: dict[str, Board]
    models: dict[str, dict[str, ModelPlace]]


def changes(
    paths: Sequence[Path],
    rules: Mapping[str, Settings] = RULES,
    *,
    benchmark: str | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
) -> list[Changes]:
    """Score runs under each of several rules, and put them in order.

    Args:
        paths: run folders, or answers of the benchmark; results are already scored, and refused.
        rules: name → how answers are scored; by default the two protocols, `documented` also with
            the answers as they were recorded.
        benchmark: see `load_runs`.
        names: see `load_runs`.
        seed: for the random numbers.

    Raises:
        HdbenchError: see `load_runs`, or a path is a result.
    """
    loaded = load_runs_under(paths, list(rules.values()), benchmark=benchmark, names=names)
    return _side_by_side(dict(zip(rules, loaded, strict=True)), seed)


def revisions(
    paths: Sequence[Path],
    names: Sequence[str],
    *,
    benchmark: str | None = None,
    protocol: str = "documented",
    models: Sequence[str] = (),
    seed: int = 0,
) -> list[Changes]:
    """Score runs by the ground truth of several revisions of their benchmark on the Hub.

    Args:
        paths: see `changes`.
        names: the revisions: tags, branches or commits.
        benchmark: see `load_runs`.
        protocol: see `load_runs`.
        models: the `names` of `load_runs`.
        seed: for the random numbers.

    Raises:
        HdbenchError: see `load_runs`, or the revisions do not have the same items.
    """
    loaded = {
        name: load_runs(
            paths,
            benchmark=benchmark,
            settings=Settings(protocol, revision=name),
            names=models,
        )
        for name in names
    }
    return _side_by_side(loaded, seed)


def _side_by_side(loaded: Mapping[str, Mapping[str, Result]], seed: int) -> list[Changes]:
    """Return the leaderboards of the same runs by each key, in the order of the first key's."""
    ranked = {name: leaderboards(results, seed=seed) for name, results in loaded.items()}
    start = next(iter(ranked))
    compared = []
    for first in ranked[start]:
        boards = {}
        for name, boards_of in ranked.items():
            matching = [board for board in boards_of if board.kind.question == first.kind.question]
            if len(matching) != 1:
                raise HdbenchError(
                    "{benchmark}: {first} and {second} do not have the same items: their scores "
                    "cannot be compared",
                    benchmark=first.kind.benchmark,
                    first=start,
                    second=name,
                )
            boards[name] = matching[0]
        places = {name: _places(board) for name, board in boards.items()}
        models = {
            row.model: {name: places[name][row.model] for name in boards} for row in first.rows
        }
        compared.append(Changes(boards, models))
    return compared


def _places(board: Board) -> dict[str, ModelPlace]:
    """Return each model's place; the rows come best first."""
    values = [row.judged for row in board.rows]
    return {
        row.model: ModelPlace(row.value, values.index(row.judged) + 1, row.rank)
        for row in board.rows
    }
