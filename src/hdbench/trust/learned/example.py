"""A decision for which the ground truth stands for what people would read: no promise."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hdbench.annotating.checking.checked_values import Reading, StageName, ValueKey
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.trust.decision import Warned
from hdbench.trust.learned.decision import ValueDecision, decide_from
from hdbench.trust.learned.learning import learn
from hdbench.trust.learned.plan import ValuePlan, ValuePlanOptions, known_values, make_value_plan

_PLAN_FILE = Path("plan.yaml")
_READER = "example"


def decide_with_truth(
    benchmark: Benchmark, runs: Sequence[Path], options: ValuePlanOptions
) -> ValueDecision:
    """Plan, learn and decide, with the ground truth in place of what people would read.

    Nothing is written.

    Args:
        benchmark: a benchmark whose ground truth is known.
        runs: the models' answers, in order of preference.
        options: the options of the plan.

    Returns:
        A decision whose first warning voids its promise.

    Raises:
        HdbenchError: a run or the benchmark is not usable for it.
    """
    plan = make_value_plan(benchmark, runs, options)
    truths = known_values(benchmark, plan.fields)
    readings = _readings(plan, "learn", plan.first_stage, truths)
    learning = learn(plan, benchmark, _PLAN_FILE, readings)
    readings |= _readings(plan, "verify", learning.learned.second_stage, truths)
    decision = decide_from(plan, benchmark, _PLAN_FILE, learning, readings)
    others = [warned for warned in decision.warnings if warned.key != "read_once"]
    nobody = Warned(key="example_readings", values={}, voids=True)
    return decision.model_copy(update={"warnings": (nobody, *others)})


def _readings(
    plan: ValuePlan, stage: StageName, values: Sequence[ValueKey], truths: Mapping[ValueKey, str]
) -> dict[ValueKey, tuple[Reading, ...]]:
    return {
        key: (
            Reading(
                id=f"{number:032x}",
                plan=plan.hash(),
                stage=stage,
                item=key.item,
                field=key.field,
                by=_READER,
                at=plan.created,
                what="value",
                value=truths[key] or None,
            ),
        )
        for number, key in enumerate(values)
    }
