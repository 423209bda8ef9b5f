"""Single values read in a real browser, by people who do not know of each other's readings."""

import json

import pytest
from annotating.checking.plans import ServedCheck, read_by, serving_check, write_plan
from annotating.pages import SCHEMA, ended, write_collection
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from helpers.small_disk import FORMS, small_disk
from playwright.sync_api import expect
from space.german import Walk

pytestmark = pytest.mark.slow

SCRIPT = "<img src=x onerror=\"document.title='attacked'\"><b>bold</b>"


# As many images as given were received by the page.
THERE = """(images) => performance.getEntriesByType("resource")
  .filter((each) => each.name.includes("/pages/") && each.responseEnd).length === images"""


# What became of an item's value: nothing yet, not saved, or another item is shown.
LEFT = """(item) => {
  const state = document.getElementById("saving").dataset.state;
  const isLeft = document.getElementById("id").textContent !== item;
  return isLeft ? "left" : state === "refused" && state;
}"""

SHOWN = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

REFUSED = "Failed to load resource: the server responded with a status of 400 (Bad Request)"


@pytest.fixture
def folder(tmp_path):
    truths = [{"title": f"truth {number}", "year": 1700 + number} for number in range(1, 13)]
    return write_collection(tmp_path / "cards", truths)


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        return visit_at(served.url, awaited="#id:not(:empty)", **options)

    return visit


def item_of(page):
    return page.locator("#id").inner_text()


def read(page, text):
    """Type a value, save it with Enter, and wait until it is saved."""
    with page.expect_response("**/read"):
        page.locator("#reading").fill(text)
        page.keyboard.press("Enter")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def read_all(page, text):
    """Read all values that are offered; their items."""
    items = []
    while page.locator("#reading").is_visible():
        items.append(item_of(page))
        read(page, text)
    return items


def heading(page):
    return page.locator("#between-title")


def test_the_next_value_is_there_before_it_is_asked_for(tmp_path, folder, visit_at):
    plan = write_plan(tmp_path / "plan", [(f"b{number}", "title") for number in range(1, 5)])
    with serving_check(folder, plan) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)").context.new_page()
        asked = []

        def note(request):
            asked.append(request.url.rpartition("values/")[2])

        page.on("request", note)
        page.goto(served.url)
        loaded = "each => each.complete && each.naturalWidth > 0"
        for number in range(3):
            expect(page.locator("#progress")).to_have_text(f"Value {number + 1} of 4, part 1 of 2")
            page.wait_for_function(THERE, arg=number + 2)
            values = [each for each in asked if each.isdecimal()]
            assert [each for each in asked if each.endswith("/pages/0")] == [
                f"{each}/pages/0" for each in values
            ]
            before = len(asked)
            with page.expect_response("**/read"):
                page.locator("#reading").fill("Faust")
                page.keyboard.press("Enter")
            expect(page.locator("#progress")).to_contain_text(f"Value {number + 2}")
            # It is shown at once: only what was entered, and the value after it, are requests.
            assert page.locator("#view img").evaluate(loaded)
            assert asked[before] == f"{values[-2]}/read"
            assert not {values[-1], f"{values[-1]}/pages/0"} & set(asked[before:])


@pytest.mark.nightly
def test_everything_with_the_keyboard_and_html_stays_text(tmp_path, folder, visit):
    fields = ("title", "year", "kind", "signed", "keywords", "imprint.place")
    plan = write_plan(tmp_path / "plan", [("b1", field) for field in fields], [("b2", "text")])
    entered = {
        "Title": (SCRIPT, "Shift+Enter", "second line", "Enter"),
        "Year": ("1808", "Enter"),
        "Kind": ("l", "Enter"),
        "Signed": ("y", "Enter"),
        "Keywords": ("Diss.; Basel", "Enter"),
        "Imprint › Place": ("Escape", "2", "Alt+2"),  # a single key chooses nothing
    }
    with serving_check(folder, plan) as served:
        page = visit(served)
        keys, message = page.keyboard, page.locator("#message")
        while (label := page.locator("#label").inner_text()) != "Transcription":
            if label == "Title":
                keys.press("Enter")
                expect(message).to_contain_text("Enter what is there")
            if label == "Year":
                keys.type("18o8")
                keys.press("Enter")
                expect(message).to_contain_text("Not a whole number")
                keys.press("Control+A")
            for key in entered.pop(label):
                is_key = key in ("Enter", "Escape", "Shift+Enter", "Alt+2")
                keys.press(key) if is_key else keys.type(key)
            expect(page.locator("#label")).not_to_have_text(label)
        keys.type("at last")
        keys.press("Enter")
        expect(heading(page)).to_have_text("All values are read.")
        keys.press("Alt+ArrowLeft")
        expect(page.locator("#reading")).to_have_value("at last")
        assert "attacked" not in page.title()
    assert entered == {}
    assert {field: told["anna"] for (_, field), told in read_by(folder, plan).items()} == {
        "title": f"{SCRIPT}\nsecond line",
        "year": 1808,
        "kind": "letter",
        "signed": True,
        "keywords": ["Diss.", "Basel"],
        "imprint.place": "unreadable",
        "text": "at last",
    }


