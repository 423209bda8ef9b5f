"""The control sample: accepted values, drawn at random and read blind.

Only the control sample shows, independently of the plan's readings, how many of the values that
were accepted are wrong. Values that people check because they look doubtful say nothing about
others.
"""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field as Checked

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.folder import (
    APPLIED,
    CONTROL,
    PLAN,
    TAKEN,
    VALUES,
    Applied,
    check_values,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.learning import check_unchanged
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.outcomes import StageReadings, is_wrong, outcomes_of, stage_readings
from hdbench.collections.trust.plan import RIGHTS, Plan, Right
from hdbench.collections.trust.runs import Judged, fields_called
from hdbench.collections.trust.sample import CONTROL_DRAW, Pair
from hdbench.collections.trust.seals import Sealed, Sha256, read_sealed, write_sealed
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.readings import ReadingStage, Settled
from hdbench.common.jsonio import read_jsonl
from hdbench.common.validation import Strict
from hdbench.common.value_text import Case, text_of
from hdbench.errors import HdbenchError, Message
from hdbench.statistics.share_of_unread import upper_share

_HEAD = """\
# A control sample of hdbench trust apply: accepted values, drawn at random. Read them without
# looking at what was accepted. hdbench annotate FOLDER --only opens them.
"""


class ControlSample(Sealed):
    """A control sample.

    Attributes:
        plan: the plan's hash.
        values_sha256: sha256 of the file of values that it was drawn from.
        seed: the seed of the draw.
        of: how many values are accepted.
        case: see `Plan`.
        sample: item and field of each, in the order in which they were drawn; none if no value is
            accepted.
    """

    KIND = "control"
    WHAT = Message("a control sample")
    TO_DO = Message("restore it")
    HEAD = _HEAD

    plan: Sha256
    values_sha256: Sha256
    seed: int
    of: Annotated[int, Checked(ge=0)]
    case: Case
    sample: tuple[Pair, ...]

    @property
    def values(self) -> list[ValueKey]:
        """Return the values."""
        return [ValueKey(*pair) for pair in self.sample]


class WrongFound(Strict):
    """Wrong values among those accepted, in the control sample.

    Attributes:
        count: how many.
        rate: the share, 0.0 to 1.0.
        upper: the upper bound of the share among all values accepted, see `upper_share`.
    """

    count: int
    rate: float
    upper: float


class Controlled(Strict):
    """Findings of a control sample.

    Attributes:
        plan: the plan's hash.
        of: how many values were accepted.
        values: how many of them were read.
        limit: see `Plan`.
        confidence: see `Plan`.
        right: the criterion that counts.
        case: see `Plan`.
        wrong: to the letter and by the threshold.
        readings: what people read.
    """

    plan: str
    of: int
    values: int
    limit: float
    confidence: float
    right: Right
    case: Case
    wrong: dict[Right, WrongFound]
    readings: StageReadings

    @property
    def holds(self) -> bool:
        """Return whether even the upper bound is within the limit."""
        return self.wrong[self.right].upper <= self.limit


def write_control(
    out: Path, plan: Plan, values_sha256: str, taken: int, number: int
) -> ControlSample:
    """Draw a control sample and write it with its hash.

    Args:
        out: the folder of `hdbench trust apply`, whose values are written.
        plan: the plan.
        values_sha256: sha256 of the file of values.
        taken: how many values are accepted.
        number: how many are drawn; all, if there are fewer.

    Raises:
        HdbenchError: it cannot be written.
    """
    control = ControlSample(
        plan=plan.hash(),
        values_sha256=values_sha256,
        of=taken,
        seed=plan.seed,
        case=plan.case,
        sample=tuple(_drawn(out / VALUES, plan, taken, number)),
    )
    write_sealed(out / CONTROL, control)
    return control


def read_control(path: Path) -> ControlSample:
    """Return a control sample, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a control sample, or was changed since.
    """
    return read_sealed(path, ControlSample)


def read_drawn(path: Path) -> ControlSample:
    """Return a control sample that has any values.

    Raises:
        HdbenchError: it has none, as nothing was accepted; see also `read_control`.
    """
    control = read_control(path)
    if not control.sample:
        raise HdbenchError(
            "{place}: no value was accepted, so there is nothing to control", place=path
        )
    return control


def _drawn(path: Path, plan: Plan, taken: int, number: int) -> list[Pair]:
    """Draw from the accepted values in the file."""
    order = np.random.default_rng([plan.seed, CONTROL_DRAW]).permutation(taken)[:number].tolist()
    wanted, position = set(order), 0
    pairs: dict[int, Pair] = {}
    for line in read_jsonl(path):
        for name, value in line.value["fields"].items():
            if value["decision"] == TAKEN:
                if position in wanted:
                    pairs[position] = (line.value["id"], name)
                position += 1
    return [pairs[position] for position in order]


def check_whole(out: Path, applied: Applied, control: ControlSample) -> None:
    """Refuse a control sample that is not as it was drawn, such as one cut to its first values.

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
            "good says nothing about the others: restore the file, and read all of its values",
            place=out / CONTROL,
        )


def check_control(out: Path, benchmark: Benchmark) -> Controlled:
    """Return how many of the accepted values are wrong in the control sample.

    Args:
        out: the folder of `hdbench trust apply`.
        benchmark: the items; what people read is in its folder.

    Raises:
        HdbenchError: a value is not read yet, or none was accepted; the folder is not finished, or
            was changed; the list of items is another one, or something else of the benchmark has
            changed since the plan was made.
    """
    plan, _ = read_begun(out)
    applied, control = read_applied(out), read_drawn(out / CONTROL)
    check_unchanged(plan, benchmark, out / PLAN)
    check_values(out, applied)
    check_whole(out, applied, control)
    ledger = Ledger(benchmark.folder)
    ledger.require("applied", plan.hash(), applied.hash(), out / APPLIED)
    readings = People(benchmark.folder).readings(control.hash())
    stage = ReadingStage("control", control.values, plan.case)
    outcomes = outcomes_of(stage, readings, benchmark, out / CONTROL)
    texts = _texts(out / VALUES, outcomes)
    fields = {field.path: field for field in fields_called(plan.fields, benchmark)}
    metric = benchmark.spec.make_metric("documented")
    wrong = {
        key: is_wrong(metric, fields[key.field], texts[key], outcome, plan.case)
        for key, outcome in outcomes.items()
    }
    ledger.add("control", plan.hash(), control.hash())
    number, risk = len(outcomes), 1 - Fraction(str(plan.confidence))
    counts = {right: sum(value[right] for value in wrong.values()) for right in RIGHTS}
    return Controlled(
        plan=control.plan,
        of=control.of,
        values=number,
        limit=plan.limit,
        confidence=plan.confidence,
        right=plan.right,
        case=plan.case,
        wrong={
            right: WrongFound(
                count=count, rate=count / number, upper=upper_share(control.of, number, count, risk)
            )
            for right, count in counts.items()
        },
        readings=stage_readings(outcomes, readings, plan.case),
    )


def _texts(path: Path, wanted: dict[ValueKey, Settled]) -> dict[ValueKey, Judged]:
    """Return the values of the sample as they were accepted."""
    items = {key.item for key in wanted}
    texts = {}
    for line in read_jsonl(path):
        if line.value["id"] in items:
            for name, value in line.value["fields"].items():
                text = text_of(value["value"])
                texts[ValueKey(line.value["id"], name)] = Judged(value["value"], text, None, None)
    return texts
