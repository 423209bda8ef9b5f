"""Inputs of the commands on runs: results, run folders, and answers to a named benchmark."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hdbench.answers.answers import match_ids
from hdbench.answers.forms import RUN_FILE
from hdbench.benchmarks.benchmark import NoBenchmarkError, load_benchmark
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import read_results
from hdbench.evaluation.run import (
    Named,
    distinct_names,
    is_result,
    is_run,
    read_run_info,
    run_name,
    whole_run,
)
from hdbench.evaluation.score import Settings, score_loaded, with_names


def load_runs(
    paths: Sequence[Path],
    *,
    benchmark: str | None = None,
    settings: Settings = Settings(),
    names: Sequence[str] = (),
    called: Mapping[Path, str] = MappingProxyType({}),
) -> dict[str, Result]:
    """Return the results of runs, scored if they are not scored yet.

    Args:
        paths: each is a result of `hdbench score --json`, which stays as it was scored; a run
            folder, with a `run.json`; a folder with such folders below it; or, with `benchmark`, a
            file or folder of answers.
        benchmark: the folder of the built benchmark; without it, the one that each run.json names.
        settings: how what is not scored yet is scored.
        names: the models of the answers that do not name theirs, in their order; see `with_names`.
        called: path → what messages and results call its answers; by default the path.

    Returns:
        Name → result: the model's name, or else the file's; see `distinct_names` for several of one
        name. A run without media says so in its name.

    Raises:
        HdbenchError: a path is none of these, is unusable, or is given twice; a result lacks its
            details; there are more or fewer names than answers without one.
    """
    located = [run for path in paths for run in _runs_at(path, benchmark)]
    load = cache(partial(load_benchmark, revision=settings.revision))
    found: list[_LocatedResult] = []
    for path, folder in progress(located, "Scoring") if len(located) > 1 else located:
        own = called.get(path)
        if folder is None:
            if settings.revision is not None:
                raise HdbenchError(
                    "{place}: is a result, which stays as it was scored: give run folders "
                    "or answers",
                    place=path,
                )
            results = _results_at(path, benchmark, own)
            _require_details(path, results.values(), settings.details)
            found += [_LocatedResult(str(path), run_name(path), each) for each in results.values()]
        else:
            [scored] = score_loaded(load(folder), path, [settings], name=own)
            file = own or run_name(path)
            found += [_LocatedResult(own or str(path), file, each) for each in scored.values()]
    return _distinct(_with_models(found, names))


def _results_at(path: Path, benchmark: str | None, called: str | None) -> dict[str, Result]:
    """Return the results in a file, which may be answers whose benchmark was not named."""
    try:
        return read_results(path)
    except HdbenchError as error:
        if benchmark is not None:
            raise
        if called is not None:
            raise HdbenchError(
                "{place}: name the benchmark of these answers before them", place=called
            ) from error
        raise HdbenchError(
            "{why}; for answers, name their benchmark before them", why=error
        ) from error


class _LocatedResult(NamedTuple):
    """A result, the path that it comes from, and the name that follows from that path."""

    path: str
    file: str
    result: Result

    @property
    def name(self) -> str:
        """The name of its model, or else of its file, and whether it saw the items."""
        without = " (without media)" if self.result.run.without_media else ""
        return (self.result.model or self.file) + without

    @property
    def run_label(self) -> Named:
        """Return the names that tell it apart from others of the same model."""
        own = self.result.run.run or (self.file if self.result.model else None)
        return Named(self.name, own, Path(self.path))


def _with_models(located: Sequence[_LocatedResult], names: Sequence[str]) -> list[_LocatedResult]:
    """Return the results under the models' names that a person gave."""
    results = with_names([run.result for run in located], names)
    return [run._replace(result=result) for run, result in zip(located, results, strict=True)]


def without_unbuilt(paths: Sequence[Path]) -> tuple[list[Path], dict[str, int]]:
    """Return runs without those in folders of runs whose benchmark is not there.

    Args:
        paths: as for `load_runs`. A run or a file that is itself named stays, as does everything
            if no run's benchmark is there: `load_runs` then says what is missing.

    Returns:
        The paths, and benchmark → how many of its runs are left out.
    """
    kept: list[Path] = []
    missing: Counter[str] = Counter()
    is_there = cache(_is_there)  # its answer may take a request to the Hub
    for path in paths:
        if not path.is_dir() or is_run(path):
            kept.append(path)
            continue
        for run, benchmark in _runs_at(path, None):
            if benchmark is None or is_there(benchmark):
                kept.append(run)
            else:
                missing[benchmark] += 1
    return (kept, dict(missing)) if kept else (list(paths), {})


