"""The Space in a language that is a catalogue alone: nothing is left in English."""

import re

import pytest
from helpers.english import words
from helpers.pseudo_locale import LANGUAGE, PseudoLocale, Walk, book_texts, foreign
from playwright.sync_api import expect
from space.german import NAMES as FIGURES
from space.pages import go_to_tab, report, save, settled, upload
from space.servers import APP, serving, wait_for_client

from hdbench.answers.answer import STATUSES

pytestmark = pytest.mark.nightly


NAMES = {*words(FIGURES), *STATUSES, "documented", "tesseract", "min", "sample", "diss", "image"}
"""What stays: names of figures, of a protocol, a version, a program and an image, statuses beside
their translation, and a unit."""


VALUES = {"Dissertation or thesis"}
"""Values of the example that are English."""


@pytest.fixture(scope="module")
def pseudo(pseudo_locale):
    made = PseudoLocale(pseudo_locale, "hdbench.space.app")
    yield made
    made.forks.close()


@pytest.fixture(scope="module")
def url(pseudo, shown):
    """The address of a Space with all parts."""
    settings = {"HDBENCH_MODELS": "tesseract", "HDBENCH_CONTACT": "mailto:ub@example.org"}
    environment = pseudo.environment | settings
    with serving(APP, cwd=shown, process=pseudo.forks, **environment) as url:
        wait_for_client(url)
        yield f"{url}?lang={LANGUAGE}"


@pytest.fixture
def walk():
    """What is seen on the way, in which a test then finds no English."""
    return Walk(NAMES)


def test_scoring_has_no_english(visit_at, url, walk, tmp_path):
    page = visit_at(url, accept_downloads=True)
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)
    page.get_by_text(foreign("Settings"), exact=True).click()
    page.get_by_text(foreign("Advanced"), exact=True).click()
    settled(page)
    walk.see(page, "start")
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    walk.see(page, "no file")
    upload(page, "cards.pdf", b"%PDF-1.7")
    page.locator("#first [role=alert]").get_by_text(foreign("PDF")).first.wait_for()
    walk.see(page, "a PDF")
    page.locator("#example").click()
    inside = report(page)
    expect(inside.locator("html")).to_have_attribute("lang", LANGUAGE)
    walk.see(page, "score")
    [frame] = [each for each in page.frames if each != page.main_frame]
    walk.see(frame, "report")
    texts = book_texts(save(page, "xlsx", tmp_path))
    walk.read((text for text in texts if text not in VALUES), "workbook")
    gone = page.request.get(f"{url.partition('?')[0]}report/{'x' * 32}?lang={LANGUAGE}").text()
    assert foreign("This report is no longer here") in gone
    walk.read([re.sub(r"<[^>]*>", " ", gone)], "no report")
    walk.check()


def test_the_other_tabs_have_no_english(visit_at, url, walk):
    page = visit_at(url)
    go_to_tab(page, foreign("Compare"))
    page.locator("#compare").click()
    page.locator("#comparison [role=alert]").wait_for()
    walk.see(page, "nothing to compare")
    for model in ("reader-tiny", "reader-large"):
        page.locator("#compare-recorded input").click()
        page.get_by_role("option", name=model).click()
    page.locator("#compare-recorded input").blur()
    page.locator("#compare").click()
    page.locator(".hdb-verdicts").wait_for()
    walk.see(page, "comparison")
    go_to_tab(page, foreign("Leaderboard"))
    page.frame_locator("#leaderboard iframe").locator("#wanted").wait_for()
    walk.see(page, "leaderboard")
    board = page.locator("#leaderboard iframe").element_handle().content_frame()
    walk.see(board, "leaderboards")
    go_to_tab(page, foreign("About"))
    page.get_by_text("ub@example.org").wait_for()
    page.get_by_role("button", name="Zettelkatalog").click()
    walk.see(page, "about")
    walk.check()
