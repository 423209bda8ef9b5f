"""YAML that people write by hand, without YAML's types: `001` and `020` stay texts."""

from pathlib import Path
from typing import Any

import yaml

from hdbench.common.checked import read_text_file
from hdbench.errors import HdbenchError

MAX_CHARACTERS = 2**16
"""Maximum length of a file."""

MAX_DEPTH = 20
"""Maximum number of levels in a file."""


def read_plain_yaml(path: Path) -> Any:
    """Return what is in a file: texts, lists and objects.

    Raises:
        HdbenchError: it is not YAML, too long, too deep, or has an alias.
    """
    text = read_text_file(path)
    if len(text) > MAX_CHARACTERS:
        raise HdbenchError(
            "{place}: longer than {most:,} characters", place=path, most=MAX_CHARACTERS
        )
    try:
        _refuse_what_grows(text, path)
        return yaml.load(text, yaml.BaseLoader)  # noqa: S506  makes nothing but texts
    except yaml.YAMLError as error:
        raise HdbenchError(
            "{place}: not YAML: {why}", place=path, why=" ".join(str(error).split())
        ) from error


def _refuse_what_grows(text: str, path: Path) -> None:
    depth = 0
    for event in yaml.parse(text):
        if isinstance(event, yaml.AliasEvent):
            raise HdbenchError("{place}: has an alias (*…): write the value out", place=path)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:  # PyYAML takes a minute for 30,000
            raise HdbenchError(
                "{place}: nested more than {most} levels deep", place=path, most=MAX_DEPTH
            )
