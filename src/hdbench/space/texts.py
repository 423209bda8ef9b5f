"""The texts of the interface in English and German."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

from starlette.requests import Request

from hdbench.common.texts import LANGUAGES, Texts, language_of, translated
from hdbench.errors import HdbenchError, without_folders

_TEXTS = Texts(Path(__file__).with_name("texts"))


def translations() -> dict[str, dict[str, str]]:
    """Return complete language → key → text; each has every key."""
    return _TEXTS.translations


def text(key: str, language: str, **values: Any) -> str:
    """Return a text of the interface.

    Args:
        key: its key in a file in the folder `translations`.
        language: one of `LANGUAGES`.
        values: the values for its placeholders.

    Example:
        >>> text("interval", "de", low="0,81", high="0,86")
        '95-%-Intervall: 0,81 bis 0,86'
    """
    return _TEXTS.text(key, language, **values)


class TextError(HdbenchError):
    """The reason for a refusal, as a text of the interface.

    Args:
        key: the text's key.
        values: the values for its placeholders.
    """

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(text(key, "en", **values))
        self._key, self._values = key, values

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        return partial(type(self), self._key, **self._values), ()

    def translated(self, language: str) -> str:
        """Return the reason in a language of the interface."""
        return text(self._key, language, **self._values)


def page_language(request: Request) -> str:
    """Return the language of a page: the one in its address, or else the browser's."""
    asked = request.query_params.get("lang", "")
    return asked if asked in LANGUAGES else language_of(request.headers.get("accept-language"))


def reason(error: HdbenchError, language: str) -> str:
    """Return the reason for a refusal, in a language, without the server's folders."""
    if isinstance(error, TextError):
        return error.translated(language)
    uploads = Path(os.environ.get("GRADIO_TEMP_DIR", "uploads"))
    folders = (uploads, Path(tempfile.gettempdir()), Path.cwd())
    return translated(without_folders(error.message, *folders), language)
