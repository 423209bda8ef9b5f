"""The decision: what may be taken over, with everything that it rests on, as plain data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.provenance import BLIND
from hdbench.common.checked import Strict, check_file, validate
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import open_regular
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
from hdbench.trust.checked import UNKNOWN, CheckedSample, Flags, check_sample
from hdbench.trust.plan import MAX_LIMIT, RIGHTS, Plan, Right, VerdictName, verdict_of
from hdbench.trust.runs import Runs
from hdbench.trust.sealed import is_sealed

VERDICTS: tuple[VerdictName, ...] = ("rule", "exact")

FACTORS = (1.25, 1.5, 2, 3, 4, 6, 10)
"""Sizes of larger samples that are tried out, as multiples of the sample's."""

DRAWS = 200
"""Number of draws of each size."""

CHANCE = 0.8
"""Share of draws in which something must pass for a size to be recommended."""


class Walk(Strict):
    """A walk down the thresholds.

    Attributes:
        right: by which way of being right.
        verdict: by which verdict.
        fields: the paths of the fields that are in.
        left_out: path of each other field → the bounds of its share of wrong values among those
            with the highest score.
        steps: the thresholds that were looked at.
        threshold: the one to use; None if nothing can be taken over.
    """

    right: Right
    verdict: VerdictName
    fields: tuple[str, ...]
    left_out: dict[str, ShareBounds]
    steps: tuple[Step, ...]
    threshold: float | None

    def places(self, plan: Plan) -> list[int]:
        """Return the places of the fields that are in, among those of the plan."""
        return [plan.fields.index(name) for name in self.fields]


Walks = Mapping[tuple[Right, VerdictName], Walk]
"""All walks, by the way of being right and the verdict."""


@dataclass(frozen=True)
class FieldResult:
    """The values of one field that pass.

    Attributes:
        passing: how many.
        wrong: how many of these are wrong.
        empty: how many of them are empty.
        wrong_empty: how many of these are wrong.
        share: the bounds of the share of wrong values among those that pass.
    """

    passing: int
    wrong: int
    empty: int
    wrong_empty: int
    share: ShareBounds


def walks_of(plan: Plan, sample: CheckedSample) -> Walks:
    """Return all walks: for both ways of being right, and by both verdicts."""
    return {
        (right, verdict): walk_of(plan, sample, right, verdict)
        for right in RIGHTS
        for verdict in VERDICTS
    }


def walk_of(plan: Plan, sample: CheckedSample, right: Right, verdict: VerdictName) -> Walk:
    """Walk with all fields that are not certainly too bad.

    By the rule, a field is left out if even the lower bound of its share of wrong values, among
    those with the highest score, is above the limit. The bounds hold for all fields together
    (Bonferroni): a choice made by the same sample favors fields that happen to have few errors in
    it, and with 100 fields that are all just above the limit, bounds that hold for one field each
    broke 29 of 100 promises instead of 10. The exact verdict leaves out none, as no such choice
    goes with a promise without assumptions.
    """
    of_all = 1 - (1 - plan.confidence) / len(plan.fields)
    first = by_field(plan, sample, right, plan.grid[0], of_all) if verdict == "rule" else {}
    left_out = {
        name: found.share for name, found in first.items() if found.share.lower > plan.limit
    }
    places = [place for place, name in enumerate(plan.fields) if name not in left_out]
    steps = (
        walk(
            sample.scores[:, places],
            sample.wrong[right][:, places],
            verdict_of(plan, verdict, len(places)),
            least=plan.least_items,
            grid=plan.grid,
        )
        if places
        else []
    )
    chosen = last_accepted(steps)
    return Walk(
        right=right,
        verdict=verdict,
        fields=tuple(plan.fields[place] for place in places),
        left_out=left_out,
        steps=tuple(steps),
        threshold=chosen.threshold if chosen else None,
    )


def by_field(
    plan: Plan, sample: CheckedSample, right: Right, threshold: float, confidence: float
) -> dict[str, FieldResult]:
    """Return path → the values of that field at a threshold.

    The bounds of a field by itself are exact, as an item has one value of it.
    """
    passes = passing(sample.scores, threshold)
    wrong = passes & sample.wrong[right]
    flags = (passes, wrong, passes & sample.empty, wrong & sample.empty)
    counts = zip(plan.fields, *(each.sum(axis=0).tolist() for each in flags), strict=True)
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


def needed_items(plan: Plan, sample: CheckedSample, found: Walk) -> int | None:
    """Return how many items a sample would need for something to pass, most likely.

    Larger samples are drawn, with replacement, from the items that were checked: an estimate, only
    as good as these items represent the whole. Something passes if the strictest threshold does,
    as the walk begins there.

    Returns:
        None if none of the sizes that are tried is large enough: they are at most ten times the
        sample's, and no larger than the whole.
    """
    if not found.fields:
        return None
    items, places = len(sample.scores), found.places(plan)
    passes = passing(sample.scores[:, places], plan.grid[0])
    of_item = passes.sum(axis=1)
    wrong = (passes & sample.wrong[plan.right][:, places]).sum(axis=1)
    verdict = verdict_of(plan, plan.verdict, len(places))
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
    """Wrong values among those that pass, by one way of being right.

    Attributes:
        count: how many.
        rate: the share, 0.0 to 1.0.
        upper: the rule's upper bound of the share. It is a promise only for the way of being right
            that counts: the threshold was not chosen by the other one.
        in_whole: the rate times the number of values that would be taken over in the whole.
        at_most_in_whole: the upper bound times it.
    """

    count: Count
    rate: Share
    upper: Share
    in_whole: Count
    at_most_in_whole: Count


