"""Which language a visitor wants: what was chosen on the page, otherwise the browser's."""

from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from hdbench.common.texts import LANGUAGES

PARAMETER = "lang"
"""The name in a page's address that has the chosen language: `?lang=de`."""


class Chosen:
    """Has a request ask for the language that was chosen on its page.

    The choice is in the page's address, which a browser sends along with every request of the page
    (`Referer`), so that nothing is kept, neither here nor in a cookie.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the chosen language as its `Accept-Language`."""
        if scope["type"] == "http":
            headers = MutableHeaders(scope=scope)
            own = scope["query_string"].decode("ascii", "replace")
            language = chosen(own) or chosen(_query(headers.get("referer", "")))
            if language is not None:
                headers["accept-language"] = language
        await self._app(scope, receive, send)


def chosen(query: str) -> str | None:
    """The language that the query of an address asks for, if it is one of `LANGUAGES`.

    Example:
        >>> chosen("__theme=dark&lang=de"), chosen("lang=xx"), chosen("")
        ('de', None, None)
    """
    try:
        found = parse_qs(query[:1000], max_num_fields=20).get(PARAMETER, [])
    except ValueError:  # more than twenty
        return None
    return found[0] if found and found[0] in LANGUAGES else None


def _query(address: str) -> str:
    try:
        return urlsplit(address).query
    except ValueError:  # an address that is none
        return ""
