"""The record in what a model wrote, and what had to be done to find it."""

import json
import re
from collections.abc import Container, Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from hdbench.answers.answer import KINDS, NESTED, STATUSES, Answer, Kind, Status, number_of_values
from hdbench.answers.blocks import respelled
from hdbench.answers.entries import REASONING
from hdbench.answers.plain_text import answer_in
from hdbench.answers.schema import CONFIDENCE, AnswerSchema, is_sure_value
from hdbench.common.bounds import (
    MAX_DAMAGED,
    MAX_INNER_DEPTH,
    MAX_LEAVES,
    MAX_LEVELS,
    MAX_LOOKED_AT,
    MAX_TEXTS,
    MAX_VALUES,
)
from hdbench.common.json_schema import ANY_TYPE
from hdbench.common.jsonio import FINITE, parse_json


def at_least(status: Status, answer: Answer) -> Answer:
    """Return an answer with the more serious of two statuses."""
    more = max(status, answer.status, key=STATUSES.index)
    return answer if more == answer.status else answer._replace(status=more)


MAX_PLACEHOLDER = 100
"""Maximum number of characters in a value that is a placeholder."""

# fmt: off
SCHEMA_WORDS = frozenset({"$defs", "$ref", "anyOf", "const", "enum", "properties"})
SAYS = frozenset({
    "tool_calls", "tool_call", "function_call", "arguments", "parameters", "input",
    "choices", "usage", "usageMetadata", "candidates", "finish_reason", "finishReason",
    "stop_reason", "done", "done_reason", "prompt_tokens", "completion_tokens", "input_tokens",
    "output_tokens",
    "message", "messages", "error", "errors", "detail", "details", "msg", "refusal",
})
"""What a call of a tool, a server's response, or a message has."""

ENVELOPE = SAYS | frozenset({
    "status", "code", "type", "reason", "title", "id", "role", "content", "name", "object", "model",
    "created", "created_at", "modelVersion", "responseId", "response", "total_duration", "index",
})
"""What servers, and models that speak like one, write around an answer or in place of one."""
# fmt: on

TYPE_WORD = r"(?:string|text|str|integer|int|number|float|boolean|bool|array|list|object|value)"
PLACEHOLDER = re.compile(
    rf"\.{{2,}}|…|_{{2,}}|yyyy(?:-mm(?:-dd)?)?|{TYPE_WORD}s?(?:\s(?:or|of)\s[\w ]{{1,40}})?"
)

OTHER_FORMAT = re.compile(
    r"\|[^\n]{0,1000}\n[ \t]*+(?:\|[ \t]*+)?:?-{3}"  # a table in Markdown
    r"|\A[\w\"-]{1,60}(?:([,;\t])[\w\"-]{1,60})+\r?\n[^\n]*\1"  # or in CSV
    r"|</[A-Za-z_][\w.-]{0,50}>"
)
KEY = re.compile(r"^[ \t]*(?:- +)?[\"']?([\w ]{1,40}?)[\"']?:(?=\s|$)", re.M)
FENCED = re.compile(r"^\s*(?:```|~~~)\w*\n|\n(?:```|~~~)\s*$")


Place = tuple[str | int, ...]


