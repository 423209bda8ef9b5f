"""Answers of models: from raw text to a record."""

from typing import Any, Literal

import json_repair

from hdbench.jsonio import is_too_deep, parse_json

Status = Literal["answered", "unanswered", "unparsable"]


MAX_BRACES = 10_000
"""Opening braces in a text that is repaired, at most: hostile ones would take hours. A page of
advertisements has some thirty."""


def read_text(text: str) -> Any:
    r"""The record in a model's raw text: JSON, fenced, in prose, or slightly damaged.

    Sound JSON is taken as it is; from anything else, unless it has more than `MAX_BRACES`,
    json_repair takes what it finds after the first brace.

    Args:
        text: what the model wrote.

    Returns:
        The JSON value; None for blank text; the text itself where it holds no JSON object.

    Example:
        >>> read_text('Here you are:\n```json\n{"year": 1957,}\n```')
        {'year': 1957}
        >>> read_text("I cannot read this card.")
        'I cannot read this card.'
    """
    if not text.strip():
        return None
    try:
        return parse_json(text)
    except ValueError:
        pass
    start = text.find("{")
    if start < 0 or text.count("{") > MAX_BRACES:
        return text
    try:
        value = json_repair.loads(text[start:])
    except (RecursionError, ValueError):
        return text
    # An empty string, list or object is what json_repair makes of a brace that opens nothing.
    return value if value and not is_too_deep(value) else text
