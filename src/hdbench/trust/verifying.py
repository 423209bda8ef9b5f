"""Verification of a decision, which is made again from its plan, its runs and the truth."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.answers import READING
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import Verification, compared, rounded
from hdbench.trust.deciding import AnyDecision, decide_by, read_decision, read_plan
from hdbench.trust.decision import Decision
from hdbench.trust.learned.decision import ValueDecision
from hdbench.trust.learned.files import read_learning
from hdbench.trust.learned.learning import learned_again
from hdbench.trust.learned.plan import ValuePlan

MOVABLE = {"hdbench", "plan_file", "decided", "benchmark", "benchmark_version"}
"""Keys that may differ; versions are named as causes or in notes."""


def verify_decision(
    path: Path, *, benchmark: str | None = None, revision: str | None = None
) -> Verification:
    """Make a decision again, and compare every figure.

    Args:
        path: a file that `hdbench trust decide --json` wrote.
        benchmark: the benchmark's folder; without it, the one that the decision names.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.

    Raises:
        HdbenchError: the file is not a decision; its plan, the runs or the sample are missing or
            were changed, so that it cannot be made again.
    """
    decision = read_decision(path)
    plan_file = _plan_file(decision, path)
    plan = read_plan(plan_file)
    if plan.hash() != decision.plan:
        raise HdbenchError(
            "{place}: not the plan of {decision} (its hash is {now}…, not {noted}…): put that one "
            "there",
            place=plan_file,
            decision=path,
            now=plan.hash()[:12],
            noted=decision.plan[:12],
        )
    loaded = load_benchmark(benchmark or decision.benchmark, revision=revision)
    again = decide_by(plan, loaded, plan_file)
    rules = loaded.spec.make_metric("documented").rules
    verification = Verification(model=None, also=None, rules=rules, reading=READING)
    figures = compared(_figures(decision), _figures(again))
    verification.figures, verification.differences = figures
    if isinstance(plan, ValuePlan):
        learning = read_learning(plan, loaded, plan_file)
        again_learned = learned_again(plan, loaded, plan_file, *learning)
        verification.differences += again_learned
    if verification.differences:
        verification.causes += _causes(decision, again)
    elif decision.hdbench != __version__:
        verification.notes.append(
            Message("hdbench {then} then, {now} now", then=decision.hdbench, now=__version__)
        )
    return verification


def _plan_file(decision: AnyDecision, path: Path) -> Path:
    recorded = Path(decision.plan_file)
    for plan_file in (recorded, path.parent / recorded, path.parent / recorded.name):
        if plan_file.is_file():
            return plan_file
    raise HdbenchError(
        "{place}: its plan {plan} is not here: put it back", place=path, plan=decision.plan_file
    )


def _causes(then: AnyDecision, now: AnyDecision) -> Iterator[Message]:
    same_truth = _truth_of(then) == _truth_of(now)
    if not same_truth:
        yield Message(
            "ground truths of the sample are others now ({benchmark_then} {version_then} then, "
            "{benchmark_now} {version_now} now): name the folder of the benchmark as it was before "
            "the decision, or decide again",
            benchmark_then=then.benchmark,
            version_then=then.benchmark_version,
            benchmark_now=now.benchmark,
            version_now=now.benchmark_version,
        )
    if then.hdbench != now.hdbench:
        yield Message(
            "it was decided by hdbench {then}, and this is hdbench {now}",
            then=then.hdbench,
            now=now.hdbench,
        )
    if same_truth and then.hdbench == now.hdbench:
        yield Message("plan, runs, ground truths and hdbench are the same: the file was changed")


def _truth_of(decision: AnyDecision) -> str:
    """Return the hash of what people said of the sample."""
    return decision.truths_sha256 if isinstance(decision, Decision) else decision.readings_sha256


def _figures(decision: AnyDecision) -> Any:
    """Return a decision without `MOVABLE`, its outcome first, its lists by name."""
    figures = decision.model_dump(mode="json", exclude=MOVABLE)
    if isinstance(decision, ValueDecision):
        figures["groups"] = {
            ", ".join(group["fields"]): group
            | {"cuts": {str(cut["probability"]): cut for cut in group["cuts"]}}
            for group in figures["groups"]
        }
        for name in ("what_if", "examples", "warnings"):
            figures[name] = {str(number): part for number, part in enumerate(figures[name], 1)}
        return rounded(figures)
    for walk in figures["walks"]:
        walk["steps"] = {f"{step['threshold']:g}": step for step in walk["steps"]}
    figures["walks"] = {f"{walk['right']} by {walk['verdict']}": walk for walk in figures["walks"]}
    figures["curve"] = {f"{point['threshold']:g}": point for point in figures["curve"]}
    # Earlier versions did not warn about plans that do not seal the benchmark.
    warnings = (warned for warned in figures["warnings"] if warned["key"] != "not_sealed")
    figures["warnings"] = {str(number): warned for number, warned in enumerate(warnings, 1)}
    return rounded({"outcome": figures["outcome"], **figures})
