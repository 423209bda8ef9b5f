"""The editor's page for those who cannot see it well, or use no mouse."""

import json
import shutil

import httpx
import pytest
from annotating.pages import SCHEMA, serving, truths, write_collection
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from space.german import Walk, words

from hdbench.collections.truth.store import Store

pytestmark = pytest.mark.nightly

RECORD = {
    "title": "Faust",
    "kind": "book",
    "persons": [{"name": "Frey", "roles": ["printer"]}, {"name": "May", "roles": []}],
    "keywords": ["Diss"],
    "text": "Erste\nZweite",
    "unknown": {"a": 1},
}
OWN = words([json.dumps([SCHEMA, RECORD]).replace("{", " "), "one two other mine n"])
"""The words of the collection itself, its drafts and comments."""


@pytest.fixture
def folder(tmp_path):
    """Two people corrected a draft, and disagree on the first item."""
    for name, year in (("anna", 1808), ("ben", 1809)):
        folder = write_collection(tmp_path / name, [None] * 2)
        with Store(folder, name) as store:
            record = RECORD | {"year": year}
            store.change("b1", "ground_truth", "", record, after=None, how="draft:one")
    shutil.copy(folder / "people/ben.jsonl", tmp_path / "anna/people")
    for name, record in (("one", RECORD), ("two", {"title": "Faust I"})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "b1", "prediction": record}))
    return tmp_path / "anna"


def saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("en-GB", "light", 1280), ("de-DE", "dark", 390)]
)
def test_axe_core_finds_no_violation_and_german_is_complete(
    folder, visit_at, language, scheme, width
):
    drafts = [f"--drafts={folder.parent / name}.jsonl" for name in ("one", "two")]
    found = []

    def look(page, state):
        if language == "de-DE":
            walk = Walk(page)
            walk.see(state)
            found.extend((text, wrong - OWN) for text, wrong in walk.left.items() if wrong - OWN)
        for each in Axe().run(page).response["violations"]:
            found.append((state, each["id"], [node["target"] for node in each["nodes"]]))

    shown = {"language": language, "color_scheme": scheme, "width": width, "height": 844}
    with serving(folder, "--as", "anna", *drafts) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)", reduced_motion="reduce", **shown)
        expect(page.locator(".differ").first).to_be_visible()
        expect(page.locator(".settle")).to_be_visible()
        look(page, "form")
        page.locator("[id='f:year']").fill("x")
        page.locator("[id='f:title']").focus()
        expect(page.locator("[aria-invalid]")).to_be_visible()
        look(page, "unusable value")
        page.locator("[id='f:year']").fill("1810")
        saved(page)

        page.locator("#items").click()
        expect(page.locator("#found-items button")).to_have_count(2)
        look(page, "list")
        page.keyboard.press("Escape")
        page.locator("#more").click()
        look(page, "menu")
        page.locator("#help").click()
        look(page, "help")
        page.keyboard.press("Escape")

        elsewhere = {"what": "comment", "field": "", "to": "other", "after": None}
        address = f"{served.url}items/0/change"
        httpx.post(address, json=elsewhere, timeout=120).raise_for_status()
        page.locator("#comment").fill("mine")
        expect(page.locator("#conflict")).to_be_visible()
        look(page, "conflict")
        page.locator("#take-mine").click()
        saved(page)
        page.locator("#next").click()
        expect(page.locator("#id")).to_have_text("b2")
        look(page, "no ground truth")
    assert found == []


def test_every_field_is_filled_in_with_the_keyboard_alone(tmp_path, visit_at):
    folder = write_collection(tmp_path / "cards")
    with serving(folder) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)")

        def tab_to(name):
            for _ in range(40):
                page.keyboard.press("Tab")
                focused = page.locator(":focus")
                shown = focused.evaluate(
                    "each => each.labels?.[0]?.textContent"
                    " || each.getAttribute('aria-label') || each.textContent"
                )
                if shown.strip() == name:
                    outline = focused.evaluate("each => getComputedStyle(each).outlineStyle")
                    inside = focused.evaluate("each => !!each.closest('.long:focus-within')")
                    assert outline == "solid" or inside
                    return
            raise AssertionError(f"Tab does not reach {name!r}")

        tab_to("Title")
        page.keyboard.type("Faust")
        tab_to("Kind")
        page.keyboard.press("b")
        tab_to("Year")
        page.keyboard.type("1808")
        tab_to("+ Add: Persons")
        page.keyboard.press("Enter")
        page.keyboard.type("May")
        tab_to("+ Add: Persons")
        page.keyboard.press("Space")
        page.keyboard.type("Frey")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")  # past its roles
        page.keyboard.press("Enter")  # up
        page.keyboard.press("Escape")
        tab_to("Transcription")
        page.keyboard.type("Erste")
        page.keyboard.press("Enter")
        page.keyboard.type("Zweite")
        tab_to("Comment")
        page.keyboard.type("read twice")
        tab_to("More …")
        page.keyboard.press("Space")
        tab_to("done")
        page.keyboard.press("Space")
        saved(page)
        assert page.locator("#progress").inner_text() == "1 of 3 done"
    assert truths(folder)["b1"] == {
        "title": "Faust",
        "kind": "book",
        "year": 1808,
        "persons": [{"name": "Frey", "roles": []}, {"name": "May", "roles": []}],
        "text": "Erste\nZweite",
    }
    assert '"read twice"' in (folder / "people/me.jsonl").read_text()
