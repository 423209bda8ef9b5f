"""The decision: which values may be accepted, with all that this rests on."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench import __version__
from hdbench.annotating.checking.checked_values import CheckedValues, Settled
from hdbench.annotating.checking.queue import ReadingStage, mark_of
from hdbench.annotating.events import ValueKey
from hdbench.answers.entries import put
from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.common.checked import Strict, check_file, validate
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.letters import Case, folded, text_of
from hdbench.common.os_errors import read_errors
from hdbench.common.progress import tell
from hdbench.common.regular_files import open_regular
from hdbench.common.written_by import check_written_by
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.metric import Metric
from hdbench.statistics.share_of_unread import CONFIDENCE, most_wrong, upper_share
from hdbench.trust.cuts import (
    BILLION,
    UNANSWERED,
    Billionths,
    Count,
    Cut,
    Probabilities,
    Share,
    walk_cuts,
)
from hdbench.trust.learned_files import learned_file, open_verification, read_learning
from hdbench.trust.learning import (
    CutGroup,
    Expected,
    Learned,
    Learning,
    Readings,
    Sign,
    StageReadings,
    check_first_draw,
    choices,
    outcomes_of,
    outcomes_sha256,
    positions_of,
    second_reading,
    stage_readings,
)
from hdbench.trust.ledger import Ledger, readings_sha256
from hdbench.trust.plan import EXAMPLE_DRAW, MAX_LIMIT, MAX_TRIES, RIGHTS, Plan, Right
from hdbench.trust.runs import Judged, Runs, opened_runs
from hdbench.trust.sealed import Sha256, is_sealed
from hdbench.trust.values import ItemField, texts_of

WHAT_IF = (0.02, 0.03, 0.05, 0.1)
"""Other limits, of which the decision says what the same sample would have allowed."""

MOST_EXAMPLES = 5
"""Number of accepted values that were wrong which are shown."""

MAX_EXAMPLE = 500
"""Maximum number of characters of a value in an example."""

TWINS = 0.5
"""Share of errors with the same wrong value above which two runs are not independent."""

FEW_AGREE = 0.9
"""Share of the values read twice that two people should agree on at least."""


MOVABLE = {"hdbench", "plan_file", "decided", "benchmark", "benchmark_version"}
"""Keys that may differ when it is decided again."""

_BEGIN = re.compile(rb'\s*\{\s*("decision":|"hdbench":\s*"[^"]*",\s*"finished":)')

MAX_FILE = 64 * 2**20
"""Maximum size in bytes of a decision."""


class SharedErrors(NamedTuple):
    """The errors of two runs.

    Attributes:
        same: how often both have the same wrong value.
        either: how often at least one of them is wrong.
    """

    same: int
    either: int


class ReadCut(Cut):
    """What reading showed at one cut.

    Attributes:
        read: how many of the unread values were read in the second stage.
        wrong: how many of these are wrong, by each criterion.
        upper: the upper bound of the share of wrong values among those that nobody has read, 0.0 to
            1.0.
        accepted: whether the cut passes.
    """

    read: Count
    wrong: Annotated[dict[Right, Count], Checked(min_length=len(RIGHTS))]
    upper: Share
    accepted: bool


class GroupDecision(Strict):
    """The decision about fields that are promised together.

    Attributes:
        fields: their paths.
        cuts: the cuts that were looked at, from strict to loose; only the last one can have failed.
        cut: the loosest that passed; None if nothing is accepted.
    """

    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    cuts: Annotated[tuple[ReadCut, ...], Checked(min_length=1)]
    cut: Billionths | None

    @property
    def chosen(self) -> ReadCut | None:
        """Return the cut that is used."""
        return next((cut for cut in self.cuts if cut.probability == self.cut), None)


class WrongAccepted(Strict):
    """Wrong values among those that are accepted, by one criterion.

    Attributes:
        count: how many of the values that were read are wrong.
        rate: the share of them, 0.0 to 1.0.
        expected: the rate times the number of accepted values.
        at_most: the upper bound of the number of wrong values among those accepted. By the
            criterion that does not count, it is no promise.
    """

    count: Count
    rate: Share
    expected: Count
    at_most: Count


class AcceptedField(Strict):
    """The accepted values of one field.

    Attributes:
        values: how many values the field has in the collection.
        accepted: how many of them are accepted.
        read: how many values at or below the cut were read in the second stage.
        wrong: how many of these are wrong.
        upper: the upper bound of the share of wrong values among those accepted; all bounds
            together hold with the confidence of the decision.
        promised: whether the field keeps the limit alone.
    """

    values: Count
    accepted: Count
    read: Count
    wrong: Count
    upper: Share
    promised: bool


class WhatIf(Strict):
    """What the same sample would have allowed at another limit; no promise.

    Attributes:
        limit: the limit.
        accepted: how many values.
    """

    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    accepted: Count


class WrongExample(Strict):
    """A value that would have been accepted, and is wrong.

    Attributes:
        item: the item's id.
        field: the field's path.
        value: the value that the models gave.
        truth: what people read; None where they could not.
        outcome: what came of their reading.
    """

    item: str
    field: str
    value: str
    truth: str | None
    outcome: Literal["value", "unreadable", "damaged", "unsettled"]


class Warned(Strict):
    """Something to know before the decision is used.

    Attributes:
        key: the key of the text in `texts/trust.yaml`.
        values: the values of its placeholders.
    """

    key: str
    values: dict[str, Any]

    @classmethod
    def of(cls, key: str, /, **values: Any) -> Self:
        """Return a warning with some values."""
        return cls(key=key, values=values)


class Decision(Strict):
    """A decision.

    Attributes:
        hdbench: the version that decided.
        plan: the plan's hash.
        learned: the hash of what it has learned.
        plan_file: the path of the plan.
        created: when the plan was made.
        decided: when the decision was computed.
        benchmark: the benchmark.
        benchmark_version: its version.
        items: how many items it has.
        unanswered: how many of them no run answered.
        values: how many values of the plan's fields there are, those without answer included.
        runs: the runs' names, in order of preference.
        runs_usd: what these cost together, in US dollars; None if that is not known of one.
        limit: see `Plan`.
        confidence: see `Plan`.
        tries: see `Plan`.
        right: see `Plan`.
        case: see `Plan`.
        each_field: see `Plan`.
        source: the benchmark that it learned from; None for the first stage.
        learned_from: how many values it learned from.
        learned_wrong: how many of these were wrong, to the letter.
        first: what people read in the first stage; None with a source.
        second: what people read in the second stage.
        readings_sha256: sha256 of the readings of the second stage, which are closed.
        seed: the seed of all draws.
        plans: how many plans had been made for these items.
        groups: the decision about fields that are promised together.
        accepted: how many values are accepted that nobody has read.
        read: how many values people have read in both stages.
        to_look_at: all other values, which a person has to look at, and what is expected of them;
            where no run answered, they count as wrong.
        wrong: wrong values among the accepted ones, by each criterion; empty if nothing is.
        by_field: path → its accepted values; empty if nothing is accepted.
        what_if: what other limits would have allowed.
        examples: accepted values that were wrong, drawn at random.
        expected: what was expected of all values.
        expected_by_field: path → what was expected of its values.
        expected_by_sign: sign of trouble → what was expected of the values that show it.
        warnings: what to know, the most serious first.
    """

    decision: Literal[1] = 1
    hdbench: str
    plan: Sha256
    learned: Sha256
    plan_file: str
    created: str
    decided: str
    benchmark: str
    benchmark_version: str
    items: Annotated[Count, Checked(ge=1)]
    unanswered: Count
    values: Annotated[Count, Checked(ge=1)]
    runs: tuple[str, ...]
    runs_usd: Annotated[float | None, Checked(ge=0)] = None
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    tries: Annotated[int, Checked(ge=1, le=MAX_TRIES)]
    right: Right
    case: Case
    each_field: bool
    source: str | None
    learned_from: Count
    learned_wrong: Count
    first: StageReadings | None
    second: StageReadings
    readings_sha256: Sha256
    seed: Annotated[int, Checked(ge=0)]
    plans: Annotated[Count, Checked(ge=1)]
    groups: Annotated[tuple[GroupDecision, ...], Checked(min_length=1)]
    accepted: Count
    read: Count
    to_look_at: Expected
    wrong: dict[Right, WrongAccepted]
    by_field: dict[str, AcceptedField]
    what_if: tuple[WhatIf, ...]
    examples: Annotated[tuple[WrongExample, ...], Checked(max_length=MOST_EXAMPLES)]
    expected: Expected
    expected_by_field: dict[str, Expected]
    expected_by_sign: dict[Sign, Expected]
    warnings: tuple[Warned, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        passes = any(group.chosen for group in self.groups)
        if self.accepted and not (passes and len(self.wrong) == len(RIGHTS)):
            raise PydanticCustomError("decision", "accepted: does not follow from the cuts", {})
        return self

    @property
    def seconds(self) -> float | None:
        """Return the median of the seconds that a person took for a value; None if unknown."""
        measured = [stage.seconds for stage in (self.second, self.first) if stage is not None]
        return next((seconds for seconds in measured if seconds is not None), None)

    def seal(self) -> str:
        """Return the hash of all but the times and places."""
        return hashlib.sha256(self.model_dump_json(exclude=MOVABLE).encode()).hexdigest()

    @property
    def cuts(self) -> dict[str, int]:
        """Return path → the cut of each field of which values are accepted, in billionths."""
        return {
            name: group.cut
            for group in self.groups
            if group.cut is not None
            for name in group.fields
        }


class _ReadValue(NamedTuple):
    """A value of the second stage.

    Attributes:
        key: the value.
        probability: its probability, in billionths.
        text: the text that would be accepted.
        outcome: what came of the readings.
        wrong: whether it is wrong, by each criterion.
    """

    key: ValueKey
    probability: int
    text: str
    outcome: Settled
    wrong: dict[Right, bool]


def is_decision(path: Path) -> bool:
    """Return whether a file begins like a decision, or like the `applied.json` beside one.

    For the latter, the error of `read_decision` says which file is wanted.
    """
    try:
        with open_regular(path) as file:
            return _BEGIN.match(file.read(100)) is not None
    except OSError:
        return False


def read_decision(path: Path) -> Decision:
    """Return the decision in a file that `hdbench trust decide --json` wrote.

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
    return validate(Decision, data, path)


