"""Finished records as MARC, which library systems load: whole ones, or put into a library's own.

Which fields a machine filled is said in fields 883, "Metadata Provenance"
(https://www.loc.gov/marc/bibliographic/bd883.html). Initial articles, which are ignored in sorting,
are those of Appendix F of MARC 21 (https://www.loc.gov/marc/bibliographic/bdapndxf.html).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from hdbench.benchmarks.authority_files import Identifiers
from hdbench.collections.records.fields import MadeFields, Written, make_fields
from hdbench.collections.records.finished_records import (
    FinishedRecord,
    LeftList,
    WrittenRecords,
    finished_records,
)
from hdbench.collections.records.mapping import ARTICLE, MAIN_ENTRY, POSITIONS, RecordMapping
from hdbench.collections.trust.folder import read_applied, read_begun
from hdbench.common.progress import progress
from hdbench.errors import Message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MARC = "http://www.loc.gov/MARC21/slim"

MARC_FILE = "records.xml"
"""The records."""

NO_TITLE = Message("no title (field 245), which each MARC record must have")
TITLE_OPEN = Message("the title (field 245) is still open")
TOO_LARGE = Message("larger than a MARC record can be")
TOO_LONG = Message("longer than a field of MARC can be")
NO_CODE = Message("not what this part of field 008 or of the leader can be")

TITLE = "245"

MAX_FIELD = 9_900
"""Maximum number of bytes in a field: 9,999, less some for links to fields 883."""

MAX_RECORD = 95_000
"""Maximum number of bytes in a record: 99,999, less some for fields 883."""

ENTRY = 12
"""The number of bytes that a field has in a record's directory."""

_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")

PROVENANCE = "883"
FULLY, PARTIALLY = "0", "1"
"""First indicators of field 883: all of a field, or a part of it, was made by a machine."""

ARTICLES: Mapping[str, Sequence[str]] = {
    "dut": ("de", "een", "eene", "het"),
    "eng": ("a", "an", "the"),
    "fre": ("l'", "la", "le", "les", "un", "une"),
    "ger": (
        *("das", "dem", "den", "der", "des", "die"),
        *("ein", "eine", "einem", "einen", "einer", "eines"),
    ),
    "ita": ("gl'", "gli", "i", "il", "l'", "la", "le", "li", "lo", "un", "un'", "una", "uno"),
    "por": ("a", "as", "o", "os", "um", "uma"),
    "spa": ("el", "la", "las", "lo", "los", "un", "una"),
}
"""MARC's code of a language → its articles."""

MAX_NONFILING = 9
"""Maximum number that an indicator can say."""

