"""The page's texts in its languages."""

import re
from pathlib import Path
from string import Formatter

import hdbench.collections.truth
from hdbench.common.texts import Texts

FOLDER = Path(hdbench.collections.truth.__file__).parent
TEXTS = Texts(FOLDER / "texts").translations
PAGE = "".join(path.read_text() for path in sorted((FOLDER / "page").glob("*.[hj]*")))
MADE = ("status_", "how_", "filter_", "verdict_", "reason_")
"""What the page makes keys of, together with a value."""


def placeholders(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_each_text_is_in_both_languages_with_the_same_values():
    assert TEXTS["en"].keys() == TEXTS["de"].keys()
    for key, text in TEXTS["en"].items():
        assert placeholders(text) == placeholders(TEXTS["de"][key]), key


def test_page_uses_exactly_the_existing_texts():
    named = set(re.findall(r'say\("(\w+)"|data-(?:text|label)="(\w+)"', PAGE))
    named = {key for pair in named for key in pair if key}
    assert named <= TEXTS["en"].keys()
    rest = [key for key in TEXTS["en"].keys() - named if not key.startswith(MADE)]
    assert [key for key in rest if f'"{key}"' not in PAGE] == []


def test_the_page_makes_no_html_of_values():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", PAGE)
    assert not re.search(r"<script(?! type=\"module\" src=)|<style| style=| on\w+=\"", PAGE)