def _is_there(benchmark: str) -> bool:
    try:
        load_benchmark(benchmark)
    except NoBenchmarkError:
        return False
    return True


def with_same_items(
    results: Mapping[str, Result], paths: Sequence[Path]
) -> tuple[dict[str, Result], list[str]]:
    """Return runs without those in folders of runs that were asked other items than most.

    Args:
        results: what `load_runs` found.
        paths: where it found them. If one that is itself named has other items, none is left out,
            nor if they are of several benchmarks: comparing them then says how they differ.

    Returns:
        The largest group of runs with the same items, and the names of those left out.
    """
    groups: dict[str, dict[str, Result]] = defaultdict(dict)
    for name, result in results.items():
        groups[result.item_set][name] = result
    largest = max(groups.values(), key=len)
    left_out = results.keys() - largest.keys()
    in_folders = {
        str(run)
        for path in paths
        if path.is_dir() and not is_run(path)
        for run in run_folders(path)
    }
    is_named = any(results[name].answers.path not in in_folders for name in left_out)
    benchmarks = {result.dataset.benchmark for result in results.values()}
    if is_named or len(benchmarks) > 1:
        return dict(results), []
    return largest, [name for name in results if name in left_out]


def _runs_at(path: Path, benchmark: str | None) -> Iterator[tuple[Path, str | None]]:
    """Yield each run at a path, and the benchmark to score it against; None for a result."""
    if path.is_dir():
        folders = [path] if is_run(path) else run_folders(path)
        if folders:
            for folder in folders:
                yield folder, benchmark or read_run_info(folder).benchmark
            return
    elif benchmark is None or is_result(path):
        yield path, None
        return
    if benchmark is None:
        raise HdbenchError(
            "{place}: no run here (no {run_file}): name the benchmark of these answers before them",
            place=path,
            run_file=RUN_FILE,
        )
    yield path, benchmark


def run_folders(path: Path) -> list[Path]:
    """Return the run folders below a folder; the parts of a run are one."""
    return sorted({whole_run(file.parent) for file in path.rglob(RUN_FILE)})


def _require_details(path: Path, results: Iterable[Result], details: bool) -> None:
    if details and any(result.ids and not result.per_item for result in results):
        raise HdbenchError(
            "{place}: has no details of its items: write it with hdbench score --json --details",
            place=path,
        )


def _distinct(located: Sequence[_LocatedResult]) -> dict[str, Result]:
    """Return the results by unique names."""
    seen: set[tuple[str, ...]] = set()
    for run in located:
        key = (run.name, run.result.answers.sha256, run.result.signature)
        if key[1] and key in seen:
            raise HdbenchError(
                "{name}: the same answers are given twice: name each run once", name=run.name
            )
        seen.add(key)
    names = distinct_names([run.run_label for run in located])
    by_name: dict[str, _LocatedResult] = {}
    for full, run in zip(names, located, strict=True):
        if full in by_name:
            raise HdbenchError(
                "{first} and {second}: two results are called {full!r}: rename one of the files, "
                "or its model",
                first=by_name[full].path,
                second=run.path,
                full=full,
            )
        by_name[full] = run
    return {full: run.result for full, run in by_name.items()}


def recognized(ids: Collection[str], benchmarks: Mapping[str, Iterable[str]]) -> str | None:
    """Return the name of the one benchmark that has an item for each of some ids.

    Ids are matched as in scoring, so that the file can be scored against it.

    Args:
        ids: the ids in a file.
        benchmarks: name → the ids of a benchmark's items.

    Returns:
        None if no benchmark has them all, or several do.

    Example:
        >>> benchmarks = {"cards": ["0001", "0002"], "letters": ["l-1", "l-2"], "maps": ["l-1"]}
        >>> recognized(["1", "2.jpg"], benchmarks), recognized(["l-1"], benchmarks)
        ('cards', None)
    """
    fitting = [name for name, items in benchmarks.items() if _has_all(items, ids)]
    return fitting[0] if len(fitting) == 1 else None


def recognized_in(namespace: Path, ids: Collection[str]) -> str | None:
    """Do the same as `recognized` among the benchmarks built in a folder: `hdb/zettelkatalog`.

    One that is unusable is passed over: it is not what was asked for.
    """
    ids_by_benchmark = {}
    for path in namespace.glob("*/benchmark.yaml"):
        with suppress(HdbenchError):
            benchmark = load_benchmark(str(path.parent))
            ids_by_benchmark[benchmark.id] = list(benchmark.ids())
    return recognized(ids, ids_by_benchmark)


def _has_all(items: Iterable[str], ids: Collection[str]) -> bool:
    try:
        return bool(ids) and not match_ids(ids, items).unknown
    except HdbenchError:  # two ids fit the same item
        return False
