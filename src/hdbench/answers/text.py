"""The record in what a model wrote, and what had to be done to find it."""

import json
import re
from collections.abc import Container, Iterator
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import unquote

from rapidfuzz import fuzz

from hdbench.answers.answer import Answer, Kind, Status, number_of_values
from hdbench.answers.blocks import Blocks, respelled
from hdbench.answers.entries import REASONING
from hdbench.answers.plain_text import answer_in
from hdbench.answers.schema import CONFIDENCE, AnswerSchema, is_sure_value
from hdbench.common.bounds import (
    MAX_CHARACTERS,
    MAX_COMPARED,
    MAX_DAMAGED,
    MAX_INNER_DEPTH,
    MAX_LEAVES,
    MAX_LEVELS,
    MAX_LOOKED_AT,
    MAX_NODES,
    MAX_TEXTS,
    MAX_VALUES,
)
from hdbench.common.jsonio import FINITE, parse_json

SAME = 80.0
"""Minimum similarity of two texts, 0 to 100, at which one is taken for a draft of the other."""

SEVERITY: dict[Status, int] = {"clean": 0, "unwrapped": 1, "repaired": 2, "truncated": 3}


def at_least(status: Status, answer: Answer) -> Answer:
    """Return an answer with the more serious of two statuses, or as it is without a record."""
    if SEVERITY.get(answer.status, 9) >= SEVERITY[status]:
        return answer
    return answer._replace(status=status)


MAX_PLACEHOLDER = 100
"""Maximum number of characters in a value that is a placeholder."""

# fmt: off
SCHEMA_WORDS = frozenset({"$defs", "$ref", "anyOf", "const", "enum", "properties"})
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

CALLS = frozenset({"tool_calls", "tool_call", "function_call"})
CALLED_WITH = frozenset({"arguments", "parameters", "input"})
RESPONDS = frozenset({
    "choices", "usage", "usageMetadata", "candidates", "finish_reason", "finishReason",
    "stop_reason", "done", "done_reason", "prompt_tokens", "completion_tokens", "input_tokens",
    "output_tokens",
})
SAYS = frozenset({"message", "messages", "error", "errors", "detail", "details", "msg", "refusal"})
ENVELOPE = CALLS | CALLED_WITH | RESPONDS | SAYS | frozenset({
    "status", "code", "type", "reason", "title", "id", "role", "content", "name", "object", "model",
    "created", "created_at", "modelVersion", "responseId", "response", "total_duration", "index",
})
"""What servers, and models that speak like one, write around an answer or in place of one."""
# fmt: on

TYPE_WORD = r"(?:string|text|str|integer|int|number|float|boolean|bool|array|list|object|value)"
PLACEHOLDER = re.compile(
    rf"\.{{2,}}|…|_{{2,}}|yyyy(?:-mm(?:-dd)?)?|{TYPE_WORD}s?(?:\s(?:or|of)\s[\w ]{{1,40}})?"
)

RULER = re.compile(r"\|[^\n]{0,1000}\n[ \t]*+(?:\|[ \t]*+)?:?-{3}")
CSV = re.compile(r"[\w\"-]{1,60}(?:([,;\t])[\w\"-]{1,60})+\r?\n[^\n]*\1")
ELEMENT = re.compile(r"<([A-Za-z_][\w.-]{0,50})(?:\s[^<>]{0,500})?>")
KEY = re.compile(r"^[ \t]*(?:- +)?[\"']?([\w ]{1,40}?)[\"']?:(?=\s|$)", re.M)
FENCED = re.compile(r"^\s*(?:```|~~~)\w*\n|\n(?:```|~~~)\s*$")


