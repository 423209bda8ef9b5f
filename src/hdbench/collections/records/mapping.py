"""What of a finished record goes where: one grammar for MARC, Dublin Core and CSV.

`cards.yaml` beside this module, the mapping for the cards of zettelkatalog, describes it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from hdbench.benchmarks.authority_files import IDENTIFIER, identified
from hdbench.common.validation import Strict, read_plain_yaml, unfit, validate
from hdbench.errors import HdbenchError

CARDS = Path(__file__).with_name("cards.yaml")
"""The mapping for the cards of zettelkatalog."""

ITEM = "id"
"""What stands for the item's id in a text."""

MappedForm = Literal["marc", "dublin-core", "csv"]
"""The parts of a mapping: a form of records each."""

ELEMENTS = (
    *("title", "creator", "subject", "description", "publisher", "contributor", "date", "type"),
    *("format", "identifier", "source", "language", "relation", "coverage", "rights"),
)
"""The elements of Dublin Core."""

MAIN_ENTRY, ARTICLE = "{main}", "{article}"
"""Indicators by rule: 1 if there is a main entry (a field 1XX), otherwise 0; and the number of
characters that sorting ignores."""

POSITIONS = {
    "leader/05-09": ("[acdnp][acdefgijkmoprt][abcdims][#a]a", "nam#a"),
    "leader/17-19": ("[#1-578uz][#acinu][#abc]", "7i#"),
    "008/07-10": (".*", ""),
    "008/15-17": ("[a-z]{2,3}", "xx"),
    "008/18-34": ("[#|0-9a-z]{17}", "|||||#||||||||#||"),
    "008/35-37": ("[a-z]{3}", "und"),
}
"""Characters of the leader and of field 008 → what they can be, and what they are otherwise."""

_TARGET = re.compile(
    r"(?P<tag>(?!00)[0-9]{3})(?:\|(?P<first>[#0-9a-z]|\{main\}|\{article\})"
    r"(?P<second>[#0-9a-z]|\{main\}|\{article\})\|)?|00[37]"
)
_SUBFIELD = re.compile(r"\$(?=[0-9a-z])")
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{(?P<field>[^{}\[\]]+)\}|(?P<sign>[\[\]{}])|[^\[\]{}]+")
_PUNCTUATION = re.compile(r"(?:\s[:;=/+]|[,.])\s*\Z")
"""Prescribed punctuation of ISBD at the end of a text, which belongs to what follows."""

_FULL_STOP = re.compile(r"\.\s*\Z")

ValueOf = Callable[[str], str]
"""Field, or field with `IDENTIFIER` → its text, empty if it has none."""


class TextPiece(NamedTuple):
    """A part of a text.

    Attributes:
        group: the number of the part in brackets that it belongs to; 0 for none.
        text: the text, if it is no field.
        field: the field; empty for none.
    """

    group: int
    text: str = ""
    field: str = ""


class SubfieldTemplate(NamedTuple):
    """Template of a subfield, or of a whole text.

    Attributes:
        code: the subfield; empty for a text.
        before: punctuation that is written at the end of the subfield before it.
        pieces: its parts.
    """

    code: str
    before: str
    pieces: tuple[TextPiece, ...]

    @property
    def fields(self) -> list[str]:
        """The fields whose values are written."""
        return [piece.field for piece in self.pieces if piece.field]

    def filled(self, value_of: ValueOf) -> tuple[str, list[str]]:
        """Return the text with values, and whose they are; empty if there is none but in brackets.

        Example:
            >>> template = read_template("{name}, {role}[ ({year})].").subfields[0]
            >>> template.filled({"name": "", "role": "Hg.", "year": "1912"}.__getitem__)[0]
            'Hg. (1912).'
            >>> template.filled({"name": "Meier", "role": "", "year": ""}.__getitem__)[0]
            'Meier.'
        """
        outside = [piece.field for piece in self.pieces if piece.field and not piece.group]
        if self.fields and not any(map(value_of, outside or self.fields)):
            return "", []
        text = between = ""
        names: list[str] = []
        is_first = True
        for group, pieces in groupby(self.pieces, lambda piece: piece.group):
            parts = list(pieces)
            if group:
                fields = [piece.field for piece in parts if piece.field]
                text, between = text + between, ""
                if all(map(value_of, fields)):
                    text += "".join(piece.text or value_of(piece.field) for piece in parts)
                    names += fields
                continue
            for piece in parts:
                if not piece.field:
                    between += piece.text
                    continue
                if value := value_of(piece.field):
                    # A text between two values stands only where there are two.
                    text += (between if text or is_first else "") + value
                    names.append(piece.field)
                between, is_first = "", False
        return text + between, names


