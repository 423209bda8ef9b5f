"""Reading and writing JSON and JSON Lines, with bounds: the files are untrusted."""

import codecs
import json
import math
import re
from ast import literal_eval
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Self

from hdbench.common.bounds import MAX_DAMAGED, MAX_DEPTH, MAX_KEYS, MAX_LINE
from hdbench.common.files import open_regular, read_errors
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message

_BLOCK = 2**16
"""Number of bytes that are read at once: taking lines from them is faster than one by one."""

_ID = re.compile(rb'\{(?:"[a-z_]{1,40}": ?"[^"\\]*+", ?){0,3}?"id": ?"([^"\\]+)"')
"""A line that begins with an id, or with a few texts before it, as hdbench writes them."""


class Line(NamedTuple):
    """One line of a JSON Lines file, and its place."""

    number: int
    offset: int
    value: dict[str, Any]


_TOO_DEEP = Message("nested more than {most} deep", most=MAX_DEPTH)
_TOO_LONG = Message("a number has too many digits: shorten it, or put it in quotes")


class _DuplicateError(ValueError):
    """A key occurs twice in an object."""


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateError(
                    Message("the key {key!r} occurs twice: keep one", key=key[:100])
                )
            seen.add(key)
    return value


class _NotFiniteError(ValueError):
    """A number is too large to be held as one, or is a constant that JSON does not have."""


def _nothing(_: str) -> None:
    """Read NaN and the infinities as null: programs write them for missing numbers."""


def _finite(text: str) -> float | None:
    """Return a number; nothing for one like 1e999, which Python would take for infinity."""
    number = float(text)
    return number if math.isfinite(number) else None


