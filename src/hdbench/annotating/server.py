"""The editor's page, served to the browser of this machine alone."""

import json
import secrets
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hdbench.annotating.editor import Editor, as_json
from hdbench.annotating.reviewing.review import ChangedError, Review
from hdbench.annotating.store import StaleError
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.listening import listening
from hdbench.common.texts import language_of
from hdbench.common.told import told
from hdbench.errors import HdbenchError

HOST = "127.0.0.1"

MAX_BODY = 8 * 2**20
"""Maximum number of bytes of a change."""

_PAGE = Path(__file__).parent / "page"

# Nothing but the page's own files runs or loads, whatever a value of the collection holds.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Answer = Callable[[Request, dict[str, Any]], Any]


def page_routes(editor: Editor) -> list[BaseRoute]:
    """What the page consists of, and what it asks for.

    Args:
        editor: what is edited.
    """
    return [
        _route("/start", lambda *_: editor.start()),
        _route("/search", lambda request, _: editor.search(request.query_params.get("q", ""))),
        _route("/suggest", lambda request, _: editor.suggested(*_typed(request))),
        _route("/waiting", lambda *_: editor.waiting()),
        _route("/leave", lambda _, asked: editor.leave(asked), "POST"),
        _route("/items/{n:int}", lambda request, _: _shown(request, editor.item)),
        _route("/items/{n:int}/change", _with(editor.change), "POST"),
        _route("/items/{n:int}/draft", _with(editor.fill_in), "POST"),
        _route("/items/{n:int}/undo", lambda request, _: editor.undo(_number(request)), "POST"),
        _route("/items/{n:int}/drafts", lambda request, _: editor.drafts(_number(request))),
        Route("/items/{n:int}/pages/{page:int}", _picture(editor.page)),
        Mount("/", StaticFiles(directory=_PAGE, html=True)),
    ]


def build_app(editor: Editor, token: str) -> Starlette:
    """The application.

    Args:
        editor: what is edited.
        token: the first part of all addresses, which no other page in the browser can guess.
    """
    return _app(page_routes(editor), token)


def build_review_app(review: Review, token: str) -> Starlette:
    """The application for second looks.

    Args:
        review: what is looked at.
        token: the first part of all addresses, which no other page in the browser can guess.
    """
    routes: list[BaseRoute] = [
        Route("/", lambda _: FileResponse(_PAGE / "review.html")),
        _route("/start", lambda *_: review.start()),
        _route("/entries/{n:int}", lambda request, _: _shown(request, review.entry)),
        _route("/entries/{n:int}/read", _with(review.read), "POST"),
        _route("/entries/{n:int}/judge", _with(review.judge), "POST"),
        _route("/entries/{n:int}/undo", _with(review.undo), "POST"),
        Route("/entries/{n:int}/pages/{page:int}", _picture(review.picture)),
        Mount("/", StaticFiles(directory=_PAGE)),
    ]
    return _app(routes, token)


def _app(routes: list[BaseRoute], token: str) -> Starlette:
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(BaseHTTPMiddleware, dispatch=_guarded),
        ],
    )


def serve(edited: Editor | Review, *, port: int, started: Callable[[str], object]) -> None:
    """Serve the page until it is interrupted, and close what is edited.

    Args:
        edited: what is edited, or looked at.
        port: the port; 0 for any that is free.
        started: called with the address.

    Raises:
        HdbenchError: see `listening`.
    """
    try:
        with listening(HOST, port) as served_on:
            token = secrets.token_urlsafe(16)
            # Uvicorn sends itself the signal again when it has ended: then the editor still has to
            # be closed.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            if isinstance(edited, Review):
                served = build_review_app(edited, token)
            else:
                served = build_app(edited, token)
            config = uvicorn.Config(
                served,
                log_level="warning",
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=2,
            )
            with suppress(KeyboardInterrupt):
                started(f"http://{HOST}:{served_on.getsockname()[1]}/{token}/")
                uvicorn.Server(config).run(sockets=[served_on])
    finally:
        edited.close()


async def _guarded(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Refuse what another page of the browser sent; say what this page may do."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host')}":
        return Response("another origin", 403)
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


def _route(path: str, answer: Answer, method: str = "GET") -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            asked = await _body(request) if method == "POST" else {}
            return _json(await run_in_threadpool(answer, request, asked))
        except StaleError as error:
            return _json({"stale": as_json(error.state)})
        except ChangedError as error:
            return _json({"stale": error.state})
        except HdbenchError as error:
            return _json({"error": told(error.message, _language(request))}, 400)

    return Route(path, endpoint, methods=[method])


def _with(change: Callable[[int, dict[str, Any]], Any]) -> Answer:
    return lambda request, asked: change(_number(request), asked)


def _picture(
    picture: Callable[[int, int], tuple[bytes, str]],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        page = request.path_params["page"]
        try:
            data, media_type = await run_in_threadpool(picture, _number(request), page)
        except HdbenchError as error:
            why = told(error.message, _language(request))
            return Response(why, 404, media_type="text/plain")
        return Response(data, media_type=media_type)

    return endpoint


def _shown(request: Request, read: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """What the page shows of an item, with what is wrong with its media in the page's language."""
    shown = read(_number(request))
    return shown | {"problem": told(shown["problem"], _language(request))}


def _language(request: Request) -> str:
    """The language of the page, which says it with each request."""
    return language_of(request.headers.get("accept-language"))


def _typed(request: Request) -> tuple[str, str]:
    return request.query_params.get("field", ""), request.query_params.get("typed", "")


def _number(request: Request) -> int:
    number: int = request.path_params["n"]
    return number


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that a request carries.

    Raises:
        HdbenchError: it carries something else, or too much.
    """
    # A form of another page can send text, but not this.
    if request.headers.get("content-type") != "application/json":
        raise HdbenchError("must be application/json")
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_BODY:
            raise HdbenchError("more than {most} MiB", most=MAX_BODY >> 20)
    try:
        value = parse_json(data.decode())
    except ValueError as error:
        raise HdbenchError("not JSON: {why}", why=json_reason(error)) from error
    if not isinstance(value, dict):
        raise HdbenchError("must be an object")
    return value


def _json(value: Any, status: int = 200) -> Response:
    # In ASCII: a model's text can hold lone surrogates, which UTF-8 does not have.
    return Response(json.dumps(value), status, media_type="application/json")
