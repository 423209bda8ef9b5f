"""An upload scored for a visitor or a program, with nothing of the server in the results."""

import datetime
import io
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import hdbench.answers.tables  # noqa: F401  loaded once here, and not in each process
from hdbench.answers import ReadAs
from hdbench.answers.answers import UnknownIdsError
from hdbench.answers.bounds import Bounds
from hdbench.answers.titles import Titles
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.spec import HELD_OUT_ENDING
from hdbench.common.progress import Listener, listening
from hdbench.common.thumbnails import keep_in
from hdbench.errors import HdbenchError
from hdbench.evaluation.held_out import read_held_out, score_held_out, totals
from hdbench.evaluation.score import Settings, score_runs
from hdbench.output.report.page import report_page
from hdbench.output.report.tables import csv_files
from hdbench.output.report.workbook import workbook
from hdbench.results.files import write_results
from hdbench.results.record import to_record
from hdbench.results.result import Result
from hdbench.space.context import SpaceContext, mapped
from hdbench.space.jobs.working import Progress, Score, part_of_progress, send
from hdbench.space.texts import TextError, text
from hdbench.space.views.summary import summary

MAX_RUNS = 50
"""Maximum models in one file: each takes a bootstrap, about 0.3 s for 263 cards."""

MAX_FIELDS = 200_000
"""Maximum fields in one model's answers and their references: 263 cards have about 4,000. Each is
processed several times for the report and the downloads."""

MAX_LOOKS = 3
"""Maximum times a day that the totals of a benchmark are shown to one address."""

MIN_ANSWERED = 20
"""Minimum number of held-out items with an answer, or all of them if there are fewer: the totals of
one answer would tell whether it is right. Anyone who makes up the others can still learn that, but
no faster than `MAX_LOOKS` allows."""

MAX_COUNTED = 100_000
"""Maximum number of addresses per day: any others are shown no totals."""


class Upload(NamedTuple):
    """A visitor's file, and the options for scoring it.

    Attributes:
        benchmark: the benchmark's name.
        path: the file on the server.
        protocol: `documented` or `published`.
        strict: see `hdbench score`.
        reread: see `hdbench score`.
        run: the model to show; the first one if the file does not have it.
    """

    benchmark: str
    path: Path
    protocol: str = "documented"
    strict: bool = False
    reread: bool = False
    run: str | None = None

    def settings(self, *, details: bool) -> Settings:
        """Return the settings for scoring it, within the limits of a Space."""
        return Settings(
            self.protocol,
            read_as=ReadAs(strict=self.strict, reread=self.reread),
            details=details,
            bounds=Bounds(models=MAX_RUNS, values=MAX_FIELDS),
        )


def _to_nobody(done: int, total: int | None) -> None:
    """Ignore progress: the terminal is the operator's, and several files are scored at once."""


def score_upload(
    context: SpaceContext, upload: Upload, *, details: bool = True, tell: Listener = _to_nobody
) -> tuple[Benchmark, dict[str | None, Result]]:
    """Score each run of an upload.

    In messages and results the file has its own name, and the benchmark its public one.

    Args:
        context: the Space's context.
        upload: the file, and the options for scoring it.
        details: keep the details of every item.
        tell: called with the number of a run's items scored so far.

    Returns:
        The benchmark, and model → result.

    Raises:
        UnknownIdsError: the file has ids that are not in the benchmark.
        HdbenchError: the file cannot be scored, or has more than `MAX_RUNS` models or `MAX_FIELDS`
            fields.
    """
    benchmark = context.benchmark(upload.benchmark)

    def plain(value: Any) -> Any:
        return context.without_folders(value, upload.path.parent)

    try:
        with listening(tell):
            scored = score_runs(benchmark.id, upload.path, upload.settings(details=details))
    except UnknownIdsError as error:
        raise UnknownIdsError(plain(error.message), error.ids) from error
    except HdbenchError as error:
        raise HdbenchError(plain(error.message)) from error
    results = {}
    for model, result in scored.items():
        if _number_of_fields(result) > MAX_FIELDS:
            raise HdbenchError(
                "{place}: the answers have more than {most:,} fields, which are more than can "
                "be shown: hdbench score takes them",
                place=upload.path.name,
                most=MAX_FIELDS,
            )
        results[model] = replace(
            result,
            dataset=result.dataset.model_copy(update={"benchmark": context.public_id(benchmark)}),
            answers=result.answers.model_copy(update={"path": upload.path.name}),
            reading=replace(
                result.reading,
                notes=plain(result.reading.notes),
                schema_violations=plain(result.reading.schema_violations),
                warnings=[
                    replace(warning, text=plain(warning.text), ids=plain(warning.ids))
                    for warning in result.reading.warnings
                ],
            ),
        )
    return benchmark, results


def _number_of_fields(result: Result) -> int:
    """Return the fields of all answers and references, as far as the result has them one by one."""
    counted = sum(count for counts in result.outcomes.values() for count in counts.values())
    return max(counted, sum(len(item["fields"]) for item in result.per_item))


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


