"""The application: one server and one address for all collections of a person."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.collections.home.page import Act, Done, EditedPage, Home, HomePage, Visit
from hdbench.collections.home.pages import (
    audit,
    compare,
    decide,
    fields,
    finish,
    item,
    runs,
    scans,
    start,
    truth,
)
from hdbench.collections.home.recent import Recent
from hdbench.collections.home.state import HomeText
from hdbench.collections.home.uploads import UploadedFile, uploaded
from hdbench.collections.truth.server import HEADERS, HOME, NOT_SAVED, guarded_app, why_not
from hdbench.common.display.routes import shared_routes
from hdbench.common.servers import serve_here
from hdbench.common.templates import html_templates, sentence
from hdbench.common.texts import Texts, grouped, language_of, translated
from hdbench.errors import HdbenchError, Message, shortened, without_folders

PAGES: Sequence[HomePage] = (
    scans.OVERVIEW,
    scans.PAGE,
    item.PAGE,
    fields.PAGE,
    truth.PAGE,
    truth.AGREEMENT,
    runs.PAGE,
    compare.PAGE,
    audit.PAGE,
    decide.PAGE,
    finish.PAGE,
)
"""The pages of a collection; the one without a name is the first."""

EDITED: Sequence[EditedPage] = (
    truth.EDITOR,
    truth.CORRECTING,
    truth.SETTLING,
    audit.AUDITED,
    decide.CHECKING,
    decide.WORKING,
)
"""The pages on which people edit something of a collection."""

TEXTS = Texts(Path(__file__).with_name("texts"))

# The pages have forms, and only with this policy do requests of forms say where they come from.
_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    ),
    "Referrer-Policy": "same-origin",
}

_STATIC = Path(__file__).parent / "page"


class _Key(StringConvertor):
    """The part of an address that stands for a folder."""

    regex = "[0-9a-f]{16}"


register_url_convertor("key", _Key())


def build_app(home: Home) -> Starlette:
    """Return the application.

    Args:
        home: the home.
    """
    edited = [Mount(f"/{page.path}", app=partial(_edit, home, page)) for page in EDITED]
    routes = [
        *_routes(home, start.PAGES),
        Mount("/static", StaticFiles(directory=_STATIC)),
        Mount("/shared", routes=shared_routes()),
        Mount("/{key:key}", routes=[*_routes(home, PAGES), *edited]),
    ]
    app = guarded_app([Mount(home.root, routes=routes)], _HEADERS)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(404, partial(_missing, home))
    app.add_exception_handler(HdbenchError, partial(_refused, home))
    return app


def serve_home(
    recent: Recent, *, port: int, language: str | None, path: str, started: Callable[[str], object]
) -> None:
    """Serve the home until it is interrupted.

    Args:
        recent: what is remembered of collections; no other process serves them.
        port: the port; 0 for any that is free.
        language: the pages' language; None for the browser's.
        path: the path of the page to begin with, behind the token.
        started: called with its address.

    Raises:
        HdbenchError: see `hdbench.common.servers.listening`.
    """
    home = Home(recent, language)

    def note(address: str) -> None:
        recent.note_address(address.removesuffix(path))
        started(address)

    try:
        serve_here(build_app(home), port=port, path=f"{home.root}/{path}", started=note)
    finally:
        home.close()


def _routes(home: Home, pages: Sequence[HomePage]) -> Iterator[Route]:
    """Yield the routes of pages, of their forms, and of the files that come and go."""
    for page in pages:
        yield Route(f"/{page.name}", partial(_show, home, page))
        for name, act in page.forms.items():
            path = f"/{page.name}/{name}" if page.name else f"/{name}"
            yield Route(path, partial(_act, home, page, act), methods=["POST"])
            # Whoever goes back to the page that a form was sent from, or reloads it, finds it.
            yield Route(path, partial(_show, home, page))
        for path, answer in page.files.items():
            yield Route(f"/{path}", partial(_file, home, answer))
        for name, take in page.uploads.items():
            answer_sent = partial(_take_in, home, take)
            yield Route(f"/{page.name}/{name}", answer_sent, methods=["POST"])


def _visit(home: Home, request: Request, form: Mapping[str, str]) -> Visit:
    return Visit(
        home, _language(home, request), request.path_params, dict(request.query_params), form
    )


def _language(home: Home, request: Request) -> str:
    return home.chosen_language or language_of(request.headers.get("accept-language"))


def _base(visit: Visit) -> str:
    """Return what stands before the addresses of pages: the token, and a collection's key."""
    return "/".join(filter(None, (visit.home.root, visit.parts.get("key"))))


async def _show(
    home: Home,
    page: HomePage,
    request: Request,
    form: Mapping[str, str] | None = None,
    error: str = "",
) -> Response:
    """Answer with a page, or one with what is wrong in one line."""
    visit = _visit(home, request, form or {})
    # Pages that are open ask for parts of theirs, which show no note.
    is_seen = request.headers.get("sec-fetch-mode", "navigate") == "navigate"

    def shown() -> Response:
        try:
            values = _values(visit, page, error, is_seen=is_seen)
            template = page.template or f"{page.name}.html"
            text = _rendered(template, visit.language, home.root, _base(visit), **values)
        except HdbenchError as unusable:
            if made := home.made_of(visit.parts.get("draft", "")):
                return RedirectResponse(f"{home.root}/{made}/", 303)
            return _problem(home, request, unusable.message, 404)
        return HTMLResponse(text, 400 if error else 200)

    return await to_thread.run_sync(shown)


