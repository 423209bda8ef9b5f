"""Several results as one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import NO_FILE, AmountUsed, ScoredDataset
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import NO_RUN
from hdbench.scoring.metric import OUTCOMES, Outcome

V = TypeVar("V")


def concat(results: Iterable[Result]) -> Result:
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


def _same(parts: Sequence[Result], name: str) -> bool:
    return all(getattr(part, name) == getattr(parts[0], name) for part in parts)


def _joined(parts: Sequence[Result], name: str) -> list[Any]:
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
