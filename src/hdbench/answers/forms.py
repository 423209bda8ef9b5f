"""The forms in which files hold answers: `FORMS`, and how a file is known by its first bytes."""

import codecs
from pathlib import Path
from typing import IO

from hdbench.common.bounds import MAX_WHOLE
from hdbench.errors import HdbenchError, Message

JSON_LINES = (".jsonl", ".ndjson")
"""Extensions of JSON Lines."""

FORMS = {
    "JSON": (".json",),
    "JSON Lines": JSON_LINES,
    "Parquet": (".parquet",),
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

BINARY = 32
"""Number of first bytes of which one is 0 in images, archives and the like."""

HEAD = 2**16
"""Number of bytes by which a file is recognized."""

ZIP = (b"PK\x03\x04", b"PK\x05\x06")

_OTHERS = {
    b"%PDF": Message("a PDF"),
    b"\xd0\xcf\x11\xe0": Message(
        "an old Excel file (.xls), or one with a password: save it as .xlsx"
    ),
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
    """Return the beginning of a file."""
    with path.open("rb") as file:
        return file.read(HEAD)


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
    if kind := next((_OTHERS[magic] for magic in _OTHERS if start.startswith(magic)), None):
        return kind
    # Further down, a NUL may come from a model: recorded answers have some.
    is_binary = b"\0" in head[:BINARY] + head.partition(b"\n")[0] and head[:2] not in UTF16_MARKS
    return Message("no text") if is_binary and not head.startswith(ZIP) else None


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
    for packing in PACKED_ENDINGS:
        name = name.removesuffix(packing)
    return next((form for form in ("JSON Lines", "Parquet") if name.endswith(FORMS[form])), None)


def stem_of(name: str) -> str:
    """Return the name of the image that a file beside it is about.

    Example:
        >>> stem_of("0001.txt"), stem_of("0001.gt.txt")  # as OCR-D and kraken call texts
        ('0001', '0001')
    """
    stem, _, ending = name.rpartition(".")
    return stem.removesuffix(".gt") if ending.lower() == "txt" else stem


UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks, with which a UTF-16 file begins."""


def decode(raw: bytes, where: str) -> str:
    r"""Return the text of a small file.

    Args:
        raw: its bytes.
        where: the file, for the message.

    Raises:
        HdbenchError: it is in neither encoding; the message names the line and the byte within it.

    Example:
        >>> decode("\ufeffMüller".encode("utf-16-le"), "answer.txt")
        'Müller'
    """
    encoding = "UTF-16" if raw.startswith(UTF16_MARKS) else "UTF-8"
    try:
        return raw.decode("utf-16" if encoding == "UTF-16" else "utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]  # without the mark, which "utf-8-sig" removes
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise HdbenchError(
            "{place}:{line}: not {encoding} (byte {column} of the line): save as UTF-8",
            place=where,
            line=line,
            encoding=encoding,
            column=column,
        ) from error


def read_whole(path: Path, name: str) -> bytes:
    """Return the bytes of a file that can only be read whole; see `read_bounded`."""
    with path.open("rb") as file:
        return read_bounded(file, name)


def read_bounded(file: IO[bytes], place: str) -> bytes:
    """Return what is in a file.

    Args:
        file: the file, opened.
        place: what messages call it.

    Raises:
        HdbenchError: it is larger than `MAX_WHOLE`.
    """
    raw = file.read(MAX_WHOLE + 1)
    if len(raw) > MAX_WHOLE:
        raise HdbenchError(
            "{place}: larger than {most} MiB, which only JSON Lines may be: write one object per "
            "line",
            place=place,
            most=MAX_WHOLE >> 20,
        )
    return raw
