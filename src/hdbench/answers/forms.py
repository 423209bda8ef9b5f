"""The forms in which files hold answers: `FORMS`, and how a file is known by its first bytes."""

import codecs
from pathlib import Path

from hdbench.errors import HdbenchError, Message

JSON_LINES = (".jsonl", ".ndjson")
"""Extensions of JSON Lines."""

PARQUET = (".parquet",)

FORMS = {
    "JSON": (".json",),
    "JSON Lines": JSON_LINES,
    "Parquet": PARQUET,
    "CSV": (".csv", ".tsv"),
    "XLSX": (".xlsx",),
    "ODS": (".ods",),
}
"""Forms of answers as messages call them, in their order, and the extensions of their files, by
which they are found in a folder or ZIP; what a file is, its content decides."""

IN_PARTS = "JSON Lines, Parquet"
"""The forms of which a run may be in several files, for messages."""

PAGE_ENDINGS = (".xml", ".hocr", ".html", ".htm")
"""Extensions of files with the text of a page: PAGE XML, ALTO and hOCR."""

ITEM_ENDINGS = (".json", ".txt", ".md", *PAGE_ENDINGS)
"""Extensions of files with the answer to one item, which are in a folder or ZIP."""

NO_ANSWERS = frozenset({"mets.xml", "metadata.xml", "log.txt"})
"""Names of files that programs for transcriptions put beside those of pages."""

PACKED_ENDINGS = (".gz", ".zst")
"""Extensions that may follow that of a compressed file."""

FOLDER_ENDINGS = (
    *ITEM_ENDINGS,
    *(ending for form in FORMS if form != "JSON" for ending in FORMS[form]),
    *(f"{ending}{packing}" for ending in JSON_LINES for packing in PACKED_ENDINGS),
)
"""Extensions of files that can hold answers in a folder or ZIP."""

ENDINGS = (*FOLDER_ENDINGS, *PACKED_ENDINGS, ".zip")
"""Extensions of files that can be given as answers; they may follow each other."""

HEAD = 2**16
"""Number of bytes by which a file is recognized; white space before them is skipped."""

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")

_OTHERS = {
    b"\x89PNG": Message("a PNG image"),
    b"\xff\xd8\xff": Message("a JPEG image"),
    b"GIF8": Message("a GIF image"),
    b"II*\0": Message("a TIFF image"),
    b"MM\0*": Message("a TIFF image"),
    b"%PDF": Message("a PDF"),
    b"\xd0\xcf\x11\xe0": Message(
        "an old Excel file (.xls), or one with a password: save it as .xlsx"
    ),
    b"7z\xbc\xaf": Message("a 7-Zip archive"),
    b"Rar!": Message("a RAR archive"),
    b"BZh": Message("a bzip2 file"),
    b"\xfd7zXZ": Message("an xz file"),
    b"SQLite format 3": Message("an SQLite database"),
    b"<": Message("an HTML or XML file"),
}
"""Beginnings of files of other types, without leading white space."""


def accepted() -> Message:
    """Return what answers are read from, for messages."""
    return Message(
        "answers are read from {forms}, a folder or a ZIP of <id>.json, <id>.txt, <id>.md or "
        "<id>.xml (PAGE, ALTO)",
        forms=", ".join(FORMS),
    )


def head_of(path: Path) -> bytes:
    """Return the beginning of a file, or its first block that is not blank."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        while head and not head.strip():
            head = file.read(HEAD)
        return head


def without_mark(head: bytes) -> bytes:
    """Return the beginning of a text without a byte order mark and white space."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip()


def other_kind(head: bytes) -> Message | None:
    """Return the kind of a file that is neither JSON nor a table, by its first bytes; else None.

    Example:
        >>> other_kind(b"%PDF-1.7")
        'a PDF'
    """
    start = without_mark(head)
    kind = next((_OTHERS[magic] for magic in _OTHERS if start.startswith(magic)), None)
    return kind or (Message("a tar archive") if head[257:262] == b"ustar" else None)


def of_other_kind(kind: Message, place: str, accepted: Message) -> HdbenchError:
    """Return the error of a file of another kind.

    Args:
        kind: what it is.
        place: what messages call it.
        accepted: what it could have been.
    """
    return HdbenchError(
        "{place}: this is {kind}: {accepted}", place=place, kind=kind, accepted=accepted
    )


def part_form(name: str) -> str | None:
    """Return the form of a file that is meant as a part of a run, by its name; None for others.

    Example:
        >>> part_form("b10.jsonl.gz"), part_form("log.csv")
        ('JSON Lines', None)
    """
    name = name.lower()
    if name.endswith(PARQUET):
        return "Parquet"
    for packing in PACKED_ENDINGS:
        name = name.removesuffix(packing)
    return "JSON Lines" if name.endswith(JSON_LINES) else None


def stem_of(name: str) -> str:
    """Return the name of the image that a file beside it is about.

    Example:
        >>> stem_of("0001.txt"), stem_of("0001.gt.txt")  # as OCR-D and kraken call texts
        ('0001', '0001')
    """
    stem, _, ending = name.rpartition(".")
    return stem.removesuffix(".gt") if ending.lower() == "txt" else stem
