"""Where a collection stands, and what comes next: a pure function of what its files say."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from hdbench.annotating.progress import TruthProgress
from hdbench.errors import Message
from hdbench.home.run_list import RunView

MIN_TRUTHS = 20
"""Number of items with a ground truth from which a comparison says anything."""

ALL_BY_HAND = 200
"""Number of items up to which all of them are read before models are compared."""

RUNS_WANTED = 2
"""Number of runs from which they can be compared."""


class CollectionStage(StrEnum):
    """A stage in a collection's life, whose page has the same name."""

    SCANS = "scans"
    FIELDS = "fields"
    TRUTH = "truth"
    RUNS = "runs"
    COMPARE = "compare"
    DECIDE = "decide"
    FINISH = "finish"


class StageView(NamedTuple):
    """A stage as pages show it.

    Attributes:
        stage: the stage.
        fact: what there is of it, in a few words; empty if nothing.
        is_done: whether nothing is left to do for it.
    """

    stage: CollectionStage
    fact: str
    is_done: bool


class NextStep(NamedTuple):
    """What comes next.

    Attributes:
        stage: the stage it belongs to.
        why: a sentence that says what there is to do.
        button: what its button says.
    """

    stage: CollectionStage
    why: Message
    button: Message


@dataclass(frozen=True)
class Decided:
    """What has been decided about the values that nobody reads.

    Attributes:
        planned: whether a sample was drawn for people to read.
        sample: how many values people read for what comes next.
        to_read: how many of them are left to read.
        is_learned: whether the second part of the sample is drawn.
        is_applied: whether it is decided, and applied to all items, what is accepted.
        accepted: how many values are accepted.
        values: how many values there are.
        to_control: how many values of the control sample are left to read.
        to_work_off: how many doubtful values are left for people.
        is_finished: whether the records are written.
        problem: why the files cannot be used; empty if they can.
    """

    planned: bool = False
    sample: int = 0
    to_read: int = 0
    is_learned: bool = False
    is_applied: bool = False
    accepted: int = 0
    values: int = 0
    to_control: int = 0
    to_work_off: int = 0
    is_finished: bool = False
    problem: str = ""


@dataclass(frozen=True)
class CollectionState:
    """Where a collection stands.

    Attributes:
        sentence: it in one sentence.
        stages: all stages in their order.
        next_step: what comes next.
    """

    sentence: Message
    stages: Sequence[StageView]
    next_step: NextStep


def standing_of(
    truth: TruthProgress, fields: int, runs: Sequence[RunView], decided: Decided
) -> CollectionState:
    """Return where a collection stands.

    Args:
        truth: how far its ground truth is.
        fields: the number of fields.
        runs: its runs.
        decided: what has been decided about its values.
    """
    usable = [run for run in runs if run.answered]
    items = len(truth.items)
    truth_done = not truth.left and not truth.to_settle
    can_compare = len(usable) >= RUNS_WANTED and truth.truths >= min(items, MIN_TRUTHS)
    stages = [
        StageView(CollectionStage.SCANS, _number(items), is_done=True),
        StageView(CollectionStage.FIELDS, _number(fields), is_done=True),
        StageView(
            CollectionStage.TRUTH,
            Message("{count:,} of {items:,}", count=truth.truths, items=items),
            is_done=truth_done,
        ),
        StageView(
            CollectionStage.RUNS,
            _number(len(usable)) if usable else "",
            is_done=len(usable) >= RUNS_WANTED,
        ),
        StageView(CollectionStage.COMPARE, "", is_done=decided.planned),
        StageView(
            CollectionStage.DECIDE,
            Message("{share:.0%} accepted", share=decided.accepted / decided.values)
            if decided.values
            else "",
            is_done=decided.is_applied and not decided.to_control and not decided.to_work_off,
        ),
        StageView(CollectionStage.FINISH, "", is_done=decided.is_finished),
    ]
    step = _next_step(truth, runs, decided, can_compare=can_compare)
    sentence = _decision_sentence(decided) if decided.planned else _sentence(truth, usable)
    return CollectionState(sentence, stages, step)


def _number(number: int) -> Message:
    return Message("{number:,}", number=number)


def _decision_sentence(decided: Decided) -> Message:
    if not decided.is_applied:
        return Message(
            "The decision is planned; people have read {read:,} of {count:,} values for it.",
            read=decided.sample - decided.to_read,
            count=decided.sample,
        )
    accepted = Message(
        "{accepted:,} of {values:,} values are accepted",
        accepted=decided.accepted,
        values=decided.values,
    )
    if decided.to_work_off:
        return Message(
            "{accepted}; 1 doubtful one is left.",
            plural="{accepted}; {count:,} doubtful ones are left.",
            accepted=accepted,
            count=decided.to_work_off,
        )
    if decided.is_finished:
        return Message("{accepted}; the records are written.", accepted=accepted)
    return Message("{accepted}; none is left to decide.", accepted=accepted)


