"""The application: one server and one address for all collections of a person."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from anyio import CapacityLimiter, to_thread
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
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.collections.home.collection import Collection, key_of, opened
from hdbench.collections.home.page import Act, HomePage, Visit, is_ours, read_form
from hdbench.collections.home.pages import (
    audit,
    compare,
    decide,
    fields,
    finish,
    item,
    runs,
    scans,
    truth,
)
from hdbench.collections.home.recent import Recent
from hdbench.collections.home.rendering import render
from hdbench.collections.home.start import start_routes
from hdbench.collections.home.state import CollectionState, standing_of
from hdbench.collections.truth.in_threads import in_thread
from hdbench.collections.truth.open_pages import OpenPages
from hdbench.collections.truth.server import (
    FOLDER,
    HEADERS,
    HOME,
    NOT_SAVED,
    Edited,
    guarded_app,
    why_not,
)
from hdbench.common.display.routes import shared_routes
from hdbench.common.servers import serve_here
from hdbench.common.texts import language_of, translated
from hdbench.errors import HdbenchError, Message, without_folders

PAGES: tuple[HomePage, ...] = (
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


class _Editable(NamedTuple):
    """Something that people edit in a collection.

    Attributes:
        open: opens it for a person of some name.
        source: returns what it is made from; with another one, it is opened anew.
    """

    open: Callable[["Home", Collection, str], Edited]
    source: Callable[[Collection], Hashable] = lambda _: None


EDITORS: Mapping[str, _Editable] = {
    truth.EDITOR: _Editable(truth.editor),
    truth.CORRECTING: _Editable(truth.correcting_editor),
    truth.SETTLING: _Editable(truth.settling_page),
    audit.AUDITED: _Editable(audit.audit_editor, audit.audit_source),
    decide.CHECKING: _Editable(decide.check_editor, decide.plan_source),
    decide.CONTROLLING: _Editable(decide.control_editor, decide.plan_source),
    decide.WORKING: _Editable(decide.work_editor, decide.plan_source),
}
"""Address in a collection → what people edit there."""

FILES: Sequence[tuple[str, str, Callable[[Collection, Request], Awaitable[Response]]]] = (
    ("GET", "small/{n:number}", scans.thumbnail),
    ("GET", "picture/{page:number}", item.picture),
    ("POST", "runs/upload", runs.upload),
    ("GET", "report/{run}/{file:path}", compare.report_file),
    ("GET", "decide/page", decide.signed_page),
    ("POST", "finish/mapping/{group}", finish.upload),
    ("GET", "finish/files/{name}", finish.file),
)
"""Method, address in a collection, and what answers: files that come and go."""

# The pages have forms, and only with this policy do requests of forms say where they come from.
_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    ),
    "Referrer-Policy": "same-origin",
}

_STATIC = Path(__file__).parent / "page"

_IDLE = 60.0
"""Seconds without a request after which what is edited is closed, so that commands can open it."""

_AT_ONCE = 4  # pages that are made at the same time


class _Key(StringConvertor):
    """The part of an address that stands for a folder."""

    regex = "[0-9a-f]{16}"


register_url_convertor("key", _Key())


class Home:
    """All collections that a person has opened, for the browser of this machine.

    Args:
        recent: what is remembered of them.
        language: the pages' language; None for the browser's.
    """

    def __init__(self, recent: Recent, language: str | None = None) -> None:
        self.recent = recent
        self.root = f"/{recent.token()}"
        self.editors = OpenPages(_IDLE)
        self.chosen_language = language
        self._collections: dict[Path, Collection] = {}
        self._notes: dict[str, str] = {}
        self._lock = Lock()
        self._turns, self._opening = CapacityLimiter(_AT_ONCE), CapacityLimiter(_AT_ONCE)

    def close(self) -> None:
        """Close all that is edited."""
        self.editors.close()

    def routes(self) -> list[BaseRoute]:
        """Return the routes of all pages, behind the token."""
        collection: list[BaseRoute] = []
        for page in PAGES:
            collection.append(Route(f"/{page.name}", partial(self._show, page)))
            for name, act in page.forms.items():
                path = f"/{page.name}/{name}" if page.name else f"/{name}"
                answer = partial(self._act, page, act)
                collection.append(Route(path, answer, methods=["POST"]))
                collection.append(Route(path, partial(self._show, page)))
        for method, path, answer_file in FILES:
            endpoint = partial(self._file, answer_file)
            collection.append(Route(f"/{path}", endpoint, methods=[method]))
        for path in EDITORS:
            collection.append(Route(f"/{path}", _with_slash))
            collection.append(Mount(f"/{path}", app=_Editing(self, path)))
        routes: list[BaseRoute] = [
            *start_routes(self),
            Mount("/static", StaticFiles(directory=_STATIC)),
            Mount("/shared", routes=shared_routes()),
            Route("/{key:key}", _with_slash),
            Mount("/{key:key}", routes=collection),
        ]
        return [Mount(self.root, routes=routes)]

    def collection(self, key: str) -> Collection:
        """Return a collection that was opened before; in a thread, as it may read a lot.

        Raises:
            HdbenchError: there is none of that key, or it is no longer usable.
        """
        for name in self.recent.read().collections:
            folder = Path(name)
            if key_of(folder) == key:
                if not folder.is_dir():
                    raise HdbenchError(
                        "{place}: no such folder: if it was moved, open it where it is now",
                        place=folder,
                    )
                with self._lock:
                    if folder not in self._collections:
                        self._collections[folder] = opened(folder)
                    return self._collections[folder]
        raise HdbenchError("not one of the collections that were opened here")

    async def open_collection(self, request: Request) -> Collection:
        """Return the collection of a request, as `collection` does.

        Raises:
            HdbenchError: see `collection`; or too many others are being opened.
        """
        return await in_thread(self._opening, self.collection, request.path_params["key"])

    def language(self, request: Request) -> str:
        """Return the language of a page."""
        return self.chosen_language or language_of(request.headers.get("accept-language"))

    def standing(self, collection: Collection) -> CollectionState:
        """Return where a collection stands, as its files say it now.

        Raises:
            HdbenchError: one of them cannot be read.
        """
        return standing_of(
            collection.progress(),
            len(collection.fields),
            collection.run_views(),
            collection.decisions.view().decided,
        )

    def editing(
        self, path: str, collection: Collection, name: str
    ) -> tuple[Hashable, Callable[[], Edited]]:
        """Return the key of what a person edits at an address, and what opens it.

        Args:
            path: the address, one of `EDITORS`.
            collection: the collection.
            name: the person's name.

        Raises:
            HdbenchError: there is nothing to edit.
        """
        edited = EDITORS[path]
        key = (path, collection.key, name, edited.source(collection))
        return key, partial(edited.open, self, collection, name)

    def open_editor(self, path: str, collection: Collection, name: str) -> None:
        """Open what a person edits at an address, for the requests that come.

        Args:
            path: the address, one of `EDITORS`.
            collection: the collection.
            name: the person's name.

        Raises:
            HdbenchError: it cannot be opened.
        """
        with self.editors.page(*self.editing(path, collection, name)):
            pass

    async def page(
        self, request: Request, template: str, make: Callable[[str], Mapping[str, Any]]
    ) -> Response:
        """Return a page, or one with the error in one line.

        Args:
            request: the request.
            template: the name of its template.
            make: returns the values for the template in a language; called in a thread.
        """
        language = self.language(request)
        try:
            values = await in_thread(self._turns, make, language)
            status = 400 if values.get("error") else 200
            text = await in_thread(
                self._turns, partial(render, template, language, self.root, **values)
            )
        except HdbenchError as error:
            status = 404
            text = render("problem.html", language, self.root, error=error.message)
        return HTMLResponse(text, status)

    async def _show(self, page: HomePage, request: Request) -> Response:
        return await self.page(
            request, _template(page), partial(self._values, page, request, {}, "")
        )

    def _values(
        self, page: HomePage, request: Request, form: Mapping[str, str], error: str, language: str
    ) -> Mapping[str, Any]:
        """Return the values for the template of a collection's page."""
        key = request.path_params["key"]
        collection = self.collection(key)
        visit = Visit(self, collection, language, dict(request.query_params), form)
        # Pages that are open ask for parts of theirs, which show no note.
        is_seen = request.headers.get("sec-fetch-mode", "navigate") == "navigate"
        shown = page.show(visit)  # first: what it finds out may change where the collection stands
        return {
            "collection": collection,
            "page": page.name,
            "pages": [each.name for each in PAGES],
            "title": collection.spec.title_in(language),
            "standing": self.standing(collection),
            "form": form,
            "error": without_folders(error, collection.beside),
            "note": "" if error or not is_seen else self._notes.pop(key, ""),
            **shown,
        }

    async def _act(self, page: HomePage, act: Act, request: Request) -> Response:
        """Do what a form asks for, and lead to the page that shows it."""
        if not is_ours(request):
            return Response("another origin", 403)
        key, form = request.path_params["key"], dict[str, str]()
        try:
            form = await read_form(request)
            collection = await self.open_collection(request)
            visit = Visit(self, collection, self.language(request), {}, form)
            done = await in_thread(self._turns, act, visit)
        except HdbenchError as error:
            values = partial(self._values, page, request, form, error.message)
            return await self.page(request, _template(page), values)
        if done.note:  # otherwise it is still that of a button that was pressed twice
            self._notes[key] = done.note
        to = page.name if done.to is None else done.to
        return RedirectResponse(f"{self.root}/{key}/{to}", 303)

    async def _file(
        self, answer: Callable[[Collection, Request], Awaitable[Response]], request: Request
    ) -> Response:
        if request.method == "POST" and not is_ours(request):
            return Response("another origin", 403)
        try:
            collection = await self.open_collection(request)
            request.scope[FOLDER] = collection.beside
            return await answer(collection, request)
        except HdbenchError as error:
            return JSONResponse({"error": why_not(error.message, request)}, 400)


