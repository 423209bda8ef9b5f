"""What the processes of a Space do, one task each; see `working`.

Nothing here needs Gradio, which would take longer to load than most files take to score.
"""

import datetime
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import hdbench.reading.tables  # noqa: F401  loaded once here, and not in each process
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.jsonio import write_json
from hdbench.common.progress import Listener, listening
from hdbench.report.page import report_page
from hdbench.report.thumbnails import keep_in
from hdbench.results.record import to_record
from hdbench.results.result import Result
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.comparing import Wanted, compare_wanted
from hdbench.space.jobs.deciding import decide_example, write_uploaded
from hdbench.space.jobs.held_out import MIN_ANSWERED, Look
from hdbench.space.jobs.scoring import Upload, held_out_totals, score_upload, sendable
from hdbench.space.jobs.submitting import Scored, Statement, Submission, make_submission
from hdbench.space.jobs.working import Score, Send
from hdbench.space.texts import text
from hdbench.space.views.downloads import write_downloads
from hdbench.space.views.summary import summary
from hdbench.space.views.verdict import comparison_page
from hdbench.trust.decision import Decision

_LOADED = 0.5  # of the bar; the other half is the comparison's


class Progress(NamedTuple):
    """How far a task is.

    Attributes:
        share: of the bar, from 0 to 1.
        told: what is being done, in the visitor's language.
    """

    share: float
    told: str


@dataclass(frozen=True)
class View(Score):
    """A scored file as a visitor sees it.

    Attributes:
        first: the first view as HTML.
        runs: the models in the file.
        chosen: the model that is shown.
        files: the downloads, the report last; none while they are being made.
        looked: whether held-out totals are shown.
    """

    first: str
    runs: list[str | None]
    chosen: str | None
    files: list[Path]
    looked: bool = False


class Compared(NamedTuple):
    """A comparison as a visitor sees it: the page, and the file with all figures."""

    page: str
    file: Path


def view(  # noqa: PLR0917  what a visitor gives, and where it is shown
    send: Send,
    context: SpaceContext,
    upload: Upload,
    run: str | None,
    language: str,
    folder: Path,
    thumbnails: Path,
    look: Look | None = None,
) -> View:
    """Score a file, and make its report and downloads; sends what is ready first.

    Args:
        send: is given `Progress`, and the `View` without downloads.
        context: the Space's context.
        upload: what is scored, and how.
        run: the model that is shown, if the file has it; otherwise its first one.
        language: the interface's language.
        folder: where the downloads are written.
        thumbnails: where small pictures are kept, for all future reports.
        look: at the totals of held-out items; None if there are none.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    tell = _teller(send, text("progress_read", language), language, 0.1, 0.4)
    benchmark, results = score_upload(context, upload, tell=tell)
    chosen = run if run in results else next(iter(results))
    result = results[chosen]
    send(Progress(0.4, text("progress_intervals", language)))
    unseen, withheld = _unseen(benchmark, upload, chosen, result, look, language)
    first = partial(
        summary,
        upload.path,
        results,
        chosen,
        language,
        held_out=unseen,
        withheld=withheld,
    )
    looked = unseen is not None
    send(View(first(done=False), list(results), chosen, [], looked))
    keep_in(thumbnails)
    with listening(_teller(send, text("progress_report", language), language, 0.5, 0.9)):
        page = report_page(result, benchmark, language=language)
    files = write_downloads(result, page, f"hdbench-{upload.benchmark}", language, folder)
    return View(first(done=True), list(results), chosen, files, looked)


def _unseen(  # noqa: PLR0917  what is scored, and for whom
    benchmark: Benchmark,
    upload: Upload,
    run: str | None,
    public: Result,
    look: Look | None,
    language: str,
) -> tuple[dict[str, Any] | None, str | None]:
    """The totals of held-out items, or why they are not shown; neither if there are none."""
    if look is None or benchmark.spec.held_out is None:
        return None, None
    if look.path is None:
        return None, text("held_out_used_up", language)
    found = held_out_totals(benchmark, upload, run, public, look.path)
    least = min(MIN_ANSWERED, benchmark.spec.held_out.items)
    if found is not None and found["answered"] < least:
        few = {"answered": found["answered"], "least": least}
        return None, text("held_out_few_answers", language, **few)
    return found, None


def records(_: Send, context: SpaceContext, upload: Upload) -> list[dict[str, Any]]:
    """Score a file for a program: the records that `hdbench score --json` writes.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    results = score_upload(context, upload, details=False)[1]
    return [sendable(to_record(result)) for result in results.values()]


def comparison(send: Send, context: SpaceContext, wanted: Wanted, folder: Path) -> Compared:
    """Compare runs, and write the comparisons into a folder.

    Raises:
        HdbenchError: they cannot be compared.
    """

    def loaded(share: float) -> None:
        told = "compare_loading" if share < 1 else "compare_testing"
        send(Progress(0.05 + _LOADED * share, text(told, wanted.language)))

    runs, comparisons = compare_wanted(context, wanted, loaded)
    path = folder / f"hdbench-compare-{wanted.benchmark}.json"
    write_json(path, {"comparisons": [asdict(each) for each in comparisons]})
    titles = context.benchmark(wanted.benchmark).field_titles(wanted.language)
    return Compared(comparison_page(runs, comparisons, wanted.language, titles), path)


def comparison_records(_: Send, context: SpaceContext, wanted: Wanted) -> list[dict[str, Any]]:
    """Compare runs for a program: the records that `hdbench compare --json` writes.

    Raises:
        HdbenchError: they cannot be compared.
    """
    return [sendable(asdict(each)) for each in compare_wanted(context, wanted)[1]]


def example_decision(_: Send, context: SpaceContext) -> Decision:
    """Decide the example.

    Raises:
        HdbenchError: see `decide_example`.
    """
    return decide_example(context)


def uploaded_decision(_: Send, upload: Path, page: Path, language: str) -> None:
    """Write the page of an uploaded decision.

    Raises:
        HdbenchError: see `write_uploaded`.
    """
    write_uploaded(upload, page, language)


def submission(
    _: Send, context: SpaceContext, scored: Scored, statement: Statement, day: datetime.date
) -> Submission:
    """Score a file again, and make a submission of it.

    Raises:
        HdbenchError: it is refused.
    """
    return make_submission(context, scored, statement, day)


def _teller(send: Send, doing: str, language: str, low: float, high: float) -> Listener:
    """Begin a part of the work, and report how much of it is done.

    Args:
        send: is given `Progress`.
        doing: what is done in this part.
        language: the interface's language.
        low: where the part begins on the bar, from 0 to 1.
        high: where it ends.
    """

    def tell(done: int, total: int | None) -> None:
        if total:
            told = text("progress_of", language, doing=doing, done=done, total=total)
            send(Progress(low + (high - low) * done / total, told))

    send(Progress(low, doing))
    return tell
