"""`hdbench report`: the folder of a report, whole or not at all."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hdbench.building.namespace import writing
from hdbench.common.cache import user_cache
from hdbench.common.extras import MissingExtraError, needed
from hdbench.errors import HdbenchError
from hdbench.evaluation.by_column import by_column
from hdbench.evaluation.runs import benchmark_of
from hdbench.report.csv_files import csv_files
from hdbench.report.page import report_page
from hdbench.report.thumbnails import keep_in
from hdbench.report.workbook import workbook
from hdbench.results.files import to_record, write_records
from hdbench.results.result import Result
from hdbench.statistics.comparison import check_comparable

MAX_KEPT = 128 * 2**20
"""Maximum size in bytes of the thumbnails in the user's cache, before a report adds its own: those
of some 20,000 cards."""


@dataclass(frozen=True)
class Report:
    """What was written.

    Attributes:
        files: the page `index.html`, the workbook, the CSV files, `result.json`, the plots.
        notes: what was left out, and the command that installs what it needs; one line each.
    """

    files: Sequence[Path]
    notes: Sequence[str]


def write_report(
    result: Result,
    out: Path,
    *,
    benchmark: str | None = None,
    by: str | None = None,
    language: str = "en",
    floor: Result | None = None,
) -> Report:
    """Write a report of a run; without their extras, it has no workbook and no plots.

    Its thumbnails are kept in the user's cache, for the next report of the same images.

    Args:
        result: a result with details.
        out: the folder; an existing report there is replaced.
        benchmark: the folder of the benchmark; by default the one that the result names.
        by: a column of the benchmark, by whose values the headline is also shown.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
        floor: the same model's run without media, if there is one; see `check_floor`.

    Raises:
        HdbenchError: the result has no details or names no benchmark, the benchmark is missing or
            a different one, or has no such column; the items are PDFs and pypdfium2 is not
            installed, or the folder is not a report's.
    """
    with suppress(OSError):  # where nothing can be kept, they are made each time
        keep_in(user_cache() / "thumbnails", max_bytes=MAX_KEPT)
    loaded = benchmark_of(result, benchmark, media=True)
    groups = None if by is None else by_column(result, loaded, by)
    record = to_record(result, details=True)
    if groups is not None:
        record["by"] = groups.to_dict()
    with writing(out.resolve().parent, out.resolve().name) as folder:
        (folder / "index.html").write_text(
            report_page(result, loaded, by=groups, language=language, floor=floor),
            encoding="utf-8",
            errors="backslashreplace",
        )
        for name, data in csv_files(result).items():
            (folder / name).write_bytes(data)
        write_records(folder / "result.json", [record])
        notes = []
        for name, write in (("report.xlsx", _write_workbook), ("plots", _write_plots)):
            try:
                write(result, folder / name)
            except MissingExtraError as error:
                notes.append(f"no {name}: {error}")
        names = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    return Report([out / name for name in names], notes)


def check_floor(result: Result, floor: Result, path: Path) -> None:
    """Refuse a run as the floor beneath a result that is not the same model's without media.

    Args:
        result: a result.
        floor: that of the run which is to stand beside it.
        path: where that is, for messages.

    Raises:
        HdbenchError: it saw the media, is by another model or with another prompt, or is not
            scored in the same way, on the same items.
    """
    if not floor.run.get("without_media"):
        raise HdbenchError(f"{path}: was not asked without media: see hdbench run --without-media")
    if floor.model != result.model:
        raise HdbenchError(f"{path}: is a run of {floor.model!r}, not of {result.model!r}")
    prompts = [each.run.get("prompt", {}).get("sha256") for each in (result, floor)]
    if prompts[0] != prompts[1]:
        raise HdbenchError(f"{path}: was asked with another prompt than the run itself")
    check_comparable("the run", result, str(path), floor)


def _write_workbook(result: Result, path: Path) -> None:
    path.write_bytes(workbook(result))


def _write_plots(result: Result, folder: Path) -> None:
    with needed("plots", "plots need"):
        from hdbench.report.plots import plots  # noqa: PLC0415
    folder.mkdir()
    for name, data in plots(result).items():
        (folder / name).write_bytes(data)
