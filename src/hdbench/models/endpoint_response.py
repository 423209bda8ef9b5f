"""Answers of an OpenAI-compatible server: a completion, or why there is none."""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import KW_ONLY, dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from httpx2 import Response
from jsonschema_rs import Draft202012Validator

from hdbench.common.jsonio import parse_json
from hdbench.errors import Message
from hdbench.models.backend import CUT_OFF, EMPTY, Observer, Reply

MAX_MESSAGE = 300
"""Maximum characters of what a server says about an error."""

MAX_NESTED = 200_000
"""Maximum objects and lists in a response, counted by their brackets: more take seconds to read,
and while they are read no other answer is."""

_BUSY = frozenset((408, 425, 429, 502, 503, 504))
"""Statuses of a server that may answer later."""

_TOO_MANY = 429
_BAD_REQUEST = (400, 422)
_UNSUPPORTED = re.compile(
    r"unsupported|not.support|unknown|unrecogni[sz]ed|unexpected|not.permitted|not.allowed|extra|"
    r"deprecated",
    re.IGNORECASE,
)
_SERVER_ERROR = 500
_NOT_IMPLEMENTED = 501


@dataclass(eq=False)
class Unanswered(Exception):  # noqa: N818  not all of them are errors
    """No usable answer came, and asking again may help.

    Attributes:
        message: why.
        retry_after: seconds that the server asks to wait.
        timed_out: whether the request timed out.
        unconnected: whether there was no connection at all.
        refused: whether the server answered and did not say that it is busy.
        unusable: whether it looked like a successful answer but was not a completion.
        limited: whether the server gets more requests than it wants, whatever they ask.
    """

    message: str
    _: KW_ONLY
    retry_after: float | None = None
    timed_out: bool = False
    unconnected: bool = False
    refused: bool = False
    unusable: bool = False
    limited: bool = False

    @property
    def deliberate(self) -> bool:
        """Return whether the server is likely to answer the same again."""
        return self.refused or self.unusable

    @property
    def busy(self) -> bool:
        """Return whether the server is there, but has too much to do or is slow."""
        return not self.deliberate and not self.unconnected


class Refused(Exception):  # noqa: N818
    """The server refuses the request and would do so again.

    Attributes:
        status: the HTTP status.
        not_here: whether there may be nothing at this address.
        no_model: whether it does not know the model, or the address.
        hopeless: whether every other request would be refused too.
    """

    def __init__(self, status: int, message: str, code: object) -> None:
        super().__init__(message)
        self.status = status
        self.not_here = status in (404, 405)
        self.no_model = self.not_here or code == "model_not_found"
        self.hopeless = self.no_model or status in (401, 402, 403) or status in range(300, 400)


class SchemaRefused(Exception):  # noqa: N818
    """The server cannot hold answers to the schema."""


