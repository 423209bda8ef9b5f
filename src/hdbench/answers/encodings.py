"""Texts in UTF-8 or, with a byte order mark, in UTF-16, as Windows programs write it."""

import codecs
import shutil
from pathlib import Path

from hdbench.errors import HdbenchError

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
    is_utf16 = raw.startswith(UTF16_MARKS)
    try:
        return raw.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        if is_utf16:
            raise HdbenchError("{place}: not UTF-16: save as UTF-8", place=where) from error
        before = error.object[: error.start]  # without the mark, which "utf-8-sig" removes
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise HdbenchError(
            "{place}:{line}: not UTF-8 (byte {column} of the line): save as UTF-8",
            place=where,
            line=line,
            column=column,
        ) from error


def write_as_utf8(source: Path, target: Path, name: str) -> None:
    """Rewrite a UTF-16 file as UTF-8, one block at a time.

    Args:
        source: the file, with its byte order mark.
        target: where the new one goes.
        name: what messages call the file.

    Raises:
        HdbenchError: it is not UTF-16 throughout.
    """
    try:
        with (
            source.open(encoding="utf-16", newline="") as file,
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            shutil.copyfileobj(file, out)
    except UnicodeError as error:
        raise HdbenchError(
            "{place}: not UTF-16 throughout, although it begins as UTF-16: save as UTF-8",
            place=name,
        ) from error