OfEach = Annotated[dict[Right, Wrong], Checked(min_length=len(RIGHTS))]
"""For each way of being right, how many values are wrong by it."""


class CurvePoint(Strict):
    """Figures of one threshold in the sample, whether the walk came to it or not.

    A promise it is only at the threshold that the walk chose: figures of the others describe the
    sample.

    Attributes:
        threshold: the least trust score.
        passing: how many values of the fields that are in pass; at least one.
        share: the share of all values of the plan's fields that passes, 0.0 to 1.0.
        wrong: to the letter and by the benchmark's threshold.
    """

    threshold: Share
    passing: Count
    share: Share
    wrong: OfEach


class Outcome(Strict):
    """The values that are taken over.

    Attributes:
        threshold: the least trust score.
        fields: the fields of which values are taken over.
        values: how many values of the plan's fields the sample has, also of those left out since.
        passing: how many of them pass.
        share: the share that passes, 0.0 to 1.0.
        untouched_items: how many items have all values of the plan's fields taken over; 0 if a
            field was left out.
        wrong: to the letter and by the threshold.
        of_whole: how many values of the plan's fields the whole has.
        passing_in_whole: the share times it.
        by_field: path → what becomes of its values, by the way of being right that counts.
    """

    threshold: Share
    fields: tuple[str, ...]
    values: Count
    passing: Count
    share: Share
    untouched_items: Count
    wrong: OfEach
    of_whole: Count
    passing_in_whole: Count
    by_field: dict[str, FieldResult]


