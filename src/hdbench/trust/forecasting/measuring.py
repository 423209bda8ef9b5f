"""Measurements of runs on items with a truth: work, tokens, seconds, and trust scores."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hdbench.answers.letters import text_of
from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import ProtocolName
from hdbench.trust.checked import wrong_by_metric
from hdbench.trust.forecasting.work import Work, keystrokes, work
from hdbench.trust.opening import Opened, names_of, opened_run
from hdbench.trust.plan import Plan
from hdbench.trust.runs import Runs
from hdbench.trust.values import ItemField, fields_of, schema_with_fields, texts_of

Tokens = tuple[float | None, float | None]


@dataclass
class MeasuredRun:
    """Cost of one run's answers, item by item.

    Attributes:
        path: the path of the run.
        name: its name, unique among the runs.
        model: its model, or its file.
        recorded_usd: the cost that the run records, per item that it was asked; None if it records
            none.
        work: the work of checking all values of each item.
        answered: how many items have a record.
        tokens: tokens read and written for each item; None where unknown.
        seconds: seconds for each item; None where unknown.
    """

    path: str
    name: str
    model: str
    recorded_usd: float | None
    work: list[Work] = field(default_factory=list)
    answered: int = 0
    tokens: list[Tokens] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class MeasuredRule:
    """The values that several runs agree on more or less; rows are items, columns fields.

    Attributes:
        scores: trust scores, 0.0 to 1.0; NaN where no run has an answer.
        keystrokes: keystrokes to correct each value; 0 if it is right to the letter.
        wrong: whether each value is wrong by the benchmark's own threshold.
        always: the work of checking the values within lists of objects, which have no trust score,
            in the first run.
    """

    scores: NDArray[np.float64]
    keystrokes: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    always: Sequence[Work]


@dataclass(frozen=True)
class Measured:
    """All measurements.

    Attributes:
        items: the items, in the benchmark's order.
        not_asked: how many items with a truth were left out, as some run was not asked them.
        fields: the fields that an item has one value of.
        without_truth: fields that were left out, as no item has a true value of them.
        in_lists: whether an item may have several values of a field, within a list of objects.
        runs: the runs, in order of preference.
        rule: the values that they agree on; None with one run, or without fields.
    """

    items: Sequence[Item]
    not_asked: int
    fields: Sequence[str]
    without_truth: Sequence[str]
    in_lists: bool
    runs: Sequence[MeasuredRun]
    rule: MeasuredRule | None


def measure(
    benchmark: Benchmark,
    paths: Sequence[Path],
    *,
    plan: Plan | None = None,
    protocol: ProtocolName = "documented",
) -> Measured:
    """Compare the answers of runs with the truth.

    Args:
        benchmark: the items that were checked, and possibly others.
        paths: the runs, in order of preference.
        plan: the plan whose sample counts; without one, all items that have a truth and were asked
            in every run.
        protocol: the rules of the benchmark's metric.

    Raises:
        HdbenchError: a run cannot be read, or answers another benchmark; nothing to compare.
    """
    metric = benchmark.spec.make_metric(protocol)
    with ExitStack() as stack:
        opened = [stack.enter_context(opened_run(path, benchmark)) for path in paths]
        items, not_asked = _items(benchmark, opened, plan)
        truths = [metric.right_answer(item.reference(metric.protocol)) for item in items]
        single, without, has_lists = _fields(benchmark, truths, plan)
        number = sum(1 for _ in benchmark.ids())
        runs = [
            MeasuredRun(str(path), name, run.name, _recorded_usd(run, number))
            for path, name, run in zip(paths, names_of(paths, opened), opened, strict=True)
        ]
        together = Runs([run.answers for run in opened], metric, single)
        measuring = _Measuring(together, [*single, *without], opened, runs, has_lists)
        for item, truth in zip(items, truths, strict=True):
            measuring.add(item, truth)
        return Measured(
            items,
            not_asked,
            [field.path for field in single],
            [field.path for field in without],
            has_lists,
            runs,
            measuring.rule() if len(paths) > 1 and single else None,
        )


@dataclass
class _Measuring:
    """Measurements, added item by item; those of a single run in `runs`."""

    together: Runs
    single: Sequence[ItemField]
    opened: Sequence[Opened]
    runs: Sequence[MeasuredRun]
    has_lists: bool
    rows: list[tuple[list[float], list[int], list[bool]]] = field(default_factory=list)
    always: list[Work] = field(default_factory=list)

    def add(self, item: Item, truth: dict[str, Any]) -> None:
        """Add one more item."""
        true = texts_of(truth, self.together.fields)
        records = self.together.records(item.id)
        in_lists = [self._in_lists(item, record) for record in records]
        self.always += map(work, in_lists[:1])
        texts = self.together.texts(records)
        for run, opened, record, values, lists in zip(
            self.runs, self.opened, records, texts, in_lists, strict=True
        ):
            pairs = zip(values or [""] * len(true), true, strict=True)
            run.work.append(work([*pairs, *lists]))
            run.answered += record is not None
            written = opened.answers.written(item.id) or {}
            tokens = written.get("tokens") or {}
            run.tokens.append((tokens.get("input"), tokens.get("output")))
            run.seconds.append(written.get("seconds"))
        if len(records) > 1 and self.together.fields:
            judged = self.together.judged(item.id, records)
            distances = [
                keystrokes(choice.text, text) for choice, text in zip(judged, true, strict=True)
            ]
            wrong = wrong_by_metric(self.together.metric, item, judged, self.together.fields)
            scores = [np.nan if choice.score is None else choice.score for choice in judged]
            wrong = wrong or [distance > 0 for distance in distances]
            self.rows.append((scores, distances, wrong))

    def _in_lists(self, item: Item, record: dict[str, Any] | None) -> list[tuple[str, str]]:
        """Return the values within lists of objects with their truth, paired as the metric does."""
        if not self.has_lists:
            return []
        metric = self.together.metric
        prepared = metric.prepare(item.reference(metric.protocol))
        if prepared is None:
            return []
        matches = metric.explain(metric.score(record, prepared), prepared)
        return [
            (text_of(match.prediction), text_of(match.reference))
            for match in matches
            if "[" in match.field and not self._is_single(match.field)
        ]

    def _is_single(self, path: str) -> bool:
        plain = re.sub(r"\[\d+\]", "", path)
        return any(
            plain == field.path or plain.startswith(f"{field.path}.") for field in self.single
        )

    def rule(self) -> MeasuredRule:
        """Return the values that the runs agree on more or less."""
        scores, distances, wrong = zip(*self.rows, strict=True)
        return MeasuredRule(
            np.array(scores, np.float64),
            np.array(distances, np.int64),
            np.array(wrong, np.bool_),
            self.always,
        )


def _items(
    benchmark: Benchmark, opened: Sequence[Opened], plan: Plan | None
) -> tuple[list[Item], int]:
    """Return the items that count, and how many were left out."""
    with_truth = list(benchmark.items())
    if plan is not None:
        wanted = set(plan.sample)
        return [item for item in with_truth if item.id in wanted], 0
    items = [item for item in with_truth if all(run.run.is_asked(item.id) for run in opened)]
    if not with_truth:
        raise HdbenchError(
            "{benchmark}: no item has a ground truth: nothing was checked yet",
            benchmark=benchmark.id,
        )
    if not items:
        raise HdbenchError(
            "{benchmark}: no item with a ground truth was asked in all {count} runs",
            benchmark=benchmark.id,
            count=len(opened),
        )
    return items, len(with_truth) - len(items)


def _fields(
    benchmark: Benchmark, truths: Sequence[dict[str, Any]], plan: Plan | None
) -> tuple[list[ItemField], list[ItemField], bool]:
    """Return fields with one value per item, with and without a truth, and whether others exist."""
    schema = schema_with_fields(benchmark)
    single, several = fields_of(schema)
    has_truth = [plan is not None and field.path in plan.fields for field in single]
    for truth in truths:
        texts = texts_of(truth, single)
        has_truth = [has or bool(text) for has, text in zip(has_truth, texts, strict=True)]
    pairs = list(zip(single, has_truth, strict=True))
    with_truth = [field for field, has in pairs if has]
    without = [field for field, has in pairs if not has]
    return with_truth, without, bool(several)


def _recorded_usd(opened: Opened, items: int) -> float | None:
    """Return the cost of an item as recorded by a run, or by each of its sittings.

    The run may have been asked only some of the items. The cost of sittings is divided by the
    answers that exist, as the run may be unfinished.
    """
    info = opened.info
    if info is None:
        return None
    if info.cost_usd is not None:
        return info.cost_usd / (items if info.items is None else len(info.items))
    (model,) = opened.run.models
    answered = sum(1 for _ in opened.run.answered(model))
    cost = info.sittings_usd
    return cost / answered if cost is not None and answered else None
