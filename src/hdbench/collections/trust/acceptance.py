"""`hdbench trust apply`: which values of all items are accepted, and which ones people look at."""

import datetime
import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.control import check_whole, read_control, write_control
from hdbench.collections.trust.cuts import BILLION
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.fields import value_of
from hdbench.collections.trust.folder import (
    APPLIED,
    BELOW,
    CHECK,
    CHECKED,
    CONTROL,
    DECISION,
    LEFT_OUT,
    NO_ANSWER,
    NOT_READ,
    TAKEN,
    VALUES,
    WORK_LIST,
    Applied,
    begin,
    check_values,
    only_process,
    read_applied,
    write_applied,
)
from hdbench.collections.trust.learning import Learning, read_learning
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.outcomes import outcomes_of
from hdbench.collections.trust.plan import Plan
from hdbench.collections.trust.runs import Judged, Runs, opened_runs
from hdbench.collections.trust.work_list import as_cell, write_listed
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.readings import ReadingStage
from hdbench.common.csv_and_excel import Row
from hdbench.common.files import file_sha256
from hdbench.common.progress import progress
from hdbench.common.value_text import text_of
from hdbench.common.writing import whole_file
from hdbench.errors import HdbenchError

SCORE_DIGITS = 9
"""Number of decimals of a score, which is 1 minus a learned probability, which has so many."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


class TrustCounts:
    """Counts of decisions, and the data for the work list and the control sample.

    Attributes:
        counts: field → `taken`, `checked`, or the reason to look at a value → how many values.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._field_sets: dict[tuple[tuple[str, str], ...], int] = {}
        self._set_of_item = array("L")
        self._doubt = array("d")

    def __len__(self) -> int:
        return len(self._set_of_item)

    def add(self, fields: Mapping[str, Mapping[str, Any]]) -> None:
        """Count an item.

        Args:
            fields: field → value and decision, as in the line of the item.
        """
        to_look_at = []
        doubt = 0.0
        for name, value in fields.items():
            decision = value["decision"]
            if decision == CHECK:
                to_look_at.append((name, value["reason"]))
                doubt += 1 - value.get("score", 0.0)
                self.counts[name][value["reason"]] += 1
            else:
                self.counts[name][decision] += 1
        field_set = self._field_sets.setdefault(tuple(to_look_at), len(self._field_sets))
        self._set_of_item.append(field_set)
        self._doubt.append(doubt)

    def worst_first(self) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
        """Return the items that a person has to look at: position, and fields with their reasons.

        The worst has the greatest sum over these fields of 1 - trust score: about how many of them
        are wrong. Items with equal sums come in the benchmark's order.
        """
        field_sets = list(self._field_sets)
        doubt = np.frombuffer(self._doubt)
        order = np.argsort(-doubt, kind="stable").tolist() if len(doubt) else []
        fields_of_items = ((item, field_sets[self._set_of_item[item]]) for item in order)
        return [(item, fields) for item, fields in fields_of_items if fields]


def apply(plan: Plan, benchmark: Benchmark, plan_file: Path, out: Path, *, control: int) -> Applied:
    """Apply a decision to all items; what was interrupted begins again.

    Args:
        plan: the plan.
        benchmark: all items, those of the sample with their truth.
        plan_file: the plan's file.
        out: the folder to write; if all was written before, nothing is done.
        control: how many values the control sample has at most.

    Raises:
        HdbenchError: the folder holds something else or was changed, or another process writes it;
            see also `decide`.
    """
    opening = opened_runs(plan.runs, plan.fields, benchmark, plan_file)
    with opening as runs:
        learning = read_learning(plan, benchmark, plan_file)
        decision = decide(plan, benchmark, plan_file, learning=learning, runs=runs)
        lines = _Lines(plan, decision, benchmark, plan_file, learning, runs=runs)
        with only_process(out):
            begin(out, plan_file, decision)
            if (out / APPLIED).exists():
                return _finished(out, control)
            ids = list(benchmark.ids())
            tally = _write_values(out / VALUES, ids, lines)
            sha256 = file_sha256(out / VALUES)
            taken = sum(of_field[TAKEN] for of_field in tally.counts.values())
            sealed = write_control(out, plan, sha256, taken, control).hash()
            to_look_at = _write_work_list(out / WORK_LIST, ids, tally, plan, runs)
            seals = (file_sha256(out / DECISION), sha256, sealed)
            applied = _applied(decision, tally, to_look_at, seals)
            Ledger(benchmark.folder).add("applied", plan.hash(), applied.hash())
            write_applied(out, applied)
            return applied


