"""The control sample: items whose values were accepted, drawn at random and checked blind.

Only the control sample shows, independently of the plan's sample, how many of the values that were
accepted are wrong. Values that people check because they look doubtful say nothing about others.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field as Checked

from hdbench.answers.letters import text_of
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.provenance import BLIND
from hdbench.common.checked import Strict
from hdbench.common.jsonio import parse_line, plain_id, raw_lines
from hdbench.common.regular_files import file_sha256
from hdbench.errors import HdbenchError, Message
from hdbench.statistics.acceptance import ShareBounds, bounds_of_share, upper_bound
from hdbench.trust.applied_folder import (
    APPLIED,
    CONTROL,
    PLAN,
    TAKEN,
    VALUES,
    Applied,
    check_same_list,
    read_applied,
    read_begun,
    taken_in,
)
from hdbench.trust.as_planned import check_as_planned
from hdbench.trust.checked import how_made, truths_of, wrong_values
from hdbench.trust.learned.learning import StageReadings
from hdbench.trust.plan import RIGHTS, Plan, Right
from hdbench.trust.runs import Judged, planned_fields
from hdbench.trust.sealed import Sealed, Sha256, read_sealed, write_sealed

_HEAD = """\
# A control sample of hdbench trust apply: items whose values were accepted, drawn at random.
# Check them without looking at what was accepted. hdbench annotate FOLDER --only opens them.
"""


DRAFTED = Message(
    "the control sample has to be checked before the work list, without drafts; the promise of the "
    "plan stays as it is"
)
"""What to do if its truths were made from drafts."""


class ControlSample(Sealed):
    """What control samples of both kinds say.

    Attributes:
        plan: the plan's hash.
        values_sha256: sha256 of the file of values that it was drawn from.
        seed: the seed of the draw.
    """

    KIND = "control"
    WHAT = Message("a control sample")
    TO_DO = Message("restore it")

    plan: Sha256
    values_sha256: Sha256
    seed: int


class Control(ControlSample):
    """A control sample of items.

    Attributes:
        of: how many items have a value that is accepted.
        sample: the items, in the order in which they were drawn.
    """

    HEAD = _HEAD

    of: Annotated[int, Checked(ge=0)]
    sample: tuple[str, ...]


class Found(Strict):
    """Wrong values among those accepted, in the control sample.

    Attributes:
        count: how many.
        rate: the share, 0.0 to 1.0.
        upper: the upper bound of the share among all values accepted, see `upper_bound`.
    """

    count: int
    rate: float
    upper: float


class FieldFound(Strict):
    """Wrong values of one field in the control sample.

    Attributes:
        taken: how many of its values were accepted in the sample.
        wrong: how many of these are wrong, by the criterion of the plan.
        share: the bounds of the share of wrong values.
    """

    taken: int
    wrong: int
    share: ShareBounds


class Controlled(Strict):
    """Findings of a control sample.

    Attributes:
        unit: what was drawn.
        plan: the plan's hash.
        items: how many items, or values, were checked.
        of: how many they were drawn from.
        values: how many of their values were accepted.
        taken: how many values were accepted in the population.
        limit: see `Plan`.
        confidence: see `Plan`.
        right: the criterion that counts.
        wrong: to the letter and by the threshold.
        by_field: path → wrong values of that field.
        not_blind: how truths were made, unless they are known to be blind → how many.
        sealed: whether the benchmark is known to be as it was when the plan was made; plans of
            earlier versions do not record it.
        readings: what people read, if single values were drawn.
    """

    unit: Literal["item", "value"] = "item"
    plan: str
    items: int
    of: int
    values: int
    taken: int
    limit: float
    confidence: float
    right: Right
    wrong: dict[Right, Found]
    by_field: dict[str, FieldFound]
    not_blind: dict[str, int]
    sealed: bool
    readings: StageReadings | None = None

    @property
    def holds(self) -> bool:
        """Return whether even the upper bound is within the limit."""
        return self.wrong[self.right].upper <= self.limit


def draw_control(ids: Sequence[str], number: int, seed: int) -> list[str]:
    """Draw items at random, in random order.

    Args:
        ids: the items that have a value that is accepted.
        number: how many are drawn; all of them, if there are fewer.
        seed: the plan's.
    """
    rng = np.random.default_rng([seed, 2])  # 0 and 1 draw and order the plan's sample
    order = rng.permutation(len(ids))[:number]
    return [ids[index] for index in order.tolist()]


def write_control(
    path: Path, plan: Plan, values_sha256: str, ids: Sequence[str], number: int
) -> Control:
    """Draw a control sample and write it with its hash.

    Args:
        path: the file.
        plan: the plan.
        values_sha256: sha256 of the file of values.
        ids: the items that have a value that is accepted.
        number: how many are drawn.

    Returns:
        The sample.

    Raises:
        HdbenchError: it cannot be written.
    """
    control = Control(
        plan=plan.hash(),
        values_sha256=values_sha256,
        of=len(ids),
        seed=plan.whole.seed,
        sample=tuple(draw_control(ids, number, plan.whole.seed)),
    )
    write_sealed(path, control)
    return control


def read_control(path: Path) -> Control:
    """Return a control sample, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a control sample, or was changed since.
    """
    return read_sealed(path, Control)


def check_whole(out: Path, applied: Applied, control: ControlSample) -> None:
    """Refuse a control sample that is not as it was drawn, such as one cut to its first items.

    Args:
        out: the folder of `hdbench trust apply`.
        applied: the record of what was done.
        control: the control sample that is there.

    Raises:
        HdbenchError: it is not as it was drawn.
    """
    if applied.control_sha256 != control.hash():
        raise HdbenchError(
            "{place}: not the control sample that was drawn: a sample that ends where it looks "
            "good says nothing about the others: restore the file, and check all of its items",
            place=out / CONTROL,
        )


def check_values(out: Path, applied: Applied, control: ControlSample) -> None:
    """Refuse values that are not those that a control sample was drawn from.

    Args:
        out: the folder of `hdbench trust apply`.
        applied: the record of what was done.
        control: the control sample.

    Raises:
        HdbenchError: they are not.
    """
    if {file_sha256(out / VALUES), control.values_sha256} != {applied.values_sha256}:
        raise HdbenchError(
            "{place}: is not what the control sample was drawn from: restore it, or apply the plan "
            "again into another folder",
            place=out / VALUES,
        )


def check_control_drawn(
    out: Path,
    applied: Applied,
    control: ControlSample,
    *,
    counted: int,
    counted_in: Path,
    is_as_drawn: Callable[[], bool],
) -> None:
    """Refuse a control sample that is not the one that the plan's seed draws.

    Args:
        out: the folder of `hdbench trust apply`.
        applied: the record of what was done.
        control: the control sample.
        counted: how many values are accepted.
        counted_in: the file that says so.
        is_as_drawn: draws the sample again, and returns whether it is the same.

    Raises:
        HdbenchError: it is not; see `check_whole`, too.
    """
    if counted != applied.taken:
        raise HdbenchError(
            "{place}: says that {said:,} values are accepted, and in {values} {there:,} are: "
            "restore it",
            place=out / APPLIED,
            said=applied.taken,
            values=counted_in,
            there=counted,
        )
    if not is_as_drawn():
        raise HdbenchError(
            "{place}: its items are not those that the seed of the plan draws: items were chosen, "
            "so that they say nothing about the others: restore the file",
            place=out / CONTROL,
        )
    check_whole(out, applied, control)


def check_control(out: Path, benchmark: Benchmark) -> Controlled:
    """Return how many of the values that were accepted are wrong in the control sample.

    Args:
        out: the folder of `hdbench trust apply`.
        benchmark: the items, those of the control sample with their truth.

    Raises:
        HdbenchError: an item has no truth yet, or one that was made from a draft; the folder is not
            finished, or was changed; the list of items is another one, or something else of the
            benchmark has changed since the plan was made.
    """
    plan, _ = read_begun(out)
    assert isinstance(plan, Plan)  # noqa: S101  the caller looked
    applied, control = read_applied(out), read_control(out / CONTROL)
    if not control.sample:
        raise HdbenchError("{place}: has no items: nothing was drawn", place=out / CONTROL)
    check_same_list(plan, benchmark, out)
    if plan.as_planned is not None:
        check_as_planned(plan.as_planned, benchmark, plan.sample, out / PLAN, plan.hdbench)
    check_values(out, applied, control)
    truths = truths_of(control.sample, benchmark, DRAFTED)
    fields = planned_fields(plan, benchmark)
    metric = benchmark.spec.make_metric("documented")
    lines, with_taken, taken = _lines(out / VALUES, frozenset(control.sample), len(plan.fields))
    check_control_drawn(
        out,
        applied,
        control,
        counted=taken,
        counted_in=out / VALUES,
        is_as_drawn=lambda: (
            draw_control(with_taken, len(control.sample), plan.whole.seed) == list(control.sample)
        ),
    )
    passing, failing = [], []
    for item in truths:
        line = [lines[item.id][field.path] for field in fields]
        judged = [Judged(value["value"], text_of(value["value"]), None, None) for value in line]
        passing.append([value["decision"] == TAKEN for value in line])
        failing.append(wrong_values(metric, item, judged, fields))
    passes = np.array(passing)
    wrong = {right: passes & np.array([of_item[right] for of_item in failing]) for right in RIGHTS}
    counting = wrong[plan.right]
    ways = Counter(map(how_made, truths))
    del ways[BLIND]
    return Controlled(
        plan=control.plan,
        items=len(truths),
        of=control.of,
        values=int(passes.sum()),
        taken=applied.taken,
        limit=plan.limit,
        confidence=plan.confidence,
        right=plan.right,
        wrong={
            right: Found(
                count=int(errors.sum()),
                rate=float(errors.sum() / passes.sum()),
                upper=upper_bound(passes.sum(axis=1), errors.sum(axis=1), plan.confidence),
            )
            for right, errors in wrong.items()
        },
        by_field={
            field.path: _field_found(passes[:, column], counting[:, column], plan.confidence)
            for column, field in enumerate(fields)
            if passes[:, column].any()
        },
        not_blind=dict(ways),
        sealed=plan.as_planned is not None,
    )


def _field_found(passes: Any, wrong: Any, confidence: float) -> FieldFound:
    taken, failed = int(passes.sum()), int(wrong.sum())
    return FieldFound(taken=taken, wrong=failed, share=bounds_of_share(failed, taken, confidence))


def _lines(
    path: Path, wanted: frozenset[str], number_of_fields: int
) -> tuple[dict[str, dict[str, dict[str, Any]]], list[str], int]:
    """Read the file of values; those accepted are counted without parsing most lines.

    Args:
        path: the file.
        wanted: the ids of items.
        number_of_fields: how many fields an item has.

    Returns:
        The fields of the items that are wanted, by id; the ids of all items with a value that is
        accepted; the number of values that are accepted.
    """
    fields, with_taken, taken = {}, [], 0
    for number, _, raw in raw_lines(path):
        item_id = plain_id(raw)
        if item_id is None or item_id in wanted:
            line = parse_line(raw, f"{path}:{number}")
            item_id = line["id"]
            if item_id in wanted:
                fields[item_id] = line["fields"]
        if here := taken_in(raw, number_of_fields):
            with_taken.append(item_id)
            taken += here
    return fields, with_taken, taken
