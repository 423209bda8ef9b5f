"""What people come for, done with the keyboard alone, as they have it who use no mouse.

To annotate an item with it is tested in `tests/annotating/test_accessibility.py`.
"""

import json
import time

import pytest
from helpers.results import flat_of
from playwright.sync_api import expect
from space.pages import as_jsonl, report, settled
from space.servers import APP, serving, wait_for_client

pytestmark = pytest.mark.nightly

FOCUSED = "(wanted) => wanted.contains(document.activeElement)"
"""Asked of an element as it is by then: Gradio may have put another in its place."""


@pytest.fixture(scope="module")
def url(shown):
    with serving(APP, cwd=shown) as url:
        wait_for_client(url)
        yield url


@pytest.fixture
def page(visit_at, url):
    return visit_at(url, accept_downloads=True)


def tab_to(page, wanted, key="Tab"):
    """Press Tab until something is focused; no list may open on the way."""
    for _ in range(60):
        if wanted.evaluate(FOCUSED):
            return
        page.keyboard.press(key)
        assert page.get_by_role("option").count() == 0
    raise AssertionError("Tab does not get there")


def choose(page, zone, paths):
    """Choose files in the dialog that a drop zone opens.

    While the page is still being built, a zone may be put anew below the finger, and the key goes
    nowhere: then it is pressed again, as anybody would.
    """
    dialogs = []
    page.once("filechooser", lambda dialog: dialogs.append(dialog))  # noqa: PLW0108  a method of a list has no module
    button = zone.locator("button:has(input)")
    for _ in range(12):
        button.wait_for()
        tab_to(page, button)
        page.keyboard.press("Enter")
        deadline = time.monotonic() + 10
        while not dialogs and time.monotonic() < deadline:
            page.wait_for_timeout(50)
        if dialogs:
            dialogs[0].set_files(paths)
            return
    raise AssertionError("no dialog opens")


def answers_of(shown, folder, name="example.jsonl"):
    lines = (shown / "hdb/zettelkatalog/example_predictions.jsonl").read_text().splitlines()
    read = {each["id"]: each.get("prediction", each.get("text")) for each in map(json.loads, lines)}
    path = folder / name
    path.write_text(as_jsonl(read.items()))
    return path


def go_to_tab(page, name):
    """With the arrow keys, from the tab that is open."""
    tab_to(page, page.get_by_role("tab", selected=True).first)
    wanted = page.get_by_role("tab", name=name, exact=True)
    for _ in range(8):
        if wanted.evaluate(FOCUSED):
            break
        page.keyboard.press("ArrowRight")
    expect(wanted).to_have_attribute("aria-selected", "true")
    settled(page)


def test_the_first_stop_leads_past_the_tabs(page):
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Skip to the content")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=tabpanel]') !== null")


def test_score_and_download(page, shown, tmp_path):
    choose(page, page.locator("#file"), answers_of(shown, tmp_path))
    page.locator("#file").get_by_role("link").wait_for()
    tab_to(page, page.locator("#score"))
    page.keyboard.press("Enter")
    report(page)
    expect(page.locator(".hdb-big")).to_be_visible()
    tab_to(page, page.locator("#download-json"))
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "result.json")
    assert flat_of(tmp_path / "result.json")["items"] == 24


def test_compare(page, shown, tmp_path):
    go_to_tab(page, "Compare")
    first = answers_of(shown, tmp_path)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(first.read_text().splitlines(keepends=True)[::2]))
    choose(page, page.locator("#compare-files"), [first, other])
    page.locator("#compare-files").get_by_role("link").first.wait_for()
    tab_to(page, page.locator("#compare"))
    page.keyboard.press("Enter")
    page.locator(".hdb-verdicts").wait_for()
    assert "example reads better than other" in page.locator(".hdb-verdicts").inner_text()


def test_find_the_worst_item(page):
    tab_to(page, page.locator("#example"))
    page.keyboard.press("Enter")
    inside = report(page)
    tab_to(page, page.locator("#report iframe"))
    link = inside.get_by_role("link", name="Items", exact=True)
    for _ in range(40):
        if link.evaluate("(each) => each === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(inside.locator(".item").first).to_be_in_viewport()


def test_a_list_opens_with_an_arrow_key(page):
    field = page.locator("#benchmark input")
    tab_to(page, field)
    assert page.get_by_role("option").count() == 0
    page.keyboard.press("ArrowDown")
    page.get_by_role("option").first.wait_for()
