"""The file of an audit: a row for each finding, or all of it as JSON."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.csv_lines import read_csv
from hdbench.common.csv_and_excel import as_it_was
from hdbench.common.jsonio import write_json
from hdbench.common.os_errors import read_errors
from hdbench.common.validation import check_file
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message
from hdbench.report.audit.findings import Audit


class FoundField(NamedTuple):
    """A finding as the file has it.

    Attributes:
        field: the field's path.
        read: what the models read; empty for nothing.
        said: how many of them, and by which makers.
    """

    field: str
    read: str
    said: str


_MAX_FILE = 64 * 2**20


def check_ending(path: Path) -> None:
    """Refuse a file that an audit cannot be written to.

    Raises:
        HdbenchError: it ends neither in .csv nor in .json.
    """
    if path.suffix.lower() not in {".csv", ".json"}:
        raise HdbenchError("{place}: must end in .csv or .json", place=path)


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit, as CSV or JSON by the file's ending.

    Raises:
        HdbenchError: it cannot be written.
    """
    if path.suffix.lower() == ".json":
        write_json(path, asdict(audit))
        return
    write_whole(path, audit.table.to_csv())


def read_audited(path: Path) -> Mapping[str, Sequence[FoundField]] | None:
    """Return item → what an audit found in it, from its CSV file; None for other files.

    The file may have been cut, sorted and saved by a spreadsheet program.

    Raises:
        HdbenchError: it cannot be read.
    """
    if path.suffix.lower() != ".csv":
        return None
    check_file(path, _MAX_FILE, Message("a list of items"))
    with read_errors(path):
        data = path.read_bytes()
    rows, _ = read_csv(data, str(path))
    head = [title.strip().casefold() for title in next(rows, (0, []))[1]]
    if not {"id", "field", "models read"} <= set(head):
        return None
    fields: dict[str, list[FoundField]] = defaultdict(list)
    for _, cells in rows:
        found = dict(zip(head, map(as_it_was, cells), strict=False))
        if found["id"] and found.get("field"):
            said = filter(None, (found.get("agreement"), found.get("makers")))
            fields[found["id"]].append(
                FoundField(found["field"], found["models read"], ": ".join(said))
            )
    return dict(fields)
