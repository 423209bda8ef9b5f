"""A work list in a real browser: candidates side by side, and values decided at once."""

import random
from threading import Timer

import pytest
from annotating.pages import SCHEMA, with_home
from annotating.working.decisions import decision
from annotating.working.lists import ServedWork, prepared, serving
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from helpers.small_disk import FORMS, small_disk
from playwright.sync_api import expect
from space.german import Walk

from hdbench.annotating.working.worked_values import WorkedValues

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=\"document.title='attacked'\"><b>bold</b>"
PLACES = ["Basel", "basel", "Basel", "Basle", "Bern"]


@pytest.fixture
def folder(tmp_path):
    told = {f"b{n}": {"imprint.place": [place]} for n, place in enumerate(PLACES, start=1)}
    told["b1"] = {
        "title": ["Die Hausstrafe", "Die Hunusstrafe", "Die Hausstrafe"],
        "year": [1938, None, 1988],
        "text": [HOSTILE, HOSTILE],
        **told["b1"],
    }
    return prepared(tmp_path, told, kind="book", signed=None)


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        page = visit_at(served.url, awaited="#id:not(:empty)", **options)
        page.locator(".doubt").first.wait_for()
        return page

    return visit


def saved(folder):
    """Item and field → what was decided."""
    found = WorkedValues(folder.parent / "out").current()
    return {(*key,): line.value for key, line in found.items()}


def field(page, name):
    return page.get_by_role("region", name=name, exact=True)


def is_saved(page, done):
    expect(page.locator("#progress")).to_contain_text(f"{done} of ")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def test_what_was_entered_in_a_table_stands_in_the_field(folder, visit):
    entered = decision("b1", "Hausstrafen", how="table")
    chosen = decision("b1", 1938, field="year", how="table", run="one")
    worked = WorkedValues(folder.parent / "out")
    worked.add([entered])
    worked.add([chosen])
    with serving(folder) as served:
        page = visit(served)
        expect(field(page, "Title").get_by_role("textbox")).to_have_value("Hausstrafen")
        year = field(page, "Year")
        expect(year.get_by_role("textbox")).to_have_value("")
        expect(year.locator(".choice").first).to_have_attribute("aria-pressed", "true")


def test_a_card_takes_one_key_for_each_value(folder, visit):
    with serving(folder) as served:
        page = visit(served)
        keys = page.keyboard
        expect(page.locator("#progress")).to_have_text("0 of 8 values decided")
        title = field(page, "Title")
        first, second, absent = title.locator(".choice").all()
        expect(first).to_be_focused()
        expect(first).to_have_text("1Die Hausstrafeone, three")
        assert [each.inner_text() for each in second.locator("mark").all()] == ["un"]
        expect(absent).to_have_text("0Not on the image")
        expect(page.locator("#settled")).to_have_text("KindbookacceptedSignednothingaccepted")

        keys.press("2")
        is_saved(page, 1)
        expect(title).to_contain_text("✓ Decided by anna")
        expect(second).to_have_attribute("aria-pressed", "true")
        expect(field(page, "Year").locator(".choice").first).to_be_focused()
        keys.press("0")
        is_saved(page, 2)
        expect(field(page, "Transcription").locator(".choice .text")).to_have_text(HOSTILE)
        keys.type("abc")
        keys.press("Enter")
        is_saved(page, 3)
        keys.press("1")
        is_saved(page, 4)
        assert saved(folder) == {
            ("b1", "title"): "Die Hunusstrafe",
            ("b1", "year"): None,
            ("b1", "text"): "abc",
            ("b1", "imprint.place"): "Basel",
        }
        expect(page.locator("#card-done")).to_have_text("All values of this card are decided.")
        keys.press("Control+z")
        is_saved(page, 3)
        expect(field(page, "Imprint › Place").locator(".choice").first).to_be_focused()
        keys.press("1")
        is_saved(page, 4)
        expect(page.locator("#go-on")).to_be_focused()
        keys.press("Enter")
        expect(page.locator("#id")).to_have_text("b2")
        assert "attacked" not in page.title()


