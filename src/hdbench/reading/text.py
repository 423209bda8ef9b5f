"""From what a model wrote to a record, and what had to be done for it."""

import json
import re
from itertools import islice
from typing import Any
from urllib.parse import unquote

import json_repair

from hdbench.jsonio import MAX_DEPTH, is_too_deep, parse_json
from hdbench.reading.answer import Reading, Status
from hdbench.reading.cut_off import CLOSING, scan
from hdbench.reading.schema import AnswerSchema

MAX_DAMAGED = 500_000
"""Characters of a text that is searched, at most, where it is not JSON as a whole. Models write
some 250,000 at their longest."""

MAX_SCANNED = 1_000_000
"""Characters in which the ends of damaged blocks are looked for, at most, over all blocks."""

MAX_REPAIRED = 300_000
"""Characters that are repaired, at most, over all blocks; a page of advertisements has 20,000."""

MIN_REPAIRED = 3_000
"""Characters that a shorter block counts for: many small ones can take as long as a large one."""

MAX_BRACES = 10_000
"""Opening brackets in a block that is repaired, at most: hostile ones would take hours. A page of
advertisements has some thirty."""

MAX_BLOCKS = 1_000
"""Braces in a text at which a record is looked for, at most."""

MAX_NODES, MAX_INNER_DEPTH = 1_000, 6
"""Values on one level of an answer that may be a wrapper, and how deep in it, at most."""

MAX_TEXTS, MAX_LEVELS = 10, 3
"""Texts within an answer that are read as answers, and one within another, at most."""

SEVERITY: dict[Status, int] = {"clean": 0, "unwrapped": 1, "repaired": 2, "truncated": 3}

SCHEMA_WORDS = frozenset({"$defs", "$ref", "anyOf", "const", "enum", "properties"})
THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
OBJECT = re.compile(r"\{")
OBJECT_OR_LIST = re.compile(r"\{|\[(?=\s*\{)")
FENCE = re.compile(r"\n[ \t]*```")
DECODER = json.JSONDecoder()
LENIENT = json.JSONDecoder(strict=False)  # takes a line break in a string


def read_text(text: str, schema: AnswerSchema | None = None) -> Reading:
    r"""The record in a model's raw text, and what was done to find it.

    Sound JSON is taken as it is. In anything else every brace outside of thoughts may open the
    record: of several blocks that one is taken which fits the schema best, of equals the last.
    A bare list is a record where the schema has one list and nothing else that is required.
    With a schema, an object that breaks it, and in which a better fitting one lies, is a wrapper;
    without one no object is.

    Args:
        text: what the model wrote.
        schema: the form of the benchmark's answers.

    Returns:
        The record with its status; the text itself, or a JSON value that is no object, as
        `unparsable`; None for blank text and null, as `unanswered`.

    Example:
        >>> read_text('Here you are:\n```json\n{"year": 1957}\n```')
        Reading(value={'year': 1957}, status='unwrapped')
        >>> read_text('{"title": "Stellingen", "year": 19')
        Reading(value={'title': 'Stellingen'}, status='truncated')
        >>> read_text("I cannot read this card.").status
        'unparsable'
    """
    return _Reader(schema).text(text, 0)


def read_value(value: Any, schema: AnswerSchema | None = None) -> Reading:
    """The record in a JSON value that was given, as in a file's `prediction`.

    Args:
        value: a record, or a text, which is read as such.
        schema: the form of the benchmark's answers.

    Returns:
        As `read_text`.

    Example:
        >>> read_value([{"year": 1957}])
        Reading(value={'year': 1957}, status='unwrapped')
    """
    reader = _Reader(schema)
    return reader.text(value, 0) if isinstance(value, str) else reader.value(value, 0)


