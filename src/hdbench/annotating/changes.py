"""A change to an item, and its line in a history."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hdbench.annotating.fields import parse_field
from hdbench.benchmarks.provenance import IMPORTED as WAS_IMPORTED
from hdbench.benchmarks.provenance import Provenance, is_model, is_provenance
from hdbench.common.jsonio import SPELLED, is_too_deep, parse_line, spelled_json
from hdbench.errors import HdbenchError

STATUSES = ("open", "done", "doubtful", "missing", "rejected")
"""Statuses of an item: `missing` means that no ground truth can be given."""

WITHOUT_TRUTH = ("missing", "rejected")
"""The statuses of items whose ground truth is null in `metadata.jsonl`."""

WHATS = ("ground_truth", "status", "comment")
"""The parts of an item that can change."""

MAX_CHANGE = 4 * 2**20
"""Maximum number of bytes in the line of a change, which has the value before and after."""

MAX_VALUE_DEPTH = 60
"""Maximum depth of a value; with `MAX_STEPS` it keeps records readable."""

MAX_COMMENT = 10_000
"""Maximum number of characters in a comment."""

MAX_ITEM_CHANGES = 10_000
"""Maximum number of changes to one item; in a hand-over, of the changes they build on."""

IMPORTED = "imported"
"""Author of changes that only record the content of `metadata.jsonl`; not a valid pseudonym."""

SETTLED = "settled"
"""Provenance of a value that was chosen where people or windows disagreed."""

MAX_TIPS = 100
"""Maximum number of changes besides the first one that a change is made on top of."""

_KEYS = (
    *("id", "item", "by", "at", "what", "field"),
    *("from", "to", "after", "how", "model", "also", "undoes"),
)
"""The keys of a line in their order; `from` is `old` in a `Change`."""

_LONG_AGO = "1970-01-01T00:00:00.000Z"
_PSEUDONYM = re.compile(r"[a-z0-9_-]{1,32}")
_ID = re.compile(r"[0-9a-f]{32}")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


@dataclass(frozen=True)
class Change:
    """One change to an item.

    Attributes:
        id: 32 hexadecimal digits.
        item: the item's id.
        by: the annotator's pseudonym; `imported` for what was there before anybody's change.
        at: the time in UTC; 1970 for what was there before.
        what: one of `WHATS`.
        field: the path of the changed field in the ground truth, such as `entries[0].name`; empty
            for the whole record, and for a status or comment.
        old: the value before; None also if there was none.
        to: the value from then on.
        after: the change that this one was made on top of: the last one of the same item and what.
        how: the origin of the value: `blind`, `draft:RUN`, `imported`, `corrected after audit`
            or `settled`.
        model: the model that wrote the draft; None without a draft, and where only the change
            that filled it in says so.
        also: further changes of the same item and what that this one was made on top of, but not
            `after`: others made them elsewhere.
        undoes: the change that this one undoes.
        was_there: whether there was a value before.
    """

    id: str
    item: str
    by: str
    at: str
    what: str
    field: str
    old: Any
    to: Any
    after: str | None
    how: str
    also: tuple[str, ...] = ()
    undoes: str | None = None
    was_there: bool = True
    model: str | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """Return the changes that this one was made on top of."""
        return self.also if self.after is None else (self.after, *self.also)

    @property
    def weight(self) -> int:
        """Return the number of changes that it counts for: each parent takes time and memory."""
        return max(1, len(self.parents))

    @property
    def is_base(self) -> bool:
        """Return whether it only records the content of `metadata.jsonl` before all changes."""
        return self.by == IMPORTED

    def is_by(self, annotator: str) -> bool:
        """Return whether it may be in an annotator's history."""
        if self.is_base:
            return self == base_change(self.item, self.to, Provenance(self.how, self.model))
        return self.by == annotator


def is_pseudonym(annotator: str) -> bool:
    """Return whether a name is a valid pseudonym."""
    return _is(_PSEUDONYM, annotator) and annotator != IMPORTED


def check_pseudonym(annotator: str) -> None:
    """Refuse a name that is not a valid pseudonym.

    Raises:
        HdbenchError: it is not.
    """
    if not is_pseudonym(annotator):
        raise HdbenchError(
            "{name!r}: a pseudonym has 1 to 32 of the characters a-z, 0-9, _ and -, and is "
            "not {taken!r}",
            name=annotator[:100],
            taken=IMPORTED,
        )


