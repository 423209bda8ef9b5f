"""The plan: what will be decided and how, written down before anybody looks at the truth."""

import datetime
import hashlib
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.sample import Sample
from hdbench.common.checked import Strict
from hdbench.common.hashing import file_sha256
from hdbench.common.names import did_you_mean
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
from hdbench.trust.sealed import Sealed, Sha256, read_sealed, write_sealed
from hdbench.trust.values import fields_of, schema_with_fields

Right = Literal["letter", "threshold"]
VerdictName = Literal["rule", "exact"]

RIGHTS: tuple[Right, ...] = ("letter", "threshold")

MAX_LIMIT = 0.5
"""The highest limit: with more wrong values than right ones, nothing is worth taking over."""


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan, as a person gives them; see `Plan`.

    Attributes:
        number: how many items are to be checked.
        limit: see `Plan`.
        confidence: see `Plan`.
        fields: paths; without any, all that an item has one value of.
        right: see `Plan`.
        verdict: see `Plan`.
        by: columns of the benchmark whose values make strata; none for a simple sample.
        seed: of the draw.
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


def check_wish(wish: PlanOptions) -> None:
    """Refuse what no plan can promise.

    Raises:
        HdbenchError: the confidence is not calibrated, the limit makes no sense, the sample is too
            small for it, or the exact verdict is to decide from a stratified sample.
    """
    if wish.confidence != CONFIDENCE:
        raise HdbenchError(
            "--confidence {confidence}: only {possible} is possible: the rule was calibrated for "
            "it, and nobody has tested what it promises at another confidence",
            confidence=f"{wish.confidence:g}",
            possible=f"{CONFIDENCE:g}",
        )
    if not 0 < wish.limit <= MAX_LIMIT:
        raise HdbenchError(
            "--limit {limit}: must be above 0 and at most {most}",
            limit=f"{wish.limit:g}",
            most=f"{MAX_LIMIT:g}",
        )
    least = least_items(wish.limit, wish.confidence)
    if wish.number < least:
        raise HdbenchError(
            "-n {number}: too few: at least {least:,} items have to be checked to show that at "
            "most {limit:.3g} of the values are wrong, even if no error is found; 150 or more are "
            "usual",
            number=wish.number,
            least=least,
            limit=wish.limit,
        )
    if wish.by and wish.verdict == "exact":
        raise HdbenchError(
            "--verdict exact: needs a simple random sample: leave out --by, or decide by the rule"
        )


