"""A librarian's afternoon, from scans and a messy sheet to the library's own records.

Two people, on a phone, in German, in the dark, with the keyboard: every page that they come past is
looked at. What the pages are for in detail, the other tests here hold.
"""

import json
from xml.etree import ElementTree as ET

import pytest
from annotating.pages import truths
from helpers.english import words
from helpers.invented_cards import MODELS
from home.collections import Cards, read_values
from home.looks import Looks
from home.served import ServedHome
from openpyxl import Workbook
from playwright.sync_api import expect
from space.servers import free_port

from hdbench.collections.home.collection import opened

pytestmark = pytest.mark.slow

GERMAN = {
    "title": "Titel",
    "author": "Verfasser",
    "place": "Ort",
    "year": "Jahr",
    "shelfmark": "Signatur",
}
KEPT = 58
"""Of so many cards the sheet has a row."""

MARC = "{http://www.loc.gov/MARC21/slim}"


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def write_messy_sheet(path, cards):
    """A title, an empty row, headings, cells merged over two rows, two wrong ids, and a total."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Karten"
    sheet.append(["Kasten 3, Stand 1998"])
    sheet.merge_cells("A1:F1")
    sheet.append([])
    sheet.append(["Karte", *GERMAN.values()])
    for item, card in list(cards.truths.items())[:KEPT]:
        named = {"0007": "O007", "0011": "0O11"}.get(item, item)
        sheet.append([named, *(int(card[f]) if f == "year" else card[f] for f in GERMAN)])
    places = [card["place"] for card in cards.truths.values()]
    first = next(row for row in range(4, 60) if places[row - 4] == places[row - 3])
    sheet[f"D{first + 1}"] = None
    sheet.merge_cells(f"D{first}:D{first + 1}")
    sheet.append(["Summe", f"{KEPT} Karten"])
    book.save(path)


def write_own_records(path, items):
    """Records that a library has, with what it knows: none of what is on the cards."""
    records = "".join(
        f"<record><leader>00000cam a2200000 c 4500</leader><controlfield tag='001'>{item}"
        "</controlfield><datafield tag='852' ind1=' ' ind2=' '><subfield code='a'>Magazin"
        "</subfield></datafield></record>"
        for item in items
    )
    path.write_text(f"<collection xmlns='http://www.loc.gov/MARC21/slim'>{records}</collection>")


class Afternoon:
    """Somebody who goes through the pages, and what is wrong with those that they see."""

    def __init__(self, page, cards):
        self.page, self.cards = page, cards.cards
        self.looks = Looks(cards, page, "")
        names = "kasten-3 author title place year shelfmark persons[].name other records worklist"
        self.looks.own |= words([names, " ".join(GERMAN.values()).lower()])

    def look(self, name):
        self.page.wait_for_load_state()
        self.looks.on_phone(name)

    def go(self, stage):
        self.page.locator(f".path a[href$='/{stage}']").click()
        self.page.wait_for_url(f"**/{stage}")  # else what follows may find the page before

    def press(self, selector):
        """Press a button with the keyboard."""
        self.page.locator(selector).first.focus()
        self.page.keyboard.press("Enter")

    def fill(self, selector, text):
        self.page.locator(selector).fill(text)

    def enter(self, text=None, key=None):
        """Enter a value of the page for values, or take one with its key."""
        with self.page.expect_response("**/read"):
            if key:
                self.page.keyboard.press(key)
            else:
                self.page.locator("#reading").fill(text)
                self.page.locator("#reading").press("Enter")
        expect(self.page.locator("#saving")).to_have_attribute("data-state", "saved")

    def truth(self):
        """What stands on the card that is shown, in the field that is asked for."""
        item, label = (self.page.locator(each).inner_text() for each in ("#id", "#label"))
        field = next(key for key, title in GERMAN.items() if title.casefold() == label.casefold())
        return self.cards.truths[item][field]


def make(afternoon, tmp_path):
    """From scans and the sheet to a collection."""
    page = afternoon.page
    afternoon.look("start")
    page.locator("a[href$='/new']").click()
    page.locator("#title").fill("Kasten 3")
    afternoon.look("new")
    page.locator("#title").press("Enter")
    page.locator("#scans").set_input_files(sorted((tmp_path / "scans").iterdir()))
    page.locator(".strip").wait_for()
    write_messy_sheet(tmp_path / "Kasten.xlsx", afternoon.cards)
    page.locator("#sheet").set_input_files(tmp_path / "Kasten.xlsx")
    page.locator(".stacked").wait_for()
    expect(page.locator(".raw .heading th")).to_have_text("3")
    afternoon.press(".raw tr:nth-child(1) button")  # the title is no heading
    expect(page.get_by_role("alert")).to_contain_text("ihrer Nummer unten")
    afternoon.press(".raw button[value='3']")
    warned = page.locator("ul.warn")
    expect(warned).to_contain_text("O007")
    expect(warned).to_contain_text("0007 gemeint?")  # did they mean it
    expect(warned).to_contain_text("Summe")
    expect(page.locator("h1")).to_contain_text(f"{KEPT - 2}")
    for name, title in GERMAN.items():
        page.locator(f"[name='column:{title}']").fill(name)
    afternoon.look("draft")
    afternoon.press("button.first")
    page.locator(".path").wait_for()


def read_in_two(afternoon, folder):
    """Two people read two cards, each alone, and settle where they differ."""
    page, read = afternoon.page, []
    for name in ("Anna", "Ben"):
        afternoon.go("truth")
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        afternoon.fill("#who", name)
        afternoon.fill("#number", "2")
        page.locator("#number").press("Enter")
        page.locator("#id:not(:empty)").wait_for()
        for number in range(2):
            read.append(item := page.locator("#id").inner_text())
            for field, value in afternoon.cards.truths[item].items():
                is_slip = (name, item, field) == ("Ben", read[0], "place")
                page.locator(f"[id='f:{field}']").fill("1" if is_slip else value)
            if len(read) == 1:
                afternoon.look("editor")
            page.keyboard.press("Alt+Enter")
            expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
            if not number:
                expect(page.locator("#id")).not_to_have_text(item)
        page.keyboard.press("Escape")
        page.locator("#home").click()
    afternoon.go("truth")
    afternoon.look("truth")
    page.locator("form[action$='truth/settle'] button").click()
    expect(page.locator(".choice")).to_have_count(2)
    afternoon.look("settle")
    afternoon.enter(key="1")
    page.locator("#home-next").click()
    assert truths(folder)[read[0]]["place"] == afternoon.cards.truths[read[0]]["place"]


def add_runs(afternoon, folder):
    """Three models' answers, with German keys, to the cards that people have read."""
    page, known = afternoon.page, truths(folder)
    for place, model in enumerate(MODELS):
        path = folder.parent / f"{model}.jsonl"
        with path.open("w") as file:
            for number, item in enumerate(each for each, record in known.items() if record):
                card = afternoon.cards.truths[item]
                year = int(card["year"]) + (0 if number % 8 else place + 1)
                said = {GERMAN[key]: value for key, value in card.items()} | {"Jahr": year}
                file.write(json.dumps({"id": item, "prediction": said}) + "\n")
        afternoon.go("runs")
        page.locator("#answers").set_input_files(path)
        expect(page.locator("#checked")).to_contain_text(model)
    expect(page.locator(".runs > li")).to_have_count(3)
    afternoon.look("runs")
    afternoon.go("compare")
    afternoon.press("form[action$='compare/build'] button")
    expect(page.locator(".hdb-mark-value")).to_have_count(3)
    afternoon.look("compare")


