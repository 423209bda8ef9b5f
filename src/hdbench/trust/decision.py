"""The decision: which values may be accepted, with all that this rests on, as plain data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.provenance import BLIND
from hdbench.common.checked import Strict, check_file
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import open_regular
from hdbench.common.written_by import check_written_by
from hdbench.errors import HdbenchError, Message
from hdbench.statistics.acceptance import (
    CONFIDENCE,
    ROUNDING,
    ShareBounds,
    Step,
    bounds_of_share,
    last_accepted,
    upper_bound,
    walk,
)
from hdbench.trust.checked import UNKNOWN, CheckedSample, Flags, SharedErrors, check_sample
from hdbench.trust.plan import (
    MAX_LIMIT,
    RIGHTS,
    Plan,
    PlanTerms,
    Right,
    VerdictName,
    verdict_of,
)
from hdbench.trust.runs import Runs
from hdbench.trust.sealed import is_sealed

VERDICTS: tuple[VerdictName, ...] = ("rule", "exact")

FACTORS = (1.25, 1.5, 2, 3, 4, 6, 10)
"""Sizes of the larger samples that are tried, as multiples of the sample's."""

DRAWS = 200
"""Number of draws of each size."""

CHANCE = 0.8
"""Share of draws in which something must pass for a size to be recommended."""


class Walk(Strict):
    """A walk down the thresholds.

    Attributes:
        right: the criterion by which values are right.
        verdict: the verdict.
        fields: the paths of the fields that are included.
        left_out: path of each other field → the bounds of its share of wrong values among those
            with the highest score.
        steps: the thresholds that were looked at.
        threshold: the one to use; None if nothing can be accepted.
    """

    right: Right
    verdict: VerdictName
    fields: tuple[str, ...]
    left_out: dict[str, ShareBounds]
    steps: tuple[Step, ...]
    threshold: float | None

    def columns(self, plan: Plan) -> list[int]:
        """Return the positions of the fields that are included, among those of the plan."""
        return [plan.fields.index(name) for name in self.fields]


Walks = Mapping[tuple[Right, VerdictName], Walk]
"""All walks, by criterion and verdict."""


@dataclass(frozen=True)
class FieldResult:
    """The values of one field that pass.

    Attributes:
        passing: how many pass.
        wrong: how many of those that pass are wrong.
        empty: how many of those that pass are empty.
        wrong_empty: how many of the empty ones are wrong.
        share: the bounds of the share of wrong values among those that pass.
    """

    passing: int
    wrong: int
    empty: int
    wrong_empty: int
    share: ShareBounds


def walk_of(plan: Plan, sample: CheckedSample, right: Right, verdict: VerdictName) -> Walk:
    """Walk down the thresholds with all fields that are not certainly too bad.

    By the rule, a field is left out if even the lower bound of its share of wrong values, among
    those with the highest score, is above the limit. The bounds hold for all fields together
    (Bonferroni): a choice made by the same sample favors fields that happen to have few errors in
    it, and with 100 fields that are all just above the limit, bounds that hold for one field each
    broke 29 of 100 promises instead of 10. The exact verdict leaves no field out, as such a choice
    is incompatible with a promise without assumptions.
    """
    joint_confidence = 1 - (1 - plan.confidence) / len(plan.fields)
    left_out = {}
    if verdict == "rule":
        strictest = by_field(plan, sample, right, plan.grid[0], joint_confidence)
        left_out = {
            name: result.share
            for name, result in strictest.items()
            if result.share.lower > plan.limit
        }
    columns = [column for column, name in enumerate(plan.fields) if name not in left_out]
    steps = (
        walk(
            sample.scores[:, columns],
            sample.wrong[right][:, columns],
            verdict_of(plan, verdict, len(columns)),
            least=plan.least_items,
            grid=plan.grid,
        )
        if columns
        else []
    )
    chosen = last_accepted(steps)
    return Walk(
        right=right,
        verdict=verdict,
        fields=tuple(plan.fields[column] for column in columns),
        left_out=left_out,
        steps=tuple(steps),
        threshold=chosen.threshold if chosen else None,
    )