def decide(
    plan: Plan,
    benchmark: Benchmark,
    plan_file: Path,
    *,
    learning: Learning | None = None,
    runs: Runs | None = None,
) -> Decision:
    """Decide by a plan, from the values that people read.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file; what it has learned is beside it.
        learning: what it has learned, if that is read, see `read_learning`.
        runs: the runs of the plan, if they are open.

    Raises:
        HdbenchError: nothing was learned yet, or values are not read yet; the list of items, the
            runs, sealed files or readings have changed since.
    """
    known = learning or read_learning(plan, benchmark, plan_file)
    ledger = open_verification(plan, known.learned, benchmark, plan_file)
    decision, closing = decided(
        plan, benchmark, plan_file, ledger=ledger, learning=known, runs=runs
    )
    ledger.add("readings", plan.hash(), decision.readings_sha256, closing)
    ledger.add("decision", plan.hash(), decision.seal())
    return decision


def decided(
    plan: Plan,
    benchmark: Benchmark,
    plan_file: Path,
    *,
    ledger: Ledger,
    learning: Learning,
    runs: Runs | None = None,
) -> tuple[Decision, list[str]]:
    """Return the decision by a plan, and the ids of the readings that it rests on.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.
        ledger: the ledger; if the readings are closed there, others change nothing.
        learning: what it has learned.
        runs: the runs of the plan, if they are open.

    Raises:
        HdbenchError: see `decide`.
    """
    learned, probabilities = learning
    readings = _readings(plan, learned, ledger, benchmark)
    ids = list(benchmark.ids())
    first: dict[ValueKey, Settled] = {}
    if plan.source is None:
        stage = ReadingStage("learn", plan.first_stage, plan.case)
        first = outcomes_of(stage, readings, benchmark, plan_file)
        if outcomes_sha256(first) != learned.readings_sha256:
            raise HdbenchError(
                "{benchmark}: what people read of the first stage is not what {place} has learned "
                "from: restore the folder people",
                benchmark=benchmark.id,
                place=plan_file,
            )
    outcomes = outcomes_of(second_reading(plan, learned), readings, benchmark, plan_file)
    opening = (
        nullcontext(runs) if runs else opened_runs(plan.runs, plan.fields, benchmark, plan_file)
    )
    used = [line for key in learned.second_stage for line in readings[key]]
    with opening as opened:
        check_first_draw(plan, opened, ids, plan_file)
        places = positions_of(outcomes, plan.fields, ids)
        flat = probabilities.ravel()
        chances = [int(flat[place]) for place in places]
        read = list(_read_values(outcomes, chances, opened, plan.case))
        if tuple(mark_of(value.text, plan.case) for value in read) != learned.chosen:
            raise HdbenchError(
                "{place}: its marks are not those of what the runs say: restore it",
                place=learned_file(plan_file),
            )
        # Not those of the second stage, which were drawn where the runs agree.
        twins = _shared_errors(first, opened, plan.case)
    groups = [_group_decision(plan, learned, group, read, plan.limit) for group in learned.groups]
    unread = probabilities.copy()
    unread.ravel()[positions_of(plan.read_first, plan.fields, ids)] = UNANSWERED
    decision = _decision(
        plan,
        learned,
        groups,
        read,
        unread,
        runs_usd=opened.usd,
        places=places,
        benchmark=benchmark,
        plan_file=plan_file,
        second=stage_readings(outcomes, readings, plan.case),
        sha256=readings_sha256(used),
        plans=ledger.plans_before(plan.hash()),
        twins=twins,
    )
    return decision, [line.id for line in used]


