"""The items of a run: all of them, or of a large run those that a page can show."""

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hdbench.answers.answer import LOST
from hdbench.output.report.tables import text
from hdbench.results.error_counts import ErrorCounts, item_errors
from hdbench.results.items import ScoredItem
from hdbench.scoring.analysis.error_classes import ErrorClass
from hdbench.scoring.metric import FieldMatch, Metric

WHOLE = 5_000
"""Maximum number of items of a run whose report has them all, on a page of their own, in a workbook
and CSV files; and the number of rows in a row group, if there are more."""

WORST = 500
RANDOM = 200
"""Numbers of items that the page of a larger run shows: the worst, and some drawn at random."""

MOST_LOST = 100
"""Maximum number of items without a usable answer among the worst: of a large run there may be
thousands, which are all alike, and would take the place of every wrong answer."""

SEED = 0

Item = dict[str, Any]
"""The outcome for an item, as in `Result.per_item`."""


@dataclass(frozen=True)
class Excerpt:
    """The items that are kept of a large run, which are all in a Parquet file.

    Attributes:
        errors: all errors by class, as in `Result.errors_by_class`.
        worst: the items with the lowest figures, the lowest first, equal ones in the dataset's
            order; among them the first `MOST_LOST` without a usable answer.
        drawn: items drawn from all, with equal chances, in the dataset's order.
        seed: the seed of the draw.
    """

    errors: Mapping[str, Any]
    worst: Sequence[Item]
    drawn: Sequence[Item]
    seed: int


class Details:
    """Takes the items of a run one by one, and keeps them all only as long as they are few.

    As soon as there are too many, they go into a Parquet file, a row group at a time, and what
    stays in memory does not grow. The file has one row per item: `id`, `status`, the metric's
    statistics, and `fields`, a list with what became of each field: `field`, `outcome`, `error`
    (its class; null if there is none, or no answer), `truth`, `answer` and `similarity`.

    Args:
        parquet: the file for the items, written if they are many.
        whole: the number of items up to which all are kept.
    """

    def __init__(self, parquet: Path, *, whole: int = WHOLE) -> None:
        self._path, self._whole = parquet, whole
        self._batch: list[Item] = []
        self._metric: Metric | None = None
        self._file: _ItemFile | None = None
        self._counts: ErrorCounts | None = None
        self._seen = self._lost = 0
        # A heap whose smallest entry is the best of the worst so far; among equals, the later one.
        self._worst: list[tuple[float, int, Item]] = []
        self._drawn: list[tuple[int, Item]] = []
        self._random = random.Random(SEED)  # noqa: S311  a sample, not a secret

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def scored(self, item: ScoredItem) -> None:
        """Take a scored item."""
        self.add(item.metric, item.details())

    def add(self, metric: Metric, item: Item) -> None:
        """Add the outcome for an item that a metric scored."""
        self._metric = metric
        if len(self._batch) == self._whole:
            self._flush(metric)
        self._batch.append(item)

    @property
    def items(self) -> Sequence[Item]:
        """All items, if there are few."""
        return [] if self._file else self._batch

    def excerpt(self) -> Excerpt | None:
        """Return the items that are kept, and finish their file; None if there are few."""
        if self._file is None or self._metric is None or self._counts is None:
            return None
        self._flush(self._metric)
        self._file.close()
        return Excerpt(
            errors=self._counts.to_dict(),
            worst=[item for *_, item in sorted(self._worst, reverse=True)],
            drawn=[item for _, item in sorted(self._drawn, key=lambda drawn: drawn[0])],
            seed=SEED,
        )

    def _flush(self, metric: Metric) -> None:
        if self._file is None or self._counts is None:
            self._file, self._counts = _ItemFile(self._path, metric), ErrorCounts(metric)
        errors = item_errors(self._batch, metric)
        self._counts.add(self._batch, errors)
        self._file.write(self._batch, list(map(_fields, self._batch, errors)))
        for item in self._batch:
            self._keep(item, float(item[metric.item_figure]))
        self._batch = []

    def _keep(self, item: Item, figure: float) -> None:
        """Keep an item if it is one of the worst so far, or is drawn (Waterman's algorithm R)."""
        index = self._seen
        self._seen += 1
        is_lost = item["status"] in LOST
        self._lost += is_lost
        entry = (-figure, -index, item)
        if is_lost and self._lost > MOST_LOST:
            pass
        elif len(self._worst) < WORST:
            heapq.heappush(self._worst, entry)
        elif entry[:2] > self._worst[0][:2]:
            heapq.heapreplace(self._worst, entry)
        if len(self._drawn) < RANDOM:
            self._drawn.append((index, item))
        elif (instead := self._random.randrange(index + 1)) < RANDOM:
            self._drawn[instead] = (index, item)


class _ItemFile:
    """A Parquet file of items.

    Args:
        path: where it is.
        metric: the metric that scored the items.
    """

    def __init__(self, path: Path, metric: Metric) -> None:
        import pyarrow as pa  # noqa: PLC0415  slow to import, and needed for large runs only
        import pyarrow.parquet as pq  # noqa: PLC0415

        texts = ("field", "outcome", "error", "truth", "answer")
        of_field = pa.struct(
            [*((name, pa.string()) for name in texts), ("similarity", pa.float64())]
        )
        self._statistics, self._table = metric.statistics, pa.Table.from_pydict
        self._schema = pa.schema(
            [
                ("id", pa.string()),
                ("status", pa.string()),
                *((name, pa.float64()) for name in metric.statistics),
                ("fields", pa.list_(of_field)),
            ]
        )
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def write(self, items: Sequence[Item], fields: Sequence[Sequence[dict[str, Any]]]) -> None:
        """Write items as a row group."""
        rows = {
            "id": [_valid(item["id"]) for item in items],
            "status": [item["status"] for item in items],
            **{name: [item.get(name) for item in items] for name in self._statistics},
            "fields": fields,
        }
        self._writer.write_table(self._table(rows, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


def _fields(item: Item, errors: Sequence[tuple[FieldMatch, ErrorClass]]) -> list[dict[str, Any]]:
    """Return the outcome of each field of an item: its errors, then the correct ones."""
    matches = (FieldMatch(**match) for match in item["fields"])
    is_lost = item["status"] in LOST
    rows: list[tuple[FieldMatch, ErrorClass | None]] = [
        (match, None if is_lost else error) for match, error in errors
    ]
    rows += [(match, None) for match in matches if match.outcome == "correct"]
    return [
        {
            "field": _valid(match.field),
            "outcome": match.outcome,
            "error": error,
            "truth": _valid(text(match.reference)),
            "answer": _valid(text(match.prediction)),
            "similarity": match.similarity,
        }
        for match, error in rows
    ]


def _valid(value: str | None) -> str | None:
    """Return a text in valid UTF-8: a lone surrogate, which a model can write, as an escape."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", errors="backslashreplace").decode()
