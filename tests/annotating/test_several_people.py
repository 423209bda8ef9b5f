"""Several people at the same items, each with a browser and a process of their own."""

import json

import httpx
import pytest
from annotating.pages import serving, truths, write_collection
from helpers.people_files import add_events
from playwright.sync_api import expect

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Change, Double, now
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
    assert truths(folder)["b1"] is None
    assert not any(each.by != "anna" for each in People(folder).of_kind(Change))
    with Store(folder, "anna") as store:
        assert store.state("b1").record["title"] == SECRET