def _readings(plan: Plan, learned: Learned, ledger: Ledger, benchmark: Benchmark) -> Readings:
    """Return what people read for a plan: once it was decided, what they had read until then."""
    checked, closed = CheckedValues(benchmark.folder), ledger.of("readings", plan.hash())
    readings = checked.readings(plan.hash())
    second = [line for key in learned.second_stage for line in readings.get(key, ())]
    if closed is None:
        ids = [line.id for line in second]
    else:
        ids = list(closed.readings)
        if late := len({line.id for line in second} - set(ids)):
            tell(late_readings(late, closed.at))
    found = checked.readings_among(plan.hash(), [*learned.reading_ids, *ids])
    used = [line for key in learned.second_stage for line in found.get(key, ())]
    if closed and readings_sha256(used) != closed.seal:
        raise HdbenchError(
            "{benchmark}: what people read is not what was decided by on {at}: {count:,} readings "
            "have changed since: restore the folder people",
            benchmark=benchmark.id,
            at=closed.at,
            count=len({line.id for line in used} ^ set(ids)) or len(ids),
        )
    return found


def late_readings(count: int, at: str) -> Message:
    """Return that people read on after something was decided."""
    return Message(
        "{count:,} reading has changed since it was decided on {at}; it changes nothing",
        plural="{count:,} readings have changed since it was decided on {at}; they change nothing",
        count=count,
        at=at,
    )