class Template(NamedTuple):
    """What is written at a target: subfields of MARC, or one text.

    Attributes:
        subfields: its subfields; one without a code is a text.
        end: punctuation at its end.
    """

    subfields: tuple[SubfieldTemplate, ...]
    end: str = ""

    @property
    def fields(self) -> list[str]:
        """The fields whose values are written."""
        return [field for subfield in self.subfields for field in subfield.fields]

    @property
    def joined(self) -> set[str]:
        """The fields whose values share a subfield with others, such as the parts of a name."""
        shared = (subfield.fields for subfield in self.subfields if len(subfield.fields) > 1)
        return set().union(*shared)

    def filled(self, value_of: ValueOf) -> tuple[list[tuple[str, str]], list[str]]:
        """Return codes and texts, and whose values are in them; none without any value of many.

        Example:
            >>> template = read_template("$a{place} : $b{publisher}, $c{year}")
            >>> template.filled({"place": "Basel", "publisher": "", "year": "1912"}.__getitem__)
            ([('a', 'Basel,'), ('c', '1912')], ['place', 'year'])
            >>> read_template("$a{title} : $b.").filled({"title": "Die Stadt : Roman"}.__getitem__)
            ([('a', 'Die Stadt :'), ('b', 'Roman.')], ['title'])
        """
        written: list[tuple[str, str]] = []
        names: list[str] = []
        if self.fields and not any(map(value_of, self.fields)):
            return written, names
        for subfield in self.subfields:
            used: list[str] = []
            if (
                not subfield.pieces and written
            ):  # what stands behind its punctuation in the one before
                head, text = _divided(written[-1][1], subfield.before)
                written[-1] = (written[-1][0], head)
            else:
                text, used = subfield.filled(value_of)
            if not text:
                continue
            if written and subfield.before:
                written[-1] = (written[-1][0], _with_end(written[-1][1], subfield.before))
            written.append((subfield.code, text))
            names += used
        if self.end and written:
            written[-1] = (written[-1][0], _with_end(written[-1][1], self.end))
        return written, names


def read_template(text: Any) -> Template:
    """Return the template that a text describes.

    Raises:
        PydanticCustomError: it does not describe any.
    """
    if not isinstance(text, str) or not text.strip():
        raise unfit("must be a text such as {example!r}", example="{title}")
    if not _SUBFIELD.match(text):
        return Template((SubfieldTemplate("", "", tuple(_pieces(text.strip()))),))
    _, *parts = _SUBFIELD.split(text)
    subfields: list[SubfieldTemplate] = []
    before = ""
    for number, part in enumerate(parts, 1):
        content = part[1:]
        found = (_PUNCTUATION if number < len(parts) else _FULL_STOP).search(content)
        pieces = tuple(_pieces((content[: found.start()] if found else content).strip()))
        if not pieces and not before:
            raise unfit("{text!r}: subfield ${code} is empty", text=text, code=part[0])
        subfields.append(SubfieldTemplate(part[0], before, pieces))
        before = found[0].rstrip() if found else ""
    return Template(tuple(subfields), before)


def _pieces(text: str) -> Iterator[TextPiece]:
    group = groups = 0
    for token in _TOKEN.finditer(text):
        if token["field"]:
            yield TextPiece(group, field=token["field"])
        elif token["sign"] == "[" and not group:
            groups += 1
            group = groups
        elif token["sign"] == "]" and group:
            group = 0
        elif token["sign"]:
            break
        else:
            doubled = token[0] in {"{{", "}}", "[[", "]]"}
            yield TextPiece(group, text=token[0][0] if doubled else token[0])
    else:
        if not group:
            return
    raise unfit(
        "{text!r}: a bracket or brace without its counterpart, or one within another; those that "
        "are meant as such are written twice",
        text=text,
    )


def _divided(text: str, punctuation: str) -> tuple[str, str]:
    """Return what stands in a text before and behind punctuation; all before if it has none."""
    parts = re.split(rf"{re.escape(punctuation)}\s+", text, maxsplit=1)
    if len(parts) == 1 or not (parts[0].strip() and parts[1].strip()):
        return text, ""
    return parts[0].rstrip(), parts[1].strip()


def _with_end(text: str, punctuation: str) -> str:
    """Return a text with punctuation at its end, once.

    Example:
        >>> _with_end("Basel :", " :"), _with_end("Springfield, Ill.", ".")
        ('Basel :', 'Springfield, Ill.')
    """
    return text if text.endswith(punctuation.strip()) else text + punctuation


Text = Annotated[str, Field(min_length=1)]
Folded = Annotated[str, AfterValidator(str.casefold)]
Condition = dict[str, list[Folded]]
"""Field → the values of which it must have one, case-folded."""


class Entry(Strict):
    """What is written at a target: for each entry of the first field in it, if that is a list.

    Attributes:
        template: the text.
        when: when it is written.
        split: what the first field's text is divided by, as if it were a list.
        without: the entries of that field that are not written.
        codes: values, case-folded, and what is written for them.
        language: the language that it is in (Dublin Core); empty if that is not said.
    """

    template: Annotated[Template, PlainValidator(read_template), Field(alias="text")]
    when: Condition = Field({})
    split: Text | None = None
    without: re.Pattern[str] | None = None
    codes: dict[Folded, Text] = Field({})
    language: Annotated[str, Field(pattern="^([a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*)?$")] = ""


