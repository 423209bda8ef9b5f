"""What people read in the browser for a plan, or for its control sample."""

from collections.abc import Sequence
from pathlib import Path

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.benchmarks.building.archive import CHECKSUMS
from hdbench.collections.trust.control import ControlSample, read_drawn
from hdbench.collections.trust.folder import DECISION, read_begun
from hdbench.collections.trust.learning import (
    check_items,
    check_planned,
    is_learned,
    learn_once,
    open_verification,
    read_learned,
    second_reading,
)
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.plan import Plan, read_plan
from hdbench.collections.trust.seals import kind_of
from hdbench.collections.truth.readings import ReadingStage
from hdbench.errors import HdbenchError


def values_to_read(path: Path, folder: Path) -> "PlannedCheck | ControlCheck | None":
    """Return the values that a plan or a control sample asks people to read.

    Args:
        path: the plan or the control sample.
        folder: the collection, or the dataset.

    Returns:
        None for files that list items.

    Raises:
        HdbenchError: the file was changed, or is not about this folder; the folder is a collection,
            and the plan was made for a dataset; nothing was accepted that could be controlled.
    """
    kind = kind_of(path)
    if kind == "control":
        if (path.parent / DECISION).is_file():
            applied, _ = read_begun(path.parent)
            _check_folder(folder, applied.benchmark, path)
        return ControlCheck(read_drawn(path))
    if kind == "plan":
        plan = read_plan(path)
        _check_folder(folder, plan.benchmark, path)
        return PlannedCheck(plan, load_benchmark(str(folder)), path)
    return None


def _check_folder(folder: Path, planned: str, path: Path) -> None:
    """Refuse a collection if the plan was made for a dataset: only that one's readings count."""
    if (Path(planned) / CHECKSUMS).is_file() and not (folder / CHECKSUMS).is_file():
        raise HdbenchError(
            "{folder}: what is read there would not be found by hdbench trust: hdbench annotate "
            "{benchmark} --only {path}",
            folder=folder,
            benchmark=planned,
            path=path,
        )


class PlannedCheck:
    """The values of a plan: the second stage is drawn once the first one is read.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.

    Attributes:
        hash: the hash under which readings are saved.

    Raises:
        HdbenchError: the items are not those of the plan; it is not in the ledger, or is decided;
            another plan is verified.
    """

    def __init__(self, plan: Plan, benchmark: Benchmark, plan_file: Path) -> None:
        check_items(plan, list(benchmark.ids()), benchmark.id, plan_file)
        self.hash = plan.hash()
        self._plan, self._benchmark, self._plan_file = plan, benchmark, plan_file
        self._stages = [ReadingStage("learn", plan.first_stage, plan.case)]
        check_planned(Ledger(benchmark.folder), plan, plan_file)
        self.check_open()

    def stages(self) -> Sequence[ReadingStage]:
        """Return the stages that are drawn.

        Raises:
            HdbenchError: what was learned is unusable.
        """
        # What was learned is never replaced, and the page asks at every request.
        if len(self._stages) == 1 and is_learned(self._plan, self._plan_file):
            learned = read_learned(self._plan, self._plan_file)
            open_verification(self._plan, learned, self._benchmark, self._plan_file)
            self._stages = [*self._stages, second_reading(self._plan, learned)]
        return self._stages

    def check_open(self) -> None:
        """Refuse to read on once it was decided.

        Raises:
            HdbenchError: it was.
        """
        closed = Ledger(self._benchmark.folder).of("readings", self.hash)
        if closed:
            raise HdbenchError(
                "{place}: was decided on {at}: what people read is closed, and stays as it is",
                place=self._plan_file,
                at=closed.at,
            )

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

    def __init__(self, control: ControlSample) -> None:
        self.hash = control.hash()
        self._stages = [ReadingStage("control", control.values, control.case)]

    def stages(self) -> Sequence[ReadingStage]:
        """Return the only stage."""
        return self._stages

    def check_open(self) -> None:
        """Do nothing: whoever reads on says more about what was accepted."""

    def advance(self) -> None:
        """Do nothing: there is no further stage."""
