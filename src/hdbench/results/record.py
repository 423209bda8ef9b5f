"""The record of a result, as JSON data: written, and checked and read back, as it is untrusted."""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from pydantic import Field, StringConstraints

from hdbench import __version__
from hdbench.answers import ReadAs
from hdbench.answers.answer import KINDS, STATUSES, Kind, Status
from hdbench.answers.batches import MAX_NUMBER
from hdbench.common.checked import validate
from hdbench.common.texts import LANGUAGES
from hdbench.common.written_by import check_written_by
from hdbench.errors import HdbenchError, Message
from hdbench.results.parts import (
    ALWAYS,
    NO_DATASET,
    NO_FILE,
    NOT_READ,
    AnswersRead,
    ResultPart,
    ScoredDataset,
    ScoredFile,
    Versions,
)
from hdbench.results.result import Result
from hdbench.results.run_info import NO_RUN, RunInfo
from hdbench.results.usage import AmountUsed
from hdbench.results.warning_texts import RunWarning, in_words
from hdbench.scoring import METRICS, check_headline, make_metric
from hdbench.scoring.metric import OUTCOMES, FieldMatch, Metric, Outcome

_MATCH = {field.name for field in dataclasses.fields(FieldMatch)} - {"record"}

_WARNING = {
    "kind": str,
    "message": str,
    "count": int,
    "of": int,
    "ids": list,
    "key": str,
    "values": dict,
}
_UsedName = Annotated[str, StringConstraints(pattern="^(input_tokens|output_tokens|seconds)$")]


class _Head(ResultPart):
    """The keys that make a file a result, read first: other rules have other statistics."""

    metric: str
    rules: int
    reading: int = Field(ge=1)


class _Record(ResultPart):
    """The conditions of a score, and what the run says about itself."""

    protocol: str
    options: dict[str, Any]
    versions: Versions
    model: str | None = None
    answers: ScoredFile = NO_FILE
    run: RunInfo = NO_RUN
    usage: dict[_UsedName, AmountUsed] = Field(default_factory=dict)


class _ReadAs(ResultPart):
    """The options of reading, in a record."""

    strict: bool
    as_given: bool


MAX_WHY = 500
"""Maximum number of characters shown of an error in an option, whose value may be long."""

MAX_MESSAGE = 10_000
"""Maximum number of characters in a warning in words; those of the checks have some 300."""


def item_set(ids: Sequence[str]) -> str:
    """Return a name for a set of items, within which results are compared: number and short hash.

    Example:
        >>> item_set(["b", "a"]) == item_set(["a", "b"])
        True
        >>> item_set(["a", "b"])
        '2-3554d2b8a1e3'
    """
    return f"{len(ids)}-{hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()[:12]}"


def to_record(result: Result, *, details: bool = False, intervals: bool = True) -> dict[str, Any]:
    """Return a result as JSON data: what `Result.to_dict` has, and what it can be rebuilt from.

    Statistics that are zero for every item are left out. The worst items are not kept. The
    `intervals` are those of `hdbench.statistics.bootstrap` with its defaults; `effort` is that of
    `hdbench.statistics.effort`, if it was counted.

    Args:
        result: the result.
        details: also `fields`, the rates of each field, `per_item`, if it was kept, and `errors` by
            class.
        intervals: also the intervals, and the effort.
    """
    usage = {name: used.model_dump() for name, used in result.usage.items()}
    return {
        **({} if result.model is None else {"model": result.model}),
        **result.to_dict(details=details),
        **({"errors": result.errors_by_class} if details else {}),
        **(result.spread_dict() if intervals else {}),
        "metric": result.metric.name,
        "rules": result.metric.rules,
        "reading": result.reading_version,
        "options": dict(result.metric.options),
        "versions": result.versions.model_dump(),
        **({} if result.answers == NO_FILE else {"answers": result.answers.model_dump()}),
        **({} if result.run == NO_RUN else {"run": result.run.to_dict()}),
        **({"usage": usage} if usage else {}),
        "item_set": item_set(result.ids),
        "outcomes": {name: dict(sorted(result.outcomes[name].items())) for name in OUTCOMES},
        "ids": list(result.ids),
        **(
            {
                "strata": list(result.strata),
                "stratum_outcomes": {
                    str(stratum): {name: dict(sorted(fields[name].items())) for name in OUTCOMES}
                    for stratum, fields in sorted(result.stratum_outcomes.items())
                },
            }
            if result.strata
            else {}
        ),
        **(
            {"strict_statistics": {key: dict(row) for key, row in result.strict_statistics.items()}}
            if result.strict_statistics
            else {}
        ),
        "statistics": {
            # Not a copy: at a million items, the columns of a metric take 40 MB.
            name: column if isinstance(column, list) else list(column)
            for name, column in result.statistics.items()
            if any(column)
        },
    }


