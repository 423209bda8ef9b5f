"""An afternoon in one window: sixty real cards, a messy sheet, two people, three runs."""

import json
import random
import re
import shutil

import openpyxl
import pytest
from annotating.pages import truths
from helpers.waiting import until
from home.served import ServedHome
from playwright.sync_api import expect
from space.servers import free_port

from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import Store
from hdbench.home.collection import opened

pytestmark = pytest.mark.nightly

CARDS, SHARED = 60, 3
FIELDS = {"Verfasser": "author.name", "Titel": "title", "Ort": "place", "Jahr": "year"}


@pytest.fixture
def cards(tmp_path, published):
    """Scans, and what stands on them by item."""
    source = published.folder / "hdb/zettelkatalog"
    rows = [json.loads(line) for line in (source / "metadata.jsonl").read_text().splitlines()]
    records = {}
    (tmp_path / "Scans").mkdir()
    for row in rows[:CARDS]:
        truth = json.loads(row["ground_truth"])
        image = source / row["file_name"]
        shutil.copy(image, tmp_path / "Scans" / f"{row['id']}{image.suffix}")
        imprint = truth.get("publication") or {}
        author = (truth.get("author") or {}).get("last_name")
        records[row["id"]] = {
            "author": {"name": author},
            "title": (truth.get("title") or "")[:80] or row["id"],
            "place": imprint.get("place"),
            "year": next(iter(map(int, re.findall(r"\d{4}", str(imprint.get("year"))))), None),
        }
    return records


def write_sheet(path, records):
    """A sheet as people keep them: blank rows, spaces, and a column for themselves."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Datei ", " Verfasser", "Titel", "Ort", "Jahr", "erledigt"])
    for number, (item, record) in enumerate(records.items()):
        if number % 10 == 3:
            sheet.append([])
        sheet.append(
            [
                f"{item}.jpg",
                record["author"]["name"],
                f" {record['title']}",
                record["place"],
                record["year"],
                "x",
            ]
        )
    book.save(path)


def flat(record):
    """The values of a record that stand on the card, by the paths of their fields."""
    values = {"author.name": record["author"]["name"], **record}
    return {name: str(value) for name, value in values.items() if value and name != "author"}


def enter(store, item, record):
    """A record that somebody is done with."""
    for what, to in (("ground_truth", record), ("status", "done")):
        after = store.state(item).head[what]
        store.change(item, what, "", to, after=after, how="blind")


def predictions(records, wrong):
    """What a model reads, of whose years some are wrong."""
    drawn = random.Random(wrong).sample(sorted(records), wrong)
    return "".join(
        json.dumps({"id": item, "prediction": record | ({"year": 1900} if item in drawn else {})})
        + "\n"
        for item, record in records.items()
    )


def make(page, folder, cards):
    """A collection of all cards, with a sheet on most of them."""
    page.get_by_role("link", name="New collection").click()
    page.get_by_label("Title").fill("Kasten 3")
    page.keyboard.press("Enter")
    page.get_by_label("Drop scans here").set_input_files(sorted((folder / "Scans").iterdir()))
    expect(page.locator("h1")).to_have_text(f"{CARDS} items, 0 with a ground truth")
    write_sheet(folder / "Liste.xlsx", dict(list(cards.items())[: CARDS - SHARED]))
    page.get_by_label("Drop a spreadsheet here").set_input_files(folder / "Liste.xlsx")
    expect(page.locator("h1")).to_have_text(f"{CARDS} items, {CARDS - SHARED} with a ground truth")
    for column, field in FIELDS.items():
        page.get_by_label(f"What {column} becomes").fill(field)
    page.get_by_label("What erledigt becomes").fill("-")
    page.get_by_role("button", name="Make the collection").click()
    expect(page.locator("h1")).to_contain_text(f"{CARDS - SHARED} of {CARDS} items have a")


def read_apart(page, folder, cards):
    """The rest, read by Anna in the window and by Ben in a copy of the folder."""
    page.get_by_role("link", name="Ground truth").click()
    page.get_by_text("Give the same items to several people").click()
    page.get_by_label("Pseudonyms").fill("anna ben")
    page.get_by_role("button", name="Assign").click()
    expect(page.locator(".note")).to_contain_text(f"{SHARED} items are assigned to anna, ben")
    copy = folder / "ben/kasten-3"
    shutil.copytree(folder / "kasten-3", copy)
    with Store.open(copy, "ben") as store:
        own = [item for item in store.items if store.state(item).stage == "own"]
        for item in own:
            enter(store, item, cards[item] | ({"year": 1700} if item == own[0] else {}))
    hand_over(copy, "ben", folder / "ben.zip")
    page.get_by_label("Your pseudonym").fill("anna")
    page.locator("form", has=page.get_by_label("Your pseudonym")).get_by_role("button").click()
    for item in own:  # in their order
        expect(page.locator("#id")).to_have_text(item)
        for name, value in flat(cards[item]).items():
            page.locator(f"[id='f:{name}']").fill(value)
        expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
        page.locator("#done").click()
    until(lambda: "anna" not in opened(folder / "kasten-3").progress().waiting)
    return own[0]


def settle(page, folder, item):
    """Ben's work comes in, and what the two differ in is decided."""
    page.get_by_text("Take in somebody's work").click()
    page.get_by_label("Drop the file that was handed over").set_input_files(folder / "ben.zip")
    expect(page.locator("main")).to_contain_text("changes by ben")
    page.get_by_role("button", name="Take this in").click()
    expect(page.locator(".next")).to_contain_text("1 item where people entered different things")
    page.get_by_role("button", name="Settle").click()
    expect(page.locator("#id")).to_have_text(item)
    page.locator("[id='take:year:anna']").click()
    page.locator("#done").click()
    until(lambda: truths(folder / "kasten-3")[item])


def test_from_scans_to_three_models_that_can_be_compared(tmp_path, cards, visit_at, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    served = ServedHome(tmp_path, free_port())
    page = visit_at(served.url, awaited="h1")
    make(page, tmp_path, cards)
    home = page.url
    differing = read_apart(page, tmp_path, cards)
    page.goto(f"{home}truth")
    settle(page, tmp_path, differing)
    page.goto(home)
    all_read = f"All {CARDS} items have a ground truth"
    expect(page.locator("h1")).to_have_text(f"{all_read}; no model has read them.")
    assert truths(tmp_path / "kasten-3")[differing] == cards[differing]
    page.get_by_role("link", name="Ground truth").click()
    page.get_by_role("link", name="How well do people agree?").click()
    expect(page.locator("table")).to_contain_text("year")
    page.get_by_role("link", name="Runs").click()
    files = []
    for model, wrong in (("best", 2), ("middle", 9), ("worst", 20)):
        files.append(tmp_path / f"{model}.jsonl")
        files[-1].write_text(predictions(cards, wrong))
    page.get_by_label("Drop answers").set_input_files(files)
    expect(page.locator("h1")).to_have_text(f"{all_read}; 3 models have read them.")
    expect(page.locator(".next")).to_contain_text("Which model is best for these items")
    served.end()
