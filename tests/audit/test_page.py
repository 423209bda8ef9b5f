import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from helpers.audited import card_runs
from PIL import Image

from hdbench.output.audit import page
from hdbench.output.audit.findings import audit
from hdbench.output.audit.page import audit_page
from hdbench.output.report.rendering import TEXTS
from hdbench.scoring.analysis.error_classes import ERROR_CLASSES


class Reader(HTMLParser):
    """The elements of a page, and what stands between them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.marked = [], [], []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("del", "ins"):
            self.marked.append((self.inside, data))
        self.texts.append(data)


def made(truth, answer, media=None, language="en"):
    found = audit(card_runs(truth, answer, answer, answer))
    return audit_page(found, "Cards", media or {}, language)


def test_the_characters_that_differ_are_marked():
    html = made({"name": "Somazzl"}, {"name": "Somazzi"})
    marked = Reader(html).marked
    assert ("del", "l") in marked
    assert ("ins", "i") in marked


def test_it_says_who_reads_what():
    text = " ".join(" ".join(Reader(made({"name": "Somazzl"}, {"name": "Somazzi"})).texts).split())
    assert "3 of 3 models, 3 of 3 makers" in text
    assert re.search(r"name : Antares-1 , Bellatrix-1 , Capella-1", text)


def test_an_item_has_its_picture_once(tmp_path):
    Image.new("RGB", (60, 40), "white").save(tmp_path / "card.png")
    truth, answer = {"name": "Somazzl", "year": 1925}, {"name": "Somazzi", "year": 1926}
    html = made(truth, answer, {"1": [tmp_path / "card.png"], "right-1": [tmp_path / "card.png"]})
    pictures = [attributes for tag, attributes in Reader(html).tags if tag == "img"]
    assert len(pictures) == 1
    assert pictures[0]["src"].startswith("data:image/webp;base64,")
    assert pictures[0]["alt"] == "Item 1"
    [script] = re.findall(r"<script type=\"module\">(.*?)</script>", html, re.DOTALL)
    own = b64encode(sha256(script.encode()).digest()).decode()
    assert re.findall("script-src ([^;]*);", html) == [f"'sha256-{own}'"]


def test_a_picture_that_is_not_there_is_said(tmp_path):
    html = made({"name": "Somazzl"}, {"name": "Somazzi"}, {"1": [tmp_path / "none.png"]})
    assert "No picture: " in html


def test_nothing_foreign_becomes_markup_or_is_invisible():
    bad = "<script>alert(1)</script>\"'\u202e\u200b\x07&amp;\ud800"
    html = made({"name": "Zeller"}, {"name": bad, f"<img src=x>{bad}": "y"})
    tags = Reader(html).tags
    assert not {tag for tag, _ in tags} & {"script", "img", "iframe", "object"}
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    assert not set("\u202e\u200b\x07\ud800") & set(html)
    assert "&lt;script&gt;" in html
    html.encode()


def test_the_page_may_load_and_run_nothing():
    tags = Reader(made({"name": "Somazzl"}, {"name": "Somazzi"})).tags
    [policy] = [a["content"] for tag, a in tags if tag == "meta" and "http-equiv" in a]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not any(tag in ("script", "link") for tag, _ in tags)


def test_what_is_left_out_is_said(monkeypatch):
    monkeypatch.setattr(page, "MAX_ITEMS", 0)
    monkeypatch.setattr(page, "MAX_VALUE", 3)
    assert "Items that are not shown: 1." in made({"name": "Somazzl"}, {"name": "Somazzi"})
    monkeypatch.setattr(page, "MAX_ITEMS", 1)
    assert "and 4 more characters" in made({"name": "Somazzl"}, {"name": "Somazzi"})


def said(html):
    """What a reader sees or hears that is no foreign text, which has a `bdi`."""
    aside = r"<(bdi|style|script).*?</\1>"
    reader = Reader(re.sub(aside, "", html, flags=re.DOTALL))
    labels = [
        attributes[name]
        for _, attributes in reader.tags
        for name in ("alt", "data-label")
        if name in attributes
    ]
    texts = {" ".join(text.split()) for text in [*reader.texts, *labels]}
    return {text for text in texts if any(map(str.isalpha, text))}


def test_on_the_german_page_nothing_is_english_but_names(tmp_path):
    Image.new("RGB", (60, 40), "white").save(tmp_path / "card.png")
    truth = {"name": "Somazzl", "place": "BERN", "year": 1925, "title": "a (b)"}
    answer = {"name": "Somazzi", "place": "Bern", "year": None, "title": "a", "author": "x"}
    media = {"1": [tmp_path / "card.png"] * 2}
    english, german = (made(truth, answer, media, language) for language in ("en", "de"))
    assert '<html lang="de">' in german
    names = {"hdbench audit", "8°", "in-8", ", in"}
    assert said(english) & said(german) - names == set()
    assert len(said(english)) == len(said(german))
    assert "Eintrag 1, Seite 2 von 2" in said(german)
    assert "3 von 3 Modellen, 3 von 3 Herstellern" in said(german)


def test_every_class_of_a_finding_has_its_words():
    assert {f"audit_{name}" for name in ERROR_CLASSES} <= TEXTS.translations["en"].keys()
