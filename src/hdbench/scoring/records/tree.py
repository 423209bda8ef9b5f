"""Records taken apart: their fields by path, and the items of their lists."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from hdbench.common.bounds import MAX_ITEM_PAIRS, MAX_KEPT_LENGTH, MAX_KEPT_PATHS
from hdbench.errors import HdbenchError
from hdbench.scoring.records.values import Comparator
from hdbench.scoring.text_equality import Normalizer, canonical_text, check_forms

# Patterns of paths, by which options name the fields of a record

Value = TypeVar("Value")

_SEGMENT = re.compile(r"\[\d*\]|[^.\[\]]+")
_ESCAPED_SEGMENT = re.compile(r"\[\d*\]|(?:\\.|[^.\[\]\\])+")
_SIGN = re.compile(r"[.\[\]\\]")
_ESCAPE = re.compile(r"\\(.)")
_EMPTY = r"\-"
_PATTERN = re.compile(r"[^.\[\]]+(\[\])*(\.[^.\[\]]+(\[\])*)*")

ANY = "*"


def segments_of(path: str) -> tuple[str, ...]:
    """The segments of a path: keys, and `[]` for an item of a list.

    Example:
        >>> segments_of("entries[3].author[].family")
        ('entries', '[]', 'author', '[]', 'family')
    """
    return tuple("[]" if segment[0] == "[" else segment for segment in _SEGMENT.findall(path))


def escaped(key: str) -> str:
    r"""Return a key as it stands in a path in which no other key is written alike.

    Example:
        >>> print(escaped("title"), escaped("a.b[0]"), escaped(""))
        title a\.b\[0\] \-
    """
    return _SIGN.sub(r"\\\g<0>", key) or _EMPTY


def as_written(path: str) -> str:
    r"""Return a path with `escaped` keys as people write it: with the keys as they are.

    Example:
        >>> as_written(r"entries[3].a\.b")
        'entries[3].a.b'
    """
    return _ESCAPE.sub(_unescaped, path) if "\\" in path else path


def segments_of_escaped(path: str) -> tuple[str, ...]:
    r"""Return the segments of a path with `escaped` keys.

    Example:
        >>> segments_of_escaped(r"entries[3].a\.b")
        ('entries', '[]', 'a.b')
    """
    if "\\" not in path:
        return segments_of(path)
    segments = _ESCAPED_SEGMENT.findall(path)
    return tuple("[]" if segment[0] == "[" else as_written(segment) for segment in segments)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[0] == _EMPTY else match[1]


class Patterns(Generic[Value]):
    """Values by pattern: the most specific pattern that covers a path says its value.

    A pattern is a dotted path in which `[]` is each item of a list, and `*` any one key. It covers
    everything below it. Where several fit, they are compared segment by segment from the left: a
    literal comes before `*`, and a longer pattern before its own beginning.

    Attributes:
        option: the name of the option, for messages.
        default: the value of a path that no pattern covers.

    Args:
        option: same as the attribute.
        values: pattern → value.
        default: same as the attribute.

    Raises:
        HdbenchError: a pattern cannot be read, or is there twice in two spellings.

    Example:
        >>> thresholds = Patterns("threshold", {"entries[].*": 0.9, "entries[].note": 0.5}, 0.92)
        >>> thresholds[segments_of("entries[].note.de")], thresholds[segments_of("title")]
        (0.5, 0.92)
    """

    def __init__(self, option: str, values: Mapping[str, Value], default: Value) -> None:
        self.option = option
        self.default = default
        self._values: dict[tuple[str, ...], Value] = {}
        for pattern, value in values.items():
            if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
                raise HdbenchError(
                    "{option}: {pattern} is not a path such as title or entries[].author",
                    option=option,
                    pattern=repr(pattern),
                )
            segments = segments_of(pattern)
            if segments in self._values:
                raise HdbenchError(
                    "{option}: {pattern} is given twice", option=option, pattern=repr(pattern)
                )
            self._values[segments] = value

    def __getitem__(self, path: Sequence[str]) -> Value:
        fitting = self.fitting(path)
        return self._values[min(fitting, key=_rank)] if fitting else self.default

    def __bool__(self) -> bool:
        return bool(self._values)

    def fitting(self, path: Sequence[str]) -> set[tuple[str, ...]]:
        """The patterns that cover a path, as segments."""
        return {pattern for pattern in self._values if _covers(pattern, path)}


def _covers(pattern: Sequence[str], path: Sequence[str]) -> bool:
    return len(pattern) <= len(path) and all(
        wanted == segment or (wanted == ANY and segment != "[]")
        for wanted, segment in zip(pattern, path, strict=False)
    )


def _rank(pattern: Sequence[str]) -> tuple[int, ...]:
    """Sorts a literal before `*`, and a pattern before its own beginning."""
    return (*(int(segment == ANY) for segment in pattern), 2)


def by_pattern(option: str, value: Any, default: Value, read: Any) -> Patterns[Value]:
    """An option's value for all fields, or its values by pattern.

    Args:
        option: the option's name.
        value: one value, or an object of pattern and value; None is the default.
        default: the value where nothing is said.
        read: checks a value: called with its place, for messages, and the value.

    Raises:
        HdbenchError: a pattern or a value is unusable.
    """
    if value is None:
        return Patterns(option, {}, default)
    if not isinstance(value, Mapping):
        return Patterns(option, {}, read(option, value))
    values = {pattern: read(f"{option}: {pattern}", setting) for pattern, setting in value.items()}
    return Patterns(option, values, default)


ListMode = Literal["aligned", "ordered", "position"]

Check = tuple[Comparator | None, float]
"""How the values of a field are compared, None if by similarity, and from which similarity they
match."""

NO_CHECKS: Mapping[str, Check] = {}


@dataclass
class PathRules:
    """What the options of a comparison say about each path.

    Attributes:
        lists: how a list is compared.
        compare: how two values are compared; None is by similarity.
        threshold: the similarity from which two values match.
        steps: how texts are normalized.
        ignore: what is not scored.
        blank: the values that count as absent, before normalization.
        canonical: whether only what is written in canonical form can be compared.
        has_escaped: whether any path so far has a key that had to be escaped.
    """

    lists: Patterns[ListMode]
    compare: Patterns[Comparator | None]
    threshold: Patterns[float]
    steps: Patterns[tuple[Normalizer, ...]]
    ignore: Patterns[bool]
    blank: tuple[Any, ...] = (None,)
    canonical: bool = False
    root: "Path" = field(init=False)
    kept: int = field(init=False, default=0)
    has_escaped: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.root = Path(self, "", ())
        self.blank_texts = frozenset(value for value in self.blank if isinstance(value, str))
        self.is_null_blank = None in self.blank
        self._others_blank = [value for value in self.blank if not isinstance(value, str | None)]
        self.usual: Check = None, self.threshold.default
        self._fields: dict[tuple[tuple[str, ...], str], Check] = {}
        self._checks: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, Check]] = {}

    def of_field(self, segments: tuple[str, ...], path: str) -> Check:
        """Return how the values of a field are compared, and from which similarity they match.

        Args:
            segments: the path of the record or item.
            path: the field's path from there.
        """
        rule = self._fields.get((segments, path))
        if rule is None:
            whole = (*segments, *segments_of_escaped(path))
            rule = self.compare[whole], self.threshold[whole]
            if len(self._fields) < MAX_KEPT_PATHS:
                self._fields[segments, path] = rule
        return rule

    def checks(self, segments: tuple[str, ...], paths: Iterable[str]) -> dict[str, Check]:
        """Return the fields that are not compared by similarity and the usual threshold.

        They are kept, as the ground truths have the same few sets of fields.

        Args:
            segments: the path of the record or item.
            paths: the fields' paths from there.
        """
        key = segments, tuple(paths)
        checks = self._checks.get(key)
        if checks is None:
            rules = {path: self.of_field(segments, path) for path in key[1]}
            checks = {path: rule for path, rule in rules.items() if rule != self.usual}
            if len(self._checks) < MAX_KEPT_PATHS:
                self._checks[key] = checks
        return checks

    def is_blank(self, value: Any) -> bool:
        """Return whether a value counts as absent."""
        if isinstance(value, str):
            return value in self.blank_texts
        if value is None:
            return self.is_null_blank
        others = self._others_blank
        return bool(others) and any(value == it and type(value) is type(it) for it in others)


class Path:
    """A path in records, with its rules; those below it are kept once they were asked for.

    Records of a benchmark have the same few paths, and looking one up takes a fraction of the time
    in which it can be put together.

    Attributes:
        text: the path from the innermost item of an aligned or ordered list, or from the record,
            with keys `escaped`: no other path has the same text.
        segments: the whole path, with `[]` for an item of a list.
        base: the segments of that item.
        below: key, index, or None for any item → the path there, if it is kept.
        ignored: whether it is not scored.
        lists: how a list at this path is compared.
        mode: how the list is compared whose item this is.
        steps: how its texts are normalized.
        plain: key → the text of the path there, if that is kept and its values are compared as
            they are.
    """

    __slots__ = (
        "_rules",
        "base",
        "below",
        "ignored",
        "lists",
        "mode",
        "plain",
        "segments",
        "steps",
        "text",
    )

    def __init__(
        self,
        rules: PathRules,
        text: str,
        segments: tuple[str, ...],
        base: tuple[str, ...] = (),
        mode: ListMode = "position",
    ) -> None:
        self._rules, self.base, self.mode = rules, base, mode
        self.below: dict[str | int | None, Path] = {}
        self.text, self.segments = text, segments
        self.ignored = rules.ignore[segments]
        self.lists = rules.lists[segments]
        self.steps = rules.steps[segments]
        self.plain: dict[str, str] = {}

    def key(self, key: str) -> "Path":
        """The path of a key of an object at this path.

        Raises:
            OtherFormError: the key is not written in the form in which it is compared.
        """
        path = self.below.get(key)
        if path is not None:
            return path
        if self._rules.canonical:
            check_forms([key])
        name = escaped(key)
        if name != key:
            self._rules.has_escaped = True
        return self._keep(key, f"{self.text}.{name}" if self.text else name, key, self.base)

    def place(self, index: int) -> "Path":
        """The path of an item of a list that is compared by position."""
        return self.below.get(index) or self._keep(index, f"{self.text}[{index}]", "[]", self.base)

    def item(self) -> "Path":
        """The path of each item of an aligned or ordered list."""
        return self.below.get(None) or self._keep(None, "", "[]", (*self.segments, "[]"))

    def _keep(
        self, key: str | int | None, text: str, segment: str, base: tuple[str, ...]
    ) -> "Path":
        path = Path(self._rules, text, (*self.segments, segment), base, self.lists)
        if len(text) <= MAX_KEPT_LENGTH and self._rules.kept < MAX_KEPT_PATHS:
            self._rules.kept += 1
            self.below[key] = path
            if isinstance(key, str) and not (path.ignored or path.steps):
                self.plain[key] = text
        return path


Leaves = dict[str, Any]
"""Path → value."""

Lists = dict[str, list["Record"]]
"""Path → the items of a list."""


class Record:
    """An object, or an item of a list, taken apart.

    Args:
        value: the object or item.
        path: its path.
        index: its place in its list; 0 if it is not an item.

    Attributes:
        leaves: path → value of each field that is not blank, normalized.
        lists: path → the items of an aligned or ordered list that is not empty.
        checks: in a ground truth, the fields that are not compared as is usual, with how they are.
        rewritten: of a ground truth, whether it was not written in canonical form.
    """

    checks: Mapping[str, Check] = NO_CHECKS
    rewritten: bool = False
    _canonical: str | None = None

    def __init__(self, value: Any, path: Path, index: int = 0) -> None:
        self.value, self.path, self.index = value, path, index
        self.leaves: Leaves = {}
        self.lists: Lists = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]  # what it holds changes

    @property
    def size(self) -> int:
        """The number of its fields, in its lists too."""
        return len(self.leaves) + sum(item.size for items in self.lists.values() for item in items)

    @cached_property
    def filled(self) -> int:
        """The number of its fields that are not empty texts: what an answer without it lacks."""
        own = sum(bool(value != "") for value in self.leaves.values())
        return own + sum(item.filled for items in self.lists.values() for item in items)

    def canonical(self, rules: PathRules) -> str:
        """Return what is scored of it as JSON: the same for the same fields in any order."""
        if self._canonical is None:
            content = scored(self.value, self.path, rules)
            self._canonical = "" if content is NOTHING else canonical(content)
        return self._canonical

    def expect(self, rules: PathRules) -> None:
        """Take it for a ground truth: note how its fields are compared."""
        self.checks = rules.checks(self.path.segments, self.leaves)
        for items in self.lists.values():
            for item in items:
                item.expect(rules)


NOTHING = object()
"""Stands for a value of which nothing is scored."""


def in_order(items: Sequence[Record], rules: PathRules) -> list[Record]:
    """The items of an aligned list in an order that does not depend on theirs."""
    return sorted(items, key=lambda item: item.canonical(rules))


def most_compared(number: int) -> int:
    """How many items of a list in an answer are compared with a number of the ground truth's."""
    return max(1, MAX_ITEM_PAIRS // number)


def canonical(value: Any) -> str:
    """A JSON value as text, the same for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def scored(value: Any, path: Path, rules: PathRules) -> Any:
    """Return what is scored of a value, with aligned lists in order; `NOTHING` if nothing is."""
    if path.ignored:
        return NOTHING
    if isinstance(value, dict):
        children = {key: scored(child, path.key(key), rules) for key, child in value.items()}
        return {key: child for key, child in children.items() if child is not NOTHING} or NOTHING
    if not isinstance(value, list):
        return NOTHING if rules.is_blank(value) else value
    by_position = path.lists == "position"
    items = [
        scored(child, path.place(index) if by_position else path.item(), rules)
        for index, child in enumerate(value)
    ]
    if all(item is NOTHING for item in items):
        return NOTHING
    if path.lists == "aligned":
        return sorted((item for item in items if item is not NOTHING), key=canonical)
    return [None if item is NOTHING else item for item in items]


def unwritable_paths(value: Any, path: Path, is_below: bool = False) -> Iterator[Path]:
    """The paths in a record to and below keys that no path can be written with, as `a.b`."""
    if is_below:
        yield path
    if isinstance(value, dict):
        for key, child in value.items():
            yield from unwritable_paths(
                child, path.key(key), is_below or segments_of(key) != (key,)
            )
    elif isinstance(value, list):
        by_position = path.lists == "position"
        for index, child in enumerate(value):
            at = path.place(index) if by_position else path.item()
            yield from unwritable_paths(child, at, is_below)


def take_apart(value: dict[str, Any], rules: PathRules) -> Record:
    """A JSON object as its fields by path.

    A list that is compared by position is part of the paths: `name[0]`. An object or list with
    nothing in it has no fields.
    """
    record = Record(value, rules.root)
    _add_object(value, rules.root, record.leaves, record.lists, rules)
    return record


def fields_by_position(value: dict[str, Any], rules: PathRules) -> Leaves:
    """The fields of a JSON object by path, where all lists are compared by position."""
    leaves: Leaves = {}
    _add_object(value, rules.root, leaves, {}, rules)
    return leaves


def _add_object(
    value: dict[str, Any], at: Path, leaves: Leaves, lists: Lists, rules: PathRules
) -> None:
    plain, blank_texts = at.plain, rules.blank_texts
    for key, child in value.items():
        if key not in plain:
            _add(child, at.key(key), leaves, lists, rules)
        elif type(child) is str:  # as most are
            if not (blank_texts and child in blank_texts):
                leaves[plain[key]] = child
        elif type(child) is dict:
            _add_object(child, at.below[key], leaves, lists, rules)
        elif child is not None or not rules.is_null_blank:
            _add(child, at.below[key], leaves, lists, rules)


def _add(value: Any, path: Path, leaves: Leaves, lists: Lists, rules: PathRules) -> None:
    if path.ignored:
        return
    if isinstance(value, dict):
        _add_object(value, path, leaves, lists, rules)
    elif isinstance(value, list):
        _add_list(value, path, leaves, lists, rules)
    elif not rules.is_blank(value):
        if path.steps and isinstance(value, str):
            if rules.canonical:
                check_forms([value])
            for step in path.steps:
                value = step(value)
            if rules.canonical:  # what is folded may be apart: "ΐ"
                value = canonical_text(value)
        leaves[path.text] = value


def _add_list(
    values: list[Any], path: Path, leaves: Leaves, lists: Lists, rules: PathRules
) -> None:
    if path.lists == "position":
        for index, value in enumerate(values):
            _add(value, path.place(index), leaves, lists, rules)
        return
    items = []
    for index, value in enumerate(values):
        item = Record(value, path.item(), index)
        _add(value, path.item(), item.leaves, item.lists, rules)
        items.append(item)
    if items:
        lists[path.text] = items
