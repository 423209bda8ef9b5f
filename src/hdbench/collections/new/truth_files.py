"""The kind of ground truth in a file or folder, decided by its content, and its reader."""

import re
from contextlib import ExitStack
from pathlib import Path

from hdbench.answers.forms import NO_ANSWERS, head_of, stem_of, unpack
from hdbench.answers.records import Truths
from hdbench.answers.tables import SourceTable, read_table
from hdbench.collections.new.media import KINDS
from hdbench.collections.truth.json_truths import read_json_truths
from hdbench.collections.truth.marc_reading import read_marc
from hdbench.collections.truth.page_files import has_page_files, other_xml, read_page_files
from hdbench.common.files import check_name, entries, read_errors
from hdbench.common.page_text.reading import form_of
from hdbench.errors import HdbenchError, Message

_LEADER = re.compile(rb"\d{5}.{5}22\d{5}.{3}4500", re.DOTALL)  # of MARC21

ACCEPTED = Message(
    "a ground truth is CSV, XLSX, ODS, Parquet, JSON, JSON Lines, MARC21, MARCXML, PAGE XML, ALTO, "
    "hOCR, a folder of such files, or a folder with a JSON or text file for each image"
)


def open_truth(
    path: Path,
    mapping: Path | None = None,
    *,
    header_rows: str | None = None,
    skip_damaged: bool = False,
) -> SourceTable | Truths:
    """Return the ground truths in a file or folder; a table still has to be mapped.

    Args:
        path: the file or folder; a file may be packed with gzip or Zstandard.
        mapping: for MARC, which fields go where.
        header_rows: for a table, see `read_table`.
        skip_damaged: whether damaged records of MARC, and damaged files of texts, are left out.

    Raises:
        HdbenchError: it is none of the forms that are read, or is unusable.
    """
    if path.name.startswith("~$"):
        raise HdbenchError(
            "{place}: Excel's lock file: name {name} itself", place=path, name=path.name[2:]
        )
    check_name(path)
    with read_errors(path), ExitStack() as closing:
        if path.is_dir():
            _without_headings(path, header_rows)
            return _open_folder(path, skip_damaged=skip_damaged)
        if path.exists() and not path.is_file():  # a pipe or device might never end
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=path, accepted=ACCEPTED
            )
        if not head_of(path).startswith(b"<"):  # which names its own encoding
            path = unpack(path, path.name, closing)
        head = head_of(path)
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        is_marc = _LEADER.match(start) or path.suffix.lower() in (".mrc", ".marc")
        if is_marc or start[:1] in (b"<", b"{", b"["):
            _without_headings(path, header_rows)
        if start.startswith(b"<"):
            pages = read_page_files(path) if form_of(head) else None
            return pages or read_marc(path, mapping, skip_damaged=skip_damaged)
        if is_marc:
            return read_marc(path, mapping, skip_damaged=skip_damaged)
        if start[:1] in (b"{", b"["):
            return read_json_truths(path)
        if path.suffix.lower() == ".txt":
            raise HdbenchError("{place}: a text: {accepted}", place=path, accepted=ACCEPTED)
        return read_table(path, header_rows)


def _without_headings(path: Path, header_rows: str | None) -> None:
    if header_rows is not None:
        raise HdbenchError(
            "--header-row: {place} has no rows of headings: it is for CSV, XLSX and ODS only",
            place=path,
        )


def truth_beside(images: Path) -> Path | None:
    """Return a folder of images as that of its truths, if it has texts of them; None if not.

    These are `NAME.txt` beside an image `NAME`, and PAGE XML, ALTO or hOCR anywhere in the folder.

    Raises:
        HdbenchError: the folder cannot be read.
    """
    files = [path for path in entries(images).plain if path.suffix.lower() in KINDS]
    texts = {stem_of(path.name) for path in files if path.suffix.lower() == ".txt"}
    is_beside = any(path.stem in texts for path in files if path.suffix.lower() != ".txt")
    return images if is_beside or has_page_files(images) else None


def _open_folder(folder: Path, *, skip_damaged: bool) -> SourceTable | Truths:
    """Return a folder of texts, or with a file for each image."""
    if pages := read_page_files(folder, skip_damaged=skip_damaged):
        return pages
    names = (path for path in sorted(folder.iterdir()) if path.name.lower() not in NO_ANSWERS)
    first = next((path for path in names if path.suffix.lower() == ".xml"), None)
    if first is None:
        return read_json_truths(folder)
    raise other_xml(first, head_of(first))
