"""Finished records as a table for OpenRefine, from which identifiers come back."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from hdbench.answers.cells import plain
from hdbench.authorities.reconciled import ID, STATE, state_of
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.output.exporting.cells import Cell
from hdbench.output.exporting.columns import field_columns
from hdbench.output.exporting.finished_rows import (
    ORIGIN,
    FinishedRecord,
    finished_records,
    values_and_origins,
    write_finished_csv,
)
from hdbench.output.exporting.formats import check_size, write_table
from hdbench.trust.values import schema_with_fields

LINK, IMAGES = "link", "images"
"""Columns: the address of the item, and those of its images."""

_ADDRESS = re.compile(r"https?://\S*\{id\}\S*")
_WIDTH = 24


def check_link(link: str) -> None:
    """Refuse an address that does not open an item.

    Args:
        link: the address of an item, with `{id}` in place of its id; empty if it has none.

    Raises:
        HdbenchError: it is not an address of the web, or has no `{id}`.
    """
    if link and not _ADDRESS.fullmatch(link):
        raise HdbenchError(
            "--link: {link!r} is not an address such as https://example.org/cards/{{id}}", link=link
        )


def write_for_openrefine(
    records: Path,
    path: Path,
    benchmark: Benchmark,
    fields: Sequence[str],
    link: str = "",
    *,
    options: str = "",
) -> None:
    """Write finished records as a table that OpenRefine opens as it is.

    Columns: `id`; `state`, by which `read_identifiers` sees that a record has changed since; `link`
    and `images`, where there are any; and for each field its value and its origin. Of a value that
    is still open, only the origin is there. In a workbook, numbers are numbers, and all else,
    also dates, is text; in CSV, all is text. A list has `|` between its values.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        path: the file to write: a workbook if it ends in `.xlsx`, otherwise CSV. Debian's
            OpenRefine cannot read workbooks, for want of a Java class.
        benchmark: the benchmark, whose schema defines which fields are numbers or lists.
        fields: the fields of the records.
        link: see `check_link`.
        options: all that a table depends on besides the records, as one text.

    Raises:
        HdbenchError: the benchmark has no schema, the table is too large for Excel, or the file
            cannot be written.
    """
    columns = field_columns(schema_with_fields(benchmark))
    media = benchmark.media()
    head = [ID, STATE, *([LINK] if link else []), *([IMAGES] if any(media.values()) else [])]
    about = len(head)
    head += [title for name in fields for title in (name, name + ORIGIN)]

    def row(record: FinishedRecord) -> list[Cell]:
        item, values = record
        cells: list[Cell] = [plain(item), state_of(values)]
        if link:
            cells.append(link.replace("{id}", quote(item, safe="", errors="replace")))
        if len(cells) < about:
            cells.append(" | ".join(file.resolve().as_uri() for file in media.get(item, ())))
        return cells + values_and_origins(values, fields, columns)

    if path.suffix.lower() == ".xlsx":
        check_size(sum(1 for _ in benchmark.ids()), len(head))
        rows = map(row, progress(finished_records(records), "Writing the table"))
        write_table(path, "xlsx", head, rows, [_WIDTH] * len(head))
    else:  # OpenRefine takes a byte order mark for a letter
        write_finished_csv(records, path, head, row, options=options, encoding="utf-8")
