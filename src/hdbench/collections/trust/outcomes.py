"""What came of what people read: outcomes, their counts and hashes, and which values are wrong."""

import hashlib
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field as Checked

from hdbench.answers.entries import put
from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.collections.trust.cuts import Count
from hdbench.collections.trust.fields import ItemField
from hdbench.collections.trust.plan import RIGHTS, Right
from hdbench.collections.trust.runs import Judged
from hdbench.collections.truth.events import Reading, ValueKey
from hdbench.collections.truth.readings import (
    MOST_READINGS,
    TWICE,
    ReadingStage,
    Settled,
    reader_agreement,
    settled,
)
from hdbench.common.validation import Strict
from hdbench.common.value_text import Case, folded, text_of
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import Metric


def is_wrong(
    metric: Metric, field: ItemField, choice: Judged, outcome: Settled, case: Case
) -> dict[Right, bool]:
    """Return whether a value is wrong, by each criterion; what nobody could read is."""
    if outcome.outcome != "value":
        return dict.fromkeys(RIGHTS, True)
    letter = folded(choice.text, case) != folded(text_of(outcome.value), case)
    threshold = _is_wrong_by_metric(metric, field, choice.value, outcome.value)
    return {"letter": letter, "threshold": letter if threshold is None else threshold}


def _is_wrong_by_metric(metric: Metric, field: ItemField, value: Any, truth: Any) -> bool | None:
    """Return whether the metric counts a value as wrong; None if it leaves such an item out."""
    item = Item("", _record(truth, field))
    prepared = metric.prepare(item.reference(metric.protocol))
    if prepared is None:
        return None
    score = metric.score(_record(value, field), prepared)
    wrong = (
        re.sub(r"\[\d+\]", "", match.field)
        for match in metric.explain(score)
        if match.outcome != "correct"
    )
    return any(path == field.path or path.startswith(f"{field.path}.") for path in wrong)


def _record(value: Any, field: ItemField) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if value is not None:
        put(record, field.names, value)
    return record


Readings = Mapping[ValueKey, Sequence[Reading]]
"""What people read, by value."""


class StageReadings(Strict):
    """What people read in one stage.

    Attributes:
        values: how many values.
        unreadable: how many nobody can read; they count as wrong.
        damaged: how many are damaged; they count as wrong.
        unsettled: of how many people do not agree; they count as wrong.
        readers: who read how many of them.
        twice: how many values were read by two people.
        same: in how many of these the two say the same.
        seconds: the median of the seconds that a person takes for a value; None if not measured.
    """

    values: Count
    unreadable: Count
    damaged: Count
    unsettled: Count
    readers: dict[str, Count]
    twice: Count
    same: Count
    seconds: Annotated[float, Checked(ge=0)] | None = None


def outcomes_of(
    stage: ReadingStage,
    readings: Mapping[ValueKey, Sequence[Reading]],
    benchmark: Benchmark,
    sample: Path,
) -> dict[ValueKey, Settled]:
    """Return the outcome of the readings of each value.

    Args:
        stage: the values.
        readings: the readings of each value that was read.
        benchmark: the benchmark in which they are read.
        sample: the plan, or the control sample.

    Raises:
        HdbenchError: one was not read, or not as often as it has to be.
    """
    to_read = stage.to_read(readings)
    missing = [value for value in to_read if not readings.get(value)]
    place = {"benchmark": benchmark.id, "path": sample}
    if missing:
        raise HdbenchError(
            "{count:,} of {of:,} values are not read yet, such as {field} of {item}: hdbench "
            "annotate {benchmark} --only {path} opens them",
            count=len(missing),
            of=len(stage.values),
            field=missing[0].field,
            item=missing[0].item,
            **place,
        )
    if to_read:
        raise HdbenchError(
            "{count:,} of {of:,} values have to be read once more, by another person if several "
            "read: hdbench annotate {benchmark} --only {path} opens them",
            count=len(to_read),
            of=len(stage.values),
            **place,
        )
    most = MOST_READINGS if stage.chosen else None
    return {value: settled(readings[value][:most], stage.case) for value in stage.values}


def outcomes_sha256(outcomes: Mapping[ValueKey, Settled]) -> str:
    """Return the hash of outcomes, in their order."""
    lines = [
        json.dumps([*value, outcome.outcome, text_of(outcome.value)])
        for value, outcome in outcomes.items()
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def stage_readings(
    outcomes: Mapping[ValueKey, Settled],
    readings: Mapping[ValueKey, Sequence[Reading]],
    case: Case,
) -> StageReadings:
    """Return the counts of what people read.

    People agree as far as they do on the values that are read twice by chance: those that are read
    again because models say something else are harder than others.

    Args:
        outcomes: the outcome of each value, in the order of the stage.
        readings: the readings.
        case: whether upper and lower case count.
    """
    of_values = [readings[value] for value in outcomes]
    ways = [outcome.outcome for outcome in outcomes.values()]
    seconds = [line.seconds for lines in of_values for line in lines if line.seconds is not None]
    agreement = reader_agreement(of_values[::TWICE], case)
    return StageReadings(
        values=len(outcomes),
        unreadable=ways.count("unreadable"),
        damaged=ways.count("damaged"),
        unsettled=ways.count("unsettled"),
        readers=dict(sorted(Counter(line.by for lines in of_values for line in lines).items())),
        twice=agreement.twice,
        same=agreement.same,
        seconds=round(statistics.median(seconds), 1) if seconds else None,
    )


def readings_sha256(readings: Iterable[Reading]) -> str:
    """Return the hash of readings in any order."""
    lines = sorted(reading.model_dump_json(exclude={"number", "previous"}) for reading in readings)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