def _exactly(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFiniteError(text)
    return number


def _refused(constant: str) -> None:
    raise _NotFiniteError(constant)


DECODER = json.JSONDecoder(parse_constant=_nothing, parse_float=_finite)
"""Same as `json.loads`, but NaN and the infinities, which JSON does not have, become null."""

UNIQUE = json.JSONDecoder(
    parse_constant=_nothing, parse_float=_finite, object_pairs_hook=_without_duplicates
)
"""Same as `DECODER`, but rejects a key that occurs twice; otherwise its last value counts."""

FINITE = json.JSONDecoder(parse_constant=_refused, parse_float=_exactly)
"""Same as `DECODER`, but rejects NaN and numbers like 1e999, which otherwise become null."""

EXACT = json.JSONDecoder(
    parse_constant=_refused, parse_float=_exactly, object_pairs_hook=_without_duplicates
)
"""Same as `UNIQUE`, but rejects NaN and numbers like 1e999, which otherwise become null."""

_AS_PYTHON = json.JSONDecoder()

_SPACE = " \t\n\r"
_CONSTANTS = ("NaN", "Infinity", "-Infinity")


class Spelled(float):
    """A number that Python would write in another way than it was written, such as 0.10.

    Args:
        text: the number as JSON has it.

    Attributes:
        text: same as in Args.
    """

    def __new__(cls, text: str) -> Self:
        """Return the number, with its text."""
        self = float.__new__(cls, text)
        self.text = text
        return self

    text: str

    def __repr__(self) -> str:
        return self.text


def _spelled(text: str) -> float:
    number = _exactly(text)
    return number if repr(number) == text else Spelled(text)


SPELLED = json.JSONDecoder(parse_constant=_refused, parse_float=_spelled)
"""Keeps how numbers are written, for `spelled_json`, and rejects NaN and numbers like 1e999."""


def spelled_json(value: Any, *, ensure_ascii: bool = True) -> str:
    """Return a value as `json.dumps` does, but each `Spelled` number as it was written.

    Args:
        value: the value.
        ensure_ascii: same as in `json.dumps`.

    Raises:
        ValueError: a number is infinite or not a number.
        TypeError: the value is not JSON.

    Example:
        >>> spelled_json(parse_json('{"price": 0.10, "sold": 1e5}', SPELLED))
        '{"price": 0.10, "sold": 1e5}'
    """
    match value:
        case dict():
            inner = (
                f"{json.dumps(key, ensure_ascii=ensure_ascii)}: "
                f"{spelled_json(item, ensure_ascii=ensure_ascii)}"
                for key, item in value.items()
            )
            return f"{{{', '.join(inner)}}}"
        case list() | tuple():
            inner = (spelled_json(item, ensure_ascii=ensure_ascii) for item in value)
            return f"[{', '.join(inner)}]"
        case Spelled(text=text):
            return text
    return json.dumps(value, ensure_ascii=ensure_ascii, allow_nan=False)


def parse_json(text: str, decoder: json.JSONDecoder = DECODER) -> Any:
    """Return the value of a JSON text.

    Args:
        text: JSON.
        decoder: `DECODER`, `UNIQUE`, `FINITE`, `EXACT` or `SPELLED`.

    Raises:
        ValueError: the text is not JSON, is nested more than `MAX_DEPTH` deep, or has a number
            of more digits than Python reads; or it has a key twice, NaN, an infinity or a number
            that is too large, and the decoder rejects that.

    Example:
        >>> parse_json('{"year": 1957}')
        {'year': 1957}
    """
    try:
        try:
            value, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            end = -1  # white space before it, or not JSON
        if end != len(text) and (end < 0 or text[end:].strip(_SPACE)):
            value = decoder.decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except (json.JSONDecodeError, _DuplicateError):
        raise
    except _NotFiniteError as error:
        raise _not_finite(text, str(error)) from error
    except ValueError as error:  # Python's message says how to lift its own bound on integers
        raise ValueError(_TOO_LONG) from error
    # The walk is needed only if there are enough brackets for such deep nesting.
    if text.count("{") + text.count("[") > MAX_DEPTH and is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def structured(cell: str) -> Any:
    """Return an object or list from its JSON, or as pandas writes it to CSV; other text as it is.

    Example:
        >>> structured('[{"family": "Ott"}]'), structured("['Ott', None]"), structured("[Ott]")
        ([{'family': 'Ott'}], ['Ott', None], '[Ott]')
    """
    if cell.startswith(("[", "{")):
        with suppress(ValueError):
            return parse_json(cell)
        if "'" in cell and len(cell) <= MAX_DAMAGED:
            with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return parse_json(json.dumps(literal_eval(cell)))
    return cell


def _not_finite(text: str, number: str) -> ValueError:
    """Return the error of a number that is not finite, or of what is wrong behind it."""
    try:
        keys = _first_not_finite(parse_json(text, _AS_PYTHON))
    except ValueError as error:
        return error
    # In a text in quotes it is not the number.
    tokens = re.finditer(rf'"(?:[^"\\]|\\.)*+"|{re.escape(number)}', text)
    start = next(token.start() for token in tokens if token[0] == number)
    where = {"line": text.count("\n", 0, start) + 1, "key": ".".join(keys)[:100]}
    if number in _CONSTANTS:
        template = "line {line}, {key}: {number} is not JSON: write null, or put it in quotes"
        return ValueError(Message(template, **where, number=number))
    template = (
        "line {line}, {key}: the number {number} is too large: shorten it, or put it in quotes"
    )
    return ValueError(Message(template, **where, number=number[:40]))


def _first_not_finite(value: Any) -> list[str]:
    """Return the keys that lead to the first number that is not finite."""
    waiting: list[tuple[list[str], Any]] = [([], value)]
    while waiting:
        keys, node = waiting.pop()
        if isinstance(node, float) and not math.isfinite(node):
            return keys
        if isinstance(node, list):
            node = dict(enumerate(node))  # its keys are their numbers
        if isinstance(node, dict):
            waiting += reversed([([*keys, str(key)], inner) for key, inner in node.items()])
    return []


def parse_file(text: str, name: object, decoder: json.JSONDecoder = UNIQUE) -> Any:
    """Return the value of a whole JSON file.

    Args:
        text: what is in it.
        name: what messages call it.
        decoder: see `parse_json`.

    Raises:
        HdbenchError: the text is not JSON, or not usable; see `parse_json`.
    """
    try:
        return parse_json(text, decoder)
    except json.JSONDecodeError as error:
        raise HdbenchError(
            "{place}:{line}: not JSON: {why} (column {column})",
            place=name,
            line=error.lineno,
            why=Message(error.msg),
            column=error.colno,
        ) from error
    except ValueError as error:
        raise HdbenchError("{place}: not usable JSON: {why}", place=name, why=error) from error


def json_reason(error: ValueError) -> Message:
    """Return why `parse_json` refused a text, and where."""
    if isinstance(error, json.JSONDecodeError):
        return Message(
            "{why}: line {line} column {column} (char {place})",
            why=Message(error.msg),
            line=error.lineno,
            column=error.colno,
            place=error.pos,
        )
    reason = error.args[0]
    return reason if isinstance(reason, Message) else Message(str(error))


def is_too_deep(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return whether objects and lists are nested more than `depth` deep, without recursion."""
    level = [value]
    for _ in range(depth):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return any(isinstance(node, dict | list) for node in level)


def parse_line(raw: bytes, where: object, decoder: json.JSONDecoder = DECODER) -> dict[str, Any]:
    """Return the object that one line of a JSON Lines file holds.

    Args:
        raw: the line's bytes, UTF-8.
        where: the file and line, for the message; made into a text only for that.
        decoder: see `parse_json`.

    Raises:
        HdbenchError: the line is not UTF-8, not an object, has more than `MAX_KEYS`, or is not
            JSON that `parse_json` takes.
    """
    # Most lines have fewer bytes; the quotation marks of JSON in a text are escaped.
    if len(raw) > MAX_KEYS and raw.count(b'":') - raw.count(b'\\":') > MAX_KEYS:
        raise HdbenchError(
            "{place}: more than {most:,} keys in one line: no record has so many",
            place=where,
            most=MAX_KEYS,
        )
    try:
        text = raw.decode("utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "utf-8")
        value = parse_json(text, decoder)
    except UnicodeDecodeError as error:
        raise HdbenchError(
            "{place}: not UTF-8 (byte {byte}): save as UTF-8", place=where, byte=error.start + 1
        ) from error
    except json.JSONDecodeError as error:
        raise HdbenchError(
            "{place}: not JSON: {why} (column {column})",
            place=where,
            why=Message(error.msg),
            column=error.colno,
        ) from error
    except ValueError as error:
        raise HdbenchError("{place}: not usable JSON: {why}", place=where, why=error) from error
    if not isinstance(value, dict):
        raise HdbenchError("{place}: must be a JSON object in braces, one per line", place=where)
    return value


def read_jsonl(
    path: Path, *, name: str | None = None, decoder: json.JSONDecoder = DECODER
) -> Iterator[Line]:
    """Yield the objects of a JSON Lines file, one at a time; blank lines are skipped.

    Args:
        path: the file.
        name: what messages call it; its path, if not given.
        decoder: see `parse_json`.

    Raises:
        HdbenchError: the file cannot be read, or a line is unusable (the message names it).
    """
    name = name or str(path)
    for number, offset, raw in raw_lines(path, name=name):
        value = parse_line(raw, f"{name}:{number}", decoder)
        yield Line(number, offset, value)


def raw_lines(
    path: Path, *, name: str | None = None, start: int = 0, number: int = 1
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines of a file that are not blank: their number, their offset, and what is there.

    Args:
        path: the file.
        name: what messages call it; its path, if not given.
        start: the offset of the first line.
        number: the number of that line.

    Raises:
        HdbenchError: the file cannot be read, or a line is too long.
    """
    name = name or str(path)
    with read_errors(name), open_regular(path) as file:
        file.seek(start)
        offset = start
        while block := file.read(_BLOCK):
            for raw in BytesIO(block + file.readline(MAX_LINE + 1)):
                if len(raw) > MAX_LINE:
                    raise HdbenchError(
                        "{place}:{number}: the line is longer than {most} MiB",
                        place=name,
                        number=number,
                        most=MAX_LINE >> 20,
                    )
                if not raw.isspace():
                    yield number, offset, raw
                offset += len(raw)
                number += 1


def plain_id(raw: bytes) -> str | None:
    r"""Return the id of a line that has it first, or after a few texts, without parsing it.

    If the line is an object in which no key occurs twice, this is its `id`; otherwise parsing it
    gives another id, or an error.

    Args:
        raw: the line's bytes.

    Returns:
        None if the line is written in another way: it has to be parsed.

    Example:
        >>> plain_id(b'{"file_name": "images/1.jpg", "id": "0001", "ground_truth": "{}"}')
        '0001'
        >>> plain_id(b'{"text": "a \"quotation\"", "id": "0001"}')
    """
    match = _ID.match(raw)
    if match is None:
        return None
    try:
        return match[1].decode()
    except UnicodeDecodeError:
        return None


def write_json(path: Path, value: Any, within: Path | None = None) -> None:
    """Write a value as indented JSON: the whole file or nothing.

    Lone surrogates, which a model's text can hold, are written as JSON escapes.

    Raises:
        HdbenchError: see `hdbench.common.writing.whole_file`.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    # Outside its strings, JSON is ASCII, so every surrogate is in a place where `\udXXX` is an
    # escape.
    write_whole(path, text.encode("utf-8", errors="backslashreplace"), within)
