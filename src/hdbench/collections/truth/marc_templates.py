"""How whole MARC records are made: the part `new_records` of a mapping.

`marc_zettelkatalog.yaml` beside this module describes the form. Initial articles, which are ignored
in sorting, are those of Appendix F of MARC 21 (https://www.loc.gov/marc/bibliographic/bdapndxf.html).
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from hdbench.benchmarks.authority_files import identified
from hdbench.common.validation import Strict, unfit, validate
from hdbench.errors import Message

CARD_CATALOGUE = Path(__file__).with_name("marc_zettelkatalog.yaml")
"""The mapping for the cards of zettelkatalog."""

NO_KIND = Message("no kind of record in the mapping fits it")
KIND_OPEN = Message("whether and how a record is made depends on a value that is still open")

_CODE = re.compile("[a-z]{2,3}")

ARTICLES = {
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

MAIN_ENTRY, ARTICLE = "{main}", "{article}"
"""Indicators by rule: 1 if there is a main entry (a field 1XX), otherwise 0; and the number of
characters that sorting ignores."""

_FIELD = re.compile(
    r"(?P<tag>[0-9]{3})(?:\|(?P<first>[#0-9a-z]|\{main\}|\{article\})"
    r"(?P<second>[#0-9a-z]|\{main\}|\{article\})\|)?(?P<subfields>\$[0-9a-z].*)"
)
_CONTROL_FIELD = re.compile(r"(?P<tag>00[37]) (?P<text>[^${}]+)")
_SUBFIELD = re.compile(r"\$(?=[0-9a-z])")
_VALUE = re.compile(r"\{([^{}]+)\}")
_PUNCTUATION = re.compile(r"(?:\s[:;=/+]|[,.])\s*\Z")
"""Prescribed punctuation of ISBD at the end of a text, which belongs to what follows."""

_FULL_STOP = re.compile(r"\.\s*\Z")


class SubfieldTemplate(NamedTuple):
    """Template of a subfield.

    Attributes:
        code: the subfield.
        before: punctuation that is written at the end of the subfield before it.
        fields: fields of the ground truth whose values are written.
        texts: texts before, between and after the values: one more than there are values.
    """

    code: str
    before: str
    fields: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def is_rest(self) -> bool:
        """Whether it gets what stands behind its punctuation in the value before."""
        return self.texts == ("",) and bool(self.before)

    def filled(self, value_of: Callable[[str], str]) -> str:
        """Return the text with values, empty if it has fields and none of them has a value."""
        if not self.fields:
            return self.texts[0]
        text = ""
        for number, field in enumerate(self.fields):
            value = value_of(field)
            if value:
                # A text between two values stands only where there are two.
                text += (self.texts[number] if text or not number else "") + value
        return text + self.texts[-1] if text else ""


class FieldTemplate(NamedTuple):
    """Template of a field.

    Attributes:
        tag: the field. A control field has one subfield without a code.
        indicators: two of `#`, a digit or letter, `MAIN_ENTRY` and `ARTICLE`.
        subfields: its subfields.
        end: punctuation at its end.
        each: a list in the ground truth, for each entry of which the field is written.
        split: what the entries are divided by, if it is a text.
        without: the entries that are not written.
    """

    tag: str
    indicators: tuple[str, str]
    subfields: tuple[SubfieldTemplate, ...]
    end: str
    each: str | None = None
    split: str | None = None
    without: re.Pattern[str] | None = None

    @property
    def fields(self) -> list[str]:
        """The fields of the ground truth whose values are written."""
        return [field for subfield in self.subfields for field in subfield.fields]

    @property
    def joined(self) -> set[str]:
        """The fields whose values share a subfield with others, such as the parts of a name."""
        shared = (subfield.fields for subfield in self.subfields if len(subfield.fields) > 1)
        return set().union(*shared)

    def filled(self, value_of: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return the subfields with values; none if the field has fields without any value."""
        if self.fields and not any(map(value_of, self.fields)):
            return []
        written: list[tuple[str, str]] = []
        for subfield in self.subfields:
            if subfield.is_rest and written:
                head, text = _divided(written[-1][1], subfield.before)
                written[-1] = (written[-1][0], head)
            else:
                text = subfield.filled(value_of)
            if not text:
                continue
            if written and subfield.before:
                written[-1] = (written[-1][0], _with_end(written[-1][1], subfield.before))
            written.append((subfield.code, text))
        if self.end and written:
            written[-1] = (written[-1][0], _with_end(written[-1][1], self.end))
        return written