def test_values_that_come_back_are_decided_and_undone_at_once(folder, visit):
    with serving(folder) as served:
        page = visit(served)
        page.get_by_role("button", name="Values that come back").click()
        listed = page.locator("#list button")
        expect(listed).to_have_text(["Imprint › PlaceBasel4 open, 3 spellings"])
        expect(page.locator("#shown-cards img")).to_have_count(4)
        page.get_by_role("checkbox", name="b3").uncheck()
        page.get_by_role("radio", name="Another value").check()
        page.locator("#for-all").fill("Basel BS")
        page.get_by_role("button", name="Save for 3 values").click()
        expect(page.locator("#message")).to_have_text(
            "Saved for 3 values: Imprint › Place: Basel BS"
        )
        assert saved(folder) == {(item, "imprint.place"): "Basel BS" for item in ("b1", "b2", "b4")}
        expect(page.locator("#listed-text")).to_have_text("No open value comes back.")
        page.get_by_role("button", name="Undo: Imprint › Place: Basel BS (for 3 values)").click()
        expect(page.locator("#message")).to_contain_text("Taken back for 3 values")
        expect(listed).to_have_text(["Imprint › PlaceBasel4 open, 3 spellings"])
        assert saved(folder) == {}


def unseeing(page):
    """From now on, this page does not see by itself what others decide."""
    page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })")


def test_what_is_typed_outlives_what_others_decide(tmp_path, visit):
    places = ["Basel", "Basel", "Bern", "Bern"]
    told = {f"b{n}": {"imprint.place": [place]} for n, place in enumerate(places, start=1)}
    told["b1"]["year"] = [1938, 1988]
    folder = prepared(tmp_path, told)
    with serving(folder) as annas, serving(folder, "ben") as bens:
        anna, ben = visit(annas), visit(bens)
        unseeing(anna)
        field(ben, "Year").locator(".choice").first.click()
        is_saved(ben, 1)
        typed = anna.locator("#typed-1")
        typed.fill("1939")
        typed.press("Enter")
        expect(anna.locator("#message")).to_have_text("ben decided this meanwhile: 1938")
        typed.focus()
        anna.locator("#title").click()  # leaving the field does not overrule Ben
        expect(typed).to_have_value("1939")
        expect(field(anna, "Year").locator(".problem")).to_contain_text(
            "ben decided this meanwhile: 1938. What you typed is not saved"
        )
        assert saved(folder) == {("b1", "year"): 1938}
        typed.press("Enter")
        expect(field(anna, "Year")).to_contain_text("✓ Decided by anna")
        expect(field(anna, "Year").locator(".problem")).to_be_empty()
        assert saved(folder) == {("b1", "year"): 1939}

        anna.locator("#recurring").click()
        basel = anna.locator("#list button", has_text="Basel")
        basel.click()
        anna.locator("#for-all").fill("Basel BS")
        anna.locator("#list button", has_text="Bern").click()
        expect(anna.get_by_role("checkbox", name="b3")).to_be_visible()
        expect(anna.locator("#for-all")).to_have_value("")
        basel.click()
        expect(anna.locator("#for-all")).to_have_value("Basel BS")
        for number in (1, 2):
            field(ben, "Imprint › Place").locator(".choice").first.click()
            is_saved(ben, 1 + number)
            ben.locator("#next").click()
        anna.locator("#save-for").click()
        expect(anna.locator("#message")).to_contain_text("decided elsewhere")
        expect(anna.locator("#for-all")).to_have_value("Basel BS")
        expect(anna.locator("#shown-cards")).to_contain_text("✓ Basel · ben")
        with anna.expect_event("dialog") as asked:
            anna.close(run_before_unload=True)
        assert asked.value.type == "beforeunload"
        asked.value.dismiss()


@pytest.mark.nightly
def test_clusters_that_fail_say_why_and_are_asked_for_once(tmp_path, visit_at):
    folder = prepared(tmp_path, {"b1": {"title": ["Faust"]}}, "there is no such item")
    with serving(folder, language="de") as served:
        page = visit_at(served.url, awaited="#id:not(:empty)").context.new_page()
        page.clock.install()
        page.goto(served.url)
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.locator("#recurring").click()
        expect(page.locator("#listed-text")).to_have_text("Diesen Eintrag gibt es nicht")
        asked.clear()
        page.clock.run_for(60_000)
        assert not [each for each in asked if each.endswith("/clusters")]


def test_a_list_that_is_done_leads_to_its_home(tmp_path, visit):
    folder = prepared(tmp_path, {"b1": {"title": ["Faust"]}})
    with serving(folder) as served:
        page = with_home(visit(served))
        expect(page.locator("#home-next")).to_be_hidden()
        expect(page.locator(".choice").first).to_be_focused()
        page.keyboard.press("1")
        expect(page.locator("#home-next")).to_be_visible()


