"""Which model is best for a collection: its runs ranked as `hdbench leaderboard` does it."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from hdbench.benchmarks.names import DESCRIPTION
from hdbench.collections.home.background import TaskView
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.run_list import RunView
from hdbench.collections.home.stamps import is_as_new, stamp_of
from hdbench.common.display.marks import mark
from hdbench.evaluation.result import Result
from hdbench.evaluation.runs import load_runs
from hdbench.report.folder import PAGE, WrittenReport, write_report
from hdbench.report.leaderboard.boards import Board, leaderboards
from hdbench.report.leaderboard.tables import (
    BoardCells,
    board_table,
    people_line,
    scale_of,
)

REPORTS = "reports"
"""The folder of reports, beside the collection."""

COMPARING = "compare"
"""The name of the work that ranks runs."""


class Compared(NamedTuple):
    """Runs that are ranked.

    Attributes:
        boards: one for each kind of runs, that with the most runs first; none if nothing is scored.
        paths: model → its runs.
        results: run → its result.
    """

    boards: Sequence[Board]
    paths: Mapping[str, Sequence[Path]]
    results: Mapping[str, Result]


class RankedRow(NamedTuple):
    """A model as the page shows it.

    Attributes:
        cells: what the leaderboard has in its columns.
        mark: its value as a dot with its interval.
        runs: its runs.
    """

    cells: BoardCells
    mark: Markup
    runs: Sequence[Path]


def usable(collection: Collection) -> Sequence[RunView]:
    """Return the runs that have answers."""
    return [run for run in collection.run_views() if run.answered]


def comparing(collection: Collection, runs: Sequence[RunView]) -> TaskView:
    """Return the work that ranks runs of a collection, whose dataset is built.

    Scores are kept where commands keep them. It starts again once a run or the dataset changes.
    """
    paths = [run.path for run in runs]
    stamp = stamp_of(collection.built / DESCRIPTION), stamp_of_runs(paths)
    return collection.background.computed(COMPARING, stamp, lambda: _compared(collection, paths))


def ranked_rows(compared: Compared, board: Board, language: str) -> list[RankedRow]:
    """Return the rows of a leaderboard, the best first."""
    scale, line = scale_of(board), people_line(board)
    rows = []
    for row, cells in zip(board.rows, board_table(board, language).rows, strict=True):
        drawn = Markup()
        if scale is not None and row.interval is not None:
            ends = (row.interval.low, row.interval.high)
            drawn = mark(row.judged, ends, scale.low, scale.high, line)
        rows.append(RankedRow(cells, drawn, compared.paths.get(row.model, ())))
    return rows


def report_page(collection: Collection, run: Path) -> Path:
    """Return the page of a run's report, whether it is there or not."""
    return collection.beside / REPORTS / run.name / PAGE


def has_report(collection: Collection, run: Path) -> bool:
    """Return whether the report of a run is there, and as new as what it is about."""
    page = stamp_of(report_page(collection, run))
    return is_as_new(page, (stamp_of(collection.built / DESCRIPTION), _stamp(run)))


def make_report(collection: Collection, run: RunView, language: str) -> WrittenReport:
    """Write the report of a run.

    Raises:
        HdbenchError: see `write_report`.
    """
    out, built = report_page(collection, run.path).parent, str(collection.built)
    names = () if run.says_model else (run.model,)
    return write_report(run.path, out, benchmark=built, names=names, language=language)


def stamp_of_runs(paths: Sequence[Path]) -> Hashable:
    """Return a value that changes with the runs."""
    return tuple((path, _stamp(path)) for path in paths)


def _stamp(run: Path) -> tuple[int, ...]:
    """Return the stamp of a file of answers, or that of the newest file of a run's folder."""
    files = [run, *run.iterdir()] if run.is_dir() else [run]
    return max(map(stamp_of, files))


def _compared(collection: Collection, paths: Sequence[Path]) -> Compared:
    prefix = f"{collection.spec.name}_"
    loaded = load_runs(paths, benchmark=str(collection.built))
    results = {name.removeprefix(prefix): result for name, result in loaded.items() if result.ids}
    of_model: dict[str, list[Path]] = {}
    for name, result in results.items():
        of_model.setdefault(result.model or name, []).append(Path(result.answers.path))
    return Compared(leaderboards(results) if results else [], of_model, results)
