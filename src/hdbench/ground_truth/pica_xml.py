"""PICA XML, in which K10plus and GBV answer through SRU and OAI-PMH."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, cast
from xml.sax.saxutils import escape

from hdbench.errors import Message
from hdbench.ground_truth.pica import (
    MAX_RECORD,
    MAX_SUBFIELDS,
    PicaField,
    PicaRecord,
    check_record,
    refusal,
    too_long,
    too_many_subfields,
)
from hdbench.ground_truth.xml_files import records_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

NAMESPACE = "info:srw/schema/5/picaXML-v1.0"

XML_BEGIN = f'<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="{NAMESPACE}">\n'.encode()
XML_END = b"</collection>\n"

NO_XML_CHARACTER = re.compile("[^\t\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML cannot have, or that it would change."""

_PREFIXES = ("", f"{{{NAMESPACE}}}")
_ATTRIBUTE_DIGIT = re.compile("[0-9]")


def read_xml(document: BinaryIO, where: str) -> Iterator[PicaRecord]:
    """Yield the records of PICA XML, one after the other.

    Args:
        document: a collection or one record, also within the reply of a server; with the namespace
            or none. An occurrence may have one digit, as some programs write it.
        where: what messages call it.

    Raises:
        HdbenchError: it is not PICA XML, or not well-formed, see `records_of`.
        MissingExtraError: lxml is not installed.
    """
    number = 1
    bounded = _Bounded(document, where)
    for element in records_of(cast("BinaryIO", bounded), where, "record"):
        if _prefix(element) in _PREFIXES:  # and not the wrapper of a reply
            yield _record(element, where, number)
            number += 1
        bounded.next_record(number)


class _Bounded:
    """A file of which only so much is read for each record, however it is nested."""

    def __init__(self, document: BinaryIO, where: str) -> None:
        self._document = document
        self._where = where
        self._number = 1
        self._size = 0
        self._line = 1

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if self._size > MAX_RECORD:
            raise refusal(self._where, self._number, self._line, too_long())
        data = self._document.read(size)
        self._size += len(data)
        self._line += data.count(b"\n")
        return data

    def next_record(self, number: int) -> None:
        """Start to count anew."""
        self._number, self._size = number, 0


def _prefix(element: "Element") -> str:
    """Return what stands before an element's name, its namespace in braces."""
    namespace, brace, _ = str(element.tag).rpartition("}")
    return namespace + brace


def _record(element: "Element", where: str, number: int) -> PicaRecord:
    """Return a record."""
    prefix = _prefix(element)
    record: PicaRecord = []
    count = 0
    for child in element:
        line = cast("int", child.sourceline)
        if child.tag != f"{prefix}datafield":
            raise refusal(where, number, line, _foreign(child))
        count += len(child)
        if count > MAX_SUBFIELDS:
            raise refusal(where, number, line, too_many_subfields())
        for part in child:
            if part.tag != f"{prefix}subfield" or len(part):
                raise refusal(where, number, line, _foreign(part[0] if len(part) else part))
        occurrence = child.get("occurrence", "")
        if _ATTRIBUTE_DIGIT.fullmatch(occurrence):
            occurrence = f"0{occurrence}"
        subfields = tuple((part.get("code", ""), part.text or "") for part in child)
        record.append(PicaField(child.get("tag", ""), occurrence, subfields))
    try:
        check_record(record)
    except ValueError as error:
        raise refusal(where, number, cast("int", element.sourceline), error.args[0]) from error
    return record


def _foreign(element: "Element") -> Message:
    return Message(
        "an element {name!r}, which PICA XML does not have there",
        name=str(element.tag).rpartition("}")[2][:50],
    )


def to_xml(record: Sequence[PicaField]) -> bytes:
    """Return a record as an element, to stand between `XML_BEGIN` and `XML_END`.

    Raises:
        ValueError: it is not a record of PICA, or XML cannot have its characters; the message says
            why.

    Example:
        >>> print(to_xml([PicaField("028B", "01", (("a", "Meier & Co"),))]).decode(), end="")
        <record>
          <datafield tag="028B" occurrence="01">
            <subfield code="a">Meier &amp; Co</subfield>
          </datafield>
        </record>
    """
    check_record(record)
    lines = ["<record>"]
    for field in record:
        occurrence = f' occurrence="{field.occurrence}"' if field.occurrence else ""
        lines.append(f'  <datafield tag="{field.tag}"{occurrence}>')
        for code, value in field.subfields:
            if NO_XML_CHARACTER.search(value):
                raise ValueError(
                    Message(
                        "{tag}${code} has characters that XML cannot have",
                        tag=field.tag,
                        code=code,
                    )
                )
            lines.append(f'    <subfield code="{code}">{escape(value)}</subfield>')
        lines.append("  </datafield>")
    return "\n".join([*lines, "</record>\n"]).encode()
