"""Files of PICA, whose form is known by their beginning, and the ground truths in them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from hdbench.answers.sheets.records import Truth, Truths
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.files import Remarks, read_bounded
from hdbench.ground_truth.pica import (
    PicaField,
    PicaRecord,
    read_normalized,
    read_plain,
    to_normalized,
    to_plain,
)
from hdbench.ground_truth.pica_mapping import PICA_MAPPING, read_pica_mapping
from hdbench.ground_truth.pica_xml import XML_BEGIN, XML_END, read_xml, to_xml

MAX_RECORDS = 100_000
"""Maximum number of records in a file of ground truths."""

HEAD = 4_096
"""Number of bytes by which a form is known."""

PicaForm = Literal["plain", "normalized", "xml"]

_XML = (b"<", b"\xff\xfe", b"\xfe\xff")
_LINE = re.compile(rb"[012]\d\d[A-Z@](?:/\d{2,3})? (?:\$|\x1f)")
_XML_FIELD = re.compile(rb"""info:srw/schema/5/picaXML|\btag=["'][012]\d\d[A-Z@]["']""")


class _Form(NamedTuple):
    """A form of PICA.

    Attributes:
        read: yields the records of a file.
        record: returns the bytes of a record.
        begin: the bytes before the first.
        end: the bytes behind the last.
    """

    read: Callable[[BinaryIO, str], Iterator[PicaRecord]]
    record: Callable[[Sequence[PicaField]], bytes]
    begin: bytes = b""
    end: bytes = b""


_FORMS: dict[PicaForm, _Form] = {
    "plain": _Form(read_plain, to_plain),
    "normalized": _Form(read_normalized, to_normalized),
    "xml": _Form(read_xml, to_xml, XML_BEGIN, XML_END),
}


def is_pica(head: bytes) -> bool:
    """Return whether a file that begins in this way, in UTF-8, is one of PICA."""
    start = _start(head)
    if start.startswith(b"<"):
        return bool(_XML_FIELD.search(start))
    return bool(_LINE.match(start))


def pica_form(head: bytes) -> PicaForm:
    """Return the form of a file of PICA that begins in this way."""
    start = _start(head)
    if start.startswith(_XML):
        return "xml"
    return "normalized" if b"\x1f" in start.partition(b"\n")[0] else "plain"


def _start(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")


def read_records(document: BinaryIO, where: str) -> Iterator[PicaRecord]:
    """Yield the records in a file of any form of PICA, so that only one of them is in memory.

    Args:
        document: the file, in which one can go back to the beginning.
        where: what messages call it.

    Raises:
        HdbenchError: it is damaged; the message names record and line.
        MissingExtraError: it is XML, and lxml is not installed.
    """
    head = document.read(HEAD)
    document.seek(0)
    yield from _FORMS[pica_form(head)].read(document, where)


def write_records(file: BinaryIO, records: Iterable[Sequence[PicaField]], form: PicaForm) -> None:
    """Write records, one after the other, each at once.

    Args:
        file: where they go.
        records: the records.
        form: the form.

    Raises:
        ValueError: one of them is not a record of PICA, or not one that this form can have; the
            message says why.
    """
    kind = _FORMS[form]
    file.write(kind.begin)
    for record in records:
        file.write(kind.record(record))
    file.write(kind.end)


def read_pica(path: Path, mapping: Path | None = None) -> Truths:
    """Return the ground truths in a file of PICA Plain, normalized PICA or PICA XML.

    Args:
        path: the file.
        mapping: which fields of PICA become which fields of the ground truth, as in `pica.yaml`
            beside this module, which is the default.

    Raises:
        HdbenchError: it is none of them, or damaged; the message names record and line.
        MissingExtraError: it is XML, and lxml is not installed.
    """
    fields = read_pica_mapping(mapping or PICA_MAPPING)
    document = BytesIO(read_bounded(path, str(path)))
    remarks, truths = Remarks(), list[Truth]()
    for number, record in enumerate(read_records(document, str(path)), 1):
        if number > MAX_RECORDS:
            raise HdbenchError(
                "{place}: more than {most:,} records: export fewer", place=path, most=MAX_RECORDS
            )
        place = Message("{place}, record {number}", place=path.name, number=number)
        truth = Truth(place, *fields.truth(record))
        truths.append(truth)
        if truth.record is None:
            remarks.add(Message("none of the fields in the mapping, so no ground truth"), place)
        elif truth.key is None:
            remarks.add(Message("no key, which says which item it belongs to"), place)
    if not any(truth.record for truth in truths):
        raise HdbenchError(
            "{place}: no PICA record in it has any of the fields in the mapping", place=path
        )
    return Truths(truths, remarks.notes())
