"""The plan: what will be decided and how, written down before anybody looks at the truth."""

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.sample import Sample
from hdbench.common.checked import Strict
from hdbench.common.hashing import file_sha256
from hdbench.errors import HdbenchError, Message
from hdbench.results.files import answers_sha256
from hdbench.statistics.acceptance import CONFIDENCE, GRID, least_items
from hdbench.trust.as_planned import AsPlanned, as_planned
from hdbench.trust.given_scores import read_scores
from hdbench.trust.grid import grid_of
from hdbench.trust.opening import Opened, names_of, opened_run
from hdbench.trust.sample import draw_items
from hdbench.trust.sealed import Sealed, Sha256, read_sealed, write_sealed
from hdbench.trust.wish import (
    MAX_LIMIT,
    PlanOptions,
    Right,
    VerdictName,
    check_number,
    check_wish,
    chosen_fields,
)

_HEAD = """\
# A plan of hdbench trust. It holds only as it is: changing it, even by a letter, makes it void.
# Before anybody looks at an item of the sample, keep its hash where nobody can change it: in an
# e-mail to a colleague, say.
"""


class PlannedRun(Strict):
    """A run that the plan is for.

    Attributes:
        path: where its answers are.
        name: its model, or its file; each run has another one.
        sha256: of its answers, see `hdbench.results.files.answers_sha256`.
    """

    path: str
    name: str
    sha256: Sha256


class PlannedScores(Strict):
    """The trust scores that the plan is for, if they are not the agreement of its runs.

    Attributes:
        path: where the table is, see `hdbench.trust.given_scores.read_scores`.
        sha256: of the file.
    """

    path: str
    sha256: Sha256


class Plan(Sealed):
    """What will be decided, and how.

    Attributes:
        hdbench: the version that made the plan.
        created: when, in UTC.
        benchmark: its folder, or its name on the Hub.
        as_planned: what it must still be when it is decided; None in plans that do not say it yet.
        list_sha256: of all its ids, sorted, one per line.
        runs: the runs, in order of preference; one is enough if there are scores.
        scores: where trust scores come from; None if they are the agreement of the runs.
        fields: the fields whose values may be taken over.
        several_values: fields that are left out because an item may have several values of them.
        right: when a value counts as right: to the letter, or by the metric's own threshold.
        verdict: which of the two counts, the rule's or the exact one.
        limit: the largest share of wrong values among those taken over, above 0.0.
        confidence: what the verdict is calibrated for.
        grid: thresholds of the trust score, from strict to loose; see also `grid_of`.
        whole: how the sample was drawn from all items.
        known: how many items of the sample had a ground truth already.
        sample: the items to be checked, in the order in which they were drawn.
    """

    hdbench: str
    created: str
    benchmark: str
    as_planned: AsPlanned | None = None
    list_sha256: Sha256
    runs: Annotated[tuple[PlannedRun, ...], Checked(min_length=1)]
    scores: PlannedScores | None = None
    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    several_values: tuple[str, ...] = ()
    right: Right
    verdict: VerdictName
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    grid: Annotated[tuple[Annotated[float, Checked(ge=0, le=1)], ...], Checked(min_length=1)]
    whole: Sample
    known: Annotated[int, Checked(ge=0)]
    sample: Annotated[tuple[str, ...], Checked(min_length=2)]

    @model_validator(mode="after")
    def _can_decide(self) -> "Plan":
        if len(self.runs) == 1 and self.scores is None:
            raise PydanticCustomError("plan", "one run, and no scores", {})
        if self.whole.by and self.verdict == "exact":
            raise PydanticCustomError("plan", "verdict: exact, but the sample is stratified", {})
        if any(loose >= strict for strict, loose in pairwise(self.grid)):
            raise PydanticCustomError("plan", "grid: does not go from strict to loose", {})
        try:
            is_clear = datetime.datetime.fromisoformat(self.created).tzinfo is not None
        except ValueError:
            is_clear = False
        if not is_clear:
            raise PydanticCustomError("plan", "created: is not a time with its zone", {})
        return self

    @property
    def least_items(self) -> int:
        """Return how many items need a value that passes."""
        return least_items(self.limit, self.confidence)


def make_plan(benchmark: Benchmark, runs: Sequence[Path], wish: PlanOptions) -> Plan:
    """Draw the sample and fix everything else.

    Args:
        benchmark: all items; those of the sample need no ground truth yet.
        runs: what the models answered to all of them, in order of preference.
        wish: what was asked for.

    Raises:
        HdbenchError: nothing can be promised in this way; the message says why, and what to do.
    """
    check_wish(wish)
    fields, several = chosen_fields(benchmark, wish.fields)
    ids = list(benchmark.ids())
    check_number(wish, len(fields), len(ids))
    planned = _planned_runs(benchmark, runs, alone=wish.scores is not None)
    scores, grid = None, GRID
    if wish.scores is not None:
        grid = grid_of(read_scores(wish.scores, fields, ids), wish, len(fields))
        scores = PlannedScores(path=str(wish.scores), sha256=file_sha256(wish.scores))
    whole, drawn = draw_items(benchmark, ids, wish.number, by=wish.by, seed=wish.seed)
    sealed = as_planned(benchmark, drawn)
    return Plan(
        hdbench=__version__,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        benchmark=benchmark.id,
        as_planned=sealed,
        list_sha256=list_sha256(ids),
        runs=tuple(planned),
        scores=scores,
        fields=tuple(fields),
        several_values=tuple(several),
        right=wish.right,
        verdict=wish.verdict,
        limit=wish.limit,
        confidence=wish.confidence,
        grid=grid,
        whole=whole,
        known=len(sealed.truths),
        sample=tuple(drawn),
    )


def list_sha256(ids: Iterable[str]) -> str:
    """A hash of a list of ids, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _planned_runs(benchmark: Benchmark, paths: Sequence[Path], *, alone: bool) -> list[PlannedRun]:
    """The runs; one is enough if it may stand alone."""
    opened: list[Opened] = []
    for path in paths:
        with opened_run(path, benchmark) as run:
            opened.append(run)
    runs: list[PlannedRun] = []
    for path, name in zip(paths, names_of(paths, opened), strict=True):
        sha256 = answers_sha256(path)
        for other in runs:
            if other.sha256 == sha256:
                raise HdbenchError(
                    "{place}: has the same answers as {first}: leave one out",
                    place=path,
                    first=other.path,
                )
        runs.append(PlannedRun(path=str(path), name=name, sha256=sha256))
    if len(runs) == 1 and not alone:
        raise HdbenchError(
            "{place}: one run has nothing to agree with: give two or more, of several models or of "
            "one, or trust scores with --scores",
            place=runs[0].path,
        )
    return runs


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan with its hash; nothing is replaced.

    Raises:
        HdbenchError: the file exists, or cannot be written.
    """
    if path.exists():
        raise HdbenchError(
            "{place}: exists already: a plan is never replaced: choose another -o", place=path
        )
    write_sealed(path, "plan", plan, head=_HEAD)


def read_plan(path: Path) -> Plan:
    """A plan, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a plan, or was changed since.
    """
    return read_sealed(
        path,
        "plan",
        Plan,
        what=Message("a plan"),
        to_do=Message("restore it, or make a new plan and check a new sample"),
    )
