"""Reading and writing JSON and JSON Lines, with bounds: the files are untrusted."""

import codecs
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError, Message, os_reason

MAX_DEPTH = 100
"""Maximum depth to which objects and lists are nested. Records here are three deep."""

MAX_LINE = 64 * 2**20
"""Maximum number of bytes in one line of a JSON Lines file."""


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


def _nothing(_: str) -> None:
    """Python and JavaScript write NaN and the infinities if there is no number."""


DECODER = json.JSONDecoder(parse_constant=_nothing)
"""Same as `json.loads`, but NaN and the infinities, which JSON does not have, become null."""

_SPACE = " \t\n\r"

_UNIQUE = json.JSONDecoder(parse_constant=_nothing, object_pairs_hook=_without_duplicates)


def parse_json(text: str, *, unique: bool = False) -> Any:
    """The value of a JSON text; NaN and the infinities, which JSON does not have, become null.

    Args:
        text: JSON.
        unique: reject a key that occurs twice in an object; otherwise its last value counts.

    Raises:
        ValueError: the text is not JSON, is nested more than `MAX_DEPTH` deep, has a key twice, or
            has a number with more digits than Python reads.

    Example:
        >>> parse_json('{"year": 1957}')
        {'year': 1957}
    """
    decoder = _UNIQUE if unique else DECODER
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
    except ValueError as error:  # Python's message says how to lift its own bound on integers
        raise ValueError(_TOO_LONG) from error
    # The walk is needed only if there are enough brackets for such deep nesting.
    if text.count("{") + text.count("[") > MAX_DEPTH and is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def json_reason(error: ValueError) -> Message:
    """Why `parse_json` refused a text, and where."""
    if isinstance(error, json.JSONDecodeError):
        return Message(
            "{why}: line {line} column {column} (char {place})",
            why=Message(error.msg),
            line=error.lineno,
            column=error.colno,
            place=error.pos,
        )
    said = error.args[0]
    return said if isinstance(said, Message) else Message(str(error))


def is_too_deep(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether objects and lists are nested more than `depth` deep, found without recursion."""
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


def parse_line(raw: bytes, where: object, *, unique: bool = False) -> dict[str, Any]:
    """The object that one line of a JSON Lines file holds.

    Args:
        raw: the line's bytes, UTF-8.
        where: the file and line, for the message; made into a text only for that.
        unique: reject a key that occurs twice in an object.

    Raises:
        HdbenchError: the line is not UTF-8, not JSON, not an object, or has a key twice.
    """
    try:
        text = raw.decode("utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "utf-8")
        value = parse_json(text, unique=unique)
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


def read_jsonl(path: Path, *, name: str | None = None, unique: bool = False) -> Iterator[Line]:
    """The objects of a JSON Lines file, one at a time; blank lines are skipped.

    Args:
        path: the file.
        name: what messages call it; its path, if not given.
        unique: reject a key that occurs twice in an object.

    Raises:
        HdbenchError: the file cannot be read, or a line is unusable (the message names it).
    """
    name = name or str(path)
    for number, offset, raw in raw_lines(path, name=name):
        yield Line(number, offset, parse_line(raw, f"{name}:{number}", unique=unique))


def raw_lines(
    path: Path, *, name: str | None = None, start: int = 0, number: int = 1
) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a file that are not blank: their number, their offset, and what is there.

    Args:
        path: the file.
        name: what messages call it; its path, if not given.
        start: the offset of the first line.
        number: the number of that line.

    Raises:
        HdbenchError: the file cannot be read, or a line is too long.
    """
    name = name or str(path)
    try:
        with path.open("rb") as file:
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
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be read: {why}", place=name, why=os_reason(error)
        ) from error


def plain_id(raw: bytes) -> str | None:
    r"""The id of a line that begins with it, or with a few texts before it, without parsing it.

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
    found = _ID.match(raw)
    if found is None:
        return None
    try:
        return found[1].decode()
    except UnicodeDecodeError:
        return None


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON: the whole file or nothing.

    Lone surrogates, which a model's text can hold, are written as JSON escapes.

    Raises:
        HdbenchError: the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    # Outside its strings, JSON is ASCII, so every surrogate is in a place where `\udXXX` is an
    # escape.
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file next to its destination and rename it: the whole file or nothing.

    Raises:
        HdbenchError: the file cannot be written.
    """
    with whole_file(path) as beside:
        beside.write_bytes(data)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write next to its destination, renamed when the block ends: all or nothing.

    Raises:
        HdbenchError: the file cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name[:100]}-") as folder:
            beside = Path(folder) / "file"
            yield beside
            with beside.open("rb") as file:
                os.fsync(file.fileno())  # otherwise a power cut could leave the new name empty
            beside.replace(path)
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be written: {why}", place=path, why=os_reason(error)
        ) from error