def view(  # noqa: PLR0917  what a visitor gives, and where it is shown
    context: SpaceContext,
    upload: Upload,
    language: str,
    folder: Path,
    thumbnails: Path,
    look: "HeldOutAccess | None" = None,
) -> View:
    """Score a file, and make its report and downloads; sends what is ready first.

    It sends its `Progress`, and the `View` without downloads.

    Args:
        context: the Space's context.
        upload: the file, and the options for scoring it.
        language: the interface's language.
        folder: the folder for the downloads.
        thumbnails: the folder of small pictures, for all future reports.
        look: access to the totals of held-out items; None if there are none.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    listener = part_of_progress(text("progress_read", language), 0.1, 0.4, language)
    benchmark, results = score_upload(context, upload, tell=listener)
    chosen = upload.run if upload.run in results else next(iter(results))
    result = results[chosen]
    send(Progress(0.4, text("progress_intervals", language)))
    unseen, withheld = _unseen(benchmark, upload._replace(run=chosen), result, look, language)

    titles = benchmark.field_titles(language)

    def shown(files: list[Path]) -> View:
        first = summary(
            upload.path,
            results,
            chosen,
            language,
            done=bool(files),
            held_out=unseen,
            withheld=withheld,
            titles=titles,
        )
        return View(first, list(results), chosen, files, unseen is not None)

    send(shown([]))
    keep_in(thumbnails)
    with listening(part_of_progress(text("progress_report", language), 0.5, 0.9, language)):
        page = report_page(result, benchmark, language=language)
    return shown(
        _write_downloads(result, page, folder / f"hdbench-{upload.benchmark}", language, titles)
    )


def _write_downloads(
    result: Result, page: str, path: Path, language: str, titles: Titles
) -> list[Path]:
    """Write a result as Excel, CSV in a ZIP, JSON and its report, which is last.

    Args:
        result: a result with details.
        page: its report.
        path: the path of the files, without the endings.
        language: the workbook's language.
        titles: path of a field → its title, for the workbook.
    """
    table, archive, record, report = (
        path.with_name(f"{path.name}{ending}") for ending in (".xlsx", "-csv.zip", ".json", ".html")
    )
    table.write_bytes(workbook(result, language, titles))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in csv_files(result).items():
            packed.writestr(member, content)
    archive.write_bytes(data.getvalue())
    write_results(record, [result], details=True)
    report.write_text(page, encoding="utf-8")
    return [table, archive, record, report]


def _unseen(
    benchmark: Benchmark,
    upload: Upload,
    public: Result,
    look: "HeldOutAccess | None",
    language: str,
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the totals of held-out items, or the reason why they are not shown, or neither.

    There is neither if no item is held out, none was answered, as in the example file, or the file
    with the ground truths has changed.
    """
    held_out = benchmark.spec.held_out
    if look is None or held_out is None:
        return None, None
    if look.path is None:
        return None, text("held_out_used_up", language)
    settings = upload.settings(details=False)
    try:
        with listening(_to_nobody):
            scored = score_held_out(benchmark.id, upload.path, look.path, settings)
    except HdbenchError:  # its message would name items
        return None, None
    figures = totals(public, scored[upload.run])
    least = min(MIN_ANSWERED, held_out.items)
    if 0 < figures["answered"] < least:
        few = {"answered": figures["answered"], "least": least}
        return None, text("held_out_few_answers", language, **few)
    return (figures if figures["answered"] else None), None


def records(context: SpaceContext, upload: Upload) -> list[dict[str, Any]]:
    """Score a file for a program: the records that `hdbench score --json` writes.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    if not upload.path.name:
        raise TextError("not_uploaded")
    results = score_upload(context, upload, details=False)[1]
    return [sendable(to_record(result)) for result in results.values()]


def sendable(value: Any) -> Any:
    r"""Return a JSON value that Gradio can send: lone surrogates, which answers can have, escaped.

    Example:
        >>> sendable({"\ud800": ["Müller"]})
        {'\\ud800': ['Müller']}
    """
    return mapped(value, lambda text: text.encode(errors="backslashreplace").decode())


class HeldOutAccess(NamedTuple):
    """Access to held-out totals for one scored file.

    Attributes:
        path: the file with the ground truths; None if today's looks are used up.
    """

    path: Path | None


class HeldOutQuota:
    """Counts looks in memory, by address and benchmark; any number of threads may use it.

    Args:
        context: the Space's context; without `held_out`, there is nothing to look at.

    Raises:
        HdbenchError: a file in the folder does not match its benchmark's held-out items.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._paths: dict[str, Path] = {}
        self._lock = Lock()
        self._day = _today()
        self._counts: Counter[tuple[str, str]] = Counter()
        if context.held_out is None:
            return
        for name, benchmark in context.benchmarks.items():
            path = context.held_out / f"{name}{HELD_OUT_ENDING}"
            if path.is_file():
                read_held_out(benchmark, path)
                self._paths[name] = path.resolve()

    def take(self, address: str, benchmark: str) -> HeldOutAccess | None:
        """Return access to held-out totals, which counts from now on.

        Args:
            address: the visitor's address.
            benchmark: the benchmark's name.

        Returns:
            None if the benchmark has nothing that is held out.
        """
        if benchmark not in self._paths:
            return None
        key = (address, benchmark)
        with self._lock:
            if self._day != _today():
                self._day, self._counts = _today(), Counter()
            is_new = key not in self._counts
            if self._counts[key] >= MAX_LOOKS or (is_new and len(self._counts) >= MAX_COUNTED):
                return HeldOutAccess(None)
            self._counts[key] += 1
            return HeldOutAccess(self._paths[benchmark])

    def give_back(self, address: str, benchmark: str) -> None:
        """Uncount a look that showed nothing."""
        with self._lock:
            if self._counts[address, benchmark]:
                self._counts[address, benchmark] -= 1


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
