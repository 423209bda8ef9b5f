"""The sample of a plan beside its truth: trust scores of values, and which values are wrong."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hdbench.annotating.history import History
from hdbench.answers.fields import put
from hdbench.answers.letters import folded
from hdbench.benchmarks.benchmark import Benchmark, Item
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.metric import Metric
from hdbench.trust.as_planned import check_as_planned
from hdbench.trust.plan import RIGHTS, Plan, Right, check_drawn, list_sha256
from hdbench.trust.runs import Judged, Runs, opened_runs, planned_fields
from hdbench.trust.values import ItemField, texts_of

Flags = NDArray[np.bool_]

UNKNOWN = "unknown"
"""Provenance of a truth whose row does not name one."""

AGAIN = Message("make a new plan, and check its sample without drafts")
"""What to do if truths of a plan's sample were made from drafts."""


class SharedErrors(NamedTuple):
    """The errors of two runs.

    Attributes:
        same: how often both have the same wrong value.
        either: how often at least one of them is wrong.
    """

    same: int
    either: int


@dataclass(frozen=True)
class CheckedSample:
    """The values of the sample, checked; rows are items in the plan's order, columns fields.

    Attributes:
        scores: trust scores, 0.0 to 1.0; NaN where no run has an answer.
        wrong: `letter` and `threshold` → whether the value is wrong by that.
        empty: whether the value is empty.
        without_truth: the positions of the fields of which no item has a true value.
        known: how many items had a ground truth before the plan was made, as far as that can be
            noticed; see `known_before`.
        shared_errors: the positions of two runs → in how many values their errors coincide.
        unanswered: how many items each run has no answer to.
        provenance: how truths were made → how many of them.
        truths_sha256: sha256 of the truths, so that a change is noticed.
    """

    scores: NDArray[np.float64]
    wrong: Mapping[str, Flags]
    empty: Flags
    without_truth: Sequence[int]
    known: int
    shared_errors: Mapping[tuple[int, int], SharedErrors]
    unanswered: Sequence[int]
    provenance: Mapping[str, int]
    truths_sha256: str


def check_sample(
    plan: Plan, benchmark: Benchmark, plan_file: Path, opened: Runs | None = None
) -> CheckedSample:
    """Compare the sample with its truth.

    Args:
        plan: the plan.
        benchmark: the items, those of the sample with their truth.
        plan_file: the plan's file.
        opened: the plan's runs, if they are already open.

    Raises:
        HdbenchError: the list of items, the sample or something else in the benchmark has changed
            since the plan was made; an item has no truth yet, or one that
            was made from a draft; see also `opened_runs`.
    """
    ids = list(benchmark.ids())
    if list_sha256(ids) != plan.list_sha256:
        raise HdbenchError(
            "{benchmark}: its items are not those that the sample of {place} was drawn from, and "
            "the promise is about those only: restore the list, or make a new plan",
            benchmark=benchmark.id,
            place=plan_file,
        )
    if plan.as_planned is not None:
        check_as_planned(plan.as_planned, benchmark, plan.sample, plan_file, plan.hdbench)
    check_drawn(benchmark, ids, plan.whole, plan.sample)
    truths = truths_of(plan.sample, benchmark)
    fields = planned_fields(plan, benchmark)
    metric = benchmark.spec.make_metric("documented")
    has_truth = np.zeros(len(fields), np.bool_)
    scores, wrong, empty, texts, rights = [], [], [], [], []
    opening = opened_runs(plan, benchmark, plan_file) if opened is None else nullcontext(opened)
    with opening as runs:
        for item in truths:
            true = texts_of(metric.right_answer(item.reference(metric.protocol)), fields)
            has_truth |= [bool(text) for text in true]
            records = runs.records(item.id)
            texts.append([values and list(map(folded, values)) for values in runs.texts(records)])
            rights.append(list(map(folded, true)))
            judged = runs.judged(item.id, records)
            scores.append([np.nan if choice.score is None else choice.score for choice in judged])
            wrong.append(wrong_values(metric, item, judged, fields))
            empty.append([not choice.text for choice in judged])
    return CheckedSample(
        scores=np.array(scores),
        wrong={right: np.array([of_item[right] for of_item in wrong]) for right in RIGHTS},
        empty=np.array(empty),
        without_truth=np.flatnonzero(~has_truth).tolist(),
        known=max(plan.known, known_before(benchmark.folder, set(plan.sample), plan.created)),
        shared_errors=shared_errors(texts, rights),
        unanswered=[of_run.count(None) for of_run in zip(*texts, strict=True)],
        provenance=Counter(map(how_made, truths)),
        truths_sha256=_hash(truths),
    )


