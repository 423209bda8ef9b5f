"""The page's settings, its link past the tabs, and choices by their names in its language."""

from typing import Any

import gradio as gr

from hdbench.common.texts import language_of
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say, text


def settings() -> None:
    """The choice of the language and the colors, within a `gr.Blocks`."""
    _made_by("hdbenchSettings", "settings")


def skip_link() -> None:
    """A link past the title and the tabs, seen when the keyboard gets to it."""
    _made_by("hdbenchSkip", "skip")


def _made_by(function: str, elem_id: str) -> None:
    gr.HTML("", elem_id=elem_id, html_template="", js_on_load=f"{function}(element);")


def protocol_choice(say: Say, elem_id: str | None = None) -> gr.Radio:
    """The choice of the protocol."""
    return gr.Radio(
        list(PROTOCOLS),
        value="documented",
        label=say("protocol"),
        info=say("protocol_info"),
        elem_id=elem_id,
    )


def choices_in_language(app: gr.Blocks, context: SpaceContext) -> None:
    """Offer benchmarks and protocols by their names in the visitor's language.

    Gradio puts labels into the browser's language, but not what can be chosen.

    Args:
        app: with all fields that are to be so.
        context: the Space's context.
    """
    fields = [
        each
        for each in app.blocks.values()
        if isinstance(each, gr.Dropdown | gr.Radio)
        and each.choices
        and {value for _, value in each.choices} <= {*context.benchmarks, *PROTOCOLS}
    ]

    def named(request: gr.Request) -> list[Any]:
        language = language_of(request.headers.get("accept-language"))
        names = {name: title for title, name in context.choices_in(language)}
        names |= {protocol: text(f"protocol_{protocol}", language) for protocol in PROTOCOLS}
        return [
            gr.update(choices=[(names[str(value)], value) for _, value in field.choices])
            for field in fields
        ]

    app.load(named, None, fields, queue=False, show_progress="hidden", api_visibility="private")