def from_record(value: Any, where: str) -> Result:
    """Return the result that a record describes.

    Args:
        value: JSON data, from anywhere.
        where: its place, for messages.

    Raises:
        HdbenchError: it is not a record, or follows other rules; the message names the key.
    """
    if not isinstance(value, dict) or not {"metric", "statistics"} <= value.keys():
        raise HdbenchError(
            "{place}: not a result with per-item statistics (no metric, statistics): write one "
            "with hdbench score --json",
            place=where,
        )
    versions = value.get("versions")
    version = versions.get("hdbench") if isinstance(versions, dict) else None
    check_written_by(version, where, Message("score the answers again"))
    head = validate(_Head, value, Path(where))
    if head.metric not in METRICS:
        raise HdbenchError(
            "{place}: metric: no {metric!r} in hdbench {version}",
            place=where,
            metric=head.metric[:100],
            version=__version__,
        )
    rules = METRICS[head.metric].rules
    if head.rules != rules:
        raise HdbenchError(
            "{place}: rules: scored under rules {then} of {metric}, and this hdbench {version} has "
            "rules {now}: score the answers again, or use the hdbench version that the file names "
            "under versions",
            place=where,
            then=head.rules,
            metric=head.metric,
            version=__version__,
            now=rules,
        )
    record = validate(_Record, value, Path(where))
    metric = _metric(head.metric, record, where)
    ids = value.get("ids")
    if not _are_texts(ids) or len(set(ids)) < len(ids):
        raise HdbenchError(
            "{place}: ids: is not a list of texts that are all different", place=where
        )
    zeros = [0] * len(ids)
    statistics = _statistics(value["statistics"], metric, len(ids), where)
    outcomes = _counts(value, "outcomes", where)
    per_item = _per_item(value.get("per_item"), ids, metric, where)
    dataset = _dataset(value, metric.name, where)
    strata, stratum_outcomes = _strata(value, dataset, ids, where)
    result = Result(
        metric=metric,
        ids=ids,
        status=_status(value, len(ids), where),
        statistics={name: statistics.get(name, zeros) for name in metric.statistics},
        outcomes={name: Counter(outcomes.get(name, {})) for name in OUTCOMES},
        kinds=_kinds(value, where),
        strict_statistics=_strict_statistics(value, metric, ids, where),
        worst=[],
        per_item=per_item,
        dataset=dataset,
        reading=_reading(value, where),
        reading_version=head.reading,
        answers=record.answers,
        model=record.model,
        run=record.run.for_result(),
        usage=record.usage,
        versions=record.versions,
        strata=strata,
        statuses=[item["status"] for item in per_item],
        stratum_outcomes=stratum_outcomes,
    )
    try:  # with sums that no answers give, a rate may be infinite
        json.dumps([result.figures(), result.field_rates()], allow_nan=False)
    except (ValueError, ArithmeticError) as error:
        raise HdbenchError(
            "{place}: statistics: no figures follow from them: {why}", place=where, why=error
        ) from error
    return result


