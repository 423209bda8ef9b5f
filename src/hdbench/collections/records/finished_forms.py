"""The forms in which a finished collection is written, besides its records with origins."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from hdbench.benchmarks.authority_files import Identifiers
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.records.cells import Cell, plain
from hdbench.collections.records.columns import field_columns
from hdbench.collections.records.dublin_core import (
    read_dublin_core_mapping,
    write_dublin_core,
    write_mapped_csv,
)
from hdbench.collections.records.finished_records import (
    read_new_records_mapping,
    write_marc_records,
)
from hdbench.collections.records.finished_rows import (
    ORIGIN,
    LeftList,
    WrittenRecords,
    finished_records,
    values_and_origins,
)
from hdbench.collections.records.formats import check_size, write_table
from hdbench.collections.records.own_records import OwnRecords
from hdbench.collections.records.record_mapping import (
    EXAMPLE,
    RecordMapping,
    read_record_mapping,
)
from hdbench.collections.trust.fields import schema_with_fields
from hdbench.collections.truth.marc_templates import NewRecords
from hdbench.common.csv_and_excel import xlsx_writer
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError

FinishForm = Literal[
    "jsonl",
    "csv",
    "xlsx",
    "dublin-core",
    "marcxml",
]

WIDTH = 24
"""Width of a column in a spreadsheet, in characters."""

_WITH_IDENTIFIERS = {
    NewRecords: "100$a{author}$0{author: identifier}",
    RecordMapping: 'creator: "{author: identifier}"',
}
"""Kind of mapping → an example of a place for identifiers."""

Writer = Callable[[Path, Path], WrittenRecords]
"""What writes a form: a function of the file of the records and the folder to write into."""


def writer_of(  # noqa: PLR0917
    form: FinishForm,
    benchmark: Benchmark,
    fields: Sequence[str],
    applied: Path,
    mapping: Path | None,
    identifiers: Identifiers | None,
    own: OwnRecords | None = None,
) -> Writer | None:
    """Return what writes the records in a form; all that it needs has been read before.

    Args:
        form: the form.
        benchmark: the benchmark.
        fields: the paths of the fields.
        applied: the folder of `hdbench trust apply`.
        mapping: a file that says what becomes of the fields.
        identifiers: identifiers of values.
        own: the records of a library into which the values are put.

    Returns:
        None if the form is that of the records with origins themselves.

    Raises:
        HdbenchError: the files do not go with the form, or are unusable.
    """
    if mapping and form not in ("csv", "dublin-core", "marcxml"):
        raise HdbenchError("--mapping: goes with --format csv, dublin-core or marcxml")
    if own and form != "marcxml":
        raise HdbenchError("--records: goes with --format marcxml")
    can_identify = form in ("dublin-core", "marcxml") or (form == "csv" and mapping)
    if identifiers and not can_identify:
        raise HdbenchError(
            "--identifiers: goes with --format marcxml or dublin-core, or with csv and --mapping"
        )
    if form == "marcxml":
        library = read_new_records_mapping(mapping)
        _check_places(library, identifiers, mapping)
        return partial(
            write_marc_records,
            applied_folder=applied,
            mapping=library,
            identifiers=identifiers,
            own=own,
        )
    if form == "dublin-core":
        if mapping is None:
            raise HdbenchError(
                "--format dublin-core: needs --mapping, such as {example}", example=EXAMPLE
            )
        elements = read_dublin_core_mapping(mapping, fields)
        _check_places(elements, identifiers, mapping)
        return partial(write_dublin_core, mapping=elements, identifiers=identifiers)
    if form == "csv" and mapping:
        columns = read_record_mapping(mapping, fields)
        _check_places(columns, identifiers, mapping)
        return partial(write_mapped_csv, mapping=columns, identifiers=identifiers)
    if form in ("csv", "xlsx"):
        _check_table(form, benchmark)
        return partial(_write_table, form=form, benchmark=benchmark, fields=fields)
    return None


def _check_table(form: str, benchmark: Benchmark) -> None:
    """Refuse a table that cannot be written, before anything else is done.

    Raises:
        HdbenchError: xlsxwriter is not installed, or there are too many items for Excel.
    """
    if form.endswith("xlsx"):
        xlsx_writer()
        check_size(sum(1 for _ in benchmark.ids()), 1)


def _check_places(
    mapping: NewRecords | RecordMapping, identifiers: Identifiers | None, path: Path | None
) -> None:
    """Refuse identifiers of fields for which a mapping has no place.

    Raises:
        HdbenchError: it has none.
    """
    if identifiers is None:
        return
    place, example = path or "--mapping", _WITH_IDENTIFIERS[type(mapping)]
    if not mapping.identified:
        raise HdbenchError(
            "{place}: has no place for identifiers: name one, as in {example}",
            place=place,
            example=example,
        )
    for name in sorted(identifiers.named - mapping.identified):
        raise HdbenchError(
            "{place}: has no place for identifiers of {field}: name one, as in {example}",
            place=place,
            field=name,
            example=example,
        )


def _write_table(
    records: Path, folder: Path, *, form: str, benchmark: Benchmark, fields: Sequence[str]
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` as a table, a row for each item.

    Columns: `id`, and for each field its value and its origin. A cell that might be a formula is
    made harmless as in `hdbench.collections.records.cells`.

    Args:
        records: the records.
        folder: the folder to write into.
        form: `csv` or `xlsx`.
        benchmark: the benchmark, whose schema defines which fields are numbers or lists.
        fields: the paths of the fields.

    Raises:
        HdbenchError: the table is too large for Excel.
    """
    columns = field_columns(schema_with_fields(benchmark))
    head = ["id", *(title for name in fields for title in (name, name + ORIGIN))]
    path = folder / f"records.{form}"
    items = sum(1 for _ in benchmark.ids())
    if form == "xlsx":
        check_size(items, len(head))

    def rows() -> Iterator[list[Cell]]:
        for record in progress(finished_records(records), "Writing the table", items):
            left.values(record, {})
            yield [plain(record.item), *values_and_origins(record.fields, fields, columns)]

    with LeftList(path) as left:
        write_table(path, form, head, rows(), [WIDTH] * len(head))
    return left.written
