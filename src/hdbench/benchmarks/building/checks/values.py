"""Checks of the values of each field over all ground truths."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from hdbench.benchmarks.building.checks.problems import EXAMPLES, Example, Problems, shown
from hdbench.common.bounds import MAX_DISTINCT, MAX_FIELDS, MAX_NEAR, MAX_TRUTH_VALUES
from hdbench.errors import Message

FREQUENT = 5
"""Minimum occurrences of a value that others may be misspellings of."""

YEARS_SHARE = 0.8
FEW_YEARS = 3
"""Minimum share and number of years among a field's values for it to be a field for years."""

_VALUE = 200
"""Maximum number of characters of a value that is compared with others."""

_YEAR = re.compile(r"[12]\d{3}", re.ASCII)
_DATE = re.compile(
    r"\d{1,2}\s*[./-]\s*(\d{1,2}|[IVX]{1,4})\s*[./-]\s*[12]\d{3}"  # 17.9.1912, 17. IX. 1912
    r"|[12]\d{3}-\d{1,2}(-\d{1,2})?"  # 1912-09-17
    r"|\d{1,2}\.?\s+[^\W\d]{3,10}\.?\s+[12]\d{3}"  # 17. September 1912
)

_TEXT, _NUMBER = Message("a text"), Message("a number")
_OBJECT, _LIST = Message("an object"), Message("a list")
_KINDS = {str: _TEXT, bool: Message("true or false"), int: _NUMBER, float: _NUMBER}
_KINDS |= {dict: _OBJECT, list: _LIST}

FieldPath = tuple[str, ...]
"""The names from the record inwards; `[]` is any item of a list."""


class RowPlace(NamedTuple):
    """A row of the metadata.

    Attributes:
        line: its line.
        id: its id, if it has one.
    """

    line: int
    id: str | None


def dotted(path: FieldPath) -> str:
    """Return a path as a person writes it.

    Example:
        >>> dotted(("entries", "[]", "name"))
        'entries[].name'
    """
    return ".".join(path).replace(".[]", "[]")


def nodes_of(truth: dict[str, Any]) -> Iterator[tuple[FieldPath, Any]]:
    """Yield the values in a ground truth at any depth, at most `MAX_TRUTH_VALUES`."""
    waiting: list[tuple[FieldPath, Any]] = [((), truth)]
    for _ in range(MAX_TRUTH_VALUES):
        if not waiting:
            return
        path, value = waiting.pop()
        if path:
            yield path, value
        if isinstance(value, dict):
            waiting += [((*path, name), inner) for name, inner in value.items()][::-1]
        elif isinstance(value, list):
            inner_path = (*path, "[]")
            waiting += [(inner_path, inner) for inner in value[:MAX_TRUTH_VALUES]][::-1]


def is_blank(value: Any) -> bool:
    """Return whether a value is null, blank or empty."""
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