def read_template(text: str) -> FieldTemplate | None:
    """Return the template that a text describes; None if it does not describe any.

    Example:
        >>> template = read_template("264|#1|$a{place} : $b{publisher}, $c{year}")
        >>> template.filled({"place": "Basel", "publisher": "", "year": "1912"}.__getitem__)
        [('a', 'Basel,'), ('c', '1912')]
        >>> template = read_template("245$a{title} : $b.")
        >>> template.filled({"title": "Die Stadt : Roman"}.__getitem__)
        [('a', 'Die Stadt :'), ('b', 'Roman.')]
    """
    match = _CONTROL_FIELD.fullmatch(text)
    if match:
        text = match["text"].strip()
        subfield = SubfieldTemplate("", "", (), (text,))
        return FieldTemplate(match["tag"], ("#", "#"), (subfield,), end="")
    match = _FIELD.fullmatch(text)
    if not match or match["tag"] < "010":
        return None
    _, *pieces = _SUBFIELD.split(match["subfields"])
    subfields: list[SubfieldTemplate] = []
    before = ""
    for number, piece in enumerate(pieces, 1):
        content, behind = _parted(piece[1:], _PUNCTUATION if number < len(pieces) else _FULL_STOP)
        values = _VALUE.split(content)
        fields, texts = tuple(values[1::2]), tuple(values[::2])
        is_empty = not content and not before
        if is_empty or any("{" in text or "}" in text for text in texts):
            return None
        subfields.append(SubfieldTemplate(piece[0], before, fields, texts))
        before = behind
    indicators = (match["first"] or "#", match["second"] or "#")
    return FieldTemplate(match["tag"], indicators, tuple(subfields), end=before)


def _parted(text: str, punctuation: re.Pattern[str]) -> tuple[str, str]:
    """Return a text without the punctuation at its end, and that punctuation."""
    match = punctuation.search(text)
    if not match:
        return text.strip(), ""
    return text[: match.start()].strip(), match[0].rstrip()


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


