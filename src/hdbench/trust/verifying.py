"""`hdbench verify` of a decision: made again from its plan, its runs and the truth."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.verify import Verification, compared, rounded
from hdbench.reading import READING
from hdbench.trust.decision import Decision, decide, read_decision
from hdbench.trust.plan import read_plan

MOVABLE = {"hdbench", "plan_file", "benchmark", "benchmark_version"}
"""What may be another one now; versions are named as causes or in notes."""


def verify_decision(
    path: Path, *, benchmark: str | None = None, revision: str | None = None
) -> Verification:
    """Make a decision again, and compare every figure.

    Args:
        path: a file that `hdbench trust decide --json` wrote.
        benchmark: the benchmark's folder; without it, the one that the decision names.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.

    Raises:
        HdbenchError: the file is no decision; its plan, the runs or the sample are missing or are
            others, so that it cannot be made again.
    """
    decision = read_decision(path)
    where = _plan_file(decision, path)
    plan = read_plan(where)
    if plan.hash() != decision.plan:
        raise HdbenchError(
            f"{where}: not the plan of {path} (its hash is {plan.hash()[:12]}…, not "
            f"{decision.plan[:12]}…): put that one there"
        )
    of = load_benchmark(benchmark or decision.benchmark, revision=revision)
    again = decide(plan, of, where)
    rules = of.spec.make_metric("documented").rules
    found = Verification(model=None, also=None, rules=rules, reading=READING)
    found.figures, found.differences = compared(_figures(decision), _figures(again))
    if found.differences:
        found.causes += _causes(decision, again)
    elif decision.hdbench != __version__:
        found.notes.append(f"hdbench {decision.hdbench} then, {__version__} now")
    return found


def _plan_file(decision: Decision, path: Path) -> Path:
    named = Path(decision.plan_file)
    for place in (named, path.parent / named, path.parent / named.name):
        if place.is_file():
            return place
    raise HdbenchError(f"{path}: its plan {decision.plan_file} is not here: put it back")


def _causes(then: Decision, now: Decision) -> Iterator[str]:
    if then.truths_sha256 != now.truths_sha256:
        yield (
            f"ground truths of the sample are others now ({then.benchmark} "
            f"{then.benchmark_version} then, {now.benchmark} {now.benchmark_version} now): name "
            "the benchmark as it was with --benchmark PATH, or decide again"
        )
    if then.hdbench != now.hdbench:
        yield f"it was decided by hdbench {then.hdbench}, and this is hdbench {now.hdbench}"
    if then.truths_sha256 == now.truths_sha256 and then.hdbench == now.hdbench:
        yield "plan, runs, ground truths and hdbench are the same: the file was changed"


def _figures(decision: Decision) -> Any:
    """A decision without what may be another one now: its outcome first, its lists by name."""
    said = decision.model_dump(mode="json", exclude=MOVABLE)
    for walk in said["walks"]:
        walk["steps"] = {f"{step['threshold']:g}": step for step in walk["steps"]}
    said["walks"] = {f"{walk['right']} by {walk['verdict']}": walk for walk in said["walks"]}
    said["curve"] = {f"{point['threshold']:g}": point for point in said["curve"]}
    said["warnings"] = {str(place): each for place, each in enumerate(said["warnings"], 1)}
    return rounded({"outcome": said["outcome"], **said})
