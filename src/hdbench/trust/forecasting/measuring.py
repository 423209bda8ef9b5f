"""Measurements of runs on items with a truth: work, tokens, seconds, and trust scores."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import ProtocolName
from hdbench.trust.checked import wrong_by_metric
from hdbench.trust.forecasting.work import Work, keystrokes, work
from hdbench.trust.opening import Opened, names_of, opened_run
from hdbench.trust.plan import Plan
from hdbench.trust.runs import Runs
from hdbench.trust.values import ItemField, fields_of, schema_with_fields, text_of, texts_of

Tokens = tuple[float | None, float | None]


@dataclass
class MeasuredRun:
    """Cost of one run's answers, item by item.

    Attributes:
        path: where the run is.
        name: what it is called beside the others.
        model: its model, or its file.
        recorded_usd: what the run says that it cost, for each item that it was asked; None if it
            does not say it.
        work: of checking all values of each item.
        answered: how many items have a record.
        tokens: read and written for each item; None where that is not known.
        seconds: for each item; None where that is not known.
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
        keystrokes: to correct each value; 0 if it is right to the letter.
        wrong: whether it is wrong by the benchmark's own threshold.
        always: the work of checking the values within lists of objects, which have no trust score,
            in the first run.
    """

    scores: NDArray[np.float64]
    keystrokes: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    always: Sequence[Work]


@dataclass(frozen=True)
class Measured:
    """All that was measured.

    Attributes:
        items: the items, in the benchmark's order.
        not_asked: how many items with a truth were left out, as not all runs were asked them.
        fields: the fields that an item has one value of.
        without_truth: fields that were left out, as no item has a true value of them.
        in_lists: whether an item may have several values of a field, within a list of objects.
        runs: the runs, in order of preference.
        rule: what they say together; None with one run, or without fields.
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
    """Compare what runs answered with the truth.

    Args:
        benchmark: the items that were checked, and possibly others.
        paths: the runs, in order of preference.
        plan: whose sample counts; without one, all items that have a truth and were asked in every
            run.
        protocol: the rules of the benchmark's metric.

    Raises:
        HdbenchError: a run cannot be read or is not to this benchmark; there is nothing to compare.
    """
    metric = benchmark.spec.make_metric(protocol)
    with ExitStack() as stack:
        opened = [stack.enter_context(opened_run(path, benchmark)) for path in paths]
        items, not_asked = _items(benchmark, opened, plan)
        truths = [metric.right_answer(item.reference(metric.protocol)) for item in items]
        single, without, has_lists = _fields(benchmark, truths, plan)
        number = sum(1 for _ in benchmark.ids())
        runs = [
            MeasuredRun(str(path), name, each.name, _recorded(each, number))
            for path, name, each in zip(paths, names_of(paths, opened), opened, strict=True)
        ]
        together = Runs([each.answers for each in opened], metric, single)
        measuring = _Measuring(together, [*single, *without], opened, runs, has_lists)
        for item, truth in zip(items, truths, strict=True):
            measuring.add(item, truth)
        return Measured(
            items,
            not_asked,
            [each.path for each in single],
            [each.path for each in without],
            has_lists,
            runs,
            measuring.rule() if len(paths) > 1 and single else None,
        )


@dataclass
class _Measuring:
    """Adds up item by item, in `runs` what is about a single one."""

    together: Runs
    known: Sequence[ItemField]
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
            beside = zip(judged, true, strict=True)
            distances = [keystrokes(each.text, text) for each, text in beside]
            wrong = wrong_by_metric(self.together.metric, item, judged, self.together.fields)
            scores = [np.nan if each.score is None else each.score for each in judged]
            self.rows.append((scores, distances, wrong or [each > 0 for each in distances]))

    def _in_lists(self, item: Item, record: dict[str, Any] | None) -> list[tuple[str, str]]:
        """Return the values within lists of objects with their truth, paired as the metric does."""
        if not self.has_lists:
            return []
        metric = self.together.metric
        prepared = metric.prepare(item.reference(metric.protocol))
        if prepared is None:
            return []
        matches = self.together.metric.explain(
            self.together.metric.score(record, prepared), prepared
        )
        return [
            (text_of(match.prediction), text_of(match.reference))
            for match in matches
            if "[" in match.field and not self._is_single(match.field)
        ]

    def _is_single(self, path: str) -> bool:
        plain = re.sub(r"\[\d+\]", "", path)
        return any(
            plain == field.path or plain.startswith(f"{field.path}.") for field in self.known
        )

    def rule(self) -> MeasuredRule:
        """Return what the runs say together."""
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
    known = list(benchmark.items())
    if plan is not None:
        wanted = set(plan.sample)
        items = [item for item in known if item.id in wanted]
        return items, 0
    items = [item for item in known if all(each.run.is_asked(item.id) for each in opened)]
    if not known:
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
    return items, len(known) - len(items)


def _fields(
    benchmark: Benchmark, truths: Sequence[dict[str, Any]], plan: Plan | None
) -> tuple[list[ItemField], list[ItemField], bool]:
    """Return the fields with one value per item, those without any truth, and if it has lists."""
    schema = schema_with_fields(benchmark)
    single, several = fields_of(schema)
    has = [plan is not None and field.path in plan.fields for field in single]
    for truth in truths:
        has = [one or bool(text) for one, text in zip(has, texts_of(truth, single), strict=True)]
    pairs = list(zip(single, has, strict=True))
    known, unknown = ([field for field, each in pairs if each is flag] for flag in (True, False))
    return known, unknown, bool(several)


def _recorded(opened: Opened, items: int) -> float | None:
    """Return what an item cost by what a run, or each of its sittings, says.

    The run may have been asked some of the items only. Sittings have cost what the answers did that
    are there, as the run need not be at its end.
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
