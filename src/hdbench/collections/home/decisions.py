"""The plan of a collection, and what came of it: what its files say."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from hdbench.benchmarks.benchmark import METADATA, PEOPLE, Benchmark, load_benchmark
from hdbench.benchmarks.names import DESCRIPTION
from hdbench.collections.home.background import TaskView
from hdbench.collections.home.stamps import Kept, is_as_new, stamp_of
from hdbench.collections.home.state import Decided
from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.control import ControlSample, check_control, read_control
from hdbench.collections.trust.decision import (
    decide,
)
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.decision_page import decision_page
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
    work_left,
)
from hdbench.collections.trust.plan import Plan, PlanOptions, make_plan, read_plan, write_plan
from hdbench.collections.trust.seals import kind_of
from hdbench.collections.truth.reading_queue import ReadingStage
from hdbench.collections.truth.readings import CheckedValues
from hdbench.collections.truth.work_list import WorkedValues
from hdbench.common.os_errors import write_errors
from hdbench.common.writing import make_folder, refuse_links
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from hdbench.collections.home.collection import Collection

DECIDING, CONTROLLING = "decide", "control"
"""The names of work that decides, and that counts what is wrong in the control sample."""

DECISIONS = "decisions"
"""The folder, beside the collection, of the plans that are made here."""

OUT = "out"
"""The folder, beside a plan that was made here, in which it is applied."""

FINISHED = "finished"
"""The folder of the finished records, in that one."""


@dataclass(frozen=True)
class DecisionView(Decided):
    """What the files say of a decision.

    Attributes:
        plan_file: the plan.
        plan: its content.
        plan_hash: its hash.
        stage: the values that people read now: of the plan, or of the control sample.
        out: the folder in which it is applied, whether it is there or not.
        applied: what came of that; None if it is not finished.
        left: field → how many of its doubtful values are left for people.
        decision: the decision that was applied; None if none was.
        control: the control sample; None without one.
    """

    plan_file: Path = Path()
    plan: Plan | None = None
    plan_hash: str = ""
    stage: ReadingStage | None = None
    out: Path = Path()
    applied: Applied | None = None
    left: Mapping[str, int] = field(default_factory=dict)
    decision: Decision | None = None
    control: ControlSample | None = None

    @property
    def seconds(self) -> float:
        """Return how many seconds a person takes for a value, as measured or assumed."""
        return (self.decision and self.decision.seconds) or SECONDS_PER_VALUE


class _PlanFile(NamedTuple):
    """Content of a plan's file, and its hash."""

    plan: Plan
    hash: str