class Warned(Strict):
    """Something to know before the decision is used.

    Attributes:
        key: of the text, in `translations/trust.yaml`.
        values: of its placeholders.
        voids: whether the promise does not hold because of it.
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
        plan_file: where it was.
        created: when the plan was made.
        decided: when the decision was computed; None in files that do not say it yet.
        benchmark: what was decided for.
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
        truths_sha256: of the truths.
        walks: all of them; the one whose `right` and `verdict` the plan names counts.
        curve: what each threshold of the plan gives that any value of the sample reaches, from
            strict to loose, for the fields of the walk that counts; empty if no field is in.
        outcome: what is taken over; None if that is nothing.
        needed: how many items a sample would need for something to pass, most likely; None if
            something does, or if no size that was tried is large enough.
        warnings: what to know.
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
        of = {(walk.right, walk.verdict): walk for walk in self.walks}
        counting = of.get((self.right, self.verdict))
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
        return next(each for each in self.walks if (each.right, each.verdict) == wanted)

    @property
    def holds(self) -> bool:
        """Return whether the promise holds: no warning says otherwise."""
        return not any(warned.voids for warned in self.warnings)


def decide(plan: Plan, benchmark: Benchmark, where: Path, opened: Runs | None = None) -> Decision:
    """Decide by a plan, from the truth of its sample.

    Args:
        plan: the plan.
        benchmark: the items, those of the sample with their truth.
        where: the plan's file.
        opened: the plan's runs, if they are open already.

    Raises:
        HdbenchError: nothing can be promised; see `check_sample`.
    """
    sample = check_sample(plan, benchmark, where, opened)
    walks = walks_of(plan, sample)
    counts = walks[plan.right, plan.verdict]
    outcome = _outcome(plan, sample, counts)
    return Decision(
        hdbench=__version__,
        plan=plan.hash(),
        plan_file=str(where),
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
        curve=tuple(_curve(plan, sample, counts)),
        outcome=outcome,
        needed=None if outcome else needed_items(plan, sample, counts),
        warnings=tuple(warnings_of(plan, sample, walks)),
    )


def is_decision(path: Path) -> bool:
    """Return whether a file begins as a decision, or as the `applied.json` that is beside one.

    For the latter, `read_decision` says which file is wanted.
    """
    try:
        with open_regular(path) as file:
            return _BEGIN.match(file.read(100)) is not None
    except OSError:
        return False


def read_decision(path: Path) -> Decision:
    """Return the decision in a file that `hdbench trust decide --json` wrote.

    Raises:
        HdbenchError: it cannot be read, or is none; for what stands beside a decision, such as
            `applied.json` or a plan, the message says which file is wanted.
    """
    check_file(path, MAX_FILE, Message("a decision"))
    another = HdbenchError(
        "{place}: not a decision: give the file that hdbench trust decide --json wrote, or "
        "decision.json from the folder of hdbench trust apply",
        place=path,
    )
    with read_errors(path):
        data = path.read_bytes()
    try:
        said = parse_json(data.decode())
    except ValueError as error:
        if is_sealed(data):
            raise another from error
        raise HdbenchError(
            "{place}: not JSON: {why}", place=path, why=json_reason(error)
        ) from error
    if isinstance(said, dict) and "decision" not in said:
        raise another
    return validate(Decision, said, path)


def _curve(plan: Plan, sample: CheckedSample, found: Walk) -> Iterator[CurvePoint]:
    places = found.places(plan)
    for threshold in plan.grid:
        if passing(sample.scores[:, places], threshold).any():
            yield _point(plan, sample, places, threshold)


def _point(
    plan: Plan, sample: CheckedSample, fields: Sequence[int], threshold: float
) -> CurvePoint:
    passes = passing(sample.scores[:, fields], threshold)
    number = int(passes.sum())
    share = number / (len(plan.sample) * len(plan.fields))
    whole = share * plan.whole.of * len(plan.fields)
    wrong = {}
    for right in RIGHTS:
        errors = passes & sample.wrong[right][:, fields]
        count = int(errors.sum())
        upper = upper_bound(passes.sum(axis=1), errors.sum(axis=1), plan.confidence)
        wrong[right] = Wrong(
            count=count,
            rate=count / number,
            upper=upper,
            in_whole=round(count / number * whole),
            at_most_in_whole=round(upper * whole),
        )
    return CurvePoint(threshold=threshold, passing=number, share=share, wrong=wrong)


def _outcome(plan: Plan, sample: CheckedSample, found: Walk) -> Outcome | None:
    threshold, places = found.threshold, found.places(plan)
    if threshold is None:
        return None
    point = _point(plan, sample, places, threshold)
    of_whole = plan.whole.of * len(plan.fields)
    by_path = by_field(plan, sample, plan.right, threshold, plan.confidence)
    return Outcome(
        threshold=threshold,
        fields=found.fields,
        values=len(plan.sample) * len(plan.fields),
        passing=point.passing,
        share=point.share,
        untouched_items=0
        if found.left_out
        else int(passing(sample.scores, threshold).all(axis=1).sum()),
        wrong=point.wrong,
        of_whole=of_whole,
        passing_in_whole=round(point.share * of_whole),
        by_field={name: by_path[name] for name in found.fields},
    )


TWINS = 0.5
"""Share of errors with the same wrong value above which two runs count as one opinion."""

SMALL_WHOLE = 0.1
"""Betting takes items as if they were drawn from a population without end; above this share of the
population, that does not hold."""


def warnings_of(plan: Plan, sample: CheckedSample, walks: Walks) -> Iterator[Warned]:
    """Yield all warnings, the gravest first.

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
            said = None if how == UNKNOWN else how
            yield Warned.of("not_blind", number=number, items=items, how=said)
    for (one, other), errors in sample.shared_errors.items():
        if errors.same > TWINS * errors.either:
            pair = {"one": plan.runs[one].name, "other": plan.runs[other].name}
            yield Warned.of("twins", **pair, **errors._asdict())
    if items > SMALL_WHOLE * plan.whole.of:
        key = "small_whole_exact" if plan.verdict == "exact" else "small_whole"
        yield Warned.of(key, items=items, of=plan.whole.of)
    counts = walks[plan.right, plan.verdict]
    yield from _of_verdicts(plan, walks)
    yield from _of_fields(plan, sample, counts)
    if sample.without_truth:
        names = ", ".join(plan.fields[place] for place in sample.without_truth)
        yield Warned.of("without_truth", items=items, fields=names)
    without = [
        {"name": run.name, "number": number}
        for run, number in zip(plan.runs, sample.unanswered, strict=True)
        if number
    ]
    if without:
        yield Warned.of("unanswered", runs=without, items=items)
    if plan.several_values:
        names = ", ".join(plan.several_values[:5])
        yield Warned.of("several_values", count=len(plan.several_values), fields=names)


def _of_verdicts(plan: Plan, walks: Walks) -> Iterator[Warned]:
    """Yield where the verdict that does not count says less than the one that does."""
    other: VerdictName = "exact" if plan.verdict == "rule" else "rule"
    counts = walks[plan.right, plan.verdict].threshold
    beside = walks[plan.right, other].threshold
    if counts is None:
        return
    if other == "exact" and beside is None:
        yield Warned.of("exact_accepts_none", threshold=counts)
    elif other == "exact" and beside is not None and beside > counts:
        yield Warned.of("exact_is_stricter", threshold=counts, exact=beside)
    if plan.right == "threshold":
        yield Warned.of("by_threshold")


def _of_fields(plan: Plan, sample: CheckedSample, counts: Walk) -> Iterator[Warned]:
    """Yield fields that are left out, and those that the promise about all of them hides."""
    if counts.left_out:
        left_out = [
            {"name": name, "share": bounds.lower} for name, bounds in counts.left_out.items()
        ]
        yield Warned.of("fields_left_out", fields=left_out)
    if counts.threshold is None:
        return
    found = by_field(plan, sample, plan.right, counts.threshold, plan.confidence)
    above = [
        {"name": name, "share": found[name].share.upper}
        for name in counts.fields
        if found[name].passing and found[name].share.upper > plan.limit
    ]
    if above:
        yield Warned.of("fields_above", fields=above)
