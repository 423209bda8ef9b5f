"""A librarian's afternoon in one window: 60 real cards, a messy sheet, two people, three runs.

It is walked three times: with a mouse, in German on a phone, and by keyboard alone. Wherever it
can, it presses the one button that says what comes next.
"""

import csv
import gzip
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from annotating.pages import truths
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from helpers.waiting import until
from home.served import ServedHome
from lxml import etree
from playwright.sync_api import expect
from space.german import Walk
from space.servers import free_port

from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import Store
from hdbench.answers.titles import FieldTitles
from hdbench.home.collection import opened

pytestmark = pytest.mark.nightly

CARDS = 60
SET_ASIDE = 12  # the last cards, which nobody reads before the models do
NOT_IN_SHEET, EMPTY_ROW = 30, 31  # places of the cards that the sheet says nothing of
COLUMNS = {
    "Datei-Name ": "id",
    "Nachname": "author.last_name",
    " Vorname(n)": "author.first_name",
    "Art": "type.type",
    "Sachtitel ": "publication.title",
    "Ersch.-Jahr": "publication.year",
    "Ort": "publication.place",
    "Verlag/Drucker": "publication.publisher",
    "Umfang (S.)": "publication.pages",
    "Signatur": "library_reference.shelfmark",
}
RUNS = {
    "2025-11-25/T0420": "gemini-3-pro",
    "2026-01-24/T0230": "claude-sonnet-4-5",
    "2025-09-30/T0160": "gpt-4-1",
}
LEARN, VERIFY, CONTROL, WORKED = 80, 100, 20, 12
LIMIT = 0.12
MARC = "{http://www.loc.gov/MARC21/slim}"


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def at(record, path):
    """A value of a record, as text; None where nothing stands on the card."""
    for step in path.split("."):
        record = (record or {}).get(step)
    return str(record).strip() or None if record else None


def letters(value):
    """What counts of a value when two are compared."""
    return " ".join(str(value or "").casefold().split())


class Desk:
    """A folder with scans, a sheet and what three models read; and what stands on the cards."""

    def __init__(self, folder, shared):
        self.folder, self.collection = folder, folder / "kasten-7"
        source = shared / "upstream/humanities_data_benchmark/benchmarks/library_cards"
        images = [
            image
            for image in sorted((source / "images").iterdir())
            if (source / f"ground_truths/{image.stem}.json").is_file()
        ][:CARDS]
        self.truths = {}
        (folder / "scans").mkdir()
        for image in images:
            shutil.copy(image, folder / "scans")
            card = json.loads((source / f"ground_truths/{image.stem}.json").read_text())
            self.truths[image.stem] = card["response_text"]
        self.items = list(self.truths)
        self.set_aside = self.items[-SET_ASIDE:]
        self.sheet = self._write_sheet()
        self.runs = self._write_runs(shared / "recorded/library_cards.jsonl.gz")

    def value(self, item, path):
        """What stands on a card."""
        return at(self.truths[item], path)

    def _write_sheet(self):
        """The sheet as somebody kept it over years."""
        path = self.folder / "Kasten 7 (neu).csv"
        with path.open("w", encoding="cp1252", errors="replace", newline="") as file:
            sheet = csv.writer(file, delimiter=";")
            sheet.writerow(COLUMNS)
            for number, item in enumerate(self.items):
                name = item if number % 3 else f"{item}.JPG"
                values = [self.value(item, path) or "" for path in list(COLUMNS.values())[1:]]
                if number == EMPTY_ROW:
                    values = [""] * len(values)
                if number % 4 == 0:
                    values = [f"{value}  " for value in values]
                if number != NOT_IN_SHEET and item not in self.set_aside:
                    sheet.writerow([name, *values])
            sheet.writerow(["99999999.jpg", "Niemand", "", "", "Nichts"])
            sheet.writerows([[""] * len(COLUMNS)] * 2)
        return path

    def _write_runs(self, recorded):
        """The answers of three models to these cards, as they wrote them."""
        paths = []
        with gzip.open(recorded, "rt") as file:
            for run in map(json.loads, file):
                if run["run"] in RUNS:
                    paths.append(self.folder / f"{RUNS[run['run']]}.jsonl")
                    answers = (each for each in run["answers"] if each["id"] in self.truths)
                    lines = (
                        json.dumps({"id": each["id"], "text": each["text"]}) for each in answers
                    )
                    paths[-1].write_text("".join(f"{line}\n" for line in lines))
        return paths

    def own_words(self):
        """Words that are in another language because they stand on cards, or are names."""
        prompt = self.collection / "prompt.txt"
        texts = [
            *map(json.dumps, self.truths.values()),
            *(path.read_text() for path in self.runs),
            *([prompt.read_text()] if prompt.exists() else []),
            " ".join([*COLUMNS, *COLUMNS.values(), *RUNS.values(), str(self.folder), "other out"]),
        ]
        return words(text.translate(str.maketrans("{}", "  ")) for text in texts)


