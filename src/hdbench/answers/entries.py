"""One answer, as people write it in JSON: which key means what."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError, Message

MAX_NUMBER = 2**53
"""Tokens and seconds are below this; a float holds whole numbers up to this one exactly."""

# fmt: off
TOKENS = {
    "input": ("input", "input_tokens", "tokens_input",
              "prompt_tokens", "inputTokens", "promptTokenCount"),
    "output": ("output", "output_tokens", "tokens_output",
               "completion_tokens", "outputTokens", "candidatesTokenCount"),
}
"""Counts of tokens, and the names for them."""
# fmt: on

_TOKEN_KEYS = frozenset(key for keys in TOKENS.values() for key in keys)

ONLY_REASONING = "reasoning only"
"""What went wrong where a model only reasoned."""

REASONING = frozenset({"reasoning", "reasoning_content", "thinking", "thoughts"})
"""Fields of a server's response, or of a wrapper, with thoughts in them, which are no answer."""


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
    if "custom_id" in line and ("response" in line or "error" in line):
        response = line.get("response") or {}
        reply = response.get("body") if isinstance(response, dict) else None
    elif "custom_id" in line and isinstance(line.get("result"), dict):
        result = line["result"]
        reply = result.get("message")
        line = {"error": result.get("error") or result.get("type")} if reply is None else {}
    elif "key" in line and ("response" in line or "error" in line):
        reply = line.get("response")
    elif "recordId" in line:
        reply = line.get("modelOutput")
    else:
        return None
    return _answer(reply if isinstance(reply, dict) else {}, line.get("error"))


def tokens_of(*places: Any) -> dict[str, int]:
    """Return the counts of tokens in the first of some objects that has them.

    Example:
        >>> tokens_of(None, {"prompt_tokens": 1196, "completion_tokens": 80})
        {'input': 1196, 'output': 80}
    """
    tokens: dict[str, int] = {}
    for counts in places:
        if isinstance(counts, dict) and not _TOKEN_KEYS.isdisjoint(counts):
            for name, keys in TOKENS.items():
                for count in map(counts.get, keys):
                    if type(count) is int and 0 <= count < MAX_NUMBER:
                        tokens.setdefault(name, count)
    return tokens


def _answer(reply: dict[str, Any], error: Any) -> WrittenAnswer:
    """Return the answer in a server's reply."""
    answer: WrittenAnswer = {}
    message = _one_of(reply, "choices") or _one_of(reply, "candidates") or reply
    parts = list(_parts(message))
    text = "".join(part["text"] for part in parts if _is_said(part))
    if text.strip():
        answer["text"] = text
    else:
        answer["prediction"] = None
    if tokens := tokens_of(reply.get("usage"), reply.get("usageMetadata")):
        answer["tokens"] = tokens
    reasons = (message.get(key) for key in ("finish_reason", "finishReason", "stop_reason"))
    reason = next((reason for reason in reasons if isinstance(reason, str)), None)
    if reason:
        answer["finish_reason"] = reason
    error = error or reply.get("error")
    if error is None and "text" not in answer:
        error = ONLY_REASONING if _has_reasoning(message, parts) else "empty"
    if error is not None:
        answer["error"] = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    return answer


def _one_of(reply: dict[str, Any], key: str) -> dict[str, Any] | None:
    listed = reply.get(key)
    first = listed[0] if isinstance(listed, list) and listed else None
    return first if isinstance(first, dict) else None


