"""Lines of the files of batch services."""

import json
from contextlib import closing

import pytest

from hdbench.answers.entries import EntryReader
from hdbench.answers.files import open_container

SAID = '{"year": 1957}'
CHAT = {"choices": [{"message": {"content": SAID}, "finish_reason": "stop"}]}
RESPONSES = {
    "output": [
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "A card."}]},
        {"type": "message", "content": [{"type": "output_text", "text": SAID}]},
    ]
}
MESSAGE = {"content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": SAID}]}
CALLED = {"content": None, "tool_calls": [{"function": {"name": "card", "arguments": SAID}}]}
CANDIDATES = {"candidates": [{"content": {"parts": [{"text": SAID}]}}]}


@pytest.mark.parametrize(
    "line",
    [
        {"id": "batch_req_1", "custom_id": "7", "response": {"body": CHAT}, "error": None},
        {"id": "batch_req_1", "custom_id": "7", "response": {"body": RESPONSES}, "error": None},
        {"custom_id": "7", "result": {"type": "succeeded", "message": MESSAGE}},
        {"key": "7", "response": CANDIDATES},
        {"recordId": "7", "modelOutput": {"output": {"message": {"content": [{"text": SAID}]}}}},
        {"recordId": "7", "modelOutput": {"results": [{"outputText": SAID}]}},
        {"custom_id": "7", "result": {"message": {"content": [{"input": {"year": 1957}}]}}},
        {"custom_id": "7", "response": {"body": {"choices": [{"message": CALLED}]}}},
    ],
    ids=["OpenAI", "Responses", "Anthropic", "Gemini", "Bedrock", "Titan", "tool", "function"],
)
def test_line_of_a_service_is_an_answer(line):
    reader = EntryReader(None)
    assert reader.id(line, "a.jsonl:1") == "7"
    assert reader.entry(line, "a.jsonl:1")["text"] == SAID


def test_refused_request_has_the_id_that_was_given_with_it(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [{"id": f"batch_{item}", "custom_id": item, "error": {"code": 429}} for item in "78"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with closing(open_container(path, None)) as container:
        assert list(container.runs[None]) == ["7", "8"]
        assert container.load(container.runs[None]["8"])["prediction"] is None
