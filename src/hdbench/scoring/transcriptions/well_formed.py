"""Whether a text is well-formed XML."""

from typing import Any
from xml.parsers import expat

MAX_XML = 2**20
"""Maximum number of characters in a text that is parsed as XML."""


def is_xml(text: str | None) -> bool:
    """Return whether a text is well-formed XML without a document type, and so without entities.

    Example:
        >>> is_xml("<a>x</a>"), is_xml("<a>"), is_xml("<!DOCTYPE a><a/>")
        (True, False, False)
    """
    if not text or len(text) > MAX_XML:
        return False
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError, _RefusedError):
        return False
    return True


class _RefusedError(Exception):
    """A text has a document type."""


def _refuse(*_: Any) -> None:
    raise _RefusedError
