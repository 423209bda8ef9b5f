"""Violations of a schema by an answer, and the messages about them."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationErrorKind

from hdbench.errors import Message

MAX_NAME = 200
"""Maximum number of characters in a field's name or a message; names come from answers."""

_MISSING = Message("is missing")
_NOT_IN_SCHEMA = Message("is not in the schema")

_TEMPLATES = (
    "the value is not of type {types}",
    "the value is not of types {types}",
    "the value is not one of {others} or {last}",
    "the value does not match {pattern}",
    "the value has non-unique elements",
    "the value is less than the minimum of {limit}",
    "the value is less than or equal to the minimum of {limit}",
    "the value is greater than the maximum of {limit}",
    "the value is greater than or equal to the maximum of {limit}",
    "the value has less than {limit} item",
    "the value has less than {limit} items",
    "the value has more than {limit} item",
    "the value has more than {limit} items",
    "the value is shorter than {limit} character",
    "the value is shorter than {limit} characters",
    "the value is longer than {limit} character",
    "the value is longer than {limit} characters",
    "the value is not valid under any of the schemas listed in the '{keyword}' keyword",
    "{value} was expected",
)
"""Messages of the library for JSON Schema if the value is masked. They become patterns, so none
has a sign with a meaning in those."""

_PLACE = re.compile(r"\{(\w+)\}")


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


def violations_of(validator: Draft202012Validator, record: Any) -> Iterator[Violation]:
    """Yield where a record does not conform to a schema."""
    for error in validator.iter_errors(record):
        path, rule, kind = error.instance_path, error.kind.name, error.kind
        if isinstance(kind, ValidationErrorKind.Required):
            yield Violation(_dotted([*path, kind.property]), rule, _MISSING, None)
        elif isinstance(kind, ValidationErrorKind.AdditionalProperties):
            extra = error.instance if isinstance(error.instance, dict) else {}
            for name in kind.unexpected:
                yield Violation(_dotted([*path, name]), rule, _NOT_IN_SCHEMA, extra[name])
        else:
            yield Violation(_dotted(path), rule, _message(error.message[:MAX_NAME]), error.instance)


def _dotted(path: Iterable[str | int]) -> str:
    """Return a path with `[]` for any item of a list.

    Example:
        >>> _dotted(["advertisements", 3, "date"])
        'advertisements[].date'
    """
    parts = ("[]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")[:MAX_NAME]


@lru_cache(maxsize=4096)  # a few texts come again and again
def _message(text: str) -> Message:
    """Return what the library says, as a message.

    Example:
        >>> _message('the value is not of type "string"').values
        {'types': '"string"'}
    """
    for template, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return Message(template, **match.groupdict())
    return Message(text)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return each template, and what fits it."""
    return [(template, re.compile(_PLACE.sub(r"(?P<\1>.+)", template))) for template in _TEMPLATES]