def kind_of_object(
    value: dict[str, Any], schema: AnswerSchema, *, keeps: bool = False
) -> Kind | None:
    """Return what an object is, if it is not itself a record; a record may lie within it.

    Args:
        value: the object.
        schema: the form of the benchmark's answers.
        keeps: whether it is known to conform to the schema, so that it can only be an example or
            template.

    Example:
        >>> kind_of_object({"message": "No image was given."}, AnswerSchema({}))
        'message'
        >>> kind_of_object({"title": "string", "author": "string"}, AnswerSchema({}))
        'template'
    """
    if schema.names and not keeps and is_schema(value, schema):
        return "schema"
    if schema.is_shown(value):
        return "prompt"
    if is_template(value):
        return "template"
    return None if keeps else _kind_of_message(value, schema)


def _kind_of_message(value: dict[str, Any], schema: AnswerSchema) -> Kind | None:
    """Return what an object of a server or of a model that speaks like one is."""
    keys = value.keys()
    is_error = value.get("type") == "error"
    if not is_error and (not keys <= ENVELOPE or schema.fit(value)):
        return None
    if keys & CALLS or ("name" in keys and keys & CALLED_WITH):
        return "tool_call"
    if keys & RESPONDS:
        return "response"
    return "message" if is_error or keys & SAYS else None


