"""The form that a benchmark's answers have, its `answer.schema.json`, and what violates it."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from hdbench.answers.answer import number_of_values
from hdbench.answers.blocks import Blocks
from hdbench.common.bounds import MAX_CHECKED, MAX_VIOLATIONS
from hdbench.common.json_schema import (
    JSON_TYPES,
    parts_of,
    read_schema,
    types_of,
    without_references,
)
from hdbench.errors import HdbenchError, Message

CONFIDENCE = frozenset({"confidence", "confidence_score", "score", "probability"})
BESIDE = CONFIDENCE | {"value", "reasoning", "source"}
"""What may be in an object in place of a value."""


def is_sure_value(value: Any) -> bool:
    """Return whether a value is an object of a value and how sure the model is of it.

    Example:
        >>> is_sure_value({"value": 1957, "confidence": 0.9}), is_sure_value({"value": 1957})
        (True, False)
    """
    return (
        isinstance(value, dict)
        and "value" in value
        and value.keys() <= BESIDE
        and not CONFIDENCE.isdisjoint(value)
    )


MIN_PROMPT = 40
"""Minimum number of characters in a text for it to be recognized as a part of the prompt."""

MAX_NAME = 200
"""Maximum number of characters in a field's name or a message; names come from answers."""

_MISSING = Message("is missing")
_NOT_IN_SCHEMA = Message("is not in the schema")