def _read_values(
    outcomes: Mapping[ValueKey, Settled], probabilities: Sequence[int], runs: Runs, case: Case
) -> Iterator[_ReadValue]:
    fields = {field.path: field for field in runs.fields}
    choice_of = choices(runs, outcomes)
    for (key, outcome), chance, choice in zip(
        outcomes.items(), probabilities, choice_of, strict=True
    ):
        wrong = is_wrong(runs.metric, fields[key.field], choice, outcome, case)
        yield _ReadValue(key, chance, choice.text, outcome, wrong)


def wrong_values(
    metric: Metric, item: Item, judged: Sequence[Judged], fields: Sequence[ItemField], case: Case
) -> dict[Right, list[bool]]:
    """Return whether each value of an item is wrong, by each criterion."""
    true = texts_of(metric.right_answer(item.reference(metric.protocol)), fields)
    pairs = zip(judged, true, strict=True)
    letter = [folded(choice.text, case) != folded(text, case) for choice, text in pairs]
    threshold = wrong_by_metric(metric, item, judged, fields) or letter
    return {"letter": letter, "threshold": threshold}


def wrong_by_metric(
    metric: Metric, item: Item, judged: Sequence[Judged], fields: Sequence[ItemField]
) -> list[bool] | None:
    """Return whether the metric counts each value as wrong; None if it leaves the item out."""
    prepared = metric.prepare(item.reference(metric.protocol))
    if prepared is None:
        return None
    score = metric.score(as_record(judged, fields), prepared)
    wrong = {
        re.sub(r"\[\d+\]", "", match.field)
        for match in metric.explain(score, prepared)
        if match.outcome != "correct"
    }
    return [
        any(path == field.path or path.startswith(f"{field.path}.") for path in wrong)
        for field in fields
    ]


