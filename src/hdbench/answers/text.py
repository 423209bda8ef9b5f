"""The record in what a model wrote, and what had to be done to find it."""

import json
import re
from collections.abc import Container, Sequence
from functools import cached_property
from itertools import islice, repeat
from typing import Any
from urllib.parse import unquote

from rapidfuzz import fuzz

from hdbench.answers.answer import Answer, Kind, Status, number_of_values
from hdbench.answers.blocks import Block, Blocks, respelled
from hdbench.answers.entries import REASONING
from hdbench.answers.plain_text import answer_in
from hdbench.answers.schema import CONFIDENCE, AnswerSchema, is_sure_value, leaves_of
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


class Joiner:
    """Joins the records of one answer, until too much has been compared.

    Args:
        schema: the form of the benchmark's answers.
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self.schema = schema
        self._to_compare = MAX_COMPARED

    def one(self, records: Sequence[Answer]) -> Answer:
        """Return the one record of several.

        Two records are joined if they do not say the same thing differently: other items of the
        list, other fields. If they do, the later one counts, unless it is only a part of a record.

        Args:
            records: at least one, in order.

        Returns:
            The record, with `set_aside` if one of them is not part of it.
        """
        filled = [record for record in records if any(leaves_of(record.prediction))]
        one, *others = records = (self.schema.list_of_objects and filled) or records
        # Items that came one by one are each taken as a new item, however similar to another.
        name, _ = self.schema.list_of_objects or ("", {})
        lists = [record.prediction.get(name) for record in records]
        singly = all(isinstance(items, list) and len(items) == 1 for items in lists)
        for record in others:
            if record.prediction == one.prediction:
                continue
            joined = self._joined(one.prediction, record.prediction, singly=singly)
            if joined is not None:
                status = at_least(one.status, record).status
                one = at_least("unwrapped", Answer(joined, status, None, one.set_aside))
            elif self._is_plausible(record, one):
                one = record._replace(set_aside=True)
            elif record.status != "truncated":  # otherwise it is the same again, and broke off
                one = one._replace(set_aside=True)
        return one

    def _is_plausible(self, record: Answer, other: Answer) -> bool:
        """Return whether a record is whole, or has at least half of what the other has."""
        fit, other_fit = self.schema.fit(record.prediction), self.schema.fit(other.prediction)
        if record.status == "truncated" != other.status:
            return fit > other_fit
        return 2 * fit >= other_fit

    def _joined(
        self, one: dict[str, Any], other: dict[str, Any], *, singly: bool
    ) -> dict[str, Any] | None:
        """Return both as one record; None if they are about the same."""
        if self.schema.list_of_objects is None:
            has, adds = dict(leaves_of(one)), dict(leaves_of(other))
            differ = any(has[path] != adds[path] for path in has.keys() & adds.keys())
            return None if differ else _merged(one, other)
        name, _ = self.schema.list_of_objects
        items, more = one.get(name), other.get(name)
        if not isinstance(items, list) or not isinstance(more, list):
            return None
        is_next = singly and len(items) > 1
        return {name: [*items, *more]} if is_next or not self._is_draft(items, more) else None

    def _is_draft(self, items: list[Any], others: list[Any]) -> bool:
        """Return whether half of the shorter list's items or more are (nearly) in the other."""
        shorter, longer = sorted((items, others), key=len)
        self._to_compare -= len(shorter) * len(longer)
        if self._to_compare < 0:
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
    return other if any(leaves_of(other)) or one is None else one


