"""Whether a value is wrong, by what people read."""

import re
from typing import Any

from hdbench.answers.entries import put
from hdbench.benchmarks.benchmark import Item
from hdbench.collections.trust.fields import ItemField
from hdbench.collections.trust.plan import RIGHTS, Right
from hdbench.collections.trust.runs import Judged
from hdbench.collections.truth.readings import Settled
from hdbench.common.letters import Case, folded, text_of
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
        for match in metric.explain(score, prepared)
        if match.outcome != "correct"
    )
    return any(path == field.path or path.startswith(f"{field.path}.") for path in wrong)


def _record(value: Any, field: ItemField) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if value is not None:
        put(record, field.names, value)
    return record
