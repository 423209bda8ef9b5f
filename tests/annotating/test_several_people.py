"""Several people at the same items, each with a browser and a process of their own."""

import json
import re

import httpx
import pytest
from annotating.pages import Served, serving, set_status, truths, write_collection
from helpers.people_files import add_events
from playwright.sync_api import expect

from hdbench.collections.truth.double import read_doubly_read
from hdbench.collections.truth.events import Change, Double, now
from hdbench.collections.truth.people import People
from hdbench.collections.truth.store import Store

pytestmark = pytest.mark.nightly

SECRET = "Ludwigsburg"


def assigned(folder, items=("b1", "b3"), number=4):
    """A collection with items that both Anna and Ben annotate."""
    write_collection(folder, [None] * number)
    add_events(folder, [Double(by=by, at=now(), items=items, seed=1) for by in ("anna", "ben")])
    return folder


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        return visit_at(served.url, awaited="#id:not(:empty)", **options)

    return visit


def finish(folder, name, record):
    with Store(folder, name) as store:
        store.change("b1", "ground_truth", "", record, after=None, how="blind")
        store.change("b1", "status", "", "done", after=None, how="blind")


def saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def fill(page, **values):
    for label, value in values.items():
        page.get_by_label(label, exact=True).fill(value)
        page.keyboard.press("Tab")
    saved(page)


def test_two_people_annotate_alone_and_agreed_items_are_settled(tmp_path, visit):
    folder = assigned(tmp_path / "cards")
    with serving(folder, "--as", "anna") as one, serving(folder, "--as", "ben") as other:
        anna, ben = visit(one), visit(other)
        received = []
        ben.on("response", lambda response: received.append(response.body()))
        expect(anna.locator("#progress")).to_have_text("yours: 0 of 2")
        expect(anna.locator("#stage")).to_contain_text("your own entries only")
        fill(anna, Title="Faust", Year="1808", Comment=SECRET)
        anna.get_by_role("button", name="Add: Persons").click()
        anna.keyboard.type(SECRET)
        anna.keyboard.press("Alt+Enter")
        expect(anna.locator("#id")).to_have_text("b3")  # b2 is not hers
        fill(anna, Title="Egmont")
        set_status(anna, "done")
        saved(anna)
        expect(anna.locator("#stage")).to_contain_text("You are done")

        ben.reload()
        expect(ben.get_by_label("Title", exact=True)).to_have_value("")
        ben.get_by_role("button", name="Add: Persons").click()
        ben.get_by_label("Name").focus()
        expect(ben.locator("#suggested li")).to_have_count(0)
        ben.get_by_role("button", name="Remove Persons 1").click()
        ben.get_by_role("button", name="Items").click()
        expect(ben.locator("#found-items button")).to_have_count(2)
        expect(ben.locator("#waiting")).to_have_text("Assigned items wait for ben (2).")
        ben.get_by_label("Status").select_option("all")
        ben.get_by_label("Search").fill(SECRET)
        expect(ben.locator("#found")).to_have_text("0 found")
        ben.get_by_label("Search").fill("")
        ben.get_by_label("Status").select_option("mine")
        ben.keyboard.press("Escape")
        assert received
        assert not any(SECRET.encode() in each or b"anna" in each for each in received)
        assert truths(folder) == dict.fromkeys(("b1", "b2", "b3", "b4"))

        ben.keyboard.press("Alt+ArrowRight")
        expect(ben.locator("#id")).to_have_text("b3")
        fill(ben, Title="Egmont ")
        ben.keyboard.press("Alt+Enter")  # they agree: it settles itself
        expect(ben.get_by_role("dialog")).to_contain_text("Assigned items wait for ben (1).")
        ben.keyboard.press("Escape")
        ben.keyboard.press("Alt+ArrowRight")
        expect(ben.locator("#message")).to_contain_text("selection: assigned to me")
        expect(ben.locator("#message")).to_contain_text("choose another status under Items")
        expect(ben.locator("#progress")).to_have_text("yours: 1 of 2")
        assert truths(folder)["b3"]["title"].strip() == "Egmont"
        assert truths(folder)["b1"] is None
    assert read_doubly_read(folder).unfinished == 1


def test_work_of_others_is_neither_sent_nor_overwritable(tmp_path):
    folder = assigned(tmp_path / "cards", items=("b1",))
    with Store(folder, "anna") as store:
        for what, to in [
            ("ground_truth", {"title": SECRET, "persons": [{"name": SECRET}]}),
            ("comment", SECRET),
            ("status", "doubtful"),
        ]:
            store.change("b1", what, "", to, after=None, how="blind")
        head = store.state("b1").head["ground_truth"]
    record = {"title": "Draft", "kind": None, "year": None, "persons": []}
    (tmp_path / "run.jsonl").write_text(json.dumps({"id": "b1", "prediction": record}))
    for name in ("ben", "clara"):
        with (
            serving(folder, "--as", name, "--drafts", tmp_path / "run.jsonl") as served,
            httpx.Client(base_url=served.url, timeout=120) as client,
        ):
            asked = {"what": "ground_truth", "field": "title", "to": "x", "settled": True}
            answers = [
                *map(client.get, ["start", "items/0", f"search?q={SECRET}", "items/0/drafts"]),
                *(client.get(f"suggest?field={field}") for field in ("title", "persons[0].name")),
                client.post("items/0/undo", json={}),
                client.post("items/0/change", json=asked | {"after": head}),
                client.post("items/0/draft", json={"draft": 0, "after": None}),
                client.post("leave", json={}),
            ]
            said = b"".join(each.content for each in answers)
            for secret in (SECRET, "anna", head, "Draft"):
                assert secret.encode() not in said
            assert answers[0].json()["items"][0][1] == "open"
            assert answers[1].json()["state"]["status"] == "open"
            assert answers[2].json() == []
            assert answers[3].status_code == answers[8].status_code == 400
            # What waits for whom is said as a number.
            assert client.get("waiting").json() == {"ben": 1}
    assert truths(folder)["b1"] is None
    assert not any(each.by != "anna" for each in People(folder).of_kind(Change))
    with Store(folder, "anna") as store:
        assert store.state("b1").record["title"] == SECRET


def test_what_was_settled_survives_kill_9(tmp_path, browser):
    folder = assigned(tmp_path / "cards", items=("b1",))
    for name in ("anna", "ben"):
        finish(folder, name, {"title": name, "kind": None, "year": len(name), "persons": []})
    served = Served(folder, "--as", "ben")
    page = browser.new_page(locale="en-GB")
    page.goto(f"{served.url}#b1")
    page.get_by_role("button", name="Take what anna entered: Title").click()
    expect(page.locator("#stage")).to_contain_text("still to be settled: 1", ignore_case=True)
    saved(page)
    assert served.kill() == -9
    page.close()
    with serving(folder, "--as", "clara") as again:
        page = browser.new_page(locale="en-GB")
        page.goto(f"{again.url}#b1")
        expect(page.get_by_label("Title", exact=True)).to_have_value("anna")
        expect(page.locator(".settle")).to_have_count(1)
        page.get_by_role("button", name=re.compile("Take what ben entered: Year")).click()
        expect(page.locator(".settle")).to_have_count(0)
        expect(page.locator("#how")).to_contain_text("settled between people")
        page.close()
    assert truths(folder)["b1"] == {"title": "anna", "kind": None, "year": 3, "persons": []}
