"""MARC21 and MARCXML, in which library systems such as Alma export their catalogues."""

import logging
import re
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hdbench.answers.records import Truth, Truths
from hdbench.collections.truth.marc_mapping import DEFAULT_MAPPING, read_mapping
from hdbench.collections.truth.page_files import Remarks, other_xml
from hdbench.common.bounds import MAX_RECORDS
from hdbench.common.extras import needed
from hdbench.common.xml_documents import elements_of, name_of, read_document
from hdbench.errors import HdbenchError, Message, escaped, shortened

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pymarc import Field, Record

MAX_CONTROL = 40
"""Maximum number of characters of a control number in a message."""

END_OF_RECORD, END_OF_FIELD = b"\x1d", b"\x1e"

LEADER, ENTRY = 24, 12
"""The length of a record's leader, and of each entry in the directory that follows it."""

PADDING = b"\r\n\x00\x1a "
"""Bytes that some programs write between records or after the last."""

ANSEL = 0x45
"""The code of MARC-8's extended Latin characters."""

JOINERS = {0x88, 0x89, 0x8D, 0x8E}
"""Control characters of MARC-8."""

XML = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Beginnings of an XML file."""

_LINK = re.compile("(?P<tag>[0-9A-Za-z]{3})-(?P<number>[0-9]{2,})")
"""Subfield 6: the linked field, and the number that both have."""

_TAG = re.compile("[0-9A-Za-z]{3}")
_ENTRY = re.compile(b"[0-9A-Za-z]{3}[0-9]{9}")


class _Damaged(NamedTuple):
    """A record that cannot be read.

    Attributes:
        where: where it begins.
        control: its field 001, as far as there is one.
        fault: what is wrong with it.
    """

    where: Message
    control: str
    fault: Message


def read_marc(path: Path, mapping: Path | None = None, *, skip_damaged: bool = False) -> Truths:
    """Return the ground truths in a file of MARC21 (ISO 2709, in UTF-8 or MARC-8) or MARCXML.

    Args:
        path: the file. MARCXML may have a namespace or none, be a collection or one record, and be
            within anything else, such as the reply of a server (OAI-PMH, SRU, Alma).
        mapping: which fields of MARC become which fields of the ground truth, as in `marc.yaml`
            beside this module, which is the default.
        skip_damaged: whether damaged records are left out.

    Raises:
        HdbenchError: it is neither, has no record, or records in it are damaged; the message names
            them.
        MissingExtraError: pymarc or lxml is not installed.
    """
    fields = read_mapping(mapping or DEFAULT_MAPPING)
    remarks, problems, truths = Remarks(), list[str](), list[Truth]()
    for number, record in enumerate(_records(path, remarks)[0], 1):
        if number > MAX_RECORDS:
            raise HdbenchError(
                "{place}: more than {most:,} records: export fewer", place=path, most=MAX_RECORDS
            )
        if isinstance(record, _Damaged):
            problems.append(
                Message(
                    "record {number} ({where}, 001 {control}) {fault}"
                    if record.control
                    else "record {number} ({where}) {fault}",
                    number=number,
                    **record._replace(control=escaped(record.control))._asdict(),
                )
            )
            continue
        if fields.original and _in_original_script(record):
            remarks.add(Message("in their original script, by fields 880"), _place(path, number))
        truths.append(Truth(_place(path, number), *fields.truth(record)))
    if problems and not skip_damaged:
        raise HdbenchError(
            "{place}: {problems}: export the file again, or leave them out with --skip-damaged",
            place=path,
            problems=shortened(problems, separator="; "),
        )
    if not any(truth.record for truth in truths):
        raise HdbenchError(
            "{place}: no MARC record in it has any of the fields in the mapping", place=path
        )
    for problem in problems:
        remarks.add(Message("damaged, and left out"), problem)
    for truth in truths:
        if truth.record is None:
            remarks.add(
                Message("none of the fields in the mapping, so no ground truth"), truth.place
            )
        elif truth.key is None:
            remarks.add(Message("no key, which says which item it belongs to"), truth.place)
    return Truths(truths, remarks.notes())


def own_records(path: Path) -> "tuple[list[Record], bool]":
    """Return the records of a file of MARC21 or MARCXML as they are, and whether it is the latter.

    Raises:
        HdbenchError: it is neither, has no record, or a record in it is damaged.
        MissingExtraError: pymarc or lxml is not installed.
    """
    found: list[Record] = []
    records, is_xml = _records(path, Remarks())
    for number, record in enumerate(records, 1):
        if isinstance(record, _Damaged):
            raise HdbenchError(
                "{place}: record {number} ({where}) {fault}: export the file again",
                place=path,
                number=number,
                where=record.where,
                fault=record.fault,
            )
        found.append(record)
    return found, is_xml


def _records(path: Path, remarks: Remarks) -> "tuple[Iterator[Record | _Damaged], bool]":
    """Return the records of a file, one at least, and whether it is MARCXML."""
    with needed("truths", "MARC files need"):
        import pymarc  # noqa: F401, PLC0415
    data = read_document(path)
    is_xml = data.lstrip().startswith(XML)
    records = _from_xml(data, path) if is_xml else _from_binary(data, path, remarks)
    if (first := next(records, None)) is None:
        raise other_xml(path, data)
    return chain([first], records), is_xml


def _place(path: Path, number: int) -> Message:
    return Message("{place}, record {number}", place=path.name, number=number)


def _in_original_script(record: "Record") -> bool:
    """Put linked fields into their original script; return whether there are any."""
    from pymarc import Field  # noqa: PLC0415

    originals: dict[tuple[str, str], Field] = {}
    for field in record.get_fields("880"):
        if match := _LINK.match(field.get("6", "")):
            # Those that are linked to no field have the number 00, and are fields of their own.
            number = f"00 {len(originals)}" if match["number"] == "00" else match["number"]
            originals.setdefault((match["tag"], number), field)
    if not originals:
        return False
    fields = []
    for field in record.fields:
        match = None if field.is_control_field() else _LINK.match(field.get("6", ""))
        original = originals.pop((field.tag, match["number"]), None) if match else None
        fields.append(_with_subfields(original, field) if original else field)
    fields += [
        Field(tag, original.indicators, original.subfields)
        for (tag, _), original in originals.items()
    ]
    record.fields = fields
    return True


def _with_subfields(original: "Field", field: "Field") -> "Field":
    """Return a field in its original script, with what only its transliteration has."""
    from pymarc import Field  # noqa: PLC0415

    codes = {subfield.code for subfield in original.subfields}
    own = [subfield for subfield in field.subfields if subfield.code not in codes]
    return Field(field.tag, field.indicators, [*original.subfields, *own])


def _from_binary(data: bytes, path: Path, remarks: Remarks) -> "Iterator[Record | _Damaged]":
    """Yield each record."""
    # pymarc's reader goes by the length that each leader has, so that nothing can be read after a
    # wrong one, while the end of a record is a byte that occurs nowhere else.
    if not data.lstrip(PADDING)[:5].isdigit():
        raise HdbenchError(
            "{place}: neither MARC21 nor MARCXML: export it as one of these", place=path
        )
    end = number = 0
    for part in data.split(END_OF_RECORD):
        chunk = part.lstrip(PADDING)
        begin, end = end + len(part) - len(chunk), end + len(part) + 1
        if not chunk:
            continue
        number += 1
        if end > len(data):
            fault: Message | None = Message("is cut off at the end of the file")
        else:
            chunk += END_OF_RECORD
            fault = _fault(chunk)
        record = fault or _decoded(chunk, _place(path, number), remarks)
        if isinstance(record, Message):
            where = Message("at byte {byte:,}", byte=begin)
            yield _Damaged(where, _control_number(chunk), record)
        else:
            yield record


def _control_number(chunk: bytes) -> str:
    """Return field 001 of a damaged record, in which it is nearly always the first one."""
    directory, *fields = chunk.split(END_OF_FIELD, 2)
    if not fields or directory[LEADER : LEADER + 3] != b"001":
        return ""
    return fields[0].decode("utf-8", "replace").strip()[:MAX_CONTROL]


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


def _decoded(chunk: bytes, place: str, remarks: Remarks) -> "Record | Message":
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


def _from_xml(data: bytes, path: Path) -> "Iterator[Record | _Damaged]":
    """Yield each record, wherever it is in a document."""
    for element in elements_of(data, str(path), "record"):
        fields = [child for child in element if name_of(child) in {"controlfield", "datafield"}]
        if fields:  # and not the wrapper of a reply, which may be called so, too
            leader = next((_text(child) for child in element if name_of(child) == "leader"), "")
            yield _record(fields, leader)


def _record(elements: "list[Element]", leader: str) -> "Record | _Damaged":
    """Return the record that has these fields."""
    from pymarc import Field, Indicators, Record, Subfield  # noqa: PLC0415

    def damaged(line: int | None, template: str, **values: str) -> _Damaged:
        control = next((_text(each) for each in elements if each.get("tag") == "001"), "")
        where = Message("line {line}", line=line)
        return _Damaged(where, control.strip()[:MAX_CONTROL], Message(template, **values))

    fields = []
    for child in elements:
        name, tag, line = name_of(child), child.get("tag", ""), child.sourceline
        if not _TAG.fullmatch(tag):
            return damaged(line, "has a {name} without a tag of three characters", name=name)
        if name == "controlfield":
            fields.append(Field(tag, data=_text(child)))
            continue
        indicators = Indicators(child.get("ind1") or " ", child.get("ind2") or " ")
        inner = [subfield for subfield in child if name_of(subfield) == "subfield"]
        if not all(subfield.get("code") for subfield in inner):
            return damaged(line, "has a subfield without a code in {tag}", tag=tag)
        subfields = [Subfield(subfield.get("code", ""), _text(subfield)) for subfield in inner]
        fields.append(Field(tag, indicators, subfields))
    return Record(fields=fields, leader=leader.ljust(LEADER)[:LEADER])


def _text(element: "Element") -> str:
    return "".join(map(str, element.itertext()))