def _parts(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a message that may have text, whichever server wrote it."""
    output = message.get("output")
    if isinstance(output, list):  # OpenAI's Responses
        for part in output:
            if isinstance(part, dict) and part.get("type") == "message":
                yield from _parts(part)
        return
    inner = message.get("message") or (output.get("message") if isinstance(output, dict) else None)
    content = inner if isinstance(inner, dict) else message
    found = content.get("content", content.get("generation", content.get("outputText")))
    if isinstance(found, dict):
        found = found.get("parts")
    if isinstance(found, str):
        yield {"text": found}
    elif isinstance(found, list):
        yield from (part for part in found if isinstance(part, dict))


def _is_said(part: dict[str, Any]) -> bool:
    is_thought = part.get("thought") is True or part.get("type") in ("thinking", "reasoning")
    return isinstance(part.get("text"), str) and not is_thought


def _has_reasoning(message: dict[str, Any], parts: list[dict[str, Any]]) -> bool:
    inner = message.get("message")
    spoken = inner if isinstance(inner, dict) else message
    return any(spoken.get(key) for key in REASONING) or any(not _is_said(part) for part in parts)


ABOUT = frozenset(
    {"id", "sha256", "model", "prediction", "text", "tokens", "usage", "tokens_input"}
    | {"input_tokens", "tokens_output", "output_tokens", "seconds", "duration", "error", "status"}
    | {"file_name", "reasoning_content", "reasoning", "refusal", "raw_error"}
)
"""Keys of an entry and columns of a table that are not fields of the record, unless the schema has
them."""

CONTENTS = (
    "text",
    "answer",
    "response",
    "output",
    "markdown",
    "ocr_text",
    "transcription",
)
"""Keys under which an answer stands besides `prediction`: what a model wrote, or a record."""

IDS = ("custom_id", "recordId", "id", "sha256", "key")
"""Keys of an item's id. A line of a batch service has one of its own under `id`, too."""

_ID = re.compile(r"(?:\w{1,20}[_ -])?_?(?i:id|ident|identifier|kennung|signatur)|[a-z]{1,20}I[dD]")
"""A key that somebody may have meant for the id."""

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
        self._fields = self._names | frozenset(inner)

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
                '{place}: needs an "id" that is a text in quotes, as in the dataset{almost}; '
                "it has: {has}",
                place=where,
                almost=almost_id(entry),
                has=shown(sorted(entry)),
            )
        return value

    def model(self, entry: dict[str, Any], where: str) -> str | None:
        """Return the model that an entry names; None if it names none.

        Raises:
            HdbenchError: it is not a text.
        """
        model = entry.get("model")
        if model is not None and not isinstance(model, str):
            raise HdbenchError('{place}: "model" must be a text in quotes', place=where)
        return model or None

    def entry(self, entry: dict[str, Any], where: object) -> WrittenAnswer:
        """Return the answer in an entry, as `Container.load` returns it.

        Raises:
            HdbenchError: there is none; the message says where, and which keys there are.
        """
        if (batched := batch_answer(entry)) is not None:
            return batched
        fields = about(entry)
        if "prediction" in entry:
            fields["prediction"] = entry["prediction"]
        key = self.content_key(entry)
        if key is not None:
            content = entry[key]
            fields |= {"text": content} if isinstance(content, str) else {"prediction": content}
        if entry.get("reasoning_content") and is_empty([*map(fields.get, ("prediction", "text"))]):
            fields.setdefault("error", ONLY_REASONING)
        if "prediction" in fields or "text" in fields:
            return fields
        record = {
            key: value for key, value in entry.items() if key not in ABOUT or key in self._fields
        }
        if any(self._is_field(key) for key in record):
            fields["prediction"] = None if is_empty(record) else nested(record, self._names)
        elif not record:
            fields["prediction"] = None
        else:
            raise HdbenchError(
                '{place}: needs "prediction" or a "text" in quotes, or the fields of an answer '
                "({fields}); it has: {has}",
                place=where,
                fields=shown(sorted(self._names)),
                has=shown(sorted(entry)),
            )
        return fields

    def content_key(self, entry: dict[str, Any]) -> str | None:
        """Return the key under which an answer stands besides `prediction`; None without.

        A key that is a field of the records is one only if no other field stands beside it.
        """
        for key in CONTENTS if not entry.keys().isdisjoint(CONTENTS) else ():
            kinds = str | dict if "prediction" not in entry and key != "text" else str
            is_field = key in self._fields and len(self._fields & entry.keys()) > 1
            if isinstance(entry.get(key), kinds) and ("prediction" in entry or not is_field):
                return key
        return None

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
        if value is None:
            return {"prediction": None}
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, list) and self._schema and self._schema.of_objects(value):
            return {"prediction": value}
        if not isinstance(value, dict):
            kind = Message("a list" if isinstance(value, list) else "a number or boolean")
            raise HdbenchError(
                "{place}: an answer must be an object in braces, a text in quotes or null, "
                "not {kind}",
                place=where,
                kind=kind,
            )
        own_id = given_id(value)
        if self.is_entry(value):
            if own_id is not None and str(own_id) != item_id:
                raise HdbenchError(
                    '{place}: it says "id": {named!r}, but stands under {id!r}: give both the '
                    "same id",
                    place=where,
                    named=str(own_id)[:100],
                    id=item_id,
                )
            return self.entry(value, where)
        if own_id is not None and str(own_id) == item_id and not {"id", "sha256"} & self._names:
            return self.entry(value, where)
        return {"prediction": nested(value, self._names)}

    def is_entry(self, value: dict[str, Any]) -> bool:
        """Return whether an object is an entry, rather than a record or the row of a table."""
        if "prediction" in value:
            return "prediction" not in self._fields
        if (key := self.content_key(value)) is not None:
            return not (self._fields - {key}) & value.keys()
        has_none = not value.keys().isdisjoint(("error", "reasoning_content"))
        return batch_answer(value) is not None or (has_none and value.keys() <= ABOUT)

    def is_row(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a row of a table: it has other keys, and is no entry."""
        return not self.is_entry(value) and not value.keys() <= ABOUT

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object has fields of a record, and so is not a map of ids."""
        return any(self._is_field(key) for key in value)

    def _is_field(self, key: str) -> bool:
        return key in self._fields or key.partition(".")[0] in self._names


def almost_id(entry: dict[str, Any]) -> Message:
    """Return the part of a message that names the key probably meant for the id, if there is one.

    Example:
        >>> almost_id({"ID": "0001", "prediction": {}})
        ': rename "ID" to "id"'
        >>> almost_id({"title": "Stellingen", "year": 1924})
        ''
    """
    near = sorted(filter(_ID.fullmatch, entry), key=lambda key: key.casefold() != "id")
    if not near or "id" in entry:
        return Message("")
    return Message(': rename "{key}" to "id"', key=near[0][:40])


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
    if tokens := tokens_of(entry.get("tokens"), entry.get("usage"), entry):
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
    for value, path in zip(record.values(), _paths(tuple(record), names), strict=True):
        put(result, path, value)
    return result


@lru_cache(maxsize=64)
def _paths(keys: tuple[str, ...], names: frozenset[str]) -> list[tuple[str, ...]]:
    """Return the path of each key; the rows of a table have the same ones."""
    paths = [path_of(key, names) for key in keys]
    given = set(paths)
    return [
        path if given.isdisjoint(path[:end] for end in range(1, len(path))) else (key,)
        for key, path in zip(keys, paths, strict=True)
    ]


def shown(names: Iterable[str]) -> Message:
    """Return some names of keys or columns, for a message: there may be a million."""
    some = [name[:40] for name in islice(filter(None, names), SHOWN + 1)]
    if not some:
        return Message("nothing")
    return Message("{names}", names=", ".join(some[:SHOWN]) + (", …" if len(some) > SHOWN else ""))


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
