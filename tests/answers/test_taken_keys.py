"""The answers of a run are handed over to be scored, and their ids are forgotten."""

import json

import pytest

from hdbench.answers.answers import Answers
from hdbench.answers.files import open_container
from hdbench.answers.json_lines import NO_LINE

LINES = "".join(
    json.dumps({"id": item, "prediction": {"title": item}}) + "\n" for item in ("007.jpg", "b", "c")
)


@pytest.mark.parametrize(
    ("name", "content", "nothing"),
    [
        ("answers.jsonl", LINES, NO_LINE),
        ("answers.json", f"[{','.join(LINES.splitlines())}]", None),
    ],
)
def test_taken_keys_are_those_of_the_items_and_forgotten(tmp_path, name, content, nothing):
    (tmp_path / name).write_text(content)
    container = open_container(tmp_path / name, None)
    answers = Answers(container, None, ["c", "x", "007", "b"], "hdb/cards", None)
    first, second = answers.take_keys([["c", "x"], ["007", "b"]])
    assert first[1] == nothing
    loaded = [container.load(key) for key in (first[0], *second)]
    assert [each["prediction"]["title"] for each in loaded] == ["c", "007.jpg", "b"]
    assert container.runs[None] == {}
    container.close()