def test_back_corrects_what_was_saved_and_keeps_what_was_typed(tmp_path, folder, visit):
    plan = write_plan(tmp_path / "plan", [(f"b{number}", "title") for number in range(1, 4)])
    with serving_check(folder, plan) as served:
        page = visit(served)
        back = page.get_by_role("button", name="Back")
        expect(back).to_be_disabled()
        first = item_of(page)
        read(page, "Fausst")
        second = item_of(page)
        page.locator("#reading").fill("begun")
        back.click()
        expect(page.locator("#id")).to_have_text(first)
        expect(page.locator("#reading")).to_have_value("Fausst")
        expect(page.locator("#before")).to_have_text(
            "You saved: Fausst. Save it again to correct it."
        )
        expect(page.locator("#progress")).to_contain_text("Value 1 of 3")
        expect(back).to_be_disabled()
        page.get_by_role("button", name="Damaged").click()
        expect(page.locator("#id")).to_have_text(second)
        expect(page.locator("#reading")).to_have_value("begun")
        page.keyboard.press("Enter")
        expect(page.locator("#id")).not_to_have_text(second)
        page.keyboard.press("Alt+ArrowLeft")
        expect(page.locator("#id")).to_have_text(second)
        page.keyboard.press("Alt+ArrowLeft")
        expect(page.locator("#before")).to_contain_text("You saved: Damaged.")
        page.get_by_role("button", name="Not on the image").click()
        expect(page.locator("#id")).not_to_have_text(first)
    told = read_by(folder, plan)
    assert told[first, "title"] == {"anna": None}
    assert told[second, "title"] == {"anna": "begun"}


def test_what_two_windows_read_is_neither_lost_nor_replaced(tmp_path, folder, visit):
    plan = write_plan(tmp_path / "plan", [("b1", "title"), ("b2", "title")])
    with serving_check(folder, plan) as served:
        one, other = visit(served), visit(served)
        item = item_of(one)
        read(one, "Faust")
        other.locator("#reading").fill("Urfaust")
        other.keyboard.press("Enter")
        expect(other.locator("#message")).to_contain_text("Another window")
        expect(other.locator("#id")).to_have_text(item)
        expect(other.locator("#before")).to_contain_text("You saved: Faust.")
        expect(other.locator("#reading")).to_have_value("Urfaust")
        assert read_by(folder, plan)[item, "title"] == {"anna": "Faust"}
        other.get_by_role("button", name="Keep it").click()
        expect(other.locator("#id")).not_to_have_text(item)
        other.locator("#back").click()
        expect(other.locator("#id")).to_have_text(item)
        read(other, "Urfaust")
    assert read_by(folder, plan)[item, "title"] == {"anna": "Urfaust"}


@pytest.mark.nightly
@pytest.mark.parametrize("height", [844, 360])  # the lower one has a keyboard below it
def test_on_a_phone_field_and_buttons_are_always_seen(tmp_path, folder, visit, height):
    plan = write_plan(tmp_path / "plan", [("b1", "title"), ("b2", "text"), ("b3", "keywords")])
    with serving_check(folder, plan) as served:
        page = visit(served, width=390, height=height, has_touch=True, is_mobile=True)
        for number in range(3):
            expect(page.locator("#progress")).to_contain_text(f"Value {number + 1} of 3")
            for each in ("#label", "#reading", "#save", "#nothing", "#unreadable", "#damaged"):
                box = page.locator(each).bounding_box()
                assert box["y"] + box["height"] <= height, each
                assert box["x"] >= 0, each
                assert box["x"] + box["width"] <= 390, each
            view = page.locator("#view").bounding_box()
            assert view["height"] > 50
            assert view["y"] + view["height"] <= page.locator("#label").bounding_box()["y"]
            assert page.evaluate("document.documentElement.scrollHeight") <= height
            page.locator("#nothing").tap()


