"""The page's language, and the script in its head: settings, and fixes for Gradio's gaps."""

import json
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.common.texts import LANGUAGES, language_of
from hdbench.space.texts import translations

PARAMETER = "lang"
"""The parameter of a page's address with the chosen language: `?lang=de`."""

_SPACE = Path(__file__).parents[1]
_OWN = "page_"
_HTML, _HEAD = b'<html\n\tlang="en"', b"<head>"


class PageLanguage:
    """Applies the language chosen on a page to its requests and to Gradio's page.

    The choice is in the page's address, which a browser sends along with every request of the page
    (`Referer`), so that nothing is stored here or in a cookie. Gradio takes its own
    language from the browser, before any script that it can be given: its page would not follow a
    visitor's choice. So `page.js` is put at its head, and the language at its `<html>`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the chosen language as its `Accept-Language`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_headers = MutableHeaders(scope=scope)
        query = scope["query_string"].decode("ascii", "replace")
        choice = chosen(f"?{query}") or chosen(request_headers.get("referer", ""))
        if choice is not None:
            request_headers["accept-language"] = choice
        if scope["path"] != "/" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        language = language_of(request_headers.get("accept-language"))
        start: Message = {}
        page = b""

        async def sending(message: Message) -> None:
            nonlocal start, page
            if message["type"] == "http.response.start":
                start = message
                return
            page += message.get("body", b"")
            if message.get("more_body", False):
                return
            page = page.replace(_HTML, f'<html lang="{language}"'.encode(), 1)
            page = page.replace(_HEAD, _HEAD + script(language).encode(), 1)
            headers = MutableHeaders(raw=start["headers"])
            headers["content-length"] = str(len(page))
            headers.add_vary_header("Accept-Language")
            await send(start)
            await send({**message, "body": page})

        await self._app(scope, receive, sending)


def chosen(address: str) -> str | None:
    """Return the language in an address's query, if it is one of `LANGUAGES`.

    Example:
        >>> chosen("/?__theme=dark&lang=de"), chosen("?lang=fr"), chosen("")
        ('de', None, None)
    """
    try:
        query = urlsplit(address).query[:1000]
        languages = parse_qs(query, max_num_fields=20).get(PARAMETER, [])
    except ValueError:  # more than twenty, or not an address
        return None
    return languages[0] if languages and languages[0] in LANGUAGES else None


@cache
def script(language: str) -> str:
    """Return the script of `page.js`, with the texts it needs in a language, as HTML."""
    texts = {
        "language": language,
        "own": {
            key: value for key, value in translations()[language].items() if key.startswith(_OWN)
        },
        "languages": {code: texts["page_name"] for code, texts in translations().items()},
    }
    # In a script of HTML, only this could end it.
    data = json.dumps(texts).replace("</", "<\\/")
    source = (_SPACE / "page.js").read_text(encoding="utf-8")
    return f"<script>{{const TEXTS = {data};\n{source}}}</script>"