@dataclass
class _Field:
    """The values of one field, as far as they were looked at.

    Attributes:
        kinds: how many values are of each kind.
        first: the first places of each kind.
        values: text → how often it occurs, and the first place; None if there are too many.
        years: how many values are years.
        dates: how many are dates, and the first of them.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[tuple[RowPlace, Any]]] = field(default_factory=dict)
    values: dict[str, tuple[int, RowPlace]] | None = field(default_factory=dict)
    years: int = 0
    dates: list[tuple[RowPlace, str]] = field(default_factory=list)


class FieldValues:
    """Checker of values, which gets the ground truths one at a time.

    Args:
        problems: where to add what is wrong.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._fields: dict[FieldPath, _Field] = {}
        self._too_many: RowPlace | None = None

    def add(self, nodes: Iterable[tuple[FieldPath, Any]], place: RowPlace) -> None:
        """Look at the values of one ground truth."""
        for path, value in nodes:
            if value is None or value == "":
                continue
            field_values = self._fields.get(path)
            if field_values is None:
                if len(self._fields) == MAX_FIELDS:
                    self._too_many = self._too_many or place
                    continue
                field_values = self._fields[path] = _Field()
            kind = _KINDS[type(value)]
            field_values.kinds[kind] += 1
            first = field_values.first.setdefault(kind, [])
            if len(first) < EXAMPLES:
                first.append((place, value))
            if kind is _TEXT:
                self._add_text(field_values, value, place)
            elif kind is _NUMBER:
                field_values.years += 1000 <= value < 3000  # noqa: PLR2004  as `_YEAR`

    def _add_text(self, field_values: _Field, value: str, place: RowPlace) -> None:
        if len(value) > _VALUE:
            return
        if field_values.values is not None:
            count, first = field_values.values.get(value, (0, place))
            field_values.values[value] = (count + 1, first)
            if len(field_values.values) > MAX_DISTINCT:
                field_values.values = None
        if value[-1].isdecimal():
            if _YEAR.fullmatch(value):
                field_values.years += 1
            elif _DATE.fullmatch(value):
                field_values.dates.append((place, value))

    def filled(self) -> set[FieldPath]:
        """Return the fields that have a text, number or truth value somewhere."""
        return {
            path
            for path, field_values in self._fields.items()
            if field_values.kinds.keys() - {_OBJECT, _LIST}
        }

    def check(self) -> None:
        """Add what is wrong with the fields seen."""
        if self._too_many is not None:
            self._problems.add("many_fields", Example(*self._too_many), most=MAX_FIELDS)
        for path, field_values in self._fields.items():
            name = dotted(path)
            self._check_kinds(name, field_values)
            if field_values.dates and field_values.years >= FEW_YEARS:
                count = field_values.kinds[_TEXT] + field_values.kinds[_NUMBER]
                if field_values.years >= YEARS_SHARE * count:
                    for place, value in field_values.dates:
                        self._problems.add(
                            "date_for_year", Example(*place, shown(value)), field=name
                        )
            self._check_rare(name, field_values)

    def _check_kinds(self, name: str, field_values: _Field) -> None:
        (most, _), *others = field_values.kinds.most_common()
        for kind, count in others:
            at = (Example(*place, shown(value)) for place, value in field_values.first[kind])
            self._problems.add("mixed_types", *at, field=name, times=count, kind=kind, most=most)

    def _check_rare(self, name: str, field_values: _Field) -> None:
        if not field_values.values or 2 * len(field_values.values) > field_values.kinds[_TEXT]:
            return
        once = [value for value, (count, _) in field_values.values.items() if count == 1]
        frequent = [value for value, (count, _) in field_values.values.items() if count >= FREQUENT]
        for value, like in near_values(once, frequent):
            count, _ = field_values.values[like]
            example = Message(
                "{value} ({like} {count:,} times)",
                value=shown(value),
                like=shown(like),
                count=count,
            )
            self._problems.add(
                "rare_value", Example(*field_values.values[value][1], example), field=name
            )


# Values that are nearly the same as others: slips of the pen or the keyboard


_SHORT, _LONG = 5, 9
"""Values shorter than the first must match but for case and blanks; from the second on, two edits
are allowed."""

_DIGITS = re.compile(r"\d+")


class _Forms:
    """Values of one length: their forms, and their positions among all."""

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.positions: list[int] = []


_NONE = _Forms()


def near_values(once: Sequence[str], frequent: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the values that differ by a slip from a frequent one, each with the nearest of these.

    A slip is an edit (a character left out, added, replaced, or two swapped), two in nine
    characters or more, none in fewer than five; case and blanks never count. Digits must be the
    same: `Band 1` is not a slip for `Band 2`.

    Args:
        once: the values that may have slips.
        frequent: the values that they may be meant for, the first of which wins among equals.

    Example:
        >>> list(near_values(["Stuttgrat", "Bern"], ["Stuttgart", "Berlin"]))
        [('Stuttgrat', 'Stuttgart')]
    """
    by_length: dict[tuple[int, tuple[str, ...]], _Forms] = defaultdict(_Forms)
    for position, value in enumerate(frequent):
        form = _form(value)
        same_form = by_length[len(form), _digits(form)]
        same_form.forms.append(form)
        same_form.positions.append(position)
    budget = MAX_NEAR
    # An edit changes the length by one at most, and digits not at all: only these are compared.
    for value in once:
        form = _form(value)
        most, digits = edits(len(form)), _digits(form)
        best: tuple[int, int] | None = None
        for length in range(len(form) - most, len(form) + most + 1):
            same_form = by_length.get((length, digits), _NONE)
            budget -= len(same_form.forms)
            if budget < 0:
                return
            # The shorter one decides how many edits are a slip.
            match = process.extractOne(
                form, same_form.forms, scorer=OSA.distance, score_cutoff=min(most, edits(length))
            )
            if match is not None:
                candidate = (int(match[1]), same_form.positions[match[2]])
                best = min(best or candidate, candidate)
        if best is not None:
            yield value, frequent[best[1]]


def edits(length: int) -> int:
    """Return the maximum number of edits that are a slip in a text of some length."""
    return (length >= _SHORT) + (length >= _LONG)


def _form(value: str) -> str:
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())


def _digits(form: str) -> tuple[str, ...]:
    return tuple(_DIGITS.findall(form))
