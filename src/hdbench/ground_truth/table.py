"""Tables of ground truths, CSV and XLSX, before they are mapped to fields."""

import stat
from pathlib import Path

from hdbench.answers.files import GZIP, ZIP, head_of, office_kind, other_kind
from hdbench.answers.json_files import read_whole
from hdbench.answers.members import Zip
from hdbench.answers.sheets.table import Table, csv_table, workbook_table
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

ACCEPTED = Message("a table of ground truths is CSV or XLSX")


def read_table(path: Path) -> Table:
    r"""Return the table in a CSV file or an XLSX workbook.

    CSV is in UTF-8, in UTF-16 with a byte order mark, or otherwise in cp1252, with commas,
    semicolons or tabs. Of a workbook, the visible sheet with the most filled cells is read. A cell
    is text and never evaluated: a formula in CSV stays as it stands, and in a workbook its last
    value counts.

    Args:
        path: the file.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
        MissingExtraError: it is XLSX, and python-calamine is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wahrheit.csv"
        ...     _ = file.write_bytes("Dateiname;Verfasser\n0001.jpg;Müller\n".encode("cp1252"))
        ...     table = read_table(file)
        >>> table.header, table.rows
        (['Dateiname', 'Verfasser'], [('wahrheit.csv:2', ['0001.jpg', 'Müller'])])
        >>> table.notes[1]
        'wahrheit.csv: cells are separated by semicolons'
    """
    name = path.name
    with read_errors(name):
        if is_workbook(path, name, ACCEPTED):
            return workbook_table(path, name)
        return csv_table(read_whole(path, name), name)


def is_workbook(path: Path, name: str, accepted: Message) -> bool:
    """Return whether a table is an XLSX workbook; otherwise it can only be CSV.

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
        if head.startswith(ZIP):
            _check_workbook(path, name, accepted)
            return True
        if head.startswith(GZIP):
            raise HdbenchError("{place}: unpack it: {accepted}", place=name, accepted=accepted)
        if kind := other_kind(head):
            raise HdbenchError(
                "{place}: this is {kind}: {accepted}", place=name, kind=kind, accepted=accepted
            )
        return False


def _check_workbook(path: Path, name: str, accepted: Message) -> None:
    """Refuse a ZIP that is not a workbook."""
    archive = Zip(path, name)
    kind = office_kind(archive)
    archive.close()
    if kind != "":
        raise HdbenchError(
            "{place}: this is {kind}: {accepted}",
            place=name,
            kind=kind or Message("a ZIP: unpack it"),
            accepted=accepted,
        )