class Decisions:
    """The decisions about a collection, in files beside it.

    Plans that commands made beside the collection, or in a folder there, count as well; the last
    one that was made is shown.

    Args:
        collection: the collection.
    """

    def __init__(self, collection: "Collection") -> None:
        self._collection = collection
        self._reading, self._kept = Lock(), Kept()
        self._checked: CheckedValues | None = None

    def view(self) -> DecisionView:
        """Return what the files say now."""
        with self._reading:
            try:
                return self._view()
            except HdbenchError as error:
                return DecisionView(problem=error.message)

    def has_plan(self) -> bool:
        """Return whether a plan rests on the dataset as it is."""
        with self._reading:
            return self._last_plan() is not None

    def planned_items(self) -> int | None:
        """Return the number of items that a plan is for; None if there is no usable one."""
        with self._reading, suppress(HdbenchError):  # `view` says what is wrong
            if last := self._last_plan():
                return last[1].plan.items
        return None

    def plan_hash(self) -> str:
        """Return the hash of the last usable plan; empty without one."""
        with self._reading, suppress(HdbenchError):  # `view` says what is wrong
            if last := self._last_plan():
                return last[1].hash
        return ""

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

    def deciding(self, view: DecisionView) -> TaskView:
        """Return the work that decides by the plan, all of whose values are read."""
        assert view.plan is not None  # noqa: S101  the caller looked
        plan, file = view.plan, view.plan_file
        return self._collection.background.computed(
            DECIDING, self._stamp(view), lambda: decide(plan, self.dataset(), file)
        )

    def controlling(self, view: DecisionView) -> TaskView:
        """Return the work that counts what is wrong in the control sample, which is read."""
        return self._collection.background.computed(
            CONTROLLING,
            (view.out, self._stamp(view)),
            lambda: check_control(view.out, self.dataset()),
        )

    def signed_page(self, decision: Decision, language: str) -> str:
        """Return the page of a decision, for the person who signs it."""
        return decision_page(decision, work_left(decision), self.dataset(), language)

    def _stamp(self, view: DecisionView) -> tuple[object, ...]:
        """Return what a decision depends on: it changes with the plan's files and what was read."""
        built, plan_file = self._collection.built, view.plan_file
        beside = (plan_file, learned_file(plan_file), plan_file.with_name(PROBABILITIES))
        paths = (*beside, built / PEOPLE, built / DESCRIPTION)
        runs = view.plan.runs if view.plan else ()
        return tuple(map(stamp_of, (*paths, *(plan_file.parent / run.path for run in runs))))

    def apply(self, view: DecisionView, control: int) -> Applied:
        """Apply the plan; what was interrupted begins again.

        Args:
            view: what the files say.
            control: how many values the control sample has.

        Raises:
            HdbenchError: see `hdbench.collections.trust.acceptance.apply`.
        """
        assert view.plan is not None  # noqa: S101  the caller looked
        return apply(view.plan, self.dataset(), view.plan_file, view.out, control=control)

    def _new_folder(self) -> Path:
        parent, name = self._collection.beside / DECISIONS, self._collection.spec.name
        number = 1
        while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
            number += 1
        with write_errors(folder):
            make_folder(parent)
            folder.mkdir()
        return folder

    def _folders(self) -> Iterator[Path]:
        """Yield the folders in which plans, and applied plans, may be."""
        beside = self._collection.beside
        yield beside
        for parent in (beside, beside / DECISIONS):
            if parent.is_dir() and (parent == beside or not parent.is_symlink()):
                with os.scandir(parent) as entries:
                    folders = [
                        Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)
                    ]
                yield from folders
                if parent != beside:
                    outs = (folder / OUT for folder in folders)
                    yield from (out for out in outs if not out.is_symlink())

    def _last_plan(self) -> tuple[Path, _PlanFile, Path | None] | None:
        """Return the plan that was made last, its file, and the folder in which it is applied."""
        plans: dict[Path, _PlanFile] = {}
        applied: dict[str, Path] = {}
        name = self._collection.spec.name
        for folder in self._folders():
            file = self._plan_in(folder)
            if file is None or file.plan.as_planned.name != name:
                continue
            if (folder / DECISION).is_file():
                applied[file.hash] = folder
            else:
                plans[folder / PLAN] = file
        if not plans:
            return None
        path = max(plans, key=lambda path: (plans[path].plan.created, path))
        return path, plans[path], applied.get(plans[path].hash)

    def _plan_in(self, folder: Path) -> _PlanFile | None:
        path = folder / PLAN
        if not path.is_file() or path.is_symlink():
            return None

        def read() -> _PlanFile | None:
            plan = read_plan(path) if kind_of(path) == "plan" else None
            return _PlanFile(plan, plan.hash()) if plan else None

        return self._kept.get(path, [path], read)

    def _view(self) -> DecisionView:
        last = self._last_plan()
        if last is None:
            return DecisionView()
        plan_file, (plan, plan_hash), out = last
        if self._checked is None:
            self._checked = CheckedValues(self._collection.built)
        self._checked.people.refresh()
        view = DecisionView(
            planned=True,
            plan_file=plan_file,
            plan=plan,
            plan_hash=plan_hash,
            out=out or plan_file.with_name(OUT),
        )
        if out and (out / APPLIED).is_file():
            return self._applied_view(view, self._checked)
        return self._reading_view(view, plan, self._checked)

    def _reading_view(self, view: DecisionView, plan: Plan, checked: CheckedValues) -> DecisionView:
        file = view.plan_file
        stage = ReadingStage("learn", plan.first_stage, plan.case)
        is_learned = learned_file(file).exists()
        if is_learned:
            stage = self._kept.get(
                (file, "learned"),
                [file, learned_file(file)],
                lambda: second_reading(plan, read_learned(plan, file)),
            )
        return replace(
            view,
            sample=len(stage.values),
            to_read=len(stage.to_read(checked.readings(view.plan_hash))),
            is_learned=is_learned,
            stage=stage,
        )

    def _applied_view(self, view: DecisionView, checked: CheckedValues) -> DecisionView:
        out, built = view.out, self._collection.built
        files = [out / name for name in (APPLIED, DECISION, PLAN, CONTROL)]
        applied, decision, control, control_hash = self._kept.get(
            out, files, lambda: _applied_in(out)
        )
        stage = ReadingStage("control", control.values, control.case)

        def counted() -> Counter[str]:
            """Count, by field, the doubtful values that nobody has read or decided."""
            worked = WorkedValues(built, applied.values_sha256).current()
            return Counter(
                key.field for key in doubtful_values(out, self.dataset()) - worked.keys()
            )

        files += [out / WORK_LIST, built / METADATA, built / PEOPLE]
        left = self._kept.get((out, "left"), files, counted)
        return replace(
            view,
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
