"""The reconciliation service, served to OpenRefine on this machine alone."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from hdbench.authorities.reconciliation import Reconciliation
from hdbench.common.jsonio import SPELLED, json_reason, parse_json, spelled_json
from hdbench.common.loopback import HOST
from hdbench.common.texts import language_of
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError

MAX_BODY = 2**20
"""Maximum number of bytes of a request."""

_FIELDS = 10
_AT_ONCE = 2  # searches
_COUNT = re.compile("[0-9]{1,9}")
_ON_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?")

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors http://127.0.0.1:* http://localhost:*",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def build_app(service: Reconciliation) -> Starlette:
    """Return the application.

    Args:
        service: what it serves.
    """
    turns = CapacityLimiter(_AT_ONCE)

    def route(path: str, answer: Callable[[dict[str, str], str], Any]) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                fields = await _fields(request)
                base = str(request.base_url).rstrip("/")
                return _json(await to_thread.run_sync(answer, fields, base, limiter=turns))
            except HdbenchError as error:
                language = language_of(request.headers.get("accept-language"))
                return _json({"error": translated(error.message, language)}, 400)
            except ClientDisconnect:
                return Response(status_code=400)  # to nobody

        return Route(path, endpoint, methods=["GET", "POST"])

    def main(fields: dict[str, str], base: str) -> Any:
        if "queries" in fields:
            return service.answers(_parsed(fields["queries"], "queries"))
        if "extend" in fields:
            return service.extended(_parsed(fields["extend"], "extend"))
        return service.manifest(base)

    def suggesting(
        suggested: Callable[[str, int], dict[str, Any]],
    ) -> Callable[..., dict[str, Any]]:
        return lambda fields, _: suggested(fields.get("prefix", ""), _count(fields, "cursor") or 0)

    def properties(fields: dict[str, str], _: str) -> dict[str, Any]:
        return service.properties(fields.get("type", ""), _count(fields, "limit"))

    async def preview(request: Request) -> Response:
        page = service.preview(request.query_params.get("id", ""))
        return Response(status_code=404) if page is None else HTMLResponse(page)

    return Starlette(
        routes=[
            route("/", main),
            route("/suggest/entity", suggesting(service.suggested_entities)),
            route("/suggest/type", suggesting(service.suggested_types)),
            route("/suggest/property", suggesting(service.suggested_properties)),
            route("/properties", properties),
            Route("/preview", preview),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(BaseHTTPMiddleware, dispatch=_guarded),
        ],
    )


async def _guarded(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Let pages of this machine read responses, such as OpenRefine's, and refuse all others.

    OpenRefine's page has another port, so that its browser asks for CORS. JSONP is not offered:
    with it, any page that somebody has open could read the authority files.
    """
    origin = request.headers.get("origin")
    if origin is not None and not _ON_LOOPBACK.fullmatch(origin):
        return Response("another origin", 403)
    response = await call_next(request)
    response.headers.update(_HEADERS)
    if origin is not None:
        response.headers.update({"Access-Control-Allow-Origin": origin, "Vary": "Origin"})
    return response


async def _fields(request: Request) -> dict[str, str]:
    """Return the fields of a request: those of its address, or of the form that it sends."""
    sent = bytearray(str(request.url.query).encode())
    if request.method == "POST":
        sent += b"&" if sent else b""
        async for part in request.stream():
            sent += part
            if len(sent) > MAX_BODY:
                raise HdbenchError("more than {most} MiB", most=MAX_BODY >> 20)
    try:
        values = parse_qs(sent.decode(), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError as error:
        raise HdbenchError("must be a form in UTF-8") from error
    return {name: texts[-1] for name, texts in values.items()}


def _count(fields: dict[str, str], name: str) -> int | None:
    """Return a field that is a number from 0 on; None if there is none.

    Raises:
        HdbenchError: it is something else.
    """
    text = fields.get(name, "")
    if text and not _COUNT.fullmatch(text):
        raise HdbenchError("{name}: must be a whole number, 0 or more", name=name)
    return int(text) if text else None


def _parsed(text: str, name: str) -> Any:
    try:
        return parse_json(text, SPELLED)
    except ValueError as error:
        raise HdbenchError("{name}: not JSON: {why}", name=name, why=json_reason(error)) from error


def _json(value: Any, status: int = 200) -> Response:
    return Response(spelled_json(value), status, media_type="application/json")
