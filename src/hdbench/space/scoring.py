"""An upload scored for a visitor or a program, with nothing of the server in the results."""

import io
import json
import shutil
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import hdbench.answers.tables  # noqa: F401  loaded once here, and not in each process
from hdbench.answers.answers import UnknownIdsError
from hdbench.benchmarks.benchmark import EXAMPLE, Benchmark
from hdbench.benchmarks.titles import Titles
from hdbench.common.pictures import keep_in
from hdbench.common.progress import Listener, listening
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import write_results
from hdbench.evaluation.score import Settings, score_under
from hdbench.report.page import report_page
from hdbench.report.workbook import csv_files, workbook
from hdbench.scoring.zettel_f1 import flatten
from hdbench.space.context import SpaceContext, mapped, uploads
from hdbench.space.first_view import MADE, summary
from hdbench.space.texts import TextError
from hdbench.space.work import Progress, progress_of, send

MAX_RUNS = 50
"""Maximum models in one file: each takes a bootstrap, about 0.3 s for 263 cards."""

MAX_FIELDS = 200_000
"""Maximum fields in one model's answers and their references: 263 cards have about 4,000. Each is
processed several times for the report and the downloads."""

ENDINGS = {"xlsx": ".xlsx", "csv": "-csv.zip", "json": ".json", "html": ".html"}
"""What can be downloaded of a result, and the ends of the files' names."""

MADE_ITEMS = 300
"""Maximum items of a made example."""

WRONG_EVERY, ABSENT_EVERY = 3, 10


class Upload(NamedTuple):
    """A visitor's file, and the options for scoring it.

    Attributes:
        benchmark: the benchmark's name.
        path: the file on the server.
        protocol: `documented` or `published`.
        run: the model to show; the first one if the file does not have it.
    """

    benchmark: str
    path: Path
    protocol: str = "documented"
    run: str | None = None

    def settings(self, *, details: bool) -> Settings:
        """Return the settings for scoring it, within the limits of a Space."""
        return Settings(self.protocol, details=details, most_models=MAX_RUNS)


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
            settings = upload.settings(details=details)
            [scored] = score_under(benchmark.id, upload.path, [settings])
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
        results[model] = result.replaced(
            dataset=result.dataset.model_copy(update={"benchmark": context.public_id(benchmark)}),
            answers=result.answers.model_copy(update={"path": upload.path.name}),
            reading=result.reading.model_copy(
                update={
                    "notes": plain(result.reading.notes),
                    "schema_violations": plain(result.reading.schema_violations),
                    "warnings": [
                        replace(warning, text=plain(warning.text), ids=plain(warning.ids))
                        for warning in result.reading.warnings
                    ],
                }
            ),
        )
    return benchmark, results


def _number_of_fields(result: Result) -> int:
    """Return the fields of all answers and references, as far as the result has them one by one."""
    counted = sum(count for counts in result.outcomes.values() for count in counts.values())
    return max(counted, sum(len(item["fields"]) for item in result.per_item))


@dataclass(frozen=True)
class View:
    """A scored file as a visitor sees it.

    Attributes:
        first: the first view as HTML.
        runs: the models in the file.
        chosen: the model that is shown.
        files: kind → download, the report among them; none while they are being made.
    """

    first: str
    runs: list[str | None]
    chosen: str | None
    files: dict[str, Path]


def view(context: SpaceContext, upload: Upload, language: str, folder: Path) -> View:
    """Score a file, and make its report and downloads; sends what is ready first.

    It sends its `Progress`, and the `View` without downloads.

    Args:
        context: the Space's context.
        upload: the file, and the options for scoring it.
        language: the interface's language.
        folder: the folder for the downloads.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    benchmark, results = score_upload(context, upload, tell=progress_of("progress_read"))
    chosen = upload.run if upload.run in results else next(iter(results))
    result = results[chosen]
    send(Progress("progress_intervals"))
    titles = benchmark.field_titles(language)

    def shown(files: dict[str, Path]) -> View:
        first = summary(upload.path, results, chosen, language, done=bool(files), titles=titles)
        return View(first, list(results), chosen, files)

    send(shown({}))
    keep_in(thumbnails())
    with listening(progress_of("progress_report")):
        page = report_page(result, benchmark, language=language)
    return shown(_write_downloads(result, page, folder / upload.benchmark, language, titles))


def _write_downloads(
    result: Result, page: str, path: Path, language: str, titles: Titles
) -> dict[str, Path]:
    """Write a result as Excel, CSV in a ZIP, JSON and its report.

    Args:
        result: a result with details.
        page: its report.
        path: the path of the files, without the endings.
        language: the workbook's language.
        titles: path of a field → its title, for the workbook.
    """
    files = {kind: path.with_name(f"{path.name}{end}") for kind, end in ENDINGS.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    files["xlsx"].write_bytes(workbook(result, language, titles))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in csv_files(result).items():
            packed.writestr(member, content)
    files["csv"].write_bytes(data.getvalue())
    write_results(files["json"], result)
    files["html"].write_text(page, encoding="utf-8")
    return files


def write_example(benchmark: Benchmark, folder: Path) -> Path:
    """Write a benchmark's example: its own if it has one, otherwise one made from its ground truth.

    In a made example, every third answer has an error, and every tenth is left out. Its name says
    that it is made.

    Args:
        benchmark: the benchmark.
        folder: the folder for the file.

    Raises:
        HdbenchError: the benchmark's metadata cannot be read.
    """
    published = benchmark.folder / EXAMPLE
    if published.is_file():
        return Path(shutil.copyfile(published, folder / EXAMPLE))
    metric, lines = benchmark.spec.make_metric(), []
    for position, item in enumerate(benchmark.items()):
        if position >= MADE_ITEMS:
            break
        if position % ABSENT_EVERY == ABSENT_EVERY - 1:
            continue
        answer = metric.right_answer(item.reference(metric.protocol))
        if position % WRONG_EVERY == WRONG_EVERY - 1:
            leaves = flatten({"": answer}).values()
            texts = [leaf for leaf in leaves if isinstance(leaf, str)]
            answer = _with_error(answer, max(texts, key=len, default=""))
        lines.append(json.dumps({"id": item.id, "prediction": answer}) + "\n")
    write_whole(folder / MADE, "".join(lines).encode())
    return folder / MADE


def _with_error(answer: Any, text: str) -> Any:
    """Return an answer in which a text is cut off at the end."""
    if isinstance(answer, dict):
        return {key: _with_error(value, text) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_with_error(value, text) for value in answer]
    return text[: len(text) * 3 // 4] if answer == text else answer


def thumbnails() -> Path:
    """Return the folder of the small pictures in reports."""
    return uploads().parent / "thumbnails"


def records(context: SpaceContext, upload: Upload) -> list[dict[str, Any]]:
    """Score a file for a program: the records that `hdbench score --json` writes.

    Raises:
        HdbenchError: the file cannot be scored.
    """
    if not upload.path.name:
        raise TextError("not_uploaded")
    results = score_upload(context, upload, details=False)[1]
    return [sendable(result.to_dict()) for result in results.values()]


def sendable(value: Any) -> Any:
    r"""Return a JSON value that Gradio can send: lone surrogates, which answers can have, escaped.

    Example:
        >>> sendable({"\ud800": ["Müller"]})
        {'\\ud800': ['Müller']}
    """
    return mapped(value, lambda text: text.encode(errors="backslashreplace").decode())
