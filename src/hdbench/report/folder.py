"""`hdbench report`: the folder of a report, whole or not at all."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.building.namespace import writing
from hdbench.benchmarks.titles import Titles
from hdbench.common.cache import user_cache
from hdbench.common.extras import MissingExtraError, needed
from hdbench.common.files import without_links
from hdbench.common.pictures import keep_in
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.by_column import by_column
from hdbench.evaluation.by_identifier import ScoringByIdentifier, read_scoring_authorities
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import write_records
from hdbench.evaluation.run import is_result
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings, score_loaded
from hdbench.report.page import report_page
from hdbench.report.workbook import csv_files, workbook
from hdbench.statistics.comparison import check_comparable

PAGE = "index.html"

LABELS = {
    "report.xlsx": "file_workbook",
    "items.csv": "file_items",
    "errors.csv": "file_errors",
    "fields.csv": "file_fields",
    "result.json": "file_result",
    "plots/fields.svg": "plot_fields",
    "plots/errors.svg": "plot_errors",
    "plots/items.svg": "plot_items",
}
"""Files that the page links if they exist, in order: file → key of its label."""

MAX_KEPT = 128 * 2**20
"""Maximum size in bytes of the thumbnails in the user's cache, before a report adds its own: about
20,000 cards."""


@dataclass(frozen=True)
class WrittenReport:
    """The files of a report.

    Attributes:
        page: `index.html`.
        files: the page, the workbook, the CSV files, `result.json`, the plots.
        notes: what was left out and why, one line each.
    """

    page: Path
    files: Sequence[Path]
    notes: Sequence[Message]


def write_report(
    run: Path,
    out: Path,
    *,
    benchmark: str | None = None,
    names: Sequence[str] = (),
    protocol: str = "documented",
    errata: str = "accepted",
    by: str | None = None,
    authority: Sequence[str] = (),
    language: str = "en",
    without_media: Path | None = None,
    called: str | None = None,
) -> WrittenReport:
    """Write a report on a run; without their extras, it has no workbook and no plots.

    Thumbnails are kept in the user's cache, for the next report of the same images.

    Args:
        run: a run, or its result with details; see `load_runs`.
        out: the folder; an existing report there is replaced.
        benchmark: the folder of the benchmark; by default the one that the run names.
        names: the model, if the answers do not name theirs; see `load_runs`.
        protocol: the protocol that answers are scored by.
        errata: which corrections of ground-truth values count; see `Settings`.
        by: a column of the benchmark, by whose values the headline is also shown.
        authority: authority files, see `read_scoring_authorities`, if the figures are also to be
            shown with values counted as equal that share an identifier.
        language: that of page, plots and workbook, one of `hdbench.common.texts.LANGUAGES`.
        without_media: the same model's run without media, if it is to be shown too.
        called: what messages and the result call the run's answers; by default the path.

    Raises:
        HdbenchError: see `load_runs`, or there are several runs; a result has no details or names
            no benchmark, the benchmark is missing or a different one, or has no such column; the
            items are PDFs and pypdfium2 is not installed; `without_media` is not such a run, or the
            folder is not a report's.
    """
    keep_thumbnails()
    notes: list[Message] = []
    target = without_links(out)
    settings = Settings(protocol, errata=errata, details=True)
    with writing(target.parent, target.name) as folder:
        loaded_runs = load_runs(
            [run],
            benchmark=benchmark,
            settings=settings,
            names=names,
            called={} if called is None else {run: called},
        )
        result = _only(run, loaded_runs)
        loaded = result.load_benchmark(benchmark, media=True)
        titles = loaded.field_titles(language)
        floor = None
        if without_media is not None:
            unseen = load_runs([without_media], benchmark=benchmark, settings=settings)
            floor = next(iter(unseen.values()))
            check_floor(result, floor, without_media)
        groups = None if by is None else by_column(result, loaded, by)
        record = result.to_dict()
        if groups is not None:
            record["by"] = groups.to_dict()
        record |= _by_identifier(run, loaded, settings, authority=authority, called=called)
        write_records(folder / "result.json", [record])
        notes += _write_files(folder, result, language, titles)
        page = report_page(
            result,
            loaded,
            by=groups,
            by_identifier=record.get("by_identifier"),
            language=language,
            floor=floor,
            beside={file: key for file, key in LABELS.items() if (folder / file).is_file()},
        )
        (folder / PAGE).write_text(page, encoding="utf-8", errors="backslashreplace")
        paths = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    return WrittenReport(out / PAGE, [out / path for path in paths], notes)


def keep_thumbnails() -> None:
    """Keep thumbnails in the user's cache, for the next report of the same images."""
    with suppress(OSError):  # where nothing can be kept, they are made each time
        keep_in(user_cache() / "thumbnails", max_bytes=MAX_KEPT)


def _by_identifier(
    run: Path,
    loaded: Benchmark,
    settings: Settings,
    *,
    authority: Sequence[str],
    called: str | None,
) -> dict[str, Any]:
    """Return what is added to a result if values that share an identifier count as equal."""
    if not authority:
        return {}
    if is_result(run):
        raise HdbenchError("{place}: is a result: with --authority, give the answers", place=run)
    scoring = ScoringByIdentifier(settings, read_scoring_authorities(authority, loaded))
    [(model, result)] = score_loaded(loaded, run, [scoring.settings], name=called)[0].items()
    return {"by_identifier": scoring.totals(model, result)}


def _write_files(folder: Path, result: Result, language: str, titles: Titles) -> list[Message]:
    """Write the tables and plots beside the page, and return notes on what cannot be written.

    Args:
        folder: the report's folder.
        result: the result.
        language: that of the workbook and the plots.
        titles: path of a field → its title, for these.
    """
    notes = []
    for file, data in csv_files(result).items():
        (folder / file).write_bytes(data)
    try:
        (folder / "report.xlsx").write_bytes(workbook(result, language, titles))
    except MissingExtraError as error:
        notes.append(Message("no report.xlsx: {why}", why=error))
    try:
        with needed("plots", "plots need"):
            from hdbench.report.plots import plots  # noqa: PLC0415  imports matplotlib
    except MissingExtraError as error:
        return [*notes, Message("no plots: {why}", why=error)]
    (folder / "plots").mkdir()
    for file, data in plots(result, language, titles).items():
        (folder / "plots" / file).write_bytes(data)
    return notes


def _only(run: Path, loaded: Mapping[str, Result]) -> Result:
    """Return the result of the only run."""
    if len(loaded) > 1:
        raise HdbenchError("{place}: holds {count} runs: give one", place=run, count=len(loaded))
    return next(iter(loaded.values()))


def check_floor(result: Result, floor: Result, path: Path) -> None:
    """Refuse a floor for a result unless it is a run of the same model without media.

    Args:
        result: a result.
        floor: the result of the run without media.
        path: that run's path, for messages.

    Raises:
        HdbenchError: it saw the media, is by another model or with another prompt, or is not
            scored in the same way, on the same items.
    """
    if not floor.run.without_media:
        raise HdbenchError(
            "{place}: was not asked without media: see hdbench run --without-media", place=path
        )
    if floor.model != result.model:
        raise HdbenchError(
            "{place}: is a run of {floor}, not of {model}",
            place=path,
            floor=repr(floor.model),
            model=repr(result.model),
        )
    if result.run.prompt_sha256 != floor.run.prompt_sha256:
        raise HdbenchError("{place}: was asked with another prompt than the run itself", place=path)
    check_comparable(Message("the run"), result, str(path), floor)
