"""`hdbench report` of several runs: which model is best for these items, with all readings."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.building.namespace import writing
from hdbench.benchmarks.model_facts import ModelFacts
from hdbench.common.files import without_links
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import write_records
from hdbench.report.folder import PAGE, WrittenReport, keep_thumbnails
from hdbench.report.items import ItemView, ShownField, Value, cut, item_views
from hdbench.report.leaderboard.boards import Board, leaderboards
from hdbench.report.leaderboard.formats import csv
from hdbench.report.leaderboard.tables import MAX_FIELDS, field_figure, table_on_page
from hdbench.report.leaderboard.words import short_name
from hdbench.report.page import MAX_ITEMS, item_pictures, typical_of
from hdbench.report.rendering import render
from hdbench.statistics.comparison import check_comparable

MAX_MODELS = 6
"""Maximum number of models whose readings stand side by side: the best ones."""

_BESIDE = {"leaderboard.csv": "file_leaderboard", "result.json": "file_result"}
"""Files beside the page → keys of their labels."""


class FieldReadings(NamedTuple):
    """What several models read in a field.

    Attributes:
        field: its path.
        name: its path without positions in lists, for filters.
        truth: the ground truth.
        readings: what each of the models read; None for one that is lost or has no such field.
        is_wrong: whether a model is wrong.
    """

    field: str
    name: str
    truth: Value
    readings: list[ShownField | None]
    is_wrong: bool


class ItemReadings(NamedTuple):
    """What several models read in an item.

    Attributes:
        id: its id.
        figure: the mean figure of the models, 0.0 to 1.0.
        wrong: for each model, the number of its wrong fields; None if it has no usable answer.
        differing: the fields in which a model is wrong.
        right: the number of fields that all models read correctly.
    """

    id: str
    figure: float
    wrong: list[int | None]
    differing: list[FieldReadings]
    right: int


def write_models_report(
    results: Mapping[str, Result],
    out: Path,
    *,
    benchmark: str | None = None,
    facts: Mapping[str, ModelFacts] = MappingProxyType({}),
    language: str = "en",
) -> WrittenReport:
    """Write a report on several runs of the same items: a page, the leaderboard, all results.

    Thumbnails are kept in the user's cache, as for a report on one run.

    Args:
        results: name → result with details, as `load_runs` gives them.
        out: the folder; an existing report there is replaced.
        benchmark: the folder of the benchmark; by default the one that the results name.
        facts: model → its release, license and the like.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        HdbenchError: the runs cannot be compared, or were scored without
            details; the benchmark is missing or a different one; the folder is not a report's.
    """
    (name, first), *others = results.items()
    for other, result in others:
        check_comparable(name, first, other, result)
    boards = leaderboards(results, facts=facts)
    if not boards:
        raise HdbenchError("only runs without media: give a run with media")
    loaded = first.load_benchmark(benchmark, media=True)
    keep_thumbnails()
    target = without_links(out)
    with writing(target.parent, target.name) as folder:
        page = models_page(results, boards, loaded, language)
        (folder / PAGE).write_text(page, encoding="utf-8", errors="backslashreplace")
        (folder / "leaderboard.csv").write_bytes(csv(boards))
        records = [result.to_dict() for result in results.values()]
        write_records(folder / "result.json", records)
    return WrittenReport(out / PAGE, [out / file for file in (PAGE, *_BESIDE)], [])


def models_page(
    results: Mapping[str, Result], boards: Sequence[Board], benchmark: Benchmark, language: str
) -> str:
    """Return the page: the models with dots, typical items, fields, and all items with readings.

    Args:
        results: see `write_models_report`.
        boards: from `leaderboards`.
        benchmark: what was scored.
        language: see `write_models_report`.
    """
    titles = benchmark.field_titles(language)
    models = _shown_models(results, boards)
    items = sorted(_items(models), key=lambda item: item.figure)
    shown = items[:MAX_ITEMS]
    middle = typical_of([item.id for item in items])
    typical = [(number, item) for number, item in enumerate(items, 1) if item.id in middle][::-1]
    names = dict.fromkeys(field.name for item in shown for field in item.differing)
    filter_fields = list(names)[:MAX_FIELDS]
    return render(
        "models.html",
        language,
        title=benchmark.spec.title_in(language),
        version=benchmark.spec.version,
        tables=[table_on_page(board, language) for board in boards],
        of_fields=[field_figure(board, language, titles, fields_down=True) for board in boards],
        models=[short_name(name) for name in models],
        more_models=sum(len(board.rows) for board in boards) - len(models),
        items=list(enumerate(shown, 1)),
        has_lines=any(
            row is not None and row.lines
            for item in shown
            for field in item.differing
            for row in field.readings
        ),
        more_items=len(items) - len(shown),
        typical=typical,
        pictures=item_pictures(benchmark, [*middle, *(item.id for item in shown)]),
        beside=_BESIDE,
        filter_fields=filter_fields,
        places={name: place for place, name in enumerate(filter_fields)},
        titles=titles,
        cut=cut,
        hdbench_version=__version__,
    )


def _shown_models(results: Mapping[str, Result], boards: Sequence[Board]) -> dict[str, Result]:
    """Return the best models, each with the first of its runs."""
    of_model: dict[str, Result] = {}
    for name, result in results.items():
        if not result.run.without_media:
            of_model.setdefault(result.model or name, result)
    best = [row.model for board in boards for row in board.rows]
    return {model: of_model[model] for model in list(dict.fromkeys(best))[:MAX_MODELS]}


def _items(models: Mapping[str, Result]) -> Iterator[ItemReadings]:
    """Yield the items with what the models read in them, in the dataset's order."""
    by_model = [
        {view.id: view for view in item_views(result.per_item, result.item_errors, result.metric)}
        for result in models.values()
    ]
    for name in by_model[0]:
        views = [of_model[name] for of_model in by_model]
        fields = [
            {(row.field, row.record == "invented"): row for row in (*view.errors, *view.others)}
            for view in views
        ]
        rows = [_field(key, views, fields) for key in dict.fromkeys(chain(*fields))]
        yield ItemReadings(
            id=name,
            figure=fmean(view.figure for view in views),
            wrong=[None if view.is_lost else len(view.errors) + view.more_errors for view in views],
            differing=[row for row in rows if row.is_wrong],
            right=sum(not row.is_wrong for row in rows),
        )


def _field(
    key: tuple[str, bool],
    views: Sequence[ItemView],
    fields: Sequence[Mapping[tuple[str, bool], ShownField]],
) -> FieldReadings:
    """Return what each model read in a field."""
    rows = [of_model.get(key) for of_model in fields]
    first = next(row for row in rows if row is not None)
    return FieldReadings(
        field=first.field,
        name=first.name,
        # Without marks: which letters differ depends on the model.
        truth=first.reference._replace(
            parts=[part._replace(differs=False, moved=False) for part in first.reference.parts]
        ),
        readings=[None if view.is_lost else row for view, row in zip(views, rows, strict=True)],
        is_wrong=any(view.is_lost for view in views)
        or any(row is not None and row.error is not None for row in rows),
    )
