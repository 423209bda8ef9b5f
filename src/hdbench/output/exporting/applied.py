"""Decisions of `hdbench trust apply` as a table with a row for each item."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hdbench.answers.cells import plain
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.excel import xlsx_writer
from hdbench.common.jsonio import read_jsonl
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.output.exporting.cells import Cell, cell
from hdbench.output.exporting.columns import field_columns
from hdbench.output.exporting.formats import check_size, write_table
from hdbench.trust.applied_folder import CHECK, VALUES, read_applied, read_begun

WIDTH = 24
"""Width of a column in a spreadsheet, in characters."""


def check_table(form: str, benchmark: Benchmark) -> None:
    """Refuse a table that cannot be written, before anything else is done.

    Raises:
        HdbenchError: xlsxwriter is not installed, or there are too many items for Excel.
    """
    if form == "xlsx":
        xlsx_writer()
        check_size(sum(1 for _ in benchmark.ids()), 1)


def write_applied(out: Path, form: str, benchmark: Benchmark) -> Path:
    """Write the values of a folder of `hdbench trust apply` into a table beside them.

    Columns: `id`, and for each field its value, what becomes of it (`taken`, `checked`, or why a
    person has to look at it) and its trust score. A cell that might be a formula is made harmless
    as in `hdbench.output.exporting.cells`.

    Args:
        out: the folder.
        form: `csv` or `xlsx`.
        benchmark: the benchmark, whose schema defines which fields are numbers or lists.

    Returns:
        The file.

    Raises:
        HdbenchError: the folder is not finished, the table is too large for Excel, or the file
            cannot be written.
    """
    plan, _ = read_begun(out)
    applied = read_applied(out)
    head = ["id"]
    for name in plan.fields:
        head += [name, f"{name}: decision", f"{name}: score"]
    schema = benchmark.answer_schema()
    if schema is None:
        raise HdbenchError(
            "{benchmark}: has no answer.schema.json, which says its fields", benchmark=benchmark.id
        )
    columns = field_columns(schema)
    fields = [(name, columns.get(name)) for name in plan.fields]

    def rows() -> Iterator[list[Cell]]:
        lines = read_jsonl(out / VALUES)
        for line in progress(lines, "Writing the table", applied.items):
            row: list[Cell] = [plain(line.value["id"])]
            for name, field in fields:
                value = line.value["fields"][name]
                row += [cell(value["value"], field), _decision(value), value.get("score", "")]
            yield row

    path = out / f"values.{form}"
    if form == "xlsx":
        check_size(applied.items, len(head))
    write_table(path, form, head, rows(), [WIDTH] * len(head))
    return path


def _decision(value: dict[str, Any]) -> str:
    decision: str = value["reason"] if value["decision"] == CHECK else value["decision"]
    return decision
