"""The parts of the page that its script makes: the settings, and the link past the tabs."""

import gradio as gr


def settings() -> None:
    """The choice of the language and the colors, within a `gr.Blocks`."""
    _made_by("hdbenchSettings", "settings")


def skip_link() -> None:
    """A link past the title and the tabs, seen when the keyboard gets to it."""
    _made_by("hdbenchSkip", "skip")


def _made_by(function: str, elem_id: str) -> None:
    gr.HTML("", elem_id=elem_id, html_template="", js_on_load=f"{function}(element);")
