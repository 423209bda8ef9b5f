"""The finished collection as a table with a row for each item."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hdbench.answers.cells import plain
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.jsonio import read_jsonl
from hdbench.common.progress import progress
from hdbench.output.exporting.applied import WIDTH
from hdbench.output.exporting.cells import Cell, cell
from hdbench.output.exporting.columns import FieldColumns
from hdbench.output.exporting.formats import check_size, write_table
from hdbench.trust.finishing import RECORDS
from hdbench.trust.values import schema_with_fields


def write_finished(folder: Path, form: str, benchmark: Benchmark, fields: Sequence[str]) -> Path:
    """Write the records of `hdbench trust finish` as a table beside them.

    Columns: `id`, and for each field its value and its origin. A cell that might be a formula is
    made harmless as in `hdbench.output.exporting.export`.

    Args:
        folder: the folder with the records.
        form: `csv` or `xlsx`.
        benchmark: the benchmark, whose schema defines which fields are numbers or lists.
        fields: the paths of the fields.

    Returns:
        The file.

    Raises:
        HdbenchError: the table is too large for Excel, or the file cannot be written.
    """
    columns = FieldColumns(schema_with_fields(benchmark)).fields
    head = ["id", *(title for name in fields for title in (name, f"{name}: origin"))]
    items = sum(1 for _ in benchmark.ids())

    def rows() -> Iterator[list[Cell]]:
        for line in progress(read_jsonl(folder / RECORDS), "Writing the table", items):
            row: list[Cell] = [plain(line.value["id"])]
            for name in fields:
                value = line.value["fields"][name]
                shown = None if value["origin"] == "open" else value["value"]
                row += [cell(shown, columns.get(name)), value["origin"]]
            yield row

    path = folder / f"records.{form}"
    if form == "xlsx":
        check_size(items, len(head))
    write_table(path, form, head, rows(), [WIDTH] * len(head))
    return path
