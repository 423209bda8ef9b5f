"""Where each value of a collection comes from, and which ones a person has to look at."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.collections.trust.control import check_whole, read_control
from hdbench.collections.trust.fields import ItemField, value_of
from hdbench.collections.trust.folder import (
    APPLIED,
    CHECK,
    CHECKED,
    CONTROL,
    TAKEN,
    VALUES,
    Applied,
    check_same_list,
    read_applied,
    read_begun,
)
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.plan import Plan
from hdbench.collections.trust.runs import fields_called
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Change, ValueKey
from hdbench.collections.truth.readings import settled
from hdbench.common.jsonio import read_jsonl
from hdbench.common.value_text import folded, text_of
from hdbench.errors import HdbenchError

Origin = Literal["checked", "accepted", "worked", "corrected", "open"]
"""Where a value comes from: a person read it without seeing what the models say (`checked`), nobody
looked at it (`accepted`), a person decided between what the models say (`worked`), a person read
something else than what was accepted (`corrected`), or it is to do (`open`): also an accepted one
on which the people who read it do not agree, or that none of them can read."""

ORIGINS: tuple[Origin, ...] = ("checked", "accepted", "worked", "corrected", "open")

ItemStates = dict[str, dict[str, Any]]
"""Field → value and origin, and run and score if a model gave it."""


class _Given(NamedTuple):
    """A value that a person gave.

    Attributes:
        at: when; empty if that is unknown, so that it comes before all others.
        origin: how.
        value: the value; None for an empty one.
    """

    at: str
    origin: Origin
    value: Any


class ValueStates:
    """The state of every value, from all that people did and the values that were accepted.

    Items are asked for in the order of the file of values, each of them once.

    Args:
        plan: the plan.
        benchmark: the items; what people read and entered is in its folder.
        out: the folder of `hdbench trust apply`.
        applied: the record of it.
        is_worked: whether what people decided on the work list counts.

    Raises:
        HdbenchError: the folder was changed, or a file cannot be read.
    """

    def __init__(
        self, plan: Plan, benchmark: Benchmark, out: Path, applied: Applied, *, is_worked: bool
    ) -> None:
        check_same_list(plan, benchmark, out)
        self._benchmark, self._out = benchmark, out
        self._case = plan.case
        self._fields = fields_called(plan.fields, benchmark)
        self._metric = benchmark.spec.make_metric("documented")
        self._people = People(benchmark.folder)
        self._truths = benchmark.items()
        self._truth = next(self._truths, None)
        self._given = defaultdict[ValueKey, list[_Given]](list)
        self._doubted = set[ValueKey]()
        ledger = Ledger(benchmark.folder)
        ledger.require("applied", plan.hash(), applied.hash(), out / APPLIED)
        control = read_control(out / CONTROL)
        check_whole(out, applied, control)
        self._add_readings(plan, benchmark, [*plan.after, plan.hash(), control.hash()])
        if is_worked:
            for key, worked in People(benchmark.folder).worked(applied.values_sha256).items():
                self._given[key].append(_Given(worked.at, "worked", worked.value))

    def of(self, item: str, fields: Mapping[str, Mapping[str, Any]]) -> ItemStates:
        """Return the states of the values of an item.

        Args:
            item: its id.
            fields: field → value and decision, as in its line; those that are wanted.
        """
        truth = self._truth
        if truth is not None and truth.id == item:
            self._truth = next(self._truths, None)
            if fields:
                is_listed = any(value["decision"] == CHECK for value in fields.values())
                self._add_truth(truth, is_listed=is_listed)
        return {name: self._state(item, name, value) for name, value in fields.items()}

    def of_items(self) -> Iterator[tuple[str, ItemStates, tuple[str, ...]]]:
        """Yield each item of the file of values, its states, and its fields that are doubtful.

        Raises:
            HdbenchError: see `check_order`.
        """
        for line in read_jsonl(self._out / VALUES):
            item, fields = line.value["id"], line.value["fields"]
            states = self.of(item, fields)
            yield item, states, listed_and_open(fields, states)
        self.check_order()

    def doubtful(self, item: str, fields: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
        """Return the fields of an item that are on the work list, and that nobody has read.

        Args:
            item: its id.
            fields: see `of`.
        """
        return listed_and_open(fields, self.of(item, fields))

    def check_order(self) -> None:
        """Refuse items in another order than that of the file of values, once all were asked for.

        Raises:
            HdbenchError: they are.
        """
        if self._truth is not None:
            raise HdbenchError(
                "{benchmark}: its items are not in the order of {values}: apply the plan again "
                "into another folder",
                benchmark=self._benchmark.id,
                values=self._out / VALUES,
            )

    def _add_readings(self, plan: Plan, benchmark: Benchmark, hashes: Sequence[str]) -> None:
        checked = People(benchmark.folder)
        for hash_ in hashes:
            for key, readings in checked.readings(hash_).items():
                outcome = settled(readings, plan.case)
                if outcome.outcome == "value":
                    at = max(reading.at for reading in readings)
                    self._given[key].append(_Given(at, "checked", outcome.value))
                else:
                    self._doubted.add(key)

    def _state(self, item: str, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
        given = self._given.pop(ValueKey(item, name), ())
        decision = value["decision"]
        if given:
            last = max(given, key=lambda entry: entry.at)
            text = text_of(last.value)
            origin = last.origin
            case = self._case
            differs = folded(text, case) != folded(text_of(value["value"]), case)
            if decision == TAKEN and origin == "checked" and differs:
                origin = "corrected"
            return {"origin": origin, "value": last.value if text else None}
        if decision == CHECKED:  # what people said was taken back since: it has to be looked at
            return {"origin": "open", "value": None}
        known = {key: value[key] for key in ("run", "score", "value") if key in value}
        is_accepted = decision == TAKEN and ValueKey(item, name) not in self._doubted
        return known | {"origin": "accepted" if is_accepted else "open"}

    def _add_truth(self, truth: Item, *, is_listed: bool) -> None:
        """Add what people entered for a whole item.

        Of an item of the work list, only the fields that somebody changed were looked at.
        """
        changes = [
            change for change in self._people.changes(truth.id) if change.kind == "ground_truth"
        ]
        record = self._metric.right_answer(truth.reference(self._metric.protocol))
        for field in self._fields:
            times = [change.at for change in changes if _concerns(change, field)]
            if is_listed and not times and changes:
                continue
            at = max(times or [change.at for change in changes], default="")
            origin: Origin = "worked" if is_listed and changes else "checked"
            given = _Given(at, origin, value_of(record, field))
            self._given[ValueKey(truth.id, field.path)].append(given)


def listed_and_open(fields: Mapping[str, Mapping[str, Any]], states: ItemStates) -> tuple[str, ...]:
    """Return the fields of an item that are on the work list and open.

    Args:
        fields: see `ValueStates.of`.
        states: their states.
    """
    return tuple(
        name
        for name, value in fields.items()
        if value["decision"] == CHECK and states[name]["origin"] == "open"
    )


def doubtful_values(out: Path, benchmark: Benchmark) -> Iterator[ValueKey]:
    """Yield the values that are on the work list, and that nobody has read elsewhere.

    Args:
        out: the folder of `hdbench trust apply`.
        benchmark: the items; what people read and entered is in its folder.

    Raises:
        HdbenchError: the folder is not finished or was changed, or a file cannot be read.
    """
    plan, _ = read_begun(out)
    states = ValueStates(plan, benchmark, out, read_applied(out), is_worked=False)
    for item, _, doubtful in states.of_items():
        yield from (ValueKey(item, name) for name in doubtful)


def unread_control(out: Path, benchmark: Benchmark) -> int:
    """Return how many values of the control sample nobody has read.

    Args:
        out: see `doubtful_values`.
        benchmark: see `doubtful_values`.
    """
    control = read_control(out / CONTROL)
    readings = People(benchmark.folder).readings(control.hash())
    return sum(not readings.get(key) for key in control.values)


def _concerns(change: Change, field: ItemField) -> bool:
    """Return whether a change is one of a field, or of the whole record."""
    return not change.field or any(change.field == names[0] for names in field.places)