def by_field(
    plan: Plan, sample: CheckedSample, right: Right, threshold: float, confidence: float
) -> dict[str, FieldResult]:
    """Return path → counts of the values of that field at a threshold.

    The bounds for a single field are exact, as an item has one value of it.
    """
    passes = passing(sample.scores, threshold)
    wrong = passes & sample.wrong[right]
    flags = (passes, wrong, passes & sample.empty, wrong & sample.empty)
    counts = zip(plan.fields, *(flag.sum(axis=0).tolist() for flag in flags), strict=True)
    return {
        name: FieldResult(
            number,
            failed,
            empty,
            wrong_empty,
            bounds_of_share(failed, number, confidence) if number else ShareBounds(0.0, 1.0),
        )
        for name, number, failed, empty, wrong_empty in counts
    }


def passing(scores: np.ndarray, threshold: float) -> Flags:
    """Return which values reach a threshold."""
    reached: Flags = scores >= threshold - ROUNDING
    return reached


def needed_items(plan: Plan, sample: CheckedSample, counting: Walk) -> int | None:
    """Return how many items a sample would need for something to pass, most likely.

    Larger samples are drawn, with replacement, from the items that were checked. The estimate is
    only as good as these items represent the population. Something passes if the strictest
    threshold does, as the walk begins there.

    Returns:
        None if none of the sizes that are tried is large enough: they are at most ten times the
        sample's, and no larger than the population.
    """
    if not counting.fields:
        return None
    items, columns = len(sample.scores), counting.columns(plan)
    passes = passing(sample.scores[:, columns], plan.grid[0])
    of_item = passes.sum(axis=1)
    wrong = (passes & sample.wrong[plan.right][:, columns]).sum(axis=1)
    verdict = verdict_of(plan, plan.verdict, len(columns))
    rng = np.random.default_rng(0)
    for factor in FACTORS:
        size = int(np.ceil(factor * items))
        if size > plan.whole.of:
            return None
        draws = (rng.integers(items, size=size) for _ in range(DRAWS))
        passed = sum(
            np.count_nonzero(of_item[rows]) >= plan.least_items
            and verdict(of_item[rows], wrong[rows])[1]
            for rows in draws
        )
        if passed >= CHANCE * DRAWS:
            return size
    return None


_BEGIN = re.compile(rb'\s*\{\s*("decision":|"hdbench":\s*"[^"]*",\s*"finished":)')

MAX_FILE = 64 * 2**20
"""Maximum size in bytes of a decision."""

Count = Annotated[int, Checked(ge=0, le=10**12)]
Share = Annotated[float, Checked(ge=0, le=1)]


class Wrong(Strict):
    """Wrong values among those that pass, by one criterion.

    Attributes:
        count: how many.
        rate: the share, 0.0 to 1.0.
        upper: the rule's upper bound of the share. It is a promise only by the criterion that
            counts: the threshold was not chosen by the other one.
        in_whole: the rate times the number of values that would be accepted in the population.
        at_most_in_whole: the upper bound times this number.
    """

    count: Count
    rate: Share
    upper: Share
    in_whole: Count
    at_most_in_whole: Count


WrongByRight = Annotated[dict[Right, Wrong], Checked(min_length=len(RIGHTS))]
"""Wrong values by each criterion."""


class CurvePoint(Strict):
    """Figures of one threshold in the sample, whether the walk reached it or not.

    They are a promise only at the threshold that the walk chose; at all others they describe the
    sample.

    Attributes:
        threshold: the least trust score.
        passing: how many values of the included fields pass; at least one.
        share: the share of all values of the plan's fields that pass, 0.0 to 1.0.
        wrong: to the letter and by the benchmark's threshold.
    """

    threshold: Share
    passing: Count
    share: Share
    wrong: WrongByRight


