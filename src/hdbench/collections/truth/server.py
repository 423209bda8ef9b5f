"""The editor's page, served to the browser of this machine alone."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.event_files import ChangedError, NotSavedError
from hdbench.collections.truth.value_page import ValuePage
from hdbench.common.display.routes import shared_routes
from hdbench.common.jsonio import SPELLED, parse_line, spelled_json
from hdbench.common.servers import HOST, serve_here
from hdbench.common.texts import language_of, translated
from hdbench.errors import HdbenchError

NOT_SAVED = 507
"""The HTTP status for a change that could not be saved, which the page keeps and sends again."""

_PICTURES = CapacityLimiter(4)

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

HOME = "hdbench.collections.home"
"""The key of a request's scope with the address of the page that leads to this one, if any does."""

_LISTED = "hdbench-listed"
"""The header with the name of the list that a page began with, as `start` gave it.

A page stays open while its list is replaced, such as by an earlier state of the collection; the
numbers in the addresses of its requests then stand for something else.
"""

Edited = Editor | ValuePage
"""What a page is served for."""

Answer = Callable[[Request, dict[str, Any]], Any]


class _Number(IntegerConvertor):
    """A number in an address; longer ones, which Python cannot parse, do not match."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())


def routes_of(edited: Edited) -> list[BaseRoute]:
    """Return the routes of a page, by what it edits: its files, and its requests.

    Args:
        edited: the editor, or the page of values.
    """

    def route(path: str, answer: Answer, method: str = "GET") -> Route:
        return Route(path, partial(_answered, edited, answer), methods=[method])

    def started(request: Request, _: dict[str, Any]) -> dict[str, Any]:
        return edited.start() | {"home": request.scope.get(HOME), "listed": edited.lists[-1]}

    if isinstance(edited, Editor):
        page, requests = "index.html", _editor_routes(edited, route)
    else:
        page, requests = "value.html", _value_routes(edited, route)
    return [
        Route("/", lambda _: FileResponse(_PAGE / page)),
        route("/start", started),
        *requests,
        *shared_routes(),
        Mount("/", StaticFiles(directory=_PAGE)),
    ]


def _editor_routes(editor: Editor, route: Callable[..., Route]) -> list[Route]:
    return [
        route("/search", lambda request, _: editor.search(*_query(request, "q"))),
        route("/suggest", lambda request, _: editor.suggested(*_query(request, "field", "typed"))),
        route("/leave", lambda *_: editor.leave(), "POST"),
        route("/items/{n:number}", _of(editor.item)),
        route("/items/{n:number}/change", _with(editor.change), "POST"),
        route("/items/{n:number}/draft", _with(editor.fill_in), "POST"),
        route("/items/{n:number}/undo", _of(editor.undo), "POST"),
        route("/items/{n:number}/drafts", _of(editor.drafts)),
        _picture("/items/{n:number}/pages/{page:number}", editor.page),
        _picture("/items/{n:number}/small/{page:number}", lambda n, _: editor.thumbnail(n)),
    ]


def _value_routes(values: ValuePage, route: Callable[..., Route]) -> list[Route]:
    return [
        route("/state", lambda request, _: values.state(_after(request))),
        route("/go-on", lambda _, body: values.go_on(body), "POST"),
        route("/values/{n:number}", _of(values.value)),
        route("/values/{n:number}/read", _with(values.read), "POST"),
        _picture("/values/{n:number}/pages/{page:number}", values.picture),
    ]


async def _answered(edited: Edited, answer: Answer, request: Request) -> Response:
    """Answer a request of a page, in a thread."""

    def answered(body: dict[str, Any]) -> Any:
        if (name := request.headers.get(_LISTED)) and name not in edited.lists:
            raise HdbenchError(
                "what this page lists has been replaced: copy what you typed, and load the page "
                "again"
            )
        try:
            return _localized(answer(request, body), request)
        except ChangedError:
            return {"stale": edited.now(_number(request))}

    try:
        body = await _body(request) if request.method == "POST" else {}
        return _json(await to_thread.run_sync(answered, body))
    except HdbenchError as error:
        # The page tries again if the change is not saved.
        status = NOT_SAVED if isinstance(error, NotSavedError) else 400
        return _json({"error": why_not(error.message, request)}, status)
    except ClientDisconnect:
        return Response(status_code=400)  # to nobody


def _picture(path: str, picture: Callable[[int, int], tuple[bytes, str]]) -> Route:
    """Return a route to pictures; those that take long keep nothing else from a thread."""

    async def endpoint(request: Request) -> Response:
        page = request.path_params["page"]
        try:
            data, media_type = await to_thread.run_sync(
                picture, _number(request), page, limiter=_PICTURES
            )
        except HdbenchError as error:
            return Response(why_not(error.message, request), 404, media_type="text/plain")
        return Response(data, media_type=media_type)

    return Route(path, endpoint)


def _after(request: Request) -> int:
    after = request.query_params.get("after", "")
    return int(after) if after.isdecimal() and len(after) < 10 else -1  # noqa: PLR2004


def build_app(edited: Edited, token: str) -> Starlette:
    """Return the application of one page.

    Args:
        edited: the editor, or the page of values.
        token: the first part of all addresses, which no other page in the browser can guess.
    """
    return guarded_app([Mount(f"/{token}", routes=routes_of(edited))])


def guarded_app(
    routes: Sequence[BaseRoute], headers: Mapping[str, str] = MappingProxyType(HEADERS)
) -> Starlette:
    """Return an application for the browser of this machine, which refuses all other requests.

    Args:
        routes: the routes, behind a token.
        headers: the headers that restrict its pages.
    """
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(BaseHTTPMiddleware, dispatch=partial(_guarded, headers=headers)),
        ],
    )


def serve(edited: Edited, *, port: int, started: Callable[[str], object]) -> None:
    """Serve the page until it is interrupted, and close what it edits.

    Args:
        edited: the editor, or the page of values.
        port: the port; 0 for any that is free.
        started: called with the address.

    Raises:
        HdbenchError: see `listening`.
    """
    token = secrets.token_urlsafe(16)
    try:
        serve_here(build_app(edited, token), port=port, path=f"/{token}/", started=started)
    finally:
        edited.close()


async def _guarded(
    request: Request,
    call_next: Callable[[Request], Awaitable[Response]],
    headers: Mapping[str, str],
) -> Response:
    """Refuse requests from other pages, and send the headers that restrict this page."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host')}":
        return Response("another origin", 403)
    response = await call_next(request)
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response