def _codes(pattern: str, example: str) -> AfterValidator:
    """Return what refuses other codes than such as an example, and reads # as a blank."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise unfit("{shown!r} is not codes such as {example}", shown=value, example=example)
        return value.replace("#", " ")

    return AfterValidator(check)


def _checked_article(language: str) -> str:
    if language not in ARTICLES:
        names = ", ".join(ARTICLES)
        raise unfit("{shown!r} is not one of the languages {names}", shown=language, names=names)
    return language


def _template(text: Any) -> FieldTemplate:
    template = read_template(text) if isinstance(text, str) else None
    if template is None:
        example = "'245|10|$a{publication.title}.'"
        raise unfit("{shown!r} is not a field such as {example}", shown=str(text), example=example)
    return template


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        return re.compile(str(text))
    except re.error as error:
        raise unfit(
            "{shown!r} is not a regular expression ({why})", shown=str(text), why=error
        ) from error


Text = Annotated[str, Field(min_length=1)]
Folded = Annotated[str, AfterValidator(str.casefold)]
MarcCode = Annotated[str, _codes(_CODE.pattern, "sz or und")]


class Code(Strict):
    """A code in field 008.

    Attributes:
        field: the field of the ground truth that it comes from; None if it is always the same.
        codes: the field's values, case-folded, and their codes; empty if the values are codes.
        otherwise: the code if there is none for the value.
    """

    field: Text | None = None
    codes: dict[Folded, MarcCode] = Field({})
    otherwise: MarcCode

    def code(self, value: str) -> str:
        """Return the code of a value, in three characters."""
        if self.codes:
            code = self.codes.get(value.casefold(), self.otherwise)
        else:
            code = value if _CODE.fullmatch(value) else self.otherwise
        return code.ljust(3)


def _or(unknown: str) -> BeforeValidator:
    """Return what makes a code of a text, and gives one without `otherwise` the unknown code."""
    return BeforeValidator(
        lambda value: (
            {"otherwise": unknown, **value} if isinstance(value, dict) else {"otherwise": value}
        )
    )


class Fixed(Strict):
    """Field 008, "Fixed-Length Data Elements" (https://www.loc.gov/marc/bibliographic/bd008.html).

    Attributes:
        date: the field of the ground truth with the year of publication; None if there is none.
        place: the code of the place.
        language: the code of the language.
    """

    date: Text | None = None
    place: Annotated[Code, _or("xx")] = Code(codes={}, otherwise="xx")
    language: Annotated[Code, _or("und")] = Code(codes={}, otherwise="und")


class Entry(Strict):
    """A field as the mapping has it; see `FieldTemplate`."""

    field: Annotated[Any, AfterValidator(_template)]
    each: Text | None = None
    split: Text | None = None
    without: Annotated[Any, AfterValidator(_pattern)] = None

    @property
    def template(self) -> FieldTemplate:
        """Return its template."""
        template: FieldTemplate = self.field
        return template._replace(each=self.each, split=self.split, without=self.without)

    @model_validator(mode="after")
    def _has_each(self) -> Self:
        if self.each is None and (self.split or self.without):
            raise unfit("split: and without: need each:")
        return self


Entries = list[
    Annotated[
        Entry, BeforeValidator(lambda each: each if isinstance(each, dict) else {"field": each})
    ]
]


class Kind(Strict):
    """A kind of record.

    Attributes:
        when: fields of the ground truth and the values that they must have, case-folded.
        leave_out: why no record is made; empty if one is made.
        status: characters 5 to 9 of the leader.
        level: characters 17 to 19 of the leader.
        material: characters 18 to 34 of field 008.
        own: fields that only records of this kind have.
    """

    when: dict[str, list[Folded]] = Field({})
    leave_out: str = ""
    status: Annotated[
        str, _codes("[acdnp][acdefgijkmoprt][abcdims][#a]a", "nam#a"), Field(alias="leader/05-09")
    ] = ""
    level: Annotated[
        str, _codes("[#1-578uz][#acinu][#abc]", "7i#"), Field(alias="leader/17-19")
    ] = ""
    material: Annotated[
        str, _codes("[#|0-9a-z]{17}", "|||||#m###||||#||"), Field(alias="008/18-34")
    ] = ""
    own: Annotated[Entries, Field(alias="fields")] = Field([])

    @property
    def leader(self) -> str:
        """Return the leader of a record."""
        return f"00000{self.status}2200000{self.level}4500"

    @model_validator(mode="after")
    def _is_left_out_or_made(self) -> Self:
        made = (self.status, self.level, self.material)
        if (self.leave_out and any((*made, self.own))) or not (self.leave_out or all(made)):
            raise unfit(
                "must have leave_out:, or leader/05-09:, leader/17-19:, 008/18-34: and may have "
                "fields:"
            )
        return self


class NewRecords(Strict):
    """How whole records are made.

    Attributes:
        kinds: the kinds of records, of which the first that fits is made.
        fixed: field 008.
        languages: MARC's codes of the languages whose articles are ignored in sorting.
        common: the fields of all kinds.
        capitals: the fields with names; one in capitals is written with small letters.
        replace: tags of fields that are replaced in records that a library has already.
    """

    kinds: list[Kind]
    fixed: Annotated[Fixed, Field(alias="008")]
    languages: Annotated[
        list[Annotated[str, AfterValidator(_checked_article)]], Field(alias="articles")
    ] = Field([])
    common: Annotated[Entries, Field(alias="fields")] = Field([])
    capitals: list[Text] = Field([])
    replace: list[Annotated[str, Field(pattern="[0-9]{3}")]] = Field([])

    def templates(self, kind: Kind) -> list[FieldTemplate]:
        """Return the templates of all fields of a kind but 001 and 008, by tag."""
        templates = [entry.template for entry in (*self.common, *kind.own)]
        return sorted(templates, key=lambda template: template.tag)

    @cached_property
    def used(self) -> set[str]:
        """Return the fields of the ground truth that go into records or decide about them."""
        used = {self.fixed.date, self.fixed.place.field, self.fixed.language.field}
        for kind in self.kinds:
            used.update(kind.when)
            for template in self.templates(kind):
                used.update((*template.fields, template.each))
        return {name for name in used if name}

    @cached_property
    def splits(self) -> dict[str, str]:
        """Return field → what its text is divided by."""
        templates = (template for kind in self.kinds for template in self.templates(kind))
        return {each.each: each.split for each in templates if each.each and each.split}

    @property
    def identified(self) -> set[str]:
        """Return the fields whose identifiers have a place."""
        return identified(self.used)

    def fitting_kind(self, text: Callable[[str], str], undecided: Collection[str]) -> Kind | str:
        """Return the first kind of record that fits an item, or why no record is made.

        Args:
            text: a function from a field of the ground truth to its text, empty if it has none.
            undecided: fields whose values are still open; no record is made if the kind depends on
                one.
        """
        for kind in self.kinds:
            known = kind.when.keys() - undecided
            if all(text(name).casefold() in kind.when[name] for name in known):
                if len(known) < len(kind.when):
                    return KIND_OPEN
                return kind.leave_out or kind
        return NO_KIND


class _InFile(Strict):
    new_records: NewRecords


def read_new_records(value: Any, path: Path) -> NewRecords:
    """Return how whole records are made.

    Args:
        value: what stands at `new_records` in the file.
        path: the file.

    Raises:
        HdbenchError: it is unusable; the message names the key.
    """
    return validate(_InFile, {"new_records": value}, path).new_records
