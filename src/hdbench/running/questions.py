"""Questions as lines of a file, from which a task on another machine reads them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hdbench.common.jsonio import read_jsonl
from hdbench.running.backend import InShard, Question


def question_to_json(question: Question) -> dict[str, Any]:
    """A question as JSON data: each file is an absolute path, or the parts of an `InShard`.

    Example:
        >>> question_to_json(Question("1", [InShard("a.tar", "1.jpg", 512, 90)]))["media"]
        [['a.tar', '1.jpg', 512, 90]]
    """
    return {
        "id": question.id,
        "media": [
            list(each) if isinstance(each, InShard) else os.path.abspath(each)
            for each in question.media
        ],
        "text": question.text,
        "values": dict(question.values),
        "without_media": question.without_media,
    }


def question_from_json(value: dict[str, Any]) -> Question:
    """The question that `question_to_json` made JSON of."""
    media = [InShard(*each) if isinstance(each, list) else Path(each) for each in value["media"]]
    return Question(**{**value, "media": media})


def as_line(question: Question) -> bytes:
    """A question as a line."""
    return json.dumps(question_to_json(question)).encode() + b"\n"


def read_questions(path: Path) -> Iterator[Question]:
    """The questions in a file of such lines."""
    return (question_from_json(line.value) for line in read_jsonl(path))
