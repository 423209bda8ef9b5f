"""What a plan has learned: made once, kept beside the plan with the probability of each value."""

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
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
)
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.outcomes import (
    Readings,
    StageReadings,
    outcomes_of,
    outcomes_sha256,
    stage_readings,
)
from hdbench.collections.trust.plan import Plan, known_sha256, known_values, list_sha256
from hdbench.collections.trust.probabilities import (
    ChosenValues,
    Examples,
    Fitted,
    Scales,
    chosen_values,
    examples_of,
    fitted,
    probabilities_of,
    scales_of,
)
from hdbench.collections.trust.runs import Runs, opened_runs
from hdbench.collections.trust.sample import SECOND_DRAW, Pair, draw_first, draw_second
from hdbench.collections.trust.seals import Sealed, Sha256, read_sealed, write_sealed
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.readings import ReadingStage, Settled, mark_of
from hdbench.common.files import read_errors, write_errors
from hdbench.common.validation import Strict
from hdbench.common.value_text import text_of
from hdbench.common.writing import lock, refuse_links, whole_file
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import differences

MOVABLE = {"hdbench", "created"}
"""Keys that differ when it is learned again."""

LAST_DIGIT = 1.5e-6
"""By how much two coefficients may differ that were rounded on different machines."""


_HEAD = """\
# What a plan of hdbench trust has learned, and the values to verify it with. It holds only as it
# is: changing it, even by a letter, makes it void. hdbench annotate FOLDER --only PLAN opens them.
"""


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


class Learning(NamedTuple):
    """What was learned, and the probability of each value in billionths."""

    learned: Learned
    probabilities: Probabilities


class _Described(NamedTuple):
    """All values of a collection, those to learn from, and those of another one."""

    ids: list[str]
    readings: Readings
    outcomes: dict[ValueKey, Settled]
    values: ChosenValues
    scales: Scales
    examples: Examples
    source: Examples | None


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
    readings = People(benchmark.folder).readings(plan.hash())
    with opened(plan, benchmark, plan_file) as runs:
        described = _described(plan, benchmark, plan_file, readings, runs)
        found = fitted(described.values, described.scales, described.examples, described.source)
        by_item = _by_item(described, found)
        return Learning(_record(plan, described, found, by_item, runs), by_item)


def _record(
    plan: Plan,
    described: _Described,
    found: Fitted,
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
        intercept=found.intercept,
        coefficients=found.coefficients,
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
            for choice in runs.choices(ValueKey(*pair) for pair in sample)
        ),
    )


def opened(plan: Plan, benchmark: Benchmark, plan_file: Path) -> AbstractContextManager[Runs]:
    """Open the runs of a plan, all of whose answers will be read."""
    return opened_runs(plan.runs, plan.fields, benchmark, plan_file)


def _described(
    plan: Plan, benchmark: Benchmark, plan_file: Path, readings: Readings, runs: Runs
) -> _Described:
    ids = check_unchanged(plan, benchmark, plan_file)
    stage = ReadingStage("learn", plan.first_stage, plan.case)
    outcomes = outcomes_of(stage, readings, benchmark, plan_file)
    check_first_draw(plan, runs, ids, plan_file)
    values = chosen_values(runs, ids, plan.fields)
    scales = scales_of(values)
    examples = examples_of(values, scales, runs, _texts_read(outcomes), ids=ids, case=plan.case)
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
    checked = People(benchmark.folder)
    readings = checked.readings(plan.hash(), learned.reading_ids)
    with opened(plan, benchmark, plan_file) as runs:
        described = _described(plan, benchmark, plan_file, readings, runs)
        sealed = Fitted(learned.intercept, learned.coefficients)
        record = _record(plan, described, sealed, probabilities, runs)
    intercept, coefficients = fitted(
        described.values, described.scales, described.examples, described.source
    )
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


def _from_source(plan: Plan, plan_file: Path) -> Examples:
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
        return examples_of(values, scales_of(values), runs, texts, ids=ids, case=plan.case)


def _by_item(described: _Described, found: Fitted) -> Probabilities:
    """Return the probability of each value: a row for each item of the benchmark."""
    values = described.values
    by_item = np.full((len(described.ids), len(values.fields)), UNANSWERED, dtype=np.int32)
    probabilities = probabilities_of(values, described.scales, *found)
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
    chosen = choose_cuts(plan.terms, by_item)
    if not chosen:
        raise HdbenchError(
            "no field is expected to keep the limit alone with {count:,} values to verify: make a "
            "new plan with one promise for all fields, more values, or a higher limit",
            count=plan.verify,
        )
    is_unread = np.ones(by_item.size, np.bool_)
    is_unread[positions_of(plan.read_first, plan.fields, ids)] = False
    drawn = draw_second(plan.terms, by_item, is_unread.reshape(by_item.shape), chosen)
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


LEARNED = "learned.yaml"
"""What was learned, beside the plan."""


PROBABILITIES = "probabilities.npy"
"""The probability of each value to be wrong, in billionths: a row for each item of the benchmark, a
column for each field of the plan; -1 where no run answered."""


def learned_file(plan_file: Path) -> Path:
    """Return the path of what a plan has learned."""
    return plan_file.with_name(LEARNED)


