"""The forms in which a finished collection is written, besides its records with origins."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from hdbench.benchmarks.authority_files import Identifiers
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.records.fields import MadeFields, make_fields
from hdbench.collections.records.finished_records import (
    FinishedRecord,
    LeftList,
    WrittenRecords,
    finished_records,
)
from hdbench.collections.records.mapping import CARDS, MappedForm, RecordMapping, read_mapping
from hdbench.collections.records.marc_writing import made_of, why_none, write_marc
from hdbench.collections.records.own_records import OwnRecords, put_into_records
from hdbench.collections.records.tables import (
    ORIGIN,
    Cell,
    check_size,
    field_columns,
    plain,
    values_and_origins,
    write_table,
)
from hdbench.collections.trust.fields import fields_of, schema_with_fields
from hdbench.common.csv_and_excel import csv_rows, xlsx_writer
from hdbench.common.extras import needed
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError

FinishForm = Literal["jsonl", "csv", "xlsx", "dublin-core", "marcxml"]

WIDTH = 24
"""Width of a column in a spreadsheet, in characters."""

OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
DC = "http://purl.org/dc/elements/1.1/"

_BEGIN = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<records xmlns:oai_dc="{OAI_DC}" xmlns:dc="{DC}"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="{OAI_DC} http://www.openarchives.org/OAI/2.0/oai_dc.xsd">
"""

_BETWEEN = " | "

_WITH_IDENTIFIERS = {
    "marc": '"100|1#|": "$a{author}$0{author: identifier}"',
    "dublin-core": 'creator: "{author: identifier}"',
    "csv": 'GND: "{author: identifier}"',
}
"""Part of a mapping → an example of a place for identifiers."""

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
        mapping: a file that says what goes where; without one, as cards of a catalogue do.
        identifiers: identifiers of values.
        own: the records of a library into which the values are put.

    Returns:
        None if the form is that of the records with origins themselves.

    Raises:
        HdbenchError: the files do not go with the form, or are unusable.
        MissingExtraError: something is not installed that the form needs.
    """
    if mapping and form not in ("csv", "dublin-core", "marcxml"):
        raise HdbenchError("--mapping: goes with --format csv, dublin-core or marcxml")
    if own and form != "marcxml":
        raise HdbenchError("--records: goes with --format marcxml")
    if form == "jsonl" or (form in ("csv", "xlsx") and not mapping):
        if identifiers:
            raise HdbenchError(
                "--identifiers: goes with --format marcxml or dublin-core, or with csv and "
                "--mapping"
            )
        if form == "jsonl":
            return None
        if form == "xlsx":
            xlsx_writer()
            check_size(sum(1 for _ in benchmark.ids()), 1)
        return partial(_write_table, form=form, benchmark=benchmark, fields=fields)
    part: MappedForm = "marc" if form == "marcxml" else "csv" if form == "csv" else "dublin-core"
    path = mapping or CARDS
    known = [*fields, *(field.path for field in fields_of(schema_with_fields(benchmark))[0])]
    goes = read_mapping(path, part, dict.fromkeys(known))
    if identifiers:
        _check_places(goes.identified(part), identifiers, path, part)
    if part != "marc":
        write = write_dublin_core if part == "dublin-core" else write_columns
        return partial(write, mapping=goes, identifiers=identifiers)
    with needed("truths", "MARC records need"):
        import lxml.etree  # noqa: F401, PLC0415
        import pymarc  # noqa: F401, PLC0415
    if own:
        return partial(
            put_into_records, own=own, applied=applied, mapping=goes, identifiers=identifiers
        )
    return partial(write_marc, applied=applied, mapping=goes, identifiers=identifiers)


def _check_places(places: set[str], identifiers: Identifiers, path: Path, part: MappedForm) -> None:
    """Refuse identifiers of fields for which a mapping has no place.

    Raises:
        HdbenchError: it has none.
    """
    example = _WITH_IDENTIFIERS[part]
    if not places:
        raise HdbenchError(
            "{place}: has no place for identifiers: name one, as in {example}",
            place=path,
            example=example,
        )
    for name in sorted(identifiers.named - places):
        raise HdbenchError(
            "{place}: has no place for identifiers of {field}: name one, as in {example}",
            place=path,
            field=name,
            example=example,
        )


def write_dublin_core(
    records: Path,
    folder: Path,
    *,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write finished records as XML: an `oai_dc:dc` for each, within `records`.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        folder: the folder to write into.
        mapping: what goes where.
        identifiers: identifiers of values.

    Raises:
        HdbenchError: the records cannot be read.
    """
    path = folder / "records.dc.xml"
    with LeftList(path) as left, path.open("wb") as file:
        file.write(_BEGIN.encode())
        for made in _made(records, left, mapping, "dublin-core", identifiers):
            lines = ["<oai_dc:dc>\n"]
            for each in made.written:
                language = each.entry.language
                marked = f" xml:lang={quoteattr(language)}" if language else ""
                lines.append(
                    f"  <dc:{each.target}{marked}>{escape(each.text)}</dc:{each.target}>\n"
                )
            file.write("".join([*lines, "</oai_dc:dc>\n"]).encode())
        file.write(b"</records>\n")
    return left.written


def write_columns(
    records: Path,
    folder: Path,
    *,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write finished records as CSV, with a column for each name of a mapping.

    Several texts have `|` between them, also those of values without an identifier, which are
    empty. A cell that might be a formula is made harmless as in `csv_rows`.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        folder: the folder to write into.
        mapping: what goes where.
        identifiers: identifiers of values.

    Raises:
        HdbenchError: the records cannot be read.
    """
    path = folder / "records.csv"
    with LeftList(path) as left, path.open("wb") as file:
        add = csv_rows(file, list(mapping.csv))
        for made in _made(records, left, mapping, "csv", identifiers):
            cells: dict[str, list[str]] = {name: [] for name in mapping.csv}
            for each in made.written:
                cells[each.target].append(each.text)
            add([plain(_BETWEEN.join(texts)) if any(texts) else "" for texts in cells.values()])
    return left.written


def _made(
    records: Path,
    left: LeftList,
    mapping: RecordMapping,
    form: MappedForm,
    identifiers: Identifiers | None,
) -> Iterator[MadeFields]:
    """Yield what is made of each record, and list what is not in it."""
    for record in progress(finished_records(records), "Writing the records"):
        made = make_fields(record, mapping, form, identifiers)
        if isinstance(made, MadeFields):
            yield made
            left.values(record, made.left)
        else:
            left.item(record.item, made)


def shown_record(
    record: FinishedRecord, mapping: RecordMapping, form: MappedForm
) -> tuple[list[tuple[str, str]], dict[str, str]] | str:
    """Return what becomes of an item's values: targets and texts, and what is in none, and why.

    Args:
        record: the item and its values.
        mapping: what goes where.
        form: the form.

    Returns:
        Why there is no record if there is none.
    """
    if form == "marc":
        parts = made_of(record, mapping)
        if isinstance(parts, str):
            return parts
        lines = [(field.tag, str(field)) for field in parts.fields if field.names]
        return why_none(parts, record, mapping) or (lines, parts.left)
    made = make_fields(record, mapping, form)
    if isinstance(made, str):
        return made
    return [(each.target, each.text) for each in made.written if each.names], made.left


def _write_table(
    records: Path, folder: Path, *, form: str, benchmark: Benchmark, fields: Sequence[str]
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` as a table, a row for each item.

    Columns: `id`, and for each field its value and its origin. A cell that might be a formula is
    made harmless as in `hdbench.collections.records.tables`.

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