class Violation(NamedTuple):
    """One place where an answer does not conform to the schema.

    Attributes:
        field: the dotted path, such as `publication.year` or `advertisements[].date`; empty for the
            record itself.
        rule: the JSON Schema keyword that is violated, such as `type`, `required` or
            `additionalProperties`; the latter two are reported for the missing and the extra field
            itself.
        message: what is wrong, without the value.
        value: what is there; None if the field is missing.
    """

    field: str
    rule: str
    message: Message
    value: Any


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
        shown: the objects in the prompts: an example or template.

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

    def __init__(self, schema: dict[str, Any], prompts: Sequence[str] = ()) -> None:
        # Messages leave out values: one can be as long as the whole answer.
        compiled = partial(Draft202012Validator, mask="the value", offline=True)
        try:
            compiled(schema)
        except ValidationError as error:
            wrong = "not a valid JSON Schema (2020-12): {reason}"
            raise HdbenchError(wrong, reason=error.message[:MAX_NAME]) from error
        plain = without_references(schema)
        choices = [plain] if "properties" in plain else plain.get("anyOf", [plain])
        self.alternatives: list[dict[str, Any]] = [
            choice for choice in choices if isinstance(choice, dict)
        ]
        self._validators = [compiled(alternative) for alternative in self.alternatives]
        self._required = [frozenset(schema.get("required", [])) for schema in self.alternatives]
        self._types = defaultdict[tuple[str, ...], frozenset[str]](frozenset)
        for alternative in self.alternatives:
            for path, part in parts_of(alternative):
                self._types[path] |= types_of(part)
        self.names = frozenset(path[0] for path in self._types if len(path) == 1) - {"[]"}
        self.all_names = frozenset(name for path in self._types for name in path) - {"[]"}
        self.list_of_objects = self._list_of_objects()
        self._prompts = [" ".join(prompt.split()) for prompt in prompts]
        self._checked: tuple[Any, bool] = None, False
        self.shown = [block.value for prompt in prompts for block in self.blocks().found(prompt)]

    @classmethod
    def load(cls, path: Path, prompts: Sequence[str] = ()) -> "AnswerSchema":
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
        name, *others = only.get("required") or [""]
        field = only.get("properties", {}).get(name, {})
        types = [self.type_of((name,)), self.type_of((name, "[]"))]
        is_list = not others and types == [{"array"}, {"object"}] and "items" in field
        return (name, field["items"]) if is_list else None

    def blocks(self) -> Blocks:
        """Return what finds records in a text."""
        return Blocks(lists=bool(self.list_of_objects), is_whole=self.has_required)

    def is_of_prompt(self, text: str) -> bool:
        """Return whether a text is a prompt, or a part of it."""
        words = " ".join(re.sub(r"^>", "", text, flags=re.MULTILINE).split())
        return len(words) >= MIN_PROMPT and any(words in prompt for prompt in self._prompts)

    def of_objects(self, value: Any) -> dict[str, Any] | None:
        """Return the record whose one list was given bare, or as a single object from it.

        Each object of a list must have one of the objects' fields, and either no others or half of
        those that are required; a single object must have all required fields or, if none are
        required, no others.

        Returns:
            `{"advertisements": […]}`; None if the value is something else.
        """
        if self.list_of_objects is None or not value:
            return None
        name, schema = self.list_of_objects
        fields, required = set(schema.get("properties", {})), set(schema.get("required", []))
        if isinstance(value, dict):
            is_complete = required <= value.keys() if required else fields >= value.keys()
            return {name: [value]} if name not in value and is_complete else None
        is_list = isinstance(value, list) and all(
            isinstance(item, dict)
            and name not in item
            and fields & item.keys()
            and (fields >= item.keys() or 2 * len(required & item.keys()) >= len(required))
            for item in value
        )
        return {name: value} if is_list else None

    def completed(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """Return a record with all required fields, also those written inside another field.

        Example:
            >>> name = {"type": "object", "properties": {"last_name": {}}}
            >>> schema = AnswerSchema(
            ...     {"properties": {"author": name, "title": {}}, "required": ["author", "title"]}
            ... )
            >>> schema.completed({"author": {"last_name": "Müller", "title": "Stellingen"}})
            {'author': {'last_name': 'Müller'}, 'title': 'Stellingen'}

        Returns:
            None if there are others that it lacks.
        """
        if self.has_required(record):
            return record
        lifted = dict(record)
        for name, value in record.items():
            if isinstance(value, dict) and name in self.names:
                own = {key for key in value if key in record or (name, key) in self._types}
                astray = {key: value[key] for key in value if key in self.names - own}
                lifted[name] = {key: value[key] for key in value if key not in astray}
                lifted |= astray
        return lifted if self.has_required(lifted) else None

    def type_of(self, path: tuple[str, ...]) -> set[str]:
        """Return the JSON types that a field may have in any alternative.

        Args:
            path: field names from the record inwards; `[]` stands for any item of a list.

        Returns:
            The names of types; none for a field that the schema does not have.
        """
        return set(self._types.get(path, ()))

    def fit(self, value: Any, path: tuple[str, ...] = ()) -> int:
        """Return how many values of an object are where the schema has a field of a fitting type.

        Args:
            value: an object or list; anything else has no values.
            path: where it is in the record.

        Returns:
            0 or more, higher is better; 0 for anything that is not an object.
        """
        inner: Iterable[tuple[str, Any]] = value.items() if isinstance(value, dict) else ()
        if isinstance(value, list):
            inner = zip(repeat("[]"), value)
        number = 0
        for name, child in inner:
            place = (*path, name)
            is_sure = is_sure_value(child) and (*place, "value") not in self._types
            plain = child["value"] if is_sure else child
            if not JSON_TYPES[type(plain)].isdisjoint(self._types.get(place, ())):
                number += 1 + self.fit(plain, place)
        return number

    def has_required(self, record: Any) -> bool:
        """Return whether it has all required top-level fields of an alternative with any."""
        return isinstance(record, dict) and any(
            required and required <= record.keys() for required in self._required
        )

    def has_other_fields(self, record: Any) -> bool:
        """Return whether it has fields, but none of the schema's."""
        is_known = not self.names or not isinstance(record, dict)
        return not is_known and bool(record) and self.names.isdisjoint(record)

    def keeps_to(self, record: Any) -> bool:
        """Return whether there are no violations; faster than finding them.

        A schema that requires nothing allows any object; an object that has only other fields
        conforms to no schema.
        """
        if record is not self._checked[0]:  # a record is checked when it is read, and when scored
            keeps = not self.has_other_fields(record)
            try:
                keeps = keeps and any(each.is_valid(record) for each in self._validators)
            except UnicodeEncodeError:  # half a surrogate pair, which the validator cannot handle
                keeps = False
            self._checked = record, keeps
        return self._checked[1]

    def violations(self, record: Any) -> list[Violation]:
        """Return the violations of the schema, that is, of the alternative with the fewest.

        Returns:
            At most `MAX_VIOLATIONS`. A non-conforming answer with more than `MAX_CHECKED` values is
            a single violation.
        """
        if self.keeps_to(record):
            return []
        if number_of_values(record) > MAX_CHECKED:
            wrong = Message("more than {most:,} values: not checked", most=MAX_CHECKED)
            return [Violation("", "size", wrong, None)]
        try:
            found = [[*islice(_found(each, record), MAX_VIOLATIONS)] for each in self._validators]
        except UnicodeEncodeError:
            text = json.dumps(record, ensure_ascii=False)
            return self.violations(json.loads(text.encode("utf-8", errors="replace")))
        return min(found, key=len, default=[])


def _found(validator: Draft202012Validator, record: Any) -> Iterator[Violation]:
    for error in validator.iter_errors(record):
        path, rule, kind = error.instance_path, error.kind.name, error.kind
        if isinstance(kind, ValidationErrorKind.Required):
            yield Violation(_dotted([*path, kind.property]), rule, _MISSING, None)
        elif isinstance(kind, ValidationErrorKind.AdditionalProperties):
            extra = error.instance if isinstance(error.instance, dict) else {}
            for name in kind.unexpected:
                yield Violation(_dotted([*path, name]), rule, _NOT_IN_SCHEMA, extra[name])
        else:
            yield Violation(_dotted(path), rule, Message(error.message[:MAX_NAME]), error.instance)


def _dotted(path: Iterable[str | int]) -> str:
    """Return a path with `[]` for any item of a list.

    Example:
        >>> _dotted(["advertisements", 3, "date"])
        'advertisements[].date'
    """
    parts = ("[]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")[:MAX_NAME]
