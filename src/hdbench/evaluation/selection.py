"""Some of a result's items, and several results as one, with fields, errors and figures."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from hdbench.benchmarks.benchmark import Benchmark, NoBenchmarkError, load_benchmark
from hdbench.common.grouping import grouped
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import NO_FILE, AmountUsed, ScoredDataset
from hdbench.evaluation.run_info import NO_RUN
from hdbench.scoring.metric import OUTCOMES, Outcome

if TYPE_CHECKING:
    from hdbench.evaluation.result import Result

Choice = Callable[[Mapping[str, Any]], object]
"""Given a row of `Result.items`, says whether the item is chosen."""

V = TypeVar("V")


def benchmark_of(
    result: "Result", benchmark: str | None = None, *, media: bool = False
) -> Benchmark:
    """Return the benchmark that a result was scored against.

    Args:
        result: the result.
        benchmark: the folder of the benchmark; by default the one that the result names.
        media: whether its media are needed.

    Raises:
        HdbenchError: the result names no benchmark, or the benchmark is missing or a different one.
    """
    loaded = load_benchmark(
        benchmark or result.dataset.benchmark,
        revision=None if benchmark else result.dataset.dataset_revision,
        media=media,
    )
    if loaded.content_hash() != result.dataset.dataset_sha256:
        raise HdbenchError(
            "{benchmark}: is not what was scored: version {version}, and the result is for "
            "{scored}: score the answers again",
            benchmark=loaded.id,
            version=loaded.spec.version,
            scored=result.dataset.dataset_version,
        )
    return loaded


def filtered(
    result: "Result", items: Iterable[str] | Choice | None, columns: Mapping[str, object]
) -> "Result":
    """Return the result of some items; see `Result.filter`."""
    chosen = set(result.ids)
    if callable(items):
        chosen = {row["id"] for row in result.items if items(row)}
    elif items is not None:
        chosen = {items} if isinstance(items, str) else set(items)
        if unknown := chosen - set(result.ids):
            first = min(map(str, unknown))
            raise HdbenchError(
                "this result has no item {id!r}{near}",
                id=first,
                near=did_you_mean(first, result.ids),
            )
    for column, value in columns.items():
        values = _column(result, column)
        chosen = {item for item in chosen if values[item] == value}
        if not chosen:
            has = dict.fromkeys(repr(values[item]) for item in result.ids)
            raise HdbenchError(
                "no item is left with {column}={value}; it has: {has}",
                column=column,
                value=repr(value),
                has=", ".join([*has][:_NAMED]) + (", …" if len(has) > _NAMED else ""),
            )
    if not chosen:
        raise HdbenchError("no item is left: choose at least one of {count}", count=len(result.ids))
    return of_positions(result, [n for n, item in enumerate(result.ids) if item in chosen])


_NAMED = 10
"""Maximum number of values that are named."""


def by(result: "Result", column: str | Mapping[str, Any]) -> "dict[str | None, Result]":
    """Return value → the result of its items; see `Result.by`."""
    values = _column(result, column) if isinstance(column, str) else column
    if missing := [item for item in result.ids if item not in values]:
        raise HdbenchError(
            "no value for {count} of the items, such as {id!r}: give None for an item without one",
            count=len(missing),
            id=missing[0],
        )
    grouping = grouped(list(values.values()))  # of all: runs on some items have the same ranges
    label = dict(zip(values, grouping.labels, strict=True))
    positions: dict[str | None, list[int]] = {value: [] for value in grouping.order}
    for position, item in enumerate(result.ids):
        positions[label[item]].append(position)
    return {value: of_positions(result, chosen) for value, chosen in positions.items() if chosen}


def _column(result: "Result", name: str) -> Mapping[str, Any]:
    try:
        return benchmark_of(result).column(name)
    except NoBenchmarkError as error:
        raise HdbenchError(
            "{column}: {why}; or choose by ids, or by a dictionary of ids and values",
            column=name,
            why=error,
        ) from error


def of_positions(result: "Result", positions: Sequence[int]) -> "Result":
    """Return the result of the items at some positions, in this order; see `Result.filter`."""
    if positions == range(len(result.ids)) or [*positions] == [*range(len(result.ids))]:
        return result

    def chosen(column: Sequence[V]) -> list[V]:
        return [column[position] for position in positions] if column else []

    ids = chosen(result.ids)
    among = set(ids)

    def of_items(by_id: Mapping[str, V]) -> dict[str, V]:
        return {item: value for item, value in by_id.items() if item in among}

    per_item = chosen(result.per_item)
    has_outcomes = any(result.outcomes.values())  # those with fixed fields count in statistics
    strata = chosen(result.strata)
    return result.replaced(
        ids=ids,
        statistics={name: chosen(column) for name, column in result.statistics.items()},
        strict_statistics=of_items(result.strict_statistics),
        other_errata=of_items(result.other_errata),
        outcomes=_outcomes(per_item if has_outcomes else []),
        kinds=of_items(result.kinds),
        worst=[item for item in result.worst if item["id"] in among],
        per_item=per_item,
        strata=strata,
        stratum_outcomes={
            stratum: _outcomes(
                [item for item, other in zip(per_item, strata, strict=True) if other == stratum]
            )
            for stratum in set(strata if has_outcomes and per_item else [])
        },
        item_weights=None if result.weighed is None else chosen(result.weighed.weights),
        statuses=chosen(result.statuses),
        usage={},
        run=result.run.model_copy(update={"cost_usd": None}),
    )


def _outcomes(items: Iterable[Mapping[str, Any]]) -> dict[Outcome, Counter[str]]:
    """Return how often each field had each outcome, from what became of items."""
    outcomes: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    for item in items:
        for match in item["fields"]:
            outcomes[match["outcome"]][match["field"]] += 1
        for outcome, paths in item.get("lists", {}).items():
            outcomes[outcome].update(paths)
    return outcomes


def concat(results: "Iterable[Result]") -> "Result":
    """Return the result of the items of several results, which were scored by the same rules.

    Args:
        results: of different items. What they do not have in common, such as the model, is not
            named in the result.

    Raises:
        HdbenchError: there is none, an item is in two, or they were scored by different rules.

    Example:
        >>> import hdbench as hd
        >>> truths = {"a": {"year": 1924}, "b": {"year": 1925}}
        >>> result = hd.score(truths, {"a": {"year": 1924}}, metric="record_f1")
        >>> hd.concat([result.filter(["a"]), result.filter(["b"])]).ids
        ['a', 'b']
    """
    parts = list(results)
    if not parts:
        raise HdbenchError("there is no result to put together")
    first = parts[0]
    twice = [item for item, count in Counter(_joined(parts, "ids")).items() if count > 1]
    if twice:
        raise HdbenchError(
            "item {id!r} is in two of these results: only results of different items are put "
            "together",
            id=twice[0],
        )
    if not _same(parts, "signature"):
        raise HdbenchError(
            "these results were scored by different rules: {one}, {other}",
            one=first.signature,
            other=next(part for part in parts if part.signature != first.signature).signature,
        )
    weights = [part.item_weights for part in parts]
    has_details = all(part.per_item for part in parts)
    strata = dict.fromkeys(chain.from_iterable(part.stratum_outcomes for part in parts))
    dataset = first.dataset
    if not _same(parts, "dataset"):
        if any(part.dataset.sample for part in parts):
            raise HdbenchError("these results are of samples of different wholes")
        dataset = ScoredDataset.model_construct(
            headline=first.headline, higher_is_better=first.higher_is_better
        )
    figure = first.metric.item_figure
    worst = sorted(_joined(parts, "worst"), key=lambda item: item[figure])
    return first.replaced(
        ids=_joined(parts, "ids"),
        statistics={
            name: list(chain.from_iterable(part.statistics[name] for part in parts))
            for name in first.statistics
        },
        strict_statistics=_merged(part.strict_statistics for part in parts),
        other_errata=_merged(part.other_errata for part in parts),
        outcomes=_added_outcomes([part.outcomes for part in parts]),
        kinds=_merged(part.kinds for part in parts),
        worst=worst[: max(len(part.worst) for part in parts)],
        per_item=_joined(parts, "per_item") if has_details else [],
        dataset=dataset,
        strata=_joined(parts, "strata"),
        stratum_outcomes={
            stratum: _added_outcomes([part.stratum_outcomes.get(stratum, {}) for part in parts])
            for stratum in strata
        },
        item_weights=None if None in weights else [*chain.from_iterable(filter(None, weights))],
        statuses=_joined(parts, "statuses"),
        reading=first.reading.model_copy(
            update={
                "notes": list(
                    dict.fromkeys(chain.from_iterable(part.reading.notes for part in parts))
                ),
                "warnings": [
                    warning
                    for number, part in enumerate(parts)
                    for warning in part.reading.warnings
                    if all(warning not in before.reading.warnings for before in parts[:number])
                ],
                "schema_violations": {
                    field: _added(part.reading.schema_violations.get(field, {}) for part in parts)
                    for part in parts
                    for field in part.reading.schema_violations
                },
            }
        ),
        answers=first.answers if _same(parts, "answers") else NO_FILE,
        model=first.model if _same(parts, "model") else None,
        run=first.run if _same(parts, "run") else NO_RUN,
        usage={
            name: AmountUsed.model_construct(
                total=sum(part.usage[name].total for part in parts if name in part.usage),
                items=sum(part.usage[name].items for part in parts if name in part.usage),
            )
            for name in dict.fromkeys(chain.from_iterable(part.usage for part in parts))
        },
    )


def _same(parts: "Sequence[Result]", name: str) -> bool:
    return all(getattr(part, name) == getattr(parts[0], name) for part in parts)


def _joined(parts: "Sequence[Result]", name: str) -> list[Any]:
    return list(chain.from_iterable(getattr(part, name) for part in parts))


def _merged(mappings: Iterable[Mapping[str, V]]) -> dict[str, V]:
    return {key: value for mapping in mappings for key, value in mapping.items()}


def _added(counts: Iterable[Mapping[V, int]]) -> Counter[V]:
    total: Counter[V] = Counter()
    for each in counts:
        total.update(each)
    return total


def _added_outcomes(
    parts: Sequence[Mapping[Outcome, Mapping[str, int]]],
) -> dict[Outcome, Counter[str]]:
    return {outcome: _added(part.get(outcome, {}) for part in parts) for outcome in OUTCOMES}
