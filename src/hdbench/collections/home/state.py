"""Where a collection stands, and what comes next: a pure function of what its files say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hdbench.collections.home.run_list import RunView
from hdbench.collections.truth.progress import TruthProgress

MIN_TRUTHS = 20
"""Number of items with a ground truth from which a comparison says anything."""

ALL_BY_HAND = 200
"""Number of items up to which all of them are read before models are compared."""

RUNS_WANTED = 2
"""Number of runs from which they can be compared."""


class HomeText(NamedTuple):
    """A text of the home's own, for a language.

    Attributes:
        key: its key.
        values: its values, of which some can be texts as well.
    """

    key: str
    values: Mapping[str, Any]


class StageView(NamedTuple):
    """A stage as pages show it.

    Attributes:
        stage: the name of the stage, and of its page.
        is_done: whether nothing is left to do for it.
        fact: what there is of it, in a few words; None if nothing.
    """

    stage: str
    is_done: bool
    fact: HomeText | None


class NextStep(NamedTuple):
    """What comes next.

    Attributes:
        stage: the name of the stage that it belongs to.
        why: a sentence that says what there is to do.
        button: what its button says.
    """

    stage: str
    why: HomeText
    button: HomeText


@dataclass(frozen=True)
class DecisionProgress:
    """How far the decision is about the values that nobody reads.

    Attributes:
        planned: whether a sample was drawn for people to read.
        sample: how many values people read now: to decide, or to control what is accepted.
        to_read: how many of them are left to read.
        is_learned: whether the second part of the sample is drawn.
        is_applied: whether it is decided, and applied to all items, what is accepted.
        accepted: how many values are accepted.
        values: how many values there are.
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

    sentence: HomeText
    stages: Sequence[StageView]
    next_step: NextStep


def standing_of(
    truth: TruthProgress, fields: int, runs: Sequence[RunView], decided: DecisionProgress
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
    has_runs = len(usable) >= RUNS_WANTED
    share = decided.accepted / (decided.values or 1)
    decided_all = decided.is_applied and not decided.to_read and not decided.to_work_off
    is_read = not truth.left and not truth.to_settle
    facts: Mapping[str, tuple[bool, HomeText | None]] = {
        "scans": (True, _text("fact", number=items)),
        "fields": (True, _text("fact", number=fields)),
        "truth": (is_read, _text("fact_truth", count=truth.truths, items=items)),
        "runs": (has_runs, _text("fact", number=len(usable)) if usable else None),
        "compare": (decided.planned, None),
        "decide": (decided_all, _text("fact_accepted", share=share) if decided.values else None),
        "finish": (decided.is_finished, None),
    }
    stages = [StageView(stage, *fact) for stage, fact in facts.items()]
    can_compare = has_runs and truth.truths >= min(items, MIN_TRUTHS)
    return CollectionState(
        _decision_sentence(decided) if decided.planned else _sentence(truth, usable),
        stages,
        _next_step(truth, runs, decided, can_compare=can_compare),
    )


def _text(key: str, **values: Any) -> HomeText:
    return HomeText(key, values)


def _decision_sentence(decided: DecisionProgress) -> HomeText:
    if not decided.is_applied:
        read = decided.sample - decided.to_read
        return _text("stands_planned", read=read, count=decided.sample)
    accepted = _text("stands_accepted", accepted=decided.accepted, values=decided.values)
    if decided.to_work_off:
        return _text("stands_left", accepted=accepted, count=decided.to_work_off)
    return _text("stands_written" if decided.is_finished else "stands_decided", accepted=accepted)


def _sentence(truth: TruthProgress, usable: Sequence[RunView]) -> HomeText:
    items, truths = len(truth.items), truth.truths
    how_many = "all" if truths == items else {0: "none", 1: "one"}.get(truths, "some")
    read = _text(f"truths_{how_many}", truths=truths, count=items)
    if not usable:
        return _text("stands_no_model" if truths else "stands_nobody", read=read)
    partly = sum(run.left > 0 for run in usable)
    if partly == len(usable):
        models = _text("models_partly", count=partly)
    else:
        models = _text("models_read", count=len(usable))
        if partly:
            models = _text("models_some_partly", models=models, count=partly)
    return _text("stands", read=read, models=models)


def _step(stage: str, key: str, **values: Any) -> NextStep:
    return NextStep(stage, _text(f"why_{key}", **values), _text(f"do_{key}"))


def _next_step(
    truth: TruthProgress, runs: Sequence[RunView], decided: DecisionProgress, *, can_compare: bool
) -> NextStep:
    """Return the one thing to do next: the first that is not done, in the order of the stages."""
    items = len(truth.items)
    wanted = items if items <= ALL_BY_HAND else MIN_TRUTHS
    if truth.to_settle:
        return _step("truth", "settle", count=truth.to_settle)
    if decided.planned or decided.problem:
        return _deciding(decided)
    if truth.left and truth.truths < wanted:
        left = min(truth.left, wanted - truth.truths)
        step = _step("truth", "read", count=left)
        return step._replace(button=_text("do_read_on")) if truth.truths else step
    return _running(runs) or (_step("compare", "compare") if can_compare else _deciding(decided))


def _running(runs: Sequence[RunView]) -> NextStep | None:
    """Return what there is to do for the runs; None if they can be compared."""
    usable = [run for run in runs if run.answered]
    if going := sum(run.is_going for run in runs):
        return _step("runs", "wait", count=going)
    if len(usable) < RUNS_WANTED:
        step = _step("runs", "run")
        return step._replace(why=_text("why_run_second")) if usable else step
    for run in usable:
        if run.started and run.left:
            return _step("runs", "go_on", model=run.model, count=run.left)
    return None


def _deciding(decided: DecisionProgress) -> NextStep:
    steps = {
        "see": bool(decided.problem),
        "plan": not decided.planned,
        "sample": 0 if decided.is_applied else decided.to_read,
        "learn": not decided.is_learned,
        "decide": not decided.is_applied,
        "control": decided.to_read,
        "work": decided.to_work_off,
    }
    for key, left in steps.items():
        if left:
            return _step("decide", key, count=int(left))
    return _step("finish", "look" if decided.is_finished else "write")