def is_repeated(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Return whether an object is the prompt's example, or the record's form with placeholders.

    Example:
        >>> is_repeated({"title": "string or empty string", "pages": "..."}, AnswerSchema({}))
        True
        >>> is_repeated({"title": "string", "year": 1924}, AnswerSchema({}))
        False
    """
    if value in schema.shown:
        return True
    return _is_template(value, "") and any(leaf for _, leaf in leaves_of(value))


def _is_template(value: Any, name: str) -> bool:
    """Return whether each value of a field is blank, says what belongs there, or is its name."""
    if isinstance(value, dict):
        return all(_is_template(inner, key) for key, inner in value.items())
    if isinstance(value, list):
        return all(_is_template(inner, name) for inner in value)
    if not value or value == "null":
        return True
    text = str(value)[: MAX_PLACEHOLDER + 1].strip(" \n{}[]<>").casefold()
    is_name = text.replace(" ", "_") == name.casefold()
    return is_name or PLACEHOLDER.fullmatch(text) is not None


def kind_of_object(value: dict[str, Any], schema: AnswerSchema) -> Kind | None:
    """Return what an object is, if it is not itself a record; a record may lie within it.

    Example:
        >>> kind_of_object({"message": "No image was given."}, AnswerSchema({}))
        'message'
    """
    if schema.names and is_schema(value, schema):
        return "repeated"
    is_said = value.keys() <= ENVELOPE and not SAYS.isdisjoint(value) and not schema.fit(value)
    return "message" if is_said or value.get("type") == "error" else None


def is_schema(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Return whether an object is a JSON Schema, or its `properties`, repeated by the model.

    Its fields have the names of the record's fields, and are where those would be.
    """
    if not SCHEMA_WORDS.isdisjoint(value) and not schema.has_required(value):
        return True
    fields = [field for name, field in value.items() if name in schema.all_names]
    inner = [field for field in fields if isinstance(field, dict)]
    if any(not SCHEMA_WORDS.isdisjoint(field) for field in inner):
        return True
    return len(inner) == len(fields) > 0 and all(field.get("type") in ANY_TYPE for field in inner)


def leaves_of(value: dict[str, Any] | list[Any], path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the values in an object or list that are not blank or `"null"`, with their paths.

    Example:
        >>> list(leaves_of({"author": {"last_name": "Müller"}, "pages": [1], "note": ""}))
        [(('author', 'last_name'), 'Müller'), (('pages', 0), 1)]
    """
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from leaves_of(inner, (*path, name))
        elif inner not in (None, "", "null"):
            yield (*path, name), inner


def kind_of_text(text: str, names: Container[str] = ()) -> Kind:
    r"""Return the kind of a text without a record in it.

    Args:
        text: the text without thoughts.
        names: the fields of a record.

    Example:
        >>> kind_of_text("<record><title>Stellingen</title></record>")
        'format'
        >>> kind_of_text("title: Stellingen\nauthor:\n  last_name: Müller\n")
        'format'
        >>> kind_of_text("| Field | Value |\n|---|---|\n| title | Stellingen |")
        'format'
        >>> kind_of_text("I cannot read it: the image is blurred.")
        'text'
    """
    text = FENCED.sub("", text[:MAX_LOOKED_AT])
    keys = [match[1].strip() for match in islice(KEY.finditer(text), MAX_LEAVES)]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    has_fields = len({key for key in keys if key in names}) > 1 or len(keys) * 2 > lines > 1
    return "format" if has_fields or OTHER_FORMAT.search(text) else "text"


_ANYTHING = AnswerSchema({})


def read_text(text: str, schema: AnswerSchema | None = None) -> Answer:
    r"""Return the record in a model's raw text, and what was done to find it.

    Valid JSON is taken as it is. In anything else, every bracket outside thoughts may open the
    record. Several records are joined if the schema allows it, as items of its list or as fields of
    one record; otherwise the last whole one counts, since what comes before it is an example or a
    draft. What the prompt shows is not an answer, and neither are a form with placeholders, a
    schema, a message and the other things that `Kind` lists. A bare list is a record if the schema
    has one list and requires nothing else. With a schema, an object that violates it and contains a
    better-fitting object is a wrapper; without a schema, no object is a wrapper. An object such as
    `{"value": 1957, "confidence": 0.9}` is its value, where the schema has no such object.

    Args:
        text: what the model wrote.
        schema: the form of the benchmark's answers.

    Returns:
        The record with its status; the text itself, a JSON value that is not an object, or the JSON
        of an object that is not a record, as `unparsable`; None for blank text and null, as
        `unanswered`.

    Example:
        >>> read_text('Here you are:\n```json\n{"year": 1957}\n```')[:2]
        ({'year': 1957}, 'unwrapped')
        >>> read_text('{"title": "Stellingen", "year": 19')[:2]
        ({'title': 'Stellingen'}, 'truncated')
        >>> read_text("I cannot read this card.")[1:3]
        ('unparsable', 'text')
    """
    return _Reader(schema or _ANYTHING).read(text)


def read_value(value: Any, schema: AnswerSchema | None = None) -> Answer:
    """Return the record in a given JSON value, such as a file's `prediction`.

    Args:
        value: a record, or a text, which is read as a text.
        schema: the form of the benchmark's answers.

    Returns:
        Same as in `read_text`.

    Example:
        >>> read_value([{"year": 1957}])[:2]
        ({'year': 1957}, 'unwrapped')
    """
    return _Reader(schema or _ANYTHING).read(value)


class _Reader:
    """The reading of one answer, and how much work it may still take."""

    def __init__(self, schema: AnswerSchema) -> None:
        self.schema = schema
        self.kinds: list[Kind] = []  # of what was found that is not a record
        self.blocks, self.texts = schema.blocks(), MAX_TEXTS

    def read(self, value: Any) -> Answer:
        """Return the record in an answer; if it holds none, what it is instead."""
        names, is_text = self.schema.all_names, isinstance(value, str)
        # Between two values of JSON there is a comma, which takes no time to count.
        if (value.count(",") if is_text else number_of_values(value) - 1) >= MAX_VALUES:
            return Answer(None, "unparsable", "other")
        answer = self.text(value, 0) if is_text else self.value(value, 0)
        found = answer.prediction
        if answer.status == "unparsable":
            if isinstance(found, dict):  # so that nobody takes it for a record
                answer = answer._replace(prediction=json.dumps(found, ensure_ascii=False))
            kind = min(self.kinds, key=KINDS.index)
            return answer if kind in ("text", "other") else answer._replace(kind=kind)
        if names and "value" not in names and (not is_text or "value" in value):
            confidences: dict[str, float] = {}
            plain = _without_confidence(found, "", confidences)
            if plain != found:
                answer = answer._replace(prediction=plain, confidences=confidences)
                return at_least("unwrapped", answer)
        return answer

    def text(self, text: str, level: int) -> Answer:
        """Return the record in a text."""
        body = text.strip().lstrip("\ufeff").strip()
        if not body:
            return Answer(None, "unanswered")
        try:
            value = parse_json(body, FINITE)
        except ValueError:
            return self.damaged(text, answer_in(body), level)
        if isinstance(value, str) and level < MAX_LEVELS:
            return at_least("unwrapped", self.text(value, level + 1))
        return self.value(value, level)

    def damaged(self, text: str, body: str, level: int) -> Answer:
        """Return the record in a text that is not JSON, of which only the body counts."""
        if not body.strip():
            return self.nothing(text, "thoughts")
        if self.schema.is_of_prompt(body):
            return self.nothing(text, "repeated")
        answer = self.search(body, level)
        is_sound = answer is not None and answer.status == "unwrapped"
        if not (answer and is_sound and self.schema.has_required(answer.prediction)):
            other = respelled(body, self.schema.names) if len(body) <= MAX_DAMAGED else body
            better = self.search(other, level) if other != body else None
            # Sound JSON stays, unless the other fits better; damaged JSON goes.
            if better and (not is_sound or self.fit(better) > self.fit(answer)):
                answer = at_least("repaired", better)
        return answer or self.nothing(text, kind_of_text(body, self.schema.all_names))

    def search(self, text: str, level: int) -> Answer | None:
        """Return the record in a text that is not JSON."""
        found = self.blocks.found(text)
        answers = (at_least(block.status, self.value(block.value, level)) for block in found)
        records = [answer for answer in answers if answer.is_record and answer.prediction]
        return self.one(records) if records else None

    def fit(self, answer: Answer | None) -> int:
        return self.schema.fit(answer and answer.prediction)

    def nothing(self, value: Any, kind: Kind) -> Answer:
        self.kinds.append(kind)
        return Answer(value, "unparsable", kind)

    def value(self, value: Any, level: int) -> Answer:
        """Return the record in a JSON value other than a text."""
        if value is None:
            return Answer(None, "unanswered")
        schema, before = self.schema, len(self.kinds)
        keeps = schema.keeps_to(value)
        if keeps and schema.names and isinstance(value, dict) and not is_repeated(value, schema):
            return Answer(value)
        named = value if keeps else _with_names(value, schema.all_names)
        status: Status = "clean" if keeps or named == value else "repaired"
        if records := self.records(named, level):
            return at_least(status, self.one(records))
        is_other = any(kind != "text" for kind in self.kinds[before:])
        # Values of wrong types, or none.
        if isinstance(named, dict) and not is_other and not schema.has_other_fields(named):
            return Answer(named, status)
        return self.nothing(value, "other")

    def records(
        self, node: Any, level: int, depth: int = 0, *, in_schema: bool = False
    ) -> list[Answer]:
        """Return the records in a value, in order; of nested ones, those that fit better."""
        if isinstance(node, str) and "{" in node and self.texts and level < MAX_LEVELS:
            self.texts -= 1
            answer = self.text(node, level + 1)
            return [at_least("unwrapped", answer)] if answer.is_record else []
        if not isinstance(node, dict | list) or depth > MAX_INNER_DEPTH:
            return []
        schema = self.schema
        record = node if isinstance(node, dict) else schema.of_objects(node)
        status: Status = "unwrapped" if depth else "clean"
        if record:
            if is_repeated(record, schema):
                self.kinds.append("repeated")
                return []
            whole = record if record is node and schema.keeps_to(node) else None
            kind = None if whole and schema.names else kind_of_object(record, schema)
            if kind:
                self.kinds.append(kind)
                if not schema.names:
                    return []
            # Parts of a repeated schema fit by chance: there, the field `type` has a `type` too.
            if kind or (in_schema and not schema.has_required(record)):
                record, in_schema = None, in_schema or kind == "repeated"
            elif record is node and (whole := whole or schema.completed(record)):
                return [Answer(whole, status if whole is node else "repaired")]
        record = (record and schema.of_objects(record)) or record
        inner = [
            answer
            for child in self.children(node)
            for answer in self.records(child, level, depth + 1, in_schema=in_schema)
        ]
        fit = schema.fit(record)
        is_record = fit and fit >= max(map(self.fit, inner), default=0)
        return [Answer(record, status if record is node else "unwrapped")] if is_record else inner

    def children(self, node: Any) -> list[Any]:
        """Return what may hold a record: not what a model thought."""
        if isinstance(node, list):
            return node
        thoughts = [key for key in node.keys() & REASONING if isinstance(node[key], str)]
        if any(node[key].strip() for key in thoughts) and not node.get("content"):
            self.kinds.append("thoughts")
        return [inner for key, inner in node.items() if key not in thoughts]

    def one(self, records: list[Answer]) -> Answer:
        """Return the one record of several.

        Two records are joined if they do not say the same thing differently: other items of the
        list, other fields. If they do, the later one counts, unless it is only a part of a record.

        Args:
            records: at least one, in order.
        """
        if not self.schema.names or len(records) == 1:
            return records[-1]
        one, *others = records
        name, _ = self.schema.list_of_objects or ("", {})
        lists = [record.prediction.get(name) for record in records]
        # Items that came one by one are each taken as a new item, however similar to another.
        singly = all(isinstance(items, list) and len(items) == 1 for items in lists)
        for record in others:
            joined = self.joined(one.prediction, record.prediction, singly=singly)
            least = 2 if record.status == "truncated" else 1
            if joined is not None:
                one = at_least("unwrapped", at_least(one.status, record))
                one = one._replace(prediction=joined)
            elif 2 * self.fit(record) >= least * self.fit(one):
                one = record
        return one

    def joined(
        self, one: dict[str, Any], other: dict[str, Any], *, singly: bool
    ) -> dict[str, Any] | None:
        """Return both as one record; None if they are about the same."""
        if one == other:
            return one
        if self.schema.list_of_objects is None:
            has, adds = dict(leaves_of(one)), dict(leaves_of(other))
            differ = any(has[path] != adds[path] for path in has.keys() & adds.keys())
            return None if differ else _merged(one, other)
        name, _ = self.schema.list_of_objects
        items, more = one.get(name), other.get(name)
        if not isinstance(items, list) or not isinstance(more, list):
            return None
        # Half the words are the same in a draft, or a part of it.
        fewer, words = sorted((_words(items), _words(more)), key=len)
        is_draft = 2 * len(fewer & words) > len(fewer)
        return None if is_draft and not (singly and len(items) > 1) else {name: [*items, *more]}


def _words(items: list[Any]) -> set[str]:
    """Return the words in a list of objects."""
    return {word for _, leaf in leaves_of(items) for word in str(leaf).split()}


def _merged(one: Any, other: Any) -> Any:
    """Return the values of both; of two that are no objects the second, unless it is blank."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {key: _merged(one.get(key), value) for key, value in other.items()}
    return other if any(leaves_of([other])) or one is None else one


def _with_names(value: Any, names: frozenset[str]) -> Any:
    """Return a value with the schema's names for keys that are these but for marks around them."""
    if isinstance(value, list):
        return [_with_names(inner, names) for inner in value]
    if not isinstance(value, dict):
        return value
    named: dict[str, Any] = {}
    for key, inner in value.items():
        name = key if key in names else unquote(key).replace("\\", "").strip('"* :\u00a0')
        is_meant = name in names and name not in value
        child = _with_names(inner, names) if type(inner) in NESTED else inner
        named[name if is_meant else key] = child
    return named


def _without_confidence(node: Any, path: str, confidences: dict[str, float]) -> Any:
    """Return a value without the objects that have a value and its confidence."""
    if path and is_sure_value(node):
        number = next(node[key] for key in CONFIDENCE & node.keys())
        if isinstance(number, int | float):
            confidences[path] = float(number)
        return _without_confidence(node["value"], path, confidences)
    if isinstance(node, list):
        items = enumerate(node)
        return [_without_confidence(item, f"{path}[{n}]", confidences) for n, item in items]
    if not isinstance(node, dict):
        return node
    dot = "." if path else ""
    return {
        name: _without_confidence(inner, f"{path}{dot}{name}", confidences)
        for name, inner in node.items()
    }
