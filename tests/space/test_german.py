"""The Space in German as a visitor walks through it, and what axe-core finds in both languages."""

import io

import openpyxl
import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.english import english, words
from playwright.sync_api import expect
from space.pages import report, save, upload
from space.servers import APP, serving, wait_for_client

from hdbench.reading.answer import STATUSES
from hdbench.report.rendering import TEXTS
from hdbench.scoring import make_metric
from hdbench.space.texts import translations

pytestmark = pytest.mark.slow

SHORT_LIST = {
    *("score", "open", "answers"),  # hdbench score, Open Source, answers.jsonl
    *("items", "fields", "errors", "model", "value", "answered", *STATUSES),
    "a",  # A and B are runs that are compared
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


def english_words():
    return english([TEXTS.translations, translations()], NAMES) - SHORT_LIST


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


@pytest.fixture(scope="module")
def url(shown):
    with serving(APP, cwd=shown, HDBENCH_OPERATOR="UB Musterstadt") as url:
        wait_for_client(url)
        yield url


EDGES = """(selector) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (each) => {
    for (let node = each.parentElement; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const shown = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  return shown.map((each) => {
    const [a, b] = [light(getComputedStyle(each).borderTopColor), light(behind(each))];
    return Math.max(a, b) / Math.min(a, b);
  });
}"""
"""The contrast of edges with what is behind them (WCAG 2.2, 1.4.11 and its relative luminance)."""


class Walk:
    """Whatever is seen on the way."""

    def __init__(self, page):
        self.page = page
        self.left = {}

    def see(self, state):
        found = self.page.evaluate(SEEN)
        for text in found:
            if wrong := words([text]) & ENGLISH:
                self.left[f"{state}: {' '.join(text.split())[:200]}"] = wrong


ENGLISH = english_words()


def test_the_words_that_are_looked_for_are_english():
    assert len(ENGLISH) > 500
    assert words(["The report of each item"]) & ENGLISH
    assert not words(["Der Bericht zu jedem Eintrag"]) & ENGLISH


def test_nothing_english_is_left_for_who_chose_german(visit_at, url, shown, tmp_path):
    page = visit_at(f"{url}?lang=de", language="en-GB", accept_downloads=True)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_text("Einstellungen", exact=True).click()
    walk = Walk(page)
    walk.see("start")
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    walk.see("no file")
    upload(page, "karten.pdf", b"%PDF-1.7")
    page.locator("#first [role=alert]").get_by_text("Das ist ein PDF").wait_for()
    walk.see("a PDF")
    page.get_by_role("button", name="Weitere Einstellungen").click()
    page.locator("#example").click()
    inside = report(page)
    walk.see("score")
    inside.locator("h1").wait_for()
    [frame] = [each for each in page.frames if each != page.main_frame]
    within = Walk(frame)
    within.see("report")
    book = openpyxl.load_workbook(io.BytesIO(save(page, "xlsx", tmp_path).read_bytes()))
    assert book.sheetnames == ["Zusammenfassung", "Felder", "Fehler", "Einträge", "Fehlerarten"]
    heads = [str(cell.value) for sheet in book for cell in sheet[1] if cell.value]
    assert words(heads) & ENGLISH == set()

    page.get_by_role("tab", name="Vergleichen").click()
    page.locator("#compare").click()
    page.locator("#comparison [role=alert]").wait_for()
    walk.see("nothing to compare")
    for model in ("reader-tiny", "reader-large"):
        page.locator("#compare-recorded input").click()
        page.get_by_role("option", name=model).click()
    page.locator("#compare-recorded input").blur()
    page.locator("#compare").click()
    page.locator(".hdb-verdicts").wait_for()
    walk.see("comparison")
    page.get_by_role("tab", name="Rangliste").click()
    page.locator("#leaderboard table").wait_for()
    walk.see("leaderboard")
    page.get_by_role("tab", name="Hintergrund").click()
    page.get_by_text("UB Musterstadt").wait_for()
    walk.see("about")
    gone = page.request.get(f"{url}report/{'x' * 32}?lang=de").text()
    assert "Diesen Bericht gibt es nicht mehr" in gone
    assert walk.left | within.left == {}


def test_a_file_that_is_too_large_is_refused_in_german(browser, url, tmp_path):
    page = browser.new_page(locale="en-GB")  # Gradio's own script complains on the console
    page.goto(f"{url}?lang=de")
    large = tmp_path / "gross.jsonl"
    with large.open("wb") as file:
        file.truncate(51 * 2**20)
    page.locator("#file input[type=file]").set_input_files(large)
    page.get_by_text('Zu groß: "gross.jsonl". Erlaubt sind höchstens 50 MB.').wait_for()
    page.get_by_text("Das hat nicht geklappt").first.wait_for()
    assert words(page.evaluate(SEEN)) & ENGLISH == set()
    page.close()


def test_the_choice_holds_for_the_whole_page_and_can_be_undone(visit_at, url):
    page = visit_at(url, language="de-CH")
    page.get_by_text("Einstellungen", exact=True).click()
    page.get_by_role("link", name="English").click()
    page.get_by_role("button", name="Score the example").click()
    page.get_by_text("need no correction").wait_for()
    expect(report(page).locator("html")).to_have_attribute("lang", "en")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("link", name="dark", exact=True).click()
    page.locator("body.dark").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("de", "dark")])
def test_axe_core_finds_no_violation_in_any_tab(visit_at, url, language, scheme):
    page = visit_at(f"{url}?lang={language}", color_scheme=scheme)
    found = []

    def look(state):
        page.wait_for_timeout(700)  # until nothing fades any more
        rules = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
        for wrong in Axe().run(page, options=rules).response["violations"]:
            found.extend((state, wrong["id"], node["html"][:200]) for node in wrong["nodes"])

    look("start")
    page.get_by_role("button", name=translations()[language]["advanced"]).first.click()
    page.locator("input[type=radio]:not(:checked)").first.wait_for()
    for control in (".block:has(button input[type=file])", "input[type=radio]:not(:checked)"):
        contrasts = page.evaluate(EDGES, control)
        assert contrasts
        assert min(contrasts) >= 3, control
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    look("problem")
    page.locator("#example").click()
    report(page)
    look("score")
    for tab in ("compare", "leaderboard", "about"):
        name = translations()[language][f"tab_{tab}"]
        page.get_by_role("tab", name=name).first.click()
        if tab == "leaderboard":
            page.locator("#leaderboard table").wait_for()
        if tab == "about":
            page.get_by_role("button", name="Zettelkatalog").click()
        look(tab)
    assert found == []
