r"""PICA+, the form of K10plus and other German-speaking union catalogues, as lines of text.

By the descriptions that GBV publishes (https://format.gbv.de/pica). PICA Plain has a field in each
line, and an empty line behind each record; normalized PICA has a record in each line:

    021A $aDie Stadt$dRoman                         (a dollar sign in a value is $$)
    021A \x1faDie Stadt\x1fdRoman\x1e028A \x1faMeier\x1e

What is read can be written again byte for byte, unless lines end in CR LF, the file begins with a
byte order mark, or more or fewer than one empty line stands behind a record. PICA XML is in
`pica_xml.py`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from hdbench.errors import HdbenchError, Message

MAX_RECORD = 8 * 2**20
"""Maximum number of bytes of a record; the largest have some 100 kB."""

MAX_SUBFIELDS = 100_000
"""Maximum number of subfields in a record, and so of fields, each of which has one."""

DOLLAR, SUBFIELD, END_OF_FIELD = "$", "\x1f", "\x1e"

ITEM_LEVEL = "2"
"""First digit of the tags of fields about single copies, which always have an occurrence."""

_MARK = b"\xef\xbb\xbf"
_SHOWN = 20
"""Maximum number of characters that a message shows of what is wrong."""

_TAG = re.compile("[012][0-9]{2}[A-Z@]")
_OCCURRENCE = re.compile("(?:[0-9]{2})?")
_ITEM_OCCURRENCE = re.compile("[0-9]{2,3}")
_CODE = re.compile("[0-9A-Za-z]")
_UNWRITABLE = re.compile("[\n\r\x1e\x1f\ud800-\udfff]")
_SEPARATORS = re.compile("[\r\x1e\x1f]")


class PicaField(NamedTuple):
    """A field of a record.

    Attributes:
        tag: such as `021A`; its first digit is its level: title, library, copy.
        occurrence: two digits, on level 2 also three; empty if it has none.
        subfields: code and value, in their order, at least one.
    """

    tag: str
    occurrence: str
    subfields: tuple[tuple[str, str], ...]


PicaRecord = list[PicaField]
"""A record: its fields in their order, at least one."""


def check_record(record: Sequence[PicaField]) -> None:
    """Refuse a record that no form of PICA can have.

    Raises:
        ValueError: the message says why.
    """
    if not record:
        raise ValueError(Message("no fields"))
    if sum(len(field.subfields) for field in record) > MAX_SUBFIELDS:
        raise ValueError(too_many_subfields())
    for field in record:
        check_field(field)


def check_field(field: PicaField) -> None:
    """Refuse a field that no form of PICA can have.

    Raises:
        ValueError: the message says why.
    """
    tag, occurrence, subfields = field
    if not _TAG.fullmatch(tag):
        raise ValueError(Message("{shown!r} is not a tag such as 021A or 003@", shown=tag[:_SHOWN]))
    if tag[0] == ITEM_LEVEL and not _ITEM_OCCURRENCE.fullmatch(occurrence):
        raise ValueError(
            Message("{tag} must have an occurrence of two or three digits, as 209A/01 has", tag=tag)
        )
    if tag[0] != ITEM_LEVEL and not _OCCURRENCE.fullmatch(occurrence):
        raise ValueError(
            Message(
                "{tag}: {shown!r} is not an occurrence of two digits, as 028B/01 has",
                tag=tag,
                shown=occurrence[:_SHOWN],
            )
        )
    if not subfields:
        raise ValueError(Message("{tag} has no subfield", tag=tag))
    for code, value in subfields:
        if not _CODE.fullmatch(code):
            raise ValueError(
                Message(
                    "{tag}: {shown!r} is not the code of a subfield, a letter or digit",
                    tag=tag,
                    shown=code[:_SHOWN],
                )
            )
        if _UNWRITABLE.search(value):
            raise ValueError(
                Message("{tag}${code} has a line break or separator in it", tag=tag, code=code)
            )


def too_many_subfields() -> Message:
    """Return why a record with more than `MAX_SUBFIELDS` is refused."""
    return Message("more than {most:,} subfields in a record", most=MAX_SUBFIELDS)


def too_long() -> Message:
    """Return why a record with more than `MAX_RECORD` is refused."""
    return Message("a record larger than {most} MiB", most=MAX_RECORD >> 20)


def refusal(where: str, number: int, line: int, why: str) -> HdbenchError:
    """Return the error about a record in a file.

    Args:
        where: what messages call the file.
        number: of the record, from 1.
        line: where it is wrong.
        why: what is wrong.
    """
    return HdbenchError(
        "{place}: record {number}, line {line}: {why}: correct it, or export the file again",
        place=where,
        number=number,
        line=line,
        why=why,
    )


def read_plain(document: BinaryIO, where: str) -> Iterator[PicaRecord]:
    """Yield the records of PICA Plain, one after the other.

    Args:
        document: the file.
        where: what messages call it.

    Raises:
        HdbenchError: it is not PICA Plain in UTF-8; the message names record and line.
    """
    fields: PicaRecord = []
    number, size, subfields = 1, 0, 0
    for line, raw in _lines(document):
        size += len(raw)
        try:
            text = _text(raw, size)
            if not text:
                if fields:
                    yield fields
                    number += 1
                fields, size, subfields = [], 0, 0
                continue
            subfields += text.count(DOLLAR)
            _check_count(subfields)
            fields.append(plain_field(text))
        except ValueError as error:
            raise refusal(where, number, line, error.args[0]) from error
    if fields:
        yield fields


def read_normalized(document: BinaryIO, where: str) -> Iterator[PicaRecord]:
    """Yield the records of normalized PICA, one after the other; empty lines are passed over.

    Args:
        document: the file.
        where: what messages call it.

    Raises:
        HdbenchError: it is not normalized PICA in UTF-8; the message names record and line.
    """
    number = 1
    for line, raw in _lines(document):
        try:
            text = _text(raw, len(raw))
            if not text:
                continue
            _check_count(text.count(SUBFIELD))
            if not text.endswith(END_OF_FIELD):
                raise ValueError(Message("no end (1E) of the last field: is the file cut off?"))
            fields = [_normalized_field(part) for part in text[:-1].split(END_OF_FIELD)]
        except ValueError as error:
            raise refusal(where, number, line, error.args[0]) from error
        yield fields
        number += 1


def _lines(document: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each line, and the line; of one that is too long, its beginning."""
    number = 0
    while raw := document.readline(MAX_RECORD + 1):
        number += 1
        yield number, raw.removeprefix(_MARK) if number == 1 else raw


