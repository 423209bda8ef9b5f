"""The part of the Space where people make ground truths."""

import ipaddress
from contextlib import ExitStack

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from hdbench.annotating.server import FOLDER, HEADERS, why_not
from hdbench.common.templates import html_templates
from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError, escaped
from hdbench.space.annotate.accounts import WINDOW, Login, TooManyTriesError, read_accounts
from hdbench.space.annotate.editors import Editors, Quota, check_folder
from hdbench.space.context import SpaceContext
from hdbench.space.server.limits import WITHOUT_BODY
from hdbench.space.texts import text

ACCOUNT = "hdbench.account"
"""The key of a request's account in its scope."""

_CHALLENGE = {"WWW-Authenticate": 'Basic realm="hdbench annotate", charset="UTF-8"'}


class Annotate:
    """A page with the collections, and the editor of each, for people with an account.

    The account replaces the token that an address has on a person's own machine, and is
    the pseudonym in the history.

    Args:
        context: the Space's context, with a folder of collections and a file with accounts.

    Raises:
        HdbenchError: a folder or file must not be used, or one of the two is missing.
    """

    def __init__(self, context: SpaceContext) -> None:
        folder, accounts = context.annotate, context.accounts
        if folder is None:
            raise HdbenchError("HDBENCH_ANNOTATE_ACCOUNTS needs HDBENCH_ANNOTATE_FOLDER")
        if accounts is None:
            raise HdbenchError(
                "HDBENCH_ANNOTATE_FOLDER needs HDBENCH_ANNOTATE_ACCOUNTS: without accounts anyone "
                "could change the ground truth"
            )
        check_folder(folder)
        if accounts.resolve().is_relative_to(folder.resolve()):
            raise HdbenchError(
                "{place}: must not be in {folder}: put it beside it", place=accounts, folder=folder
            )
        self._login = Login(read_accounts(accounts))
        quota = Quota(folder, context.max_per_account, context.max_annotated)
        self._editors = Editors(folder, quota)
        routes = [Route("/", self._index), Mount("/{collection}", self._editor)]
        self._app = Starlette(routes=routes)

    def close(self) -> None:
        """Close all editors."""
        self._editors.pages.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request if it comes with an account."""
        if scope["type"] != "http":
            await WebSocketClose()(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        scope[FOLDER] = self._editors.folder
        request = Request(scope)
        app: ASGIApp = self._app
        if why := _not_ours(request):
            app = PlainTextResponse(_say(request, why), 403)
        else:
            try:
                scope[ACCOUNT] = await self._login.account(request)
            except TooManyTriesError:
                headers = {"Retry-After": str(int(WINDOW))}
                app = PlainTextResponse(_say(request, "annotate_tries"), 429, headers)
            else:
                if scope[ACCOUNT] is None:
                    wrong = _say(request, "annotate_login")
                    app = PlainTextResponse(wrong, 401, _CHALLENGE)
        await app(scope, receive, answer)

    async def _index(self, request: Request) -> Response:
        language = language_of(request.headers.get("accept-language"))
        collections = await run_in_threadpool(self._editors.collections)
        template = html_templates("hdbench.space.views").get_template("annotate.html")
        page = template.render(
            language=language,
            title=text("annotate_title", language),
            none=text("annotate_none", language),
            account=request.scope[ACCOUNT],
            collections=collections,
        )
        return HTMLResponse(page)

    async def _editor(self, scope: Scope, receive: Receive, send: Send) -> None:
        collection, account = scope["path_params"]["collection"], scope[ACCOUNT]
        with ExitStack() as stack:
            app: ASGIApp | None
            try:
                app = await self._editors.enter(stack, collection, account)
            except HdbenchError as error:
                message = why_not(error.message, Request(scope))
                app = PlainTextResponse(escaped(message), 503)
            if app is None:
                app = PlainTextResponse(_say(Request(scope), "annotate_not_there"), 404)
            await app(scope, receive, send)


def _not_ours(request: Request) -> str | None:
    """Return the key of the reason for refusing a request from anyone; None if there is none.

    Browsers send a password along with requests that another page makes, and Gradio lets other
    pages read its answers. So requests by other pages are refused; they may link here.
    """
    if request.url.scheme != "https" and not _is_local(request):
        return "annotate_https"
    headers = request.headers
    site = headers.get("sec-fetch-site")
    if site is not None:
        is_link = request.method in WITHOUT_BODY and headers.get("sec-fetch-mode") == "navigate"
        is_ours = site in ("same-origin", "none") or is_link
    else:  # an old browser, or a program
        hosts = {headers.get("host"), headers.get("x-forwarded-host")}
        origin = headers.get("origin")
        is_ours = origin is None or origin.partition("://")[2] in hosts
    return None if is_ours else "annotate_origin"


def _is_local(request: Request) -> bool:
    """Return whether the request is made on this machine."""
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _say(request: Request, key: str) -> str:
    return text(key, language_of(request.headers.get("accept-language")))
