"""The part of a mapping that says how whole MARC records are made: `new_records`.

`marc_zettelkatalog.yaml` beside this module describes the form.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.authorities.identifiers import identified
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.marc_articles import ARTICLES
from hdbench.ground_truth.marc_templates import FieldTemplate, read_template

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