def _sentence(truth: TruthProgress, usable: Sequence[RunView]) -> Message:
    items = len(truth.items)
    if truth.truths == items:
        read = Message(
            "The item has a ground truth",
            plural="All {count:,} items have a ground truth",
            count=items,
        )
    elif not truth.truths:
        read = Message(
            "Nobody has read the item yet",
            plural="Nobody has read the {count:,} items yet",
            count=items,
        )
    else:
        read = Message(
            "{truths:,} of {count:,} items has a ground truth"
            if truth.truths == 1
            else "{truths:,} of {count:,} items have a ground truth",
            truths=truth.truths,
            count=items,
        )
    if not usable:
        return (
            Message("{read}; no model has.", read=read)
            if not truth.truths
            else Message("{read}; no model has read them.", read=read)
        )
    models = Message(
        "{count:,} model has read them",
        plural="{count:,} models have read them",
        count=len(usable),
    )
    partly = sum(run.left > 0 for run in usable)
    if partly == len(usable):
        models = Message(
            "{count:,} model has read part of them",
            plural="{count:,} models have read part of them",
            count=partly,
        )
    elif partly:
        models = Message("{models}, {count:,} of them only a part", models=models, count=partly)
    return Message("{read}; {models}.", read=read, models=models)


def _next_step(
    truth: TruthProgress, runs: Sequence[RunView], decided: Decided, *, can_compare: bool
) -> NextStep:
    """Return the one thing to do next: the first that is not done, in the order of the stages."""
    items = len(truth.items)
    wanted = items if items <= ALL_BY_HAND else MIN_TRUTHS
    if truth.to_settle:
        return NextStep(
            CollectionStage.TRUTH,
            Message(
                "1 item where people entered different things: look at it together.",
                plural="{count:,} items where people entered different things: look at them "
                "together.",
                count=truth.to_settle,
            ),
            Message("Settle"),
        )
    if decided.planned or decided.problem:
        return _deciding(decided)
    if truth.left and truth.truths < wanted:
        left = min(truth.left, wanted - truth.truths)
        return NextStep(
            CollectionStage.TRUTH,
            Message("1 item to read.", plural="{count:,} items to read.", count=left),
            Message("Go on reading") if truth.truths else Message("Begin to read"),
        )
    return _running(runs) or (_COMPARING if can_compare else _deciding(decided))


_COMPARING = NextStep(
    CollectionStage.COMPARE,
    Message("Which model is best for these items, and is it sure?"),
    Message("Compare the models"),
)


def _running(runs: Sequence[RunView]) -> NextStep | None:
    """Return what there is to do for the runs; None if they can be compared."""
    if going := [run for run in runs if run.is_going]:
        return NextStep(
            CollectionStage.RUNS,
            Message(
                "A model is reading.", plural="{count:,} models are reading.", count=len(going)
            ),
            Message("See how it goes"),
        )
    usable = [run for run in runs if run.answered]
    if len(usable) < RUNS_WANTED:
        return NextStep(
            CollectionStage.RUNS,
            Message("Let a second model read the items, so that they can be compared.")
            if usable
            else Message("Let a model read the items, or add answers that you have."),
            Message("Add a run"),
        )
    if stopped := [run for run in usable if run.started and run.left]:
        return NextStep(
            CollectionStage.RUNS,
            Message(
                "{model} has not read 1 item.",
                plural="{model} has not read {count:,} items.",
                model=stopped[0].model,
                count=stopped[0].left,
            ),
            Message("Let it go on"),
        )
    return None


def _deciding(decided: Decided) -> NextStep:
    steps = (
        (
            bool(decided.problem),
            Message("The files of the decision cannot be used."),
            Message("See why"),
        ),
        (
            not decided.planned,
            Message("Plan how it is decided which values are accepted automatically."),
            Message("Plan the decision"),
        ),
        (
            bool(decided.to_read),
            Message(
                "1 value of the sample to read.",
                plural="{count:,} values of the sample to read.",
                count=decided.to_read,
            ),
            Message("Read the sample"),
        ),
        (
            not decided.is_learned,
            Message("The first values are read: learn from them which values are probably wrong."),
            Message("Learn from them"),
        ),
        (
            not decided.is_applied,
            Message("Decide which values are accepted automatically."),
            Message("Decide"),
        ),
        (
            bool(decided.to_control),
            Message(
                "1 value of the control sample to read: it checks the promise.",
                plural="{count:,} values of the control sample to read: they check the promise.",
                count=decided.to_control,
            ),
            Message("Read the control sample"),
        ),
        (
            bool(decided.to_work_off),
            Message(
                "1 doubtful value to decide.",
                plural="{count:,} doubtful values to decide.",
                count=decided.to_work_off,
            ),
            Message("Decide them"),
        ),
    )
    for is_next, why, button in steps:
        if is_next:
            return NextStep(CollectionStage.DECIDE, why, button)
    if decided.is_finished:
        return NextStep(
            CollectionStage.FINISH,
            Message("The records are written."),
            Message("Look at the records"),
        )
    return NextStep(
        CollectionStage.FINISH,
        Message("All values are decided: write the records."),
        Message("Write the records"),
    )
