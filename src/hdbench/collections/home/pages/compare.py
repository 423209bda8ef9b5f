"""Which model is best for these items, whether that is sure, and the reports of the runs."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.responses import FileResponse, Response

from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.page import HomePage, Visit
from hdbench.collections.home.run_list import RunView
from hdbench.collections.home.stamps import is_as_new, stamp_of, stamp_of_run, stamp_of_runs
from hdbench.common.display.marks import mark
from hdbench.common.files import file_in
from hdbench.common.writing import refuse_links
from hdbench.errors import HdbenchError
from hdbench.evaluation import sentences
from hdbench.evaluation.result import Result
from hdbench.evaluation.runs import load_runs
from hdbench.report.folder import PAGE as REPORT_PAGE
from hdbench.report.folder import write_report
from hdbench.report.leaderboard.boards import Board, leaderboards
from hdbench.report.leaderboard.tables import (
    Cells,
    board_cells,
    field_figure,
    people_line,
    scale_of,
)
from hdbench.report.leaderboard.words import about_ranks, column_name, notes, verdict

REPORTS = "reports"
"""The folder of reports, beside the collection."""

COMPARING = "compare"
"""The name of the work that ranks runs."""


SHOWN = ("rank", "answered", "cost", "seconds")
"""Columns of the leaderboard that are shown beside a model's figure."""

_REPORT = "report"

POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; "
    "frame-ancestors 'none'"
)
"""A report has a policy of its own for all that it loads: here it cannot reach other pages."""


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


def _show(visit: Visit) -> Mapping[str, Any]:
    collection, language = visit.collection, visit.language
    shown: dict[str, Any] = {
        "runs": collection.answered_runs(),
        "is_built": collection.is_built(),
        "work": None,
        "board": None,
        "making": collection.background.last(_REPORT),
    }
    if not shown["runs"] or not shown["is_built"]:
        return shown
    paths = [run.path for run in shown["runs"]]
    stamp = stamp_of(collection.built / DESCRIPTION), stamp_of_runs(paths)
    # Scores are kept where commands keep them.
    work = collection.background.computed(COMPARING, stamp, lambda: _compared(collection, paths))
    shown["work"] = work
    if work.value is None or not work.value.boards:
        return shown
    board, *others = work.value.boards
    titles = FieldTitles(collection.schema, language)
    rows = _ranked_rows(work.value, board, language)
    return shown | {
        "board": board,
        "others": others,
        "verdict": verdict(board, language),
        "rows": rows,
        "columns": {key: column_name(key, board, language) for key in SHOWN if key in rows[0][0]},
        "figure": column_name("judged", board, language, titled=True),
        "about": [about_ranks(board, language), *notes(board, language, titled=True)],
        "fields": field_figure(board, language, titles),
        "told": {
            name: (sentences.warnings(result, language, titles, gravest=True), told)
            for name, result in work.value.results.items()
            if (told := sentences.notes(result, language)) or result.warnings
        },
        "reports": {run.path: _has_report(collection, run.path) for run in shown["runs"]},
    }


def _ranked_rows(
    compared: Compared, board: Board, language: str
) -> list[tuple[Cells, Markup, Sequence[Path]]]:
    """Return of each model, the best first: its cells, a dot with its interval, and its runs."""
    scale, line = scale_of(board), people_line(board)
    rows = []
    _, _, models = board_cells(board, language)
    for row, cells in zip(board.rows, models, strict=True):
        drawn = Markup()
        if scale is not None and row.interval is not None:
            ends = (row.interval.low, row.interval.high)
            drawn = mark(row.judged, ends, scale.low, scale.high, line)
        rows.append((cells, drawn, compared.paths.get(row.model, ())))
    return rows


def report_page(collection: Collection, run: Path) -> Path:
    """Return the page of a run's report, whether it is there or not."""
    return collection.beside / REPORTS / run.name / REPORT_PAGE


def _has_report(collection: Collection, run: Path) -> bool:
    """Return whether the report of a run is there, and as new as what it is about."""
    page = stamp_of(report_page(collection, run))
    return is_as_new(page, (stamp_of(collection.built / DESCRIPTION), stamp_of_run(run)))


def _compared(collection: Collection, paths: Sequence[Path]) -> Compared:
    prefix = f"{collection.spec.name}_"
    loaded = load_runs(paths, benchmark=str(collection.built))
    results = {name.removeprefix(prefix): result for name, result in loaded.items() if result.ids}
    of_model: dict[str, list[Path]] = {}
    for name, result in results.items():
        of_model.setdefault(result.model or name, []).append(Path(result.answers.path))
    return Compared(leaderboards(results) if results else [], of_model, results)


def _build(visit: Visit) -> None:
    """Build the dataset with the ground truth as it is now, so that runs can be scored by it."""
    visit.collection.ensure_built()


def _make(visit: Visit) -> None:
    """Make the report of a run, to which its row then links."""
    collection = visit.collection
    run = _run(collection, visit.form.get("run", ""))
    if not _has_report(collection, run.path):
        out = report_page(collection, run.path).parent
        refuse_links(out, collection.beside)
        write = partial(
            write_report,
            run.path,
            out,
            benchmark=str(collection.built),
            names=() if run.says_model else (run.model,),
            language=visit.language,
        )
        collection.background.start(_REPORT, write)


def _report_file(visit: Visit) -> Response:
    """Answer with the page of a report, or a file that it links."""
    run = _run(visit.collection, visit.parts["run"])
    page = report_page(visit.collection, run.path)
    refuse_links(page.parent, visit.collection.beside)
    path = file_in(page.parent, visit.parts["file"] or page.name)
    return FileResponse(path, headers={"Content-Security-Policy": POLICY})


def _run(collection: Collection, name: str) -> RunView:
    """Return a run by its name.

    Raises:
        HdbenchError: there is none of that name.
    """
    for run in collection.answered_runs():
        if run.name == name:
            return run
    raise HdbenchError("{name}: there is no such run", name=name[:100])


PAGE = HomePage(
    "compare",
    _show,
    {"build": _build, "report": _make},
    files={"report/{run}/{file:path}": _report_file},
)
