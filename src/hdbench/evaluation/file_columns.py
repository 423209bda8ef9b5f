"""What the parts of a result have to be in a file, which a stranger may have written."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationInfo

from hdbench.about import __version__
from hdbench.answers.answer import STATUSES
from hdbench.answers.batches import MAX_NUMBER
from hdbench.common.validation import unfit
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ResultPart, are_texts, counts_of
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import OUTCOMES, FieldMatch, Metric, Outcome

MAX_WHY = 500
"""Maximum number of characters shown of an error in an option, whose value may be long."""

_MATCH = {field.name for field in dataclasses.fields(FieldMatch)} - {"record"}


class _Rules(ResultPart):
    """A metric as a file of results names it."""

    name: str
    rules: int
    protocol: str
    options: dict[str, Any]


def metric_of(value: Any) -> Metric:
    """Return the metric that a file names: other rules have other statistics."""
    if not isinstance(value, dict):
        raise unfit("is not an object with name, rules, protocol and options")
    written = _Rules.model_validate(value)
    known = METRICS.get(written.name)
    if known is None:
        raise unfit(
            "no {metric!r} in hdbench {version}", metric=written.name[:100], version=__version__
        )
    if written.rules != known.rules:
        raise unfit(
            "scored under rules {then} of {metric}, and this hdbench {version} has rules {now}: "
            "score the answers again, or use the hdbench version that the file names under "
            "versions",
            then=written.rules,
            metric=written.name,
            version=__version__,
            now=known.rules,
        )
    try:
        defaults = make_metric(written.name, written.protocol).options
        # A default may be shown as a value that the metric does not accept: weights of 1 mean no
        # weights.
        options = {
            option: given
            for option, given in written.options.items()
            if option not in defaults or given != defaults[option]
        }
        return make_metric(written.name, written.protocol, **options)
    except HdbenchError as error:
        raise unfit("{why}", why=str(error)[:MAX_WHY]) from error


def rules_of(metric: Metric) -> dict[str, Any]:
    """Return how a file names a metric."""
    return {
        "name": metric.name,
        "rules": metric.rules,
        "protocol": metric.protocol,
        "options": dict(metric.options),
    }


def check_choices(given: Iterable[Any], choices: Sequence[str]) -> None:
    """Refuse values that are not all among some."""
    if not set(choices).issuperset(map(str, given)):
        raise unfit("are not all of {choices}", choices=", ".join(choices))


def outcomes_of(value: Any) -> Mapping[Outcome, Mapping[str, int]]:
    """Return outcome → field → how often, or refuse anything else."""
    counts = counts_of(value)
    check_choices(counts, OUTCOMES)
    return counts  # type: ignore[return-value]


def check_column(column: Any, info: ValidationInfo, of: str = "") -> None:
    """Refuse what is not a list with a value for each id."""
    items = len(info.data.get("ids", ()))
    if not isinstance(column, list) or ("ids" in info.data and len(column) != items):
        raise unfit("{of}is not a list of {count} values, one for each id", of=of, count=items)


def place_of_statistic(name: str, metric: Metric | None) -> str:
    """Return what stands before a message about a statistic."""
    if metric is not None and name not in metric.statistics:
        raise unfit("{name}: {metric} has no such statistic", name=name[:100], metric=metric.name)
    return f"{name[:100]}: "


def check_numbers(column: Sequence[Any], of: str = "") -> None:
    """Refuse values that are not all finite numbers in the range of statistics."""
    # A NaN fails every comparison, and so is rejected too.
    if not all(type(number) in (int, float) and 0 <= number <= MAX_NUMBER for number in column):
        raise unfit("{of}not all are finite numbers from 0 to 2^53", of=of)


def is_item(item: Any, item_id: str | None, metric: Metric) -> bool:
    """Return whether it is what became of an item, and the one with the id if there is one."""
    return (
        isinstance(item, dict)
        and isinstance(item.get("id"), str)
        and item_id in (item["id"], None)
        and item.get("status") in STATUSES
        and all(
            type(item[name]) in (int, float) and 0 <= item[name] <= MAX_NUMBER
            for name in metric.statistics
            if name in item
        )
        and metric.item_figure in item
        and isinstance(item.get("fields"), list)
        and all(map(_is_match, item["fields"]))
        and isinstance(lists := item.get("lists", {}), dict)
        and lists.keys() <= set(OUTCOMES)
        and all(map(are_texts, lists.values()))
        and _is_json(item)
    )


def _is_match(match: Any) -> bool:
    return (
        isinstance(match, dict)
        and match.keys() - {"record"} == _MATCH
        and match.get("record") in (None, "missed", "invented")
        and isinstance(match["field"], str)
        and match["outcome"] in OUTCOMES
        and type(match["similarity"]) in (int, float)
        and 0 <= match["similarity"] <= 1
    )


def _is_json(value: Any) -> bool:
    """Return whether it can be written again: Python reads NaN, but JSON does not have it."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True
