"""The kind of ground truth in a file or folder, decided by its content, and its reader."""

import re
from pathlib import Path

from hdbench.answers.encodings import UTF16_MARKS
from hdbench.answers.sheets.records import Truths
from hdbench.answers.sheets.table import Table
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.alto import read_alto
from hdbench.ground_truth.json_truths import read_json_truths
from hdbench.ground_truth.letters import read_letters
from hdbench.ground_truth.marc import read_marc
from hdbench.ground_truth.page_xml import read_page_xml
from hdbench.ground_truth.table import read_table

HEAD = 4_096
"""Number of bytes by which a file is recognized."""

_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LEADER = re.compile(rb"\d{5}.{5}22\d{5}.{3}4500", re.DOTALL)  # of MARC21
_TRANSCRIPTIONS = {"PcGts": read_page_xml, "alto": read_alto}
"""The name of the outermost element → what reads such a file, or a folder of them."""

ACCEPTED = Message(
    "a ground truth is CSV, XLSX, JSON, JSON Lines, MARC21, MARCXML, PAGE XML, ALTO, a "
    "folder of such XML, or a folder with a JSON or text file for each image"
)


def open_truth(path: Path, mapping: Path | None = None) -> Table | Truths:
    """Return the ground truths in a file or folder; a table still has to be mapped.

    Args:
        path: the file or folder.
        mapping: for MARC, which fields go where.

    Raises:
        HdbenchError: it is none of the forms that are read, or is unusable.
    """
    if path.name.startswith("~$"):
        raise HdbenchError(
            "{place}: Excel's lock file: name {name} itself", place=path, name=path.name[2:]
        )
    check_name(path)
    with read_errors(path):
        if path.is_dir():
            return _open_folder(path)
        if path.exists() and not path.is_file():  # a pipe or device might never end
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=path, accepted=ACCEPTED
            )
        head = _head(path)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return _open_xml(path, head, mapping)
    if _LEADER.match(start) or path.suffix.lower() in (".mrc", ".marc"):
        return read_marc(path, mapping)
    if start[:1] in (b"{", b"["):
        return read_json_truths(path)
    if path.suffix.lower() == ".txt":
        raise HdbenchError("{place}: a text: {accepted}", place=path, accepted=ACCEPTED)
    return read_table(path)


def _head(path: Path) -> bytes:
    """Return the beginning of a file, in UTF-8 even if the file is UTF-16."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return head.decode("utf-16", "ignore").encode() if head.startswith(UTF16_MARKS) else head


def _open_folder(folder: Path) -> Truths:
    """Return a folder of XML, of the letters' spreadsheets, or with a file for each image."""
    if (folder / "letters.csv").is_file() and (folder / "persons.csv").is_file():
        return read_letters(folder)
    first = next((path for path in sorted(folder.iterdir()) if path.suffix.lower() == ".xml"), None)
    if first is None:
        return read_json_truths(folder)
    root = _root(_head(first))
    if root not in _TRANSCRIPTIONS:
        raise HdbenchError(
            "{place}: is neither PAGE XML nor ALTO, but <{root}>: {accepted}",
            place=first,
            root=root,
            accepted=ACCEPTED,
        )
    return _TRANSCRIPTIONS[root](folder)


def _open_xml(path: Path, head: bytes, mapping: Path | None) -> Truths:
    root = _root(head)
    if root in ("collection", "record"):
        return read_marc(path, mapping)
    if root not in _TRANSCRIPTIONS:
        raise HdbenchError(
            "{place}: is XML of another kind (<{root}>): {accepted}",
            place=path,
            root=root,
            accepted=ACCEPTED,
        )
    return _TRANSCRIPTIONS[root](path)


def _root(head: bytes) -> str:
    """Return the name of the outermost element, without its namespace."""
    match = _ROOT.search(_COMMENT.sub(b"", head))
    return match[1].decode("ascii") if match else ""
