"""Files that are valid only as they were written: YAML with its own hash."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import yaml
from pydantic import Field

from hdbench.common.bounds import MAX_WHOLE
from hdbench.common.files import open_regular, read_errors
from hdbench.common.validation import Strict, check_file, check_written_by, read_yaml, validate
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message

_KIND = re.compile(rb"^(plan|learned|control): 1\s*$", re.MULTILINE)
_HEAD = 4096
"""Number of bytes at the beginning of such a file within which its kind is named."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Sealed(Strict):
    """Content of a file that has its own hash.

    Attributes:
        KIND: the key that names the kind of file: `plan`, `learned` or `control`.
        WHAT: the kind of file in messages.
        TO_DO: what to do if it was changed since.
        HEAD: the comment at the beginning of the file.
    """

    KIND: ClassVar[str]
    WHAT: ClassVar[Message]
    TO_DO: ClassVar[Message]
    HEAD: ClassVar[str]

    def hash(self) -> str:
        """Return its sha256 as JSON: keys sorted, without nulls, spaces and escapes."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, without nulls."""
        return self.model_dump(mode="json", exclude_none=True)


AnySealed = TypeVar("AnySealed", bound=Sealed)


def write_sealed(path: Path, content: Sealed) -> None:
    """Write a file with its hash.

    Raises:
        HdbenchError: it cannot be written.
    """
    data = {content.KIND: 1, "hash": content.hash(), **content.as_dict()}
    text = content.HEAD + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10**6)
    write_whole(path, text.encode())


def is_sealed(data: bytes) -> str | None:
    """Return the kind of such a file by its beginning; None for other files."""
    match = _KIND.search(data[:_HEAD])
    return match[1].decode() if match else None


def kind_of(path: Path) -> str | None:
    """Return the kind of such a file; None for other files, and if it is not there.

    Raises:
        HdbenchError: it cannot be read.
    """
    if not path.is_file():
        return None
    with read_errors(path), open_regular(path) as file:
        return is_sealed(file.read(_HEAD))


def check_replaceable(path: Path) -> None:
    """Refuse to overwrite a plan, what was learned or a control sample: nothing brings them back.

    Raises:
        HdbenchError: the file is one of them.
    """
    if kind_of(path) is not None:
        raise HdbenchError(
            "{place}: is a sealed file of hdbench trust, and never replaced: name another file",
            place=path,
        )


def read_sealed(path: Path, model: type[AnySealed]) -> AnySealed:
    """Return the content of a file, as it was written.

    Args:
        path: the file.
        model: the class of its content.

    Raises:
        HdbenchError: it cannot be read, is something else, or was changed since.
    """
    check_file(path, MAX_WHOLE, model.WHAT)
    data: Any = read_yaml(path)
    if not isinstance(data, dict) or data.pop(model.KIND, None) != 1:
        raise HdbenchError(
            "{place}: not {what} of hdbench trust, or of another version",
            place=path,
            what=model.WHAT,
        )
    if "hdbench" in model.model_fields:
        check_written_by(data.get("hdbench"), path, Message("plan again, in another folder"))
    recorded_hash = data.pop("hash", None)
    content = validate(model, data, path)
    if content.hash() != recorded_hash:
        raise HdbenchError(
            "{place}: was changed after it was made (its hash is {now}…, and it says {noted}…): "
            "{to_do}",
            place=path,
            now=content.hash()[:12],
            noted=str(recorded_hash)[:12],
            to_do=model.TO_DO,
        )
    return content
