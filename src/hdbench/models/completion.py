"""What an OpenAI-compatible server is sent beside a prompt, and what its answer means."""

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from httpx2 import Response, codes

from hdbench.common.jsonio import parse_json
from hdbench.errors import Message
from hdbench.models.backend import CUT_OFF, EMPTY, Reply

_OPTIONAL = (
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "seed",
    "stream_options",
)
"""Parameters that not every model takes, and without which it can be asked all the same."""

_MOST = 2**53

_UNSUPPORTED = re.compile(
    r"unsupported|incompatible|not.support|unknown|unrecogni[sz]ed|unexpected|not.permitted|"
    r"not.allowed|extra|deprecated|only",
    re.IGNORECASE,
)
_SCHEMA = re.compile(r"response.?format|schema|grammar|structured.?output|guided", re.IGNORECASE)


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as servers take it, unchanged.

    OpenAI rejects `strict` unless every object names all its keys as required and allows no
    others; without it a schema is only a recommendation there. Servers of open models ignore it:
    they follow any schema they accept.
    """
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "answer",
            "schema": schema,
            "strict": schema.get("type") == "object" and _is_closed(schema),
        },
    }


def read_completion(value: Any, line: Callable[[str], str]) -> Reply:
    """Return the reply in the body of a response; without a text, its `error` says why.

    Args:
        value: the body, as JSON.
        line: turns what a server says into one line.
    """
    value = _dict(value)
    choice = next(iter(_dicts(value.get("choices"))), {})
    message = _dict(choice.get("message"))
    text = _text(message.get("content"))
    stopped = choice.get("finish_reason")
    reply = Reply(
        text,
        tokens=_tokens(value.get("usage")),
        usd=_usd(value.get("usage")),
        finish_reason=line(stopped)[:50] if isinstance(stopped, str) else None,
    )
    if text and text.strip():
        return reply
    raw = choice.get("error") or value.get("error") or (None if choice else value or "no choices")
    thoughts = [message.get(name) for name in ("reasoning_content", "reasoning")]
    reasoning = next((each for each in thoughts if isinstance(each, str) and each), None)
    refusal = message.get("refusal")
    error = CUT_OFF if stopped == "length" else EMPTY
    if raw or stopped == "error":
        said = line(error_in({"error": raw})[0]) or stopped or "-"
        error = Message("error in the reply: {said}", said=said)
    elif isinstance(refusal, str) and refusal:
        error = Message("the model refused: {said}", said=line(refusal))
    elif stopped == "content_filter":
        error = Message("filtered: the server withheld the answer")
    elif message.get("tool_calls") or message.get("function_call"):
        error = Message("a tool call in place of an answer")
    elif reasoning and stopped != "length":
        error = Message("reasoning only")
    return dataclasses.replace(
        reply,
        text=None,
        error=error,
        reasoning=reasoning,
        refusal=refusal if isinstance(refusal, str) else None,
        raw_error=line(json.dumps(raw, ensure_ascii=False)) if raw else None,
    )


def body_of(response: Response) -> Any:
    """Return the JSON of an answer; of a stream of events, the completion that it amounts to.

    Raises:
        ValueError: it is not JSON.
    """
    text = response.content.decode()
    if not is_stream(response):
        return parse_json(text)
    lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return _joined([parse_json(line) for line in lines if line != "[DONE]"])


def is_stream(response: Response) -> bool:
    """Return whether an answer is a stream of events, asked for or not."""
    kind = response.headers.get("content-type", "").lower()
    return "text/event-stream" in kind or response.content.startswith((b"data:", b"event:"))


def _joined(chunks: list[Any]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: defaultdict[str, list[Any]] = defaultdict(list)
    for chunk in _dicts(chunks):
        whole |= {name: value for name, value in chunk.items() if value is not None}
        for each in _dicts(whole.pop("choices", None)):
            choice |= {name: value for name, value in each.items() if value is not None}
            for name, value in _dict(each.get("delta")).items():
                message[name].append(value)
    joined = {
        name: "".join(parts) if all(isinstance(part, str) for part in parts) else parts
        for name, values in message.items()
        if (parts := [value for value in values if value is not None])
    }
    return whole | {"choices": [choice | {"message": joined}]}


def refused_parameter(status: int, said: str, body: Mapping[str, Any]) -> str | None:
    """Return the parameter of a request that the server does not take; None if it is another thing.

    Args:
        status: the HTTP status.
        said: what the server says.
        body: the request.
    """
    if status in (400, 422):
        for name in _OPTIONAL if _UNSUPPORTED.search(said) else ():
            if name in body and re.search(rf"\b{name}\b", said):
                return name
        if re.search(r"\bstream(ing)?\b", said, re.IGNORECASE):
            return "stream"
    if "response_format" in body and (
        status == codes.NOT_IMPLEMENTED or (status in (400, 422, 500) and _SCHEMA.search(said))
    ):
        return "response_format"
    return None


def error_in(value: Any) -> tuple[str, object]:
    """Return what is said about an error, and its code, in the common JSON forms."""
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return value if isinstance(value, str) else "", None
    error = value.get("error") or value.get("detail") or value
    error = error[0] if isinstance(error, list) and error else error
    if isinstance(error, str):
        return error, value.get("code")
    if not isinstance(error, dict):
        return "", None
    parts = [error.get(name) for name in ("message", "msg", "param", "loc")]
    parts.append(_dict(error.get("metadata")).get("raw"))  # what a maker said to OpenRouter
    return " ".join(str(part)[:3000] for part in parts if part), error.get("code")


def _tokens(usage: Any) -> dict[str, int] | None:
    counts = _dict(usage)
    return {
        name: count
        for name, key in (("input", "prompt_tokens"), ("output", "completion_tokens"))
        if type(count := counts.get(key)) is int and 0 <= count < _MOST
    } or None


def _usd(usage: Any) -> float | None:
    """Return the cost of a request, which OpenRouter, for one, says."""
    cost: Any = _dict(usage).get("cost")
    return float(cost) if type(cost) in (int, float) and 0 <= cost < _MOST else None


def _text(content: Any) -> str | None:
    """Return the text of a message: a string, or, from some servers, a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in _dicts(content)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_closed(node: Any) -> bool:
    """Return whether every object in a schema requires all its keys and allows no others."""
    if isinstance(node, list):
        return all(map(_is_closed, node))
    if not isinstance(node, dict):
        return True
    keys = node.get("properties", {})
    if (node.get("type") == "object" or keys) and not (
        node.get("additionalProperties") is False and set(node.get("required", ())) == set(keys)
    ):
        return False
    return all(map(_is_closed, node.values()))
