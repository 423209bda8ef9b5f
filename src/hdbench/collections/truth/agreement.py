"""Agreement of people who annotated the same items of a collection."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.benchmarks.agreement import Agreement
from hdbench.benchmarks.benchmark import PEOPLE
from hdbench.benchmarks.building.recipe import Recipe
from hdbench.benchmarks.spec import read_spec
from hdbench.collections.truth.double import ReadByAll, read_doubly_read
from hdbench.collections.truth.item_state import folded
from hdbench.scoring.metric import INDEX, Metric
from hdbench.scoring.records.compare import joined, read_rules
from hdbench.scoring.records.pairing import pair_items
from hdbench.scoring.records.tree import PathRules, Record, as_written, take_apart
from hdbench.statistics.agreement import Unit, ceiling, field_agreement
from hdbench.statistics.bootstrap import METHOD

RESAMPLES = 10_000
LEVEL = 0.95


def agreement_of(folder: Path, annotated: Sequence[ReadByAll]) -> Agreement | None:
    """Return the agreement of people, from their entries before anything was settled.

    Args:
        folder: the collection.
        annotated: the items that several people annotated, and are done with.

    Returns:
        None if there are no such items.

    Raises:
        HdbenchError: the collection's `benchmark.yaml` cannot be used.
    """
    if not annotated:
        return None
    spec = read_spec(folder / "benchmark.yaml")
    metric = spec.make_metric()
    settings = {"resamples": RESAMPLES, "seed": 0}
    records = [item.records for item in annotated]
    fields = units_by_field([list(by_name.values()) for by_name in records], rules_for(metric))
    return Agreement(
        annotators=len({name for by_name in records for name in by_name}),
        items=len(annotated),
        without_truth=sum(None in by_name.values() for by_name in records),
        metric=spec.metric,
        method=METHOD,
        level=LEVEL,
        **settings,
        fields={
            name: field_agreement(units, level=LEVEL, **settings) for name, units in fields.items()
        },
        ceiling=ceiling(metric, spec.headline, records, level=LEVEL, **settings),
    )


def agreement_of_recipe(recipe: Recipe) -> Agreement | None:
    """Return the agreement that a dataset is built with; None for a sample, or without people.

    Raises:
        HdbenchError: what people did cannot be used.
    """
    if recipe.sample or not (recipe.folder / PEOPLE).is_dir():
        return None
    return agreement_of(recipe.folder, read_doubly_read(recipe.folder).finished)


_ALIGNING = ("lists", "compare", "threshold", "ignore", "blank")
"""The options of `hdb/record_f1` by which entries of lists are also aligned here."""


class _Group(NamedTuple):
    """The same record, or the same entry of a list, as each person has it.

    Attributes:
        item: the position of the item.
        path: the path of the entry, with `[]`; empty for the record itself.
        records: the record or entry of each person; None if they do not have it.
    """

    item: int
    path: str
    records: tuple[Record | None, ...]


def rules_for(metric: Metric) -> PathRules:
    """Return rules to align entries of lists: those of the metric, if it is `hdb/record_f1`."""
    options = metric.options if metric.name == "record_f1" else {}
    return read_rules({name: options[name] for name in _ALIGNING if name in options})


def units_by_field(
    items: Iterable[Sequence[dict[str, Any] | None]], rules: PathRules
) -> dict[str, list[Unit]]:
    """Return field, such as `persons[].name` → what people entered for the same things.

    Texts are normalized to NFC and stripped. Null, a missing field and an empty text are the same.
    The entries of lists are aligned as in `hdb/record_f1`: the second person's with the first
    one's, the third one's with those and with the second one's additional entries, and so on. A
    field that nobody filled in is a unit too, if somebody did for another item, and if all people
    have the record or entry.

    Args:
        items: for each item, the records of the people who annotated it; None for somebody who says
            that no ground truth can be given.
        rules: the rules by which entries are aligned.
    """
    groups: list[_Group] = []
    for item, records in enumerate(items):
        parsed = tuple(
            None if record is None else take_apart(folded(record) or {}, rules)
            for record in records
        )
        groups += _groups(_Group(item, "", parsed), rules)
    fields: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for group in groups:
        fields[group.path] |= dict.fromkeys(_leaves(group))
    units: defaultdict[str, list[Unit]] = defaultdict(list)
    for group in groups:
        paths = _leaves(group)
        if None not in group.records:
            paths |= {path: None for path in fields[group.path] if "[" not in path}
        for path in paths:
            values = tuple(
                None if record is None else _text(record.leaves.get(path))
                for record in group.records
            )
            field = as_written(joined(group.path, INDEX.sub("[]", path)))
            units[field].append(Unit(group.item, values))
    return dict(units)


def _leaves(group: _Group) -> dict[str, None]:
    """Return the fields that anybody filled in."""
    return dict.fromkeys(path for record in group.records if record for path in record.leaves)


def _groups(group: _Group, rules: PathRules) -> Iterator[_Group]:
    """Yield a record, the aligned entries of its lists, and those of their lists in turn."""
    yield group
    for path in dict.fromkeys(path for record in group.records if record for path in record.lists):
        lists = [record.lists.get(path, []) if record else [] for record in group.records]
        entry_path = joined(group.path, INDEX.sub("[]", path)) + "[]"
        for records in _aligned(lists, rules):
            yield from _groups(_Group(group.item, entry_path, records), rules)


def _aligned(
    lists: Sequence[Sequence[Record]], rules: PathRules
) -> list[tuple[Record | None, ...]]:
    """Return the entries of several people's lists, side by side; None where somebody lacks one."""
    first: list[Record] = []  # for each row, the entry that others are aligned with
    rows: list[list[Record | None]] = []
    for column, entries in enumerate(lists):
        filled = [entry for entry in entries if entry.size]
        row_of = {id(entry): number for number, entry in enumerate(first)}
        for aligned, entry in pair_items(first, filled, rules):
            if entry is None:
                continue
            if aligned is None:
                first = [*first, entry]
                rows.append([None] * len(lists))
            rows[-1 if aligned is None else row_of[id(aligned)]][column] = entry
    return [tuple(row) for row in rows]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
