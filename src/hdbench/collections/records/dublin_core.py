"""Finished records as Dublin Core (oai_dc), or as CSV with columns of one's own."""

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from hdbench.benchmarks.authority_files import Identifiers
from hdbench.collections.records.cells import plain, visible
from hdbench.collections.records.finished_rows import LeftList, WrittenRecords, finished_records
from hdbench.collections.records.record_mapping import RecordMapping, read_record_mapping
from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.progress import progress

ELEMENTS = (
    "title",
    "creator",
    "subject",
    "description",
    "publisher",
    "contributor",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "relation",
    "coverage",
    "rights",
)
"""The elements of Dublin Core."""

OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"
DC = "http://purl.org/dc/elements/1.1/"

_BEGIN = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<records xmlns:oai_dc="{OAI_DC}" xmlns:dc="{DC}"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="{OAI_DC} http://www.openarchives.org/OAI/2.0/oai_dc.xsd">
"""

_BETWEEN = " | "


def read_dublin_core_mapping(path: Path, fields: Iterable[str]) -> RecordMapping:
    """Return a mapping to elements of Dublin Core; see `read_record_mapping`."""
    return read_record_mapping(path, fields, ELEMENTS)


def write_dublin_core(
    records: Path,
    folder: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write finished records as XML: an `oai_dc:dc` for each, within `records`.

    Characters that XML cannot hold are replaced by the symbols that Unicode has for them.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        folder: the folder to write into.
        mapping: what goes where, by `read_dublin_core_mapping`.
        identifiers: identifiers of values.

    Raises:
        HdbenchError: the records cannot be read.
    """
    path = folder / "records.dc.xml"
    with LeftList(path) as left, path.open("wb") as file:
        file.write(_BEGIN.encode())
        for record in progress(finished_records(records), "Writing the records"):
            lines = ["<oai_dc:dc>\n"]
            for name, text, language in mapping.of(*record, identifiers):
                if not text:
                    continue
                marked = f" xml:lang={quoteattr(language)}" if language else ""
                lines.append(f"  <dc:{name}{marked}>{escape(visible(text))}</dc:{name}>\n")
            file.write("".join([*lines, "</oai_dc:dc>\n"]).encode())
            left.values(record, mapping.unplaced(record.fields))
        file.write(b"</records>\n")
    return left.written


def write_mapped_csv(
    records: Path,
    folder: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write finished records as CSV, with a column for each name of a mapping.

    Several texts have `|` between them, also those of values without an identifier, which are
    empty; languages are not said. A cell that might be a formula
    is made harmless as in `csv_rows`.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        folder: the folder to write into.
        mapping: what goes where, by `read_record_mapping`.
        identifiers: identifiers of values.

    Raises:
        HdbenchError: the records cannot be read.
    """
    path = folder / "records.csv"
    with LeftList(path) as left, path.open("wb") as file:
        add = csv_rows(file, list(mapping.texts))
        for record in progress(finished_records(records), "Writing the table"):
            cells: dict[str, list[str]] = {name: [] for name in mapping.texts}
            for name, text, _ in mapping.of(*record, identifiers):
                cells[name].append(text)
            add([plain(_BETWEEN.join(texts)) for texts in cells.values()])
            left.values(record, mapping.unplaced(record.fields))
    return left.written