class _Reader:
    """The reading of one answer, and how much work it may still be."""

    def __init__(self, schema: AnswerSchema | None) -> None:
        self.schema = schema
        self.to_scan = MAX_SCANNED
        self.to_repair = MAX_REPAIRED
        self.texts = MAX_TEXTS

    def text(self, text: str, level: int) -> Reading:
        """The record in a text."""
        body = text.strip().lstrip("\ufeff").strip()
        if not body:
            return Reading(None, "unanswered")
        try:
            value = parse_json(body)
        except ValueError:
            return self.search(_without_thoughts(body), level) or Reading(text, "unparsable")
        if isinstance(value, str) and level < MAX_LEVELS:
            return _at_least("unwrapped", self.text(value, level + 1))
        return self.value(value, level)

    def value(self, value: Any, level: int) -> Reading:
        """The record in a JSON value other than a text."""
        if value is None:
            return Reading(None, "unanswered")
        if isinstance(value, dict):
            return self.object(value, level)
        if isinstance(value, list):
            if self.schema and (record := self.schema.of_objects(value)):
                return _at_least("unwrapped", self.object(record, level))
            objects = [item for item in value if isinstance(item, dict)]
            if len(value) == len(objects) == 1 or (objects and self.schema is None):
                return _at_least("unwrapped", self.object(objects[-1], level))
            if self.schema and (inner := self.best_inside(value, self.schema, level)):
                return inner
        return Reading(value, "unparsable")

    def object(self, value: dict[str, Any], level: int) -> Reading:
        """The record in an object: itself, or one that it is a wrapper of."""
        if self.schema is None or self.schema.keeps_to(value):
            return Reading(value, "clean")
        record = _with_decoded_keys(value, self.schema.all_names)
        status: Status = "clean" if record is value else "repaired"
        echo = _is_echo(record, self.schema)
        if (echo or not self.schema.has_required(record)) and (
            inner := self.best_inside(record, self.schema, level)
        ):
            return _at_least(status, inner)
        if not echo and (whole := self.schema.of_objects(record)):
            return _at_least(status, Reading(whole, "unwrapped"))
        return Reading(value, "unparsable") if echo else Reading(record, status)

    def best_inside(self, value: Any, schema: AnswerSchema, level: int) -> Reading | None:
        """What lies within a value and fits better than the value; of equals the last."""
        best, floor = None, schema.fit(value) + 1
        # Parts of a repeated schema fit by chance: the field `type` has a `type` there too.
        in_echo = isinstance(value, dict) and _is_echo(value, schema)
        nodes = [value]
        for _ in range(MAX_INNER_DEPTH):
            nodes = [
                child
                for node in nodes
                if isinstance(node, dict | list)
                for child in islice(node.values() if isinstance(node, dict) else node, MAX_NODES)
            ][:MAX_NODES]
            for node in nodes:
                found = None
                if isinstance(node, dict):
                    if not _is_echo(node, schema) and (not in_echo or schema.has_required(node)):
                        found = Reading(node, "unwrapped")
                elif record := schema.of_objects(node):
                    found = Reading(record, "unwrapped")
                elif isinstance(node, str) and "{" in node and self.texts and level < MAX_LEVELS:
                    self.texts -= 1
                    found = _at_least("unwrapped", self.text(node, level + 1))
                if found and (fit := schema.fit(found.value)) >= floor:
                    best, floor = found, fit
        return best

    def search(self, text: str, level: int) -> Reading | None:
        """The record in a text that is not JSON: what fits best, of equals the last."""
        best, best_fit, position, rejected = None, 0, 0, 0
        opening = OBJECT_OR_LIST if self.schema and self.schema.list_of_objects else OBJECT
        for _ in range(MAX_BLOCKS if len(text) <= MAX_DAMAGED else 0):
            bracket = opening.search(text, position)
            if not bracket:
                break
            start = bracket.start()
            found, end = self.block(text, start)
            position = start + 1
            if not found or not found.value:
                continue
            found = _at_least(found.status, self.value(found.value, level))
            fit = self.schema.fit(found.value) if self.schema else 0
            # Prose in braces can be repaired to some object, which then fits nothing; and parts of
            # a block that is no record are none.
            fits_nothing = self.schema is not None and fit == 0
            is_part = fits_nothing and (found.status != "unwrapped" or start < rejected)
            if found.status == "unparsable" or not found.value or is_part:
                rejected = max(rejected, end)
                continue
            position = end
            if fit >= best_fit:
                best, best_fit = found, fit
        return best

    def block(self, text: str, start: int) -> tuple[Reading | None, int]:
        """The object or list that a bracket opens, and where it ends."""
        try:
            value, end = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return self.damaged_block(text, start)
        brackets = text.count("{", start, end) + text.count("[", start, end)
        if brackets > MAX_DEPTH and is_too_deep(value):
            return None, end
        return Reading(value, "unwrapped"), end

    def damaged_block(self, text: str, start: int) -> tuple[Reading | None, int]:
        """What there is in damaged JSON, and where that ends: at the next fence at the latest."""
        if self.to_scan < 0:
            return None, start
        fence = FENCE.search(text, start)
        end = fence.start() if fence else len(text)
        self.to_scan -= end - start
        block = text[start:end].rstrip("` \t\r\n")
        scanned = scan(block)
        if scanned.end:
            return self.repaired(block[: scanned.end], "repaired"), start + scanned.end
        # A stray quotation mark makes a whole block look as if it broke off in a text.
        closing = CLOSING[block[0]]
        is_closed = block.endswith(closing) and block.count(block[0]) <= block.count(closing)
        if scanned.in_text and is_closed:
            return self.repaired(block, "repaired"), end
        return (self.repaired(scanned.kept, "truncated") if scanned.kept else None), end

    def repaired(self, block: str, status: Status) -> Reading | None:
        """What a block holds, by repair where it needs more than line breaks in texts."""
        try:
            value = LENIENT.decode(block)
        except (ValueError, RecursionError):
            self.to_repair -= max(len(block), MIN_REPAIRED)
            brackets = sum(block.count(bracket) for bracket in "{[(")
            if self.to_repair < 0 or brackets > MAX_BRACES:
                return None
            try:
                value = json_repair.loads(block, skip_json_loads=True)
            except (RecursionError, ValueError):
                return None
        if not isinstance(value, dict if block[0] == "{" else list) or is_too_deep(value):
            return None
        return Reading(value, status)