def check_number(wish: PlanOptions, fields: int, items: int) -> None:
    """Refuse a sample from which nothing could be shown with so few fields.

    Args:
        wish: what was asked for.
        fields: how many values of an item may be taken over.
        items: how many items there are.

    Raises:
        HdbenchError: there are too few items; even without any error the verdict would be that
            nothing can be taken over, and the message says how many have to be checked.
    """
    if items < least_items(wish.limit, wish.confidence):
        raise HdbenchError(
            "{items:,} items are too few: values of one item go wrong together, so that nothing "
            "can be promised from so few: look at every value",
            items=items,
        )
    if _is_enough(wish, fields, wish.number):
        return
    high = 2 * wish.number
    while not _is_enough(wish, fields, high) and high < items:
        high *= 2
    is_enough = partial(_is_enough, wish, fields)
    least = bisect_left(range(high), x=True, lo=high // 2, key=is_enough)
    values = Message("1 value each" if fields == 1 else "{count} values each", count=fields)
    raise HdbenchError(
        "-n {number}: too few: with {values}, at least {least:,} items have to be checked to show "
        "that at most {limit:.3g} of the values are wrong, even if no error is found",
        number=wish.number,
        values=values,
        least=least,
        limit=wish.limit,
    )


def _is_enough(wish: PlanOptions, fields: int, number: int) -> bool:
    _, holds = verdict_of(wish, wish.verdict, fields)(
        np.full(number, fields), np.zeros(number, dtype=np.int64)
    )
    return holds


def verdict_of(by: "PlanOptions | Plan", name: VerdictName, fields: int) -> Verdict:
    """Return a verdict about so many fields, for the limit and confidence of a plan."""
    if name == "rule":
        return by_rule(by.limit, by.confidence)
    return by_betting(fields, by.limit, by.confidence)


def chosen_fields(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the fields whose values may be taken over, and those left out as lists.

    Args:
        benchmark: the benchmark.
        wanted: the paths that were asked for; none for all.

    Returns:
        Their paths; if fields were asked for, no others count as left out.

    Raises:
        HdbenchError: the benchmark does not say its fields; a field does not exist, or an item may
            have several values of it.
    """
    schema = schema_with_fields(benchmark)
    single, several = fields_of(schema)
    known = [field.path for field in single]
    names = list(dict.fromkeys(name.removesuffix("[]") for name in wanted)) or known
    for name in names:
        if any(path == name or path.startswith(f"{name}[]") for path in several):
            raise HdbenchError(
                "--fields {field}: an item may have several values of it, and these go wrong "
                "together: choose among {known}",
                field=name,
                known=", ".join(known) or Message("the fields of other benchmarks"),
            )
        if name not in known:
            raise HdbenchError(
                "--fields {field}: no such field; {benchmark} has {known}{hint}",
                field=name,
                benchmark=benchmark.id,
                known=", ".join(known) or Message("none"),
                hint=did_you_mean(name, known),
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
            "wrong together: nothing can be promised about them",
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
        path: where the table is, see `hdbench.trust.score_table.read_scores`.
        sha256: of the file.
    """

    path: str
    sha256: Sha256


class Plan(Sealed):
    """Plan of a decision.

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
    """Return a hash of a list of ids, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _planned_runs(benchmark: Benchmark, paths: Sequence[Path], *, alone: bool) -> list[PlannedRun]:
    """Return the runs; one is enough if it may stand alone."""
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
    write_sealed(path, plan)


def read_plan(path: Path) -> Plan:
    """Return a plan, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a plan, or was changed since.
    """
    return read_sealed(path, Plan)


PERCENT = range(25, 101, 5)
"""Percentages of all values that reach the thresholds."""

LIKELY = 0.95
"""Minimum probability that enough items of the sample reach the first threshold."""

DIGITS = 6
"""Decimals of a threshold."""


def grid_of(scores: GivenScores, wish: PlanOptions, fields: int) -> tuple[float, ...]:
    """Thresholds that 25, 30, … 100 % of the values of all items reach, from strict to loose.

    Scores of the user's own may lie anywhere between 0 and 1, and few of them may reach the
    thresholds that suit the agreement of runs. What a walk needs is that it begins where enough of
    the sample passes. This follows from the scores of all items, whose truth nobody knows yet, so
    that no promise depends on it.

    Args:
        scores: of all items.
        wish: what was asked for.
        fields: how many values an item has.

    Raises:
        HdbenchError: no value has a score.
    """
    values = scores.by_value(fields)
    known = np.sort(values[~np.isnan(values)])[::-1]
    if not len(known):
        raise HdbenchError("{place}: no item has a score", place=wish.scores)
    places = [-(-percent * len(known) // 100) - 1 for percent in PERCENT]
    scale = 10**DIGITS
    found = sorted({math.floor(known[place] * scale) / scale for place in places}, reverse=True)
    enough = [threshold for threshold in found if _would_pass(values, threshold, wish)]
    return tuple(enough) or (found[-1],)


def _would_pass(values: np.ndarray, threshold: float, wish: PlanOptions) -> bool:
    """Return whether a sample in which one value is wrong would most likely be accepted."""
    from scipy import special  # noqa: PLC0415  slow to import

    passes = values >= threshold - ROUNDING
    items = float(passes.any(axis=1).mean())
    least = least_items(wish.limit, wish.confidence)
    has_items = special.betainc(least, wish.number - least + 1, items) >= LIKELY
    passing = np.zeros(wish.number, dtype=np.int64)
    passing[0] = int(passes.sum(axis=1).mean() * wish.number)
    wrong = np.zeros_like(passing)
    wrong[0] = 1  # with so few errors the least design effect counts, wherever they are
    return bool(has_items and upper_bound(passing, wrong, wish.confidence) <= wish.limit)


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
            its share, so that its items would count for more than they are.
    """
    columns = {name: [_cell(value) for value in benchmark.column(name).values()] for name in by}
    whole = Whole(benchmark.id, benchmark.content_hash(), ids, columns, ())
    drawn = draw(whole, number, by=by, seed=seed).sample
    if any(abs(each.items - number * each.of / len(ids)) >= 1 for each in drawn.strata):
        worst = max(drawn.strata, key=lambda each: each.items / each.of)
        named = ", ".join(worst.values.values()) or Message("without a value")
        share = -(-len(ids) // worst.of)
        raise HdbenchError(
            "--by {columns}: {stratum}: {items} of its {of:,} items would be more than its share: "
            "draw at least {least:,} items, choose columns with fewer values, or leave out --by",
            columns=",".join(by),
            stratum=named,
            items=worst.items,
            of=worst.of,
            least=2 * share,
        )
    order = np.random.default_rng([seed, 1]).permutation(number)
    names = sorted(drawn.ids)
    return drawn.design, [names[place] for place in order.tolist()]


def check_drawn(
    benchmark: Benchmark, ids: Sequence[str], design: Sample, drawn: Sequence[str]
) -> None:
    """Refuse a sample that its seed does not draw: somebody chose items, or changed their order.

    What this cannot notice: that several seeds were tried, and the sample was chosen among theirs.

    Args:
        benchmark: all items.
        ids: their ids.
        design: how the sample is said to have been drawn.
        drawn: the sample.

    Raises:
        HdbenchError: another sample is drawn.
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
