"""The control sample of single values: accepted values, drawn at random and read blind."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field as Checked

from hdbench.annotating.checking.checked_values import CheckedValues, Settled, ValueKey
from hdbench.answers.letters import text_of
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.jsonio import parse_line, raw_lines
from hdbench.errors import HdbenchError
from hdbench.statistics.acceptance import bounds_of_share
from hdbench.statistics.share_of_unread import upper_share
from hdbench.trust.applied_folder import (
    CONTROL,
    IS_TAKEN,
    PLAN,
    TAKEN,
    VALUES,
    read_applied,
    read_begun,
    taken_in,
)
from hdbench.trust.control import (
    Controlled,
    ControlSample,
    FieldFound,
    Found,
    check_control_drawn,
    check_values,
)
from hdbench.trust.learned.decision import is_wrong
from hdbench.trust.learned.learning import check_unchanged, outcomes_of, stage_readings
from hdbench.trust.learned.plan import CONTROL_DRAW, Pair, ValuePlan
from hdbench.trust.plan import RIGHTS
from hdbench.trust.runs import Judged, planned_fields
from hdbench.trust.sealed import read_sealed, write_sealed

_HEAD = """\
# A control sample of hdbench trust apply: accepted values, drawn at random. Read them without
# looking at what was accepted. hdbench annotate FOLDER --only opens them.
"""


class ValueControl(ControlSample):
    """A control sample of single values.

    Attributes:
        of: how many values are accepted.
        sample: item and field of each, in the order in which they were drawn; none if no value is
            accepted.
    """

    VERSION = 2
    HEAD = _HEAD

    of: Annotated[int, Checked(ge=0)]
    sample: tuple[Pair, ...]

    @property
    def values(self) -> list[ValueKey]:
        """Return the values."""
        return [ValueKey(*pair) for pair in self.sample]


def write_value_control(
    out: Path, plan: ValuePlan, values_sha256: str, taken: int, number: int
) -> ValueControl:
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
    control = ValueControl(
        plan=plan.hash(),
        values_sha256=values_sha256,
        of=taken,
        seed=plan.seed,
        sample=tuple(_drawn(out / VALUES, plan, taken, number)),
    )
    write_sealed(out / CONTROL, control)
    return control


def read_value_control(path: Path) -> ValueControl:
    """Return a control sample of single values, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not such a sample, or was changed since.
    """
    return read_sealed(path, ValueControl)


def read_drawn_values(path: Path) -> ValueControl:
    """Return a control sample of single values that has any.

    Raises:
        HdbenchError: it has none, as nothing was accepted; see also `read_value_control`.
    """
    control = read_value_control(path)
    if not control.sample:
        raise HdbenchError(
            "{place}: no value was accepted, so there is nothing to control", place=path
        )
    return control


def _drawn(path: Path, plan: ValuePlan, taken: int, number: int) -> list[Pair]:
    """Draw from the accepted values in the file."""
    order = np.random.default_rng([plan.seed, CONTROL_DRAW]).permutation(taken)[:number]
    wanted = sorted(order.tolist())
    pairs: dict[int, Pair] = {}
    before = 0
    for count, _, raw in raw_lines(path):
        here = taken_in(raw, len(plan.fields))
        if len(pairs) < len(wanted) and wanted[len(pairs)] < before + here:
            line = parse_line(raw, f"{path}:{count}")
            names = [name for name, value in line["fields"].items() if value["decision"] == TAKEN]
            while len(pairs) < len(wanted) and wanted[len(pairs)] < before + here:
                position = wanted[len(pairs)]
                pairs[position] = (line["id"], names[position - before])
        before += here
    return [pairs[position] for position in order.tolist()]


def check_value_control(out: Path, benchmark: Benchmark) -> Controlled:
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
    assert isinstance(plan, ValuePlan)  # noqa: S101  the caller looked
    applied, control = read_applied(out), read_drawn_values(out / CONTROL)
    check_unchanged(plan, benchmark, out / PLAN)
    check_values(out, applied, control)
    check_control_drawn(
        out,
        applied,
        control,
        counted=control.of,
        counted_in=out / CONTROL,
        is_as_drawn=lambda: (
            _drawn(out / VALUES, plan, control.of, len(control.sample)) == list(control.sample)
        ),
    )
    readings = CheckedValues(benchmark.folder).readings(control.hash())
    outcomes = outcomes_of(control.values, readings, benchmark, out / CONTROL)
    texts = _texts(out / VALUES, outcomes)
    fields = {field.path: field for field in planned_fields(plan, benchmark)}
    metric = benchmark.spec.make_metric("documented")
    wrong = {
        key: is_wrong(metric, key.item, fields[key.field], texts[key], outcome)
        for key, outcome in outcomes.items()
    }
    number, risk = len(outcomes), 1 - Fraction(str(plan.confidence))
    counts = {right: sum(value[right] for value in wrong.values()) for right in RIGHTS}
    return Controlled(
        unit="value",
        plan=control.plan,
        items=number,
        of=control.of,
        values=number,
        taken=applied.taken,
        limit=plan.limit,
        confidence=plan.confidence,
        right=plan.right,
        wrong={
            right: Found(
                count=count, rate=count / number, upper=upper_share(control.of, number, count, risk)
            )
            for right, count in counts.items()
        },
        by_field=_by_field(plan, {key: value[plan.right] for key, value in wrong.items()}),
        not_blind={},
        sealed=True,
        readings=stage_readings(outcomes, readings),
    )


def _texts(path: Path, wanted: dict[ValueKey, Settled]) -> dict[ValueKey, Judged]:
    """Return the values of the sample as they were accepted."""
    items = {key.item for key in wanted}
    texts = {}
    for count, _, raw in raw_lines(path):
        if IS_TAKEN not in raw:
            continue
        line = parse_line(raw, f"{path}:{count}")
        if line["id"] in items:
            for name, value in line["fields"].items():
                text = text_of(value["value"])
                texts[ValueKey(line["id"], name)] = Judged(value["value"], text, None, None)
    return texts


def _by_field(plan: ValuePlan, wrong: dict[ValueKey, bool]) -> dict[str, FieldFound]:
    """Return what was found by field; the bounds of all fields hold together (Bonferroni)."""
    read = Counter(key.field for key in wrong)
    failed = Counter(key.field for key, is_so in wrong.items() if is_so)
    confidence = 1 - (1 - plan.confidence) / len(read)
    return {
        name: FieldFound(
            taken=read[name],
            wrong=failed[name],
            share=bounds_of_share(failed[name], read[name], confidence),
        )
        for name in plan.fields
        if read[name]
    }
