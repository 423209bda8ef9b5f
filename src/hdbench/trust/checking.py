"""What people read in the browser for a plan of single values, or for its control sample."""

from collections.abc import Sequence
from pathlib import Path

from hdbench.annotating.checking.queue import Stage
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.trust.learned.files import is_learned, learn_once, read_learned
from hdbench.trust.learned.plan import ValuePlan
from hdbench.trust.value_control import ValueControl


class PlannedCheck:
    """The values of a plan: the second stage is drawn once the first one is read.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.

    Attributes:
        hash: the hash under which readings are saved.
    """

    def __init__(self, plan: ValuePlan, benchmark: Benchmark, plan_file: Path) -> None:
        self.hash = plan.hash()
        self._plan, self._benchmark, self._plan_file = plan, benchmark, plan_file

    def stages(self) -> Sequence[Stage]:
        """Return the stages that are drawn.

        Raises:
            HdbenchError: what was learned is unusable.
        """
        first = Stage("learn", self._plan.first_stage)
        if not is_learned(self._plan, self._plan_file):
            return [first]
        learned = read_learned(self._plan, self._plan_file)
        return [first, Stage("verify", learned.second_stage)]

    def advance(self) -> None:
        """Learn from the first stage and draw the second one, unless that was done before.

        Raises:
            HdbenchError: see `learn_once`.
        """
        learn_once(self._plan, self._benchmark, self._plan_file)


class ControlCheck:
    """The values of a control sample: a single stage.

    Args:
        control: the control sample.

    Attributes:
        hash: the hash under which readings are saved.
    """

    def __init__(self, control: ValueControl) -> None:
        self.hash = control.hash()
        self._stages = [Stage("control", control.values)]

    def stages(self) -> Sequence[Stage]:
        """Return the only stage."""
        return self._stages

    def advance(self) -> None:
        """Do nothing: there is no further stage."""
