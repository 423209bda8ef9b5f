"""The editor in a real browser."""

import json
import re
import shutil

import httpx
import pytest
from annotating.killed_typing import kill_while_typing
from annotating.pages import SCHEMA, serving, truths, with_home, write_collection
from playwright.sync_api import expect

from hdbench.collections.truth.store import Store

pytestmark = pytest.mark.slow

LOADED = """(count) => [...document.querySelectorAll("#found-items img")]
  .filter((each) => each.naturalWidth).length === count"""

SCRIPT = "<img src=x onerror=\"document.title='attacked'\"><b>bold</b>"


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        return visit_at(served.url, awaited="#id:not(:empty)", **options)

    return visit


def saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


@pytest.mark.nightly
def test_what_was_shown_as_saved_is_there_whatever_is_killed(tmp_path, browser):
    """More of it in tests/speed/annotate_kills.py."""
    kills = [(1, "server"), (2, "browser")]
    saved = [
        kill_while_typing(write_collection(tmp_path / str(seed)), browser.browser_type, seed, what)
        for seed, what in kills
    ]
    assert all(saved)


def test_two_windows_on_one_item(tmp_path, visit):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust", "year": 1808}])
    with serving(folder) as served:
        one, other = visit(served), visit(served)
        one.get_by_label("Year").fill("1809")
        one.keyboard.press("Tab")
        saved(one)
        other.get_by_label("Title").fill("Urfaust")  # another field: no conflict
        other.keyboard.press("Tab")
        saved(other)
        expect(other.get_by_label("Year")).to_have_value("1809")

        one.get_by_label("Title").fill("Faust I")
        one.keyboard.press("Tab")
        dialog = one.get_by_role("dialog")
        expect(dialog.locator("#mine")).to_have_text("Faust I")
        expect(dialog.locator("#other")).to_have_text("Urfaust")
        dialog.get_by_role("button", name="Take mine").click()
        saved(one)

        other.get_by_label("Title").fill("Faust III")
        other.keyboard.press("Tab")
        other.get_by_role("button", name="Take the other").click()
        saved(other)
        expect(other.get_by_label("Title")).to_have_value("Faust I")
    assert truths(folder)["b1"] == {"title": "Faust I", "year": 1809}
    said = (folder / "people/me.jsonl").read_text()
    assert "Urfaust" in said  # what was overruled is kept
    assert "Faust III" not in said


def test_disagreement_shows_both_values_and_one_can_be_chosen(tmp_path, visit):
    persons = [{"name": "Frey", "roles": []}]
    for name, value in (("anna", "May"), ("ben", "Mai")):
        folder = write_collection(tmp_path / name, [{"title": "Faust", "persons": persons}])
        with Store(folder, name) as store:
            after = store.state("b1").head["ground_truth"]
            store.change("b1", "ground_truth", "persons[0].name", value, after=after, how="blind")
    shutil.copy(folder / "people/ben.jsonl", tmp_path / "anna/people")
    with serving(tmp_path / "anna", "--as", "anna") as served:
        page = visit(served)
        region = page.locator(".settle")
        expect(region.get_by_role("heading").first).to_have_text("People disagree: Persons")
        mai = region.locator(".pair > div", has_text="ben")
        expect(mai.locator("pre")).to_contain_text("Mai")
        mai.get_by_role("button", name="Take what ben entered").click()
        expect(region).to_have_count(0)
        expect(page.get_by_label("Name")).to_have_value("Mai")
    assert truths(tmp_path / "anna")["b1"]["persons"] == [{"name": "Mai", "roles": []}]


def test_html_in_values_names_and_comments_is_text(tmp_path, visit):
    hostile = {"title": SCRIPT, "persons": [{"name": SCRIPT, "roles": [SCRIPT]}], SCRIPT: SCRIPT}
    folder = write_collection(tmp_path / "cards", [hostile, None], [SCRIPT, "b2"])
    schema = json.loads(json.dumps(SCHEMA))
    schema["properties"]["text"]["title"] = SCRIPT
    schema["properties"]["kind"]["enum"] = [SCRIPT, None]
    schema["properties"]["__proto__"] = {"type": ["string", "null"], "title": "Proto"}
    (folder / "answer.schema.json").write_text(json.dumps(schema))
    drafts = tmp_path / "drafts.jsonl"
    rows = [{"id": "b2", "model": SCRIPT, "prediction": hostile}]
    drafts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(folder, "--drafts", drafts) as served:
        page = visit(served)
        assert page.locator("#id").inner_text() == SCRIPT
        expect(page.get_by_label("Title", exact=True)).to_have_value(SCRIPT)
        expect(page.get_by_label(SCRIPT, exact=True).first).to_be_visible()
        page.get_by_label("Comment", exact=True).fill(SCRIPT)
        page.get_by_label("Proto").fill("x")
        page.get_by_label("Kind").select_option(SCRIPT)
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.locator("#id")).to_have_text("b2")
        page.get_by_role("button", name="Fill in the draft of").click()
        expect(page.get_by_label("Title", exact=True)).to_have_value(SCRIPT)
        page.get_by_role("button", name="Items").click()
        page.get_by_label("Search").fill("nowhere")
        expect(page.locator("#found")).to_have_text("0 found")
        page.get_by_label("Search").fill("onerror")
        expect(page.locator("#found-items button").first).to_contain_text(SCRIPT)
        assert page.locator("b, #form img, img[src=x]").count() == 0
        assert "attacked" not in page.title()
    assert truths(folder)[SCRIPT]["kind"] == SCRIPT
    assert truths(folder)[SCRIPT]["__proto__"] == "x"


