"""Answers as people write them in JSON, which key means what, and what holds those of a file."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from operator import itemgetter
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError, Message, shortened

MAX_NUMBER = 2**53
"""Tokens and seconds are below this; a float holds whole numbers up to this one exactly."""

_TOKENS = {
    **dict.fromkeys(("input", "input_tokens", "tokens_input"), "input"),
    **dict.fromkeys(("prompt_tokens", "inputTokens", "promptTokenCount"), "input"),
    **dict.fromkeys(("output", "output_tokens", "tokens_output"), "output"),
    **dict.fromkeys(("completion_tokens", "outputTokens", "candidatesTokenCount"), "output"),
}
"""Names for counts of tokens → what we call them."""

ONLY_REASONING = "reasoning only"
"""What went wrong where a model only reasoned."""

REASONING = frozenset({"reasoning", "reasoning_content", "thinking", "thoughts"})
"""Fields of a server's response, or of a wrapper, with thoughts in them, which are no answer."""


_BATCH_IDS = frozenset({"custom_id", "key", "recordId"})
_REPLIES = ("response", "result", "modelOutput")
_WITHIN = ("output", "message", "content", "parts", "text", "generation", "results", "outputText")
_CALLS = ("tool_calls", "toolUse", "function", "functionCall", "arguments")
"""Keys of a reply below which texts are, whichever server wrote it, and the calls of a tool."""


def batch_answer(line: dict[str, Any]) -> WrittenAnswer | None:
    """Return the answer in a line of OpenAI, Mistral, Anthropic, Gemini or Bedrock; else None.

    Args:
        line: a line of a file of results.

    Example:
        >>> message = {"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}
        >>> batch_answer({"custom_id": "7", "result": {"type": "succeeded", "message": message}})
        {'text': '{}', 'finish_reason': 'end_turn'}
        >>> batch_answer({"custom_id": "8", "result": {"type": "expired"}})
        {'prediction': None, 'error': 'expired'}
    """
    if _BATCH_IDS.isdisjoint(line) or "prediction" in line:
        return None
    outer: dict[str, Any] = next(
        (line[key] for key in _REPLIES if isinstance(line.get(key), dict)), {}
    )
    if not (outer or line.get("error")):
        return None
    inner = (outer[key] for key in ("body", "message") if isinstance(outer.get(key), dict))
    reply = next(inner, outer)
    choices = reply.get("choices") or reply.get("candidates")
    message = choices[0] if isinstance(choices, list) and isinstance(choices[0], dict) else reply
    parts = list(_parts(message))
    text = "".join(text for text, is_said in parts if is_said)
    error = line.get("error") or outer.get("error") or reply.get("error")
    if not text.strip() and not error:
        is_over = outer.get("type") in ("expired", "canceled")
        thoughts = ONLY_REASONING if any(not is_said for _, is_said in parts) else "empty"
        error = outer["type"] if is_over else thoughts
    answer: WrittenAnswer = {"text": text} if text.strip() else {"prediction": None}
    answer |= about({"usage": reply.get("usage", reply.get("usageMetadata")), "error": error})
    for key in ("finish_reason", "finishReason", "stop_reason"):
        if isinstance(message.get(key), str):
            answer["finish_reason"] = message[key]
    return answer


