"""The queue for what takes long: bounded, and one visitor cannot fill it."""

import asyncio
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.queueing import Event, Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import get_upload_folder

from hdbench.space.context import SpaceContext
from hdbench.space.server.limits import visitor
from hdbench.space.texts import language_of, text


def bound_queue(app: gr.Blocks, context: SpaceContext) -> None:
    """Bound an application's queue; whoever finds it full is told in one line what to do.

    Gradio's own bound answers with an HTTP error, instead of which browsers and `gradio_client`
    show a text of their own.

    Args:
        app: the application, with all its events.
        context: the Space's context.
    """
    app.queue(max_size=None, default_concurrency_limit=context.at_once, api_open=False)
    queue = app._queue
    push = queue.push

    async def push_if_free(body: Any, request: Any, username: str | None) -> tuple[bool, Any, Any]:
        address = visitor(request.scope)
        if body.fn_index not in app.fns:
            return False, "no such function", "error"
        if len(queue) >= context.max_waiting:
            key = "queue_full"
        elif _of_visitor(queue, address) >= context.max_per_visitor:
            key = "too_many_of_yours"
        elif not _is_uploaded(body.data):
            key = "not_uploaded"
        else:
            return await push(body=body, request=request, username=username)
        language = language_of(request.headers.get("accept-language"))
        return True, _refused(queue, body, request, text(key, language)), "success"

    queue.push = push_if_free  # type: ignore[method-assign]


def _is_uploaded(data: Any) -> bool:
    """Whether all files in what a visitor sends are there; Gradio fails on others silently."""
    if isinstance(data, list):
        return all(map(_is_uploaded, data))
    if not isinstance(data, dict) or "path" not in data:
        return True
    path = data["path"]
    if not isinstance(path, str) or "\0" in path or "://" in path:
        return isinstance(path, str) and "://" in path  # upload_field says more about it
    try:
        found = Path(path).resolve()
        return found.is_relative_to(Path(get_upload_folder()).resolve()) and found.is_file()
    except (OSError, RuntimeError):
        return False


def _of_visitor(queue: Queue, address: str) -> int:
    """How much a visitor has waiting or in progress."""
    events = queue.event_ids_to_events.values()
    return sum(visitor(event.request.scope) == address for event in events)


def _refused(queue: Queue, body: Any, request: Any, message: str) -> str:
    """The id of an event that ends with a message before it begins."""
    event = Event(body.session_hash, queue.blocks.fns[body.fn_index], request, None)
    session = event.session_hash
    if session not in queue.pending_messages_per_session:
        queue.pending_messages_per_session[session] = asyncio.Queue()
    queue.pending_event_ids_session.setdefault(session, set()).add(event._id)
    output = {"error": message, "visible": True, "duration": 20, "title": None}
    queue.send_message(event, ProcessCompletedMessage(output=output, success=False))
    return event._id