class Mouse:
    """Somebody with a mouse, or a finger."""

    def __init__(self, page):
        self.page = page

    def press(self, locator):
        locator.click()

    def fill(self, locator, text):
        locator.fill(text)

    def choose(self, locator, files):
        locator.set_input_files(files)

    def take(self, choice):
        choice.click()

    def say_nothing_is_there(self):
        self.page.locator("#nothing").click()


class Keyboard(Mouse):
    """Somebody who has a keyboard alone."""

    def __init__(self, page):
        super().__init__(page)
        page.on("filechooser", lambda _: None)  # else the first one may open before it is expected

    def press(self, locator):
        self._reach(locator)
        self.page.keyboard.press("Enter")

    def fill(self, locator, text):
        self._reach(locator)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(text)

    def choose(self, locator, files):
        self._reach(locator)
        with self.page.expect_file_chooser() as chooser:
            self.page.keyboard.press("Space")
        chooser.value.set_files(files)

    def take(self, choice):
        self._reach(choice.locator("xpath=..").locator("[tabindex='0']"))  # arrows lead further
        self.page.keyboard.press(choice.get_attribute("data-digit"))

    def say_nothing_is_there(self):
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Alt+Digit1")

    def _reach(self, locator):
        """Go on with Tab until something has the focus, and is seen to have it."""
        locator.wait_for()
        for _ in range(200):
            if locator.evaluate("each => each === document.activeElement"):
                assert locator.evaluate("each => each.matches(':focus-visible')")
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{locator} is not reached with Tab")