def _metric(name: str, record: _Record, where: str) -> Metric:
    for option in record.options:
        if option not in METRICS[name].option_names:
            raise HdbenchError(
                "{place}: options: {metric} has no option {option!r}",
                place=where,
                metric=name,
                option=option[:100],
            )
    try:
        defaults = make_metric(name, record.protocol).options
        # A default may be shown as a value that the metric does not accept: weights of 1 mean no
        # weights.
        options = {
            option: value for option, value in record.options.items() if value != defaults[option]
        }
        return make_metric(name, record.protocol, **options)
    except HdbenchError as error:
        raise HdbenchError(
            "{place}: protocol, options: {why}",
            place=where,
            why=error if len(str(error)) <= MAX_WHY else str(error)[:MAX_WHY],
        ) from error


def _statistics(columns: Any, metric: Metric, items: int, where: str) -> dict[str, list[float]]:
    if not isinstance(columns, dict):
        raise HdbenchError("{place}: statistics: is not an object of names and lists", place=where)
    for name, column in columns.items():
        place = f"{where}: statistics: {name[:100]}"
        if name not in metric.statistics:
            raise HdbenchError(
                "{place}: {metric} has no such statistic", place=place, metric=metric.name
            )
        if not isinstance(column, list) or len(column) != items:
            raise HdbenchError(
                "{place}: is not a list of {count} values, one for each id",
                place=place,
                count=items,
            )
        # A NaN fails every comparison, and so is rejected too.
        if not all(type(number) in (int, float) and 0 <= number <= MAX_NUMBER for number in column):
            raise HdbenchError("{place}: not all are finite numbers from 0 to 2^53", place=place)
    return columns


def _per_item(value: Any, ids: Sequence[str], metric: Metric, where: str) -> list[dict[str, Any]]:
    """Return the outcomes of each item, if the record has them."""
    if not value:  # without --details
        return []
    if not isinstance(value, list) or len(value) != len(ids):
        raise HdbenchError(
            "{place}: per_item: is not a list of {count} items", place=where, count=len(ids)
        )
    for item_id, item in zip(ids, value, strict=True):
        if not _is_item(item, item_id, metric):
            raise HdbenchError(
                "{place}: per_item: {id!r}: is not that item with its status, statistics and "
                "fields: score the answers again",
                place=where,
                id=item_id[:100],
            )
    return value


def _is_item(item: Any, item_id: str, metric: Metric) -> bool:
    return (
        isinstance(item, dict)
        and item.get("id") == item_id
        and item.get("status") in STATUSES
        and all(
            type(item[name]) in (int, float) and 0 <= item[name] <= MAX_NUMBER
            for name in metric.statistics
            if name in item
        )
        and metric.item_figure in item
        and isinstance(item.get("fields"), list)
        and all(map(_is_match, item["fields"]))
        and _is_json(item)
    )


