"""Second looks in a real browser: blind on the wire, and saved at once."""

import json

import httpx
import pytest
from annotating.pages import Served, serving, write_collection
from annotating.reviews import entry, write_list
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from hdbench.annotating.reviewing.accepted import outcome_of
from hdbench.annotating.reviewing.looks import ReviewLog
from hdbench.annotating.reviewing.review_list import read_review_list

pytestmark = pytest.mark.slow

SCRIPT = "<img src=x onerror=\"document.title='attacked'\"><b>bold</b>"
TITLE = entry("b1", "title", "Fausst I", "Faust Zwei")
YEAR = entry("b2", "year", 1808, 1808, "control")
NAME = entry("b1", "persons[1].name", SCRIPT, None)
SECRETS = ("Fausst I", "Faust Zwei", "1808", "onerror", "finding", "control")


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards", [{"title": "Fausst I"}, {"year": 1808}])


@pytest.fixture
def path(tmp_path):
    return write_list(tmp_path / "review.jsonl", TITLE, YEAR, NAME)


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        return visit_at(served.url, awaited="#label:not(:empty)", **options)

    return visit


def saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def test_nothing_is_shown_before_the_reading_is_saved(folder, path, browser):
    with serving(folder, "--as", "anna", review=path) as served:
        page = browser.new_page(locale="en-GB")
        received = []

        def receive(response):  # the browser's driver takes no method of a list
            received.append(response)

        page.on("response", receive)
        page.goto(served.url)
        expect(page.locator("#label")).to_have_text("Title")
        expect(page.locator("#view img")).to_have_attribute("src", "entries/0/pages/0")
        for label in ("Year", "Persons 2 › Name"):
            page.keyboard.press("Alt+ArrowRight")
            expect(page.locator("#label")).to_have_text(label)
        page.keyboard.press("Alt+ArrowLeft")
        expect(page.locator("#label")).to_have_text("Year")
        page.keyboard.press("Alt+ArrowLeft")
        expect(page.locator("#label")).to_have_text("Title")
        bodies = [each.text() for each in received if "/pages/" not in each.url]
        data = [body for body in bodies if body.startswith("{")]
        assert len(data) > 3
        for secret in SECRETS:
            assert not [body for body in data if secret in body.partition('"texts"')[0]], secret
        texts = json.loads(next(body for body in data if '"texts"' in body))
        assert texts["entries"] == ["open"] * 3

        page.get_by_role("textbox", name="What stands here?").fill("Faust I")
        page.keyboard.press("Enter")
        expect(page.locator("#values")).to_contain_text("Fausst I")
        expect(page.locator("#values")).to_contain_text("Faust Zwei  (9 of 14 good models)")
        expect(page.locator("#values mark")).to_have_text(["s", "I", "Zwei"])
        expect(page.locator("#blind")).to_have_text("You read it blind.")
        # It is on the disk, also if the server is killed now.
        assert ReviewLog(path).of(TITLE.key, "anna").reading.blind
        page.close()


def test_what_the_server_answers_is_no_oracle(folder, path):
    """Not even whether a guess is right can be found out before a reading is saved."""
    with (
        serving(folder, review=path) as served,
        httpx.Client(base_url=served.url, timeout=120) as client,
    ):
        for guess in ("Fausst I", "Faust"):
            said = {"verdict": "slip", "new": guess, "evidence": "x", "after": None}
            answer = client.post("entries/0/judge", json=said)
            assert (answer.status_code, answer.json()) == (400, {"error": "read the value first"})
        answer = client.post("entries/0/undo", json={"after": None})
        assert answer.json() == {"error": "there is nothing to take back"}
        assert client.get(f"../{path.name}").status_code == 404
    assert ReviewLog(path).all_of("me") == {}


def test_slip_with_evidence_survives_kill_and_can_be_undone(folder, path, browser):
    served = Served(folder, "--as", "anna", review=path)
    page = browser.new_page(locale="en-GB")
    page.goto(served.url)
    page.get_by_role("textbox", name="What stands here?").fill("Faust I")
    page.get_by_role("button", name="Save reading").click()
    page.get_by_label("A slip in the ground truth").check()
    page.get_by_role("button", name="Save verdict").click()
    expect(page.locator("#message")).to_contain_text("A slip needs evidence")
    expect(page.get_by_label("The right value")).to_have_value("Faust I")
    page.get_by_label("What shows it").fill("the card has Faust I")
    page.get_by_role("button", name="Save verdict").click()
    saved(page)
    assert served.kill() == -9
    page.close()

    with serving(folder, "--as", "anna", review=path) as again:
        [accepted] = outcome_of(read_review_list(path), ReviewLog(path)).accepted
        assert (accepted.new, accepted.evidence, accepted.blind) == (
            *("Faust I", "the card has Faust I"),
            True,
        )
        page = browser.new_page(locale="en-GB")
        page.goto(again.url)
        expect(page.locator("#progress")).to_have_text("2 of 3; 1 done")  # the first that is open
        page.get_by_role("button", name="Previous").click()
        expect(page.get_by_label("A slip in the ground truth")).to_be_checked()
        undo = page.get_by_role("button", name="Undo")
        undo.click()
        expect(page.get_by_label("A slip in the ground truth")).not_to_be_checked()
        undo.click()
        expect(page.locator("#hint")).to_contain_text("not blind")
        page.get_by_role("textbox", name="What stands here?").fill("Faust")
        page.keyboard.press("Enter")
        expect(page.locator("#blind")).to_contain_text("after the values had been shown")
        page.close()
    assert not ReviewLog(path).of(TITLE.key, "anna").reading.blind
    assert outcome_of(read_review_list(path), ReviewLog(path)).accepted == []


