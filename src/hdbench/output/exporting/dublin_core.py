"""Finished records as Dublin Core (oai_dc), or as CSV with columns of one's own."""

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from hdbench.answers.cells import plain, visible
from hdbench.authorities.identifiers import Identifiers
from hdbench.common.resuming import NoState, made_from, resumable_files
from hdbench.output.exporting.finished_rows import (
    FinishedRecord,
    finished_records,
    write_finished_csv,
)
from hdbench.output.exporting.record_mapping import RecordMapping, read_record_mapping

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
    path: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
    *,
    options: str = "",
) -> int:
    """Write finished records as XML: an `oai_dc:dc` for each, within `records`; it is resumable.

    Characters that XML cannot hold are replaced by the symbols that Unicode has for them.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        path: the file to write.
        mapping: what goes where, by `read_dublin_core_mapping`.
        identifiers: identifiers of values.
        options: all that the file depends on besides the records, as one text.

    Returns:
        The number of records.

    Raises:
        HdbenchError: the records cannot be read, or the file cannot be written.
    """
    state = identifiers.counts if identifiers else NoState()
    with resumable_files([path], made_from(options, files=[records]), state) as writing:
        (file,) = writing.files
        file.write(_BEGIN.encode())
        remaining = finished_records(records, writing.done)
        for item, fields in writing.progress(remaining, "Writing the records"):
            lines = ["<oai_dc:dc>\n"]
            for name, text, language in mapping.of(item, fields, identifiers):
                if not text:
                    continue
                marked = f" xml:lang={quoteattr(language)}" if language else ""
                lines.append(f"  <dc:{name}{marked}>{escape(visible(text))}</dc:{name}>\n")
            file.write("".join([*lines, "</oai_dc:dc>\n"]).encode())
        file.write(b"</records>\n")
    return writing.done


def write_mapped_csv(
    records: Path,
    path: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
    *,
    options: str = "",
) -> int:
    """Write finished records as CSV, with a column for each name of a mapping; it is resumable.

    Several texts have `|` between them, also those of values without an identifier, which are
    empty; languages are not said. A cell that might be a formula
    is made harmless as in `csv_rows`.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        path: the file to write.
        mapping: what goes where, by `read_record_mapping`.
        identifiers: identifiers of values.
        options: all that the file depends on besides the records, as one text.

    Returns:
        The number of records.

    Raises:
        HdbenchError: the records cannot be read, or the file cannot be written.
    """

    def row(record: FinishedRecord) -> list[str]:
        cells: dict[str, list[str]] = {name: [] for name in mapping.texts}
        for name, text, _ in mapping.of(*record, identifiers):
            cells[name].append(text)
        return [plain(_BETWEEN.join(texts)) for texts in cells.values()]

    state = identifiers.counts if identifiers else None
    return write_finished_csv(records, path, list(mapping.texts), row, options=options, state=state)
