"""Plans and decisions of both kinds: by whole items, and by single values."""

from pathlib import Path
from typing import Any

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.checked import validate
from hdbench.trust.decision import Decision, decide, read_decision_data
from hdbench.trust.learned.decision import ValueDecision, decide_by_values
from hdbench.trust.learned.plan import ValuePlan
from hdbench.trust.plan import Plan
from hdbench.trust.sealed import is_of, read_sealed

AnyPlan = Plan | ValuePlan
AnyDecision = Decision | ValueDecision


def read_plan(path: Path) -> AnyPlan:
    """Return a plan, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a plan, or was changed since.
    """
    if is_value_plan(path):
        return read_sealed(path, ValuePlan)
    return read_sealed(path, Plan)


def is_value_plan(path: Path) -> bool:
    """Return whether a file is a plan for which single values are drawn."""
    return is_of(path, ValuePlan)


def decide_by(plan: AnyPlan, benchmark: Benchmark, plan_file: Path) -> AnyDecision:
    """Decide by a plan; see `decide` and `decide_by_values`."""
    if isinstance(plan, ValuePlan):
        return decide_by_values(plan, benchmark, plan_file)
    return decide(plan, benchmark, plan_file)


def read_decision(path: Path) -> AnyDecision:
    """Return the decision in a file that `hdbench trust decide --json` wrote.

    Raises:
        HdbenchError: see `read_decision_data`; or it is not as it was written.
    """
    data: Any = read_decision_data(path)
    if isinstance(data, dict) and data.get("decision") == 2:  # noqa: PLR2004
        return validate(ValueDecision, data, path)
    return validate(Decision, data, path)
