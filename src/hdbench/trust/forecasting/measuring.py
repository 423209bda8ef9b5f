"""What runs answered to items with a truth: work, tokens and seconds of each, and trust scores."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hdbench.answers.answers import Answers
from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import Metric, ProtocolName
from hdbench.trust.checked import wrong_by_metric
from hdbench.trust.forecasting.work import Work, keystrokes, work
from hdbench.trust.opening import Opened, names_of, opened_run
from hdbench.trust.plan import Plan
from hdbench.trust.runs import Judged, Runs
from hdbench.trust.values import ItemField, fields_of, text_of, texts_of

Tokens = tuple[float | None, float | None]


@dataclass(frozen=True)
class MeasuredRun:
    """What one run's answers cost, item by item.

    Attributes:
        path: where the run is.
        name: what it is called beside the others.
        model: its model, or its file.
        work: of checking all values of each item.
        answered: how many items have a record.
        tokens: read and written for each item; None where that is not known.
        seconds: for each item; None where that is not known.
        recorded_usd: what the run says that it cost, for each item that it was asked; None if it
            does not say it.
    """

    path: str
    name: str
    model: str
    work: Sequence[Work]
    answered: int
    tokens: Sequence[Tokens]
    seconds: Sequence[float | None]
    recorded_usd: float | None


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
    """What was measured.

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
        measured = _Measuring(metric, single, without, opened, has_lists=has_lists)
        for item, truth in zip(items, truths, strict=True):
            measured.add(item, truth)
        number = sum(1 for _ in benchmark.ids())
        return Measured(
            items,
            not_asked,
            [field.path for field in single],
            [field.path for field in without],
            has_lists,
            measured.runs(paths, number),
            measured.rule() if len(paths) > 1 and single else None,
        )


class _Measuring:
    """Adds up item by item."""

    def __init__(
        self,
        metric: Metric,
        fields: Sequence[ItemField],
        without: Sequence[ItemField],
        opened: Sequence[Opened],
        *,
        has_lists: bool,
    ) -> None:
        self._metric, self._fields, self._opened = metric, fields, opened
        self._has_lists = has_lists
        self._known = (*fields, *without)
        self._together = Runs([each.answers for each in opened], metric, fields)
        self._works: list[list[Work]] = [[] for _ in opened]
        self._used: list[list[tuple[Tokens, float | None]]] = [[] for _ in opened]
        self._answered = [0] * len(opened)
        self._rows: list[tuple[list[float], list[int], list[bool]]] = []
        self._always: list[Work] = []

    def add(self, item: Item, truth: dict[str, Any]) -> None:
        """One more item."""
        true = texts_of(truth, self._fields)
        records = self._together.records(item.id)
        nothing = [""] * len(true)
        for place, (record, texts) in enumerate(
            zip(records, self._together.texts(records), strict=True)
        ):
            in_lists = self._in_lists(item, record)
            self._works[place].append(work([*zip(texts or nothing, true, strict=True), *in_lists]))
            self._answered[place] += record is not None
            self._used[place].append(_used(self._opened[place].answers, item.id))
            if place == 0:
                self._always.append(work(in_lists))
        if len(records) > 1 and self._fields:
            self._rows.append(self._row(item, true, self._together.judged(item.id, records)))

    def _row(
        self, item: Item, true: Sequence[str], judged: Sequence[Judged]
    ) -> tuple[list[float], list[int], list[bool]]:
        distances = [keystrokes(each.text, text) for each, text in zip(judged, true, strict=True)]
        letter = [each > 0 for each in distances]
        scores = [np.nan if each.score is None else each.score for each in judged]
        return (
            scores,
            distances,
            wrong_by_metric(self._metric, item, judged, self._fields) or letter,
        )

    def _in_lists(self, item: Item, record: dict[str, Any] | None) -> list[tuple[str, str]]:
        """The values within lists of objects with their truth, paired as the metric does."""
        if not self._has_lists:
            return []
        prepared = self._metric.prepare(item.reference(self._metric.protocol))
        if prepared is None:
            return []
        matches = self._metric.explain(self._metric.score(record, prepared), prepared)
        return [
            (text_of(match.prediction), text_of(match.reference))
            for match in matches
            if "[" in match.field and not self._is_single(match.field)
        ]

    def _is_single(self, path: str) -> bool:
        plain = re.sub(r"\[\d+\]", "", path)
        return any(
            plain == field.path or plain.startswith(f"{field.path}.") for field in self._known
        )

    def runs(self, paths: Sequence[Path], items: int) -> list[MeasuredRun]:
        """Return what each run cost, if it lies there and the benchmark has that many items."""
        return [
            MeasuredRun(
                str(path),
                name,
                each.name,
                works,
                answered,
                [tokens for tokens, _ in used],
                [seconds for _, seconds in used],
                _recorded(each, items),
            )
            for path, name, each, works, answered, used in zip(
                paths,
                names_of(paths, self._opened),
                self._opened,
                self._works,
                self._answered,
                self._used,
                strict=True,
            )
        ]

    def rule(self) -> MeasuredRule:
        """Return what the runs say together."""
        scores, distances, wrong = zip(*self._rows, strict=True)
        return MeasuredRule(
            np.array(scores, np.float64),
            np.array(distances, np.int64),
            np.array(wrong, np.bool_),
            self._always,
        )


def _items(
    benchmark: Benchmark, opened: Sequence[Opened], plan: Plan | None
) -> tuple[list[Item], int]:
    """The items that count, and how many were left out."""
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
    """Fields with one value for an item, those of them without any truth, and if it has lists."""
    schema = benchmark.answer_schema()
    if schema is None:
        raise HdbenchError(
            "{benchmark}: has no answer.schema.json, which says its fields", benchmark=benchmark.id
        )
    single, several = fields_of(schema)
    has = [plan is not None and field.path in plan.fields for field in single]
    for truth in truths:
        has = [one or bool(text) for one, text in zip(has, texts_of(truth, single), strict=True)]
    pairs = list(zip(single, has, strict=True))
    known, unknown = ([field for field, each in pairs if each is flag] for flag in (True, False))
    return known, unknown, bool(several)


def _used(answers: Answers, item_id: str) -> tuple[Tokens, float | None]:
    written = answers.written(item_id)
    if written is None:
        return (None, None), None
    tokens = written.get("tokens") or {}
    return (tokens.get("input"), tokens.get("output")), written.get("seconds")


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
