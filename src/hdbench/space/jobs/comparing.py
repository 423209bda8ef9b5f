"""Uploads and recorded runs compared, with nothing of the server in the results."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hdbench.errors import HdbenchError, escaped
from hdbench.reading.run_info import read_run_info
from hdbench.reading.run_names import run_name
from hdbench.report.items import cut
from hdbench.results.result import Result
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, score_upload
from hdbench.space.texts import TextError
from hdbench.statistics.comparison import Comparison, compare_runs

MAX_COMPARED = 6
"""Maximum runs that are compared at a time: 15 pairs."""


class Recorded(NamedTuple):
    """A recorded run that a visitor may choose.

    Attributes:
        folder: its folder's name, which it is requested by.
        label: its model and name, and how many items were asked, if not all.
        whole: whether all items were asked: an upload has all, and is only compared with such runs.
    """

    folder: str
    label: str
    whole: bool


class Wanted(NamedTuple):
    """What a visitor wants compared.

    Attributes:
        benchmark: the benchmark's name.
        files: where the uploads lie on the server.
        recorded: the names of recorded runs' folders.
        protocol: `documented` or `published`.
        language: the language of messages.
    """

    benchmark: str
    files: Sequence[Path]
    recorded: Sequence[str]
    protocol: str = "documented"
    language: str = "en"


def recorded_runs(context: SpaceContext, benchmark: str) -> list[Recorded]:
    """The recorded runs of a benchmark by label; one that cannot be read is left out.

    Raises:
        HdbenchError: there is no such benchmark, or its metadata cannot be read.
    """
    items = sum(1 for _ in context.benchmark(benchmark).ids())
    runs = []
    for folder in context.run_folders(benchmark).values():
        with suppress(HdbenchError):
            info = read_run_info(folder)
            asked = items if info.items is None else len(info.items)
            name = info.run if asked == items else f"{info.run}, {asked}/{items}"
            if not info.own_images:
                unseen = ", without media" if info.without_media else ""
                label = cut(escaped(cut(f"{info.model} ({name}{unseen})")))
                runs.append(Recorded(folder.name, label, asked == items))
    return sorted(runs, key=lambda run: run.label)


def compare_wanted(
    context: SpaceContext, wanted: Wanted, loaded: Callable[[float], object] = float
) -> tuple[dict[str, Result], list[Comparison]]:
    """Score what a visitor wants compared, and compare each pair.

    Args:
        context: the Space's context.
        wanted: which runs, and how.
        loaded: called with the share of files and recorded runs that have been scored.

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
    found: list[tuple[str, str, Result]] = []
    for position, path in enumerate(paths):
        loaded(position / len(paths))
        upload = Upload(wanted.benchmark, path, wanted.protocol)
        _, results = score_upload(context, upload, details=False)
        for model, result in results.items():
            source = result.run.run or run_name(path)
            found.append((result.model or model or run_name(path), source, result))
        _check_number(len(found), least=1)
    _check_number(len(found))
    loaded(1)
    runs = _named(found)
    comparisons = compare_runs(
        runs, headline=benchmark.spec.headline, higher_is_better=benchmark.spec.higher_is_better
    )
    return runs, comparisons


def _chosen(context: SpaceContext, wanted: Wanted) -> list[Path]:
    """The folders of the recorded runs that are wanted, each once: no path is made from a name."""
    known = context.run_folders(wanted.benchmark)
    for name in wanted.recorded:
        if not isinstance(name, str) or name not in known:
            shown = escaped(cut(str(name)))
            raise HdbenchError(
                "no recorded run {name!r} of {benchmark}", name=shown, benchmark=wanted.benchmark
            )
    return [known[name] for name in dict.fromkeys(wanted.recorded)]


def _check_number(runs: int, *, least: int = 2) -> None:
    if runs < least:
        raise TextError("compare_fewer")
    if runs > MAX_COMPARED:
        raise TextError("compare_more", most=MAX_COMPARED)


def _named(found: Iterable[tuple[str, str, Result]]) -> dict[str, Result]:
    """The results by names that are all different: if models are the same, with the source."""
    runs = [(_plain(name), _plain(source), result) for name, source, result in found]
    times = Counter(name for name, _, _ in runs)
    named: dict[str, Result] = {}
    for name, source, result in runs:
        full = name if times[name] == 1 or source == name else f"{name} ({source})"
        different = (full if number == 1 else f"{full} ({number})" for number in count(1))
        named[next(each for each in different if each not in named)] = result
    return named


def _plain(name: str) -> str:
    return cut(escaped(cut(name)))
