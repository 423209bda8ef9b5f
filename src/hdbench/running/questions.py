"""Questions as JSON, for a list that another process reads."""

from pathlib import Path
from typing import Any

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
            list(each) if isinstance(each, InShard) else str(each) for each in question.media
        ],
        "text": question.text,
        "values": dict(question.values),
        "without_media": question.without_media,
    }


def question_from_json(value: dict[str, Any]) -> Question:
    """The question that `question_to_json` made JSON of."""
    media = [InShard(*each) if isinstance(each, list) else Path(each) for each in value["media"]]
    return Question(**{**value, "media": media})