def wrong_values(
    metric: Metric, item: Item, judged: Sequence[Judged], fields: Sequence[ItemField]
) -> dict[Right, list[bool]]:
    """Return whether each value of an item is wrong, by each criterion."""
    true = texts_of(metric.right_answer(item.reference(metric.protocol)), fields)
    pairs = zip(judged, true, strict=True)
    letter = [folded(choice.text) != folded(text) for choice, text in pairs]
    threshold = wrong_by_metric(metric, item, judged, fields) or letter
    return {"letter": letter, "threshold": threshold}


def wrong_by_metric(
    metric: Metric, item: Item, judged: Sequence[Judged], fields: Sequence[ItemField]
) -> list[bool] | None:
    """Return whether the metric counts each value as wrong; None if it leaves the item out."""
    prepared = metric.prepare(item.reference(metric.protocol))
    if prepared is None:
        return None
    score = metric.score(as_record(judged, fields), prepared)
    wrong = {
        re.sub(r"\[\d+\]", "", match.field)
        for match in metric.explain(score, prepared)
        if match.outcome != "correct"
    }
    return [
        any(path == field.path or path.startswith(f"{field.path}.") for path in wrong)
        for field in fields
    ]


def as_record(judged: Sequence[Judged], fields: Sequence[ItemField]) -> dict[str, Any]:
    """Return the values to take as one record."""
    record: dict[str, Any] = {}
    for choice, field in zip(judged, fields, strict=True):
        if choice.value is not None:
            put(record, field.names, choice.value)
    return record


def shared_errors(
    texts: Sequence[Sequence[Sequence[str] | None]], true: Sequence[Sequence[str]]
) -> dict[tuple[int, int], SharedErrors]:
    """Return how often errors of two runs coincide.

    Args:
        texts: for each item, the values of each run; None without an answer.
        true: for each item, the right values.
    """
    shared = {}
    for one, other in combinations(range(len(texts[0])), 2):
        same = either = 0
        for by_run, truths in zip(texts, true, strict=True):
            values, other_values = by_run[one], by_run[other]
            if values is None or other_values is None:
                continue
            for value, other_value, truth in zip(values, other_values, truths, strict=True):
                if value != truth or other_value != truth:
                    either += 1
                    same += value == other_value
        shared[one, other] = SharedErrors(same, either)
    return shared


def truths_of(sample: Sequence[str], benchmark: Benchmark, remedy: Message = AGAIN) -> list[Item]:
    """Return the items of a sample with their truths, in the sample's order.

    Args:
        sample: their ids.
        benchmark: the items.
        remedy: what to do if a truth was made from a draft.

    Raises:
        HdbenchError: an item has no truth yet, or one that was made from a draft.
    """
    wanted = set(sample)
    by_id = {item.id: item for item in benchmark.items() if item.id in wanted}
    if missing := [item_id for item_id in sample if item_id not in by_id]:
        raise HdbenchError(
            "{benchmark}: {count:,} of {of:,} items of the sample have no ground truth yet, such "
            "as {first}: check them too (hdbench annotate --only), as without them the sample is "
            "no longer random; where nobody can read a value, leave the field empty",
            benchmark=benchmark.id,
            count=len(missing),
            of=len(sample),
            first=missing[0],
        )
    truths = [by_id[item_id] for item_id in sample]
    drafted = [item for item in truths if item.provenance and item.provenance.run]
    if drafted:
        raise HdbenchError(
            "{benchmark}: {count:,} ground truths of the sample were made by correcting a draft, "
            "such as {first}: people overlook errors in drafts, so nothing can be promised: "
            "{instead}",
            benchmark=benchmark.id,
            count=len(drafted),
            first=drafted[0].id,
            instead=remedy,
        )
    return truths


def how_made(item: Item) -> str:
    """Return how the truth of an item was made."""
    return item.provenance.how if item.provenance else UNKNOWN


def _hash(truths: Sequence[Item]) -> str:
    lines = [json.dumps([item.id, item.ground_truth], sort_keys=True) for item in truths]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def known_before(folder: Path, items: Collection[str], created: str) -> int:
    """Return how many items had a ground truth typed in before a plan was made.

    The histories of `hdbench annotate` in a collection's folder say when it was typed in. A
    benchmark that was built, or whose truth came from a table, has no history. It goes unnoticed,
    too, if somebody looked at items without typing anything, set a clock back, or wrote a plan with
    another date: only the hash of the plan can rule that out, if it was given to somebody else
    before.

    Args:
        folder: the benchmark's folder.
        items: the ids of the sample.
        created: when the plan was made.

    Raises:
        HdbenchError: a history cannot be read.
    """
    planned_at = datetime.fromisoformat(created)
    return sum(
        any(
            change.what == "ground_truth"
            and not change.is_base
            and datetime.fromisoformat(change.at) < planned_at
            for change in changes.values()
        )
        for item_id, changes in History(folder).changes.items()
        if item_id in items
    )