def _of(read: Callable[[int], Any]) -> Answer:
    return lambda request, _: read(_number(request))


def _with(change: Callable[[int, dict[str, Any]], Any]) -> Answer:
    return lambda request, body: change(_number(request), body)


def _localized(answer: Any, request: Request) -> Any:
    """Return an answer with its problem, if it tells of one, in the page's language."""
    problem = answer.get("problem") if isinstance(answer, dict) else None
    return answer | {"problem": why_not(problem, request)} if isinstance(problem, str) else answer


def why_not(message: str, request: Request) -> str:
    """Return the reason of a refusal, in the language that the page sends with requests."""
    return translated(message, language_of(request.headers.get("accept-language")))


def _query(request: Request, *names: str) -> list[str]:
    return [request.query_params.get(name, "") for name in names]


def _number(request: Request) -> int:
    number: int = request.path_params["n"]
    return number


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request.

    Raises:
        HdbenchError: the body is something else.
    """
    # A form of another page can send text, but not this.
    if request.headers.get("content-type") != "application/json":
        raise HdbenchError("must be application/json")
    return parse_line(await request.body(), "the request", SPELLED)


def _json(value: Any, status: int = 200) -> Response:
    # In ASCII: a model's text can hold lone surrogates, which UTF-8 does not have.
    return Response(spelled_json(value), status, media_type="application/json")