def _text(raw: bytes, size: int) -> str:
    """Return a line without its end.

    Args:
        raw: the line.
        size: the size of the record up to here.
    """
    if size > MAX_RECORD:
        raise ValueError(too_long())
    try:
        return raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(Message("not in UTF-8")) from error


def _check_count(subfields: int) -> None:
    if subfields > MAX_SUBFIELDS:
        raise ValueError(too_many_subfields())


def plain_field(text: str) -> PicaField:
    r"""Return the field in a line of PICA Plain.

    Raises:
        ValueError: it is not one; the message says why.

    Example:
        >>> plain_field("209A/01 $aA 12$x$d5 $$")
        PicaField(tag='209A', occurrence='01', subfields=(('a', 'A 12'), ('x', ''), ('d', '5 $')))
    """
    if _SEPARATORS.search(text):
        raise ValueError(Message("separators of normalized PICA in a line of PICA Plain"))
    # What stands for a dollar sign must be none of the separators that divide at dollar signs.
    start, *parts = text.replace("$$", END_OF_FIELD).split(DOLLAR)
    return _field(start, [part.replace(END_OF_FIELD, DOLLAR) for part in parts], text)


def _normalized_field(text: str) -> PicaField:
    start, *parts = text.split(SUBFIELD)
    return _field(start, parts, text)


def _field(start: str, parts: Sequence[str], text: str) -> PicaField:
    """Return a field.

    Args:
        start: what stands before its first subfield.
        parts: its subfields, each with its code.
        text: all of it.
    """
    if not start.endswith(" ") or not parts:
        raise ValueError(
            Message("{shown!r} is not a field such as 021A $aTitel", shown=text[:_SHOWN])
        )
    tag, slash, occurrence = start[:-1].partition("/")
    if slash and not occurrence:
        raise ValueError(
            Message("{shown!r} has no occurrence after the slash", shown=start[:_SHOWN])
        )
    field = PicaField(tag, occurrence, tuple((part[:1], part[1:]) for part in parts))
    check_field(field)
    return field


def to_plain(record: Sequence[PicaField]) -> bytes:
    r"""Return a record in PICA Plain, with the empty line that ends it.

    Raises:
        ValueError: it is not a record of PICA; the message says why.

    Example:
        >>> to_plain([PicaField("033A", "", (("p", "Basel"), ("n", "$chwabe")))])
        b'033A $pBasel$n$$chwabe\n\n'
    """
    check_record(record)
    lines = []
    for field in record:
        parts = "".join(f"${code}{value.replace(DOLLAR, '$$')}" for code, value in field.subfields)
        lines.append(f"{_start(field)} {parts}\n")
    return f"{''.join(lines)}\n".encode()


def to_normalized(record: Sequence[PicaField]) -> bytes:
    r"""Return a record in normalized PICA.

    Raises:
        ValueError: it is not a record of PICA; the message says why.

    Example:
        >>> to_normalized([PicaField("028B", "01", (("a", "Meier"),))])
        b'028B/01 \x1faMeier\x1e\n'
    """
    check_record(record)
    parts = []
    for field in record:
        subfields = "".join(f"{SUBFIELD}{code}{value}" for code, value in field.subfields)
        parts.append(f"{_start(field)} {subfields}{END_OF_FIELD}")
    return f"{''.join(parts)}\n".encode()


def _start(field: PicaField) -> str:
    return f"{field.tag}/{field.occurrence}" if field.occurrence else field.tag
