"""The record in what a model wrote, and what had to be done to find it."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from hdbench.answers.answer import Answer, Kind, Status
from hdbench.answers.blocks import MAX_DAMAGED, Blocks, has_constant
from hdbench.answers.joining import Joiner, at_least
from hdbench.answers.no_answer import is_schema, kind_of_object, kind_of_text
from hdbench.answers.respelling import respelled
from hdbench.answers.schema import AnswerSchema
from hdbench.common.jsonio import parse_json

MAX_NODES, MAX_INNER_DEPTH = 6_000, 6
"""Maximum number of values of an answer that may be a wrapper, and their maximum depth."""

MAX_TEXTS, MAX_LEVELS = 200, 3
"""Maximum number of texts within an answer that are read as answers, and their maximum nesting."""

MIN_PROMPT = 40
"""Minimum number of characters in a text for it to be recognized as a part of the prompt."""

_TAGS = "(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
THOUGHT = re.compile(
    rf"(?P<end></{_TAGS}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>"
    r"|<\|channel\|>final<\|message\|>)"
    rf"|<{_TAGS}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<\n]{0,100}<\|message\|>",
    re.IGNORECASE,
)
"""The tags around thoughts: those of many models, of Kimi, of Magistral and of `gpt-oss`."""


_NESTED = (dict, list)


def read_text(text: str, schema: AnswerSchema | None = None) -> Answer:
    r"""Return the record in a model's raw text, and what was done to find it.

    Valid JSON is taken as it is. In anything else, every bracket outside thoughts may open the
    record. Several records are joined if the schema allows it, as items of its list or as fields of
    one record; otherwise the last whole one counts, since what comes before it is an example or a
    draft. What the prompt shows is not an answer, and neither are a form with placeholders, a
    schema, a message and the other things that `Kind` lists. A bare list is a record if the schema
    has one list and requires nothing else. With a schema, an object that violates it and contains a
    better-fitting object is a wrapper; without a schema, no object is a wrapper.

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
    return _Reader(schema).read(text)


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
    return _Reader(schema).read(value)


