"""`hdbench eval`: a model run and scored on several benchmarks in one command."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.baselines.by_schema import NoRulesError
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.common.names import bare
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.score import score
from hdbench.results.result import Result
from hdbench.running.backend import Asked
from hdbench.running.choosing import of_benchmark
from hdbench.running.planning import RunPlan, run_name
from hdbench.running.run import RunOutcome


class Evaluation(NamedTuple):
    """The outcome of one benchmark.

    Attributes:
        benchmark: the benchmark.
        folder: the run's folder.
        outcome: the outcome of this sitting.
        result: the run's score; items not asked in time count as unanswered.
        least: what its headline had to reach; None if nothing was demanded.
    """

    benchmark: Benchmark
    folder: Path
    outcome: RunOutcome
    result: Result
    least: float | None

    @property
    def value(self) -> float:
        """Return the headline."""
        return self.result.value

    @property
    def passed(self) -> bool:
        """Return whether nothing was demanded, or the demand is met."""
        return self.least is None or self.result.reaches(self.least)


class Skipped(NamedTuple):
    """A benchmark that was not evaluated.

    Attributes:
        name: its name.
        why: why it was not.
    """

    name: str
    why: Message


def find_benchmarks(namespace: Path, names: Sequence[str]) -> list[Benchmark]:
    """Return the built benchmarks with those names; without names, all in a namespace folder.

    Raises:
        HdbenchError: there is none, or none with one of the names.
    """
    if names:
        return [load_benchmark(name, media=True) for name in names]
    folders = sorted(path.parent for path in namespace.glob("*/benchmark.yaml"))
    if not folders:
        raise HdbenchError(
            "{place}: no benchmark here: build them with: hdbench build --all", place=namespace
        )
    return [load_benchmark(str(folder)) for folder in folders]


def read_demands(texts: Sequence[str], benchmarks: Sequence[Benchmark]) -> dict[str, float]:
    """Return benchmark's name → demanded headline, from texts like `zettelkatalog=0.80`.

    Raises:
        HdbenchError: it does not have that form, names a benchmark that is not evaluated or was
            already named, or no headline can have that value.
    """
    names = {benchmark.spec.name for benchmark in benchmarks}
    demands = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = bare(name)
        if name not in names:
            raise HdbenchError(
                "--fail-under {given}: {name!r} is not evaluated: name one of {names}",
                given=text,
                name=name,
                names=", ".join(sorted(names)),
            )
        if name in demands:
            raise HdbenchError(
                "--fail-under {given}: {name} is given twice: keep one", given=text, name=name
            )
        try:
            demands[name] = float(value)
        except ValueError as error:
            raise HdbenchError(
                "--fail-under {given}: must be NAME=VALUE, such as {name}=0.80",
                given=text,
                name=name,
            ) from error
        if not 0 <= demands[name] <= 1:  # also refuses NaN
            raise HdbenchError(
                "--fail-under {given}: the value must be from 0 to 1, such as 0.80", given=text
            )
    return demands


def evaluate(
    benchmarks: Sequence[Benchmark],
    asked: Asked,
    folder: Path,
    *,
    quick: bool = False,
    minutes: float | None = None,
    demands: Mapping[str, float] | None = None,
    skip: bool = False,
) -> Iterator[Evaluation | Skipped]:
    """Run a model on each benchmark and score it.

    Args:
        benchmarks: the benchmarks.
        asked: the model to ask.
        folder: where the run folders are made, or resumed.
        quick: only a fixed subset of each.
        minutes: after this time nothing more is asked, and items being asked are given up; each
            benchmark gets an equal share of the time left.
        demands: see `read_demands`.
        skip: go on to the next benchmark where a backend has no rules for one, unless something is
            demanded of it.

    Raises:
        HdbenchError: see `RunPlan.run` and `score`.
    """
    demands = demands or {}
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for position, benchmark in enumerate(benchmarks):
        deadline = None
        if end is not None:
            now = time.monotonic()
            deadline = now + max(0.0, end - now) / (len(benchmarks) - position)
        benchmark_name = benchmark.spec.name
        name = run_name(benchmark, asked.model) + ("_quick" if quick else "")
        plan = RunPlan(benchmark, of_benchmark(benchmark, quick=quick), asked)
        try:
            outcome = plan.run(folder / name, deadline=deadline)
        except NoRulesError as error:
            if not skip or benchmark_name in demands:
                raise HdbenchError("{place}: {why}", place=benchmark_name, why=error) from error
            yield Skipped(benchmark_name, error.message)
            continue
        if outcome.interrupted:
            raise KeyboardInterrupt
        result = score(benchmark.id, folder / name)
        yield Evaluation(benchmark, folder / name, outcome, result, demands.get(benchmark_name))
