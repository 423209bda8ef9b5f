"""Drawing items from a population, simply or by strata."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hdbench.answers.cells import FAULTS, MISSING
from hdbench.answers.tables import SourceTable
from hdbench.benchmarks import sample
from hdbench.collections.new.truth_files import open_truth
from hdbench.common.bounds import MAX_ID, MAX_POPULATION, MAX_STRATA
from hdbench.common.files import read_errors
from hdbench.common.grouping import grouped
from hdbench.errors import HdbenchError, Message, did_you_mean

# The population that a sample is drawn from


ID_TITLES = ("id", "file_name", "filename", "file", "datei", "dateiname", "image", "bild", "scan")
"""Titles of the column that has the ids, in this order; without any of them it is the first."""


class Population(NamedTuple):
    """Population of items.

    Attributes:
        name: what messages call it.
        ids: the items' ids.
        columns: title → the value of each item, an empty text where there is none.
        notes: what was assumed, one line each.
    """

    name: str
    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    notes: Sequence[str]


def read_population(path: Path, header_rows: str | None = None) -> Population:
    """Return the items of a table with one row per item.

    Args:
        path: the table.
        header_rows: see `open_truth`.

    Raises:
        HdbenchError: it cannot be read, has no items or too many, or an id is missing, too long, or
            occurs twice.
    """
    with read_errors(path):
        population = _table(path, header_rows)
    if len(population.ids) > MAX_POPULATION:
        raise HdbenchError(
            "{place}: more than {most:,} items: draw from parts of it",
            place=path,
            most=MAX_POPULATION,
        )
    return population


def _table(path: Path, header_rows: str | None) -> Population:
    table = open_truth(path, header_rows=header_rows)
    if not isinstance(table, SourceTable):
        raise HdbenchError("--by: needs --sample, and the columns of a table in --truth")
    titles = table.header
    column = _id_column(titles)
    note = Message(
        "{place}: the ids are in the column {column!r}", place=path, column=titles[column]
    )
    notes = [*table.notes, note]
    first_rows: dict[str, str] = {}
    values: list[list[str]] = [[] for _ in titles]
    for where, cells in table.rows:
        texts = [_value(cell) for cell in cells]
        if not any(texts):
            continue
        item_id = texts[column]
        if not item_id:
            raise HdbenchError(
                "{place}: no id in the column {column!r}", place=where, column=titles[column]
            )
        _check_id(item_id, where)
        if item_id in first_rows:
            raise HdbenchError(
                "{place}: the id {id!r} occurs twice, first in {first}: the table needs one "
                "row per item",
                place=where,
                id=item_id,
                first=first_rows[item_id],
            )
        first_rows[item_id] = where
        for index, column_values in enumerate(values):
            column_values.append(texts[index])
    if not first_rows:
        raise HdbenchError("{place}: no items in this table, only column names", place=path)
    columns = dict(zip(titles, values, strict=True))
    return Population(path.name, list(first_rows), columns, notes)


def _id_column(titles: Sequence[str]) -> int:
    folded = [title.casefold() for title in titles]
    return next((folded.index(title) for title in ID_TITLES if title in folded), 0)


def _value(cell: str) -> str:
    """Return a cell as text; empty for a mark of a missing value or of a failed formula."""
    text = cell.strip()
    return "" if text in MISSING or text in FAULTS else text


def _check_id(item_id: str, where: str) -> None:
    if len(item_id) > MAX_ID or not item_id.isprintable():
        raise HdbenchError(
            "{place}: {id!r} cannot be an id: shorten or rename it", place=where, id=item_id[:100]
        )


# The draw

LEAST = 2
"""Minimum number of items drawn from a stratum that has that many: one item does not show how
much the items of a stratum differ."""


Values = tuple[str | None, ...]


class Draw(NamedTuple):
    """Items that were drawn.

    Attributes:
        sample: how, as a benchmark records it.
        ids: the items → their stratum's place in `sample.strata`.
        notes: what a person should know about it, one line each.
    """

    sample: sample.Sample
    ids: Mapping[str, int]
    notes: Sequence[str]


def draw(population: Population, number: int, *, by: Sequence[str] = (), seed: int = 0) -> Draw:
    """Draw items at random, without replacement: from the population, or from each stratum.

    Each stratum gets its share of the number, by largest remainders, but at least 2 items if it has
    that many. The order of the items has no influence.

    Args:
        population: the items.
        number: how many are drawn.
        by: the columns whose values, together, make the strata; numbers with many values are cut
            into ranges, see `grouped`. Without any, the sample is simple.
        seed: the seed of `numpy.random.default_rng`.

    Raises:
        HdbenchError: there are fewer items, or too few are drawn for so many strata; there is no
            such column; the seed is negative.
    """
    if seed < 0:
        raise HdbenchError("seed: {seed} is negative", seed=seed)
    if not 0 < number <= len(population.ids):
        raise HdbenchError(
            "{place}: has {items}, and {number} are to be drawn: choose another number",
            place=population.name,
            items=_items(len(population.ids)),
            number=number,
        )
    notes, strata = _strata(population, by)
    if len(strata) > MAX_STRATA:
        raise HdbenchError(
            "{place}: {strata} strata by {names}: divide by fewer columns, or by columns "
            "with fewer values",
            place=population.name,
            strata=len(strata),
            names=", ".join(by),
        )
    sizes = [len(ids) for ids in strata.values()]
    drawn = allocated(sizes, number)
    if drawn is None:
        least = sum(min(LEAST, size) for size in sizes)
        raise HdbenchError(
            "{place}: {number} items are too few for {strata} strata, of which each gets "
            "{each}: draw at least {least}, or divide by fewer columns",
            place=population.name,
            number=number,
            strata=len(strata),
            each=LEAST,
            least=least,
        )
    rng = np.random.default_rng(seed)
    ids: dict[str, int] = {}
    for stratum, (members, count) in enumerate(zip(strata.values(), drawn, strict=True)):
        # From sorted ids, so that the same seed draws the same items from a table in another order.
        chosen = rng.choice(len(members), count, replace=False)
        ids |= {sorted(members)[index]: stratum for index in sorted(chosen.tolist())}
    return Draw(
        sample.Sample(
            of=len(population.ids),
            by=tuple(by),
            seed=seed,
            strata=tuple(
                sample.Stratum(values=_present(by, values), of=size, items=count)
                for values, size, count in zip(strata, sizes, drawn, strict=True)
            ),
        ),
        ids,
        [*notes, *_small(sizes, drawn, number)],
    )


def _strata(population: Population, by: Sequence[str]) -> tuple[list[str], dict[Values, list[str]]]:
    """Return notes on how columns were cut into ranges, and values of a stratum → its items."""
    if len(set(by)) < len(by):
        raise HdbenchError("--by: {names}: names a column twice", names=", ".join(by))
    for name in by:
        if name not in population.columns or not name:
            has = ", ".join(filter(None, population.columns)) or Message(
                "none: only a table has columns"
            )
            near = did_you_mean(name, population.columns)
            raise HdbenchError(
                "{place}: no column {name!r}; it has: {has}{near}",
                place=population.name,
                name=name,
                has=has,
                near=near,
            )
    columns = [grouped(population.columns[name]) for name in by]
    named_columns = list(zip(by, columns, strict=True))
    notes: list[str] = [
        Message("{place}: {why}", place=name, why=column.note)
        for name, column in named_columns
        if column.note
    ]
    for name, column in named_columns:
        if missing := column.labels.count(None):
            notes.append(
                Message(
                    "{column}: {items} without a value are a stratum of their own",
                    column=name,
                    items=_items(missing),
                )
            )
    strata: dict[Values, list[str]] = defaultdict(list)
    for row, item_id in enumerate(population.ids):
        strata[tuple(column.labels[row] for column in columns)].append(item_id)
    ranks = [{label: rank for rank, label in enumerate(column.order)} for column in columns]

    def order(values: Values) -> list[int]:
        return [rank[value] for rank, value in zip(ranks, values, strict=True)]

    return notes, {values: strata[values] for values in sorted(strata, key=order)}


def _present(by: Sequence[str], values: Values) -> dict[str, str]:
    return {name: value for name, value in zip(by, values, strict=True) if value is not None}


def allocated(sizes: Sequence[int], number: int) -> list[int] | None:
    """Return the number of items drawn from each stratum: its share, at least 2 if it has 2.

    Args:
        sizes: how many items each stratum has.
        number: how many are drawn together, at most as many as there are.

    Returns:
        None if the number is too small for that.

    Example:
        >>> allocated([8000, 3900, 95, 4, 1], 150)
        [97, 48, 2, 2, 1]
    """
    least = [min(LEAST, size) for size in sizes]
    if sum(least) > number:
        return None
    fixed: dict[int, int] = {}
    while True:
        free = [index for index in range(len(sizes)) if index not in fixed]
        shares = _largest_remainders([sizes[index] for index in free], number - sum(fixed.values()))
        allocation = dict(zip(free, shares, strict=True))
        below = {index: least[index] for index in free if allocation[index] < least[index]}
        if not below:
            return [fixed.get(index, allocation.get(index, 0)) for index in range(len(sizes))]
        fixed |= below


def _largest_remainders(sizes: Sequence[int], number: int) -> list[int]:
    """Return a number divided in proportion to sizes; the largest remainders are rounded up."""
    total = sum(sizes)
    shares = [number * size // total for size in sizes]
    order = sorted(
        range(len(sizes)), key=lambda index: (-(number * sizes[index] % total), -sizes[index])
    )
    for index in order[: number - sum(shares)]:
        shares[index] += 1
    return shares


def _small(sizes: Sequence[int], drawn: Sequence[int], number: int) -> list[str]:
    """Return notes on strata of which few items were drawn."""
    notes: list[str] = []
    if single := drawn.count(1) if len(drawn) > 1 else 0:
        notes.append(
            Message(
                "1 stratum has 1 item only: intervals take it together with another stratum"
                if single == 1
                else "{count} strata have 1 item only: intervals take it together with another "
                "stratum",
                count=single,
            )
        )
    more = sum(
        count > -(-number * size // sum(sizes)) for size, count in zip(sizes, drawn, strict=True)
    )
    if more:
        notes.append(
            Message(
                "1 small stratum has more items than its share: {least} are drawn at least"
                if more == 1
                else "{count} small strata have more items than its share: {least} are drawn at "
                "least",
                count=more,
                least=LEAST,
            )
        )
    return notes


def _items(count: int) -> Message:
    return Message("{count:,} item", plural="{count:,} items", count=count)
