"""Learning from values that people checked how probable it is that a value is wrong."""

import datetime
import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Checked

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.collections.trust.benchmark_state import check_as_planned
from hdbench.collections.trust.cuts import (
    BILLION,
    UNANSWERED,
    Count,
    Cut,
    Probabilities,
    Share,
    choose_cuts,
    draw_second,
)
from hdbench.collections.trust.plan import (
    SECOND_DRAW,
    Pair,
    Plan,
    draw_first,
    known_sha256,
    known_values,
    list_sha256,
)
from hdbench.collections.trust.probabilities import (
    ChosenValues,
    Floats,
    Scales,
    blocks_of,
    chosen_values,
    columns_of,
    names_of_columns,
    scales_of,
)
from hdbench.collections.trust.runs import Judged, Runs, opened_runs
from hdbench.collections.trust.seals import Sealed, Sha256
from hdbench.collections.truth.events import Reading, ValueKey
from hdbench.collections.truth.reading_queue import MOST_READINGS, TWICE, ReadingStage, mark_of
from hdbench.collections.truth.readings import (
    CheckedValues,
    Settled,
    reader_agreement,
    settled,
)
from hdbench.common.letters import Case, folded, text_of
from hdbench.common.validation import Strict
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import differences
from hdbench.statistics.logistic import fit, probability

COEFFICIENT_DIGITS = 6
"""Decimals of coefficients: only rounded ones count."""

MOVABLE = {"hdbench", "created"}
"""Keys that differ when it is learned again."""

LAST_DIGIT = 1.5e-6
"""By how much two coefficients may differ that were rounded on different machines."""

Readings = Mapping[ValueKey, Sequence[Reading]]
"""What people read, by value."""

_HEAD = """\
# What a plan of hdbench trust has learned, and the values to verify it with. It holds only as it
# is: changing it, even by a letter, makes it void. hdbench annotate FOLDER --only PLAN opens them.
"""


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


class CutGroup(Strict):
    """Fields that are promised together.

    Attributes:
        fields: their paths.
        cuts: the cuts, from strict to loose.
        drawn: how many values were drawn to verify them.
    """

    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    cuts: Annotated[tuple[Cut, ...], Checked(min_length=1)]
    drawn: Count


class Expected(Strict):
    """What is expected of some values.

    Attributes:
        values: how many there are.
        wrong: the share of them that is expected to be wrong: their mean probability.
    """

    values: Count
    wrong: Share


class Learned(Sealed):
    """What a plan has learned.

    Attributes:
        plan: the plan's hash.
        hdbench: the version that learned.
        created: when, in UTC.
        answered: how many items at least one run answered.
        readings: what people read in the first stage.
        reading_ids: the ids of these readings: what was read of the first stage afterwards, by
            somebody who had not noticed, changes nothing.
        readings_sha256: sha256 of the outcomes of these readings.
        wrong: how many of the values to learn from were wrong, to the letter.
        learned_from: how many values it learned from.
        intercept: see `coefficients`.
        coefficients: column → its coefficient, for columns with mean 0 and standard deviation 1.
        probabilities_sha256: sha256 of the file with the probability of each value.
        groups: the fields that are promised together, and their cuts.
        expected: how many values there are, and what is expected of them.
        by_field: path → the same for that field.
        sample: the values of the second stage: item and field, in the order of drawing.
        chosen: the mark of what the runs say of each, see `mark_of`, by which it is found out what
            people have to read again.
    """

    KIND = "learned"
    WHAT = Message("what a plan has learned")
    TO_DO = Message("restore it: it cannot be learned again once values were verified by it")
    HEAD = _HEAD

    plan: Sha256
    hdbench: str
    created: str
    answered: Annotated[Count, Checked(ge=1)]
    readings: StageReadings
    reading_ids: tuple[str, ...]
    readings_sha256: Sha256
    wrong: Count
    learned_from: Count
    intercept: float
    coefficients: dict[str, float]
    probabilities_sha256: Sha256
    groups: Annotated[tuple[CutGroup, ...], Checked(min_length=1)]
    expected: Expected
    by_field: dict[str, Expected]
    sample: tuple[Pair, ...]
    chosen: tuple[str, ...]

    @property
    def most_accepted(self) -> int:
        """Return how many values are accepted if all groups pass at their loosest cuts."""
        return sum(group.cuts[-1].values for group in self.groups)

    @property
    def second_stage(self) -> list[ValueKey]:
        """Return the values of the second stage."""
        return [ValueKey(*pair) for pair in self.sample]


