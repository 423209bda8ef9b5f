"""What a visitor is told while something is done, and when it is done."""

import gradio as gr

from hdbench.progress import Listener
from hdbench.space.texts import text

_ANNOUNCE = """
element.setAttribute("role", "status");
const tell = (node) => {
  const told = node.closest?.("[data-announce]") ?? node.querySelector?.("[data-announce]");
  if (told) element.textContent = told.dataset.announce;
};
new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "attributes") tell(change.target);
    else change.addedNodes.forEach(tell);
  }
}).observe(document.body, {subtree: true, childList: true, attributeFilter: ["data-announce"]});
"""

_UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);"


def announcer() -> None:
    """A place that screen readers watch, within a `gr.Blocks`.

    It says what stands in the attribute `data-announce` of whatever appears in the page. Readers
    watch only a place that has been there before its text.
    """
    gr.HTML(
        "", elem_id="announcement", html_template="", css_template=_UNSEEN, js_on_load=_ANNOUNCE
    )


def teller(progress: gr.Progress, doing: str, language: str, low: float, high: float) -> Listener:
    """Begin a part of the work, and show how much of it is done.

    Args:
        progress: the visitor's progress bar.
        doing: what is done in this part.
        language: the interface's.
        low: where the part begins on the bar, of 1.
        high: where it ends.
    """

    def tell(done: int, total: int | None) -> None:
        if total:
            told = text("progress_of", language, doing=doing, done=done, total=total)
            progress(low + (high - low) * done / total, desc=told)

    progress(low, desc=doing)
    return tell