class Outcome(Strict):
    """The values that are accepted.

    Attributes:
        threshold: the least trust score.
        fields: the fields of which values are accepted.
        values: how many values of the plan's fields the sample has, including fields left out.
        passing: how many of these values pass.
        share: the share of them that pass, 0.0 to 1.0.
        untouched_items: how many items have all values of the plan's fields accepted; 0 if a
            field was left out.
        wrong: to the letter and by the threshold.
        of_whole: how many values of the plan's fields the population has.
        passing_in_whole: the share times this number.
        by_field: path → counts of its values, by the criterion that counts.
    """

    threshold: Share
    fields: tuple[str, ...]
    values: Count
    passing: Count
    share: Share
    untouched_items: Count
    wrong: WrongByRight
    of_whole: Count
    passing_in_whole: Count
    by_field: dict[str, FieldResult]


class Warned(Strict):
    """Something to know before the decision is used.

    Attributes:
        key: the key of the text in `texts/trust.yaml`.
        values: the values of its placeholders.
        voids: whether it voids the promise.
    """

    key: str
    values: dict[str, Any]
    voids: bool = False

    @classmethod
    def of(cls, key: str, /, **values: Any) -> Self:
        """Return a warning with some values."""
        return cls(key=key, values=values)


class Decision(Strict):
    """A decision.

    Attributes:
        hdbench: the version that decided.
        plan: the plan's hash.
        plan_file: the path of the plan.
        created: when the plan was made.
        decided: when the decision was computed; None in files of earlier versions.
        benchmark: the benchmark.
        benchmark_version: its version.
        items: how many items it has.
        checked: how many were checked.
        runs: the runs' names, in order of preference.
        scores: the file with the trust scores; None if they are the agreement of the runs.
        limit: see `Plan`.
        confidence: see `Plan`.
        right: see `Plan`.
        verdict: see `Plan`.
        provenance: how truths were made → how many of them.
        truths_sha256: sha256 of the truths.
        walks: all walks; the one with the `right` and `verdict` of the plan counts.
        curve: figures of each threshold of the plan that any value of the sample reaches, from
            strict to loose, for the fields of the walk that counts; empty if none is included.
        outcome: the values that are accepted; None if nothing is.
        needed: how many items a sample would need for something to pass, most likely; None if
            something does, or if no size that was tried is large enough.
        warnings: the warnings, the most serious first.
    """

    decision: Literal[1] = 1
    hdbench: str
    plan: str
    plan_file: str
    created: str
    decided: str | None = None
    benchmark: str
    benchmark_version: str
    items: Annotated[Count, Checked(ge=1)]
    checked: Annotated[Count, Checked(ge=1)]
    runs: tuple[str, ...]
    scores: str | None
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    right: Right
    verdict: VerdictName
    provenance: dict[str, Count]
    truths_sha256: str
    walks: tuple[Walk, ...]
    curve: tuple[CurvePoint, ...]
    outcome: Outcome | None
    needed: Count | None
    warnings: tuple[Warned, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> "Decision":
        walks = {(walk.right, walk.verdict): walk for walk in self.walks}
        counting = walks.get((self.right, self.verdict))
        if counting is None:
            raise PydanticCustomError("decision", "walks: the one that counts is missing", {})
        if not counting.fields and not counting.left_out:
            raise PydanticCustomError("decision", "walks: the one that counts has no fields", {})
        by_field = self.outcome.by_field.values() if self.outcome else ()
        if any(field.passing > self.checked for field in by_field):
            raise PydanticCustomError("decision", "by_field: has more values than items", {})
        return self

    @property
    def counting(self) -> Walk:
        """Return the walk that counts."""
        wanted = (self.right, self.verdict)
        return next(walk for walk in self.walks if (walk.right, walk.verdict) == wanted)

    @property
    def holds(self) -> bool:
        """Return whether the promise holds: no warning says otherwise."""
        return not any(warned.voids for warned in self.warnings)


def decide(
    plan: Plan, benchmark: Benchmark, plan_file: Path, opened: Runs | None = None
) -> Decision:
    """Decide by a plan, from the truth of its sample.

    Args:
        plan: the plan.
        benchmark: the items, those of the sample with their truth.
        plan_file: the plan's file.
        opened: the plan's runs, if they are already open.

    Raises:
        HdbenchError: nothing can be promised; see `check_sample`.
    """
    sample = check_sample(plan, benchmark, plan_file, opened)
    kinds = product(RIGHTS, VERDICTS)
    walks = {kind: walk_of(plan, sample, *kind) for kind in kinds}
    counting = walks[plan.right, plan.verdict]
    outcome = _outcome(plan, sample, counting)
    return Decision(
        hdbench=__version__,
        plan=plan.hash(),
        plan_file=str(plan_file),
        created=plan.created,
        decided=datetime.now(UTC).isoformat(timespec="seconds"),
        benchmark=benchmark.id,
        benchmark_version=benchmark.spec.version,
        items=plan.whole.of,
        checked=len(plan.sample),
        runs=tuple(run.name for run in plan.runs),
        scores=plan.scores.path if plan.scores else None,
        limit=plan.limit,
        confidence=plan.confidence,
        right=plan.right,
        verdict=plan.verdict,
        provenance=dict(sample.provenance),
        truths_sha256=sample.truths_sha256,
        walks=tuple(walks.values()),
        curve=tuple(_curve(plan, sample, counting)),
        outcome=outcome,
        needed=None if outcome else needed_items(plan, sample, counting),
        warnings=tuple(warnings_of(plan, sample, walks)),
    )


def is_decision(path: Path) -> bool:
    """Return whether a file begins like a decision, or like the `applied.json` beside one.

    For the latter, the error of `read_decision_data` says which file is wanted.
    """
    try:
        with open_regular(path) as file:
            return _BEGIN.match(file.read(100)) is not None
    except OSError:
        return False


def read_decision_data(path: Path) -> Any:
    """Return what is in a file that `hdbench trust decide --json` wrote.

    Raises:
        HdbenchError: it cannot be read, or is not a decision; for files beside a decision, such as
            `applied.json` or a plan, the message says which file is wanted.
    """
    check_file(path, MAX_FILE, Message("a decision"))
    not_a_decision = HdbenchError(
        "{place}: not a decision: give the file that hdbench trust decide --json wrote, or "
        "decision.json from the folder of hdbench trust apply",
        place=path,
    )
    with read_errors(path):
        raw = path.read_bytes()
    try:
        data = parse_json(raw.decode())
    except ValueError as error:
        if is_sealed(raw):
            raise not_a_decision from error
        raise HdbenchError(
            "{place}: not JSON: {why}", place=path, why=json_reason(error)
        ) from error
    if isinstance(data, dict):
        if "decision" not in data:
            raise not_a_decision
        check_written_by(data.get("hdbench"), path, Message("plan and decide again"))
    return data


def _curve(plan: Plan, sample: CheckedSample, counting: Walk) -> Iterator[CurvePoint]:
    columns = counting.columns(plan)
    for threshold in plan.grid:
        if passing(sample.scores[:, columns], threshold).any():
            yield _point(plan, sample, columns, threshold)


def _point(
    plan: Plan, sample: CheckedSample, columns: Sequence[int], threshold: float
) -> CurvePoint:
    passes = passing(sample.scores[:, columns], threshold)
    number = int(passes.sum())
    share = number / (len(plan.sample) * len(plan.fields))
    in_population = share * plan.whole.of * len(plan.fields)
    wrong = {}
    for right in RIGHTS:
        errors = passes & sample.wrong[right][:, columns]
        count = int(errors.sum())
        upper = upper_bound(passes.sum(axis=1), errors.sum(axis=1), plan.confidence)
        wrong[right] = Wrong(
            count=count,
            rate=count / number,
            upper=upper,
            in_whole=round(count / number * in_population),
            at_most_in_whole=round(upper * in_population),
        )
    return CurvePoint(threshold=threshold, passing=number, share=share, wrong=wrong)


def _outcome(plan: Plan, sample: CheckedSample, counting: Walk) -> Outcome | None:
    threshold = counting.threshold
    if threshold is None:
        return None
    point = _point(plan, sample, counting.columns(plan), threshold)
    of_whole = plan.whole.of * len(plan.fields)
    by_path = by_field(plan, sample, plan.right, threshold, plan.confidence)
    return Outcome(
        threshold=threshold,
        fields=counting.fields,
        values=len(plan.sample) * len(plan.fields),
        passing=point.passing,
        share=point.share,
        untouched_items=0
        if counting.left_out
        else int(passing(sample.scores, threshold).all(axis=1).sum()),
        wrong=point.wrong,
        of_whole=of_whole,
        passing_in_whole=round(point.share * of_whole),
        by_field={name: by_path[name] for name in counting.fields},
    )


TWINS = 0.5
"""Share of errors with the same wrong value above which two runs are not independent."""

SMALL_WHOLE = 0.1
"""Betting treats items as if they were drawn from an infinite population; above this share of the
population, that does not hold."""


def warnings_of(plan: Plan, sample: CheckedSample, walks: Walks) -> Iterator[Warned]:
    """Yield all warnings, the most serious first.

    Args:
        plan: the plan.
        sample: the checked sample.
        walks: all walks.
    """
    items = len(plan.sample)
    if sample.known:
        values = {"known": sample.known, "items": items}
        yield Warned(key="known", values=values, voids=True)
    if plan.as_planned is None:
        yield Warned.of("not_sealed", version=plan.hdbench)
    for how, number in sorted(sample.provenance.items()):
        if how != BLIND:
            provenance = None if how == UNKNOWN else how
            yield Warned.of("not_blind", number=number, items=items, how=provenance)
    yield from shared_warnings(plan, "twins", sample.shared_errors)
    if items > SMALL_WHOLE * plan.whole.of:
        key = "small_whole_exact" if plan.verdict == "exact" else "small_whole"
        yield Warned.of(key, items=items, of=plan.whole.of)
    yield from _verdict_warnings(plan, walks)
    yield from _field_warnings(plan, sample, walks[plan.right, plan.verdict])
    if sample.without_truth:
        names = ", ".join(plan.fields[column] for column in sample.without_truth)
        yield Warned.of("without_truth", items=items, fields=names)
    unanswered = [
        {"name": run.name, "number": number}
        for run, number in zip(plan.runs, sample.unanswered, strict=True)
        if number
    ]
    if unanswered:
        yield Warned.of("unanswered", runs=unanswered, items=items)
    if plan.several_values:
        names = ", ".join(plan.several_values[:5])
        yield Warned.of("several_values", count=len(plan.several_values), fields=names)


def shared_warnings(
    plan: PlanTerms, key: str, shared: Mapping[tuple[int, int], SharedErrors]
) -> Iterator[Warned]:
    """Yield a warning about each pair of runs that make the same errors.

    Args:
        plan: the plan.
        key: the key of the warning.
        shared: positions of two runs → their errors.
    """
    for (one, other), errors in shared.items():
        if errors.same > TWINS * errors.either:
            pair = {"one": plan.runs[one].name, "other": plan.runs[other].name}
            yield Warned.of(key, **pair, **errors._asdict())


def _verdict_warnings(plan: Plan, walks: Walks) -> Iterator[Warned]:
    """Yield warnings about a promise that is weaker by another verdict or criterion."""
    threshold = walks[plan.right, plan.verdict].threshold
    if threshold is None:
        return
    if plan.verdict == "rule":
        exact = walks[plan.right, "exact"].threshold
        if exact is None:
            yield Warned.of("exact_accepts_none", threshold=threshold)
        elif exact > threshold:
            yield Warned.of("exact_is_stricter", threshold=threshold, exact=exact)
    if plan.right == "threshold":
        yield Warned.of("by_threshold")


def _field_warnings(plan: Plan, sample: CheckedSample, counting: Walk) -> Iterator[Warned]:
    """Yield warnings about fields that are left out, and fields that may be above the limit."""
    if counting.left_out:
        left_out = [
            {"name": name, "share": bounds.lower} for name, bounds in counting.left_out.items()
        ]
        yield Warned.of("fields_left_out", fields=left_out)
    if counting.threshold is None:
        return
    results = by_field(plan, sample, plan.right, counting.threshold, plan.confidence)
    above = [
        {"name": name, "share": results[name].share.upper}
        for name in counting.fields
        if results[name].passing and results[name].share.upper > plan.limit
    ]
    if above:
        yield Warned.of("fields_above", fields=above)