def _finished(out: Path, control: int) -> Applied:
    """Return the record of an earlier call; refuse changed files and another size of sample."""
    applied, sample = read_applied(out), read_control(out / CONTROL)
    check_values(out, applied)
    check_whole(out, applied, sample)
    if len(sample.sample) != min(control, sample.of):
        raise HdbenchError(
            "{place}: has a control sample of {count:,} values already, and its size is not "
            "changed afterwards: keep it, or apply the plan in another folder",
            place=out,
            count=len(sample.sample),
        )
    return applied


class _Lines:
    """The decisions about the values of each item, by the sealed probability of each."""

    def __init__(
        self,
        plan: Plan,
        decision: Decision,
        benchmark: Benchmark,
        plan_file: Path,
        learning: Learning,
        *,
        runs: Runs,
    ) -> None:
        self._runs = runs
        self._models = [run.name for run in plan.runs]
        self._fields = plan.fields
        self._cuts = decision.cuts
        self._probabilities = learning.probabilities
        self._rows = {item: row for row, item in enumerate(benchmark.ids())}
        checked = People(benchmark.folder)
        readings = {
            key: lines
            for hash_ in (*plan.after, plan.hash())
            for key, lines in checked.readings(hash_).items()
        }
        values = [*plan.read_first, *learning.learned.second_stage]
        stage = ReadingStage("learn", values, plan.case)
        self._read = outcomes_of(stage, readings, benchmark, plan_file)

    def of(self, item_id: str) -> dict[str, dict[str, Any]]:
        """Return field → its value, the decision about it, and the reason."""
        judged = self._runs.judged(self._runs.records(item_id))
        probabilities = self._probabilities[self._rows[item_id]].tolist()
        return {
            name: self._value(item_id, name, choice, probability)
            for name, choice, probability in zip(self._fields, judged, probabilities, strict=True)
        }

    def _value(self, item: str, name: str, judged: Judged, probability: int) -> dict[str, Any]:
        read = self._read.get(ValueKey(item, name))
        if read is not None and read.outcome == "value":
            value = read.value if text_of(read.value) else None
            return {"value": value, "decision": CHECKED}
        if judged.run is None:
            return {"value": None, "decision": CHECK, "reason": NO_ANSWER}
        line: dict[str, Any] = {"value": judged.value if judged.text else None}
        cut = self._cuts.get(name)
        if read is not None:
            line |= {"decision": CHECK, "reason": NOT_READ}
        elif cut is not None and probability <= cut:
            line["decision"] = TAKEN
        else:
            line |= {"decision": CHECK, "reason": LEFT_OUT if cut is None else BELOW}
        line["score"] = round(1 - probability / BILLION, SCORE_DIGITS)
        line["run"] = self._models[judged.run]
        return line


def _write_values(path: Path, ids: Sequence[str], lines: _Lines) -> TrustCounts:
    """Write the values of all items, and count what was decided about them."""
    tally = TrustCounts()
    with whole_file(path) as file:
        for item_id in progress(ids, "Accepting", len(ids)):
            fields = lines.of(item_id)
            text = _encode({"id": item_id, "fields": fields})
            file.write(text.encode("utf-8", "backslashreplace") + b"\n")
            tally.add(fields)
    return tally


def _write_work_list(
    path: Path, ids: Sequence[str], tally: TrustCounts, plan: Plan, runs: Runs
) -> int:
    """Write the values that people have to look at, and return of how many items they are."""
    worst = tally.worst_first()
    fields = {field.path: field for field in runs.fields}

    def rows() -> Iterator[Row]:
        for item, doubtful in worst:
            records = runs.records(ids[item])
            for name, reason in doubtful:
                said = (
                    None if record is None else as_cell(value_of(record, fields[name]))
                    for record in records
                )
                yield ids[item], name, *said, reason

    with whole_file(path) as unfinished:
        write_listed(unfinished, [run.name for run in plan.runs], rows())
    return len(worst)


def _applied(
    decision: Decision, tally: TrustCounts, to_look_at: int, seals: tuple[str, str, str]
) -> Applied:
    """Return the record of what was done.

    Args:
        decision: the decision.
        tally: what was decided about each value.
        to_look_at: how many items are on the work list.
        seals: sha256 of the decision, the values and the control sample.
    """
    counts = Counter[str]()
    for of_field in tally.counts.values():
        counts.update(of_field)
    return Applied(
        hdbench=__version__,
        finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        plan=decision.plan,
        benchmark=decision.benchmark,
        benchmark_version=decision.benchmark_version,
        items=len(tally),
        taken=counts.pop(TAKEN, 0),
        checked=counts.pop(CHECKED, 0),
        check=dict(counts),
        to_look_at=to_look_at,
        by_field={name: dict(of_field) for name, of_field in tally.counts.items()},
        decision_sha256=seals[0],
        values_sha256=seals[1],
        control_sha256=seals[2],
    )
