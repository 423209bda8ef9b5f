"""The application: one server and one address for all collections of a person."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
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
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.collections.home.collection import Collection, key_of, opened
from hdbench.collections.home.page import Act, HomePage, Visit
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
from hdbench.collections.truth.server import (
    FOLDER,
    HEADERS,
    HOME,
    NOT_SAVED,
    Edited,
    guarded_app,
    routes_of,
    why_not,
)
from hdbench.common.display.routes import shared_routes
from hdbench.common.servers import serve_here
from hdbench.common.texts import language_of, translated
from hdbench.errors import HdbenchError, Message, without_folders

logger = logging.getLogger(__name__)

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


EDITORS: Mapping[str, Callable[[Collection, str, str | None], Edited]] = {
    truth.EDITOR: truth.editor,
    truth.CORRECTING: truth.correcting_editor,
    truth.SETTLING: truth.settling_page,
    audit.AUDITED: audit.audit_page,
    decide.CHECKING: decide.check_editor,
    decide.CONTROLLING: decide.control_editor,
    decide.WORKING: decide.work_editor,
}
"""Address in a collection → what opens what a person of some name edits there."""

FILES: Sequence[tuple[str, str, Callable[[Collection, Request], Awaitable[Response]]]] = (
    ("GET", "small/{n:number}", scans.thumbnail),
    ("GET", "picture/{page:number}", item.picture),
    ("POST", "runs/upload", runs.upload),
    ("GET", "report/{run}/{file:path}", compare.report_file),
    ("GET", "decide/page", decide.signed_page),
    ("POST", "finish/upload/{kind}", finish.upload),
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
        self.chosen_language = language
        self._collections: dict[Path, Collection] = {}
        self._edited: dict[tuple[str, ...], tuple[Edited, Router]] = {}
        self._notes: dict[str, str] = {}
        self._lock, self._editing = Lock(), Lock()

    def close(self) -> None:
        """Close all that is edited."""
        for edited, _ in self._edited.values():
            _close(edited)

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
            collection.append(Mount(f"/{path}", app=_EditedPage(self, path)))
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
            collection.decisions.view(),
        )

    def edited(self, path: str, collection: Collection, name: str, *, anew: bool) -> Router:
        """Return what answers for what a person edits, opened unless it is.

        Args:
            path: its address in the collection, one of `EDITORS`.
            collection: the collection.
            name: the person's name.
            anew: whether it is opened again, so that it shows what the files say now.

        Raises:
            HdbenchError: it cannot be opened.
        """
        # What was drawn by another plan is another page.
        key = (path, collection.key, name, collection.decisions.plan_hash())
        with self._editing:
            if anew and key in self._edited:
                _close(self._edited.pop(key)[0])
            if key not in self._edited:
                edited = EDITORS[path](collection, name, self.chosen_language)
                for note in edited.notes:
                    logger.warning("%s", note)
                self._edited[key] = edited, Router(routes_of(edited))
            return self._edited[key][1]

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

        def made() -> Response:
            try:
                values = make(language)
                text = render(template, language, self.root, **values)
            except HdbenchError as error:
                text = render("problem.html", language, self.root, error=error.message)
                return HTMLResponse(text, 404)
            return HTMLResponse(text, 400 if values.get("error") else 200)

        return await to_thread.run_sync(made)

    async def submitted(
        self,
        request: Request,
        template: str,
        act: Callable[[Mapping[str, str]], str],
        show: Callable[[Mapping[str, str], str, str], Mapping[str, Any]],
    ) -> Response:
        """Do what a form asks for, and lead to the page that shows it.

        Args:
            request: the request.
            template: the page of the form, which is shown again if it cannot be done.
            act: does it by the form's fields, and returns the address behind the token; called in a
                thread.
            show: returns the values for the template by the fields, the error and the language.
        """
        if not _is_ours(request):
            return Response("another origin", 403)
        # Browsers end lines in forms with CR LF.
        fields = (await request.form()).items()
        form = {name: str(value).replace("\r\n", "\n") for name, value in fields}
        try:
            to = await to_thread.run_sync(act, form)
        except HdbenchError as error:
            return await self.page(request, template, partial(show, form, error.message))
        return RedirectResponse(f"{self.root}/{to}", 303)

    async def file(
        self, answer: Callable[[Request], Awaitable[Response]], request: Request
    ) -> Response:
        """Return what answers a request of a script: a file that comes or goes, or the error."""
        if request.method == "POST" and not _is_ours(request):
            return Response("another origin", 403)
        try:
            return await answer(request)
        except HdbenchError as error:
            return JSONResponse({"error": why_not(error.message, request)}, 400)

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
        """Do what a form of a collection's page asks for."""
        key = request.path_params["key"]

        def done(form: Mapping[str, str]) -> str:
            collection = self.collection(key)
            outcome = act(Visit(self, collection, self.language(request), {}, form))
            if outcome.note:  # otherwise it is still that of a button that was pressed twice
                self._notes[key] = outcome.note
            return f"{key}/{page.name if outcome.to is None else outcome.to}"

        return await self.submitted(
            request, _template(page), done, partial(self._values, page, request)
        )

    async def _file(
        self, answer: Callable[[Collection, Request], Awaitable[Response]], request: Request
    ) -> Response:
        async def answered(_: Request) -> Response:
            collection = await to_thread.run_sync(self.collection, request.path_params["key"])
            request.scope[FOLDER] = collection.beside
            return await answer(collection, request)

        return await self.file(answered, request)


class _EditedPage:
    """Pages on which people edit something of a collection, opened when they are asked for.

    Args:
        home: the home.
        path: their address in a collection, one of `EDITORS`.
    """

    def __init__(self, home: Home, path: str) -> None:
        self._home, self._path = home, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request, home = Request(scope), self._home
        is_page = request.url.path.endswith("/")  # and no request of its script
        app: ASGIApp

        def opened_page() -> Router:
            collection = home.collection(request.path_params["key"])
            return home.edited(self._path, collection, request.path_params["name"], anew=is_page)

        try:
            app = await to_thread.run_sync(opened_page)
            scope[HOME] = f"{home.root}/{request.path_params['key']}/"
        except HdbenchError as error:
            # A page that is open keeps what was typed.
            app = JSONResponse({"error": why_not(error.message, request)}, NOT_SAVED)
            if is_page:
                language = home.language(request)
                text = render("problem.html", language, home.root, error=error.message)
                app = HTMLResponse(text, 503)
        await app(scope, receive, send)


def _close(edited: Edited) -> None:
    """Close what was edited; what cannot be written then is safe in the people's files."""
    try:
        edited.close()
    except HdbenchError as error:
        logger.warning("%s", error)


def _is_ours(request: Request) -> bool:
    """Return whether a request that changes something says that it comes from these pages."""
    return request.headers.get("origin") == f"http://{request.headers.get('host')}"


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
