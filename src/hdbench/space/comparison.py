"""Uploads and recorded runs compared, with nothing of the server in the results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from hdbench.benchmarks.titles import FieldTitles
from hdbench.common.display.marks import mark
from hdbench.common.jsonio import write_json
from hdbench.common.texts import decimal, translated
from hdbench.errors import HdbenchError, changed, escaped
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import read_run_info, run_name
from hdbench.report.items import cut
from hdbench.scoring.metric import figure_title, higher_is_better
from hdbench.space.context import SpaceContext
from hdbench.space.first_view import render
from hdbench.space.scoring import Upload, score_upload, sendable
from hdbench.space.texts import TextError, text
from hdbench.space.work import Progress, send
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval
from hdbench.statistics.comparison import Comparison, FieldEffect, compare_runs

MAX_COMPARED = 6
"""Maximum runs that are compared at a time: 15 pairs."""

MAX_FIELDS = 10
"""Maximum fields that are shown: those whose rates differ most."""

MAX_WARNINGS = 3
"""Maximum warnings of one run that are shown."""


class RunChoice(NamedTuple):
    """A recorded run that a visitor may choose.

    Attributes:
        folder: its folder's name, which it is requested by.
        label: its model and name, and the number of items asked, if not all.
        whole: whether all items were asked: an upload has all, and is only compared with such runs.
    """

    folder: str
    label: str
    whole: bool


class ComparisonView(NamedTuple):
    """A comparison as a visitor sees it: the page, and the file with all figures."""

    page: str
    file: Path


class Wanted(NamedTuple):
    """A visitor's request to compare runs.

    Attributes:
        benchmark: the benchmark's name.
        files: the paths of the uploads on the server.
        recorded: the names of recorded runs' folders.
        protocol: `documented` or `published`.
        language: the language of messages.
    """

    benchmark: str
    files: tuple[Path, ...]
    recorded: tuple[str, ...]
    protocol: str = "documented"
    language: str = "en"


def recorded_runs(context: SpaceContext, benchmark: str) -> list[RunChoice]:
    """Return the recorded runs of a benchmark by label; one that cannot be read is left out.

    Raises:
        HdbenchError: there is no such benchmark, or its metadata cannot be read.
    """
    items = sum(1 for _ in context.benchmark(benchmark).ids())
    runs = []
    for folder in context.run_folders(benchmark).values():
        with suppress(HdbenchError):
            info = read_run_info(folder)
            asked_count = items if info.items is None else len(info.items)
            name = info.run if asked_count == items else f"{info.run}, {asked_count}/{items}"
            if not info.own_images:
                unseen = ", without media" if info.without_media else ""
                label = cut(escaped(cut(f"{info.model} ({name}{unseen})")))
                runs.append(RunChoice(folder.name, label, asked_count == items))
    return sorted(runs, key=lambda run: run.label)


def compare_wanted(
    context: SpaceContext, wanted: Wanted
) -> tuple[dict[str, Result], list[Comparison]]:
    """Score the runs that a visitor chose, and compare each pair; sends its `Progress`.

    Args:
        context: the Space's context.
        wanted: the visitor's request.

    Returns:
        Name → result, and the comparisons of these names; untrusted names are cut, and have only
        printable characters.

    Raises:
        HdbenchError: a run cannot be scored; there are fewer than two or more than `MAX_COMPARED`;
            or they do not have the same items.
    """
    benchmark = context.benchmark(wanted.benchmark)
    paths = [*wanted.files, *_chosen(context, wanted)]
    _check_number(len(paths), least=1)
    loaded: list[tuple[str, str, Result]] = []
    for position, path in enumerate(paths):
        send(Progress("compare_loading", position, len(paths)))
        upload = Upload(wanted.benchmark, path, wanted.protocol)
        _, results = score_upload(context, upload, details=False)
        for model, result in results.items():
            source = result.run.run or run_name(path)
            loaded.append((result.model or model or run_name(path), source, result))
        _check_number(len(loaded), least=1)
    _check_number(len(loaded))
    send(Progress("compare_testing"))
    runs = _named(loaded)
    comparisons = compare_runs(
        runs, headline=benchmark.spec.headline, higher_is_better=benchmark.spec.higher_is_better
    )
    return runs, comparisons


def comparison(context: SpaceContext, wanted: Wanted, folder: Path) -> ComparisonView:
    """Compare runs, and write the comparisons into a folder; sends its `Progress`.

    Raises:
        HdbenchError: they cannot be compared.
    """
    runs, comparisons = compare_wanted(context, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"hdbench-compare-{wanted.benchmark}.json"
    write_json(path, {"comparisons": [asdict(pair) for pair in comparisons]})
    titles = context.benchmark(wanted.benchmark).field_titles(wanted.language)
    return ComparisonView(comparison_page(runs, comparisons, wanted.language, titles), path)


def comparison_records(context: SpaceContext, wanted: Wanted) -> list[dict[str, Any]]:
    """Compare runs for a program: the records that `hdbench compare --json` writes.

    Raises:
        HdbenchError: they cannot be compared.
    """
    return [sendable(asdict(comparison)) for comparison in compare_wanted(context, wanted)[1]]


def _chosen(context: SpaceContext, wanted: Wanted) -> list[Path]:
    """Return the folders of the wanted recorded runs, each once: no path is made from a name."""
    folders = context.run_folders(wanted.benchmark)
    for name in wanted.recorded:
        if not isinstance(name, str) or name not in folders:
            quoted = escaped(cut(str(name)))
            raise HdbenchError(
                "no recorded run {name!r} of {benchmark}", name=quoted, benchmark=wanted.benchmark
            )
    return [folders[name] for name in dict.fromkeys(wanted.recorded)]


def _check_number(runs: int, *, least: int = 2) -> None:
    if runs < least:
        raise TextError("compare_fewer")
    if runs > MAX_COMPARED:
        raise TextError("compare_more", most=MAX_COMPARED)


def _named(loaded: Iterable[tuple[str, str, Result]]) -> dict[str, Result]:
    """Return the results by unique names: the source is added if models are the same."""
    runs = [(_plain(name), _plain(source), result) for name, source, result in loaded]
    times = Counter(name for name, _, _ in runs)
    by_name: dict[str, Result] = {}
    for name, source, result in runs:
        full = name if times[name] == 1 or source == name else f"{name} ({source})"
        different = (full if number == 1 else f"{full} ({number})" for number in count(1))
        by_name[next(candidate for candidate in different if candidate not in by_name)] = result
    return by_name


def _plain(name: str) -> str:
    return cut(escaped(cut(name)))


def comparison_page(
    runs: Mapping[str, Result],
    comparisons: Sequence[Comparison],
    language: str,
    titles: FieldTitles,
) -> str:
    """Return a comparison as HTML: untrusted text is escaped.

    Args:
        runs: name → result.
        comparisons: the comparison of each pair.
        language: the interface's language.
        titles: the fields' titles in it.
    """
    metric = next(iter(runs.values())).metric
    return render(
        "comparison.html",
        language,
        runs=runs,
        letters=dict(zip(runs, ascii_uppercase, strict=False)),
        comparisons=comparisons,
        verdict=lambda comparison: verdict(comparison, language),
        number=partial(_number, language=language),
        signed=partial(_signed, language=language),
        direction=lambda name: _direction(higher_is_better(metric, name), language),
        fields_apart=fields_apart,
        drawn=_drawn,
        titles=titles,
        lost=any(result.answered < len(result.ids) for result in runs.values()),
        max_warnings=MAX_WARNINGS,
    )


def verdict(comparison: Comparison, language: str) -> Markup:
    """Return the paired test's verdict on two runs, in a sentence or two; the better comes first.

    Args:
        comparison: the comparison of two runs, whose names are escaped here.
        language: one of `LANGUAGES`.
    """
    a, b = (Markup("<b><bdi>{}</bdi></b>").format(name) for name in (comparison.a, comparison.b))
    if comparison.failures is not None:
        kind = "compare_opposed" if comparison.separable else "compare_not_better"
        if comparison.better is not None:
            kind = "compare_reads_better"
            a, b = (a, b) if comparison.better == comparison.a else (b, a)
        titled: Any = changed(comparison.why, partial(figure_title, language=language))
        why = escape(translated(titled, language))
        return Markup(text(kind, language, a=a, b=b, why=why))  # noqa: S704  all parts are escaped
    tested = comparison.figures[comparison.judged_by]
    ahead = tested.difference if comparison.higher_is_better else -tested.difference
    a, b = (a, b) if ahead >= 0 else (b, a)
    values = (tested.a, tested.b) if ahead >= 0 else (tested.b, tested.a)
    if tested.difference == 0 and not comparison.items_apart:
        kind = "compare_same"
    elif comparison.items < MIN_ITEMS:
        kind = "compare_few"
    else:
        kind = "compare_better" if comparison.separable else "compare_alike"
    sentence = text(
        kind,
        language,
        a=a,
        b=b,
        headline=figure_title(comparison.judged_by, language),
        value_a=_number(values[0], language),
        value_b=_number(values[1], language),
        direction=_direction(comparison.higher_is_better, language),
        difference=_number(abs(tested.difference), language),
        evidence=_evidence(comparison, language),
        items=comparison.items,
        least=MIN_ITEMS,
        detectable=_number(comparison.detectable or 0, language),
    )
    return Markup(sentence)  # noqa: S704  our own text; the names in it are escaped


def _evidence(comparison: Comparison, language: str) -> str:
    """Return the interval of the difference as it is reported, without its sign, and p."""
    tested = comparison.figures[comparison.judged_by]
    parts = []
    if tested.interval is not None:
        ends = (tested.interval.low, tested.interval.high)
        low, high = (-ends[1], -ends[0]) if tested.difference < 0 else ends
        parts.append(
            text(
                "compare_interval",
                language,
                low=_number(low, language),
                high=_number(high, language),
            )
        )
    p = comparison.p_holm
    p_text = "p &lt; 0.001" if p < 0.001 else f"p = {p:.2g}"  # noqa: PLR2004  as is usual
    parts.append(decimal(p_text, language))
    if comparison.comparisons > 1:
        parts[-1] += text("compare_corrected", language, pairs=comparison.comparisons)
    return "; ".join(parts)


def fields_apart(comparison: Comparison) -> list[tuple[str, FieldEffect]]:
    """Return the fields whose rates differ, those that differ most first, at most `MAX_FIELDS`."""
    apart = [(name, effect) for name, effect in comparison.fields.items() if effect.difference]
    apart.sort(key=lambda field: -abs(field[1].difference or 0))
    return [(cut(name), effect) for name, effect in apart[:MAX_FIELDS]]


def _drawn(
    comparison: Comparison,
    difference: float,
    interval: Interval | None,
    fields: Sequence[tuple[str, FieldEffect]] = (),
) -> Markup:
    """Return a difference on the scale of all figures, or of all fields, with 0 in the middle."""
    ends = [effect.difference or 0.0 for _, effect in fields]
    if not fields:
        for figure in comparison.figures.values():
            ends += [figure.difference, *(figure.interval.ends if figure.interval else ())]
    farthest = max(map(abs, ends), default=0.0) or 1.0
    own = None if interval is None else (interval.low, interval.high)
    return mark(difference, own, -farthest, farthest, line=0.0)


def _direction(higher: bool, language: str) -> str:
    return text("higher" if higher else "lower", language)


def _number(value: float, language: str = "en") -> str:
    """Return a figure, without a sign if it rounds to zero.

    Example:
        >>> _number(0.8444), _number(-0.01), _number(-0.0001)
        ('0.844', '−0.010', '0.000')
    """
    return decimal(f"{round(value, 3) + 0.0:.3f}".replace("-", "−"), language)


def _signed(value: float, language: str = "en") -> str:
    """Return a difference, always with its sign, unless it is zero.

    Example:
        >>> _signed(0.01), _signed(-0.01), _signed(0.0001)
        ('+0.010', '−0.010', '0.000')
    """
    number = _number(value, language)
    return f"+{number}" if round(value, 3) > 0 else number
