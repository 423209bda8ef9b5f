"""What programs import: `import hdbench as hd` has all of it."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.answers.answer import ReadAs
from hdbench.answers.in_memory import entries, write_entries
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.benchmarks.in_memory import benchmark_in_memory
from hdbench.errors import HdbenchError
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import given_options, read_result, read_results, write_results
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings, score_loaded
from hdbench.evaluation.union import concat
from hdbench.scoring import known_metric
from hdbench.scoring.metric import Metric

if TYPE_CHECKING:
    from hdbench.models.backend import Asker
    from hdbench.report.leaderboard.boards import Board
    from hdbench.statistics.comparison import Comparison

__all__ = [
    "Benchmark",
    "ReadAs",
    "Result",
    "Settings",
    "compare_runs",
    "concat",
    "load_benchmark",
    "load_runs",
    "rank_runs",
    "read_result",
    "read_results",
    "run",
    "score",
    "score_runs",
    "write_results",
]

IN_MEMORY = "answers in memory"
"""What messages and results call answers that are in no file."""


def score(
    benchmark: Any,
    answers: Any,
    *,
    metric: str | type[Metric] | Metric | None = None,
    model: str | None = None,
    protocol: str | None = None,
    errata: str = "accepted",
    read_as: ReadAs = ReadAs(),
    revision: str | None = None,
    details: bool = True,
    **options: Any,
) -> Result:
    """Score one model's answers.

    An id without an answer counts as a complete failure. The figures are those that `hdbench score`
    gives for the same answers in JSON Lines.

    Args:
        benchmark: a benchmark's name, such as `zettelkatalog`, or its folder; a benchmark from
            `load_benchmark`; a `datasets.Dataset` of one; or, with `metric`, ground truths of your
            own, in any of the forms of `answers`.
        answers: a file or folder in any of the forms that `hdbench score` takes; a DataFrame of
            pandas or polars, or a `datasets.Dataset`, with a row for each item; a list of
            dictionaries that have an `id`; a list of pairs of id and answer; or a dictionary id →
            answer. An answer is a record, or the text that the model wrote.
        metric: for ground truths of your own: the metric's name, such as `record_f1`; a class of
            your own, derived from `hdbench.Metric`; or an instance, which has its options.
        model: the model's name, if the answers do not say it.
        protocol: `documented`, unless the metric is an instance of another one, or `published`.
        errata: `accepted`, or `proposed`: which corrections of ground-truth values count.
        read_as: how answers in a file are read.
        revision: the benchmark's revision on the Hub: a tag, branch or commit.
        details: keep what became of every item and field.
        options: the metric's options, such as `threshold=0.8`.

    Raises:
        HdbenchError: the benchmark, the answers or an option is unusable, or several models
            answered.

    Example:
        >>> truths = {"0001": {"title": "Stellingen", "year": 1924}, "0002": {"title": "Faust"}}
        >>> answers = {"0001": {"title": "Stellingen", "year": 1925}, "0002": {"title": "Faust"}}
        >>> result = score(truths, answers, metric="record_f1")
        >>> round(result.value, 3)
        0.667
        >>> score(truths, answers, metric="record_f1", threshold=0.7).value
        1.0
    """
    options |= {"errata": errata, "read_as": read_as, "revision": revision, "details": details}
    results = score_runs(
        benchmark, answers, metric=metric, model=model, protocol=protocol, **options
    )
    if len(results) > 1:
        raise HdbenchError(
            "several models answered ({names}): use score_runs",
            names=", ".join(map(repr, results)),
        )
    return next(iter(results.values()))


def score_runs(
    benchmark: Any,
    answers: Any,
    *,
    metric: str | type[Metric] | Metric | None = None,
    model: str | None = None,
    protocol: str | None = None,
    **settings: Any,
) -> dict[str | None, Result]:
    """Score the answers of several models, which a column `model` tells apart.

    Args:
        benchmark: see `score`, as for all the rest.
        answers: the answers.
        metric: the metric.
        model: the model's name, if the answers do not say it.
        protocol: the protocol.
        settings: the other settings and the metric's options, by name.

    Returns:
        Model → result; one under None if the answers name no model.

    Raises:
        HdbenchError: the benchmark, the answers or an option is unusable.

    Example:
        >>> rows = [{"id": "1", "model": name, "year": year} for name, year in (("a", 1), ("b", 2))]
        >>> runs = score_runs({"1": {"year": 1}}, rows, metric="record_f1")
        >>> {name: result.value for name, result in runs.items()}
        {'a': 1.0, 'b': 0.0}
    """
    names = Settings.__dataclass_fields__.keys() - {"protocol", "options"}
    options = {name: value for name, value in settings.items() if name not in names}
    given = {"details": True} | {name: settings[name] for name in settings.keys() & names}
    if isinstance(metric, Metric):
        if options or protocol not in (None, metric.protocol):
            raise HdbenchError(
                "{metric}: an instance has its protocol and options already: leave out {names}",
                metric=metric.name,
                names=", ".join(options or ["protocol"]),
            )
        options, protocol = given_options(metric), metric.protocol
    elif metric is None or isinstance(benchmark, Benchmark | str | PathLike):
        given["options"] = options
    rules = Settings(protocol or "documented", **given)
    name = metric if isinstance(metric, str | None) else known_metric(metric).name
    with _benchmark(benchmark, name, options, rules) as loaded, _file_of(answers) as (path, called):
        [results] = score_loaded(loaded, path, [rules], name=called)
    if model is None:
        return results
    if any(result.model for result in results.values()):
        raise HdbenchError(
            "these answers already name their model ({own}): leave out model=",
            own=", ".join(repr(result.model) for result in results.values()),
        )
    if not model.strip():
        raise HdbenchError("model= is blank: give the model's name")
    [result] = results.values()
    return {model: result.replaced(model=model)}


def run(
    benchmark: Benchmark | str | PathLike[str],
    backend: "Asker",
    folder: str | PathLike[str],
    *,
    model: str | None = None,
    ids: Sequence[str] = (),
    limit: int | None = None,
    prompt: str | PathLike[str] | None = None,
) -> Result:
    """Ask a model about each item of a benchmark, keep its answers in a folder, and score them.

    The same call resumes where it stopped.

    Args:
        benchmark: its name, its folder, or a benchmark from `load_benchmark` with its media.
        backend: an object with `ask(question) -> reply`. A question has an `id`, a `prompt`, and
            in `media` the paths of its images; a reply is the model's text, a record, or a `Reply`
            with tokens, seconds and price. If it raises an exception, the item has no answer.
        folder: where the run is kept, as with `hdbench run --out`.
        model: the model's name; by default that of the backend's class.
        ids: only these items.
        limit: at most this many items.
        prompt: a file with a prompt to use instead of the benchmark's.

    Returns:
        The result of all answers that are in the folder.

    Raises:
        HdbenchError: the benchmark or the folder is unusable, or no item was answered.
    """
    from hdbench.models.backend import Asked  # noqa: PLC0415  few need it
    from hdbench.models.items import of_benchmark  # noqa: PLC0415
    from hdbench.models.run import RunPlan  # noqa: PLC0415

    if not callable(getattr(backend, "ask", None)):
        raise HdbenchError(
            "backend {backend}: must be an object with ask(question)", backend=repr(backend)
        )
    loaded = benchmark
    if not isinstance(loaded, Benchmark):
        loaded = load_benchmark(str(benchmark), media=True)
    plan = RunPlan(
        loaded,
        of_benchmark(loaded, ids=ids, limit=limit),
        Asked(model or type(backend).__name__, asker=backend),
        None if prompt is None else Path(prompt),
    )
    if trouble := plan.run(Path(folder)).trouble():
        raise HdbenchError("{place}: {why}", place=folder, why=trouble)
    return score(loaded, folder)


def compare_runs(
    a: Result | str | PathLike[str], b: Result | str | PathLike[str], *, seed: int = 0
) -> "Comparison":
    """Compare two runs on the same items: can they be told apart?

    Args:
        a: a result, a run folder, or a result file of `hdbench score --json`.
        b: the other one.
        seed: for the random numbers.

    Returns:
        Differences with 95% intervals, and whether the primary metric differs; see
        `hdbench.statistics.comparison.compare_runs`.

    Raises:
        HdbenchError: a run is unusable, or they differ in items, metric or options.

    Example:
        >>> truths = {str(item): {"year": item} for item in range(30)}
        >>> right = score(truths, truths, metric="record_f1", model="right")
        >>> wrong = score(truths, {"0": {"year": 0}}, metric="record_f1", model="wrong")
        >>> compare_runs(right, wrong).better
        'right'
    """
    from hdbench.statistics.comparison import compare  # noqa: PLC0415  most scores are not compared

    named = _named([a, b])
    if len(named) > 2:  # noqa: PLR2004
        raise HdbenchError(
            "{count} runs, as one of these has several runs: name two of them: {names}",
            count=len(named),
            names=", ".join(named),
        )
    (name_a, first), (name_b, second) = named.items()
    return compare(
        first,
        second,
        headline=first.headline,
        higher_is_better=first.higher_is_better,
        names=(name_a, name_b),
        seed=seed,
    )


def rank_runs(
    runs: Mapping[str, Result | str | PathLike[str]] | Iterable[Result | str | PathLike[str]],
    *,
    seed: int = 0,
) -> "Board":
    """Rank runs on the same items, as far as these can tell them apart.

    Args:
        runs: results, run folders or result files, of which several runs of one model are one row;
            or name → one of these, for a row under each name, whatever the models and prompts.
        seed: for the random numbers.

    Returns:
        The leaderboard, best first; see `hdbench.statistics.ranking.rank_models`.

    Raises:
        HdbenchError: a run is unusable, or they are not of one kind: their benchmark, items,
            prompt, protocol or options differ.

    Example:
        >>> truths = {str(item): {"year": item} for item in range(30)}
        >>> one = score(truths, {"0": {"year": 0}}, metric="record_f1", model="one")
        >>> board = rank_runs([one, score(truths, truths, metric="record_f1", model="all")])
        >>> [(row.model, row.rank.shown()) for row in board.rows]
        [('all', '1'), ('one', '2')]
    """
    from hdbench.report.leaderboard.boards import leaderboards  # noqa: PLC0415  nor ranked

    named = _named(runs.values() if isinstance(runs, Mapping) else runs)
    if not named:
        raise HdbenchError("no runs to rank: name at least one")
    if isinstance(runs, Mapping):  # several of one model, or with several prompts, stand apart
        if len(named) > len(runs):
            raise HdbenchError(
                "{count} names for {all} runs, as a file has several: read it with read_results, "
                "and name each result",
                count=len(runs),
                all=len(named),
            )
        named = {
            name: result.replaced(model=name, run=result.run.model_copy(update={"prompt": None}))
            for name, result in zip(runs, named.values(), strict=True)
        }
    boards = leaderboards(named, seed=seed)
    if len(boards) != 1:
        raise HdbenchError(
            "these runs are of {count} kinds, which are never ranked together: they differ in "
            "benchmark, items, prompt, protocol or options",
            count=len(boards),
        )
    return boards[0]


def _named(runs: Iterable[Result | str | PathLike[str]]) -> dict[str, Result]:
    """Return runs by names of their own."""
    named: dict[str, Result] = {}
    for run in [runs] if isinstance(runs, str | PathLike) else runs:
        if not isinstance(run, Result | str | PathLike):
            raise HdbenchError(
                "{run}: must be a result, or the path of a run or a result file", run=repr(run)
            )
        loaded = {run.model: run} if isinstance(run, Result) else load_runs([Path(run)])
        for model, result in loaded.items():
            name = model or "run"
            number = 1
            while name in named:
                number += 1
                name = f"{model or 'run'} ({number})"
            named[name] = result
    return named


@contextmanager
def _benchmark(
    benchmark: Any, metric: str | None, options: Mapping[str, Any], settings: Settings
) -> Iterator[Benchmark]:
    if metric is not None and isinstance(benchmark, Benchmark | str | PathLike):
        raise HdbenchError("metric= is for ground truths of your own: a benchmark has its own")
    if isinstance(benchmark, Benchmark):
        yield benchmark
    elif isinstance(benchmark, str | PathLike):
        yield load_benchmark(str(benchmark), revision=settings.revision)
    else:
        with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
            yield benchmark_in_memory(benchmark, Path(folder), metric=metric, options=options)


@contextmanager
def _file_of(answers: Any) -> Iterator[tuple[Path, str | None]]:
    """Give the file with answers, and what messages call it; None for its path."""
    if isinstance(answers, str | PathLike):
        yield Path(answers), None
        return
    with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
        path = Path(folder, "answers.jsonl")
        write_entries(path, entries(answers))
        if not path.stat().st_size:
            raise HdbenchError("there are no answers to score")
        yield path, IN_MEMORY
