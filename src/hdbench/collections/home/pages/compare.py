"""Which model is best for these items, whether that is sure, and the reports of the runs."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from hdbench.benchmarks.titles import FieldTitles
from hdbench.collections.home.collection import Collection
from hdbench.collections.home.comparison import (
    comparing,
    has_report,
    make_report,
    ranked_rows,
    report_page,
    usable,
)
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.collections.home.run_list import RunView
from hdbench.errors import HdbenchError
from hdbench.evaluation.summary import ResultSummary
from hdbench.report.leaderboard.figures import field_figure
from hdbench.report.leaderboard.words import about_ranks, column_name, notes, verdict

SHOWN = ("rank", "answered", "cost", "seconds")
"""Columns of the leaderboard that are shown beside a model's figure."""

_REPORT = "report"

POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; "
    "frame-ancestors 'none'"
)
"""A report has a policy of its own for all that it loads: here it cannot reach other pages."""


def _show(visit: Visit) -> Mapping[str, Any]:
    collection, language = visit.collection, visit.language
    shown: dict[str, Any] = {
        "runs": usable(collection),
        "is_built": collection.is_built(),
        "work": None,
        "board": None,
        "making": collection.background.last(_REPORT),
    }
    if not shown["runs"] or not shown["is_built"]:
        return shown
    work = comparing(collection, shown["runs"])
    shown["work"] = work
    if work.value is None or not work.value.boards:
        return shown
    board, *others = work.value.boards
    titles = FieldTitles(collection.schema, language)
    rows = ranked_rows(work.value, board, language)
    return shown | {
        "board": board,
        "others": others,
        "verdict": verdict(board, language),
        "rows": rows,
        "columns": {
            key: column_name(key, board, language)
            for key in SHOWN
            if any(row.cells[key].text for row in rows)
        },
        "figure": column_name("judged", board, language, titled=True),
        "about": [about_ranks(board, language), *notes(board, language, titled=True)],
        "fields": field_figure(board, board.rows, language, titles),
        "told": {
            name: summary
            for name, result in work.value.results.items()
            if (summary := ResultSummary(result, language, titles=titles))
            and (summary.warnings or summary.notes)
        },
        "reports": {run.path: has_report(collection, run.path) for run in shown["runs"]},
    }


def _build(visit: Visit) -> Done:
    """Build the dataset with the ground truth as it is now, so that runs can be scored by it."""
    visit.collection.ensure_built()
    return Done()


def _make(visit: Visit) -> Done:
    """Make the report of a run, to which its row then links."""
    collection = visit.collection
    run = _run(collection, visit.form.get("run", ""))
    if not has_report(collection, run.path):
        collection.background.start(_REPORT, partial(make_report, collection, run, visit.language))
    return Done()


async def report_file(collection: Collection, request: Request) -> Response:
    """Answer with the page of a report, or a file that it links."""

    def found() -> Path:
        run = _run(collection, request.path_params["run"])
        page = report_page(collection, run.path)
        name = PurePosixPath(request.path_params["file"] or page.name)
        path = page.parent / name
        is_inside = ".." not in name.parts and not name.is_absolute()
        links = (page.parent, *(page.parent / part for part in name.parents), path)
        if not is_inside or any(link.is_symlink() for link in links) or not path.is_file():
            raise HdbenchError("{name}: not here", name=str(name))
        return path

    path = await to_thread.run_sync(found)
    return FileResponse(path, headers={"Content-Security-Policy": POLICY})


def _run(collection: Collection, name: str) -> RunView:
    """Return a run by its name.

    Raises:
        HdbenchError: there is none of that name.
    """
    for run in usable(collection):
        if run.name == name:
            return run
    raise HdbenchError("{name}: there is no such run", name=name[:100])


PAGE = HomePage("compare", _show, {"build": _build, "report": _make})