@pytest.mark.nightly
def test_two_people_see_each_others_work_and_overwrite_nothing(folder, visit):
    with serving(folder) as annas, serving(folder, "ben") as bens:
        anna, ben = visit(annas), visit(bens)
        anna.keyboard.press("1")
        is_saved(anna, 1)
        ben.locator("#typed-1").fill("19")  # what Ben types stays while Anna's work appears
        expect(field(ben, "Title")).to_contain_text("✓ Decided by anna")
        expect(ben.locator("#typed-1")).to_have_value("19")
        expect(ben.locator("#typed-1")).to_be_focused()
        expect(ben.locator("#progress")).to_have_text("1 of 8 values decided")
        # Anna decides before her page has seen what Ben decided.
        unseeing(anna)
        ben.keyboard.type("38")
        ben.keyboard.press("Enter")
        is_saved(ben, 2)
        field(anna, "Year").locator(".choice").last.click()
        expect(anna.locator("#message")).to_have_text("ben decided this meanwhile: 1938")
        expect(field(anna, "Year")).to_contain_text("✓ Decided by ben")
        assert saved(folder)["b1", "year"] == 1938
        field(anna, "Year").locator(".choice").last.click()
        is_saved(anna, 2)
        assert saved(folder)["b1", "year"] is None

        ben.locator("#recurring").click()
        expect(ben.locator("#save-for")).to_have_text("Save for 4 values")
        ben.locator("#for-all").fill("Basel BS")
        ben.get_by_role("checkbox", name="b4").uncheck()
        anna.locator("#next").click()
        expect(anna.locator("#id")).to_have_text("b2")
        anna.keyboard.press("1")
        is_saved(anna, 3)
        expect(ben.locator("#save-for")).to_have_text("Save for 2 values")
        expect(ben.get_by_role("checkbox", name="b4")).to_be_focused()
        unseeing(ben)
        anna.locator("#previous").click()
        expect(anna.locator("#id")).to_have_text("b1")
        field(anna, "Imprint › Place").locator(".choice").last.click()
        is_saved(anna, 4)
        ben.locator("#save-for").click()
        expect(ben.locator("#message")).to_contain_text("decided elsewhere")
        expect(ben.locator("#save-for")).to_have_text("Save for 1 value")
        expect(ben.locator("#for-all")).to_have_value("Basel BS")
        ben.locator("#save-for").click()
        is_saved(ben, 5)
        assert saved(folder) == {
            ("b1", "title"): "Die Hausstrafe",
            ("b1", "year"): None,
            ("b1", "imprint.place"): None,
            ("b2", "imprint.place"): "basel",
            ("b3", "imprint.place"): "Basel BS",
        }


@pytest.mark.nightly
def test_everything_with_the_keyboard_alone(folder, visit):
    with serving(folder) as served:
        page = visit(served)
        keys = page.keyboard
        title = field(page, "Title")
        keys.press("ArrowDown")
        expect(title.locator(".choice").nth(1)).to_be_focused()
        keys.press("Tab")
        expect(title.locator("textarea")).to_be_focused()
        keys.type("dropped")
        keys.press("Escape")
        expect(title.locator("textarea")).to_have_value("")
        keys.press("F2")
        keys.type("18")
        keys.press("Alt+Digit2")
        is_saved(page, 1)
        assert saved(folder)["b1", "title"] == "Die Hunusstrafe"
        year = field(page, "Year")
        keys.press("F2")
        keys.type("18x")
        keys.press("Enter")
        expect(year.locator(".problem")).to_contain_text("Not a whole number")
        expect(year.locator("textarea")).to_be_focused()
        keys.press("Control+A")
        keys.type("1808")
        keys.press("Tab")
        is_saved(page, 2)
        assert saved(folder)["b1", "year"] == 1808
        keys.press("Alt+ArrowRight")
        expect(page.locator("#id")).to_have_text("b2")
        keys.press("Alt+ArrowLeft")
        expect(page.locator("#id")).to_have_text("b1")
        page.locator("#recurring").focus()
        keys.press("Enter")
        expect(page.locator("#save-for")).to_be_visible()
        page.locator("[name=how]").first.focus()
        keys.press("Enter")
        is_saved(page, 6)
        expect(page.locator("#undo")).to_be_focused()
        keys.press("Control+z")
        is_saved(page, 2)
        page.locator("[name=how]").first.focus()
        keys.press("Control+z")  # also where it could undo nothing else
        is_saved(page, 1)


@pytest.mark.nightly
def test_what_was_typed_stays_when_another_card_is_opened(folder, visit):
    with serving(folder) as served:
        page = visit(served)
        page.locator("#typed-1").fill("18x")
        page.locator("#next").click()
        expect(page.locator("#id")).to_have_text("b2")
        page.locator("#previous").click()
        expect(page.locator("#typed-1")).to_have_value("18x")
        page.locator("#typed-1").fill("")
        page.locator("#title").click()
    assert saved(folder) == {}


