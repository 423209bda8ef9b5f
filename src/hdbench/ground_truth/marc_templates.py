"""How whole MARC records are made: the part `new_records` of a mapping.

`marc_zettelkatalog.yaml` beside this module describes the form. Initial articles, which are ignored
in sorting, are those of Appendix F of MARC 21 (https://www.loc.gov/marc/bibliographic/bdapndxf.html).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.authorities.identifiers import identified
from hdbench.errors import HdbenchError, Message

CARD_CATALOGUE = Path(__file__).with_name("marc_zettelkatalog.yaml")
"""The mapping for the cards of zettelkatalog."""

_CHARACTERS = {
    "leader/05-09": (re.compile("[acdnp][acdefgijkmoprt][abcdims][#a]a"), "nam#a"),
    "leader/17-19": (re.compile("[#1-578uz][#acinu][#abc]"), "7i#"),
    "008/18-34": (re.compile("[#|0-9a-z]{17}"), "|||||#m###||||#||"),
}
"""Key of a kind of record → the codes that it may have, and an example."""

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


class Code(NamedTuple):
    """A code in field 008.

    Attributes:
        field: the field of the ground truth that it comes from; None if it is always the same.
        codes: the field's values, case-folded, and their codes; empty if the values are codes.
        otherwise: the code if there is none for the value.
    """

    field: str | None
    codes: dict[str, str]
    otherwise: str

    def code(self, value: str) -> str:
        """Return the code of a value, in three characters."""
        if self.codes:
            code = self.codes.get(value.casefold(), self.otherwise)
        else:
            code = value if _CODE.fullmatch(value) else self.otherwise
        return code.ljust(3)


class Fixed(NamedTuple):
    """Field 008, "Fixed-Length Data Elements" (https://www.loc.gov/marc/bibliographic/bd008.html).

    Attributes:
        date: the field of the ground truth with the year of publication; None if there is none.
        place: the code of the place.
        language: the code of the language.
    """

    date: str | None
    place: Code
    language: Code


class Kind(NamedTuple):
    """A kind of record.

    Attributes:
        when: fields of the ground truth and the values that they must have, case-folded.
        leave_out: why no record is made; empty if one is made.
        leader: of the record.
        material: characters 18 to 34 of field 008.
        fields: templates of all fields but 001 and 008, by tag.
    """

    when: dict[str, frozenset[str]]
    leave_out: str
    leader: str = ""
    material: str = ""
    fields: tuple[FieldTemplate, ...] = ()


class NewRecords(NamedTuple):
    """How whole records are made.

    Attributes:
        kinds: the kinds of records, of which the first that fits is made.
        fixed: field 008.
        languages: MARC's codes of the languages whose articles are ignored in sorting.
        used: the fields of the ground truth that go into MARC records or decide about them.
        splits: field → what its text is divided by.
    """

    kinds: tuple[Kind, ...]
    fixed: Fixed
    languages: tuple[str, ...]
    used: frozenset[str]
    splits: Mapping[str, str]

    @property
    def identified(self) -> set[str]:
        """Return the fields whose identifiers have a place."""
        return identified(self.used)


def fitting_kind(
    kinds: Iterable[Kind], text: Callable[[str], str], undecided: Collection[str]
) -> Kind | None:
    """Return the first kind of record that fits an item; None if none does.

    Args:
        kinds: the kinds of records.
        text: a function from a field of the ground truth to its text, empty if it has none.
        undecided: fields whose values are still open; if the kind depends on one, it is left out.
    """
    for kind in kinds:
        known = kind.when.keys() - undecided
        if all(text(name).casefold() in kind.when[name] for name in known):
            return kind if len(known) == len(kind.when) else Kind({}, KIND_OPEN)
    return None


def _used(kind: Kind) -> Iterator[str]:
    yield from kind.when
    for template in kind.fields:
        yield from template.fields
        if template.each:
            yield template.each


def read_new_records(value: Any, path: Path) -> NewRecords:
    """Return how whole records are made.

    Args:
        value: what stands at `new_records` in the file.
        path: the file.

    Raises:
        HdbenchError: it is unusable; the message names the key.
    """
    return _Reader(path).new_records(value)


class _Reader:
    """Reads values of a file, and names its keys in messages."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def new_records(self, value: Any) -> NewRecords:
        key = "new_records"
        self._keys(value, key, {"008", "kinds"}, {"articles", "fields"})
        fixed = self._fixed(value["008"], f"{key}.008")
        common = self._fields(value.get("fields", []), f"{key}.fields")
        kinds = [
            self._kind(kind, f"{key}.kinds[{number}]", common)
            for number, kind in enumerate(self._list(value["kinds"], f"{key}.kinds"), 1)
        ]
        languages = self._list(value.get("articles", []), f"{key}.articles")
        for language in languages:
            if not isinstance(language, str) or language not in ARTICLES:
                wanted = Message("one of the languages {names}", names=", ".join(ARTICLES))
                raise self._refused(f"{key}.articles", language, wanted)
        codes = (fixed.date, fixed.place.field, fixed.language.field)
        used = {*filter(None, codes), *(field for kind in kinds for field in _used(kind))}
        splits = {
            template.each: template.split
            for kind in kinds
            for template in kind.fields
            if template.each and template.split
        }
        return NewRecords(tuple(kinds), fixed, tuple(languages), frozenset(used), splits)

    def _kind(self, value: Any, key: str, common: list[FieldTemplate]) -> Kind:
        if isinstance(value, dict) and "leave_out" in value:
            return self._left_out(value, key)
        self._keys(value, key, set(_CHARACTERS), {"when", "fields"})
        status, level, material = (
            self._like(pattern, value[name], f"{key}.{name}", example).replace("#", " ")
            for name, (pattern, example) in _CHARACTERS.items()
        )
        own = self._fields(value.get("fields", []), f"{key}.fields")
        return Kind(
            self._when(value.get("when", {}), f"{key}.when"),
            "",
            f"00000{status}2200000{level}4500",
            material,
            tuple(sorted(common + own, key=lambda template: template.tag)),
        )

    def _left_out(self, value: Any, key: str) -> Kind:
        self._keys(value, key, {"leave_out"}, {"when"})
        reason = self._text(value["leave_out"], f"{key}.leave_out")
        return Kind(self._when(value.get("when", {}), f"{key}.when"), reason)

    def _when(self, value: Any, key: str) -> dict[str, frozenset[str]]:
        if not isinstance(value, dict):
            raise self._refused(key, value, Message("a field with a list of its values"))
        return {
            field: frozenset(
                self._text(text, f"{key}.{field}", may_be_empty=True).casefold()
                for text in self._list(texts, f"{key}.{field}")
            )
            for field, texts in value.items()
        }

    def _fixed(self, value: Any, key: str) -> Fixed:
        self._keys(value, key, set(), {"date", "place", "language"})
        return Fixed(
            self._text(value["date"], f"{key}.date") if "date" in value else None,
            self._code(value.get("place", "xx"), f"{key}.place", "xx"),
            self._code(value.get("language", "und"), f"{key}.language", "und"),
        )

    def _code(self, value: Any, key: str, unknown: str) -> Code:
        if not isinstance(value, dict):
            return Code(None, {}, self._like(_CODE, value, key, unknown))
        self._keys(value, key, {"field"}, {"codes", "otherwise"})
        codes = value.get("codes", {})
        if not isinstance(codes, dict):
            raise self._refused(f"{key}.codes", codes, Message("values with their codes"))
        return Code(
            self._text(value["field"], f"{key}.field"),
            {
                text.casefold(): self._like(_CODE, code, f"{key}.codes.{text}", unknown)
                for text, code in codes.items()
            },
            self._like(_CODE, value.get("otherwise", unknown), f"{key}.otherwise", unknown),
        )

    def _fields(self, value: Any, key: str) -> list[FieldTemplate]:
        entries = self._list(value, key)
        return [self._field(entry, f"{key}[{number}]") for number, entry in enumerate(entries, 1)]

    def _field(self, value: Any, key: str) -> FieldTemplate:
        more = value if isinstance(value, dict) else {}
        if more:
            self._keys(more, key, {"field", "each"}, {"split", "without"})
        text = more.get("field", value)
        template = read_template(text) if isinstance(text, str) else None
        if template is None:
            wanted = Message("a field such as '245|10|$a{example}.'", example="{publication.title}")
            raise self._refused(key, text, wanted)
        if not more:
            return template
        without = more.get("without")
        try:
            pattern = re.compile(self._text(without, f"{key}.without")) if without else None
        except re.error as error:
            wanted = Message("a regular expression ({why})", why=error)
            raise self._refused(f"{key}.without", without, wanted) from error
        split = self._text(more["split"], f"{key}.split") if "split" in more else None
        each = self._text(more["each"], f"{key}.each")
        return template._replace(each=each, split=split, without=pattern)

    def _keys(self, value: Any, key: str, needed: set[str], allowed: set[str]) -> None:
        """Refuse what is not an object with these keys."""
        keys = value.keys() if isinstance(value, dict) else None
        if keys is None or not needed <= keys or not keys <= needed | allowed:
            raise HdbenchError(
                "{place}: {field}: must have {needed}, and may have {allowed}"
                if needed
                else "{place}: {field}: may have {allowed}, and nothing else",
                place=self._path,
                field=key,
                needed=", ".join(f"{name}:" for name in sorted(needed)),
                allowed=", ".join(f"{name}:" for name in sorted(allowed)),
            )

    def _list(self, value: Any, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._refused(key, value, Message("a list"))
        return value

    def _text(self, value: Any, key: str, *, may_be_empty: bool = False) -> str:
        if not isinstance(value, str) or not (value or may_be_empty):
            raise self._refused(key, value, Message("a text"))
        return value

    def _like(self, pattern: re.Pattern[str], value: Any, key: str, example: str) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise self._refused(key, value, Message("codes such as {example}", example=example))
        return value

    def _refused(self, key: str, value: Any, wanted: Message) -> HdbenchError:
        return HdbenchError(
            "{place}: {field}: {shown!r} is not {wanted}",
            place=self._path,
            field=key,
            shown=value if isinstance(value, str) else Message("a list or object"),
            wanted=wanted,
        )