def _is_echo(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Whether an object is a JSON Schema or its `properties`: models repeat the one they are shown.

    Its fields have the record's names, and stand where the record's would.
    """
    return (not SCHEMA_WORDS.isdisjoint(value) and schema.fit(value) == 0) or any(
        isinstance(field, dict) and name in schema.names and not SCHEMA_WORDS.isdisjoint(field)
        for name, field in value.items()
    )


def _at_least(status: Status, reading: Reading) -> Reading:
    """A reading with the graver of two statuses; one without a record stays as it is."""
    if SEVERITY.get(reading.status, 9) >= SEVERITY[status]:
        return reading
    return Reading(reading.value, status)


def _with_decoded_keys(value: Any, names: frozenset[str]) -> Any:
    """The value with `last%5Fname` as `last_name`, where the schema has that name."""
    if isinstance(value, list):
        items = [_with_decoded_keys(item, names) for item in value]
        return value if all(map(_is, items, value)) else items
    if not isinstance(value, dict):
        return value
    decoded = {
        key if key in names or (plain := unquote(key)) not in names or plain in value else plain: (
            _with_decoded_keys(inner, names)
        )
        for key, inner in value.items()
    }
    same = decoded.keys() == value.keys() and all(map(_is, decoded.values(), value.values()))
    return value if same else decoded


def _is(one: Any, other: Any) -> bool:
    return one is other


def _without_thoughts(text: str) -> str:
    """The text outside of `<think>…</think>`; where a tag lacks its pair, to the text's end."""
    kept: list[str] = []
    position, thinking = 0, False
    for tag in THOUGHT.finditer(text):
        if tag[1]:
            if not thinking:
                kept.clear()
            position, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    return "\n".join(kept if thinking else [*kept, text[position:]])