Entries = Annotated[
    list[
        Annotated[
            Entry, BeforeValidator(lambda one: one if isinstance(one, dict) else {"text": one})
        ]
    ],
    BeforeValidator(lambda given: given if isinstance(given, list) else [given]),
]
Targets = dict[str, list[Entry]]


def _marc(targets: Targets) -> Targets:
    """Refuse what is no field of MARC."""
    for target, entries in targets.items():
        if target not in POSITIONS and not _TARGET.fullmatch(target):
            raise unfit("{shown!r} is not a field such as 245|10|, 007 or 008/35-37", shown=target)
        if target in POSITIONS or target < "010":
            _texts({target: entries})
        elif not all(entry.template.subfields[0].code for entry in entries):
            raise unfit("{target}: needs a subfield, such as $a{{title}}", target=target)
        codes, example = POSITIONS.get(target, (".*", ""))
        for entry in entries:
            text = "" if entry.template.fields else entry.template.filled(str)[0][0][1]
            if text and not re.fullmatch(codes, text):
                raise unfit(
                    "{target}: is not codes such as {example}", target=target, example=example
                )
    return targets


def _texts(targets: Targets) -> Targets:
    """Refuse subfields where there are none."""
    for target, entries in targets.items():
        if any(entry.template.subfields[0].code for entry in entries):
            raise unfit("{target}: must be a text without subfields", target=target)
    return targets


def _elements(targets: Targets) -> Targets:
    """Refuse what is no element of Dublin Core."""
    for target in targets.keys() - ELEMENTS:
        raise unfit("{target}: must be one of {names}", target=target, names=", ".join(ELEMENTS))
    return _texts(targets)


class RecordMapping(Strict):
    """What of a finished record goes where.

    Attributes:
        marc: fields of MARC.
        dublin_core: elements of Dublin Core.
        csv: columns of a table.
        leave_out: why no record is made of an item, and when.
        capitals: the fields with names; one in capitals is written with small letters.
        articles: MARC's codes of the languages whose articles are ignored in sorting.
        replace: tags of fields of MARC that are replaced in records that a library has already.
    """

    marc: Annotated[dict[str, Entries], AfterValidator(_marc)] = Field({})
    dublin_core: Annotated[
        dict[str, Entries], AfterValidator(_elements), Field(alias="dublin-core")
    ] = Field({})
    csv: Annotated[dict[Text, Entries], AfterValidator(_texts)] = Field({})
    leave_out: dict[Text, Condition] = Field({})
    capitals: list[Text] = Field([])
    articles: list[Literal["dut", "eng", "fre", "ger", "ita", "por", "spa"]] = Field([])
    replace: list[Annotated[str, Field(pattern="^[0-9]{3}$")]] = Field([])

    def part(self, form: MappedForm) -> Targets:
        """Return what goes where in a form."""
        return {"marc": self.marc, "dublin-core": self.dublin_core, "csv": self.csv}[form]

    def entries(self, form: MappedForm) -> list[Entry]:
        """Return all that is written in a form."""
        return [entry for entries in self.part(form).values() for entry in entries]

    def conditions(self, form: MappedForm) -> set[str]:
        """Return the fields that decide what is written in a form."""
        conditions = (*self.leave_out.values(), *(entry.when for entry in self.entries(form)))
        return {name for when in conditions for name in when}

    def identified(self, form: MappedForm) -> set[str]:
        """Return the fields whose identifiers have a place."""
        return identified(name for entry in self.entries(form) for name in entry.template.fields)


def read_mapping(path: Path, form: MappedForm, fields: Iterable[str]) -> RecordMapping:
    """Return a mapping from a file; `cards.yaml` beside this module describes it.

    Args:
        path: the file.
        form: the part that is wanted.
        fields: the fields that records may have.

    Raises:
        HdbenchError: it is unusable; the message says which key.
    """
    mapping = validate(RecordMapping, read_plain_yaml(path), path)
    if not mapping.part(form):
        raise HdbenchError(
            "{place}: has no part {part}: say in it what goes where, as in {example}",
            place=path,
            part=form,
            example=CARDS,
        )
    known = [ITEM, *fields]
    used = {name for entry in mapping.entries(form) for name in entry.template.fields}
    for name in sorted(used | mapping.conditions(form)):
        field = name.removesuffix(IDENTIFIER)
        if not any(field == each or field.startswith(f"{each}.") for each in known):
            raise HdbenchError(
                "{place}: {field}: no such field: choose one of {names}, or another --mapping",
                place=path,
                field=name,
                names=", ".join(sorted(known)),
            )
    return mapping
