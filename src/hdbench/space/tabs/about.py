"""The tab that says what the benchmarks and their figures mean."""

import re
from pathlib import Path

import gradio as gr

from hdbench.common import resources
from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>")


def about_tab(context: SpaceContext, say: Say) -> None:
    """The cards of the benchmarks and of their metrics, within a `gr.Blocks`.

    Args:
        context: the Space's context.
        say: the texts.
    """
    gr.Markdown(say("about"))
    gr.Markdown(say("cards_benchmarks"))
    for benchmark in context.benchmarks.values():
        _card(benchmark.folder, benchmark.spec.title)
    gr.Markdown(say("cards_metrics"))
    for metric in dict.fromkeys(each.spec.metric for each in context.benchmarks.values()):
        _card(resources.folder("metrics") / metric, metric)


def _card(folder: Path, title: str) -> None:
    path = folder / "README.md"
    if path.is_file():
        with gr.Accordion(title, open=False):
            gr.Markdown(card_text(path.read_text(encoding="utf-8")))


def card_text(card: str) -> str:
    r"""A card without its YAML and without pictures: their files are not served.

    Example:
        >>> card_text("---\nlicense: cc0-1.0\n---\n# Cards\n![one](a.jpg)")
        '# Cards\n'
    """
    return _PICTURE.sub("", _FRONT_MATTER.sub("", card, count=1))
