"""MARC21 and MARCXML, in which library systems such as Alma export their catalogues."""

import logging
import re
import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hdbench.answers.sheets.records import Truth, Truths
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message, shortened
from hdbench.ground_truth.files import Remarks, read_bounded
from hdbench.ground_truth.marc_mapping import DEFAULT_MAPPING, read_mapping
from hdbench.ground_truth.xml_files import name_of, records_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pymarc import Record

MAX_RECORDS = 100_000
"""Maximum number of records in a file."""

END_OF_RECORD, END_OF_FIELD = b"\x1d", b"\x1e"

LEADER, ENTRY = 24, 12
"""The length of a record's leader, and of each entry in the directory that follows it."""

PADDING = b"\r\n\x00\x1a "
"""Bytes that some programs write between records or after the last."""

ANSEL = 0x45
"""The code of MARC-8's extended Latin characters."""

JOINERS = {0x88, 0x89, 0x8D, 0x8E}
"""Control characters of MARC-8."""

NAMESPACES = {"", "{http://www.loc.gov/MARC21/slim"}

XML = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Beginnings of an XML file."""

_TAG = re.compile("[0-9A-Za-z]{3}")
_ENTRY = re.compile(b"[0-9A-Za-z]{3}[0-9]{9}")


def read_marc(path: Path, mapping: Path | None = None) -> Truths:
    """Return the ground truths in a file of MARC21 (ISO 2709, in UTF-8 or MARC-8) or MARCXML.

    Args:
        path: the file. MARCXML may have a namespace or none, be a collection or one record, and be
            within the reply of a server (OAI-PMH, SRU).
        mapping: which fields of MARC become which fields of the ground truth, as in `marc.yaml`
            beside this module, which is the default.

    Raises:
        HdbenchError: it is neither, or records in it are damaged; the message gives their numbers.
        MissingExtraError: pymarc or lxml is not installed.
    """
    with needed("truths", "MARC files need"):
        import pymarc  # noqa: F401, PLC0415
    fields = read_mapping(mapping or DEFAULT_MAPPING)
    data = read_bounded(path, str(path))
    remarks, problems, truths = Remarks(), list[str](), list[Truth]()
    is_xml = data.lstrip().startswith(XML)
    elements = marc_elements(BytesIO(data), str(path))
    records = map(record_from, elements) if is_xml else _from_binary(data, path, remarks)
    for number, record in enumerate(records, 1):
        if number > MAX_RECORDS:
            raise HdbenchError(
                "{place}: more than {most:,} records: export fewer", place=path, most=MAX_RECORDS
            )
        if isinstance(record, str):
            problems.append(Message("record {number} {fault}", number=number, fault=record))
            continue
        truths.append(Truth(_place(path, number), *fields.truth(record)))
    if problems:
        raise HdbenchError(
            "{place}: {problems}: export the file again",
            place=path,
            problems=shortened(problems, separator="; "),
        )
    if not any(truth.record for truth in truths):
        raise HdbenchError(
            "{place}: no MARC record in it has any of the fields in the mapping", place=path
        )
    for truth in truths:
        if truth.record is None:
            remarks.add(
                Message("none of the fields in the mapping, so no ground truth"), truth.place
            )
        elif truth.key is None:
            remarks.add(Message("no key, which says which item it belongs to"), truth.place)
    return Truths(truths, remarks.notes())


def _place(path: Path, number: int) -> Message:
    return Message("{place}, record {number}", place=path.name, number=number)


def _from_binary(data: bytes, path: Path, remarks: Remarks) -> Iterator["Record | str"]:
    """Yield each record, or what is wrong with it."""
    # pymarc's reader goes by the length that each leader has, so that nothing can be read after a
    # wrong one, while the end of a record is a byte that occurs nowhere else.
    *complete, rest = (chunk.lstrip(PADDING) for chunk in data.split(END_OF_RECORD))
    if not (complete or [rest])[0][:5].isdigit():
        raise HdbenchError(
            "{place}: neither MARC21 nor MARCXML: export it as one of these", place=path
        )
    records = [chunk + END_OF_RECORD for chunk in complete if chunk]
    for number, chunk in enumerate(records, 1):
        yield _fault(chunk) or _decoded(chunk, _place(path, number), remarks)
    if rest:
        yield Message("is cut off at the end of the file")


def _fault(chunk: bytes) -> Message | None:
    """Return the fault in a record's frame, which pymarc would take as it is, if there is one."""
    length, base = chunk[:5], chunk[12:17]
    if not length.isdigit() or not base.isdigit():
        return Message("has a damaged leader")
    if int(length) != len(chunk):
        return Message(
            "has {there} bytes, but {said} by its leader (was the file changed in an editor?)",
            there=len(chunk),
            said=int(length),
        )
    directory = chunk[LEADER : int(base)]
    entries = [directory[start : start + ENTRY] for start in range(0, len(directory) - 1, ENTRY)]
    if not directory.endswith(END_OF_FIELD) or not all(map(_ENTRY.fullmatch, entries)):
        return Message("has a damaged directory")
    for entry in entries:
        end = int(base) + int(entry[7:]) + int(entry[3:7])
        if chunk[end - 1 : end] != END_OF_FIELD:
            return Message("has a damaged field {tag}", tag=entry[:3].decode())
    return _overlap(entries)


