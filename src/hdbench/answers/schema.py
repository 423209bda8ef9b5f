"""The form that a benchmark's answers have: its `answer.schema.json`."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from hdbench.answers.blocks import Blocks
from hdbench.answers.schema_parts import (
    FieldSchema,
    choices_of,
    field_of,
    types_of,
    without_references,
)
from hdbench.answers.violations import MAX_NAME, Violation, violations_of
from hdbench.common.checked import read_text_file
from hdbench.common.jsonio import parse_file
from hdbench.errors import HdbenchError, Message

MAX_VIOLATIONS = 1_000
"""Maximum number of violations found in one answer: a hostile one can have millions."""

MAX_VALUES = 10_000
"""Maximum number of values in an answer that is searched for violations: each can be one. A page of
advertisements has some 200."""

_NESTED = (dict, list)

_NOTHING = object()
"""Placeholder for the record before the first one."""


def read_schema(path: Path) -> dict[str, Any]:
    """Return the JSON Schema in a file, as it is there.

    Raises:
        HdbenchError: the file cannot be read, or is not a JSON object.
    """
    schema = parse_file(read_text_file(path), path)
    if not isinstance(schema, dict):
        raise HdbenchError("{place}: not a JSON Schema: must be an object in braces", place=path)
    return schema


class AnswerSchema:
    """A JSON Schema (2020-12) of answers that are objects.

    Args:
        schema: the schema. References within it are followed; others are rejected.
        prompts: what models were shown: examples in it are not answers.

    Attributes:
        alternatives: the object schemas that it consists of, without references: those of an
            `anyOf` if it consists of that alone, otherwise one.
        names: the top-level fields of all alternatives.
        list_of_objects: the one required field, if it is a list of objects, and the objects'
            schema; otherwise None.
        all_names: the fields at any depth.
        prompts: each of the prompts with single spaces between its words.

    Raises:
        HdbenchError: it is not a valid JSON Schema.

    Example:
        >>> schema = AnswerSchema({
        ...     "type": "object",
        ...     "required": ["title"],
        ...     "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
        ... })
        >>> schema.type_of(("year",))
        {'integer'}
        >>> schema.fit({"title": "Stellingen", "year": "1924", "place": "Leiden"})
        1
        >>> [violation.field for violation in schema.violations({"year": "1924"})]
        ['title', 'year']
    """

    def __init__(self, schema: dict[str, Any], prompts: Iterable[str] = ()) -> None:
        # Messages leave out values: one can be as long as the whole answer.
        compiled = partial(Draft202012Validator, mask="the value", offline=True)
        try:
            compiled(schema)
        except ValidationError as error:
            reason = error.message[:MAX_NAME]
            raise HdbenchError(
                "not a valid JSON Schema (2020-12): {reason}", reason=reason
            ) from error
        plain = without_references(schema)
        choices = plain.get("anyOf", [plain]) if "properties" not in plain else [plain]
        self.alternatives: tuple[dict[str, Any], ...] = tuple(
            alternative for alternative in choices if isinstance(alternative, dict)
        )
        self.names = frozenset(
            name for alternative in self.alternatives for name in alternative.get("properties", {})
        )
        self._validators = [compiled(alternative) for alternative in self.alternatives]
        self._fields = [FieldSchema(alternative) for alternative in self.alternatives]
        self.all_names = frozenset(name for field in self._fields for name in field.names())
        self._required = [frozenset(schema.get("required", [])) for schema in self.alternatives]
        self.list_of_objects = self._list_of_objects()
        self._names_within = {
            name: inner.fields.keys()
            for field in self._fields
            for name, inner in field.fields.items()
            if inner.fields
        }
        prompts = list(prompts)
        self.prompts = [" ".join(prompt.split()) for prompt in prompts]
        self._shown = [value for prompt in prompts for value in self._examples(prompt)]
        self._checked: tuple[Any, bool] = (_NOTHING, False)  # the last record, and whether it keeps
        self._shown_leaves = [_leaves(value) for value in self._shown]

    @classmethod
    def load(cls, path: Path, prompts: Iterable[str] = ()) -> "AnswerSchema":
        """Return the schema in a file; for `prompts` see the class.

        Raises:
            HdbenchError: the file cannot be read, or is not a valid JSON Schema.
        """
        schema = read_schema(path)
        try:
            return cls(schema, prompts)
        except HdbenchError as error:
            raise HdbenchError("{place}: {why}", place=path, why=error) from error

    def _list_of_objects(self) -> tuple[str, dict[str, Any]] | None:
        only = self.alternatives[0] if len(self.alternatives) == 1 else {}
        required = only.get("required", [])
        field = only.get("properties", {}).get(required[0]) if len(required) == 1 else None
        items = field.get("items") if isinstance(field, dict) else None
        if not isinstance(items, dict) or types_of(items) != {"object"}:
            return None
        return (required[0], items) if types_of(field) == {"array"} else None

    def _examples(self, prompt: str) -> Iterator[Any]:
        """Return the objects and lists of objects in a prompt, read as in an answer."""
        blocks = Blocks(lists=self.list_of_objects is not None, is_whole=self.has_required)
        position = 0
        while (start := blocks.next(prompt, position)) is not None:
            block = blocks.at(prompt, start)
            if block.value:
                yield block.value
            position = max(block.end if block.value else 0, start + 1)

    def is_shown(self, value: Any, *, part: bool = False) -> bool:
        """Return whether a value appears in a prompt, as its example or template.

        Args:
            value: an object or list.
            part: whether the value broke off, so that a part of the example is enough.
        """
        if not part or value in self._shown:
            return value in self._shown
        # A single value can be equal by chance.
        leaves = _leaves(value)
        return len(leaves) > 1 and any(leaves <= shown for shown in self._shown_leaves)

    def of_objects(self, value: Any) -> dict[str, Any] | None:
        """Return the record whose one list was given bare, or as a single object from it.

        Each object of a list must have one of the objects' fields, and either no others or half of
        those that are required; a single object must have all required fields or, if none are
        required, no others.

        Returns:
            `{"advertisements": […]}`; None if the value is something else.
        """
        if self.list_of_objects is None:
            return None
        name, schema = self.list_of_objects
        fields, required = set(schema.get("properties", {})), set(schema.get("required", []))
        if isinstance(value, dict):
            is_complete = required <= value.keys() if required else fields >= value.keys()
            is_one = value and name not in value and is_complete
            return {name: [value]} if is_one else None
        is_list = isinstance(value, list) and all(
            isinstance(item, dict)
            and name not in item
            and fields & item.keys()
            and (fields >= item.keys() or 2 * len(required & item.keys()) >= len(required))
            for item in value
        )
        return {name: value} if value and is_list else None

    def lifted(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """Return a record that lacks fields with those that were written inside another field.

        Example:
            >>> name = {"type": "object", "properties": {"last_name": {}}}
            >>> schema = AnswerSchema(
            ...     {"properties": {"author": name, "title": {}}, "required": ["author", "title"]}
            ... )
            >>> schema.lifted({"author": {"last_name": "Müller", "title": "Stellingen"}})
            {'author': {'last_name': 'Müller'}, 'title': 'Stellingen'}

        Returns:
            None if there are none, or if the record is not whole with them.
        """
        lifted: dict[str, Any] = {}
        for name, value in record.items():
            own = self._names_within.get(name)
            if own and isinstance(value, dict):
                astray = (value.keys() & self.names) - own - record.keys()
                lifted[name] = {key: inner for key, inner in value.items() if key not in astray}
                lifted |= {key: inner for key, inner in value.items() if key in astray}
            else:
                lifted[name] = value
        return lifted if self.has_required(lifted) else None

    def type_of(self, path: tuple[str, ...]) -> set[str]:
        """Return the JSON types that a field may have in any alternative.

        Args:
            path: field names from the record inwards; `[]` stands for any item of a list.

        Returns:
            The names of types; none for a field that the schema does not have.
        """
        level: list[Any] = list(self.alternatives)
        for name in path:
            level = [
                inner
                for schema in level
                for choice in choices_of(schema)
                if (inner := field_of(choice, name)) is not None
            ]
        return {name for schema in level for name in types_of(schema)}

    def fit(self, value: Any) -> int:
        """Return how many values of an object are where the schema has a field of a fitting type.

        Returns:
            0 or more, higher is better; 0 for anything that is not an object.
        """
        if not isinstance(value, dict):
            return 0
        return max([0, *(field.fit(value) - 1 for field in self._fields)])

    def violations(self, record: Any) -> list[Violation]:
        """Return the violations of the schema, that is, of its best-fitting alternative.

        Returns:
            At most `MAX_VIOLATIONS`. A non-conforming answer with more than `MAX_VALUES` values is
            a single violation.
        """
        last, keeps = self._checked  # a record is checked when it is read
        if record is last and keeps:
            return []
        try:
            return self._violations(record)
        except UnicodeEncodeError:
            # A JSON escape can stand for half a surrogate pair, which the validator cannot handle.
            text = json.dumps(record, ensure_ascii=False)
            return self._violations(json.loads(text.encode("utf-8", errors="replace")))

    def has_required(self, record: Any) -> bool:
        """Return whether it has all required top-level fields of an alternative with any."""
        return isinstance(record, dict) and any(
            required and required <= record.keys() for required in self._required
        )

    def keeps_to(self, record: Any) -> bool:
        """Return whether there are no violations; faster than finding them.

        A schema that requires nothing allows any object; an object that has only other fields
        conforms to no schema.
        """
        if isinstance(record, dict) and record and self.names and self.names.isdisjoint(record):
            return False
        try:
            keeps = self._is_valid(record)
        except UnicodeEncodeError:
            return False
        self._checked = record, keeps
        return keeps

    def _is_valid(self, record: Any) -> bool:
        return any(validator.is_valid(record) for validator in self._validators)

    def _violations(self, record: Any) -> list[Violation]:
        if record is not self._checked[0] and self._is_valid(record):
            return []
        if _has_more_values(record, MAX_VALUES):
            wrong = Message("more than {most:,} values: not checked", most=MAX_VALUES)
            return [Violation("", "size", wrong, None)]
        several = len(self._fields) > 1
        fits = [field.fit(record) if several else 0 for field in self._fields]
        violations = [
            list(islice(violations_of(validator, record), MAX_VIOLATIONS))
            for validator, fit in zip(self._validators, fits, strict=True)
            if fit == max(fits)
        ]
        return min(violations, key=len, default=[])


def _leaves(value: Any) -> set[tuple[str, str]]:
    """Return the values in an object or list that are not blank, by their paths without indices."""
    leaves: set[tuple[str, str]] = set()
    waiting = [("", value)]
    while waiting and len(leaves) < MAX_VALUES:
        path, node = waiting.pop()
        if isinstance(node, dict):
            waiting += [(f"{path}.{name}", inner) for name, inner in node.items()]
        elif isinstance(node, list):
            waiting += [(path, inner) for inner in node]
        elif node not in (None, ""):
            leaves.add((path, str(node)))
    return leaves


def _has_more_values(record: Any, limit: int) -> bool:
    waiting, seen = [record], 1
    for value in waiting:  # which grows
        if isinstance(value, _NESTED):
            seen += len(value)
            if seen > limit:
                return True
            waiting += value.values() if isinstance(value, dict) else value
    return False
