"""A collection's life in a real browser, through kills of its server."""

import pytest
from annotating.pages import truths
from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from helpers.waiting import until
from home.collections import answers, make_collection, write_scans, write_sheet
from home.served import ServedHome
from playwright.sync_api import expect
from space.german import Walk
from space.servers import free_port

from hdbench.collections.home.folder import key_of
from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.store import Store

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def heading(page, text):
    expect(page.locator("h1")).to_have_text(text)


def drop(page, selector, files):
    page.locator(selector).set_input_files(files)


def test_new_collection_is_read_and_survives_kills(tmp_path, visit_at):
    port = free_port()
    served = ServedHome(tmp_path, port)
    page = visit_at(served.url, awaited="h1")
    page.get_by_role("link", name="New collection").click()
    page.get_by_label("Title").fill("Kasten 3")
    page.get_by_label("Title").press("Enter")  # beside where the command was started
    heading(page, "Add the scans first.")
    write_scans(tmp_path / "scans", 3)
    drop(page, "#scans", sorted((tmp_path / "scans").iterdir()))
    heading(page, "3 items, 0 with a ground truth")
    served.kill()
    served = ServedHome(tmp_path, port)
    page.reload()  # the address is the same
    sheet = write_sheet(tmp_path / "Liste.csv", 2)
    drop(page, "#sheet", sheet)
    heading(page, "3 items, 2 with a ground truth")
    page.get_by_label("What Jahr becomes").fill("year")
    with page.expect_navigation():
        page.get_by_label("What Jahr becomes").press("Enter")  # saves it, and writes nothing yet
    expect(page.get_by_label("What Jahr becomes")).to_have_value("year")
    page.get_by_role("button", name="Make the collection").click()
    heading(page, "2 of 3 items have a ground truth; no model has read them.")
    home = page.url
    page.get_by_role("link", name="Go on reading").click()
    page.locator("#name").fill("anna")
    page.get_by_role("button", name="Go on reading").click()
    page.locator("[id='f:titel']").fill("Faust")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    served.kill()
    folder = tmp_path / "kasten-3"
    served = ServedHome(tmp_path, port, folder)
    assert served.url == home
    page.locator("[id='f:titel']").fill("Faust I")  # the page was not closed meanwhile
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    page.get_by_role("link", name="To the collection").click()
    heading(page, "2 of 3 items have a ground truth; no model has read them.")
    with Store(folder, "ben") as store:
        assert store.state("c0").record["titel"] == "Faust I"
    page.get_by_role("link", name="Runs").click()
    (tmp_path / "gpt.jsonl").write_text(answers(3).replace("jahr", "year"))
    drop(page, "#answers", tmp_path / "gpt.jsonl")
    expect(page.locator(".stands")).to_contain_text("1 model has read them.")
    expect(page.locator(".runs")).to_contain_text("3 of 3 answered · complete")
    served.end()
    assert truths(folder)["c0"] == {"titel": "Faust I", "year": 1900}


def test_files_chosen_before_the_script_are_sent(tmp_path, visit_at):
    served = ServedHome(tmp_path, free_port())
    page = visit_at(served.url, awaited="h1")
    page.get_by_role("link", name="New collection").click()
    write_scans(tmp_path / "scans", 3)
    scripts = []
    page.route("**/home.js", lambda route: scripts.append(route))  # noqa: PLW0108  playwright marks it
    page.get_by_label("Title").fill("Kasten 3")
    page.get_by_label("Title").press("Enter")
    drop(page, "#scans", sorted((tmp_path / "scans").iterdir()))
    taken = tmp_path / ".kasten-3.new/scans"
    assert not taken.exists()
    (script,) = scripts
    script.continue_()
    heading(page, "3 items, 0 with a ground truth")
    assert sorted(path.name for path in taken.iterdir()) == ["c0.png", "c1.png", "c2.png"]


def test_pages_beside_the_afternoon_are_accessible_and_german(tmp_path, visit_at):
    folder = make_collection(tmp_path)
    for person in ("anna", "ben"):
        read_double(folder, person, 1)
    write_scans(tmp_path / "more", 5)
    (tmp_path / "more/c3.png").replace(tmp_path / "c1.png")
    found = []
    # What models are asked is the collection's own, and so are the names of fields.
    own = words([(folder / "prompt.txt").read_text(), folder.name])
    served = ServedHome(tmp_path, free_port(), folder)
    shown = {"language": "de-DE", "color_scheme": "dark", "width": 390}
    page = visit_at(served.url.replace(f"{key_of(folder)}/", ""), awaited="h1", **shown)
    page.goto(f"{served.url}scans")

    def look():
        page.wait_for_load_state()
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        walk = Walk(page)
        walk.see(page.url)
        found.extend((text, wrong - own) for text, wrong in walk.left.items() if wrong - own)
        found.extend((page.url, each["id"]) for each in Axe().run(page).response["violations"])
        if page.evaluate("document.documentElement.scrollWidth") > shown["width"]:
            found.append((page.url, "is wider than the window"))

    page.locator("main form button").click()  # adds scans
    drop(page, "#scans", [tmp_path / "scans/c0.png", tmp_path / "more/c4.png", tmp_path / "c1.png"])
    page.locator(".strip").wait_for()
    drop(page, "#sheet", tmp_path / "sheet.csv")
    page.locator(".stacked").wait_for()
    look()
    for name in ("", "scans", "scans?show=settle", "item?id=c0", "fields", "agreement"):
        page.goto(f"{served.url}{name}")
        look()
    served.end()
    assert found == [], found


def test_second_command_leads_to_the_home_that_is_open(tmp_path, run_hdbench, monkeypatch):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f"#!/bin/sh\necho $1 > {opened}\n")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    first, second = make_collection(tmp_path / "a"), make_collection(tmp_path / "b")
    served = ServedHome(tmp_path, 0, first)
    again = run_hdbench("open", second, cwd=tmp_path)
    assert again.returncode == 0
    root = served.url.removesuffix(f"{key_of(first)}/")
    assert again.stdout.splitlines()[-1] == f"{root}{key_of(second)}/"
    until(opened.exists)
    assert opened.read_text() == f"{root}{key_of(second)}/\n"
    served.kill()
    refused = run_hdbench("open", tmp_path, cwd=tmp_path)
    assert refused.returncode == 2
    assert "not a collection" in refused.stderr