@pytest.mark.parametrize(
    "shown", [pytest.param((1280, "light", "en"), marks=pytest.mark.nightly), (390, "dark", "de")]
)
def test_the_page_is_accessible_and_german_is_complete(folder, visit, shown):
    width, scheme, language = shown
    names = words([str(SCHEMA).replace("{", " "), "anna cards one two three bold onerror document"])
    found = []

    def look(page, state):
        page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
        for each in Axe().run(page).response["violations"]:
            found.append((state, each["id"], [node["target"] for node in each["nodes"]]))
        if language == "de":
            walk = Walk(page)
            walk.see(state)
            found.extend(
                (text, wrong - names) for text, wrong in walk.left.items() if wrong - names
            )
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    with serving(folder, "anna", language) as served:
        page = visit(served, width=width, height=844, color_scheme=scheme)
        look(page, "open")
        page.keyboard.press("1")
        expect(page.locator(".doubt.decided")).to_have_count(1)
        page.locator("#typed-1").fill("x")
        page.keyboard.press("Enter")
        expect(page.locator("[aria-invalid=true]")).to_be_visible()
        look(page, "decided, and wrong")
        page.keyboard.press("Escape")
        for number in range(3):
            page.keyboard.press("0")
            expect(page.locator(".doubt.decided")).to_have_count(number + 2)
        expect(page.locator("#card-done")).not_to_be_empty()
        look(page, "done")
        page.locator("#recurring").click()
        expect(page.locator("#shown-cards img").first).to_be_visible()
        page.locator("#shown-cards input:enabled").first.uncheck()
        look(page, "values that come back")
        page.locator("#save-for").click()
        expect(page.locator("#message")).not_to_be_empty()
        look(page, "saved together")
    assert [each for each in found if each[1]] == []


ALL_DONE = "All values of this list are decided."

# What became of the card: nothing yet, no answer, or another one is shown, unless it is the last.
LEFT = """([item, done]) => {
  const isSilent = document.getElementById("message").textContent.includes("does not answer");
  const isLeft = document.getElementById("id").textContent !== item
    || document.getElementById("card-done").textContent === done;
  return isLeft ? "left" : isSilent && "silent";
}"""


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_killed_servers_lose_no_saved_value(tmp_path, browser, seed):
    told = {f"b{number}": {"title": [f"title {number}"]} for number in range(1, 41)}
    folder = prepared(tmp_path, told)
    rng, decided = random.Random(seed), set()
    while len(saved(folder)) < 40:
        served = ServedWork(folder)
        page = browser.new_page(locale="en-GB")
        page.goto(served.url)
        page.locator(".doubt").first.wait_for()
        killer = Timer(rng.uniform(0.2, 2), served.process.kill)
        killer.start()
        while page.locator("#card-done").inner_text() != ALL_DONE:
            item = page.locator("#id").inner_text()
            page.keyboard.press("1")
            page.keyboard.press("Enter")  # on the button that opens the next card
            state = page.wait_for_function(LEFT, arg=[item, ALL_DONE]).json_value()
            if state == "silent":
                break
            decided.add(item)
        killer.join()
        assert served.process.wait(timeout=120) == -9
        page.close()
        assert decided <= {item for item, _ in saved(folder)}
    assert saved(folder) == {(item, "title"): said["title"][0] for item, said in told.items()}


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_unsaved_value_stays_in_the_page_until_there_is_room(tmp_path, browser, form):
    with small_disk(tmp_path / "disk", form) as disk:
        folder = prepared(disk.folder / "work", {"b1": {"text": ["a"]}, "b2": {"text": ["b"]}})
        with serving(folder) as served:
            page = browser.new_page(locale="en-GB")
            page.goto(served.url)
            page.locator("#typed-0").fill("Faust")
            page.keyboard.press("Enter")
            is_saved(page, 1)
            disk.fill(process=served.process.pid) if form == "limited" else disk.fill()
            page.locator("#next").click()
            expect(page.locator("#id")).to_have_text("b2")
            page.locator("#typed-0").fill("x" * 5_000)
            page.keyboard.press("Enter")
            expect(page.locator("#saving")).to_have_attribute("data-state", "refused")
            expect(page.locator("#message")).to_contain_text("make room")
            expect(page.locator("#typed-0")).to_have_value("x" * 5_000)
            disk.make_room()
            page.locator("#typed-0").focus()
            page.keyboard.press("Enter")
            is_saved(page, 2)
            page.close()
        assert saved(folder) == {("b1", "text"): "Faust", ("b2", "text"): "x" * 5_000}
