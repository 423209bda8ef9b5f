"""What a page in German says, and the English words in it."""

from helpers.english import english, words

from hdbench.answers.answer import STATUSES
from hdbench.scoring import make_metric

SHORT_LIST = {
    *("score", "open", "answers"),  # hdbench score, Open Source, answers.jsonl
    *("items", "fields", "errors", "model", "value", "answered", *STATUSES),
    "page",  # PAGE is a form of XML
    "a",  # A and B are runs that are compared
    "by",  # CC BY 4.0
    "image",  # what one's own image is called in the file of answers
}
"""What may stand there all the same: names of commands, files and figures."""

SEEN = """() => {
  const shown = (each) => each.checkVisibility({ visibilityProperty: true });
  const own = (each) => !each.closest("bdi, code, pre, script, style, [lang=en], .file-preview");
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let each = texts.nextNode(); each; each = texts.nextNode()) {
    if (shown(each.parentElement) && own(each.parentElement)) found.push(each.data);
  }
  for (const each of document.querySelectorAll("input:not([type=checkbox], [type=radio])")) {
    if (shown(each)) found.push(each.value);
  }
  return found;
}"""


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


ENGLISH = english(NAMES) - SHORT_LIST


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
