"""The forms in which a finished collection is written, besides its records with origins."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from hdbench.authorities.reconciled import read_identifiers
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import HdbenchError
from hdbench.output.exporting.applied import check_table
from hdbench.output.exporting.dublin_core import (
    read_dublin_core_mapping,
    write_dublin_core,
    write_mapped_csv,
)
from hdbench.output.exporting.finished import write_finished
from hdbench.output.exporting.finished_records import (
    FILES,
    WrittenRecords,
    read_library_mapping,
    write_records_of,
)
from hdbench.output.exporting.openrefine import write_for_openrefine
from hdbench.output.exporting.record_mapping import EXAMPLE, read_record_mapping
from hdbench.trust.finishing import RECORDS

FinishForm = Literal[
    "jsonl",
    "csv",
    "xlsx",
    "openrefine",
    "dublin-core",
    "marcxml",
    "pica-plain",
    "pica-normalized",
    "pica-xml",
]

Writer = Callable[[], Path | WrittenRecords]


def writer_of(  # noqa: PLR0917
    form: FinishForm,
    benchmark: Benchmark,
    fields: Sequence[str],
    applied: Path,
    folder: Path,
    mapping: Path | None,
    identifiers: Sequence[str],
) -> Writer | None:
    """Return what writes the records in a form; all that it needs has been read before.

    Args:
        form: the form.
        benchmark: the benchmark.
        fields: the paths of the fields.
        applied: the folder of `hdbench trust apply`.
        folder: the folder of `hdbench trust finish`.
        mapping: a file that says what becomes of the fields.
        identifiers: authority files, see `read_identifiers`.

    Returns:
        None if the form is that of the records with origins themselves.

    Raises:
        HdbenchError: the files do not go with the form, or are unusable.
    """
    if mapping and form not in (*FILES, "csv", "dublin-core"):
        raise HdbenchError("--mapping: goes with --format csv, dublin-core, marcxml or pica-…")
    can_identify = form in ("marcxml", "dublin-core") or (form == "csv" and mapping)
    if identifiers and not can_identify:
        raise HdbenchError(
            "--identifiers: goes with --format marcxml or dublin-core, or with csv and --mapping"
        )
    known = read_identifiers(identifiers, fields) if identifiers else None
    records = folder / RECORDS
    if form in FILES:
        library = read_library_mapping(form, mapping)
        return partial(write_records_of, applied, folder, form, library, known)
    if form == "dublin-core":
        if mapping is None:
            raise HdbenchError(
                "--format dublin-core: needs --mapping, such as {example}", example=EXAMPLE
            )
        elements = read_dublin_core_mapping(mapping, fields)
        return partial(
            _to_path, write_dublin_core, records, folder / "records.dc.xml", elements, known
        )
    if form == "csv" and mapping:
        columns = read_record_mapping(mapping, fields)
        return partial(_to_path, write_mapped_csv, records, folder / "records.csv", columns, known)
    if form == "openrefine":
        return partial(
            _to_path, write_for_openrefine, records, folder / "openrefine.csv", benchmark, fields
        )
    if form in ("csv", "xlsx"):
        check_table(form, benchmark)
        return partial(write_finished, folder, form, benchmark, fields)
    return None


def _to_path(write: Callable[..., object], records: Path, path: Path, *given: object) -> Path:
    """Write records to a path, and return it."""
    write(records, path, *given)
    return path