def _parts(node: Any, *, is_said: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the texts in a reply, and whether the model said it, rather than thought it."""
    if isinstance(node, str):
        yield node, is_said
    elif isinstance(node, list):
        for part in node:
            yield from _parts(part, is_said=is_said)
    elif isinstance(node, dict):
        is_thought = node.get("thought") is True or node.get("type") in ("thinking", "reasoning")
        for key in REASONING & node.keys():
            yield from _parts(node[key], is_said=False)
        for key in (*_WITHIN, *_CALLS):
            yield from _parts(node.get(key), is_said=is_said and not is_thought)
        # A record may be asked for as what a tool is called with.
        called = [node[key] for key in ("input", "args") if key in node]
        yield from ((json.dumps(record, ensure_ascii=False), is_said) for record in called)


ABOUT = frozenset(
    {"id", "sha256", "model", "prediction", "text", "tokens", "usage", "tokens_input"}
    | {"input_tokens", "tokens_output", "output_tokens", "seconds", "duration", "error", "status"}
    | {"file_name", "reasoning_content", "reasoning", "refusal", "raw_error"}
    | {"usd", "finish_reason", "constrained"}
)
"""Keys of an entry and columns of a table that are not fields of the record, unless the schema has
them."""

CONTENTS = ("text", "answer", "response", "output", "markdown", "ocr_text", "transcription")
"""Keys under which an answer stands besides `prediction`: what a model wrote, or a record."""

IDS = ("custom_id", "recordId", "id", "sha256", "key")
"""Keys of an item's id. A line of a batch service has one of its own under `id`, too."""

MAX_DOTS = 10
"""Maximum number of dots in a field's name that make nested objects."""

SHOWN = 10
"""Maximum number of keys or columns listed in a message."""


class EntryReader:
    """Reads entries: objects with an `id` and an answer, in one of the forms described here.

    The answer is `prediction` (any JSON value), `text` (what the model wrote), or both; without
    them it is everything except `ABOUT`: the fields of the record, in which a dotted name stands
    for nested objects. `{"id", "error"}` is an item without an answer.

    Args:
        schema: the form of the benchmark's answers; without it, no key is known to be a field.

    Attributes:
        fields: the names of the record's fields, and of those of the objects in its one list.

    Example:
        >>> year = {"properties": {"year": {"type": "integer"}}}
        >>> reader = EntryReader(AnswerSchema({"properties": {"publication": year}}))
        >>> reader.entry({"id": "0001", "publication.year": 1957}, "answers.jsonl:1")
        {'prediction': {'publication': {'year': 1957}}}
    """

    def __init__(self, schema: AnswerSchema | None) -> None:
        self._schema = schema
        self._names = schema.names if schema else frozenset[str]()
        listed = schema.list_of_objects if schema else None
        inner = listed[1].get("properties", {}) if listed else {}
        # A page's one advertisement may stand without its list.
        self.fields = self._names | frozenset(inner)
        self._beside = self.fields - ABOUT

    def id(self, entry: dict[str, Any], where: str) -> str:
        """Return the id of an entry: its `id`, else its `sha256`; a whole number as its digits.

        Raises:
            HdbenchError: it has none; the message says where.
        """
        value = given_id(entry)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise HdbenchError(
                '{place}: needs an "id" that is a text in quotes, as in the dataset; it has: {has}',
                place=where,
                has=shown(sorted(entry)),
            )
        return value

    def model(self, value: Any) -> str | None:
        """Return the model that an entry names; None if it names none, or that is a field of it."""
        model = value.get("model") if isinstance(value, dict) else None
        is_field = model and "model" in self.fields and self.said(value) is None
        return str(model) if model and not is_field else None

    def said(self, value: dict[str, Any]) -> WrittenAnswer | None:
        """Return the answer in an entry; None if the object is a record, or the row of a table.

        Where fields of the record stand beside a text, and no `prediction`, the text is one of
        them, or a remark.
        """
        if (batched := batch_answer(value)) is not None:
            return batched
        fields = about(value)
        kinds: Any = str | dict
        if "prediction" in value and "prediction" not in self.fields:
            fields["prediction"], kinds = value["prediction"], str
        key = next((key for key in CONTENTS if isinstance(value.get(key), kinds)), None)
        if key and ("prediction" in fields or self._beside.isdisjoint(value.keys() - {key})):
            content = value[key]
            fields |= {"text": content} if isinstance(content, str) else {"prediction": content}
        if value.get("reasoning_content") and is_empty([*map(fields.get, ("prediction", "text"))]):
            fields.setdefault("error", ONLY_REASONING)
        if fields.keys().isdisjoint(("prediction", "text")):
            without = value.keys() & {"error", "reasoning_content"}
            if not without or not value.keys() <= ABOUT:
                return None
            fields["prediction"] = None
        return fields

    def entry(self, entry: dict[str, Any], where: object) -> WrittenAnswer:
        """Return the answer in an entry, as `Container.load` returns it.

        Raises:
            HdbenchError: there is none; the message says where, and which keys there are.
        """
        if (said := self.said(entry)) is not None:
            return said
        record = {
            key: value for key, value in entry.items() if key not in ABOUT or key in self.fields
        }
        is_blank, fields = is_empty(record), about(entry)
        if not is_blank and not self.is_record(record):
            raise HdbenchError(
                '{place}: needs "prediction" or a "text" in quotes, or the fields of an answer '
                "({fields}); it has: {has}",
                place=where,
                fields=shown(sorted(self._names)),
                has=shown(sorted(entry)),
            )
        fields["prediction"] = None if is_blank else nested(record, self._names)
        return fields

    def answer(self, value: Any, item_id: str, where: str) -> WrittenAnswer:
        """Return the answer to an item whose id is given elsewhere, for example in a file name.

        Args:
            value: the record, the bare list it consists of, an entry, a text that the model wrote,
                or None for no answer.
            item_id: the item's id.
            where: its place, for messages.

        Raises:
            HdbenchError: it is something else, or names another id.
        """
        if isinstance(value, str):
            return {"text": value}
        is_list = isinstance(value, list) and self._schema and self._schema.of_objects(value)
        if value is None or is_list:
            return {"prediction": value}
        if not isinstance(value, dict):
            raise HdbenchError(
                "{place}: an answer must be an object in braces, a text in quotes or null",
                place=where,
            )
        own_id, said = given_id(value), self.said(value)
        is_other = own_id is not None and str(own_id) != item_id
        if said is None:
            has_id = own_id is not None and self._names.isdisjoint(("id", "sha256"))
            if has_id and not is_other:
                return self.entry(value, where)
            return {"prediction": nested(value, self._names)}
        if is_other:
            raise HdbenchError(
                '{place}: it says "id": {named!r}, but stands under {id!r}: give both the same id',
                place=where,
                named=str(own_id)[:100],
                id=item_id,
            )
        return said

    def are_rows(self, values: Iterable[dict[str, Any]]) -> bool:
        """Return whether objects are the rows of a table: the first one that tells, is.

        A row has keys that are not in `ABOUT` and is no entry, or is one without an id.
        """
        for value in values:
            if self.said(value) is None:
                if not value.keys() <= ABOUT:
                    return True
            elif not value.get("error"):
                return given_id(value) is None
        return False

    def is_one(self, value: dict[str, Any]) -> bool:
        """Return whether an object is one answer, and not a map of ids."""
        has_id = isinstance(given_id(value), str | int)
        return has_id or self.said(value) is not None or self.is_record(value)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object has fields of a record."""
        return any(key in self.fields or key.partition(".")[0] in self._names for key in value)


def given_id(entry: dict[str, Any]) -> Any:
    """Return what an entry has as an id, under the first of `IDS`."""
    return next((entry[key] for key in IDS if key in entry), None)


def is_empty(value: Any) -> bool:
    """Return whether a row has no value at all: only null, blank texts, and empty lists of such."""
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    if isinstance(value, list):
        return all(map(is_empty, value))
    return value is None or (isinstance(value, str) and not value.strip())


def about(entry: dict[str, Any]) -> WrittenAnswer:
    """Return the `tokens`, `seconds` and `error` of an entry, if they are usable.

    Example:
        >>> about({"usage": {"input_tokens": 1196, "output_tokens": 80}, "duration": 2.5})
        {'tokens': {'input': 1196, 'output': 80}, 'seconds': 2.5}
        >>> about({"tokens_input": 1196, "error": ""})
        {'tokens': {'input': 1196}}
    """
    fields: WrittenAnswer = {}
    tokens: dict[str, int] = {}
    for counts in (entry.get("tokens"), entry.get("usage"), entry):
        for key, count in counts.items() if isinstance(counts, dict) else ():
            if key in _TOKENS and type(count) is int and 0 <= count < MAX_NUMBER:
                tokens.setdefault(_TOKENS[key], count)
    if tokens:
        fields["tokens"] = tokens
    seconds: Any = entry.get("seconds", entry.get("duration"))
    if type(seconds) in (int, float) and 0 <= seconds < MAX_NUMBER:
        fields["seconds"] = seconds
    error = entry.get("error")
    if error:
        fields["error"] = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    return fields


def path_of(name: str, names: frozenset[str]) -> tuple[str, ...]:
    """Return the names in a dotted name, from the record inwards.

    A name stays whole if its first part is not one of the schema's fields, or if the name itself is
    one of them.

    Args:
        name: dotted or not.
        names: the schema's top-level fields; none if there is no schema.

    Example:
        >>> path_of("publication.year", frozenset({"publication"}))
        ('publication', 'year')
    """
    parts = tuple(name.split(".", MAX_DOTS + 1))
    is_path = "" not in parts and len(parts) <= MAX_DOTS and name not in names
    return parts if is_path and (not names or parts[0] in names) else (name,)


def nested(record: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Return a record whose dotted names are turned into nested objects.

    A name stays as it is if it is not a path, or if another value is in its way.

    Args:
        record: names, dotted or not, and values.
        names: the schema's top-level fields; none if there is no schema.

    Example:
        >>> nested({"publication.title": "Stellingen", "publication.year": 1924}, frozenset())
        {'publication': {'title': 'Stellingen', 'year': 1924}}
    """
    if not any("." in key for key in record):
        return record
    result: dict[str, Any] = {}
    paths = {key: path_of(key, names) for key in record}
    given = set(paths.values())
    for key, path in paths.items():
        is_free = given.isdisjoint(path[:end] for end in range(1, len(path)))
        put(result, path if is_free else (key,), record[key])
    return result


def shown(names: Iterable[str]) -> str:
    """Return some names of keys or columns, for a message: there may be a million."""
    return shortened([name[:40] for name in names if name], SHOWN) or Message("nothing")


def put(record: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set a value in a record, within objects that are made where there are none.

    Example:
        >>> record = {"title": "Faust"}
        >>> put(record, ["imprint", "place"], "Basel")
        >>> record
        {'title': 'Faust', 'imprint': {'place': 'Basel'}}
    """
    *outer, last = path
    for name in outer:
        record = record.setdefault(name, {})
    record[last] = value


class Container:
    """Answers, which are found by id.

    Args:
        load: see below; by default, a key is a place and the answer.
        where: see below.

    Attributes:
        runs: model → id, as in the file → the key with which its answer is loaded. Without a
            `model` in the file, there is one run, under None.
        notes: what was assumed while reading, one line each, for a person to check.
        load: returns the answer under a key without its id: `prediction` or `text`, or both, and
            further facts. It raises HdbenchError if that cannot be read.
        where: returns the place of the answer under a key, for messages: `answers.jsonl:17`.
        closing: what is held open.
    """

    def __init__(
        self,
        load: Callable[[Any], WrittenAnswer] = itemgetter(1),
        where: Callable[[Any], str] = itemgetter(0),
    ) -> None:
        self.runs: dict[str | None, dict[str, Any]] = {}
        self.notes: list[str] = []
        self.load, self.where = load, where
        self.closing = ExitStack()

    def add(self, model: str | None, item_id: str, key: Any) -> None:
        """Add the answer of a model to an item.

        Raises:
            HdbenchError: the model has one already.
        """
        first = self.runs.setdefault(model, {}).setdefault(item_id, key)
        if first is not key:
            raise HdbenchError(
                "{place}: a second answer for id {id!r}, the first is {first}: keep one",
                place=self.where(key),
                id=item_id,
                first=self.where(first),
            )

    def close(self) -> None:
        """Close what is held open, and delete copies of what was packed."""
        self.closing.close()
