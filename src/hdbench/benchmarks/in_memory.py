"""A benchmark of ground truths that a program has in memory."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from hdbench.answers.columns import KEY, propose
from hdbench.answers.in_memory import Entry, entries, write_entries
from hdbench.answers.records import mapped
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import rows_table
from hdbench.benchmarks.benchmark import METADATA, SCHEMA, Benchmark, load_benchmark
from hdbench.benchmarks.spec import PROVENANCE_COLUMNS, TRUTH, TRUTHS, BenchmarkSpec
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import PROTOCOLS, higher_is_better

MOST_FOR_FORM = 1_000
"""Maximum number of ground truths from which the form of an answer follows."""

NAME = "records"
"""The name of a benchmark of records that are in no dataset."""


def benchmark_in_memory(
    records: Any, folder: Path, *, metric: str | None, options: Mapping[str, Any]
) -> Benchmark:
    """Write ground truths into a folder, and return them as a benchmark.

    Args:
        records: in one of the forms of `hdbench.answers.in_memory.entries`: a ground truth is the
            value of `ground_truth` (a record, or its JSON text), or else what stands beside the id.
        folder: an empty folder.
        metric: the metric's name; None for that of a `datasets.Dataset` of a benchmark that is
            built here or on the Hub, with its options.
        options: the metric's options.

    Raises:
        HdbenchError: the records or an option is unusable, or no metric is known for them.
    """
    given = list(entries(records, content=TRUTH))
    is_table = not any(TRUTH in entry for entry in given)
    rows = _of_table(given) if is_table else map(_row, given)
    write_entries(folder / METADATA, rows)
    if metric is None:
        like = _benchmark_of(records)
        for file in like.scored_by():
            if file.name != METADATA:
                shutil.copyfile(file, folder / file.name)
        return replace(like, folder=folder, revision=None, within=None)
    made = make_metric(metric, **options)
    spec = BenchmarkSpec(
        name=NAME,
        title=NAME,
        version="1.0.0",
        metric=metric,
        headline=made.headline,
        higher_is_better=higher_is_better(made, made.headline),
        protocols={protocol: dict(options) for protocol in PROTOCOLS},
        media="text",
        split="test",
        licence="other",
        citation="",
    )
    benchmark = Benchmark(NAME, folder, spec)
    truths = (made.right_answer(item.ground_truth) for item in benchmark.items())
    schema = schema_of(islice(truths, MOST_FOR_FORM), made.options.get("root_list"))
    write_whole(folder / SCHEMA, json.dumps(schema.alternatives[0]).encode())
    return benchmark


def _benchmark_of(records: Any) -> Benchmark:
    """Return the benchmark that a `datasets.Dataset` was loaded from."""
    name = getattr(getattr(records, "info", None), "dataset_name", None)
    if not name:
        raise HdbenchError(
            "say how these records are scored, with metric=: one of {metrics}",
            metrics=", ".join(METRICS),
        )
    return load_benchmark(name)


def _row(entry: Entry) -> Entry:
    """Return a line of the metadata: the id, the ground truths, and what they come from."""
    item = entry.get("id")
    row = {"id": str(item) if isinstance(item, int) else item}
    return row | {name: entry[name] for name in (*TRUTHS, *PROVENANCE_COLUMNS) if name in entry}


def _of_table(given: Iterable[Entry]) -> Iterator[Entry]:
    """Yield a line for each row of a table whose columns are the fields of the records."""
    rows = ((f"{NAME}:{number}", row) for number, row in enumerate(given, start=1))
    table = rows_table(rows, NAME)
    paths = {title: title for title in table.header} | {"id": KEY}
    columns = propose(table, paths=None, file_names=[], given=paths)
    for truth in mapped(table, columns).truths:
        yield {"id": truth.key, TRUTH: truth.record or {}}


# The form of answers, inferred from ground truths that come without a schema


def schema_of(
    references: Iterable[Mapping[str, Any]], root_list: str | None = None
) -> AnswerSchema:
    """Return the form of the answers to look for in texts, inferred from their ground truths.

    It has the fields of the ground truths, at all depths, and of types only that of lists of texts,
    which a table may have in one cell: an answer can write the value of a field differently from
    the ground truth, for example a person by name. If each ground truth has only one field, a list
    of objects, answers have that list.

    Args:
        references: ground truths.
        root_list: the field, if any, that an answer can consist of alone.

    Example:
        >>> schema = schema_of([{"title": "Stellingen"}, {"author": {"last_name": "Müller"}}])
        >>> sorted(schema.all_names)
        ['author', 'last_name', 'title']
        >>> schema_of([{"advertisements": [{"text": "Verloren"}]}]).list_of_objects[0]
        'advertisements'
    """
    references = list(references)
    schema = _schema_of_objects(references)
    properties = schema["properties"]
    only = next(iter(properties)) if len(properties) == 1 else root_list or ""
    values = [reference[only] for reference in references if only in reference]
    if values and all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        if items and all(isinstance(item, Mapping) for item in items):
            properties[only] |= {"type": "array", "items": _schema_of_objects(items)}
            schema["required"] = [only]
    # A field that no ground truth has may belong to a wrapper.
    return AnswerSchema(schema | {"additionalProperties": False})


def _schema_of_objects(values: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    fields: dict[str, list[Any]] = {}
    for value in values:
        for name, inner in value.items():
            fields.setdefault(name, []).append(inner)
    properties = {name: _schema_of_values(inner) for name, inner in fields.items()}
    return {"type": "object", "properties": properties}


def _schema_of_values(values: Iterable[Any]) -> dict[str, Any]:
    filled = [value for value in values if value not in (None, [])]
    if objects := [value for value in filled if isinstance(value, Mapping)]:
        return _schema_of_objects(objects)
    is_texts = filled and all(
        isinstance(value, list) and all(isinstance(text, str) for text in value) for value in filled
    )
    return {"type": "array"} if is_texts else {}