def is_schema(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Return whether an object is a JSON Schema, or its `properties`, repeated by the model.

    Its fields have the names of the record's fields, and are where those would be.
    """
    if not SCHEMA_WORDS.isdisjoint(value) and not schema.has_required(value):
        return True
    fields = [field for name, field in value.items() if name in schema.all_names]
    inner = [field for field in fields if isinstance(field, dict)]
    if not all(SCHEMA_WORDS.isdisjoint(field) for field in inner):
        return True
    return len(inner) == len(fields) > 0 and all(field.get("type") in TYPES for field in inner)


Place = tuple[str | int, ...]


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


def is_template(value: dict[str, Any]) -> bool:
    """Return whether each value that is not blank or 0 is a placeholder, and there is at least one.

    Example:
        >>> is_template({"title": "string or empty string", "year": 0, "pages": "..."})
        True
        >>> is_template({"title": "string", "year": 1924})
        False
    """
    found = (_is_placeholder(path, str(leaf)) for path, leaf in leaves_of(value) if leaf)
    return next(found, False) and all(found)


def _is_placeholder(path: Place, text: str) -> bool:
    """Return whether a text says what belongs in its place, or is the name of its field."""
    if len(text) > MAX_PLACEHOLDER:
        return False
    text = text.strip(" \n{}[]<>").casefold()
    if PLACEHOLDER.fullmatch(text):
        return True
    names = (name for name in reversed(path) if isinstance(name, str))
    return text.replace(" ", "_") == next(names).casefold()


def kind_of_text(text: str, names: Container[str] = ()) -> Kind:
    r"""Return the kind of a text without a record in it.

    Args:
        text: the text without thoughts.
        names: the fields of a record.

    Example:
        >>> kind_of_text("<record><title>Stellingen</title></record>")
        'xml'
        >>> kind_of_text("title: Stellingen\nauthor:\n  last_name: Müller\n")
        'yaml'
        >>> kind_of_text("| Field | Value |\n|---|---|\n| title | Stellingen |")
        'table'
    """
    text = FENCED.sub("", text[:MAX_LOOKED_AT])
    if RULER.search(text) or "</table>" in text or CSV.match(text):
        return "table"
    if any(f"</{element[1]}>" in text for element in islice(ELEMENT.finditer(text), 20)):
        return "xml"
    keys = [match[1].strip() for match in islice(KEY.finditer(text), MAX_LEAVES)]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    fields = {key for key in keys if key in names}
    return "yaml" if len(fields) > 1 or len(keys) * 2 > lines > 1 else "text"


MIN_PROMPT = 40
"""Minimum number of characters in a text for it to be recognized as a part of the prompt."""

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
        self.texts, self.nodes, self.compared = MAX_TEXTS, MAX_NODES, MAX_COMPARED

    @cached_property
    def blocks(self) -> Blocks:  # which most answers do not need
        schema = self.schema
        return Blocks(lists=bool(schema.list_of_objects), is_whole=schema.has_required)

    def read(self, value: Any) -> Answer:
        """Return the record in an answer; if it holds none, what it is instead."""
        schema, is_text = self.schema, isinstance(value, str)
        answer = self.text(value, 0) if is_text else self.value(value, 0)
        found = answer.prediction
        if (not is_text or len(value) > MAX_VALUES) and number_of_values(found) > MAX_VALUES:
            return Answer(None, "unparsable", "other")
        if answer.status != "unparsable":
            may_be_sure = schema.names and (not is_text or "value" in value)
            if may_be_sure and "value" not in schema.all_names:
                confidences: dict[str, float] = {}
                plain = _without_confidence(found, "", confidences)
                if plain != found:
                    answer = answer._replace(prediction=plain, confidences=confidences)
                    answer = at_least("unwrapped", answer)
            return answer
        if isinstance(found, dict):  # so that nobody takes it for a record
            answer = answer._replace(prediction=json.dumps(found, ensure_ascii=False))
        for kind in ("prompt", "thoughts", *self.kinds):  # the first two whatever is around them
            if kind in self.kinds and kind not in ("text", "other"):
                return answer._replace(kind=kind)
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
        if self.is_of_prompt(body):
            return self.nothing(text, "prompt")
        answer = self.search(body, level)
        is_sound = answer is not None and answer.status == "unwrapped"
        if not (answer and is_sound and self.fit(answer)) and len(body) <= MAX_DAMAGED:
            other = respelled(body, self.schema.names)
            before = len(self.kinds)
            if other != body and (better := self.search(other, level)):
                # Sound JSON stays, unless the other fits better; damaged JSON goes.
                if not is_sound or (answer and self.fit(better) > self.fit(answer)):
                    answer = at_least("repaired", better)
            elif self.kinds[before:]:
                answer = None
        return answer or self.nothing(text, kind_of_text(body, self.schema.all_names))

    def is_of_prompt(self, text: str) -> bool:
        """Return whether a text is the benchmark's prompt, or a part of it."""
        if len(text) > 2 * max(map(len, self.schema.prompts), default=0):
            return False
        words = " ".join(text.split())
        return len(words) >= MIN_PROMPT and any(words in prompt for prompt in self.schema.prompts)

    def search(self, text: str, level: int) -> Answer | None:
        """Return the record in a text that is not JSON."""
        found = self.blocks.found(text)
        answers = (at_least(block.status, self.value(block.value, level)) for block in found)
        records = [answer for answer in answers if answer.is_record and answer.prediction]
        return self.one(records) if records else None

    def fit(self, answer: Answer) -> int:
        return self.schema.fit(answer.prediction)

    def nothing(self, value: Any, kind: Kind) -> Answer:
        self.kinds.append(kind)
        return Answer(value, "unparsable", kind)

    def value(self, value: Any, level: int) -> Answer:
        """Return the record in a JSON value other than a text."""
        if value is None:
            return Answer(None, "unanswered")
        schema, named, before = self.schema, value, len(self.kinds)
        status: Status = "clean"
        if isinstance(value, dict):
            keeps = not schema.names or schema.keeps_to(value)
            if not keeps:
                named = _with_names(value, schema.all_names)
                status = "clean" if named == value else "repaired"
            kind = kind_of_object(named, schema, keeps=keeps and bool(schema.names))
            if kind and (keeps or kind in ("prompt", "template")):
                return self.nothing(value, kind)
            whole = named if keeps else schema.completed(named)
            if not kind and whole is not None:
                return Answer(whole, status if whole is named else "repaired")
        if records := self.records(named, level):
            return at_least(status, self.one(records))
        kinds = [kind for kind in self.kinds[before:] if kind != "text"]
        # Values of wrong types, or none.
        if isinstance(named, dict) and not kinds and not (named and schema.names.isdisjoint(named)):
            return Answer(named, status)
        return self.nothing(value, kinds[0] if kinds else "other")

    def records(
        self, node: Any, level: int, depth: int = 0, *, in_schema: bool = False
    ) -> list[Answer]:
        """Return the records in a value, in order; of nested ones, those that fit better."""
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_INNER_DEPTH or not isinstance(node, str | dict | list):
            return []
        if isinstance(node, str):
            return self.in_text(node, level)
        schema = self.schema
        record = node if isinstance(node, dict) else schema.of_objects(node)
        kind = record and kind_of_object(record, schema)
        if kind:
            self.kinds.append(kind)
            if kind in ("prompt", "template") or not schema.names:
                return []
            record, in_schema = None, in_schema or kind == "schema"
        # Parts of a repeated schema fit by chance: there, the field `type` has a `type` too.
        elif depth and in_schema and not schema.has_required(node):
            record = None
        record = (record and schema.of_objects(record)) or record
        inner = [
            answer
            for child in islice(self.children(node), MAX_NODES)
            for answer in self.records(child, level, depth + 1, in_schema=in_schema)
        ]
        fit = schema.fit(record)
        is_record = fit > 0 or bool(record and not schema.names)
        if not is_record or fit < max(map(self.fit, inner), default=0):
            return inner
        return [Answer(record, "clean" if record is node and not depth else "unwrapped")]

    def in_text(self, text: str, level: int) -> list[Answer]:
        """Return the record in a text within a value."""
        if "{" not in text or not self.texts or level >= MAX_LEVELS:
            return []
        self.texts -= 1
        answer = self.text(text, level + 1)
        return [at_least("unwrapped", answer)] if answer.is_record else []

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

        Returns:
            The record, with `set_aside` if one of them is not part of it.
        """
        if not self.schema.names:
            return records[-1]
        one, *others = records
        name, _ = self.schema.list_of_objects or ("", {})
        lists = [record.prediction.get(name) for record in records]
        # Items that came one by one are each taken as a new item, however similar to another.
        singly = all(isinstance(items, list) and len(items) == 1 for items in lists)
        for record in others:
            joined = self.joined(one.prediction, record.prediction, singly=singly)
            if joined is not None:
                status = at_least(one.status, record).status
                one = at_least("unwrapped", Answer(joined, status, None, one.set_aside))
            elif record.status != "truncated" or self.fit(record) > self.fit(one):
                is_part = 2 * self.fit(record) < self.fit(one)
                one = (one if is_part else record)._replace(set_aside=True)
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
        is_next = singly and len(items) > 1
        return {name: [*items, *more]} if is_next or not self.is_draft(items, more) else None

    def is_draft(self, items: list[Any], others: list[Any]) -> bool:
        """Return whether half of the shorter list's items or more are (nearly) in the other."""
        shorter, longer = sorted((items, others), key=len)
        self.compared -= len(shorter) * len(longer)
        if self.compared < 0 or not shorter:
            return False
        of_longer = [_main_text(item) for item in longer]
        same = sum(
            any(fuzz.ratio(text, other, score_cutoff=SAME) for other in of_longer)
            for text in map(_main_text, shorter)
        )
        return same * 2 >= len(shorter)


def _merged(one: Any, other: Any) -> Any:
    """Return the values of both; of two that are no objects the second, unless it is blank."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {key: _merged(one.get(key), value) for key, value in other.items()}
    return other if any(leaves_of([other])) or one is None else one


def _main_text(item: Any) -> str:
    """Return the longest text of an item."""
    values = item.values() if isinstance(item, dict) else [item]
    texts = (value for value in values if isinstance(value, str))
    return max(texts, key=len, default="")[:MAX_CHARACTERS]


def _with_names(value: Any, names: frozenset[str]) -> Any:
    """Return a value with the schema's names for keys that are these but for marks around them."""
    if isinstance(value, list):
        return [_with_names(inner, names) for inner in value]
    if not isinstance(value, dict):
        return value
    named: dict[str, Any] = {}
    for key, inner in value.items():
        name = unquote(key).replace("\\", "").strip('"* :\u00a0')
        is_meant = name in names and name not in value
        named[name if is_meant else key] = _with_names(inner, names)
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
