"""What the parts of a result have to be in a file, which a stranger may have written."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, ValidationInfo

from hdbench.about import __version__
from hdbench.answers.answer import KINDS, STATUSES, Kind, Status
from hdbench.answers.entries import MAX_NUMBER
from hdbench.common.validation import unfit
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import ResultPart, ScoredDataset, are_texts, counts_of
from hdbench.scoring import METRICS, check_headline, make_metric
from hdbench.scoring.metric import OUTCOMES, FieldMatch, Metric, Outcome

MAX_WHY = 500
"""Maximum number of characters shown of an error in an option, whose value may be long."""

_MATCH = {*FieldMatch._fields} - {"record"}


class _Rules(ResultPart):
    """A metric as a file of results names it."""

    name: str
    rules: int
    protocol: str
    options: dict[str, Any]


def _metric_of(value: Any) -> Metric:
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


def _check_choices(given: Iterable[Any], choices: Sequence[str]) -> None:
    """Refuse values that are not all among some."""
    if not set(choices).issuperset(map(str, given)):
        raise unfit("are not all of {choices}", choices=", ".join(choices))


def _outcomes_of(value: Any) -> Mapping[Outcome, Mapping[str, int]]:
    """Return outcome → field → how often, or refuse anything else."""
    counts = counts_of(value)
    _check_choices(counts, OUTCOMES)
    return counts  # type: ignore[return-value]


def _check_column(column: Any, info: ValidationInfo, of: str = "") -> None:
    """Refuse what is not a list with a value for each id."""
    items = len(info.data.get("ids", ()))
    if not isinstance(column, list) or ("ids" in info.data and len(column) != items):
        raise unfit("{of}is not a list of {count} values, one for each id", of=of, count=items)


def _place_of_statistic(name: str, metric: Metric | None) -> str:
    """Return what stands before a message about a statistic."""
    if metric is not None and name not in metric.statistics:
        raise unfit("{name}: {metric} has no such statistic", name=name[:100], metric=metric.name)
    return f"{name[:100]}: "


def _check_numbers(column: Sequence[Any], of: str = "") -> None:
    """Refuse values that are not all finite numbers in the range of statistics."""
    # A NaN fails every comparison, and so is rejected too.
    if not all(type(number) in (int, float) and 0 <= number <= MAX_NUMBER for number in column):
        raise unfit("{of}not all are finite numbers from 0 to 2^53", of=of)


def _ranked_by_a_rate(dataset: ScoredDataset, info: ValidationInfo) -> ScoredDataset:
    if dataset.headline and "metric" in info.data:
        try:
            check_headline(info.data["metric"].name, dataset.headline)
        except HdbenchError as error:
            raise unfit("{why}", why=error) from error
    return dataset


def _ids_of(ids: Any) -> list[str]:
    if not are_texts(ids) or len(set(ids)) < len(ids):
        raise unfit("is not a list of texts that are all different")
    return ids


def _statuses_of(statuses: Any, info: ValidationInfo) -> list[Status]:
    _check_column(statuses, info)
    _check_choices(statuses, STATUSES)
    return [*statuses]


def _kinds_of(kinds: Any) -> dict[str, Kind]:
    _check_choices(kinds.values() if isinstance(kinds, dict) else [kinds], KINDS)
    return {**kinds}


def _columns_of(columns: Any, info: ValidationInfo) -> dict[str, list[float]]:
    if not isinstance(columns, dict):
        raise unfit("is not an object of names and lists")
    metric, ids = info.data.get("metric"), info.data.get("ids")
    for name, column in columns.items():
        of = _place_of_statistic(name, metric)
        _check_column(column, info, of)
        _check_numbers(column, of)
    if metric is None or ids is None:
        return columns
    return dict.fromkeys(metric.statistics, [0.0] * len(ids)) | columns


def _statistics_of_items(by_item: Any, info: ValidationInfo) -> dict[str, dict[str, float]]:
    if not isinstance(by_item, dict) or not all(
        isinstance(statistics, dict) for statistics in by_item.values()
    ):
        raise unfit("is not an object of ids and statistics")
    for statistics in by_item.values():
        for name, value in statistics.items():
            _check_numbers([value], _place_of_statistic(name, info.data.get("metric")))
    return by_item


def _strata_of(strata: Any, info: ValidationInfo) -> list[int]:
    sample = info.data["dataset"].sample if "dataset" in info.data else None
    number = len(sample.strata) if sample else 0
    if number <= 1:
        return []
    _check_column(strata, info)
    if not all(type(stratum) is int and 0 <= stratum < number for stratum in strata):
        raise unfit("is not a list of the stratum of each id")
    return [*strata]


def _weights_of(weights: Any, info: ValidationInfo) -> list[float] | None:
    if weights is None:
        return None
    _check_column(weights, info)
    _check_numbers(weights)
    return [*weights]


def _outcomes_of_strata(
    by_stratum: Any, info: ValidationInfo
) -> dict[int, Mapping[Outcome, Mapping[str, int]]]:
    strata = set(info.data.get("strata", ()))
    if not isinstance(by_stratum, dict) or not by_stratum.keys() <= set(map(str, strata)):
        raise unfit("is not an object of outcomes by stratum")
    return {int(stratum): _outcomes_of(counts) for stratum, counts in by_stratum.items()}


def _items_of(items: Any, info: ValidationInfo) -> list[dict[str, Any]]:
    if not isinstance(items, list):
        raise unfit("is not a list")
    if items and info.field_name == "per_item":
        _check_column(items, info)
    if not items or not {"metric", "ids"} <= info.data.keys():
        return items
    # Those with the lowest figures stand in another order.
    ids = info.data["ids"] if info.field_name == "per_item" else [None] * len(items)
    for number, (item, expected) in enumerate(zip(items, ids, strict=True)):
        if not _is_item(item, expected, info.data["metric"]):
            raise unfit(
                "{number}: is not that item with its status, statistics and fields: score the "
                "answers again",
                number=number,
            )
    return items


def _is_item(item: Any, item_id: str | None, metric: Metric) -> bool:
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


MetricOfFile = Annotated[Metric, PlainValidator(_metric_of)]
DatasetOfFile = Annotated[ScoredDataset, AfterValidator(_ranked_by_a_rate)]
Ids = Annotated[list[str], PlainValidator(_ids_of)]
Statuses = Annotated[list[Status], PlainValidator(_statuses_of)]
Kinds = Annotated[dict[str, Kind], PlainValidator(_kinds_of)]
Columns = Annotated[Mapping[str, Sequence[float]], PlainValidator(_columns_of)]
StatisticsOfItems = Annotated[
    Mapping[str, Mapping[str, float]], PlainValidator(_statistics_of_items)
]
Strata = Annotated[list[int], PlainValidator(_strata_of)]
Weights = Annotated[list[float] | None, PlainValidator(_weights_of)]
Outcomes = Annotated[Mapping[Outcome, Mapping[str, int]], PlainValidator(_outcomes_of)]
OutcomesOfStrata = Annotated[
    Mapping[int, Mapping[Outcome, Mapping[str, int]]], PlainValidator(_outcomes_of_strata)
]
Items = Annotated[list[dict[str, Any]], PlainValidator(_items_of)]
