"""What a visitor is told while something is done, and when it is done."""

from typing import NamedTuple

import gradio as gr

from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError
from hdbench.space.jobs.tasks import Progress
from hdbench.space.jobs.turns import QueueFullError
from hdbench.space.jobs.working import Waits
from hdbench.space.server.limits import network
from hdbench.space.texts import reason, text
from hdbench.space.views.summary import problem

STARTS, RESULT = "hdb-starts", "hdb-result"
"""The classes of buttons that start work, and of the places where its result appears."""

_ANNOUNCE = f"""
element.setAttribute("role", "status");
let started = false;
document.addEventListener("click", (event) => {{
  started ||= event.target.closest(".{STARTS}") !== null;
}});
const look = (shown) => {{
  const top = shown.getBoundingClientRect().top;
  if (!started || (top >= 0 && top < innerHeight / 2)) return;
  const place = shown.closest(".{RESULT}");
  if (!place) return;
  place.tabIndex = -1;
  place.focus({{preventScroll: true}});
  place.scrollIntoView({{block: "start"}});
}};
const tell = (node) => {{
  const told = node.closest?.("[data-announce]") ?? node.querySelector?.("[data-announce]");
  if (!told) return;
  element.textContent = told.dataset.announce;
  look(told);
  started = false;
}};
const problem = "[role=alert].hdb-problem";
const show = (node) => {{
  const shown = node.matches?.(problem) ? node : node.querySelector?.(problem);
  if (shown) shown.scrollIntoView({{block: "nearest"}});
}};
new MutationObserver((changes) => {{
  for (const change of changes) {{
    if (change.type === "attributes") tell(change.target);
    else change.addedNodes.forEach((node) => {{ tell(node); show(node); }});
  }}
}}).observe(document.body, {{subtree: true, childList: true, attributeFilter: ["data-announce"]}});
"""

_UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);"


def announcer() -> None:
    """A place that screen readers watch, within a `gr.Blocks`.

    It says what is in the attribute `data-announce` of whatever appears in the page. Readers watch
    only a place that was there before its text. A problem, which they say themselves, is scrolled
    to: on a phone it appears below the window.
    """
    gr.HTML(
        "", elem_id="announcement", html_template="", css_template=_UNSEEN, js_on_load=_ANNOUNCE
    )


class Visitor(NamedTuple):
    """Who asks for something.

    Attributes:
        address: see `limits.visitor`.
        language: the language of the interface.
    """

    address: str
    language: str


def visitor_of(request: gr.Request) -> Visitor:
    """Who sent a request."""
    language = language_of(request.headers.get("accept-language"))
    return Visitor(network(request.client.host if request.client else ""), language)


def show(progress: gr.Progress, told: object, language: str) -> None:
    """Show a visitor how far the work is, or that it is waiting.

    Args:
        progress: the visitor's progress bar.
        told: `Progress` or `Waits`; anything else is ignored.
        language: the interface's language.
    """
    if isinstance(told, Progress):
        progress(told.share, desc=told.told)
    elif isinstance(told, Waits):
        progress(None, desc=waits(told, language))  # 0 would be shown as "0.0%"


def waits(told: Waits, language: str) -> str:
    """That work is waiting, and for how many.

    Example:
        >>> waits(Waits(2, again=False), "de"), waits(Waits(0, again=False), "en")
        ('Warten auf einen freien Platz, 2 vor Ihnen', 'Waiting for a free place, you are next')
    """
    ahead = text("progress_ahead" if told.before else "progress_next", language, before=told.before)
    return text("progress_waits_again" if told.again else "progress_waits", language, ahead=ahead)


def refusal(error: HdbenchError, language: str, lead: str) -> str:
    """Why work was not done, as HTML.

    Args:
        error: the reason.
        language: the interface's language.
        lead: the key of the text before the reason, unless the queue is full: then nothing is wrong
            with what was asked.
    """
    lead = "not_started" if isinstance(error, QueueFullError) else lead
    return problem(reason(error, language), language, lead)