_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)(['’])?")
_NOT_FILED = re.compile(r"\A[\W_]*")


class Process(NamedTuple):
    """A process by which values were made.

    Attributes:
        name: of the process.
        confidence: 0.0 to 1.0, higher is better; None if it is not known.
        date: as yyyymmdd.
    """

    name: str
    confidence: float | None
    date: str

    def provenance(self, link: str) -> list[tuple[str, str]]:
        r"""Return the subfields of a field 883 about it.

        Args:
            link: what links a field to it, such as `1\p`.
        """
        sure = [] if self.confidence is None else [("c", f"{self.confidence:g}")]
        return [("8", link), ("a", self.name), *sure, ("d", self.date)]


class MarcField(NamedTuple):
    """A field of a record.

    Attributes:
        tag: the field. A control field has one subfield without a code.
        indicators: its indicators.
        subfields: codes and texts.
        names: the fields of the ground truth whose values are in it.
        by: the processes that made these; None stands for people.
    """

    tag: str
    indicators: list[str]
    subfields: list[tuple[str, str]]
    names: list[str]
    by: list[Process | None]

    def __str__(self) -> str:
        """Return it as cataloguers write it, without links to fields 883."""
        parts = "".join(f"${code}{text}" for code, text in self.subfields if code != "8")
        return f"{''.join(self.indicators).replace(' ', '#')} {parts}"


class MarcParts(NamedTuple):
    """What a record is made of.

    Attributes:
        positions: characters of the leader and of field 008.
        coded: the fields of the ground truth whose values are only there.
        fields: all other fields, by tag.
        left: values that are not in it, and why.
    """

    positions: dict[str, str]
    coded: set[str]
    fields: list[MarcField]
    left: dict[str, str]


def marc_parts(
    made: MadeFields, mapping: RecordMapping, origins: Mapping[str, Process]
) -> MarcParts:
    """Return what the record of an item is made of.

    Args:
        made: the fields that are made of its values.
        mapping: what goes where.
        origins: field → the process that made its value; fields that people filled are missing.
    """
    positions: dict[str, str] = {}
    fits: list[Written] = []
    left: dict[str, str] = {}
    for each in made.written:
        if each.target not in POSITIONS:
            is_short = _length(each.subfields) <= MAX_FIELD
            fits += [each] if is_short else []
            left |= {} if is_short else dict.fromkeys(each.names, TOO_LONG)
        elif each.target not in positions and (code := _code(each.target, each.text)):
            positions[each.target] = code
            fits.append(each)
        else:
            left |= dict.fromkeys(each.names, NO_CODE)
    there = {name for each in fits for name in each.names}
    left = {name: why for name, why in left.items() if name not in there or why is TOO_LONG}
    otherwise = {name: _code(name, text) for name, (_, text) in POSITIONS.items()}
    positions = otherwise | {"008/07-10": "nuuuuuuuu"} | positions
    language = positions["008/35-37"]
    languages = [language] if language in mapping.articles else mapping.articles
    has_main_entry = any(each.target.startswith("1") for each in fits)
    fields = []
    for each in sorted(fits, key=attrgetter("target")):
        if each.target in POSITIONS:
            continue
        tag, _, ends = each.target.partition("|")
        rules = {MAIN_ENTRY: str(int(has_main_entry)), "#": " "}
        if ARTICLE in ends:
            rules[ARTICLE] = str(nonfiling(each.subfields[0][1], languages))
        indicators = [rules.get(one, one) for one in re.findall(r"\{\w+\}|[^|]", ends or "##")]
        by = list(dict.fromkeys(map(origins.get, each.names)))
        fields.append(MarcField(tag, indicators, each.subfields, each.names, by))
    coded = there.difference(*(field.names for field in fields))
    return MarcParts(positions, coded, fields, made.left | left)


def _code(position: str, text: str) -> str:
    """Return a text as some characters of the leader or of 008; empty if they cannot be these.

    Example:
        >>> _code("008/07-10", "[1912?]"), _code("008/07-10", "1911-1912"), _code("008/15-17", "xx")
        ('s1912    ', '', 'xx ')
    """
    if position == "008/07-10":  # with the type of date before it
        years = _YEAR.findall(text)
        return f"s{years[0]}    " if len(years) == 1 else ""
    codes, otherwise = POSITIONS[position]
    fits = re.fullmatch(codes, text)
    return text.replace("#", " ").ljust(3) if fits and otherwise else ""


def nonfiling(title: str, languages: Iterable[str]) -> int:
    """Return the number of characters at the beginning of a title that sorting ignores.

    They are an article, what stands before it, and spaces and punctuation behind it. If there is
    no article, punctuation is not counted. This goes by words only, so that "A priori" begins with
    an article.

    Args:
        title: the title.
        languages: MARC's codes of the languages whose articles count.

    Example:
        >>> [nonfiling(title, ["ger", "fre"]) for title in ("Die Stadt", "L'âge", "[Zur] Stadt")]
        [4, 2, 0]
        >>> nonfiling('Das "neue" Recht', ["ger"])
        5
    """
    match = _FIRST_WORD.match(title)
    if not match:
        return 0
    word = (match[1] + (match[2] or "")).casefold().replace("’", "'")
    if not any(word in ARTICLES[language] for language in languages):
        return 0
    if not match[2] and not title[match.end() : match.end() + 1].isspace():
        return 0  # "A-Dur", "Des.", a title of nothing but an article
    count = len(title) - len(_NOT_FILED.sub("", title[match.end() :], count=1))
    return count if count <= MAX_NONFILING and count < len(title) else 0


def _length(subfields: Iterable[tuple[str, str]]) -> int:
    """Return the number of bytes of a field: subfields with their codes, indicators, its end."""
    return sum(len(text.encode()) + 2 for _, text in subfields) + 3


def made_of(
    record: FinishedRecord,
    mapping: RecordMapping,
    process: Process | None = None,
    identifiers: Identifiers | None = None,
) -> MarcParts | str:
    """Return what the record of an item is made of, or why there is none.

    Args:
        record: the item and its values.
        mapping: what goes where.
        process: the process that made the accepted values; None if that is not asked for.
        identifiers: identifiers of values, for which the mapping has places.

    Raises:
        HdbenchError: the id cannot be in a record.
    """
    made = make_fields(record, mapping, "marc", identifiers)
    if isinstance(made, str):
        return made
    accepted = (name for name, state in record.fields.items() if state["origin"] == "accepted")
    return marc_parts(made, mapping, dict.fromkeys(accepted, process) if process else {})


def why_none(parts: MarcParts, record: FinishedRecord, mapping: RecordMapping) -> str:
    """Return why no whole record can be made of its parts; empty if one can."""
    if all(field.tag != TITLE for field in parts.fields):
        entries = (each for target, each in mapping.marc.items() if target.startswith(TITLE))
        titles = {name for each in entries for entry in each for name in entry.template.fields}
        states = (record.fields.get(name, {}) for name in titles)
        return TITLE_OPEN if any(state.get("origin") == "open" for state in states) else NO_TITLE
    is_large = sum(_length(field.subfields) + ENTRY for field in parts.fields) > MAX_RECORD
    return TOO_LARGE if is_large else ""


def record_element(parts: MarcParts, item: str, entered: date) -> "Element":
    """Return a whole record in MARCXML.

    Fields 883 say which fields a process made, and how sure it was. A field counts as partly made
    by a process if some of its values come from people or from another process.

    Args:
        parts: what it is made of.
        item: the item's id: the control number (001) if there is a 003, which says whose it is.
        entered: the date on which the record is made.
    """
    from lxml import etree  # noqa: PLC0415  of an extra

    at = parts.positions
    record = etree.Element(f"{{{MARC}}}record", nsmap={None: MARC})
    leader = f"00000{at['leader/05-09']}2200000{at['leader/17-19']}4500"
    etree.SubElement(record, f"{{{MARC}}}leader").text = leader
    elements = []
    if any(field.tag == "003" for field in parts.fields):
        elements.append(("001", _control_field(record, "001", item)))
    fixed = f"{at['008/07-10']}{at['008/15-17']}{at['008/18-34']}{at['008/35-37']} d"
    elements.append(("008", _control_field(record, "008", f"{entered:%y%m%d}{fixed}")))
    by_process: dict[tuple[str, Process], list[Element]] = {}
    for field in parts.fields:
        if field.tag < "010":
            element = _control_field(record, field.tag, field.subfields[0][1])
        else:
            element = _data_field(record, field.tag, field.indicators, field.subfields)
        elements.append((field.tag, element))
        for process in filter(None, field.by):
            by_process.setdefault((how_far(field.by), process), []).append(element)
    for number, ((how, process), those) in enumerate(by_process.items(), 1):
        link = rf"{number}\p"
        subfields = process.provenance(link)
        elements.append((PROVENANCE, _data_field(record, PROVENANCE, [how, " "], subfields)))
        for element in those:
            element.insert(0, _subfield(record, "8", link))
    record.extend(element for _, element in sorted(elements, key=itemgetter(0)))
    return record


def how_far(processes: Collection[object]) -> str:
    """Return the first indicator of fields 883 about all processes, or people, of a field."""
    return FULLY if len(processes) == 1 else PARTIALLY


def _control_field(record: "Element", tag: str, text: str) -> "Element":
    field = record.makeelement(f"{{{MARC}}}controlfield", {"tag": tag})
    field.text = text
    return field


def _data_field(
    record: "Element", tag: str, indicators: Sequence[str], subfields: Iterable[tuple[str, str]]
) -> "Element":
    attributes = {"tag": tag, "ind1": indicators[0], "ind2": indicators[1]}
    field = record.makeelement(f"{{{MARC}}}datafield", attributes)
    field.extend(_subfield(record, code, text) for code, text in subfields)
    return field


def _subfield(record: "Element", code: str, text: str) -> "Element":
    subfield = record.makeelement(f"{{{MARC}}}subfield", {"code": code})
    subfield.text = text
    return subfield


@contextmanager
def marc_collection(file: BinaryIO) -> "Iterator[Callable[[Element], None]]":
    """Begin a file of MARCXML, and give a function that writes a record into it at once."""
    from lxml import etree  # noqa: PLC0415  of an extra

    with etree.xmlfile(file, encoding="UTF-8", buffered=False) as xml:
        xml.write_declaration()
        with xml.element(f"{{{MARC}}}collection", nsmap={None: MARC}):

            def write(record: "Element") -> None:
                record.tail = "\n"
                xml.write(record)

            yield write


def write_marc(
    records: Path,
    folder: Path,
    *,
    applied: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Write the records of `hdbench trust finish` as MARCXML.

    Args:
        records: the records of `hdbench trust finish`.
        folder: the folder that gets `MARC_FILE`, and the list of what is not in it.
        applied: the folder of `hdbench trust apply`.
        mapping: what goes where.
        identifiers: identifiers of values, for which the mapping has places.

    Raises:
        HdbenchError: an id cannot be in a record.
    """
    process, day, items = process_of(applied)
    path = folder / MARC_FILE
    with LeftList(path) as left, path.open("wb") as file, marc_collection(file) as write:
        for record in progress(finished_records(records), "Writing the records", items):
            parts = made_of(record, mapping, process, identifiers)
            why = parts if isinstance(parts, str) else why_none(parts, record, mapping)
            if isinstance(parts, str) or why:
                left.item(record.item, why)
            else:
                write(record_element(parts, record.item, day))
                left.values(record, parts.left)
    return left.written


def process_of(folder: Path) -> tuple[Process, date, int]:
    """Return the process that made the accepted values, the day on which it did, and of how many.

    Args:
        folder: the folder of `hdbench trust apply`.
    """
    applied = read_applied(folder)
    plan, _ = read_begun(folder)
    day = date.fromisoformat(applied.finished[:10])
    name = f"hdbench trust, plan {plan.hash()}"
    return Process(name, round(1 - plan.limit, 6), f"{day:%Y%m%d}"), day, applied.items
