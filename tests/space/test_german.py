"""The Space in German as a visitor walks through it, and what axe-core finds on the way."""

import io

import openpyxl
import pytest
from helpers.english import words
from playwright.sync_api import expect
from space.german import ENGLISH, Walk
from space.looking import Look
from space.pages import go_to_tab, report, save, upload

from hdbench.benchmarks.benchmark import load_benchmark

pytestmark = pytest.mark.nightly


def test_german_page_has_no_english_and_no_dark_mode_violations(
    visit_at, furnished_url, shown, tmp_path
):
    dark = {"color_scheme": "dark", "accept_downloads": True}
    page = visit_at(f"{furnished_url}?lang=de", language="en-GB", **dark)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_text("Einstellungen", exact=True).click()
    walk, look = Walk(page), Look(page)

    def see(state):
        walk.see(state)
        look.at(state)

    see("start")
    look.at_edges("Weitere Einstellungen")
    walk.see("settings")
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    walk.see("no file")
    upload(page, "karten.pdf", b"%PDF-1.7")
    page.locator("#first [role=alert]").get_by_text("Das ist ein PDF").wait_for()
    see("a PDF")
    page.locator("#example").click()
    inside = report(page)
    expect(inside.locator("html")).to_have_attribute("lang", "de")
    walk.see("score")
    [frame] = [each for each in page.frames if each != page.main_frame]
    within = Walk(frame)
    within.see("report")
    look.at("report", frame)
    book = openpyxl.load_workbook(io.BytesIO(save(page, "xlsx", tmp_path).read_bytes()))
    assert book.sheetnames == ["Zusammenfassung", "Felder", "Fehler", "Einträge", "Fehlerarten"]
    heads = [str(cell.value) for sheet in book for cell in sheet[1] if cell.value]
    assert words(heads) & ENGLISH == set()
    in_the_other_tabs(page, walk, see)
    gone = page.request.get(f"{furnished_url}scored/{'x' * 32}/a.html?lang=de").text()
    assert "Diesen Bericht gibt es nicht mehr" in gone
    assert walk.left | within.left == {}
    assert look.found == []


def in_the_other_tabs(page, walk, see):
    go_to_tab(page, "Vergleichen")
    page.locator("#compare").click()
    page.locator("#comparison [role=alert]").wait_for()
    walk.see("nothing to compare")
    for model in ("reader-tiny", "reader-large"):
        page.locator("#compare-recorded input").click()
        page.get_by_role("option", name=model).click()
    page.locator("#compare-recorded input").blur()
    page.locator("#compare").click()
    page.locator(".hdb-verdicts").wait_for()
    see("comparison")
    go_to_tab(page, "Rangliste")
    page.frame_locator("#leaderboard iframe").locator("#wanted").wait_for()
    see("leaderboard")
    board = Walk(page.locator("#leaderboard iframe").element_handle().content_frame())
    board.see("leaderboards")
    assert board.left == {}
    go_to_tab(page, "Hintergrund")
    page.get_by_text("ub@example.org").wait_for()
    page.get_by_role("button", name="Zettelkatalog").click()
    see("about")


def test_nor_is_it_where_a_model_is_run(visit_at, furnished_url, shown):
    page = visit_at(furnished_url, language="de-CH", color_scheme="dark")
    walk, look = Walk(page), Look(page)
    go_to_tab(page, "Modell ausführen")
    page.get_by_role("button", name="Prompt").click()
    page.locator("#run-prompt textarea").wait_for()
    walk.see("run")
    page.locator("#run-items input[type=number]").fill("2")
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()
    page.locator("#run-cancel").wait_for()
    walk.see("waiting")
    report(page, "#run-report")
    walk.see("run result")
    look.at("run result")
    go_to_tab(page, "Eigenes Bild")
    page.locator("#run-start-image").click()
    page.locator("#run-status [role=alert]").wait_for()
    walk.see("no image")
    image = load_benchmark(str(shown / "hdb/zettelkatalog")).media()["sample-01-0"][0]
    page.locator("#run-image input[type=file]").set_input_files(image)
    page.locator("#run-image").get_by_role("link").wait_for()
    page.locator("#run-start-image").click()
    page.locator("#run-answers pre").wait_for()
    walk.see("own image")
    assert walk.left == {}
    assert look.found == []


def test_the_choice_holds_for_the_whole_page_and_can_be_undone(visit_at, furnished_url):
    page = visit_at(furnished_url, language="de-CH")
    page.get_by_text("Einstellungen", exact=True).click()
    page.get_by_role("link", name="English").click()
    page.get_by_role("button", name="Score the example").click()
    page.locator(".hdb-big").get_by_text("need no correction").wait_for()
    expect(report(page).locator("html")).to_have_attribute("lang", "en")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("link", name="dark", exact=True).click()
    page.locator("body.dark").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", "en")
