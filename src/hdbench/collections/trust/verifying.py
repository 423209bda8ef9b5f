"""Verification of a decision, which is made again from its plan, its runs and what people read."""

from pathlib import Path

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.decision import decided
from hdbench.collections.trust.decision_file import MOVABLE, Decision, read_decision
from hdbench.collections.trust.learned_files import check_planned, read_learning
from hdbench.collections.trust.learning import learned_again
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.plan import read_plan
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import differences


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