class Afternoon:
    """The walk through all pages.

    Args:
        desk: where it begins.
        hand: how things are pressed.
        language: the language of the pages.
        width: that of the window.
    """

    def __init__(self, desk, hand, language, width):
        self.desk, self.hand, self.page = desk, hand, hand.page
        self.language, self.width = language, width
        self.found, self.looks = [], 0

    def look(self, name):
        """See what axe-core, a narrow window, or somebody who knows no English complains of."""
        self.page.wait_for_load_state("networkidle")
        self.looks += 1
        if folder := os.environ.get("HDBENCH_PICTURES"):
            path = Path(folder, f"{self.language}-{self.width}", f"{self.looks:02}-{name}.png")
            self.page.screenshot(path=path, full_page=True)
        violations = Axe().run(self.page).response["violations"]
        self.found += [(name, each["id"], each["nodes"][0]["html"]) for each in violations]
        if self.page.evaluate("document.documentElement.scrollWidth") > self.width:
            self.found.append((name, "is wider than the window"))
        if self.language == "de":
            walk = Walk(self.page)
            walk.see(name)
            own = self.desk.own_words()
            self.found += [(text, wrong - own) for text, wrong in walk.left.items() if wrong - own]

    def press(self, selector):
        self.hand.press(self.page.locator(selector))

    def fill(self, selector, text):
        self.hand.fill(self.page.locator(selector), text)

    def choose(self, selector, files):
        self.hand.choose(self.page.locator(selector), files)

    def go_on(self, awaited):
        """Press the button that says what comes next, until something else is seen."""
        self.press(".next .first")
        self.page.locator(awaited).first.wait_for()

    def unfold(self, selector):
        """Open what is folded around something."""
        self.hand.press(
            self.page.locator("details", has=self.page.locator(selector)).locator("summary")
        )

    def make(self):
        """A collection of the scans, and of what the sheet says of them."""
        self.look("start")
        self.press("main a.first")
        self.fill("#title", "Kasten 7")
        self.look("new")
        self.press("main button.first")
        self.page.locator("#scans").wait_for()
        self.look("draft")
        assert self.page.locator(".first").count() == 0
        self.choose("#scans", sorted((self.desk.folder / "scans").iterdir()))
        expect(self.page.locator(".strip img")).to_have_count(6)
        self.choose("#sheet", self.desk.sheet)
        self.page.locator("[name^='column:']").first.wait_for()
        self.look("draft-proposed")
        for column, field in COLUMNS.items():
            self.fill(f"[name='column:{column.strip()}']", field)
        self.press("#draft button:not(.first)")
        expect(self.page.locator("[name='column:Art']")).to_have_value("type.type")
        self.look("draft-ready")
        self.go_on(".path")
        self.look("home")
        assert self.counted() == CARDS - SET_ASIDE - 2

    def counted(self):
        """How many cards have a ground truth."""
        return sum(truth is not None for truth in truths(self.desk.collection).values())

    def annotate(self):
        """The two cards that are missing, by two people who do not see what the other enters."""
        desk, page = self.desk, self.page
        missing = [desk.items[NOT_IN_SHEET], desk.items[EMPTY_ROW]]
        with Store.open(desk.collection, "anna") as store:
            for item in desk.set_aside:
                after = store.state(item).head["status"]
                store.change(item, "status", "", "doubtful", after=after, how="blind")
        self.go_on("#name")
        self.look("truth")
        self.unfold("#people")
        self.fill("#people", "anna ben")
        self.press("form[action$='/assign'] button")
        page.locator(".note").wait_for()
        copy = desk.folder / "bens" / desk.collection.name
        shutil.copytree(desk.collection, copy)
        with Store.open(copy, "ben") as store:
            for item in missing:
                record = self.record(item)
                if item == missing[0]:
                    record["publication"]["year"] = 1700
                for what, to in (("ground_truth", record), ("status", "done")):
                    after = store.state(item).head[what]
                    store.change(item, what, "", to, after=after, how="blind")
        hand_over(copy, "ben", desk.folder / "ben.zip")
        self.fill("#name", "anna")
        self.press("form[action$='/annotate'] button")
        for item in missing:
            expect(page.locator("#id")).to_have_text(item)
            self.look(f"editor-{item}")
            for path in list(COLUMNS.values())[1:]:
                if value := desk.value(item, path):
                    self.enter(path, value)
            expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
            self.be_done(item)
        until(lambda: not opened(desk.collection).progress().waiting.get("anna"), "anna's cards")
        self.settle(missing[0])

    def record(self, item):
        """A card, in the form that the sheet's fields make."""
        record = {}
        for path in list(COLUMNS.values())[1:]:
            part, _, name = path.partition(".")
            value = self.desk.value(item, path)
            record.setdefault(part, {})[name] = int(value) if name == "year" and value else value
        return record

    def enter(self, path, value):
        field = self.page.locator(f"[id='f:{path}']")
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            self.hand.fill(field, value)

    def settle(self, item):
        page = self.page
        self.leave()
        page.goto(f"{self.home}truth")
        self.unfold("#work")
        self.choose("#work", self.desk.folder / "ben.zip")
        page.locator("form[action$='/take-in']").wait_for()
        self.look("merge")
        self.press("form[action$='/take-in'] button")
        page.locator(".note").wait_for()
        self.look("truth-merged")
        self.press("form[action$='/annotate'] button.first")
        expect(page.locator("#id")).to_have_text(item)
        self.look("settling")
        self.press("[id='take:publication.year:anna']")
        self.be_done(item)
        until(lambda: self.counted() == CARDS - SET_ASIDE, "the last ground truth")
        self.leave()
        page.goto(f"{self.home}agreement")
        assert set(page.locator("tbody th").all_inner_texts()) <= set(self.titles())
        self.look("agreement")
        page.goto(self.home)
        self.look("home-truth")

    def be_done(self, item):
        """Finish an item, until the next one or the end is seen."""
        self.press("#done")
        over = "document.getElementById('end').open"
        over += " || document.getElementById('id').textContent !== item"
        self.page.wait_for_function(f"item => {over}", arg=item)

    def leave(self):
        """Go back to the collection from a page on which something is edited."""
        if self.page.locator("dialog[open] a").count():
            self.press("dialog[open] a")
        else:
            self.press("#home")
        self.page.locator(".path").wait_for()

    def compare(self):
        page = self.page
        self.go_on("#answers")
        self.look("runs-none")
        self.choose("#answers", self.desk.runs)
        expect(page.locator(".runs > li")).to_have_count(len(RUNS))
        self.look("runs")
        self.go_on("#best")
        self.look("compare-before")
        self.go_on(".verdict")
        expect(page.locator(".ranking tbody tr")).to_have_count(len(RUNS))
        best = page.locator(".ranking tbody tr").first
        expect(best).to_contain_text("gemini-3-pro")
        self.look("compare")
        self.hand.press(best.locator("button"))
        report = best.locator("a")
        report.wait_for()
        with page.expect_popup() as popup:
            self.hand.press(report)
        expect(popup.value.locator("body")).to_contain_text("gemini-3-pro")
        popup.value.close()

    def decide(self):
        page = self.page
        self.go_on("#limit")
        self.look("plan")
        for name, value in (("limit", 100 * LIMIT), ("learn", LEARN), ("verify", VERIFY)):
            self.fill(f"#{name}", f"{value:g}")
        self.press("form[action$='/plan'] button.first")
        page.locator("#terms").wait_for()
        self.look("planned")
        self.go_on("#reading")
        self.look("value")
        assert self.read() == LEARN + VERIFY
        self.look("all-read")
        self.leave()
        self.go_on("#control")
        self.look("decision")
        self.fill("#control", str(CONTROL))
        self.go_on("#work table")
        self.look("applied")
        self.go_on("#reading")
        assert self.read() == CONTROL
        self.leave()
        self.go_on("#work table")
        self.look("controlled")
        self.go_on(".doubt")
        self.look("work-list")
        self.work_off()
        self.look("work-list-begun")
        self.leave()
        self.go_on("#work table")

    def titles(self):
        """What fields are called on the page → their paths."""
        titles = FieldTitles(opened(self.desk.collection).schema, self.language)
        return {titles(path): path for path in COLUMNS.values()}

    def read(self):
        """Read all values that are offered from the cards; return how many."""
        page, paths, read = self.page, self.titles(), 0
        while page.locator("#reading").is_visible():
            item, label = page.locator("#id").inner_text(), page.locator("#label").inner_text()
            with page.expect_response("**/read"):
                if value := self.desk.value(item, paths[label]):
                    self.fill("#reading", value)
                    page.keyboard.press("Enter")
                else:
                    self.hand.say_nothing_is_there()
            read += 1
            changed = "([item, label]) => !document.getElementById('between').hidden || "
            changed += "document.getElementById('id').textContent !== item || "
            changed += "document.getElementById('label').textContent !== label"
            page.wait_for_function(changed, arg=[item, label])
            over = "document.getElementById('learning').hidden"
            page.wait_for_function(f"() => !document.getElementById('record').hidden || {over}")
        return read

    def work_off(self):
        """Decide the first doubtful values, with one key where a model has read what is there."""
        page = self.page
        for number in range(WORKED):
            item = page.locator("#id").inner_text()
            doubt = page.locator(".doubt:not(.decided, .saving)").first
            wanted = self.desk.value(item, doubt.get_attribute("data-path"))
            for choice in doubt.locator(".choice").all():
                said = choice.locator(".text")
                if letters(said.inner_text() if said.count() else "") == letters(wanted):
                    self.hand.take(choice)
                    break
            else:
                typed = doubt.get_by_role("textbox")
                self.hand.fill(typed, wanted)
                typed.press("Enter")
            expect(page.locator("#bar")).to_have_js_property("value", number + 1)
            if not page.locator(".doubt:not(.decided)").count():
                self.press("#go-on")
                expect(page.locator("#id")).not_to_have_text(item)

    def finish(self):
        self.press("#work a[href$='/finish']")
        self.page.locator("#forms").wait_for()
        self.look("finish")
        for form, file in (("csv", "records.csv"), ("marcxml", "records.xml")):
            button = f"form:has([name=form][value={form}]) button"
            self.hand.press(
                self.page.locator("details", has=self.page.locator(button)).locator("summary").first
            )
            self.hand.press(self.page.locator(f"details[open] {button}"))
            self.page.locator(f".files a[href$='{file}']").wait_for()
            self.look(f"finished-{form}")

    def downloaded(self, name):
        with self.page.expect_download() as download:
            self.press(f".files a[href$='/{name}']")
        return Path(download.value.path())

    def walk(self):
        self.make()
        self.home = self.page.url
        self.annotate()
        self.compare()
        self.decide()
        self.finish()


