"""What the page does in the browser: its language and settings, and what Gradio leaves undone."""

import json
from pathlib import Path

import gradio as gr

from hdbench.common.texts import read_texts
from hdbench.space.texts import translations

_OWN = "page_"


def gradio_words(language: str) -> dict[str, dict[str, str]]:
    """What Gradio lacks in a language.

    Returns:
        `keys`: texts for keys of its own texts; `words`: English → translation, for what it says in
        English in every language.
    """
    found: dict[str, dict[str, str]]
    found = read_texts(Path(__file__).parents[1] / "gradio_words" / f"{language}.yaml")
    return found


def head() -> str:
    """The script of `page.js`, with the texts it needs, as HTML for the page's head."""
    texts = {
        language: {
            "own": {key: value for key, value in each.items() if key.startswith(_OWN)},
            "gradio": gradio_words(language)["words"],
        }
        for language, each in translations().items()
    }
    # In a script of HTML, only this could end it.
    data = json.dumps(texts).replace("</", "<\\/")
    script = (Path(__file__).parents[1] / "page.js").read_text(encoding="utf-8")
    return f"<script>const TEXTS = {data};\n{script}</script>"


def settings() -> None:
    """The choice of the language and the colors, within a `gr.Blocks`."""
    _made_by("hdbenchSettings", "settings")


def skip_link() -> None:
    """A link past the title and the tabs, seen when the keyboard gets to it."""
    _made_by("hdbenchSkip", "skip")


def _made_by(function: str, elem_id: str) -> None:
    gr.HTML("", elem_id=elem_id, html_template="", js_on_load=f"{function}(element);")