@pytest.mark.parametrize(
    "shown",
    [pytest.param((1280, "light", "en-GB"), marks=pytest.mark.nightly), (390, "dark", "de-DE")],
)
def test_the_page_is_accessible_and_german_is_complete(tmp_path, folder, visit, shown):
    width, scheme, language = shown
    plan = write_plan(tmp_path / "plan", [("b1", "keywords"), ("b2", "keywords")], learned=False)
    names = words([str(SCHEMA).replace("{", " "), "anna ben cards"])
    found = []

    def look(page, state):
        page.evaluate(
            "Promise.allSettled(document.getAnimations().filter((each) => "
            "each.effect.getTiming().iterations < 9).map((each) => each.finished))"
        )
        for each in Axe().run(page).response["violations"]:
            found.append((state, each["id"], [node["target"] for node in each["nodes"]]))
        if language == "de-DE":
            walk = Walk(page)
            walk.see(state)
            found.extend(
                (text, wrong - names) for text, wrong in walk.left.items() if wrong - names
            )
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    fails = plan.with_name("fails")
    with serving_check(folder, plan, "ben") as bens, serving_check(folder, plan, "dora") as doras:
        page = visit(bens, width=width, color_scheme=scheme, language=language, complains=[REFUSED])
        dora = visit(doras)
        assert page.evaluate("document.documentElement.lang") == language[:2]
        look(page, "value")
        page.keyboard.press("Enter")
        expect(page.locator("#message")).not_to_be_empty()
        page.locator("#save").hover()
        look(page, "nothing entered")
        read(page, "Diss.")
        page.locator("#back").click()
        expect(page.locator("#before")).not_to_be_empty()
        look(page, "saved before")
        page.locator("#damaged").click()
        expect(page.locator("#before")).to_be_empty()
        page.locator("#back").click()
        expect(page.locator("#before")).not_to_be_empty()
        look(page, "damaged")
        read(dora, "Basel")
        page.locator("#unreadable").click()
        go_on = page.locator("#go-on")
        look(page, "waiting")
        fails.touch()
        go_on.click()
        expect(page.locator("#between-text")).to_contain_text("answers.jsonl")
        look(page, "problem")
        fails.unlink()
        go_on.click()
        expect(page.locator("#learning")).to_be_visible()
        look(page, "learning")
        plan.with_name("learned").touch()
        expect(page.locator("#message")).not_to_be_empty()
        look(page, "next values")
        read(page, "Faust")
        expect(page.locator("#command")).to_be_visible()
        look(page, "end")
    assert [each for each in found if each[1]] == []


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_unsaved_value_stays_in_the_page_until_there_is_room(tmp_path, browser, form):
    with small_disk(tmp_path / "disk", form) as disk:
        folder = write_collection(disk.folder / "cards", [None] * 3)
        plan = write_plan(tmp_path / "plan", [(f"b{number}", "text") for number in range(1, 4)])
        served = ServedCheck(folder, plan, "anna")
        with ended(served):
            page = browser.new_page(locale="en-GB")
            page.goto(served.url)
            expect(page.locator("#id")).not_to_be_empty()
            read(page, "Faust")
            item = item_of(page)
            disk.fill(process=served.process.pid)
            page.locator("#reading").fill("x" * 5_000)
            page.keyboard.press("Enter")
            expect(page.locator("#saving")).to_have_attribute("data-state", "refused")
            expect(page.locator("#message")).to_contain_text("make room")
            expect(page.locator("#reading")).to_have_value("x" * 5_000)
            assert (item, "text") not in read_by(folder, plan)
            disk.make_room()
            page.keyboard.press("Enter")
            expect(page.locator("#id")).not_to_have_text(item)
        assert read_by(folder, plan)[item, "text"] == {"anna": "x" * 5_000}


@pytest.mark.nightly
def test_seconds_are_those_on_screen_and_in_use(tmp_path, folder, visit_at):
    plan = write_plan(tmp_path / "plan", [("b1", "title"), ("b2", "title")])
    with serving_check(folder, plan) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)").context.new_page()
        page.clock.install()
        page.goto(served.url)
        expect(page.locator("#reading")).to_be_visible()
        page.clock.run_for(30_000)
        page.locator("#reading").press("F")
        page.clock.run_for(121_000)  # a pause
        page.locator("#reading").press("a")
        page.clock.run_for(15_000)
        for state in ("hidden", "visible"):
            page.evaluate(SHOWN, state)
            page.clock.run_for(60_000 if state == "hidden" else 0)
        read(page, "Faust")
    [line] = (folder / "people/anna.jsonl").read_text().splitlines()
    # The clock that is set forward goes on by itself too, while the browser is slow.
    assert 45 <= json.loads(line)["seconds"] < 100
