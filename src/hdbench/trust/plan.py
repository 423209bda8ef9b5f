"""The plan of a decision, written down before anybody looks at the truth."""

import datetime
import hashlib
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.sample import Sample
from hdbench.common.checked import Strict
from hdbench.common.names import did_you_mean
from hdbench.common.regular_files import file_sha256
from hdbench.datasets.collecting.drawing import draw
from hdbench.datasets.collecting.whole import Whole
from hdbench.errors import HdbenchError, Message
from hdbench.results.files import answers_sha256
from hdbench.statistics.acceptance import (
    CONFIDENCE,
    GRID,
    ROUNDING,
    Verdict,
    by_betting,
    by_rule,
    least_items,
    upper_bound,
)
from hdbench.trust.as_planned import AsPlanned, as_planned
from hdbench.trust.opening import Opened, names_of, opened_run
from hdbench.trust.score_table import GivenScores, read_scores
from hdbench.trust.sealed import Sealed, Sha256, write_sealed
from hdbench.trust.values import fields_of, schema_with_fields

Right = Literal["letter", "threshold"]
VerdictName = Literal["rule", "exact"]

RIGHTS: tuple[Right, ...] = ("letter", "threshold")

MAX_LIMIT = 0.5
"""The highest limit: with more wrong values than right ones, nothing is worth accepting."""


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan, as given by a person; see `Plan`.

    Attributes:
        number: how many items are to be checked.
        limit: see `Plan`.
        confidence: see `Plan`.
        fields: paths of fields; without any, all fields that an item has one value of.
        right: see `Plan`.
        verdict: see `Plan`.
        by: columns of the benchmark whose values make strata; none for a simple sample.
        seed: the seed of the draw.
        scores: a table of trust scores; without it, the agreement of the runs is the score.
    """

    number: int
    limit: float = 0.05
    confidence: float = CONFIDENCE
    fields: Sequence[str] = ()
    right: Right = "letter"
    verdict: VerdictName = "rule"
    by: Sequence[str] = ()
    seed: int = 0
    scores: Path | None = None


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that no plan can have.

    Raises:
        HdbenchError: it is another one than `CONFIDENCE`.
    """
    if confidence != CONFIDENCE:
        raise HdbenchError(
            "--confidence {confidence}: only {possible} is possible: the rule was calibrated for "
            "it, and nobody has tested what it promises at another confidence",
            confidence=f"{confidence:g}",
            possible=f"{CONFIDENCE:g}",
        )


def check_limit(limit: float) -> None:
    """Refuse a limit that makes no sense.

    Raises:
        HdbenchError: it is not above 0, or above `MAX_LIMIT`.
    """
    if not 0 < limit <= MAX_LIMIT:
        raise HdbenchError(
            "--limit {limit}: must be above 0 and at most {most}",
            limit=f"{limit:g}",
            most=f"{MAX_LIMIT:g}",
        )


def check_options(options: PlanOptions) -> None:
    """Refuse options with which no plan can promise anything.

    Raises:
        HdbenchError: the confidence is not calibrated, the limit makes no sense, the sample is too
            small for it, or the exact verdict is to decide from a stratified sample.
    """
    check_confidence(options.confidence)
    check_limit(options.limit)
    least = least_items(options.limit, options.confidence)
    if options.number < least:
        raise HdbenchError(
            "--items {number}: too few: at least {least:,} items have to be checked to show that "
            "at most {limit:.3g} of the values are wrong, even if no error is found; 150 or more "
            "are usual",
            number=options.number,
            least=least,
            limit=options.limit,
        )
    if options.by and options.verdict == "exact":
        raise HdbenchError(
            "--verdict exact: needs a simple random sample: leave out --by, or decide by the rule"
        )