def base_change(item: str, record: Any, made: Provenance | None = None) -> Change:
    """Return the change that records the content of `metadata.jsonl`: the same for everybody.

    Args:
        item: the item's id.
        record: its record there.
        made: the provenance in its row; without it, the record is imported.
    """
    how, model = made or Provenance(WAS_IMPORTED)
    content = [item, record] if how == WAS_IMPORTED else [item, record, how, model]
    digest = hashlib.sha256(as_text(content).encode()).hexdigest()[:32]
    return Change(
        *(digest, item, IMPORTED, _LONG_AGO, "ground_truth", "", None, record, None, how),
        was_there=False,
        model=None if how == WAS_IMPORTED else model,
    )


def same_change(one: Change, other: Change) -> bool:
    """Return whether two changes are equal in everything."""
    return same(list(vars(one).values()), list(vars(other).values()))


def as_text(value: Any) -> str:
    """Return a value as JSON that is the same for equal values, and ASCII."""
    return json.dumps(value, sort_keys=True)


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; unlike in Python, 1 and true are not."""
    return as_text(one) == as_text(other)


def as_line(change: Change) -> bytes:
    """Return the line of a change in a history.

    Raises:
        HdbenchError: its values are not JSON, too deep or too long.
    """
    values = vars(change) | {"from": change.old, "also": list(change.also)}
    is_written = {
        "from": change.was_there,
        "model": change.model,
        "also": change.also,
        "undoes": change.undoes,
    }
    line = {key: values[key] for key in _KEYS if is_written.get(key, True)}
    try:
        text = spelled_json(line, ensure_ascii=False) + "\n"
    except (ValueError, TypeError, RecursionError) as error:
        raise HdbenchError(
            "{place}: cannot be saved: the value is not JSON", place=change.item
        ) from error
    raw = text.encode("utf-8", errors="backslashreplace")
    read_change(raw, change.item)
    return raw


def read_change(raw: bytes, where: str) -> Change:
    """Return the change in a line of a history.

    Args:
        raw: the line, untrusted.
        where: its location, for messages.

    Raises:
        HdbenchError: it is not a change, or too long.
    """
    if len(raw) > MAX_CHANGE:
        raise HdbenchError("{place}: longer than {most} MiB", place=where, most=MAX_CHANGE >> 20)
    line = parse_line(raw, where, SPELLED)
    # The walk is needed only if there are enough brackets for such deep nesting.
    if raw.count(b"{") + raw.count(b"[") > MAX_VALUE_DEPTH and is_too_deep(
        line.get("to"), MAX_VALUE_DEPTH
    ):
        raise HdbenchError(
            "{place}: nested more than {most} deep", place=where, most=MAX_VALUE_DEPTH
        )
    if wrong := next((name for name, is_right in _CHECKS.items() if not is_right(line)), None):
        raise HdbenchError(
            "{place}: not a change of a ground truth: its {wrong!r} is not usable",
            place=where,
            wrong=wrong,
        )
    values: dict[str, Any] = {key: line.get(key) for key in _KEYS if key not in ("from", "also")}
    was_there, also = "from" in line, tuple(line.get("also", ()))
    return Change(old=line.get("from"), was_there=was_there, also=also, **values)


def _is(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_field(line: dict[str, Any]) -> bool:
    field = line.get("field")
    if not isinstance(field, str) or (field and line["what"] != "ground_truth"):
        return False
    try:
        parse_field(field)
    except HdbenchError:
        return False
    return True


def _is_value(line: dict[str, Any]) -> bool:
    if "to" not in line:
        return False
    to = line["to"]
    if line["what"] == "status":
        return isinstance(to, str) and to in STATUSES
    if line["what"] == "comment":
        return isinstance(to, str) and len(to) <= MAX_COMMENT
    return bool(line["field"]) or isinstance(to, dict | None)


def _are_ids(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) <= MAX_TIPS and all(_is(_ID, item) for item in value)
    )


_CHECKS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "id": lambda line: _is(_ID, line.get("id")),
    "item": lambda line: isinstance(line.get("item"), str),
    "by": lambda line: _is(_PSEUDONYM, line.get("by")),
    "at": lambda line: _is(_AT, line.get("at")),
    "what": lambda line: isinstance(line.get("what"), str) and line["what"] in WHATS,
    "field": _is_field,
    "to": _is_value,
    "after": lambda line: "after" in line and (line["after"] is None or _is(_ID, line["after"])),
    "how": lambda line: line.get("how") == SETTLED or is_provenance(line.get("how")),
    "model": lambda line: line.get("model") is None or is_model(line["model"]),
    "also": lambda line: _are_ids(line.get("also", [])),
    "undoes": lambda line: line.get("undoes") is None or _is(_ID, line["undoes"]),
}
"""Check of each key of a line; later checks rely on earlier ones."""