def check_records(afternoon):
    """What comes out is what stands on the cards, and says where it is from."""
    desk = afternoon.desk
    lines = afternoon.downloaded("records.jsonl").read_text().splitlines()
    records = {line["id"]: line["fields"] for line in map(json.loads, lines)}
    assert list(records) == desk.items
    read, others, wrong = Counter(), Counter(), Counter()
    for item, fields in records.items():
        origins = others if item in desk.set_aside else read
        for path, state in fields.items():
            origins[state["origin"]] += 1
            wrong[state["origin"]] += letters(state["value"]) != letters(desk.value(item, path))
    # All other cards were read, in the sheet or in the editor: nobody is asked about them again.
    assert read["checked"] + read["corrected"] == 9 * (CARDS - SET_ASIDE)
    assert others["worked"] == WORKED
    assert wrong["checked"] + wrong["corrected"] + wrong["worked"] == 0
    return records


@pytest.mark.parametrize(
    ("hand", "window"),
    [
        (Mouse, {"language": "en", "width": 1280, "color_scheme": "light"}),
        (Mouse, {"language": "de", "width": 390, "color_scheme": "dark"}),
        (Keyboard, {"language": "en", "width": 1280, "color_scheme": "dark"}),
    ],
    ids=["mouse", "phone-in-german", "keyboard"],
)
def test_from_sixty_scans_to_records(tmp_path, shared, visit_at, hand, window):
    desk = Desk(tmp_path, shared)
    served = ServedHome(tmp_path, free_port())
    page = visit_at(served.url, awaited="h1", **window)
    afternoon = Afternoon(desk, hand(page), window["language"], window["width"])
    afternoon.walk()
    records = check_records(afternoon)
    with afternoon.downloaded("records.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == desk.items
    loaded = etree.parse(afternoon.downloaded("records.xml")).iter(f"{MARC}record")
    ids = {record.findtext(f"{MARC}controlfield[@tag='001']") for record in loaded}
    ids -= set(desk.set_aside)  # not all of their values are decided
    kinds = {item: records[item]["type.type"]["value"] for item in desk.items[:-SET_ASIDE]}
    assert ids == {item for item, kind in kinds.items() if kind not in (None, "Reference")}
    served.end()
    assert afternoon.found == [], afternoon.found
