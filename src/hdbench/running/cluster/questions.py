"""Questions as lines of a file, from which a rank on another machine reads them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from hdbench.common.jsonio import read_jsonl
from hdbench.running.backend import Question


def as_line(question: Question) -> bytes:
    """A question as a line; files are named by absolute paths."""
    value = {
        "id": question.id,
        "media": [os.path.abspath(path) for path in question.media],
        "text": question.text,
        "values": dict(question.values),
        "without_media": question.without_media,
    }
    return json.dumps(value).encode() + b"\n"


def read_questions(path: Path) -> Iterator[Question]:
    """The questions in a file of such lines."""
    for line in read_jsonl(path):
        known = dict(line.value)
        yield Question(**known | {"media": [Path(each) for each in known["media"]]})