def check_place(plan_file: Path) -> None:
    """Refuse to write a plan beside what another plan has learned, which is never replaced.

    Raises:
        HdbenchError: something was learned there.
    """
    if learned_file(plan_file).exists():
        raise HdbenchError(
            "{place}: is what another plan has learned, and is never replaced: choose another "
            "folder with -o, one for each plan",
            place=learned_file(plan_file),
        )


def is_learned(plan: Plan, plan_file: Path) -> bool:
    """Return whether a plan has learned already.

    Raises:
        HdbenchError: see `read_learned`.
    """
    return learned_file(plan_file).exists() and read_learned(plan, plan_file) is not None


def learn_once(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Learned:
    """Learn and write what was learned beside the plan, unless that was done before.

    Several processes may do so at once: the second one waits for the first.

    Raises:
        HdbenchError: another plan has learned there; it cannot be written; see also
            `check_planned` and `learn`.
    """
    folder = plan_file.parent
    for name in (LEARNED, PROBABILITIES):
        refuse_links(folder / name)
    with write_errors(folder), lock(folder / f".{LEARNED}.lock"):
        if is_learned(plan, plan_file):
            return read_learned(plan, plan_file)
        ledger = Ledger(benchmark.folder)
        check_planned(ledger, plan, plan_file)
        learned, probabilities = learn(plan, benchmark, plan_file)
        with whole_file(folder / PROBABILITIES) as file:
            np.save(file, probabilities.astype("<i4"), allow_pickle=False)
        ledger.add("learned", plan.hash(), learned.hash())
        write_sealed(learned_file(plan_file), learned)
        return learned


def check_planned(ledger: Ledger, plan: Plan, plan_file: Path) -> None:
    """Refuse a plan that is not in the ledger, or that must not be verified any more.

    Raises:
        HdbenchError: it is one of these.
    """
    ledger.require("plan", plan.hash(), plan.hash(), plan_file)
    ledger.check_only({plan.hash(), *plan.after})


def open_verification(
    plan: Plan, learned: Learned, benchmark: Benchmark, plan_file: Path
) -> Ledger:
    """Return the ledger, in which a plan's verification is opened, as no other plan's is.

    Raises:
        HdbenchError: another plan is verified; the plan or what it learned is not in the ledger.
    """
    ledger = Ledger(benchmark.folder)
    check_planned(ledger, plan, plan_file)
    ledger.require("learned", plan.hash(), learned.hash(), learned_file(plan_file))
    ledger.add("verification", plan.hash(), learned.hash())
    ledger.check_only({plan.hash(), *plan.after})  # somebody else may have been faster
    return ledger


def read_learned(plan: Plan, plan_file: Path) -> Learned:
    """Return what a plan has learned, as it was written.

    Raises:
        HdbenchError: it is not there, cannot be read, was changed, or belongs to another plan.
    """
    path = learned_file(plan_file)
    if not path.exists():
        raise HdbenchError(
            "{place}: nothing is learned yet: hdbench annotate {benchmark} --only {place} opens "
            "the values to read first; then hdbench trust learn {place}",
            place=plan_file,
            benchmark=plan.benchmark,
        )
    learned = read_sealed(path, Learned)
    if learned.plan != plan.hash():
        raise HdbenchError(
            "{place}: is what another plan has learned ({hash}…), and is never replaced: keep each "
            "plan in a folder of its own",
            place=path,
            hash=learned.plan[:12],
        )
    return learned


def read_probabilities(
    plan: Plan, learned: Learned, plan_file: Path, ids: list[str]
) -> Probabilities:
    """Return the probability of each value, as it was sealed, with the cuts that follow from it.

    Raises:
        HdbenchError: the file is missing or was changed, or cuts and sample do not follow from it.
    """
    path = plan_file.with_name(PROBABILITIES)
    if not path.is_file():
        raise HdbenchError(
            "{place}: not here, but {learned} was made with it: put it back",
            place=path,
            learned=learned_file(plan_file),
        )
    values = plan.items * len(plan.fields)
    with read_errors(path):
        # The size of what comes before them is not read from there: anybody may have changed it.
        before = path.stat().st_size - values * np.dtype("<i4").itemsize
        flat = np.fromfile(path, "<i4", offset=max(0, before))
    probabilities = flat.astype(np.int32, copy=False)
    if before < 0 or probabilities_sha256(probabilities) != learned.probabilities_sha256:
        raise HdbenchError(
            "{place}: was changed after it was made: restore it: it cannot be learned again once "
            "values were verified by it",
            place=path,
        )
    probabilities = probabilities.reshape(plan.items, len(plan.fields))
    if second_stage(plan, probabilities, ids) != (learned.groups, learned.sample):
        raise HdbenchError(
            "{place}: its cuts or its values to verify are not what follows from the "
            "probabilities and the seed {seed}: nothing can be promised",
            place=learned_file(plan_file),
            seed=plan.seed,
        )
    return probabilities


def read_learning(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Learning:
    """Return all that a plan has learned, for a benchmark that is as it was then.

    Raises:
        HdbenchError: see `check_unchanged`, `read_learned` and `read_probabilities`.
    """
    ids = check_unchanged(plan, benchmark, plan_file)
    learned = read_learned(plan, plan_file)
    return Learning(learned, read_probabilities(plan, learned, plan_file, ids))
