"""The pages of items, the bar above them, and what is printed, in a real browser."""

import json

import pypdfium2
import pytest
from helpers.run_folders import RIGHT, write_cards
from PIL import Image
from playwright.sync_api import expect

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.report.page import report_page

pytestmark = pytest.mark.nightly

NAMES = [f"card-{number:02}" for number in range(25)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Reports on 25 cards, those of odd numbers wrong, all worst first: language → file."""
    folder = tmp_path_factory.mktemp("paging")
    write_cards(folder)
    cards = folder / "hdb/cards"
    Image.new("RGB", (980, 600), "grey").save(cards / "card.png")
    truth = json.dumps(RIGHT)
    rows = [{"id": name, "ground_truth": truth, "file_name": "card.png"} for name in NAMES]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [RIGHT | ({"title": f"Stelling {n}"} if n % 2 else {}) for n in range(25)]
    lines = [{"id": name, "prediction": each} for name, each in zip(NAMES, answers, strict=True)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = score(str(cards), folder / "answers.jsonl")
    made = {}
    for language in ("en", "de"):
        page = report_page(result, load_benchmark(str(cards)), language=language)
        made[language] = folder / f"{language}.html"
        made[language].write_text(page, encoding="utf-8")
    return made


@pytest.fixture
def visit(browser, files):
    pages = []

    def visit(address="", *, language="en", width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        pages.append(context)
        page = context.new_page()
        page.goto(files[language].as_uri() + address)
        return page

    yield visit
    for context in pages:
        context.close()


WORST_FIRST = NAMES[1::2] + NAMES[::2]
SHOWN = """() => [...document.querySelectorAll(".item")].filter((each) => each.clientHeight)
    .map((each) => each.querySelector("h3").innerText)"""


def shown(page):
    return page.evaluate(SHOWN)


def below_the_bar(page, heading):
    bar = page.locator("#filter").bounding_box()
    box = page.get_by_role("heading", name=heading, exact=True).bounding_box()
    return bar["y"] + bar["height"] <= box["y"] <= 300


def test_items_are_paged_by_keyboard(visit):
    page = visit()
    assert shown(page) == WORST_FIRST[:10]
    told = page.get_by_role("status")
    assert told.inner_text() == "Items 1–10 of 25"
    page.get_by_role("button", name="Previous items").press("Enter")
    assert shown(page) == WORST_FIRST[:10]
    page.locator(".item:visible").nth(9).scroll_into_view_if_needed()
    page.get_by_role("button", name="Next items").press("Enter")
    assert shown(page) == WORST_FIRST[10:20]
    assert below_the_bar(page, WORST_FIRST[10])
    page.get_by_label("Items on this page").focus()
    page.keyboard.press("ArrowDown")
    assert shown(page) == WORST_FIRST[20:]
    assert told.inner_text() == "Items 21–25 of 25"
    assert page.get_by_role("button", name="Next items").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Next items").press("Enter")
    assert shown(page) == WORST_FIRST[20:]

    page.get_by_label("Only with errors").check()
    assert shown(page) == WORST_FIRST[:10]
    assert told.inner_text() == "Items 1–10 of 12 found"
    page.get_by_role("button", name="Next items").click()
    assert shown(page) == WORST_FIRST[10:12]
    page.get_by_label("Search ids and values").fill("nowhere")
    assert shown(page) == []
    assert told.inner_text() == "No item fits"
    page.get_by_role("button", name="Show all").click()
    assert shown(page) == WORST_FIRST[:10]


def test_anchors_and_browser_search_open_their_page(visit):
    page = visit()
    page.goto(page.url + "#:~:text=" + WORST_FIRST[22].replace("-", "%2D"))  # found as by Ctrl+F
    expect(page.get_by_role("heading", name=WORST_FIRST[22])).to_be_in_viewport()
    assert shown(page) == WORST_FIRST[20:]
    page = visit("#item-17")
    assert shown(page) == WORST_FIRST[10:20]
    assert below_the_bar(page, WORST_FIRST[16])
    page.get_by_label("Only with errors").check()
    page.evaluate("location.hash = '#item-25'")  # right, so that the filter has excluded it
    expect(page.get_by_role("heading", name=WORST_FIRST[24])).to_be_visible()
    assert shown(page) == WORST_FIRST[20:]
    assert below_the_bar(page, WORST_FIRST[24])
    assert not page.get_by_label("Only with errors").is_checked()
    assert not page.locator("#find-note").is_visible()  # as this browser's search can do it


def test_every_item_is_shown_without_script_and_on_paper(visit):
    page = visit(java_script_enabled=False)
    assert shown(page) == WORST_FIRST
    page = visit(color_scheme="dark")
    with pypdfium2.PdfDocument(page.pdf(format="A4")) as paper:
        text = " ".join(" ".join(each.get_textpage().get_text_range() for each in paper).split())
    assert [name for name in NAMES if name not in text] == []
    assert "1924 1924" not in text  # right, and so counted only
    assert "Two runs whose intervals overlap may still differ" in text  # the folded glossary
    assert "Show all" not in text