def _main_text(item: Any) -> str:
    """Return the longest text of an item."""
    values = item.values() if isinstance(item, dict) else [item]
    texts = (value for value in values if isinstance(value, str))
    return max(texts, key=len, default="")[:MAX_CHARACTERS]


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
SPEAKS = CALLS | CALLED_WITH | RESPONDS | SAYS
ENVELOPE = SPEAKS | frozenset({
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
    is_error = value.get("type") == "error"
    if not is_error and SPEAKS.isdisjoint(value):
        return None
    kind: Kind | None = None
    keys = value.keys()
    if keys & CALLS or ("name" in keys and keys & CALLED_WITH):
        kind = "tool_call"
    elif keys & RESPONDS:
        kind = "response"
    elif keys & SAYS or is_error:
        kind = "message"
    if kind is None or keeps or is_error:
        return None if keeps else kind
    return None if not keys <= ENVELOPE or schema.fit(value) else kind


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


def is_template(value: dict[str, Any]) -> bool:
    """Return whether each value that is not blank or 0 is a placeholder, and there is at least one.

    Example:
        >>> is_template({"title": "string or empty string", "year": 0, "pages": "..."})
        True
        >>> is_template({"title": "string", "year": 1924})
        False
    """
    return _of_placeholders(value, "") is True


def _of_placeholders(node: Any, name: str) -> bool | None:
    """Return whether all values in a node are placeholders; None if there are none."""
    if not isinstance(node, dict | list):
        return None if node in (None, "", "null", 0) else _is_placeholder(name, str(node))
    found = None
    for key, inner in node.items() if isinstance(node, dict) else zip(repeat(name), node):
        if (of_placeholders := _of_placeholders(inner, key)) is False:
            return False
        found = found or of_placeholders
    return found


def _is_placeholder(name: str, text: str) -> bool:
    """Return whether a text says what belongs in its place, or is the name of its field."""
    if len(text) > MAX_PLACEHOLDER:
        return False
    text = text.strip(" \n{}[]<>").casefold()
    return PLACEHOLDER.fullmatch(text) is not None or text.replace(" ", "_") == name.casefold()


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
        self.texts, self.nodes = MAX_TEXTS, MAX_NODES

    @cached_property
    def blocks(self) -> Blocks:  # which most answers do not need, nor what follows
        schema = self.schema
        return Blocks(lists=bool(schema.list_of_objects), is_whole=schema.has_required)

    @cached_property
    def joiner(self) -> Joiner:
        return Joiner(self.schema)

    def read(self, value: Any) -> Answer:
        """Return the record in an answer; if it holds none, what it is instead."""
        self.is_large = not isinstance(value, str) or len(value) > MAX_VALUES
        answer = self.text(value, 0) if isinstance(value, str) else self.value(value, 0)
        may_be_sure = not isinstance(value, str) or "value" in value
        is_known = not self.schema.names or "value" in self.schema.all_names
        if answer.is_record and may_be_sure and not is_known:
            confidences: dict[str, float] = {}
            plain = _without_confidence(answer.prediction, "", confidences)
            if plain != answer.prediction:
                answer = answer._replace(prediction=plain, confidences=confidences)
                answer = at_least("unwrapped", answer)
        if answer.status != "unparsable":
            return answer
        if isinstance(answer.prediction, dict):  # so that nobody takes it for a record
            answer = answer._replace(prediction=json.dumps(answer.prediction, ensure_ascii=False))
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
                # Sound JSON stays, unless the other fits better; damaged JSON if it fits better.
                gain = self.fit(better) - self.fit(answer) if answer else 1
                if gain > 0 or not is_sound:
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
        records: list[Answer] = []

        def take(block: Block) -> bool:
            answer = at_least(block.status, self.value(block.value, level))
            if answer.is_record and answer.prediction:
                records.append(answer)
                return True
            return answer.kind not in (None, "other", "text")  # what was inside was looked at

        self.blocks.walk(text, take)
        return self.one(records) if records else None

    def one(self, records: list[Answer]) -> Answer:
        is_one = len(records) == 1 or not self.schema.names
        return records[-1] if is_one else self.joiner.one(records)

    def fit(self, answer: Answer) -> int:
        return self.schema.fit(answer.prediction)

    def nothing(self, value: Any, kind: Kind) -> Answer:
        self.kinds.append(kind)
        return Answer(value, "unparsable", kind)

    def value(self, value: Any, level: int) -> Answer:
        """Return the record in a JSON value other than a text."""
        if value is None:
            return Answer(None, "unanswered")
        if self.is_large and number_of_values(value) > MAX_VALUES:
            return self.nothing(None, "other")
        before = len(self.kinds)
        if records := self.records(value, level):
            return self.one(records)
        kinds = (kind for kind in self.kinds[before:] if kind != "text")
        return self.nothing(value, next(kinds, "other"))

    def records(
        self, node: Any, level: int, depth: int = 0, *, in_schema: bool = False
    ) -> list[Answer]:
        """Return the records in a value, in order; of nested ones, those that fit better."""
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_INNER_DEPTH or not isinstance(node, str | dict | list):
            return []
        if isinstance(node, str):
            return self.in_text(node, level)
        schema, before, keeps, given = self.schema, len(self.kinds), False, node
        is_any = not schema.names
        if isinstance(node, dict) and not depth and not is_any:
            keeps = schema.keeps_to(node)
            node = node if keeps else _with_names(node, schema.all_names)
        status: Status = "unwrapped" if depth else "clean" if node == given else "repaired"
        record = node if isinstance(node, dict) else schema.of_objects(node)
        kind = record and kind_of_object(record, schema, keeps=keeps)
        if kind:
            self.kinds.append(kind)
            if kind in ("prompt", "template") or is_any:
                return []
            record, in_schema = None, in_schema or kind == "schema"
        elif isinstance(node, dict) and not depth:
            is_whole = is_any or keeps or schema.has_required(node)
            whole = node if is_whole else schema.lifted(node)
            if whole is not None:
                return [Answer(whole, status if is_whole else "repaired")]
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
        is_record = fit > 0 or bool(depth and record and is_any)
        if not depth and record is not None and not fit:
            belongs = not record or not schema.names.isdisjoint(record)
            is_record = belongs and not self.kinds[before:]
        if not is_record or fit < max(map(self.fit, inner), default=0):
            return inner
        return [at_least(status if record is node else "unwrapped", Answer(record, status))]

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


def _with_names(value: Any, names: frozenset[str]) -> Any:
    """Return an object or list with its keys as the schema has them: without escapes and marks."""
    if isinstance(value, list):
        return [
            _with_names(item, names) if isinstance(item, dict | list) else item for item in value
        ]
    named: dict[str, Any] = {}
    for key, inner in value.items():
        if key not in names:
            plain = unquote(key).replace("\\", "").strip('"* :\u00a0')
            key = plain if plain in names and plain not in value else key  # noqa: PLW2901
        named[key] = _with_names(inner, names) if isinstance(inner, dict | list) else inner
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
