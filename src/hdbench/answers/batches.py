"""Lines of the files of batch services: an item's id, and what a server replied."""

import json
from collections.abc import Iterator
from typing import Any

from hdbench.answers.answer import WrittenAnswer

MAX_NUMBER = 2**53
"""Tokens and seconds are below this; a float holds whole numbers up to this one exactly."""

# fmt: off
TOKENS = {
    "input": ("input", "input_tokens", "tokens_input",
              "prompt_tokens", "inputTokens", "promptTokenCount"),
    "output": ("output", "output_tokens", "tokens_output",
               "completion_tokens", "outputTokens", "candidatesTokenCount"),
}
"""Counts of tokens, and the names for them."""
# fmt: on

_TOKEN_KEYS = frozenset(key for keys in TOKENS.values() for key in keys)

ONLY_REASONING = "reasoning only"
"""What went wrong where a model only reasoned."""

REASONING = frozenset({"reasoning", "reasoning_content", "thinking", "thoughts"})
"""Fields of a server's response, or of a wrapper, with thoughts in them, which are no answer."""


def batch_answer(line: dict[str, Any]) -> WrittenAnswer | None:
    """Return the answer in a line of OpenAI, Mistral, Anthropic, Gemini or Bedrock; else None.

    Args:
        line: a line of a file of results.

    Example:
        >>> message = {"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}
        >>> batch_answer({"custom_id": "7", "result": {"type": "succeeded", "message": message}})
        {'text': '{}', 'finish_reason': 'end_turn'}
        >>> batch_answer({"custom_id": "8", "result": {"type": "expired"}})
        {'prediction': None, 'error': 'expired'}
    """
    if "custom_id" in line and ("response" in line or "error" in line):
        response = line.get("response") or {}
        reply = response.get("body") if isinstance(response, dict) else None
    elif "custom_id" in line and isinstance(line.get("result"), dict):
        result = line["result"]
        reply = result.get("message")
        line = {"error": result.get("error") or result.get("type")} if reply is None else {}
    elif "key" in line and ("response" in line or "error" in line):
        reply = line.get("response")
    elif "recordId" in line:
        reply = line.get("modelOutput")
    else:
        return None
    return _answer(reply if isinstance(reply, dict) else {}, line.get("error"))


def tokens_of(*places: Any) -> dict[str, int]:
    """Return the counts of tokens in the first of some objects that has them.

    Example:
        >>> tokens_of(None, {"prompt_tokens": 1196, "completion_tokens": 80})
        {'input': 1196, 'output': 80}
    """
    tokens: dict[str, int] = {}
    for counts in places:
        if isinstance(counts, dict) and not _TOKEN_KEYS.isdisjoint(counts):
            for name, keys in TOKENS.items():
                for count in map(counts.get, keys):
                    if type(count) is int and 0 <= count < MAX_NUMBER:
                        tokens.setdefault(name, count)
    return tokens


def _answer(reply: dict[str, Any], error: Any) -> WrittenAnswer:
    """Return the answer in a server's reply."""
    answer: WrittenAnswer = {}
    message = _one_of(reply, "choices") or _one_of(reply, "candidates") or reply
    parts = list(_parts(message))
    text = "".join(part["text"] for part in parts if _is_said(part))
    if text.strip():
        answer["text"] = text
    else:
        answer["prediction"] = None
    if tokens := tokens_of(reply.get("usage"), reply.get("usageMetadata")):
        answer["tokens"] = tokens
    reasons = (message.get(key) for key in ("finish_reason", "finishReason", "stop_reason"))
    reason = next((reason for reason in reasons if isinstance(reason, str)), None)
    if reason:
        answer["finish_reason"] = reason
    error = error or reply.get("error")
    if error is None and "text" not in answer:
        error = ONLY_REASONING if _has_reasoning(message, parts) else "empty"
    if error is not None:
        answer["error"] = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    return answer


def _one_of(reply: dict[str, Any], key: str) -> dict[str, Any] | None:
    listed = reply.get(key)
    first = listed[0] if isinstance(listed, list) and listed else None
    return first if isinstance(first, dict) else None


def _parts(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a message that may have text, whichever server wrote it."""
    output = message.get("output")
    if isinstance(output, list):  # OpenAI's Responses
        for part in output:
            if isinstance(part, dict) and part.get("type") == "message":
                yield from _parts(part)
        return
    inner = message.get("message") or (output.get("message") if isinstance(output, dict) else None)
    content = inner if isinstance(inner, dict) else message
    found = content.get("content", content.get("generation", content.get("outputText")))
    if isinstance(found, dict):
        found = found.get("parts")
    if isinstance(found, str):
        yield {"text": found}
    elif isinstance(found, list):
        yield from (part for part in found if isinstance(part, dict))


def _is_said(part: dict[str, Any]) -> bool:
    is_thought = part.get("thought") is True or part.get("type") in ("thinking", "reasoning")
    return isinstance(part.get("text"), str) and not is_thought


def _has_reasoning(message: dict[str, Any], parts: list[dict[str, Any]]) -> bool:
    inner = message.get("message")
    spoken = inner if isinstance(inner, dict) else message
    return any(spoken.get(key) for key in REASONING) or any(not _is_said(part) for part in parts)
