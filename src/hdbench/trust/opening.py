"""Opening the answers of one model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.answers import Answers
from hdbench.answers.run_info import RunInfo
from hdbench.answers.run_names import Named, distinct_names, run_name
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.opened_run import OpenedRun


class Opened(NamedTuple):
    """A run that is open.

    Attributes:
        name: its model, or its file if it does not name one.
        answers: its answers to the items of the benchmark.
        info: the `run.json` of a run folder; None if it is not one.
        run: the run with the answers of all models.
        own: the name of the run folder or the file; None if `name` is that already.
    """

    name: str
    answers: Answers
    info: RunInfo | None
    run: OpenedRun
    own: str | None


@contextmanager
def opened_run(
    path: Path, benchmark: Benchmark, *, all_are_loaded: bool = False
) -> Iterator[Opened]:
    """Open a run of one model, until the block ends.

    Args:
        path: a file or folder of answers in any form, or a run folder.
        benchmark: the benchmark that it answers.
        all_are_loaded: see `JsonLines`.

    Raises:
        HdbenchError: the run is missing or unusable, has answers of several models, or answers
            another benchmark.
    """
    if not path.exists():
        raise HdbenchError("{place}: no such file or folder", place=path)
    with OpenedRun.opened(path, benchmark, all_are_loaded=all_are_loaded) as run:
        if len(run.models) > 1:
            raise HdbenchError(
                "{place}: has answers of {count} models: give one file for each model",
                place=path,
                count=len(run.models),
            )
        (model,) = run.models
        name = run.info.model if run.info is not None else model or run_name(path)
        own = run.info.run if run.info is not None else run_name(path) if model else None
        yield Opened(name, run.answers(model), run.info, run, own)


def names_of(paths: Sequence[Path], opened: Sequence[Opened]) -> list[str]:
    """Return the names of runs, as every command shows them; see `distinct_names`."""
    pairs = zip(opened, paths, strict=True)
    return distinct_names([Named(run.name, run.own, path) for run, path in pairs])