def _values(visit: Visit, page: HomePage, error: str, *, is_seen: bool) -> dict[str, Any]:
    """Return the values for the template of a page.

    Raises:
        HdbenchError: the page cannot be shown.
    """
    values = {"form": visit.form, "error": _told(visit, error), **page.show(visit)}
    if "key" not in visit.parts:
        return values
    collection = visit.collection
    return {
        "collection": collection,
        "page": page.name,
        "pages": [each.name for each in PAGES],
        "title": collection.spec.title_in(visit.language),
        "standing": collection.standing(),  # last: what the page finds out may change it
        "note": visit.home.notes.pop(collection.key, "") if is_seen and not error else "",
    } | values


async def _act(home: Home, page: HomePage, act: Act, request: Request) -> Response:
    """Do what a form asks for, and lead to the page that shows it."""
    if not _is_ours(request):
        return Response("another origin", 403)
    # Browsers end lines in forms with CR LF.
    sent = (await request.form()).items()
    form = {name: str(value).replace("\r\n", "\n") for name, value in sent}
    visit = _visit(home, request, form)
    try:
        done = await to_thread.run_sync(act, visit) or Done()
    except HdbenchError as error:
        return await _show(home, page, request, form, error.message)
    if done.note:  # otherwise it is still that of a button that was pressed twice
        home.notes[visit.parts["key"]] = done.note
    to = page.name.format_map(visit.parts) if done.to is None else done.to
    return RedirectResponse(f"{_base(visit)}/{to}", 303)


async def _file(home: Home, answer: Callable[[Visit], Response], request: Request) -> Response:
    """Answer with a file."""
    return await to_thread.run_sync(answer, _visit(home, request, {}))


async def _take_in(
    home: Home, take: Callable[[Visit, UploadedFile], Mapping[str, str] | None], request: Request
) -> Response:
    """Take in a file that a page's script sends."""
    if not _is_ours(request):
        return Response("another origin", 403)
    visit = _visit(home, request, {})
    folder = await to_thread.run_sync(lambda: visit.folder)
    async with uploaded(request, folder or Path()) as given:
        return JSONResponse(await to_thread.run_sync(take, visit, given) or {})


def _refused(home: Home, request: Request, error: Exception) -> Response:
    """Answer with the reason for refusing a file; runs in a thread, as it may read files."""
    message = _told(_visit(home, request, {}), error.args[0])  # of an `HdbenchError`
    return JSONResponse({"error": why_not(message, request)}, 400)


def _told(visit: Visit, message: str) -> str:
    """Return a message in which files have the names that whoever visits knows."""
    with suppress(HdbenchError):
        if folder := visit.folder:
            return without_folders(message, folder, folder.parent)
    return message


async def _edit(home: Home, page: EditedPage, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a page on which a person edits something, opened when it is asked for."""
    request = Request(scope)
    is_page = request.url.path.endswith("/")  # and no request of its script
    app: ASGIApp

    def opened_page() -> Router:
        collection = home.collection(request.path_params["key"])
        return home.edited(page, collection, request.path_params["name"], anew=is_page)

    try:
        app = await to_thread.run_sync(opened_page)
        scope[HOME] = f"{home.root}/{request.path_params['key']}/"
    except HdbenchError as error:
        # A page that is open keeps what was typed.
        app = JSONResponse({"error": why_not(error.message, request)}, NOT_SAVED)
        if is_page:
            app = _problem(home, request, error.message, 503)
    await app(scope, receive, send)


def _is_ours(request: Request) -> bool:
    """Return whether a request that changes something says that it comes from these pages."""
    return request.headers.get("origin") == f"http://{request.headers.get('host')}"


async def _gone(_: Request, __: Exception) -> Response:
    """Answer a browser that went away before all was sent: nobody sees it."""
    return Response(status_code=400)


async def _missing(home: Home, request: Request, _: Exception) -> Response:
    """Answer a request for a page that does not exist; only who has the token gets to know it."""
    if not request.url.path.startswith(f"{home.root}/"):
        moved = Message("not an address of these pages: hdbench open says theirs in the terminal")
        return PlainTextResponse(translated(moved, _language(home, request)), 404)
    return _problem(home, request, Message("there is no such page"), 404)


# Pages from templates; whatever they show is escaped


def _problem(home: Home, request: Request, error: str, status: int) -> Response:
    """Return a page that says what is wrong, and leads back."""
    language = _language(home, request)
    return HTMLResponse(
        _rendered("problem.html", language, home.root, home.root, error=error), status
    )


def _rendered(template: str, language: str, root: str, base: str, **values: Any) -> str:
    """Return a page.

    In a template, `t(key, name=value)` is a text, `say(message)` a message in the page's language,
    `some_of(names)` the first of some names, `grouped(1000)` a whole number, `at("runs")` the
    address of a page of the collection, and `root` the beginning of all addresses.

    Args:
        template: the name of its file.
        language: the page's language.
        root: the token behind its slash.
        base: what stands before the addresses of pages.
        values: the values for the template.
    """
    return (
        html_templates("hdbench.collections.home")
        .get_template(template)
        .render(
            t=lambda key, **values: TEXTS.text(key, language, **values),
            say=lambda message: sentence(said(message, language)),
            some_of=lambda names: translated(shortened(names), language),
            at=lambda page: f"{base}/{page}",
            grouped=partial(grouped, language=language),
            root=root,
            language=language,
            **values,
        )
    )


def said(text: str | HomeText, language: str) -> str:
    """Return a text of ours, or a message, in a language."""
    if not isinstance(text, HomeText):
        return translated(text, language)
    values = {
        name: said(value, language) if isinstance(value, HomeText) else value
        for name, value in text.values.items()
    }
    return TEXTS.text(text.key, language, **values)
