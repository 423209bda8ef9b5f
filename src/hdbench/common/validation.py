"""Reading and checking files that people write: YAML, text, and values that must fit a model."""

import math
import re
import stat
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError, PydanticKnownError

from hdbench.common.bounds import MAX_DIGITS, MAX_TEXT_FILE, MAX_YAML, MAX_YAML_VALUES
from hdbench.common.files import read_errors, read_text
from hdbench.errors import HdbenchError, Message

Model = TypeVar("Model", bound=BaseModel)


_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_TOO_LONG = Message("a number has too many digits: shorten it, or put it in quotes")


class Strict(BaseModel):
    """Unknown keys are rejected: a misspelt one must not go unnoticed."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def check_file(path: Path, max_bytes: int, kind: str) -> None:
    """Refuse what is larger than a file can be, or is none: a device would never come to an end.

    Args:
        path: the file.
        max_bytes: maximum size in bytes, some MiB.
        kind: what it should be, such as `a plan`; its translations are in this package's
            `messages/`.

    Raises:
        HdbenchError: it is not there, is not a regular file, or is too large.
    """
    with read_errors(path):
        status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise HdbenchError(
            "{place}: not a file, so it cannot be {what}", place=path, what=Message(kind)
        )
    if status.st_size > max_bytes:
        raise HdbenchError(
            "{place}: larger than {most} MiB: not {what}",
            place=path,
            most=max_bytes >> 20,
            what=Message(kind),
        )


class _InUtf8(yaml.constructor.BaseConstructor):
    """YAML whose texts can be written as JSON in UTF-8."""

    def construct_scalar(self, node: Any) -> Any:
        r"""Return the text of a node.

        Raises:
            ValueError: it has half a surrogate pair, for which `"\ud800"` can stand.
        """
        text = super().construct_scalar(node)
        try:  # JSON is YAML, too, and has a pair of escapes for one character
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            line = node.start_mark.line + 1
            message = Message("line {line}: half a character (\\ud800)", line=line)
            raise ValueError(message) from error


class _PlainLoader(_InUtf8, yaml.BaseLoader):
    """YAML in which everything is a text, a list or an object: `no` is not false."""


class _Loader(_InUtf8, yaml.SafeLoader):
    """YAML whose numbers can be written as JSON, too."""

    def _number(self, node: yaml.ScalarNode) -> int | float:
        is_whole = node.tag.endswith(":int")
        try:
            number = (self.construct_yaml_int if is_whole else self.construct_yaml_float)(node)
        except (ValueError, OverflowError):
            number = math.inf
        if not math.isfinite(number if isinstance(number, float) else 0):
            line, text = node.start_mark.line + 1, node.value[:40]
            raise ValueError(
                Message("line {line}: {given} is not a usable number", line=line, given=text)
            )
        return number


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader._number)


def read_yaml(
    path: Path, max_bytes: int = MAX_YAML, loader: type[_Loader | _PlainLoader] = _Loader
) -> Any:
    """Return the value in a YAML file.

    Args:
        path: the file.
        max_bytes: maximum size in bytes, some MiB.
        loader: see `read_plain_yaml`.

    Raises:
        HdbenchError: it cannot be read, is too large, or is not YAML.
    """
    check_file(path, max_bytes, "YAML")
    with read_errors(path):
        try:
            return parse_yaml(path.read_text(encoding="utf-8"), loader)
        except ValueError as error:
            raise HdbenchError("{place}: not YAML: {why}", place=path, why=error) from error


def read_plain_yaml(path: Path) -> Any:
    """Return what is in a file that people write: texts, lists and objects, and nothing else.

    Raises:
        HdbenchError: see `read_yaml`.
    """
    return read_yaml(path, MAX_TEXT_FILE, _PlainLoader)


def parse_yaml(text: str, loader: type[_Loader | _PlainLoader] = _Loader) -> Any:
    """Return the value that YAML stands for.

    Args:
        text: the YAML.
        loader: see `read_plain_yaml`.

    Raises:
        ValueError: it is not YAML, is nested too deeply, has too many values or digits, or has a
            text or number that JSON in UTF-8 cannot have.
    """
    try:
        reader = loader(text)
        node = reader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MAX_YAML_VALUES:
            raise ValueError(
                Message(
                    "its aliases (*…) stand for more than {most:,} values", most=MAX_YAML_VALUES
                )
            )
        return reader.construct_document(node)  # in which 2026-13-01 is a ValueError
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def _size(node: yaml.Node, sizes: dict[yaml.Node, float]) -> float:
    """Return the number of keys and values in a node; infinite if it is within itself."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag in _NUMBERS and len(node.value) > MAX_DIGITS:
            raise ValueError(_TOO_LONG)  # 1:59:59:59… is one, and takes quadratic time
        return 1
    if node not in sizes:
        sizes[node] = math.inf
        parts = node.value
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        sizes[node] = 1 + sum(_size(part, sizes) for part in parts)
    return sizes[node]


def read_text_file(path: Path) -> str:
    """Return the text of a file that people write by hand.

    Raises:
        HdbenchError: it cannot be read, is larger than `MAX_TEXT_FILE`, or is not UTF-8.
    """
    return read_text(path, MAX_TEXT_FILE)


def validate(model: type[Model], value: Any, path: Path) -> Model:
    """Return a value from a file as a model.

    Raises:
        HdbenchError: it does not fit; the message names the file and the first wrong key.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise HdbenchError(
            "{place}: {key}: {why}",
            place=path,
            key=key or Message("the file"),
            why=why_unfit(first),
        ) from error


def unfit(template: str, /, **values: object) -> PydanticCustomError:
    """Return the error of a value that does not fit, which a model's validator raises.

    Args:
        template: a message, or its template.
        values: the template's values.
    """
    return PydanticCustomError("unfit", "{said}", {"said": Message(template, **values)})


def why_unfit(error: Any) -> Message:
    """Return why a value does not fit, from one of pydantic's errors, as a message.

    Its own messages have templates, too; `literal_error` lists what is possible in English.
    """
    values = dict(error.get("ctx", {}))
    if error["type"] == "unfit":
        unfit_message: Message = values["said"]
        return unfit_message
    others, or_, last = str(values.get("expected", "")).rpartition(" or ")
    if or_:
        values["expected"] = Message("{others} or {last}", others=others, last=last)
    plural = "" if 1 in values.values() else "s"
    try:
        template = PydanticKnownError(error["type"], values).message_template
        message = Message(template.replace("{expected_plural}", plural), **values)
    except KeyError:  # another package's own, or with values that pydantic does not tell
        return Message(error["msg"])
    return message if message == error["msg"] else Message(error["msg"])


# Files that say which hdbench wrote them, and since which version they are read

SINCE = (0, 3)
"""The first version whose files this one reads: raise it with any change of their form."""

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.")


def check_written_by(version: object, place: Path | str, remedy: str) -> None:
    """Refuse a file of a version whose files have another form.

    Args:
        version: what the file says, from anywhere.
        place: where it is.
        remedy: what to do instead.

    Raises:
        HdbenchError: it was written by another version.
    """
    found = _VERSION.match(version) if isinstance(version, str) else None
    if found is None or tuple(map(int, found.groups())) < SINCE:
        raise HdbenchError(
            "{place}: of hdbench before {since}: {remedy}",
            place=place,
            since=".".join(map(str, SINCE)),
            remedy=remedy,
        )