class _Editing:
    """Pages on which people edit something of a collection, opened when they are asked for.

    Args:
        home: the home.
        path: their address in a collection, one of `EDITORS`.
    """

    def __init__(self, home: Home, path: str) -> None:
        self._home, self._path = home, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope)
        with ExitStack() as stack:
            app: ASGIApp
            try:
                app = await self._entered(stack, request)
            except HdbenchError as error:
                app = self._refusal(request, error)
            await app(scope, receive, send)

    async def _entered(self, stack: ExitStack, request: Request) -> ASGIApp:
        """Return what is edited, which stays open as long as the stack.

        Raises:
            HdbenchError: it cannot be opened.
        """
        home, name = self._home, request.path_params["name"]
        collection = await home.open_collection(request)
        request.scope[HOME] = f"{home.root}/{collection.key}/"
        if _is_page(request):  # it shows what the files say now
            await to_thread.run_sync(home.editors.close_idle, 0)
        key, opening = await to_thread.run_sync(home.editing, self._path, collection, name)
        return await home.editors.enter(stack, key, opening)

    def _refusal(self, request: Request, error: HdbenchError) -> Response:
        """Return what a person is told, or the page that is open, which keeps what was typed."""
        if _is_page(request):
            text = render(
                "problem.html", self._home.language(request), self._home.root, error=error.message
            )
            return HTMLResponse(text, 503)
        return JSONResponse({"error": why_not(error.message, request)}, NOT_SAVED)


