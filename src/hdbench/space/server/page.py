"""The script at the head of the page: its language and settings, and what Gradio leaves undone."""

import json
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.common.texts import language_of, read_texts
from hdbench.space.texts import translations

_SPACE = Path(__file__).parents[1]
_OWN = "page_"
_HTML, _HEAD = b'<html\n\tlang="en"', b"<head>"


class PageHead:
    """Puts `page.js` at the head of Gradio's page, and the language at its `<html>`.

    Gradio takes its own language from the browser, before any script that it can be given: its page
    would not follow a visitor's choice.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        language = language_of(Headers(scope=scope).get("accept-language"))
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


@cache
def script(language: str) -> str:
    """The script of `page.js`, with the texts it needs in a language, as HTML."""
    texts = {
        "language": language,
        "own": {
            key: value for key, value in translations()[language].items() if key.startswith(_OWN)
        },
        "gradio": gradio_words(language)["words"],
        "patterns": gradio_words(language)["patterns"],
        "languages": {each: texts["page_name"] for each, texts in translations().items()},
    }
    # In a script of HTML, only this could end it.
    data = json.dumps(texts).replace("</", "<\\/")
    made = (_SPACE / "page.js").read_text(encoding="utf-8")
    return f"<script>{{const TEXTS = {data};\n{made}}}</script>"


def gradio_words(language: str) -> dict[str, dict[str, str]]:
    """What Gradio lacks in a language.

    Returns:
        `keys`: texts for keys of its own texts; `words`: English → translation, for labels that it
        has in English in every language; `patterns`: the same for messages, labels and the sizes
        of files, by regular expressions.
    """
    found: dict[str, dict[str, str]] = read_texts(_SPACE / "gradio_words" / f"{language}.yaml")
    return found