def test_nested_lists_grow_move_and_shrink(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    with serving(folder) as served:
        page = visit(served)
        for number, name in enumerate(("Frey", "May", "Kant"), 1):
            page.get_by_role("button", name="Add: Persons").click()
            page.keyboard.type(name)  # the focus is in the first field of the new one
            if number == 2:
                page.get_by_role("button", name="Add: Roles").nth(1).click()
                page.keyboard.type("printer")
        page.get_by_role("button", name="Move Persons 3 up").click()
        page.get_by_role("button", name="Move Persons 2 up").click()
        page.get_by_role("button", name="Remove Persons 2", exact=True).click()
        page.get_by_role("button", name="Add: Keywords").click()
        page.keyboard.type("Diss")
        page.get_by_label("Place").fill("Basel")
        page.get_by_label("Transcription").fill("Erste\nZweite\nDritte\nVierte")
        expect(page.locator(".numbers")).to_have_text("1\n2\n3\n4")
        page.get_by_label("Year").fill("neunzehn")
        page.keyboard.press("Tab")
        expect(page.get_by_role("alert").filter(has_text="Not a whole number")).to_be_visible()
        page.get_by_label("Year").fill("1919")
        page.get_by_label("Signed").select_option("yes")
        saved(page)
        page.get_by_label("Signed").select_option("–")  # blank again
        saved(page)
    assert truths(folder)["b1"] == {
        "title": None,
        "kind": None,
        "year": 1919,
        "signed": None,
        "imprint": {"place": "Basel"},
        "keywords": ["Diss"],
        "persons": [{"name": "Kant", "roles": []}, {"name": "May", "roles": ["printer"]}],
        "text": "Erste\nZweite\nDritte\nVierte",
    }


def test_values_in_a_line_are_pasted_moved_and_removed_by_keys(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    with serving(folder) as served:
        page = visit(served)
        keys = page.keyboard
        page.get_by_label("Comment", exact=True).fill("Diss; Basel ;\nBern")
        for key in ("Control+A", "Control+X"):
            keys.press(key)
        page.get_by_role("button", name="Add: Keywords").click()
        keys.press("Control+V")
        expect(page.get_by_label("Keywords 3", exact=True)).to_have_value("Bern")
        for _ in range(3):  # it cannot be moved further than to the start
            keys.press("Alt+ArrowUp")
        keys.press("Enter")
        keys.type("Wien")
        keys.press("Enter")
        keys.press("Backspace")
        keys.press("Alt+ArrowUp")
        page.get_by_role("button", name="Remove Keywords 2").click()
        saved(page)
        page.get_by_label("Title", exact=True).fill("a \n b")  # a field of one line has no others
        keys.press("Enter")
        saved(page)
    assert truths(folder)["b1"]["keywords"] == ["Bern", "Wien", "Basel"]
    assert truths(folder)["b1"]["title"] == "a b"


def test_one_button_leads_to_the_next_item_and_to_what_is_left(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    with serving(folder) as served:
        page = visit(served)
        page.get_by_role("button", name="Don't show this again").click()
        page.reload()
        expect(page.locator("#id")).to_have_text("b1")
        expect(page.locator("#hint")).to_be_hidden()
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.locator("#id")).to_have_text("b2")
        page.locator("#more").press("Enter")
        expect(page.locator("#menu")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.locator("#status [value=open]")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#menu")).to_be_hidden()
        expect(page.locator("#more")).to_be_focused()
        done = page.get_by_role("button", name="Done, next")
        done.click()
        expect(page.locator("#id")).to_have_text("b3")
        done.click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("That was the last item.")
        dialog.get_by_role("button", name="open (1)").click()
        expect(page.locator("#id")).to_have_text("b1")
        done.click()
        expect(dialog).to_contain_text("All of these items are done.")
        expect(dialog).to_contain_text("hdbench check")
        page.keyboard.press("Escape")
        expect(page.locator("#bar")).to_have_js_property("value", 3)
        window = with_home(page)
        for following in ("b1", "b2", "b3"):
            expect(window.locator("#id")).to_have_text(following)
            window.keyboard.press("Alt+Enter")
        link = window.get_by_role("dialog").get_by_role("link", name="To the collection")
        expect(link).to_have_attribute("href", "/home/")
        window.close()
        page.get_by_role("button", name="Items").click()
        assert "done (3)" in page.get_by_label("Status").inner_text()
        page.get_by_label("Status").select_option("all")
        expect(page.locator("#found-items img")).to_have_count(3)
        page.wait_for_function(LOADED, arg=3)


def test_drafts_are_filled_in_on_request_with_differences_marked(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    for name, year in (("one", 1808), ("two", 1809)):
        record = {"title": "Faust", "kind": "book", "year": year, "persons": []}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "b1", "prediction": record}))
    options = ["--drafts", tmp_path / "one.jsonl", "--drafts", tmp_path / "two.jsonl"]
    with serving(folder, *options) as served:
        page = visit(served)
        expect(page.get_by_label("Year")).to_have_value("")
        assert page.get_by_text("models differ").count() == 0  # nothing is given away
        page.get_by_role("button", name="Fill in the draft of two").click()
        expect(page.get_by_label("Year")).to_have_value("1809")
        expect(page.get_by_text("models differ")).to_have_count(1)
        page.get_by_label("Year").fill("1808")
        saved(page)
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.locator("#id")).to_have_text("b2")
        page.get_by_label("Title", exact=True).fill("Faust II")
        saved(page)
    lines = (folder / "people/me.jsonl").read_text().splitlines()
    assert [json.loads(line)["how"] for line in lines] == ["draft:two", "draft:two", "blind"]