def check_number(options: PlanOptions, fields: int, items: int) -> None:
    """Refuse a sample from which nothing could be shown with so few fields.

    Args:
        options: the options.
        fields: how many values of an item may be accepted.
        items: how many items there are.

    Raises:
        HdbenchError: there are too few items, so that even without any error nothing could be taken
            over; the message says how many have to be checked.
    """
    if items < least_items(options.limit, options.confidence):
        raise HdbenchError(
            "{items:,} items are too few: values of one item go wrong together, so that nothing "
            "can be promised from so few: look at every value",
            items=items,
        )
    if _is_enough(options, fields, options.number):
        return
    high = 2 * options.number
    while not _is_enough(options, fields, high) and high < items:
        high *= 2
    is_enough = partial(_is_enough, options, fields)
    least = bisect_left(range(high), x=True, lo=high // 2, key=is_enough)
    values = Message("1 value each", plural="{count} values each", count=fields)
    raise HdbenchError(
        "--items {number}: too few: with {values}, at least {least:,} items have to be checked to "
        "show that at most {limit:.3g} of the values are wrong, even if no error is found",
        number=options.number,
        values=values,
        least=least,
        limit=options.limit,
    )


def _is_enough(options: PlanOptions, fields: int, number: int) -> bool:
    _, holds = verdict_of(options, options.verdict, fields)(
        np.full(number, fields), np.zeros(number, dtype=np.int64)
    )
    return holds


def verdict_of(terms: "PlanOptions | Plan", name: VerdictName, fields: int) -> Verdict:
    """Return a verdict about some number of fields, for the limit and confidence of a plan."""
    if name == "rule":
        return by_rule(terms.limit, terms.confidence)
    return by_betting(fields, terms.limit, terms.confidence)


def chosen_fields(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the fields whose values may be accepted, and those left out as parts of lists.

    Args:
        benchmark: the benchmark.
        wanted: the paths of the fields to use; none for all.

    Returns:
        The paths of both; if some fields are wanted, no others count as left out.

    Raises:
        HdbenchError: the benchmark does not declare its fields; a field does not exist, or an item
            may have several values of it.
    """
    schema = schema_with_fields(benchmark)
    single, several = fields_of(schema)
    paths = [field.path for field in single]
    names = list(dict.fromkeys(name.removesuffix("[]") for name in wanted)) or paths
    for name in names:
        if any(other == name or other.startswith(f"{name}[]") for other in several):
            raise HdbenchError(
                "--fields {field}: an item may have several values of it, and these go wrong "
                "together: choose among {known}",
                field=name,
                known=", ".join(paths) or Message("the fields of other benchmarks"),
            )
        if name not in paths:
            raise HdbenchError(
                "--fields {field}: no such field; {benchmark} has {known}{hint}",
                field=name,
                benchmark=benchmark.id,
                known=", ".join(paths) or Message("none"),
                hint=did_you_mean(name, paths),
            )
    for field in single:
        if field.path in names and not schema.type_of(field.names):
            raise HdbenchError(
                "{benchmark}: {field}: its name has a dot, which stands between names: rename it, "
                "or choose others with --fields",
                benchmark=benchmark.id,
                field=field.path,
            )
    if not names:
        raise HdbenchError(
            "{benchmark}: an item may have several values of every field ({fields}), and these go "
            "wrong together: nothing can be promised about lists yet",
            benchmark=benchmark.id,
            fields=", ".join(several[:5]),
        )
    return names, [] if wanted else several


_HEAD = """\
# A plan of hdbench trust. It holds only as it is: changing it, even by a letter, makes it void.
# Before anybody looks at an item of the sample, keep its hash where nobody can change it: in an
# e-mail to a colleague, say.
"""


class PlannedRun(Strict):
    """A run that the plan is for.

    Attributes:
        path: the path of its answers.
        name: its model, or its file; unique among the runs.
        sha256: sha256 of its answers, see `hdbench.results.files.answers_sha256`.
    """

    path: str
    name: str
    sha256: Sha256


class PlannedScores(Strict):
    """The trust scores that the plan is for, if they are not the agreement of its runs.

    Attributes:
        path: the path of the table, see `hdbench.trust.score_table.read_scores`.
        sha256: sha256 of the file.
    """

    path: str
    sha256: Sha256


class PlanTerms(Sealed):
    """What a plan fixes, whether items or single values are drawn.

    Attributes:
        hdbench: the version that made the plan.
        created: when the plan was made, in UTC.
        benchmark: the benchmark's folder, or its name on the Hub.
        as_planned: the benchmark as it must still be for a decision; None in plans of earlier
            versions.
        list_sha256: sha256 of all its ids, sorted, one per line.
        runs: the runs, in order of preference.
        scores: the source of trust scores; None if they are the agreement of the runs.
        fields: the fields whose values may be accepted.
        several_values: fields that are left out because an item may have several values of them.
        right: the criterion by which a value is right: to the letter, or by the metric's own
            threshold.
        limit: the largest share of wrong values among those accepted, above 0.0.
        confidence: the confidence that the verdict is calibrated for.
    """

    KIND = "plan"
    WHAT = Message("a plan")
    TO_DO = Message("restore it, or make a new plan and check a new sample")
    HEAD = _HEAD

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
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]

    @model_validator(mode="after")
    def _has_a_time(self) -> Self:
        try:
            is_clear = datetime.datetime.fromisoformat(self.created).tzinfo is not None
        except ValueError:
            is_clear = False
        if not is_clear:
            raise PydanticCustomError("plan", "created: is not a time with its zone", {})
        return self


class Plan(PlanTerms):
    """Plan of a decision for which whole items are drawn; one run is enough if there are scores.

    Attributes:
        verdict: the verdict that counts: the rule's or the exact one.
        grid: thresholds of the trust score, from strict to loose; see also `grid_of`.
        whole: how the sample was drawn from all items.
        known: how many items of the sample already had a ground truth.
        sample: the items to be checked, in the order in which they were drawn.
    """

    verdict: VerdictName
    grid: Annotated[tuple[Annotated[float, Checked(ge=0, le=1)], ...], Checked(min_length=1)]
    whole: Sample
    known: Annotated[int, Checked(ge=0)]
    sample: Annotated[tuple[str, ...], Checked(min_length=2)]

    @model_validator(mode="after")
    def _can_decide(self) -> Self:
        if len(self.runs) == 1 and self.scores is None:
            raise PydanticCustomError("plan", "one run, and no scores", {})
        if self.whole.by and self.verdict == "exact":
            raise PydanticCustomError("plan", "verdict: exact, but the sample is stratified", {})
        if any(loose >= strict for strict, loose in pairwise(self.grid)):
            raise PydanticCustomError("plan", "grid: does not go from strict to loose", {})
        return self

    @property
    def least_items(self) -> int:
        """Return how many items need a value that passes."""
        return least_items(self.limit, self.confidence)


def make_plan(benchmark: Benchmark, runs: Sequence[Path], options: PlanOptions) -> Plan:
    """Draw the sample and fix everything else.

    Args:
        benchmark: all items; those of the sample need no ground truth yet.
        runs: the models' answers to all items, in order of preference.
        options: the options.

    Raises:
        HdbenchError: nothing can be promised with these options; the message says why, and what to
            do.
    """
    check_options(options)
    fields, several = chosen_fields(benchmark, options.fields)
    ids = list(benchmark.ids())
    check_number(options, len(fields), len(ids))
    planned = planned_runs(benchmark, runs, alone=options.scores is not None)
    scores, grid = None, GRID
    if options.scores is not None:
        grid = grid_of(read_scores(options.scores, fields, ids), options, len(fields))
        scores = PlannedScores(path=str(options.scores), sha256=file_sha256(options.scores))
    design, drawn = draw_items(benchmark, ids, options.number, by=options.by, seed=options.seed)
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
        right=options.right,
        verdict=options.verdict,
        limit=options.limit,
        confidence=options.confidence,
        grid=grid,
        whole=design,
        known=len(sealed.truths),
        sample=tuple(drawn),
    )


def list_sha256(ids: Iterable[str]) -> str:
    """Return the sha256 of a list of ids in any order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def planned_runs(benchmark: Benchmark, paths: Sequence[Path], *, alone: bool) -> list[PlannedRun]:
    """Return the runs of a plan.

    Args:
        benchmark: the benchmark that they answer.
        paths: the runs, in order of preference.
        alone: whether a single run is enough.

    Raises:
        HdbenchError: a run is unusable, two have the same answers, or one is not enough.
    """
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


def write_plan(path: Path, plan: PlanTerms) -> None:
    """Write a plan with its hash; nothing is replaced.

    Raises:
        HdbenchError: the file exists, or cannot be written.
    """
    if path.exists():
        raise HdbenchError(
            "{place}: exists already: a plan is never replaced: choose another -o", place=path
        )
    write_sealed(path, plan)


PERCENT = range(25, 101, 5)
"""Percentages of all values that reach the thresholds."""

LIKELY = 0.95
"""Minimum probability that enough items of the sample reach the first threshold."""

DIGITS = 6
"""Decimals of a threshold."""


def grid_of(scores: GivenScores, options: PlanOptions, fields: int) -> tuple[float, ...]:
    """Thresholds that 25, 30, … 100 % of the values of all items reach, from strict to loose.

    A user's own scores may lie anywhere between 0 and 1, and few of them may reach the thresholds
    that suit the agreement of runs. A walk has to begin where enough of the sample passes. This
    follows from the scores of all items, whose truth nobody knows yet, so that no promise depends
    on it.

    Args:
        scores: the scores of all items.
        options: the options.
        fields: how many values an item has.

    Raises:
        HdbenchError: no value has a score.
    """
    values = scores.by_value(fields)
    descending = np.sort(values[~np.isnan(values)])[::-1]
    if not len(descending):
        raise HdbenchError("{place}: no item has a score", place=options.scores)
    last = [-(-percent * len(descending) // 100) - 1 for percent in PERCENT]
    scale = 10**DIGITS
    thresholds = sorted({math.floor(score * scale) / scale for score in descending[last]})[::-1]
    enough = [threshold for threshold in thresholds if _would_pass(values, threshold, options)]
    return tuple(enough) or (thresholds[-1],)


def _would_pass(values: np.ndarray, threshold: float, options: PlanOptions) -> bool:
    """Return whether a sample in which one value is wrong would most likely be accepted."""
    from scipy import special  # noqa: PLC0415  slow to import

    passes = values >= threshold - ROUNDING
    items = float(passes.any(axis=1).mean())
    least = least_items(options.limit, options.confidence)
    has_items = special.betainc(least, options.number - least + 1, items) >= LIKELY
    passing = np.zeros(options.number, dtype=np.int64)
    passing[0] = int(passes.sum(axis=1).mean() * options.number)
    wrong = np.zeros_like(passing)
    wrong[0] = 1  # with so few errors the least design effect counts, wherever they are
    return bool(has_items and upper_bound(passing, wrong, options.confidence) <= options.limit)


def draw_items(
    benchmark: Benchmark, ids: Sequence[str], number: int, *, by: Sequence[str] = (), seed: int = 0
) -> tuple[Sample, list[str]]:
    """Draw items at random, simple or in proportion to the strata.

    Args:
        benchmark: all items.
        ids: their ids.
        number: how many are drawn.
        by: the columns whose values make the strata.
        seed: the seed of the draw and of the order.

    Returns:
        How they were drawn, and their ids in random order: betting takes them one after the other.

    Raises:
        HdbenchError: there are fewer items; there is no such column; a stratum would get more than
            its share, so that its items would be overrepresented.
    """
    columns = {name: [_cell(value) for value in benchmark.column(name).values()] for name in by}
    population = Whole(benchmark.id, ids, columns, ())
    drawn = draw(population, number, by=by, seed=seed)
    strata = drawn.sample.strata
    if any(abs(stratum.items - number * stratum.of / len(ids)) >= 1 for stratum in strata):
        worst = max(strata, key=lambda stratum: stratum.items / stratum.of)
        values = ", ".join(worst.values.values()) or Message("without a value")
        share = -(-len(ids) // worst.of)
        raise HdbenchError(
            "--by {columns}: {stratum}: {items} of its {of:,} items would be more than its share: "
            "draw at least {least:,} items, choose columns with fewer values, or leave out --by",
            columns=",".join(by),
            stratum=values,
            items=worst.items,
            of=worst.of,
            least=2 * share,
        )
    order = np.random.default_rng([seed, 1]).permutation(number)
    drawn_ids = sorted(drawn.ids)
    return drawn.sample, [drawn_ids[index] for index in order.tolist()]


def check_drawn(
    benchmark: Benchmark, ids: Sequence[str], design: Sample, drawn: Sequence[str]
) -> None:
    """Refuse a sample that its seed does not draw: somebody chose items, or changed their order.

    This cannot notice that several seeds were tried and the sample was chosen among theirs.

    Args:
        benchmark: all items.
        ids: their ids.
        design: the design of the sample, according to the plan.
        drawn: the sample.

    Raises:
        HdbenchError: the seed draws another sample.
    """
    again = draw_items(benchmark, ids, len(drawn), by=design.by, seed=design.seed)
    if again != (design, list(drawn)):
        columns = ", ".join(design.by)
        by = Message(" and the columns {columns}", columns=columns) if columns else ""
        raise HdbenchError(
            "{benchmark}: the sample is not what the seed {seed} draws from its items{by}: items "
            "were chosen, or the plan or the columns changed: nothing can be promised: draw the "
            "sample of a new plan",
            benchmark=benchmark.id,
            seed=design.seed,
            by=by,
        )


def _cell(value: object) -> str:
    return "" if value is None else str(value)
