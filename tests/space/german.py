"""What a page in German says, and the English words in it."""

import re

from hdbench.annotating.editor import _TEXTS as EDITOR
from hdbench.common.told import translations as messages
from hdbench.reading.answer import STATUSES
from hdbench.report.rendering import TEXTS
from hdbench.results.warning_texts import _TEXTS as WARNINGS
from hdbench.scoring import make_metric
from hdbench.space.texts import translations

COMMON = frozenset(
    """
    the of and to is are with for this that not from by on which you your it as be at have has no
    can here more than been being will would should their there they them these those what when
    where who why how if only other another each every any some such into out up down over under
    again before after then does did done or but error errors please try files
    choose upload uploaded download scored answer item field reports
    truth reference models run rank ranks figure figures values settings language
    close clear remove loading queue search page new next back yes
    """.split()  # noqa: SIM905  a list would have a line for each
)
"""English words that a page would have if a text of ours, or of Gradio, were left in English."""

SHORT_LIST = {
    *("score", "open", "answers"),  # hdbench score, Open Source, answers.jsonl
    *("items", "fields", "errors", "model", "value", "answered", *STATUSES),
    "a",  # A and B are runs that are compared
    "by",  # CC BY 4.0
    "image",  # what one's own image is called in the file of answers
}
"""What may stand there all the same: names of commands, files and figures."""

WORD = re.compile(r"[A-Za-zÄÖÜäöüß]+(?:[-_.][A-Za-zÄÖÜäöüß0-9]+)*")

SEEN = """() => {
  const shown = (each) => each.checkVisibility({ visibilityProperty: true });
  const own = (each) => !each.closest("bdi, code, pre, script, style, [lang=en], .file-preview");
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let each = texts.nextNode(); each; each = texts.nextNode()) {
    if (shown(each.parentElement) && own(each.parentElement)) found.push(each.data);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) {
      if (shown(each) && own(each)) found.push(each.getAttribute(name));
    }
  }
  for (const each of document.querySelectorAll("input:not([type=checkbox], [type=radio])")) {
    if (shown(each)) found.push(each.value);
  }
  return found;
}"""


def words(texts):
    return {word.lower() for text in texts for word in WORD.findall(re.sub(r"\{.*?\}", "", text))}


def english():
    """The words of our own English texts that are in none of our German ones, and `COMMON`."""
    texts = [translations(), *(each.translations for each in (TEXTS, WARNINGS, EDITOR))]
    own = {
        language: words([each for those in texts for each in those[language].values()])
        for language in ("en", "de")
    }
    own["en"] |= words(messages("de"))
    own["de"] |= words(messages("de").values())
    figures = {name for kind in NAMES for name in words([kind])}
    return ((own["en"] - own["de"]) | COMMON) - figures - SHORT_LIST


NAMES = [
    *(each.name for each in make_metric("zettel_f1").figures),
    *make_metric("zettel_f1").statistics,
    *(
        "zettelkatalog",
        "hdb",
        "hdbench",
        "precision",
        "recall",
        "jsonl",
        "MIT",
        "Gradio",
        "english",
    ),
]


ENGLISH = english()


class Walk:
    """Whatever is seen on the way through a page, or one in a frame.

    Attributes:
        left: the state and a text that has English words → these.
    """

    def __init__(self, page):
        self.page = page
        self.left = {}

    def see(self, state):
        for text in self.page.evaluate(SEEN):
            if wrong := words([text]) & ENGLISH:
                self.left[f"{state}: {' '.join(text.split())[:200]}"] = wrong