def _is_json(value: Any) -> bool:
    """Return whether it can be written again: Python reads NaN, but JSON does not have it."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


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


def _status(value: dict[str, Any], items: int, where: str) -> Counter[Status]:
    counts = _counts({"status": {"status": value.get("status")}}, "status", where)["status"]
    if counts.keys() != set(STATUSES) or sum(counts.values()) != items:
        raise HdbenchError(
            "{place}: status: must count {statuses} of all {count} ids",
            place=where,
            statuses=", ".join(STATUSES),
            count=items,
        )
    return Counter({status: counts[status] for status in STATUSES})


def _kinds(value: dict[str, Any], where: str) -> Counter[Kind]:
    """Return the kinds of unparsable answers."""
    kinds = value.get("unparsable_kinds", {})
    counts = _counts({"kinds": {"kinds": kinds}}, "kinds", where)["kinds"]
    if not counts.keys() <= set(KINDS):
        raise HdbenchError(
            "{place}: unparsable_kinds: are not all of {kinds}", place=where, kinds=", ".join(KINDS)
        )
    return Counter({kind: counts[kind] for kind in KINDS if kind in counts})


def _strict_statistics(
    value: dict[str, Any], metric: Metric, ids: Sequence[str], where: str
) -> dict[str, dict[str, float]]:
    by_item = value.get("strict_statistics", {})
    if not isinstance(by_item, dict) or not by_item.keys() <= set(ids):
        raise HdbenchError(
            "{place}: strict_statistics: is not an object of ids and statistics", place=where
        )
    for item_id, statistics in by_item.items():
        if not isinstance(statistics, dict):
            raise HdbenchError(
                "{place}: strict_statistics: {id!r}: is not an object",
                place=where,
                id=item_id[:100],
            )
        columns = {name: [number] for name, number in statistics.items()}
        _statistics(columns, metric, 1, f"{where}: strict_statistics: {item_id[:100]!r}")
    return by_item


def _dataset(value: dict[str, Any], metric: str, where: str) -> ScoredDataset:
    """Return the dataset that was scored against; without a name if ground truths came alone."""
    if "benchmark" not in value:
        return NO_DATASET
    for name in ALWAYS:
        if value.get(name) is None:
            raise HdbenchError(
                "{place}: {key}: {why}", place=where, key=name, why=Message("Field required")
            )
    dataset = validate(ScoredDataset, value, Path(where))
    try:
        check_headline(metric, dataset.headline)
    except HdbenchError as error:
        raise HdbenchError("{place}: {why}", place=where, why=error) from error
    return dataset


def _strata(
    value: dict[str, Any], dataset: ScoredDataset, ids: Sequence[str], where: str
) -> tuple[list[int], dict[int, dict[Outcome, Counter[str]]]]:
    """Return the items' strata, and what became of the fields by stratum, if there are several."""
    number = len(dataset.sample.strata) if dataset.sample else 0
    if number <= 1:
        return [], {}
    strata, outcomes = value.get("strata"), value.get("stratum_outcomes")
    if (
        not isinstance(strata, list)
        or len(strata) != len(ids)
        or not all(type(stratum) is int and 0 <= stratum < number for stratum in strata)
    ):
        raise HdbenchError("{place}: strata: is not a list of the stratum of each id", place=where)
    if not isinstance(outcomes, dict) or outcomes.keys() != set(map(str, strata)):
        raise HdbenchError(
            "{place}: stratum_outcomes: is not an object of outcomes by stratum", place=where
        )
    fields: dict[int, dict[Outcome, Counter[str]]] = {}
    for stratum in sorted(set(strata)):
        counts = _counts(outcomes, str(stratum), f"{where}: stratum_outcomes")
        fields[stratum] = {name: Counter(counts.get(name, {})) for name in OUTCOMES}
    return strata, fields


def _reading(value: dict[str, Any], where: str) -> AnswersRead:
    if "strict" not in value:
        return NOT_READ
    warnings = value.get("warnings")
    if not _are_texts(value.get("notes")):
        raise HdbenchError("{place}: notes: is not a list of texts", place=where)
    if not isinstance(warnings, list) or not all(map(_is_warning, warnings)):
        raise HdbenchError(
            "{place}: warnings: not all have {keys}", place=where, keys=", ".join(_WARNING)
        )
    return AnswersRead(
        ReadAs(**dict(validate(_ReadAs, value, Path(where)))),
        value["notes"],
        _counts(value, "schema_violations", where),
        [
            RunWarning(
                warning["kind"],
                {name: warning[name] for name in ("key", "values")},
                *(warning[name] for name in ("count", "of", "ids")),
            )
            for warning in warnings
        ],
    )


def _counts(value: dict[str, Any], key: str, where: str) -> dict[str, dict[str, int]]:
    """Counts by name in objects by name: by hand, as pydantic would list every wrong one."""
    groups = value.get(key)
    if not isinstance(groups, dict) or not all(
        isinstance(counts, dict)
        and all(type(count) is int and 0 <= count <= MAX_NUMBER for count in counts.values())
        for counts in groups.values()
    ):
        raise HdbenchError(
            "{place}: {key}: is not an object of counts by name", place=where, key=key
        )
    return groups


def _is_warning(value: Any) -> bool:
    if not (
        isinstance(value, dict)
        and value.keys() == _WARNING.keys()
        and all(type(value[name]) is kind for name, kind in _WARNING.items())
        and _are_texts(value["ids"])
    ):
        return False
    try:
        return all(
            len(in_words(value["key"], value["values"], language)) <= MAX_MESSAGE
            for language in LANGUAGES
        )
    except ValueError:
        return False


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
