"""Files that hold only as they were written: YAML with its own hash."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import yaml
from pydantic import Field

from hdbench.common.checked import Strict, check_file, read_yaml, validate
from hdbench.common.jsonio import write_whole
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

MAX_FILE = 64 * 2**20
"""Maximum size in bytes of such a file."""

_KIND = re.compile(rb"^(plan|control): 1\s*$", re.MULTILINE)
_HEAD = 4096
"""Number of bytes within which such a file says what it is."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Sealed(Strict):
    """Content of a file that has its own hash.

    Attributes:
        KIND: the key that says what the file is: `plan`, or `control`.
        WHAT: what people call it.
        TO_DO: what to do if it was changed since.
        HEAD: the comment that it begins with.
    """

    KIND: ClassVar[str]
    WHAT: ClassVar[Message]
    TO_DO: ClassVar[Message]
    HEAD: ClassVar[str]

    def hash(self) -> str:
        """Return its sha256 as JSON: keys sorted, none that is null, no spaces, no escapes."""
        text = json.dumps(self.said(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def said(self) -> dict[str, Any]:
        """It as plain data, without what is null."""
        return self.model_dump(mode="json", exclude_none=True)


AnySealed = TypeVar("AnySealed", bound=Sealed)


def write_sealed(path: Path, content: Sealed) -> None:
    """Write a file with its hash.

    Raises:
        HdbenchError: it cannot be written.
    """
    said = {content.KIND: 1, "hash": content.hash(), **content.said()}
    text = content.HEAD + yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=10**6)
    write_whole(path, text.encode())


def is_sealed(data: bytes) -> str | None:
    """Return whether data begin like such a file: `plan`, `control`, or None for anything else."""
    found = _KIND.search(data[:_HEAD])
    return found[1].decode() if found else None


def check_replaceable(path: Path) -> None:
    """Refuse to write over a plan or a control sample, which nothing can bring back.

    Raises:
        HdbenchError: the file is one of them.
    """
    if not path.is_file():
        return
    with read_errors(path), path.open("rb") as file:
        kind = is_sealed(file.read(_HEAD))
    if kind is not None:
        raise HdbenchError(
            "{place}: is a plan, which is never replaced: name another file"
            if kind == "plan"
            else "{place}: is a control sample, which is never replaced: name another file",
            place=path,
        )


def read_sealed(path: Path, model: type[AnySealed]) -> AnySealed:
    """Return a file, as it was written.

    Args:
        path: the file.
        model: the class of what is in it.

    Raises:
        HdbenchError: it cannot be read, is something else, or was changed since.
    """
    check_file(path, MAX_FILE, model.WHAT)
    said: Any = read_yaml(path)
    if not isinstance(said, dict) or said.pop(model.KIND, None) != 1:
        raise HdbenchError(
            "{place}: not {what} of hdbench trust, or of another version",
            place=path,
            what=model.WHAT,
        )
    noted = said.pop("hash", None)
    content = validate(model, said, path)
    if content.hash() != noted:
        raise HdbenchError(
            "{place}: was changed after it was made (its hash is {now}…, and it says {noted}…): "
            "{to_do}",
            place=path,
            now=content.hash()[:12],
            noted=str(noted)[:12],
            to_do=model.TO_DO,
        )
    return content