def as_record(judged: Sequence[Judged], fields: Sequence[ItemField]) -> dict[str, Any]:
    """Return the values to take as one record."""
    record: dict[str, Any] = {}
    for choice, field in zip(judged, fields, strict=True):
        if choice.value is not None:
            put(record, field.names, choice.value)
    return record


def shared_errors(
    texts: Sequence[Sequence[Sequence[str] | None]], true: Sequence[Sequence[str]]
) -> dict[tuple[int, int], SharedErrors]:
    """Return how often errors of two runs coincide.

    Args:
        texts: for each item, the values of each run; None without an answer.
        true: for each item, the right values.
    """
    shared = {}
    for one, other in combinations(range(len(texts[0])), 2):
        same = either = 0
        for by_run, truths in zip(texts, true, strict=True):
            values, other_values = by_run[one], by_run[other]
            if values is None or other_values is None:
                continue
            for value, other_value, truth in zip(values, other_values, truths, strict=True):
                if value != truth or other_value != truth:
                    either += 1
                    same += value == other_value
        shared[one, other] = SharedErrors(same, either)
    return shared


def is_wrong(
    metric: Metric, field: ItemField, choice: Judged, outcome: Settled, case: Case
) -> dict[Right, bool]:
    """Return whether a value is wrong, by each criterion; what nobody could read is."""
    if outcome.outcome != "value":
        return dict.fromkeys(RIGHTS, True)
    letter = folded(choice.text, case) != folded(text_of(outcome.value), case)
    truth = as_record([Judged(outcome.value, "", None, None)], [field])
    by_metric = wrong_values(metric, Item("", truth), [choice], [field], case)["threshold"]
    return {"letter": letter, "threshold": by_metric[0]}


def _group_decision(
    plan: Plan, learned: Learned, group: CutGroup, read: Sequence[_ReadValue], limit: float
) -> GroupDecision:
    """Return the decision about a group of fields by what was read; see `walk_cuts`."""
    risk = plan.risk / len(learned.groups)
    of_group = [value for value in read if value.key.field in group.fields]
    probabilities = np.array([value.probability for value in of_group], np.int32)
    wrong = {right: np.array([value.wrong[right] for value in of_group], bool) for right in RIGHTS}
    unread = [(cut.probability, cut.unread) for cut in group.cuts]
    steps = walk_cuts(unread, probabilities, wrong[plan.right], limit, risk)
    cuts = tuple(
        ReadCut(
            **cut.model_dump(),
            read=step.read,
            wrong={
                right: int((flags & (probabilities <= cut.probability)).sum())
                for right, flags in wrong.items()
            },
            upper=upper_share(cut.unread, step.read, step.wrong, risk),
            accepted=step.accepted,
        )
        for cut, step in zip(group.cuts, steps, strict=False)  # it ends at the first that fails
    )
    passed = [cut.probability for cut in cuts if cut.accepted]
    return GroupDecision(fields=group.fields, cuts=cuts, cut=passed[-1] if passed else None)


def _accepted(groups: Sequence[GroupDecision]) -> int:
    return sum(cut.unread - cut.read for group in groups if (cut := group.chosen))


