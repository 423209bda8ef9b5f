"""Decisions of `hdbench trust`: one that a visitor uploads, and an example from recorded runs."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from hdbench.common.checked import check_file
from hdbench.errors import HdbenchError, without_folders
from hdbench.output.report.trust_page import write_decision_page
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.computed_once import ComputedOnce
from hdbench.trust.deciding import read_decision
from hdbench.trust.learned.decision import ValueDecision
from hdbench.trust.learned.example import decide_with_truth
from hdbench.trust.learned.plan import ValuePlanOptions

MAX_DECISION = 2**20
"""Maximum size in bytes of an uploaded decision: one over 11 fields has 20 kB."""

EXAMPLE_BENCHMARK = "zettelkatalog"
"""The benchmark of the example."""

EXAMPLE_RUNS = ("2025-11-25_T0420", "2026-01-24_T0230", "2025-09-30_T0160")
"""The folders of the recorded runs that the example is decided from, the preferred one first: good
models of three makers."""


EXAMPLE_SEED = 3
"""The seed of the example, which accepts a middle share: of the seeds 0 to 11, two accept nothing,
and the others .33 to .48 of all values, this one .41."""


class ExampleDecision:
    """The example of a Space, decided once for everyone, and again when its files change.

    Args:
        context: the Space's context.
        decided: the function that decides, see `decide_example`.
    """

    def __init__(self, context: SpaceContext, decided: Callable[[], ValueDecision]) -> None:
        self._context = context
        self._decided = decided
        self._computed = ComputedOnce[ValueDecision]("example-decision")

    def work(self) -> "Future[ValueDecision] | None":
        """Return the decision, or the work on it; None if its runs are not recorded.

        Raises:
            HdbenchError: a benchmark of the Space is unusable.
        """
        runs = _example_runs(self._context)
        if not runs:
            return None
        folders = (self._context.benchmark(EXAMPLE_BENCHMARK).folder, *runs)
        files = [file for folder in folders for file in folder.iterdir()]
        return self._computed.get(None, files, lambda _: self._decided()).ready


def decide_example(context: SpaceContext) -> ValueDecision:
    """Plan, learn and decide by single values, as `hdbench trust` does by default.

    The ground truth stands for what people would read, so the decision says that it is not a
    promise. Nothing is written.

    Raises:
        HdbenchError: a run or the benchmark is not usable for it.
    """
    benchmark = context.benchmark(EXAMPLE_BENCHMARK)
    try:
        decision = decide_with_truth(
            benchmark, _example_runs(context), ValuePlanOptions(seed=EXAMPLE_SEED)
        )
    except HdbenchError as error:
        raise HdbenchError(context.without_folders(error.message)) from error
    return decision.model_copy(update={"benchmark": context.public_id(benchmark)})


def write_example(
    context: SpaceContext, decision: ValueDecision, page: Path, language: str
) -> None:
    """Write the page of the example, with images of its benchmark.

    Args:
        context: the Space's context.
        decision: the example.
        page: the path of the page.
        language: the page's language.
    """
    benchmark = context.benchmark(EXAMPLE_BENCHMARK)
    write_decision_page(page, decision, language, benchmark=benchmark)


def write_uploaded(upload: Path, page: Path, language: str) -> None:
    """Write the page of an uploaded decision.

    Nothing is decided again: the page shows the content of the file.

    Args:
        upload: the file.
        page: the path of the page.
        language: the page's language.

    Raises:
        HdbenchError: the file was not written by `hdbench trust decide --json`.
    """
    try:
        check_file(upload, MAX_DECISION, "a decision")
        write_decision_page(page, read_decision(upload), language, upload.name)
    except HdbenchError as error:
        raise HdbenchError(without_folders(error.message, upload.parent)) from error


def _example_runs(context: SpaceContext) -> list[Path]:
    """Return the folders of the example's runs; none if one is missing."""
    if EXAMPLE_BENCHMARK not in context.benchmarks:
        return []
    recorded = context.run_folders(EXAMPLE_BENCHMARK)
    folders = [recorded[name] for name in EXAMPLE_RUNS if name in recorded]
    return folders if len(folders) == len(EXAMPLE_RUNS) else []