def test_with_the_keyboard_alone_and_html_stays_text(folder, path, visit):
    with serving(folder, "--as", "anna", review=path) as served:
        page = visit(served)
        page.keyboard.press("Alt+ArrowRight")
        expect(page.locator("#label")).to_have_text("Year")
        page.keyboard.type("18o8")
        page.keyboard.press("Enter")
        expect(page.locator("#message")).to_contain_text("Not a whole number")
        page.keyboard.press("Control+A")
        page.keyboard.type("1808")
        page.keyboard.press("Enter")
        expect(page.locator("#confirmed")).to_contain_text("nothing to judge")
        expect(page.locator("#progress")).to_have_text("2 of 3; 1 done")
        page.keyboard.press("Enter")  # on "next", which has the focus
        expect(page.locator("#label")).to_have_text("Persons 2 › Name")
        page.keyboard.type(SCRIPT[::-1])
        page.keyboard.press("Enter")
        expect(page.locator("#values")).to_contain_text(SCRIPT)
        page.keyboard.type("14")  # a single key chooses nothing
        assert page.locator("#verdicts input:checked").count() == 0
        page.keyboard.press("Alt+2")
        page.keyboard.type(SCRIPT)
        page.keyboard.press("Enter")
        saved(page)
        assert "attacked" not in page.title()
        assert page.locator("#record b").count() == 0
    look = ReviewLog(path).of(NAME.key, "anna")
    assert (look.verdict.verdict, look.verdict.evidence) == ("convention", SCRIPT)
    assert ReviewLog(path).of(YEAR.key, "anna").reading.value == 1808


def test_two_windows_of_one_person_overwrite_nothing(folder, path, visit):
    with serving(folder, review=path) as served:
        one, other = visit(served), visit(served)
        one.get_by_role("textbox", name="What stands here?").fill("Faust")
        one.keyboard.press("Enter")
        saved(one)
        other.get_by_role("textbox", name="What stands here?").fill("Urfaust")
        other.keyboard.press("Enter")
        expect(other.locator("#message")).to_contain_text("Another window")
        expect(other.locator("#message")).to_contain_text("was not saved: Urfaust")
        expect(other.locator("#values")).to_contain_text("Faust")
    assert ReviewLog(path).of(TITLE.key, "me").reading.value == "Faust"


def test_long_values_hide_nothing_on_a_phone(folder, tmp_path, visit):
    long = " ".join(["Faust der Tragödie"] * 30)
    values = (entry("b1", "title", long, "Faust"), entry("b2", "title", long, long, "control"))
    with serving(folder, review=write_list(tmp_path / "long.jsonl", *values)) as served:
        page = visit(served, width=390, height=700, language="de-DE")
        page.locator("#reading").fill("Urfaust")
        page.keyboard.press("Enter")
        page.get_by_label("Ein Fehler der Referenz").check()
        page.get_by_role("button", name="Urteil speichern").click()
        expect(page.locator("#message")).to_be_in_viewport(ratio=1)
        expect(page.locator("#evidence")).to_be_focused()
        assert page.locator("#saving").bounding_box()["height"] < 30  # its word stands on one line
        page.keyboard.type("auf der Karte")
        page.keyboard.press("Enter")
        saved(page)
        expect(page.locator(".foot .first:visible")).to_have_text("Nächste offene")
        page.locator("#next-open").click()
        page.locator("#reading").fill(long)
        page.keyboard.press("Enter")
        expect(page.locator("#confirmed")).not_to_be_empty()
        found = Axe().run(page)  # also that the keyboard scrolls what has no field
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize(
    "shown",
    [pytest.param((1280, "light", "en-GB"), marks=pytest.mark.nightly), (420, "dark", "de-DE")],
)
def test_the_page_is_accessible(folder, path, visit, shown):
    width, scheme, language = shown
    with serving(folder, review=path) as served:
        page = visit(served, width=width, color_scheme=scheme, language=language)
        assert page.evaluate("document.documentElement.lang") == language[:2]
        for button in ("#save-reading", "#save-verdict"):
            page.locator(button).hover()
            page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
            colours = (
                "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
            )
            text, ground = page.locator(button).evaluate(colours)
            assert text != ground  # axe passes over text in the colour of its ground
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            if page.locator("#reading").is_visible():
                page.locator("#reading").fill("Faust")
                page.keyboard.press("Enter")
                page.locator("#verdicts input").first.check()
                expect(page.locator("#new")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
