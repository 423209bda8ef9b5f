"""The finished collection as a table with a row for each item."""

from collections.abc import Sequence
from pathlib import Path

from hdbench.answers.cells import plain
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.progress import progress
from hdbench.output.exporting.applied import WIDTH
from hdbench.output.exporting.cells import Cell
from hdbench.output.exporting.columns import FieldColumns
from hdbench.output.exporting.finished_rows import (
    ORIGIN,
    FinishedRecord,
    finished_records,
    values_and_origins,
    write_finished_csv,
)
from hdbench.output.exporting.formats import check_size, write_table
from hdbench.trust.finishing import RECORDS
from hdbench.trust.values import schema_with_fields


def write_finished(
    folder: Path, form: str, benchmark: Benchmark, fields: Sequence[str], options: str
) -> Path:
    """Write the records of `hdbench trust finish` as a table beside them.

    Columns: `id`, and for each field its value and its origin. A cell that might be a formula is
    made harmless as in `hdbench.output.exporting.export`. Only CSV is resumable.

    Args:
        folder: the folder with the records.
        form: `csv` or `xlsx`.
        benchmark: the benchmark, whose schema defines which fields are numbers or lists.
        fields: the paths of the fields.
        options: all that the table depends on besides the records, as one text.

    Returns:
        The file.

    Raises:
        HdbenchError: the table is too large for Excel, or the file cannot be written.
    """
    columns = FieldColumns(schema_with_fields(benchmark)).fields
    head = ["id", *(title for name in fields for title in (name, name + ORIGIN))]

    def row(record: FinishedRecord) -> list[Cell]:
        return [plain(record.item), *values_and_origins(record.fields, fields, columns)]

    records, path = folder / RECORDS, folder / f"records.{form}"
    if form == "csv":
        write_finished_csv(records, path, head, row, options=options)
        return path
    items = sum(1 for _ in benchmark.ids())
    check_size(items, len(head))
    rows = map(row, progress(finished_records(records), "Writing the table", items))
    write_table(path, form, head, rows, [WIDTH] * len(head))
    return path
