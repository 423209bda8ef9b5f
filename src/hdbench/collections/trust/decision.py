"""Deciding by a plan, from the values that people read, and deciding again to verify it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.collections.trust.cuts import BILLION, UNANSWERED, Probabilities, walk_cuts
from hdbench.collections.trust.decision_file import (
    MOST_EXAMPLES,
    MOVABLE,
    AcceptedField,
    Decision,
    GroupDecision,
    ReadCut,
    WrongAccepted,
    WrongExample,
    read_decision,
)
from hdbench.collections.trust.doubts import doubts, read_by_runs
from hdbench.collections.trust.learning import (
    CutGroup,
    Expected,
    Learned,
    Learning,
    check_first_draw,
    check_planned,
    learned_again,
    learned_file,
    open_verification,
    positions_of,
    read_learning,
    second_reading,
)
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.outcomes import (
    Readings,
    is_wrong,
    outcomes_of,
    outcomes_sha256,
    readings_sha256,
    stage_readings,
)
from hdbench.collections.trust.plan import RIGHTS, Plan, Right, read_plan
from hdbench.collections.trust.runs import Runs, opened_runs
from hdbench.collections.trust.sample import EXAMPLE_DRAW
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.readings import ReadingStage, Settled, mark_of
from hdbench.common.progress import tell
from hdbench.common.value_text import Case, text_of
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import differences
from hdbench.statistics.share_of_unread import most_wrong, upper_share

MAX_EXAMPLE = 500
"""Maximum number of characters of a value in an example."""


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
        by_runs = list(read_by_runs(first, opened, plan.case))
    groups = [_group_decision(plan, learned, group, read, plan.limit) for group in learned.groups]
    unread = probabilities.copy()
    unread.ravel()[positions_of(plan.read_first, plan.fields, ids)] = UNANSWERED
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
        runs_usd=opened.usd,
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
        second=stage_readings(outcomes, readings, plan.case),
        readings_sha256=readings_sha256(used),
        seed=plan.seed,
        plans=ledger.plans_before(plan.hash()),
        groups=tuple(groups),
        accepted=sum(each.unread - each.read for group in groups if (each := group.chosen)),
        read=len(plan.read_first) + len(learned.sample),
        to_look_at=_to_look_at(plan, cuts, left, unanswered * len(plan.fields)),
        wrong={right: _wrong_accepted(plan, groups, right) for right in RIGHTS} if passing else {},
        by_field=by_field,
        examples=tuple(_examples(passing, plan)),
        expected=learned.expected,
        expected_by_field=learned.by_field,
        warnings=(),
    )
    warnings = tuple(doubts(plan, decision, by_runs))
    decision = decision.model_copy(update={"warnings": warnings})
    return decision, [line.id for line in used]


def _readings(plan: Plan, learned: Learned, ledger: Ledger, benchmark: Benchmark) -> Readings:
    """Return what people read for a plan: once it was decided, what they had read until then."""
    checked, closed = People(benchmark.folder), ledger.of("readings", plan.hash())
    if closed is None:
        first = checked.readings(plan.hash(), learned.reading_ids)
        return {**checked.readings(plan.hash()), **first}
    found = checked.readings(plan.hash(), [*learned.reading_ids, *closed.readings])
    used = [line for key in learned.second_stage for line in found.get(key, ())]
    if readings_sha256(used) != closed.seal:
        raise HdbenchError(
            "{benchmark}: {changed}: restore the folder people",
            benchmark=benchmark.id,
            changed=_changed(len(closed.readings) - len(used) or len(used), closed.at),
        )
    if late := changed_since(plan.hash(), benchmark):
        tell(late)
    return found


def changed_since(plan: str, benchmark: Benchmark) -> Message | None:
    """Return that people read on after a plan was decided, which changes nothing any more.

    Args:
        plan: the hash of the plan.
        benchmark: the items.

    Returns:
        None if they did not.
    """
    closed = Ledger(benchmark.folder).of("readings", plan)
    if closed is None:
        return None
    readings = People(benchmark.folder).readings(plan)
    now = {line.id for lines in readings.values() for line in lines if line.stage == "verify"}
    known = set(closed.readings)
    late = max(len(now - known), len(known - now))
    return _changed(late, closed.at) if late else None


def _changed(count: int, at: str) -> Message:
    return Message(
        "{count:,} reading has changed since it was decided on {at}",
        plural="{count:,} readings have changed since it was decided on {at}",
        count=count,
        at=at,
    )


def _read_values(
    outcomes: Mapping[ValueKey, Settled], probabilities: Sequence[int], runs: Runs, case: Case
) -> Iterator[_ReadValue]:
    fields = {field.path: field for field in runs.fields}
    choice_of = runs.choices(outcomes)
    for (key, outcome), chance, choice in zip(
        outcomes.items(), probabilities, choice_of, strict=True
    ):
        wrong = is_wrong(runs.metric, fields[key.field], choice, outcome, case)
        yield _ReadValue(key, chance, choice.text, outcome, wrong)


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


def verify_decision(path: Path) -> list[Message]:
    """Make a decision again, and return what differs, one line each.

    Args:
        path: a file that `hdbench trust decide --json` wrote.

    Raises:
        HdbenchError: the file is not a decision; its plan, the runs or readings are missing or
            were changed, so that it cannot be made again.
    """
    decision = read_decision(path)
    plan_file = _plan_file(decision, path)
    plan = read_plan(plan_file)
    if plan.hash() != decision.plan:
        raise HdbenchError(
            "{place}: not the plan of {decision}: put that one there",
            place=plan_file,
            decision=path,
        )
    loaded = load_benchmark(decision.benchmark)
    learning = read_learning(plan, loaded, plan_file)
    ledger = Ledger(loaded.folder)
    check_planned(ledger, plan, plan_file)
    again, _ = decided(plan, loaded, plan_file, ledger=ledger, learning=learning)
    then, now = (each.model_dump(mode="json", exclude=MOVABLE) for each in (decision, again))
    return differences(then, now) + learned_again(plan, loaded, plan_file, *learning)


def _plan_file(decision: Decision, path: Path) -> Path:
    recorded = Path(decision.plan_file)
    for plan_file in (recorded, path.parent / recorded, path.parent / recorded.name):
        if plan_file.is_file():
            return plan_file
    raise HdbenchError(
        "{place}: its plan {plan} is not here: put it back", place=path, plan=decision.plan_file
    )
