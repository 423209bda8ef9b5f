"""`hdbench agreement`: how well the people agree who annotated the same items of a collection."""

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.assigned import Annotated
from hdbench.benchmarks.agreement import Agreement
from hdbench.benchmarks.spec import read_spec
from hdbench.scoring.field_rates import INDEX
from hdbench.scoring.metric import Metric
from hdbench.scoring.records.compare import joined
from hdbench.scoring.records.options import read_rules
from hdbench.scoring.records.pairing import pair_items
from hdbench.scoring.records.patterns import as_written
from hdbench.scoring.records.tree import PathRules, Record, take_apart
from hdbench.statistics.agreement import Unit, field_agreement
from hdbench.statistics.bootstrap import METHOD
from hdbench.statistics.ceiling import ceiling

RESAMPLES = 10_000
LEVEL = 0.95


def agreement_of(folder: Path, found: Sequence[Annotated], *, seed: int = 0) -> Agreement | None:
    """Return how well people agree, from what each of them entered before anything was settled.

    Args:
        folder: the collection.
        found: the items that several people annotated, and are done with.
        seed: for the random numbers of the intervals.

    Returns:
        None if there are no such items.

    Raises:
        HdbenchError: the collection's `benchmark.yaml` cannot be used.
    """
    if not found:
        return None
    spec = read_spec(folder / "benchmark.yaml")
    metric = spec.make_metric()
    settings = {"resamples": RESAMPLES, "seed": seed}
    records = [each.records for each in found]
    fields = units_by_field([list(each.values()) for each in records], rules_for(metric))
    return Agreement(
        annotators=len({name for each in records for name in each}),
        items=len(found),
        without_truth=sum(None in each.values() for each in records),
        metric=spec.metric,
        method=METHOD,
        level=LEVEL,
        **settings,
        fields={
            name: field_agreement(units, level=LEVEL, **settings) for name, units in fields.items()
        },
        ceiling=ceiling(metric, spec.headline, records, level=LEVEL, **settings),
    )


_TAKEN_OVER = ("lists", "compare", "threshold", "ignore", "blank")
"""The options of `hdb/record_f1` by which entries of lists are aligned here too."""


class _Group(NamedTuple):
    """The same record, or the same entry of a list, as each person has it.

    Attributes:
        item: the place of the item.
        path: the path of the entry, with `[]`; empty for the record itself.
        records: what each of them has; None if they do not have it.
    """

    item: int
    path: str
    records: tuple[Record | None, ...]


def rules_for(metric: Metric) -> PathRules:
    """Return rules to align entries of lists: those of the metric, if it is `hdb/record_f1`."""
    options = metric.options if metric.name == "record_f1" else {}
    return read_rules({name: options[name] for name in _TAKEN_OVER if name in options})


def units_by_field(
    items: Iterable[Sequence[dict[str, Any] | None]], rules: PathRules
) -> dict[str, list[Unit]]:
    """Return field, such as `persons[].name` → what people entered for the same things.

    Texts are taken in Unicode's form NFC, without white space around them. Null, a missing field
    and an empty text are one and the same. The entries of lists are aligned as in `hdb/record_f1`:
    the second person's with the first one's, the third one's with those and with what the second
    one has besides, and so on. That nobody entered anything in a field is a unit too, if somebody
    did for another item, and if all of them have the record or entry.

    Args:
        items: for each item, the records of the people who annotated it; None if one of them says
            that there is no ground truth to be had.
        rules: how entries are aligned.
    """
    groups: list[_Group] = []
    for place, records in enumerate(items):
        apart = tuple(None if each is None else take_apart(_plain(each), rules) for each in records)
        groups += _groups(_Group(place, "", apart), rules)
    known: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for group in groups:
        known[group.path] |= dict.fromkeys(_leaves(group))
    found: defaultdict[str, list[Unit]] = defaultdict(list)
    for group in groups:
        entered = _leaves(group)
        empty = (
            [] if None in group.records else [path for path in known[group.path] if "[" not in path]
        )
        for path in {**entered, **dict.fromkeys(empty)}:
            values = tuple(
                None if each is None else _text(each.leaves.get(path)) for each in group.records
            )
            field = as_written(joined(group.path, INDEX.sub("[]", path)))
            found[field].append(Unit(group.item, values))
    return dict(found)


def _leaves(group: _Group) -> dict[str, None]:
    """Return the fields that anybody filled in."""
    return dict.fromkeys(path for each in group.records if each for path in each.leaves)


def _groups(group: _Group, rules: PathRules) -> Iterator[_Group]:
    """Yield a record, and the aligned entries of its lists, and so on."""
    yield group
    for path in dict.fromkeys(path for each in group.records if each for path in each.lists):
        lists = [each.lists.get(path, []) if each else [] for each in group.records]
        whole = joined(group.path, INDEX.sub("[]", path)) + "[]"
        for records in _aligned(lists, rules):
            yield from _groups(_Group(group.item, whole, records), rules)


def _aligned(
    lists: Sequence[Sequence[Record]], rules: PathRules
) -> list[tuple[Record | None, ...]]:
    """Return the entries of several people's lists, side by side; None where somebody lacks one."""
    first: list[Record] = []  # of each row, the entry that others are aligned with
    rows: list[list[Record | None]] = []
    for column, entries in enumerate(lists):
        filled = [each for each in entries if each.size]
        place = {id(each): number for number, each in enumerate(first)}
        for known, entry in pair_items(first, filled, rules):
            if entry is None:
                continue
            if known is None:
                first = [*first, entry]
                rows.append([None] * len(lists))
            rows[-1 if known is None else place[id(known)]][column] = entry
    return [tuple(row) for row in rows]


def _plain(value: Any) -> Any:
    """Return a value with texts in NFC and trimmed; None instead of an empty text."""
    if isinstance(value, Mapping):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value).strip() or None
    return value


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