class _Reader:
    """The reading of one answer, and how much work it may still take."""

    def __init__(self, schema: AnswerSchema | None) -> None:
        self.schema = schema
        self.kinds: list[Kind] = []  # of what was found that is not a record
        self.texts = MAX_TEXTS
        self.nodes = MAX_NODES
        self._blocks: Blocks | None = None
        self._joiner: Joiner | None = None

    def read(self, value: Any) -> Answer:
        """Return the record in an answer; if it holds none, what it is instead."""
        answer = self.text(value, 0) if isinstance(value, str) else self.value(value, 0)
        if answer.status != "unparsable":
            return answer
        if isinstance(answer.prediction, dict):  # so that nobody takes it for a record
            answer = answer._replace(prediction=json.dumps(answer.prediction, ensure_ascii=False))
        if "prompt" in self.kinds:  # whatever it is wrapped in
            return answer._replace(kind="prompt")
        kind = next((kind for kind in self.kinds if kind not in ("text", "other")), None)
        return answer._replace(kind=kind or answer.kind)

    def text(self, text: str, level: int) -> Answer:
        """Return the record in a text."""
        body = text.strip().lstrip("\ufeff").strip()
        if not body:
            return Answer(None, "unanswered")
        try:
            value = parse_json(body)
        except ValueError:
            return self.damaged(text, body, level)
        if isinstance(value, str) and level < MAX_LEVELS:
            return at_least("unwrapped", self.text(value, level + 1))
        answer = self.value(value, level)
        return at_least("repaired", answer) if has_constant(body) else answer

    def value(self, value: Any, level: int) -> Answer:
        """Return the record in a JSON value other than a text."""
        if value is None:
            return Answer(None, "unanswered")
        if isinstance(value, dict):
            return self.object(value, level)
        if isinstance(value, list):
            if self.schema is None:
                records = [answer for answer in self.objects(value, level) if answer.is_record]
                return at_least("unwrapped", records[-1]) if records else self.nothing(value)
            if answer := self.inside(value, self.schema, level):
                return answer
        return self.nothing(value)

    def objects(self, value: list[Any], level: int) -> Iterator[Answer]:
        return (self.object(item, level) for item in value if isinstance(item, dict))

    def nothing(self, value: Any, kind: Kind = "other") -> Answer:
        self.kinds.append(kind)
        return Answer(value, "unparsable", kind)

    def object(self, value: dict[str, Any], level: int) -> Answer:
        """Return the record in an object: the object itself, or one that it wraps."""
        schema = self.schema
        keeps = schema is not None and schema.keeps_to(value)
        kind = kind_of_object(value, schema, keeps=keeps)
        if schema is None or (kind is None and keeps):
            return self.nothing(value, kind) if kind else Answer(value, "clean")
        names = schema.all_names
        record = _decoded_value(value, names) if _has_encoded_key(value, names) else value
        status: Status = "clean" if record is value else "repaired"
        if kind is None and schema.has_required(record):
            return Answer(record, status)
        if kind is None and (lifted := schema.lifted(record)):
            return Answer(lifted, "repaired")
        answer = self.of_wrapper(record, kind, schema, level)
        return at_least(status, answer) if answer.is_record else answer

    def of_wrapper(
        self, record: dict[str, Any], kind: Kind | None, schema: AnswerSchema, level: int
    ) -> Answer:
        """Return the record in an object that is not a whole one: within it, an item, or a part."""
        before = len(self.kinds)
        if kind:
            self.kinds.append(kind)
        if inner := self.inside(record, schema, level):
            return inner
        if kind is None and (bare := schema.of_objects(record)):
            return Answer(bare, "unwrapped")
        met = self.kinds[before:]
        if kind or not self.belongs(record) or (met and not schema.fit(record)):
            return self.nothing(record, met[0] if met else "other")
        return Answer(record, "clean")

    def belongs(self, value: Any) -> bool:
        """Return whether an object has a field of a record; an empty one may be a record too."""
        return self.schema is None or not value or not self.schema.names.isdisjoint(value)

    def inside(self, value: Any, schema: AnswerSchema, level: int) -> Answer | None:
        """Return what is inside a value and fits better than the value itself."""
        # Parts of a repeated schema fit by chance: there, the field `type` has a `type` too.
        in_schema = isinstance(value, dict) and is_schema(value, schema)
        own = schema.fit(value) if isinstance(value, dict) else 0
        records = [
            answer
            for answer in self.records(value, schema, level, 0, in_schema=in_schema)
            if self.belongs(answer.prediction)
        ]
        if not records:
            return None
        one = at_least("unwrapped", self.joiner(schema).one(records))
        return one if schema.fit(one.prediction) > own else None

    def records(
        self, node: Any, schema: AnswerSchema, level: int, depth: int, *, in_schema: bool
    ) -> list[Answer]:
        """Return the records in a value, in order; of nested ones, those that fit better."""
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_INNER_DEPTH:
            return []
        if isinstance(node, str):
            return self.in_text(node, level)
        if not isinstance(node, dict | list):
            return []
        own, kind = self.own(node, schema, outermost=depth == 0, in_schema=in_schema)
        if kind in ("prompt", "template"):
            return []
        children = node.values() if isinstance(node, dict) else node
        inner = [
            answer
            for child in islice(children, MAX_NODES)
            for answer in self.records(child, schema, level, depth + 1, in_schema=in_schema)
        ]
        best = max((schema.fit(answer.prediction) for answer in inner), default=0)
        return [own] if own and schema.fit(own.prediction) >= best else inner

    def in_text(self, text: str, level: int) -> list[Answer]:
        """Return the record in a text within a value."""
        if "{" not in text or not self.texts or level >= MAX_LEVELS:
            return []
        self.texts -= 1
        answer = self.text(text, level + 1)
        return [at_least("unwrapped", answer)] if answer.is_record else []

    def own(
        self, node: Any, schema: AnswerSchema, *, outermost: bool, in_schema: bool
    ) -> tuple[Answer | None, Kind | None]:
        """Return the record that an object or list is itself, or the kind of thing that it is."""
        record = schema.of_objects(node)
        if record is None and (isinstance(node, list) or outermost):
            return None, None
        kind = kind_of_object(node if isinstance(node, dict) else record or {}, schema)
        if kind:
            self.kinds.append(kind)
        if kind or (in_schema and isinstance(node, dict) and not schema.has_required(node)):
            return None, kind
        return Answer(record or node, "unwrapped"), None

    def joiner(self, schema: AnswerSchema) -> Joiner:
        self._joiner = self._joiner or Joiner(schema)
        return self._joiner

    def damaged(self, text: str, body: str, level: int) -> Answer:
        """Return the record in a text that is not JSON."""
        plain = _without_thoughts(body)
        if not plain.strip():
            return self.nothing(text, "thoughts")
        if self.is_of_prompt(plain):
            return self.nothing(text, "prompt")
        answer = self.search(plain, level)
        if answer is None or answer.status != "unwrapped" or not self.fit(answer):
            names = self.schema.names if self.schema else None
            other = respelled(plain, names) if len(plain) <= MAX_DAMAGED else plain
            if other != plain:
                before = len(self.kinds)
                better = self.respelled(other, level)
                if better is None:
                    answer = None if self.kinds[before:] else answer
                elif answer is None or self.is_better(better, answer):
                    answer = at_least("repaired", better)
        return answer or self.nothing(text, kind_of_text(plain, self.schema))

    def respelled(self, text: str, level: int) -> Answer | None:
        """Return the record in a text that was turned into JSON."""
        if self.is_of_prompt(text):
            self.kinds.append("prompt")
            return None
        try:
            value = parse_json(text)
        except ValueError:
            answer = self.search(text, level)
        else:
            answer = self.value(value, level) if isinstance(value, dict | list) else None
        return answer if answer and answer.is_record else None

    def is_better(self, respelled: Answer, found: Answer) -> bool:
        """Return whether a record in a respelled text takes the place of one that it has itself.

        Sound JSON stays, unless the other fits the schema better.
        """
        if found.status == "unwrapped":
            return self.fit(respelled) > self.fit(found)
        is_sound = respelled.status in ("clean", "unwrapped")
        return is_sound or self.fit(respelled) >= self.fit(found)

    def fit(self, answer: Answer) -> int:
        return self.schema.fit(answer.prediction) if self.schema else 0

    def is_of_prompt(self, text: str) -> bool:
        """Return whether a text is the benchmark's prompt, or a part of it."""
        if self.schema is None or len(text) > 2 * max(map(len, self.schema.prompts), default=0):
            return False
        words = " ".join(text.split())
        return len(words) >= MIN_PROMPT and any(words in prompt for prompt in self.schema.prompts)

    def search(self, text: str, level: int) -> Answer | None:
        """Return the record in a text that is not JSON."""
        schema = self.schema
        if self._blocks is None:
            self._blocks = Blocks(
                lists=bool(schema and schema.list_of_objects),
                is_whole=schema.has_required if schema else lambda _: False,
            )
        records: list[Answer] = []
        position = 0
        while (start := self._blocks.next(text, position)) is not None:
            block = self._blocks.at(text, start)
            position = start + 1
            if not block.value:
                continue
            if schema and schema.is_shown(block.value, part=block.status == "truncated"):
                self.kinds.append("prompt")
                position = max(block.end, position)
                continue
            answer = at_least(block.status, self.value(block.value, level))
            if answer.kind not in (None, "other", "text"):  # what was inside was looked at
                position = max(block.end, position)
                continue
            if not answer.is_record or not answer.prediction:
                continue
            position = max(block.end, position)
            records.append(answer)
        if schema is None:
            return records[-1] if records else None
        return self.joiner(schema).one(records) if records else None


def _has_encoded_key(value: Any, names: frozenset[str]) -> bool:
    if isinstance(value, dict):
        if not names.issuperset(value) and any(
            _decoded(key) in names for key in value.keys() - names
        ):
            return True
        value = value.values()
    return any(_has_encoded_key(inner, names) for inner in value if isinstance(inner, _NESTED))


def _decoded_value(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_decoded_value(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key if key in names or (plain := _decoded(key)) not in names or plain in value else plain: (
            _decoded_value(inner, names)
        )
        for key, inner in value.items()
    }


def _decoded(key: str) -> str:
    return unquote(key).replace("\\", "").strip('"* :\u00a0')


def _without_thoughts(text: str) -> str:
    """Return the text outside thoughts; a missing tag counts as at the text's beginning or end."""
    if not any(sign in text for sign in "<[◁"):
        return text
    kept: list[str] = []
    position, thinking = 0, False
    for tag in THOUGHT.finditer(text):
        if tag["end"]:
            if not thinking:
                kept.clear()
            position, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    return "\n".join(kept if thinking else [*kept, text[position:]])
