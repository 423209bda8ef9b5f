"""The files that a visitor can download."""

import io
import zipfile
from pathlib import Path

from hdbench.report.tables import csv_files
from hdbench.report.workbook import workbook
from hdbench.results.files import write_results
from hdbench.results.result import Result


def write_downloads(
    result: Result, page: str, name: str, language: str, folder: Path
) -> list[Path]:
    """Write a result as Excel, CSV, JSON and HTML.

    Args:
        result: a result with details.
        page: its report.
        name: the files' name, without the extension.
        language: the workbook's language.
        folder: where to write.

    Returns:
        The workbook, a ZIP of the CSV files, the JSON result, and the report.
    """
    table, archive, record, report = (
        folder / f"{name}{ending}" for ending in (".xlsx", "-csv.zip", ".json", ".html")
    )
    table.write_bytes(workbook(result, language))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in csv_files(result).items():
            packed.writestr(member, content)
    archive.write_bytes(data.getvalue())
    write_results(record, [result], details=True)
    report.write_text(page, encoding="utf-8")
    return [table, archive, record, report]
