"""The plan of a collection, and what came of it: what its files say."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from hdbench.benchmarks.benchmark import METADATA, PEOPLE, Benchmark, load_benchmark
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.collections.home.background import Task
from hdbench.collections.home.folder import DECISIONS, CollectionFolder, FoundPlan
from hdbench.collections.home.stamps import Kept, is_as_new, stamp_of
from hdbench.collections.home.state import DecisionProgress
from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.control import ControlSample, check_control, read_control
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.delivery import LAST
from hdbench.collections.trust.folder import (
    APPLIED,
    CONTROL,
    DECISION,
    PLAN,
    WORK_LIST,
    Applied,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.learning import (
    PROBABILITIES,
    learned_file,
    read_learned,
    second_reading,
)
from hdbench.collections.trust.origins import doubtful_values
from hdbench.collections.trust.outlook import (
    SECONDS_PER_VALUE,
    likely_in_words,
    likely_shares,
)
from hdbench.collections.trust.plan import PlanOptions, make_plan, write_plan
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.readings import ReadingStage
from hdbench.common.files import write_errors
from hdbench.common.writing import make_folder, refuse_links
from hdbench.errors import HdbenchError, Message

DECIDING, CONTROLLING = "decide", "control"
"""The names of work that decides, and that counts what is wrong in the control sample."""

FINISHED = "finished"
"""The folder of the finished records, in that in which a plan is applied."""


@dataclass(frozen=True)
class DecisionView(DecisionProgress):
    """What the files say of a decision.

    Attributes:
        found: the plan; None if there is none that can be used.
        stage: the values that people read now: of the plan, or of the control sample.
        applied: what came of applying the plan; None if it is not finished.
        left: field → how many of its doubtful values are left for people.
        decision: the decision that was applied; None if none was.
        control: the control sample; None without one.
    """

    found: FoundPlan | None = None
    stage: ReadingStage | None = None
    applied: Applied | None = None
    left: Mapping[str, int] = field(default_factory=dict)
    decision: Decision | None = None
    control: ControlSample | None = None

    @property
    def seconds(self) -> float:
        """Return how many seconds a person takes for a value, as measured or assumed."""
        return (self.decision and self.decision.seconds) or SECONDS_PER_VALUE


class Decisions:
    """The decisions about a collection, in files beside it.

    Args:
        collection: the collection's folder.
    """

    def __init__(self, collection: CollectionFolder) -> None:
        self._collection = collection
        self._reading, self._kept = Lock(), Kept()
        self._checked: People | None = None

    def view(self) -> DecisionView:
        """Return what the files say now."""
        with self._reading:
            try:
                found = self._collection.last_plan()
                return self._view(found) if found else DecisionView()
            except HdbenchError as error:
                return DecisionView(problem=error.message)

    def dataset(self) -> Benchmark:
        """Return the dataset under the name that commands know it by.

        Raises:
            HdbenchError: it is not built, or a link leads to it.
        """
        refuse_links(self._collection.built, self._collection.beside)
        loaded = load_benchmark(str(self._collection.built))
        return replace(loaded, id=self._collection.built_name)

    def make(self, runs: Sequence[Path], options: PlanOptions) -> Message:
        """Draw the values to read first, and write the plan into a folder of its own.

        Args:
            runs: the runs, the preferred one first.
            options: the options.

        Returns:
            What it is likely to let through.

        Raises:
            HdbenchError: see `make_plan`; or the collection cannot be built.
        """
        self._collection.ensure_built()
        plan = make_plan(self.dataset(), runs, options)
        folder = self._new_folder()
        # The folder of all of them can then be moved.
        named = [
            run.model_copy(update={"path": os.path.relpath(run.path, folder)}) for run in plan.runs
        ]
        plan = plan.model_copy(update={"runs": tuple(named)})
        write_plan(folder / PLAN, plan, self._collection.built)
        return likely_in_words(likely_shares(plan, self.dataset(), folder / PLAN))

    def deciding(self, found: FoundPlan) -> Task:
        """Return the work that decides by a plan, all of whose values are read."""
        return self._collection.background.computed(
            DECIDING, self._stamp(found), lambda: decide(found.plan, self.dataset(), found.file)
        )

    def controlling(self, found: FoundPlan) -> Task:
        """Return the work that counts what is wrong in the control sample, which is read."""
        return self._collection.background.computed(
            CONTROLLING, self._stamp(found), lambda: check_control(found.out, self.dataset())
        )

    def apply(self, found: FoundPlan, control: int) -> Applied:
        """Apply a plan; what was interrupted begins again.

        Args:
            found: the plan.
            control: how many values the control sample has.

        Raises:
            HdbenchError: see `hdbench.collections.trust.acceptance.apply`.
        """
        return apply(found.plan, self.dataset(), found.file, found.out, control=control)

    def _stamp(self, found: FoundPlan) -> tuple[object, ...]:
        """Return what a decision depends on: it changes with the plan's files and what was read."""
        built, file = self._collection.built, found.file
        paths = [file, learned_file(file), file.with_name(PROBABILITIES)]
        paths += [built / PEOPLE, built / DESCRIPTION]
        paths += [file.parent / run.path for run in found.plan.runs]
        return found.out, *map(stamp_of, paths)

    def _new_folder(self) -> Path:
        parent, name = self._collection.beside / DECISIONS, self._collection.spec.name
        number = 1
        while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
            number += 1
        with write_errors(folder):
            make_folder(parent)
            folder.mkdir()
        return folder

    def _view(self, found: FoundPlan) -> DecisionView:
        if self._checked is None:
            self._checked = People(self._collection.built)
        self._checked.refresh()
        if found.is_begun and (found.out / APPLIED).is_file():
            return self._applied_view(found, self._checked)
        plan, learned = found.plan, learned_file(found.file)
        stage = ReadingStage("learn", plan.first_stage, plan.case)
        is_learned = learned.exists()
        if is_learned:
            stage = self._kept.get(
                (found.file, "learned"),
                [found.file, learned],
                lambda: second_reading(plan, read_learned(plan, found.file)),
            )
        return DecisionView(
            planned=True,
            found=found,
            sample=len(stage.values),
            to_read=len(stage.to_read(self._checked.readings(found.hash))),
            is_learned=is_learned,
            stage=stage,
        )

    def _applied_view(self, found: FoundPlan, checked: People) -> DecisionView:
        out, built = found.out, self._collection.built
        files = [out / name for name in (APPLIED, DECISION, PLAN, CONTROL)]
        applied, decision, control, control_hash = self._kept.get(
            out, files, lambda: _applied_in(out)
        )
        stage = ReadingStage("control", control.values, control.case)

        def counted() -> Counter[str]:
            """Count, by field, the doubtful values that nobody has read or decided."""
            worked = People(built).worked(applied.values_sha256)
            return Counter(
                key.field for key in doubtful_values(out, self.dataset()) - worked.keys()
            )

        files += [out / WORK_LIST, built / METADATA, built / PEOPLE]
        left = self._kept.get((out, "left"), files, counted)
        return DecisionView(
            planned=True,
            found=found,
            sample=len(stage.values),
            to_read=len(stage.to_read(checked.readings(control_hash))),
            is_learned=True,
            is_applied=True,
            to_work_off=left.total(),
            accepted=applied.taken,
            values=applied.taken + applied.checked + sum(applied.check.values()),
            # Whether the records have all that people decided.
            is_finished=is_as_new(stamp_of(out / FINISHED / LAST), [stamp_of(built / PEOPLE)]),
            stage=stage,
            applied=applied,
            left=left,
            decision=decision,
            control=control,
        )


def _applied_in(out: Path) -> tuple[Applied, Decision, ControlSample, str]:
    _, decision = read_begun(out)
    control = read_control(out / CONTROL)
    return read_applied(out), decision, control, control.hash()