def accept(afternoon, folder):
    """From a plan to the last value of the work list."""
    page, cards = afternoon.page, afternoon.cards
    collection = opened(folder)

    def value_of(item, field):
        value = cards.truths[item][field]
        return int(value) if field == "year" else value

    afternoon.go("decide")
    afternoon.look("plan")
    for selector, text in (("#limit", "10"), ("#learn", "20"), ("#verify", "40")):
        afternoon.fill(selector, text)
    afternoon.press("form[action$='decide/plan'] button")
    for is_last in (False, True):
        afternoon.fill("#name", "Anna")
        afternoon.press(".next button.first")
        page.locator("#reading").wait_for()
        if not is_last:
            afternoon.look("values")
        afternoon.enter(afternoon.truth())
        for person in ("Anna", "Ben"):  # the others: what contradicts the models is read twice
            read_values(collection, value_of, (person,))
        page.goto(f"{page.url.partition('/check/')[0]}/decide")
        if not is_last:
            afternoon.press(".next button.first")  # learns
            expect(page.locator("#name")).to_be_visible()
    page.locator("#control").wait_for()
    afternoon.look("decision")
    afternoon.fill("#control", "5")
    afternoon.press(".next button.first")
    page.locator("#name").wait_for()
    read_values(collection, value_of, ("Anna", "Ben"))
    page.reload()
    page.locator("form[action$='decide/work'] .first").wait_for()
    afternoon.look("accepted")
    afternoon.press("form[action$='decide/work'] .first")
    for _ in range(10):
        page.locator("#reading").wait_for()
        afternoon.enter(afternoon.truth())
    expect(page.locator("#between")).to_be_visible()
    page.locator("#home").click()


def deliver(afternoon, folder):
    """Into twenty records that the library has, and as a table of all."""
    page, items = afternoon.page, list(afternoon.cards.truths)[:20]
    afternoon.go("finish")
    afternoon.press(".next button.first")
    expect(page.locator(".verdict")).to_contain_text("60")
    own, mapping = folder.parent / "own.xml", folder.parent / "mapping.yaml"
    write_own_records(own, items)
    mapping.write_text("marc: {245: '$a{title}', 100: '$a{author}'}\n")
    page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
    for selector, path in (("#mapping", mapping), ("#own-records", own)):
        with page.expect_navigation():
            page.locator(selector).set_input_files(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
    afternoon.press("form:has([name=group][value=into]) [name=form]")
    expect(page.locator(".note[role=status]")).to_contain_text("20")
    afternoon.look("finish")
    with page.expect_download() as download:
        page.locator("a[href$='records.xml']").click()
    records = ET.parse(download.value.path()).getroot().findall(f"{MARC}record")
    for item, record in zip(items, records, strict=True):
        fields = {
            each.get("tag"): each.findtext(f"{MARC}subfield[@code='a']")
            for each in record.findall(f"{MARC}datafield")
        }
        card = afternoon.cards.truths[item]
        assert (fields["245"], fields["100"]) == (card["title"], card["author"])
        assert fields["852"] == "Magazin"
        assert record.find(f"{MARC}controlfield[@tag='001']").text == item


def test_the_librarians_afternoon(tmp_path, visit_at):
    (tmp_path / "beside").mkdir()
    cards = Cards(tmp_path / "beside", cards=60, truths=1)  # for its scans
    (tmp_path / "beside/scans").rename(tmp_path / "scans")
    served = ServedHome(tmp_path, free_port())
    shown = {"language": "de-DE", "color_scheme": "dark", "width": 390}
    afternoon = Afternoon(visit_at(served.url, awaited="h1", **shown), cards)
    make(afternoon, tmp_path)
    folder = tmp_path / "kasten-3"
    read_in_two(afternoon, folder)
    add_runs(afternoon, folder)
    accept(afternoon, folder)
    deliver(afternoon, folder)
    served.end()
    assert afternoon.looks.wrong == [], afternoon.looks.wrong