def test_the_image_is_zoomed_and_turned(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    with serving(folder) as served:
        page = visit(served)
        image = page.locator("#view img")
        expect(image).to_have_attribute("alt", "Image of b1")
        expect(image).to_have_attribute("style", re.compile("scale"))  # it is there
        width, height = (image.bounding_box()[each] for each in ("width", "height"))
        page.keyboard.press("+")
        assert image.bounding_box()["width"] == pytest.approx(width * 1.25, rel=0.01)
        page.keyboard.press("r")
        turned = image.bounding_box()
        assert turned["height"] / turned["width"] == pytest.approx(width / height, rel=0.01)
        page.get_by_role("button", name="Fit").click()
        page.get_by_role("button", name="Rotate").click()
        page.get_by_role("button", name="Zoom in").click()
        assert image.bounding_box()["width"] == pytest.approx(width * 1.25, rel=0.01)
        page.get_by_label("Contrast").fill("200")
        assert page.locator("#view").evaluate("view => view.style.cssText") == "--contrast: 200%;"


def test_the_pages_of_an_item_are_turned(tmp_path, visit):
    folder = write_collection(tmp_path / "cards")
    names = ["images/card.png"] * 2
    rows = [
        {"pages_file_names": names[:pages], "id": f"b{pages}", "ground_truth": None}
        for pages in (2, 1)
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(folder) as served:
        page = visit(served)
        image, shown = page.locator("#view img"), page.locator("#page")
        expect(shown).to_have_text("page 1 of 2")
        expect(page.get_by_role("button", name="Previous page")).to_be_disabled()
        page.get_by_role("button", name="Next page").click()
        expect(shown).to_have_text("page 2 of 2")
        expect(image).to_have_attribute("src", "items/0/pages/1")
        expect(page.get_by_role("button", name="Next page")).to_be_disabled()
        page.keyboard.press("]")
        expect(shown).to_have_text("page 2 of 2")
        page.keyboard.press("[")
        expect(image).to_have_attribute("src", "items/0/pages/0")
        page.keyboard.press("]")
        page.keyboard.press("n")
        expect(image).to_have_attribute("src", "items/1/pages/0")
        expect(page.locator("#paging")).to_be_hidden()


def test_nothing_but_the_page_itself_is_served_or_heard(tmp_path):
    folder = write_collection(tmp_path / "cards")
    rows = [{"file_name": "../secret.png", "id": "b1", "ground_truth": None}]
    (folder / "metadata.jsonl").write_text(json.dumps(rows[0]) + "\n")
    (folder / "images/card.png").rename(tmp_path / "secret.png")
    change = {"what": "ground_truth", "field": "", "to": {"title": "x"}, "after": None}
    with (
        serving(folder) as served,
        httpx.Client(base_url=served.url, timeout=120) as client,
    ):
        root = served.url.rsplit("/", 2)[0]
        assert client.get(f"{root}/").status_code == 404
        assert client.get(f"{root}/start").status_code == 404
        assert client.get("start", headers={"host": "evil.example"}).status_code == 400
        asked = [
            ({"origin": "http://evil.example", "content-type": "application/json"}, 403),
            ({"content-type": "text/plain"}, 400),
            ({"content-type": "application/json"}, 200),
        ]
        for headers, status in asked:
            got = client.post("items/0/change", content=json.dumps(change), headers=headers)
            assert got.status_code == status
        assert client.get("items/0/pages/0").status_code == 404
        assert client.get("..%2f..%2fserver.py").status_code == 404
        policy = client.get("").headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert truths(folder) == {"b1": {"title": "x"}}