def _decision(
    plan: Plan,
    learned: Learned,
    groups: Sequence[GroupDecision],
    read: Sequence[_ReadValue],
    unread: Probabilities,
    *,
    runs_usd: float | None,
    places: Sequence[int],
    benchmark: Benchmark,
    plan_file: Path,
    second: StageReadings,
    sha256: str,
    plans: int,
    twins: Mapping[tuple[int, int], SharedErrors],
) -> Decision:
    cuts = {name: group.cut for group in groups for name in group.fields}
    unanswered = plan.items - learned.answered
    left = unread.copy()
    left.ravel()[places] = UNANSWERED
    passing = [
        value
        for value in read
        if (cut := cuts.get(value.key.field)) is not None and value.probability <= cut
    ]
    by_field = dict(_by_field(plan, learned, cuts, passing, unread)) if passing else {}
    decision = Decision(
        hdbench=__version__,
        plan=plan.hash(),
        learned=learned.hash(),
        plan_file=str(plan_file),
        created=plan.created,
        decided=datetime.now(UTC).isoformat(timespec="seconds"),
        benchmark=benchmark.id,
        benchmark_version=benchmark.spec.version,
        items=plan.items,
        unanswered=unanswered,
        values=plan.items * len(plan.fields),
        runs=tuple(run.name for run in plan.runs),
        runs_usd=runs_usd,
        limit=plan.limit,
        confidence=plan.confidence,
        tries=plan.tries,
        right=plan.right,
        case=plan.case,
        each_field=plan.each_field,
        source=plan.source.benchmark if plan.source else None,
        learned_from=learned.learned_from,
        learned_wrong=learned.wrong,
        first=learned.readings,
        second=second,
        readings_sha256=sha256,
        seed=plan.seed,
        plans=plans,
        groups=tuple(groups),
        accepted=_accepted(groups),
        read=len(plan.read_first) + len(learned.sample),
        to_look_at=_to_look_at(plan, cuts, left, unanswered * len(plan.fields)),
        wrong={right: _wrong_accepted(plan, groups, right) for right in RIGHTS} if passing else {},
        by_field=by_field,
        what_if=tuple(
            WhatIf(
                limit=limit,
                accepted=_accepted(
                    [_group_decision(plan, learned, group, read, limit) for group in learned.groups]
                ),
            )
            for limit in WHAT_IF
            if limit != plan.limit
        ),
        examples=tuple(_examples(passing, plan)),
        expected=learned.expected,
        expected_by_field=learned.by_field,
        expected_by_sign=learned.by_sign,
        warnings=(),
    )
    warnings = tuple(_warnings(plan, decision, twins))
    return decision.model_copy(update={"warnings": warnings})


def _to_look_at(
    plan: Plan, cuts: Mapping[str, int | None], left: Probabilities, unanswered: int
) -> Expected:
    """Return what is expected of the values that are neither accepted nor read.

    Args:
        plan: the plan.
        cuts: path → the cut of the field; None if none of its values are accepted.
        left: the probabilities of all values that were not read.
        unanswered: how many values have no answer.
    """
    limits = [UNANSWERED if (cut := cuts.get(name)) is None else cut for name in plan.fields]
    probabilities = left[left > np.array(limits)]
    values = len(probabilities) + unanswered
    wrong = float(probabilities.sum(dtype=np.int64)) / BILLION + unanswered
    return Expected(values=values, wrong=round(wrong / values, 6) if values else 0.0)


def _wrong_accepted(plan: Plan, groups: Sequence[GroupDecision], right: Right) -> WrongAccepted:
    """Return the wrong values among the accepted ones; the bounds of all groups hold together."""
    risk = plan.risk / len(groups)
    chosen = [cut for group in groups if (cut := group.chosen)]
    read, wrong = sum(cut.read for cut in chosen), sum(cut.wrong[right] for cut in chosen)
    expected = sum(
        cut.wrong[right] / cut.read * (cut.unread - cut.read) for cut in chosen if cut.read
    )
    return WrongAccepted(
        count=wrong,
        rate=wrong / read if read else 0.0,
        expected=round(expected),
        at_most=sum(most_wrong(cut.unread, cut.read, cut.wrong[right], risk) for cut in chosen),
    )