class ParameterRefused(Exception):  # noqa: N818
    """The server does not know a parameter of the request, or not this value of it.

    Attributes:
        name: the parameter.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


OPTIONAL = ("max_tokens", "temperature", "top_p", "seed")
"""Parameters that not every model takes, and without which it can be asked all the same."""


def read_completion(data: bytes, content_type: str, line: Callable[[str], str]) -> Reply:
    """Return the reply in a response body; without a text, its `error` gives the reason.

    Args:
        data: the body.
        content_type: as the server sends it.
        line: turns what a server says into one line.

    Raises:
        Unanswered: it is not a completion.
    """
    value = _json(data, content_type, line)
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        reason = line(error_in(value)[0])
        raise _unusable(
            "the server's answer has no choices: {said}"
            if reason
            else "the server's answer has no choices",
            said=reason,
        ) from error
    usage = value.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    stopped, fingerprint = choice.get("finish_reason"), value.get("system_fingerprint")
    kept_back = None if text and text.strip() else _why_empty(choice, message, line)
    tokens = {
        name: count
        for name, key in (("input", "prompt_tokens"), ("output", "completion_tokens"))
        if type(count := counts.get(key)) is int and 0 <= count < 2**53
    }
    return Reply(
        None if kept_back else text,
        tokens=tokens or None,
        finish_reason=line(stopped)[:50] if isinstance(stopped, str) else None,
        error=kept_back,
        fingerprint=line(fingerprint)[:100] if isinstance(fingerprint, str) else None,
    )


def _why_empty(
    choice: Mapping[str, Any], message: Mapping[str, Any], line: Callable[[str], str]
) -> Message:
    """Return why a completion has no text."""
    refusal, stopped = message.get("refusal"), choice.get("finish_reason")
    said = line(error_in({"error": choice["error"]})[0]) if choice.get("error") else ""
    if said or stopped == "error":
        return Message("error in the reply: {said}", said=said or stopped)
    if isinstance(refusal, str) and refusal:
        return Message("the model refused: {said}", said=line(refusal))
    if stopped == "content_filter":
        return Message("the server's content filter withheld the answer")
    if message.get("tool_calls") or message.get("function_call"):
        return Message("a tool call in place of an answer")
    if any(message.get(name) for name in ("reasoning_content", "reasoning")):
        return Message("reasoning only")
    return CUT_OFF if stopped == "length" else EMPTY


def read_failure(
    response: Response, data: bytes, line: Callable[[str], str], *, sent: Container[str]
) -> Unanswered | Refused | SchemaRefused | ParameterRefused:
    """Return what a status other than 200 means.

    Args:
        response: the response.
        data: its body.
        line: turns what a server says into one line.
        sent: the parameters of the request.
    """
    detail, code = _error_of(data)
    status, headers = response.status_code, response.headers
    message = line(f"{status} {response.reason_phrase}: {detail}").rstrip(": ")
    target = headers.get("location", "").partition("?")[0].rpartition("@")[2]
    if status in range(300, 400) and target:
        redirects = Message(
            "{status}: redirects to {target}: give that address as the endpoint",
            status=status,
            target=line(target),
        )
        return Refused(status, redirects, code)
    if status in _BAD_REQUEST and _UNSUPPORTED.search(f"{detail} {code}"):
        named = (name for name in OPTIONAL if name in sent and re.search(rf"\b{name}\b", detail))
        if (name := next(named, None)) is not None:
            return ParameterRefused(name, message)
    if "response_format" in sent and (status == _NOT_IMPLEMENTED or _names_schema(status, detail)):
        return SchemaRefused(message)
    if status in _BUSY or status >= _SERVER_ERROR:
        return Unanswered(
            message,
            retry_after=_retry_after(headers),
            refused=status not in _BUSY,
            limited=status == _TOO_MANY,
        )
    return Refused(status, message, code)


def parse_bounded(text: str) -> Any:
    """Return the value of a JSON text from a server.

    Raises:
        ValueError: it is not JSON, or has more than `MAX_NESTED` objects and lists.
    """
    if text.count("{") + text.count("[") > MAX_NESTED:
        raise ValueError("too many objects and lists")
    return parse_json(text)


def error_in(value: Any) -> tuple[str, object]:
    """Return what is said about an error, and its code, in the common JSON forms."""
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return "", None
    error = value.get("error") or value.get("detail") or value
    error = error[0] if isinstance(error, list) and error else error
    if isinstance(error, str):
        return error, value.get("code")
    if not isinstance(error, dict):
        return "", None
    parts = [error.get(name) for name in ("message", "msg", "param", "loc")]
    return " ".join(str(part)[: 10 * MAX_MESSAGE] for part in parts if part), error.get("code")


def _json(data: bytes, content_type: str, line: Callable[[str], str]) -> Any:
    begins = data[:1000].lstrip().lower()
    if "text/event-stream" in content_type or begins.startswith((b"data:", b"event:")):
        raise _unusable(
            "the server answers with a stream of events, which was not asked for; hdbench only "
            "reads whole answers"
        )
    if b"<html" in begins or begins.startswith(b"<!doctype html"):
        raise _unusable("the server answers with a web page, not with JSON: is the address right?")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _unusable(
            "the server's answer is not UTF-8 (byte {byte:,})", byte=error.start + 1
        ) from error
    try:
        return parse_bounded(text)
    except ValueError as error:
        shown = line(text[:60])
        raise _unusable(
            "the server's answer is not JSON, cut off or too large: it begins {beginning!r}"
            if shown
            else "the server's answer is empty",
            beginning=shown,
        ) from error


def _unusable(template: str, **values: object) -> Unanswered:
    return Unanswered(Message(template, **values), unusable=True)


def _text(content: Any) -> str | None:
    """Return the text of a message: a string, or, from some servers, a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _error_of(data: bytes) -> tuple[str, object]:
    """Return what a server says about an error, and its code; nothing for an HTML page."""
    text = data.decode(errors="replace")
    try:
        value = parse_bounded(text)
    except ValueError:
        return ("" if "<html" in text[:1000].lower() else text[: 10 * MAX_MESSAGE]), None
    return error_in(value)


def _names_schema(status: int, text: str) -> bool:
    return status not in (401, 402, 403, 429) and bool(
        re.search(r"response.?format|schema|grammar|structured.?output|guided", text, re.IGNORECASE)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


IGNORED, FIRST = 3, 10
"""If so many of the first answers do not keep the schema, the server seems to ignore it."""


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


class SchemaCheck:
    """Check whether answers keep a schema: a server that ignores it does not say so.

    Args:
        schema: JSON Schema.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._validator = Draft202012Validator(schema, offline=True)
        self._first: list[bool] = []

    def kept_by(self, text: str, observer: Observer, finish_reason: str | None) -> bool:
        """Return whether an answer is JSON that keeps the schema, and nothing else.

        Args:
            text: the answer.
            observer: is told when it seems that the server ignores the schema.
            finish_reason: an answer that was cut off does not show that.
        """
        try:
            is_valid: bool = self._validator.is_valid(parse_json(text))
        except ValueError:
            is_valid = False
        if finish_reason != "length" and len(self._first) < FIRST:
            self._first.append(is_valid)
            if not is_valid and self._first.count(False) == IGNORED:
                observer.notice(
                    Message(
                        "the server seems to ignore the schema that is sent along: {broken} of the "
                        "first {count} answers do not keep it",
                        broken=IGNORED,
                        count=len(self._first),
                    )
                )
        return is_valid


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
