"""Tables in files: CSV, XLSX and ODS, of answers or of ground truths."""

import stat
from contextlib import closing
from itertools import islice
from pathlib import Path

from hdbench.answers.csv_lines import FIRST_ROWS, opened_csv
from hdbench.answers.forms import GZIP, ZIP, head_of, of_other_kind, other_kind
from hdbench.answers.json_files import read_whole
from hdbench.answers.members import Zip
from hdbench.answers.tables import Row, Table, chosen_sheet, csv_table, workbook_table
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

ACCEPTED = Message("a table of ground truths is CSV, XLSX or ODS")


def read_table(path: Path, header_rows: str | None = None) -> Table:
    r"""Return the table in a CSV file or a workbook.

    CSV is in UTF-8, in UTF-16 with a byte order mark, or otherwise in cp1252, with commas,
    semicolons or tabs. A cell is text and never evaluated: a formula in CSV stays as it stands, and
    in a workbook its last value counts.

    Args:
        path: the file.
        header_rows: the row that names the columns, as `3`, or the first and last one, as `3-4`;
            None if they are to be found.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
        MissingExtraError: it is a workbook, and a package to read it is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wahrheit.csv"
        ...     _ = file.write_bytes("Dateiname;Verfasser\n0001.jpg;Müller\n".encode("cp1252"))
        ...     table = read_table(file)
        >>> table.header, table.rows
        (['Dateiname', 'Verfasser'], [('wahrheit.csv:2', ['0001.jpg', 'Müller'])])
    """
    name = path.name
    with read_errors(name):
        if is_workbook(path, name, ACCEPTED):
            return workbook_table(path, name, header_rows)
        return csv_table(read_whole(path, name), name, header_rows)


def first_rows(path: Path) -> list[Row]:
    """Return the first rows of a table as they are, for a person who looks for its headings.

    Args:
        path: a CSV file or a workbook.

    Raises:
        HdbenchError: it is neither, or unusable.
    """
    name = path.name
    with read_errors(name):
        if is_workbook(path, name, ACCEPTED):
            return chosen_sheet(path, name).rows[:FIRST_ROWS]
        with opened_csv(read_whole(path, name), name, blank=True) as (lines, _):
            return [Row(line, name, cells) for line, cells in islice(lines, FIRST_ROWS)]


def is_workbook(path: Path, name: str, accepted: Message) -> bool:
    """Return whether a table is a workbook; otherwise it can only be CSV.

    Args:
        path: the file.
        name: what messages call it.
        accepted: the forms that the file could have.

    Raises:
        HdbenchError: it is something else.
    """
    with read_errors(name):
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe might never end
            raise HdbenchError("{place}: not a file: {accepted}", place=name, accepted=accepted)
        head = head_of(path)
        if head.startswith(GZIP):
            raise HdbenchError("{place}: unpack it: {accepted}", place=name, accepted=accepted)
        kind = _kind_of_zip(path, name) if head.startswith(ZIP) else other_kind(head)
        if kind:
            raise of_other_kind(kind, name, accepted)
        return head.startswith(ZIP)


def _kind_of_zip(path: Path, name: str) -> Message | None:
    """Return the kind of a ZIP; None for a workbook."""
    with closing(Zip(path, name)) as archive:
        kind = archive.office_kind()
    return Message("a ZIP: unpack it") if kind is None else kind or None
