"""Three runs in a real browser, from the comparison to the records, without a terminal."""

import csv

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from home.collections import Cards
from home.served import ServedHome
from playwright.sync_api import expect
from space.german import Walk
from space.servers import free_port

from hdbench.collections.home.collection import key_of

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Looks:
    """What is wrong with the pages that a reader comes past: in German, on a phone, in the dark."""

    def __init__(self, cards, page, url):
        self.cards, truths = cards, cards.cards.truths.values()
        self.own = words([" ".join(card.values()) for card in truths])
        self.own |= words(["heron otter finch cards plan decisions out finished"])
        self._phone, self._url, self.wrong = page, url, []

    def __call__(self, page, name):
        self._check(page, name)
        self._phone.goto(f"{self._url}{name}")
        self._check(self._phone, name)
        walk = Walk(self._phone)
        walk.see(name)
        left = ((text, found - self.own) for text, found in walk.left.items())
        self.wrong += [(name, text, found) for text, found in left if found]

    def _check(self, page, name):
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        self.wrong += [
            (name, each["id"], [node["html"] for node in each["nodes"]])
            for each in Axe().run(page).response["violations"]
        ]
        width = page.viewport_size["width"]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            self.wrong.append((name, "is wider than the window", width))


def read_values(page, cards, number):
    """Type what stands on the cards that are shown, one value after the other."""
    for _ in range(number):
        page.locator("#reading").wait_for()
        value = cards.truth(page.locator("#id").inner_text())[label_of(page)]
        page.locator("#reading").fill(str(value))
        with page.expect_response("**/read"):
            page.keyboard.press("Enter")
        expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def label_of(page):
    return page.locator("#label").inner_text().lower()


def begin(page, name, button):
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name=button).click()


def go_back(page):
    page.locator("#home-next").click()
    page.locator(".next a").click()
    page.locator("#work").wait_for()


def go_to(page, stage):
    page.locator(".path").get_by_role("link", name=stage).click()


def compare_and_plan(page, look):
    go_to(page, "Compare")
    page.get_by_role("button", name="Compare the models").click()
    expect(page.locator("h1")).to_have_text("finch, heron, and otter cannot be told apart.")
    expect(page.locator(".hdb-mark-value")).to_have_count(3)
    look(page, "compare")
    page.get_by_role("link", name="Are the models wrong, or is the ground truth?").click()
    expect(page.locator("h1")).to_contain_text("Most good models contradict")
    look(page, "audit")
    go_to(page, "Decide")
    look(page, "decide")
    page.get_by_label("At most").fill("10")
    page.get_by_label("To learn from").fill("20")
    page.get_by_label("To check it").fill("40")
    page.get_by_role("button", name="Draw the values").click()
    expect(page.locator("main")).to_contain_text("people have read 0 of 20 values")
    look(page, "decide")
    begin(page, "anna", "Read the sample")
    read_values(page, cards=look.cards, number=7)


def decide_and_control(page, look):
    page.get_by_role("link", name="Read the sample").click()
    begin(page, "anna", "Read the sample")
    read_values(page, look.cards, 53)  # it learns in between
    go_back(page)
    expect(page.locator(".verdict")).to_contain_text("can be accepted without anybody looking")
    look(page, "decide")
    page.get_by_label("Control sample, in values").fill("5")
    page.get_by_role("button", name="Accept the values").click()
    expect(page.locator("main")).to_contain_text("10 doubtful ones are left")
    begin(page, "ben", "Read the control sample")
    read_values(page, look.cards, 5)
    go_back(page)
    expect(page.locator("main")).to_contain_text("5 were drawn at random")
    look(page, "decide")


def work_off(page, cards):
    begin(page, "anna", "Decide them")
    for done in range(10):
        expect(page.locator("#progress")).to_have_text(f"Value {done + 1} of 10")
        field = page.locator("#label").inner_text().lower()
        value = cards.truth(page.locator("#id").inner_text())[field]
        page.locator("#reading").fill(str(value))
        page.locator("#reading").press("Enter")
    expect(page.locator("#between")).to_be_visible()
    page.locator("#home").click()


def test_from_the_comparison_to_the_records(tmp_path, visit_at):
    cards = Cards(tmp_path, cards=60, truths=58)
    port = free_port()
    served = ServedHome(tmp_path, port, cards.folder)
    root = served.url.replace(f"{key_of(cards.folder)}/", "")
    page = visit_at(root, awaited="h1")
    page.goto(served.url)
    shown = {"language": "de-DE", "color_scheme": "dark", "width": 390}
    look = Looks(cards, visit_at(root, awaited="h1", **shown), served.url)
    compare_and_plan(page, look)
    page.goto("about:blank")  # what it has asked for is not answered any more
    served.kill()
    served = ServedHome(tmp_path, port, cards.folder)
    page.goto(served.url)
    expect(page.locator("main")).to_contain_text("people have read 7 of 20 values")
    decide_and_control(page, look)
    work_off(page, cards)
    page.get_by_role("link", name="Write the records").click()
    look(page, "finish")
    page.locator(".next").get_by_role("button", name="Write a table").click()
    expect(page.locator(".verdict")).to_have_text(
        "60 records, 60 of them complete. No value is open."
    )
    expect(page.locator("main")).to_contain_text("the records are written")
    look(page, "finish")
    with page.expect_download() as download:
        page.get_by_role("link", name="records.csv").click()
    with download.value.path().open(encoding="utf-8-sig") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert len(rows) == 60
    assert rows["0059"]["title"] == cards.truth("0059")["title"]
    assert rows["0059"]["title: origin"] == "worked"
    served.end()
    assert look.wrong == [], look.wrong
