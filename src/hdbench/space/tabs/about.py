"""The tab that explains the benchmarks and their figures."""

import re
from pathlib import Path
from typing import Any

import gradio as gr

from hdbench.about import installed_folder
from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say

TITLE = "title_of_"
"""Prefix of the keys of the benchmarks' titles."""

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"^(?=#{1,4} )", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>")


def about_tab(context: SpaceContext, say: Say) -> None:
    """Add the cards of the benchmarks and of their metrics to a `gr.Blocks`.

    Args:
        context: the Space's context.
        say: the texts.
    """
    run_by = "about_run_by" if context.contact else "about_run_by_unknown"
    about = ("about_operator", run_by, "about_privacy", "about_privacy_what")
    for key in ("about", *about, "about_cite", "about_cite_how", "cards_benchmarks"):
        gr.Markdown(say(key))
    for name, benchmark in context.benchmarks.items():
        _card(benchmark.folder, say(f"{TITLE}{name}"))
    gr.Markdown(say("cards_metrics"))
    for metric in dict.fromkeys(benchmark.spec.metric for benchmark in context.benchmarks.values()):
        _card(installed_folder("metrics") / metric, metric)


def _card(folder: Path, title: Any) -> None:
    path = folder / "README.md"
    if path.is_file():
        with gr.Accordion(title, open=False):
            gr.Markdown(card_text(path.read_text(encoding="utf-8")), elem_classes=["hdb-english"])


def card_text(card: str) -> str:
    r"""Return a card to embed in a page: headings two levels deeper, no pictures.

    The files of its pictures are not served.

    Example:
        >>> card_text("---\nlicense: cc0-1.0\n---\n# Cards\n![one](a.jpg)\n```sh\n# run\n```")
        '### Cards\n\n```sh\n# run\n```'
    """
    parts = _PICTURE.sub("", _FRONT_MATTER.sub("", card, count=1)).split("```")
    parts[::2] = [_HEADING.sub("##", part) for part in parts[::2]]  # between them is code
    return "```".join(parts)