def _overlap(entries: list[bytes]) -> Message | None:
    """Return that two fields have the same bytes, by which a small file would fill the memory."""
    free = 0
    for entry in sorted(entries, key=lambda entry: int(entry[7:])):
        if int(entry[7:]) < free:
            return Message("has a damaged directory (fields overlap)")
        free = int(entry[7:]) + int(entry[3:7])
    return None


def _decoded(chunk: bytes, place: str, remarks: Remarks) -> "Record | str":
    """Return a record whose frame is right, or what is wrong with its characters."""
    from pymarc import Record  # noqa: PLC0415
    from pymarc.exceptions import PymarcException  # noqa: PLC0415

    is_utf8 = chunk[9:10] == b"a"
    if not is_utf8 and not chunk.isascii():
        try:
            chunk.decode("utf-8")
        except UnicodeDecodeError:
            if _has_others_than_marc8(chunk):
                return Message("is neither in UTF-8 nor in MARC-8: choose UTF-8 as its encoding")
        else:
            is_utf8 = True
            remarks.add(
                Message("in UTF-8, although the leader says MARC-8, and read as such"), place
            )
    logging.getLogger("pymarc").setLevel("ERROR")  # its warnings are about indicators
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return Record(chunk, force_utf8=is_utf8, hide_utf8_warnings=True)
    except UnicodeDecodeError:
        return Message("is not in the encoding that its leader says")
    except (PymarcException, Warning, ValueError, IndexError) as error:
        return Message("is damaged ({why})", why=error)


def _has_others_than_marc8(chunk: bytes) -> bool:
    """Return whether bytes mean nothing in MARC-8, for which pymarc would put blanks."""
    from pymarc.marc8_mapping import CODESETS, ODD_MAP  # noqa: PLC0415

    if b"\x1b" in chunk:  # changes what the bytes mean
        return False
    characters = CODESETS[ANSEL].keys() | ODD_MAP.keys() | JOINERS
    return any(not chr(byte).isascii() and byte not in characters for byte in set(chunk))


def marc_elements(document: BinaryIO, where: str) -> Iterator["Element"]:
    """Yield the records in a document of MARCXML, one after the other.

    Args:
        document: a collection or one record, also within the reply of a server.
        where: what messages call it.

    Raises:
        HdbenchError: it is not well-formed, see `records_of`.
    """
    for element in records_of(document, where, "record"):
        if str(element.tag).rpartition("}")[0] in NAMESPACES:  # and not the wrapper of a reply
            yield element


def record_from(element: "Element") -> "Record | str":
    """Return an element of MARCXML as a record without its leader, or what is wrong with it.

    Its fields are in the order of the element's `marc_fields`.
    """
    from pymarc import Field, Indicators, Record, Subfield  # noqa: PLC0415

    fields = []
    for child in marc_fields(element):
        name, tag = name_of(child), child.get("tag", "")
        if not _TAG.fullmatch(tag):
            return Message(
                "(line {line}) has a {name} without a tag of three characters",
                line=child.sourceline,
                name=name,
            )
        if name == "controlfield":
            fields.append(Field(tag, data=_text(child)))
            continue
        indicators = Indicators(child.get("ind1") or " ", child.get("ind2") or " ")
        inner = [subfield for subfield in child if name_of(subfield) == "subfield"]
        if not all(subfield.get("code") for subfield in inner):
            return Message(
                "(line {line}) has a subfield without a code in {tag}",
                line=child.sourceline,
                tag=tag,
            )
        subfields = [Subfield(subfield.get("code", ""), _text(subfield)) for subfield in inner]
        fields.append(Field(tag, indicators, subfields))
    return Record(fields=fields)


def marc_fields(element: "Element") -> "list[Element]":
    """Return the fields of a record in MARCXML."""
    return [child for child in element if name_of(child) in {"controlfield", "datafield"}]


def _text(element: "Element") -> str:
    return "".join(map(str, element.itertext()))