def build_app(home: Home) -> Starlette:
    """Return the application.

    Args:
        home: the home.
    """
    app = guarded_app(home.routes(), _HEADERS)
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


def _is_page(request: Request) -> bool:
    """Return whether a request of something that is edited asks for its page, not for its data."""
    return request.url.path.endswith("/")


async def _gone(_: Request, __: Exception) -> Response:
    """Answer a browser that went away before all was sent: nobody sees it."""
    return Response(status_code=400)


async def _missing(home: Home, request: Request, _: Exception) -> Response:
    """Answer a request for a page that does not exist; only who has the token gets to know it."""
    if not request.url.path.startswith(f"{home.root}/"):
        moved = Message("not an address of these pages: hdbench open says theirs in the terminal")
        return PlainTextResponse(translated(moved, home.language(request)), 404)
    error = Message("there is no such page")
    return HTMLResponse(render("problem.html", home.language(request), home.root, error=error), 404)


async def _refused(home: Home, request: Request, error: Exception) -> Response:
    """Answer a form that no page shows again, such as one that cannot be remembered."""
    assert isinstance(error, HdbenchError)  # noqa: S101  it handles no others
    text = render("problem.html", home.language(request), home.root, error=error.message)
    return HTMLResponse(text, 400)


def _template(page: HomePage) -> str:
    return f"{page.name or 'overview'}.html"


async def _with_slash(request: Request) -> Response:
    """Return the way to the same address with the slash that relative addresses need."""
    return RedirectResponse(f"{request.url.path}/", 307)