def _by_field(
    plan: Plan,
    learned: Learned,
    cuts: Mapping[str, int | None],
    passing: Sequence[_ReadValue],
    unread: Probabilities,
) -> Iterator[tuple[str, AcceptedField]]:
    """Yield path → the accepted values of each field that has a cut.

    With one promise for all fields, the risk is shared between their bounds (Bonferroni), so that
    all of them hold together. A field that is promised alone has its promise's bound.
    """
    risk = plan.risk / (len(learned.groups) if plan.each_field else len(plan.fields))
    for column, name in enumerate(plan.fields):
        cut = cuts.get(name)
        if cut is None:
            continue
        of_field = unread[:, column]
        population = int(((of_field != UNANSWERED) & (of_field <= cut)).sum())
        results = [value.wrong[plan.right] for value in passing if value.key.field == name]
        yield (
            name,
            AcceptedField(
                values=len(unread),
                accepted=population - len(results),
                read=len(results),
                wrong=sum(results),
                upper=upper_share(population, len(results), sum(results), risk),
                promised=plan.each_field,
            ),
        )


def _examples(passing: Sequence[_ReadValue], plan: Plan) -> Iterator[WrongExample]:
    """Yield some of the wrong values that would have been accepted, drawn at random."""
    wrong = [value for value in passing if value.wrong[plan.right]]
    rng = np.random.default_rng([plan.seed, EXAMPLE_DRAW])
    for place in rng.permutation(len(wrong))[:MOST_EXAMPLES].tolist():
        value = wrong[place]
        is_read = value.outcome.outcome == "value"
        yield WrongExample(
            item=value.key.item,
            field=value.key.field,
            value=value.text[:MAX_EXAMPLE],
            truth=text_of(value.outcome.value)[:MAX_EXAMPLE] if is_read else None,
            outcome=value.outcome.outcome,
        )


def _shared_errors(
    outcomes: Mapping[ValueKey, Settled], runs: Runs, case: Case
) -> dict[tuple[int, int], SharedErrors]:
    """Return how often errors of two runs coincide, among the values that were read."""
    columns = {field.path: column for column, field in enumerate(runs.fields)}
    texts, rights = [], []
    for key, outcome in outcomes.items():
        if outcome.outcome != "value":
            continue
        column = columns[key.field]
        records = runs.texts(runs.records(key.item))
        texts.append([values and [folded(values[column], case)] for values in records])
        rights.append([folded(text_of(outcome.value), case)])
    return shared_errors(texts, rights) if texts else {}


def _twins(plan: Plan, shared: Mapping[tuple[int, int], SharedErrors]) -> Iterator[Warned]:
    """Yield a warning about each pair of runs that make the same errors."""
    for (one, other), errors in shared.items():
        if errors.same > TWINS * errors.either:
            pair = {"one": plan.runs[one].name, "other": plan.runs[other].name}
            yield Warned.of("twins", **pair, **errors._asdict())


def _warnings(
    plan: Plan, decision: Decision, shared: Mapping[tuple[int, int], SharedErrors]
) -> Iterator[Warned]:
    """Yield what to know about a decision, the most serious first."""
    stages = [stage for stage in (decision.first, decision.second) if stage]
    yield from _twins(plan, shared)
    twice, same = (sum(getattr(stage, name) for stage in stages) for name in ("twice", "same"))
    if not twice:
        yield Warned.of("read_once", values=decision.read)
    elif same < FEW_AGREE * twice:
        yield Warned.of("readers_differ", twice=twice, same=same)
    lost = decision.second.unreadable + decision.second.damaged
    if lost:
        yield Warned.of(
            "not_readable",
            unreadable=decision.second.unreadable,
            damaged=decision.second.damaged,
            values=decision.second.values,
        )
    if decision.second.unsettled:
        yield Warned.of("unsettled", count=decision.second.unsettled)
    above = [
        {"name": name, "share": field.wrong / field.read}
        for name, field in decision.by_field.items()
        if field.wrong > plan.limit * field.read
    ]
    if above:
        yield Warned.of("fields_may_be_above", fields=above)
    if decision.unanswered:
        yield Warned.of("unanswered_items", count=decision.unanswered, items=decision.items)
    if plan.right == "threshold":
        yield Warned.of("by_threshold")
    if plan.several_values:
        names = ", ".join(plan.several_values[:5])
        yield Warned.of("several_values", count=len(plan.several_values), fields=names)
