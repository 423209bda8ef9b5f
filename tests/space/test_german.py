"""The Space in German as a visitor walks through it, and what axe-core finds in both languages."""

import io

import openpyxl
import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from playwright.sync_api import expect
from space.german import ENGLISH, SEEN, Walk
from space.pages import report, save, upload
from space.servers import APP, serving, wait_for_client

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.space.texts import translations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(shown):
    settings = {"HDBENCH_MODELS": "tesseract", "HDBENCH_RESULTS_REPOSITORY": "hdb/results"}
    with serving(APP, cwd=shown, HDBENCH_OPERATOR="UB Musterstadt", **settings) as url:
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
    page.locator("#submit-panel").get_by_role("button").first.click()
    page.locator("#submit-send").click()
    page.locator("#submit-told [role=alert]").wait_for()
    walk.see("submit")

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


@pytest.mark.needs("tesseract")
def test_nor_is_it_where_a_model_is_run(visit_at, url, shown):
    page = visit_at(url, language="de-CH")
    walk = Walk(page)
    page.get_by_role("tab", name="Modell ausführen").click()
    page.get_by_role("button", name="Prompt").click()
    page.locator("#run-prompt textarea").wait_for()
    walk.see("run")
    page.locator("#run-items input[type=number]").fill("2")
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()
    page.locator("#run-cancel").wait_for()
    walk.see("waiting")
    page.locator("#run-report iframe").wait_for()
    walk.see("run result")
    page.get_by_role("tab", name="Eigenes Bild").click()
    page.locator("#run-start-image").click()
    page.locator("#run-status [role=alert]").wait_for()
    walk.see("no image")
    image = load_benchmark(str(shown / "hdb/zettelkatalog")).media()["sample-01-0"][0]
    page.locator("#run-image input[type=file]").set_input_files(image)
    page.locator("#run-image").get_by_role("link").wait_for()
    page.locator("#run-start-image").click()
    page.locator("#run-first table").wait_for()
    walk.see("own image")
    assert walk.left == {}


def test_a_file_that_is_too_large_is_refused_in_german(browser, url, tmp_path):
    page = browser.new_page(locale="en-GB")  # Gradio's own script complains on the console
    page.goto(f"{url}?lang=de")
    large = tmp_path / "gross.jsonl"
    with large.open("wb") as file:
        file.truncate(51 * 2**20)
    page.locator("#file input[type=file]").set_input_files(large)
    page.get_by_text('Zu groß: "gross.jsonl". Erlaubt sind höchstens 50 MB.').wait_for()
    page.get_by_test_id("toast-body").get_by_text("Das hat nicht geklappt").wait_for()
    assert words(page.evaluate(SEEN)) & ENGLISH == set()
    page.get_by_role("button", name="Schließen").first.click()

    # What the server refuses is said in a message, and no pill of Gradio's hides the drop zone.
    refused = {"status": 413, "json": {"detail": "Die Datei ist zu groß."}}
    page.route("**/gradio_api/upload*", lambda route: route.fulfill(**refused))
    small = {"name": "karten.jsonl", "mimeType": "application/json", "buffer": b"{}"}
    page.locator("#file input[type=file]").set_input_files(small)
    page.locator("#file [data-testid=status-tracker] .error").wait_for(state="attached")
    expect(page.locator("#file [data-testid=status-tracker]")).to_be_hidden()
    told = page.get_by_test_id("toast-body").last
    expect(told).to_contain_text("Die Datei ist zu groß.")
    expect(told).not_to_contain_text("HTTP")
    page.close()


def test_the_choice_holds_for_the_whole_page_and_can_be_undone(visit_at, url):
    page = visit_at(url, language="de-CH")
    page.get_by_text("Einstellungen", exact=True).click()
    page.get_by_role("link", name="English").click()
    page.get_by_role("button", name="Score the example").click()
    page.locator(".hdb-big").get_by_text("need no correction").wait_for()
    expect(report(page).locator("html")).to_have_attribute("lang", "en")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("link", name="dark", exact=True).click()
    page.locator("body.dark").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("en", "light", 390), ("de", "dark", 1280)]
)
def test_axe_core_finds_no_violation_in_any_tab(visit_at, url, language, scheme, width):
    """In the other scheme and width, too, where the page need not be loaded again for it."""
    page = visit_at(f"{url}?lang={language}", color_scheme=scheme, width=width)
    other = {"color_scheme": "dark" if scheme == "light" else "light"}
    found = []

    def look(state, within=page):
        page.wait_for_timeout(700)  # until nothing fades any more
        rules = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
        for wrong in Axe().run(within, options=rules).response["violations"]:
            found.extend((state, wrong["id"], node["html"][:200]) for node in wrong["nodes"])

    def look_at_each(state, within=page):
        look(state, within)
        page.set_viewport_size({"width": 1670 - width, "height": 844})
        page.emulate_media(**other)
        look(f"{state}, the other way", within)
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})

    look_at_each("start")
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
    report(page).locator("h1").wait_for()
    page.locator("#submit-panel").get_by_role("button").first.click()
    look_at_each("score")
    [frame] = [each for each in page.frames if each != page.main_frame]
    look_at_each("report", frame)
    for tab in ("compare", "run", "leaderboard", "trust", "about"):
        name = translations()[language][f"tab_{tab}"]
        page.get_by_role("tab", name=name).first.click()
        if tab == "leaderboard":
            page.locator("#leaderboard table").wait_for()
        if tab == "about":
            page.get_by_role("button", name="Zettelkatalog").click()
        look(tab)
    assert found == []