def second_reading(plan: Plan, learned: Learned) -> ReadingStage:
    """Return the second stage as people read it."""
    return ReadingStage("verify", learned.second_stage, plan.case, learned.chosen)


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


@dataclass(frozen=True)
class _Examples:
    """Values to learn from."""

    columns: Floats
    names: list[str]
    varies: NDArray[np.bool_]
    wrong: NDArray[np.bool_]


class Learning(NamedTuple):
    """What was learned, and the probability of each value in billionths."""

    learned: Learned
    probabilities: Probabilities


class _Fitted(NamedTuple):
    """The intercept, and column → its coefficient."""

    intercept: float
    coefficients: dict[str, float]


class _Described(NamedTuple):
    """All values of a collection, those to learn from, and those of another one."""

    ids: list[str]
    readings: Readings
    outcomes: dict[ValueKey, Settled]
    values: ChosenValues
    scales: Scales
    examples: _Examples
    source: _Examples | None


def learn(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Learning:
    """Learn from the first stage, fix the cuts, and draw the second stage.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.

    Raises:
        HdbenchError: values of the first stage are not read yet; the list of items, the runs or
            something else has changed since the plan was made.
    """
    readings = CheckedValues(benchmark.folder).readings(plan.hash())
    with opened(plan, benchmark, plan_file) as runs:
        described = _described(plan, benchmark, plan_file, readings, runs)
        fitted = _fitted(described)
        by_item = _by_item(described, fitted)
        return Learning(_record(plan, described, fitted, by_item, runs), by_item)


def _record(
    plan: Plan,
    described: _Described,
    fitted: _Fitted,
    by_item: Probabilities,
    runs: Runs,
) -> Learned:
    """Return what was learned, with the cuts and the second stage that follow from it."""
    ids, readings, outcomes, values, _, examples, _ = described
    probabilities = by_item[values.items].ravel()
    groups, sample = second_stage(plan, by_item, ids)
    return Learned(
        plan=plan.hash(),
        hdbench=__version__,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        answered=len(values.items),
        readings=stage_readings(outcomes, readings, plan.case),
        reading_ids=tuple(line.id for value in outcomes for line in readings[value]),
        readings_sha256=outcomes_sha256(outcomes),
        wrong=int(examples.wrong.sum()),
        learned_from=len(examples.wrong),
        intercept=fitted.intercept,
        coefficients=fitted.coefficients,
        probabilities_sha256=probabilities_sha256(by_item),
        groups=groups,
        expected=_expected(probabilities),
        by_field={
            name: _expected(probabilities[column :: len(values.fields)])
            for column, name in enumerate(values.fields)
        },
        sample=sample,
        chosen=tuple(
            mark_of(choice.text, plan.case)
            for choice in choices(runs, [ValueKey(*pair) for pair in sample])
        ),
    )


def choices(runs: Runs, values: Iterable[ValueKey]) -> Iterator[Judged]:
    """Yield what the runs say of some values."""
    columns = {field.path: column for column, field in enumerate(runs.fields)}
    for item, field in values:
        yield runs.judged(runs.records(item))[columns[field]]


def opened(plan: Plan, benchmark: Benchmark, plan_file: Path) -> AbstractContextManager[Runs]:
    """Open the runs of a plan, all of whose answers will be read."""
    return opened_runs(plan.runs, plan.fields, benchmark, plan_file, all_are_loaded=True)


def _described(
    plan: Plan, benchmark: Benchmark, plan_file: Path, readings: Readings, runs: Runs
) -> _Described:
    ids = check_unchanged(plan, benchmark, plan_file)
    stage = ReadingStage("learn", plan.first_stage, plan.case)
    outcomes = outcomes_of(stage, readings, benchmark, plan_file)
    check_first_draw(plan, runs, ids, plan_file)
    values = chosen_values(runs, ids, plan.fields)
    scales = scales_of(values)
    examples = _examples(values, scales, runs, _texts_read(outcomes), ids=ids, case=plan.case)
    source = _from_source(plan, plan_file) if plan.source else None
    return _Described(ids, readings, outcomes, values, scales, examples, source)


def learned_again(
    plan: Plan,
    benchmark: Benchmark,
    plan_file: Path,
    learned: Learned,
    probabilities: Probabilities,
) -> list[Message]:
    """Return what is not as it would be learned now, from the same answers and readings.

    Another machine may round the last digit otherwise.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.
        learned: what it has learned.
        probabilities: the probabilities that it has sealed.
    """
    checked = CheckedValues(benchmark.folder)
    readings = checked.readings_among(plan.hash(), learned.reading_ids)
    with opened(plan, benchmark, plan_file) as runs:
        described = _described(plan, benchmark, plan_file, readings, runs)
        sealed = _Fitted(learned.intercept, learned.coefficients)
        record = _record(plan, described, sealed, probabilities, runs)
    intercept, coefficients = _fitted(described)
    now = {"intercept": intercept, **coefficients}
    then = {"intercept": learned.intercept, **learned.coefficients}
    found = [
        Message("learned: {name}: {then} then, {now} now", name=name, then=before, now=after)
        for name in sorted(now.keys() | then.keys())
        if abs((before := then.get(name, 0.0)) - (after := now.get(name, 0.0))) > LAST_DIGIT
    ]
    apart = np.abs(_by_item(described, sealed).astype(np.int64) - probabilities) > 1
    if apart.any():
        found.append(
            Message(
                "learned: {count:,} probability does not follow from the coefficients",
                plural="learned: {count:,} probabilities do not follow from the coefficients",
                count=int(apart.sum()),
            )
        )
    lines = differences(
        *(each.model_dump(mode="json", exclude=MOVABLE) for each in (learned, record))
    )
    return [*found, *(Message("learned: {line}", line=line) for line in lines)]


def check_unchanged(plan: Plan, benchmark: Benchmark, plan_file: Path) -> list[str]:
    """Return the ids of all items, which are those of the plan.

    Raises:
        HdbenchError: they are others, or something else in the benchmark has changed.
    """
    ids = list(benchmark.ids())
    check_items(plan, ids, benchmark.id, plan_file)
    check_as_planned(plan.as_planned, benchmark, plan_file, plan.hdbench)
    return ids


def check_items(plan: Plan, ids: Sequence[str], benchmark: str, plan_file: Path) -> None:
    """Refuse other items than those of the plan."""
    if list_sha256(ids) != plan.list_sha256:
        raise HdbenchError(
            "{benchmark}: its items are not those that {place} was made for, and new items need "
            "a new plan: restore the list, or make a new plan",
            benchmark=benchmark,
            place=plan_file,
        )


def check_first_draw(plan: Plan, runs: Runs, ids: Sequence[str], plan_file: Path) -> None:
    """Refuse a first stage that the plan's seed does not draw."""
    drawn = draw_first(runs, ids, plan.fields, plan.learn, plan.seed, without=plan.read_before)
    if drawn != list(plan.sample):
        raise HdbenchError(
            "{place}: its values are not what the seed {seed} draws: values were chosen, or the "
            "order of the items has changed: make a new plan",
            place=plan_file,
            seed=plan.seed,
        )


def positions_of(pairs: Iterable[ValueKey], fields: Sequence[str], ids: Sequence[str]) -> list[int]:
    """Return the positions of values: the item's times the number of fields, plus the field's."""
    items = {item: number for number, item in enumerate(ids)}
    columns = {name: column for column, name in enumerate(fields)}
    return [items[pair.item] * len(fields) + columns[pair.field] for pair in pairs]


def _texts_read(outcomes: Mapping[ValueKey, Settled]) -> dict[ValueKey, str | None]:
    """Return the text of each value; None where nobody knows it, so that no value is right."""
    return {
        value: text_of(outcome.value) if outcome.outcome == "value" else None
        for value, outcome in outcomes.items()
    }


def _examples(
    values: ChosenValues,
    scales: Scales,
    runs: Runs,
    texts: Mapping[ValueKey, str | None],
    *,
    ids: Sequence[str],
    case: Case,
) -> _Examples:
    """Return the columns of values that were read, and whether they are wrong to the letter."""
    columns = {name: column for column, name in enumerate(values.fields)}
    wrong = [
        text is None or folded(choice.text, case) != folded(text, case)
        for choice, text in zip(choices(runs, texts), texts.values(), strict=True)
    ]
    rows = {ids[item]: row for row, item in enumerate(values.items.tolist())}
    positions = [rows[value.item] * len(columns) + columns[value.field] for value in texts]
    return _Examples(
        scales.scaled(columns_of(values, np.array(positions, dtype=np.int64))),
        names_of_columns(values),
        scales.varies,
        np.array(wrong),
    )


def _from_source(plan: Plan, plan_file: Path) -> _Examples:
    """Return examples from values of another benchmark that were checked already.

    Columns are scaled by their means and deviations there, so that collections of different sizes
    can be compared.
    """
    source = plan.source
    assert source is not None  # noqa: S101  checked before
    benchmark = load_benchmark(source.benchmark)
    known = known_values(benchmark, plan.fields, plan.case)
    if known_sha256(known) != source.values_sha256:
        raise HdbenchError(
            "{benchmark}: its checked values are not those that {plan} was made for: restore "
            "them, or make a new plan",
            benchmark=benchmark.id,
            plan=plan_file,
        )
    ids = list(benchmark.ids())
    with opened_runs(source.runs, plan.fields, benchmark, plan_file) as runs:
        values = chosen_values(runs, ids, plan.fields)
        answered = {ids[item] for item in values.items.tolist()}
        texts: dict[ValueKey, str | None] = {
            value: text for value, text in known.items() if value.item in answered
        }
        if not texts:
            raise HdbenchError(
                "{benchmark}: no run answered a checked item", benchmark=benchmark.id
            )
        return _examples(values, scales_of(values), runs, texts, ids=ids, case=plan.case)


def _fitted(described: _Described) -> _Fitted:
    """Return intercept and coefficients, for columns that vary wherever they are.

    Those of another collection are what is expected before values of this one are learned from:
    deviations from them cost what deviations from 0 do otherwise.
    """
    *_, values, scales, examples, source = described
    known = examples if source is None else source
    places = {name: place for place, name in enumerate(known.names) if known.varies[place]}
    own = [
        place
        for place, name in enumerate(names_of_columns(values))
        if scales.varies[place] and name in places
    ]
    used = [examples.names[place] for place in own]
    prior = None
    if source is not None:
        _, prior = fit(source.columns[:, [places[name] for name in used]], source.wrong)
    intercept, coefficients = fit(examples.columns[:, own], examples.wrong, prior)
    return _Fitted(
        round(intercept, COEFFICIENT_DIGITS),
        {
            name: round(float(coefficient), COEFFICIENT_DIGITS)
            for name, coefficient in zip(used, coefficients, strict=True)
        },
    )


def probabilities_of(
    values: ChosenValues, scales: Scales, intercept: float, coefficients: Mapping[str, float]
) -> Probabilities:
    """Return the probability of each value to be wrong, in billionths."""
    by_column = np.array([coefficients.get(name, 0.0) for name in names_of_columns(values)])
    probabilities = np.empty(len(values), dtype=np.int32)
    for positions in blocks_of(len(values)):
        logits = intercept + scales.scaled(columns_of(values, positions)) @ by_column
        probabilities[positions] = np.rint(probability(logits) * BILLION)
    return probabilities


def _by_item(described: _Described, fitted: _Fitted) -> Probabilities:
    """Return the probability of each value: a row for each item of the benchmark."""
    values = described.values
    by_item = np.full((len(described.ids), len(values.fields)), UNANSWERED, dtype=np.int32)
    probabilities = probabilities_of(values, described.scales, *fitted)
    by_item[values.items] = probabilities.reshape(-1, len(values.fields))
    return by_item


def probabilities_sha256(by_item: Probabilities) -> str:
    """Return the hash of probabilities, whatever the machine's order of bytes."""
    return hashlib.sha256(by_item.astype("<i4").tobytes()).hexdigest()


def second_stage(
    plan: Plan, by_item: Probabilities, ids: Sequence[str]
) -> tuple[tuple[CutGroup, ...], tuple[Pair, ...]]:
    """Return the cuts, and the values to verify them with: all of it follows from probabilities.

    Args:
        plan: the plan.
        by_item: the probability of each value, a row for each item of the benchmark.
        ids: the ids of these items.
    """
    chosen = choose_cuts(plan, by_item)
    if not chosen:
        raise HdbenchError(
            "no field is expected to keep the limit alone with {count:,} values to verify: make a "
            "new plan with one promise for all fields, more values, or a higher limit",
            count=plan.verify,
        )
    is_unread = np.ones(by_item.size, np.bool_)
    is_unread[positions_of(plan.read_first, plan.fields, ids)] = False
    drawn = draw_second(plan, by_item, is_unread.reshape(by_item.shape), chosen)
    groups = tuple(
        CutGroup(
            fields=tuple(plan.fields[field] for field in group.fields),
            cuts=tuple(group.cuts),
            drawn=len(group.drawn),
        )
        for group in drawn
    )
    positions = np.concatenate([group.drawn for group in drawn])
    order = np.random.default_rng([plan.seed, SECOND_DRAW]).permutation(len(positions))
    number = len(plan.fields)
    sample = (divmod(position, number) for position in positions[order].tolist())
    return groups, tuple((ids[item], plan.fields[field]) for item, field in sample)


def _expected(probabilities: Probabilities) -> Expected:
    mean = float(probabilities.mean(dtype=np.float64)) / BILLION if len(probabilities) else 0.0
    return Expected(values=len(probabilities), wrong=round(mean, 6))
