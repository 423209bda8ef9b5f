"""The editor's pages in a language that is a catalogue alone: nothing is left in English."""

import json
import os
from pathlib import Path

import httpx
import pytest
from annotating.checking.plans import SCRIPT, write_plan
from annotating.merges import merge
from annotating.pages import SCHEMA, set_status, write_collection
from annotating.reviews import entry, write_list
from annotating.working.lists import SCRIPT as WORK_SCRIPT
from annotating.working.lists import prepared
from helpers.english import words
from helpers.pseudo_locale import LANGUAGE, PseudoLocale, Walk
from playwright.sync_api import expect

from hdbench.annotating.annotation import Annotation, Assignment, write_annotation
from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import Store

pytestmark = pytest.mark.nightly

RECORD = {
    "title": "Faust",
    "kind": "book",
    "persons": [{"name": "Frey", "roles": ["printer"]}, {"name": "May", "roles": []}],
    "keywords": ["Diss"],
    "text": "Erste\nZweite",
    "unknown": {"a": 1},
}
NAMES = words([json.dumps([SCHEMA, RECORD]).replace("{", " "), "one two other mine anna ben cards"])
"""The words of the collection itself, its drafts and comments."""


@pytest.fixture(scope="module")
def pseudo(pseudo_locale):
    modules = ("hdbench.cli", "hdbench.annotating.editor", "hdbench.annotating.server")
    made = PseudoLocale(pseudo_locale, *modules)
    yield made
    made.forks.close()


@pytest.fixture
def serve_script(pseudo):
    """Serve the page of a program for a folder, until the test ends."""
    running = []

    def serve(*command):
        command = list(map(str, command))
        folder = next(path for path in command if Path(path).is_dir())
        ours, theirs = os.pipe()
        with open(theirs, "w") as out:
            started = pseudo.forks.start(*command, cwd=folder, env=pseudo.environment, stdout=out)
        running.append(started)
        with open(ours) as said:
            return said.readline().strip()

    yield serve
    for process in running:
        process.terminate()
        process.wait(timeout=120)


@pytest.fixture
def serve(serve_script):
    """Serve the page of a command, until the test ends."""

    def serve(name, folder, *options):
        return serve_script("-m", "hdbench", name, folder, *options, "--port", "0")

    return serve


@pytest.fixture
def walk():
    """What is seen on the way, in which a test then finds no English."""
    return Walk(NAMES)


def saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


@pytest.fixture
def folder(tmp_path):
    """Two people corrected a draft, and disagree on the first item."""
    for name, year in (("anna", 1808), ("ben", 1809)):
        folder = write_collection(tmp_path / name, [None] * 2)
        with Store.open(folder, name) as store:
            record = RECORD | {"year": year}
            store.change("b1", "ground_truth", "", record, after=None, how="draft:one")
    hand_over(folder, "ben", tmp_path / "ben.zip")
    merge(tmp_path / "anna", tmp_path / "ben.zip")
    for name, record in (("one", RECORD), ("two", {"title": "Faust I"})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "b1", "prediction": record}))
    return tmp_path / "anna"


def test_the_form_has_no_english(folder, visit_at, serve, walk):
    drafts = [f"--drafts={folder.parent / name}.jsonl" for name in ("one", "two")]
    url = serve("annotate", folder, "--as", "anna", *drafts)
    page = visit_at(url, awaited="#id:not(:empty)")
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)
    expect(page.locator(".settle")).to_be_visible()
    walk.see(page, "form")
    page.locator("[id='f:year']").fill("x")
    page.locator("[id='f:title']").focus()
    expect(page.locator("[aria-invalid]")).to_be_visible()
    walk.see(page, "unusable value")
    page.locator("[id='f:year']").fill("1810")
    saved(page)
    page.locator("#items").click()
    expect(page.locator("#found-items button")).to_have_count(2)
    walk.see(page, "list")
    page.keyboard.press("Escape")
    page.locator("#more").click()
    walk.see(page, "menu")
    page.locator("#help").click()
    walk.see(page, "help")
    page.keyboard.press("Escape")
    elsewhere = {"what": "comment", "field": "", "to": "other", "after": None}
    httpx.post(f"{url}items/0/change", json=elsewhere, timeout=120).raise_for_status()
    page.locator("#comment").fill("mine")
    expect(page.locator("#conflict")).to_be_visible()
    walk.see(page, "conflict")
    page.locator("#take-mine").click()
    saved(page)
    page.locator("#previous").click()
    walk.see(page, "first item")
    page.locator("#next").click()
    expect(page.locator("#id")).to_have_text("b2")
    walk.see(page, "no ground truth")
    page.locator("#next").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "last item")
    walk.check()


def test_assigned_items_have_no_english(tmp_path, visit_at, serve, walk):
    folder = write_collection(tmp_path / "cards", [None] * 3)
    both = Assignment(annotators=("anna", "ben"), items=("b1", "b2"))
    write_annotation(folder, Annotation(assignments=(both,)))
    with Store.open(folder, "ben") as store:
        store.change("b1", "ground_truth", "", RECORD, after=None, how="blind")
        store.change("b1", "status", "", "done", after=None, how="blind")
    page = visit_at(serve("annotate", folder, "--as", "anna"), awaited="#id:not(:empty)")
    walk.see(page, "own entries")
    page.locator("[id='f:title']").fill("Urfaust")
    saved(page)
    set_status(page, "done")
    expect(page.locator(".settle").first).to_be_visible()
    walk.see(page, "to be settled")
    set_status(page, "done")
    walk.see(page, "settle first")
    page.locator("#items").click()
    walk.see(page, "list")
    walk.check()


def test_the_review_has_no_english(tmp_path, visit_at, serve, walk):
    folder = write_collection(tmp_path / "cards", [{"title": "Fausst I"}, {"year": 1808}])
    entries = (
        entry("b1", "title", "Fausst I", "Faust Zwei"),
        entry("b2", "year", 1808, 1808, "control"),
    )
    path = write_list(tmp_path / "review.jsonl", *entries)
    page = visit_at(serve("review", folder, path, "--as", "anna"), awaited="#label:not(:empty)")
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)
    walk.see(page, "question")
    page.locator("#save-reading").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "nothing entered")
    page.locator("#reading").fill("Faust I")
    page.locator("#save-reading").click()
    expect(page.locator("#values")).to_contain_text("Fausst I")
    walk.see(page, "values")
    page.locator("#save-verdict").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "no verdict")
    page.locator("#verdicts input").first.check()
    page.locator("#save-verdict").click()
    walk.see(page, "no evidence")
    page.locator("#evidence").fill("Faust I")
    page.locator("#save-verdict").click()
    saved(page)
    page.locator("#next").click()
    page.locator("#reading").fill("18o8")
    page.locator("#save-reading").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "not a number")
    page.locator("#reading").fill("1808")
    page.locator("#save-reading").click()
    expect(page.locator("#confirmed")).not_to_be_empty()
    walk.see(page, "confirmed")
    page.locator("#next-open").click()
    walk.see(page, "all is judged")
    page.locator("#undo").click()
    walk.see(page, "taken back")
    walk.check()


def test_single_values_have_no_english(tmp_path, visit_at, serve_script, walk):
    folder = write_collection(tmp_path / "b0", [None] * 2)
    rows = [{"id": "b1", "text": "Urfaust"}, {"id": "b2", "file_name": "images/card.png"}]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = ("kind", "year", "signed", "keywords", "title")
    plan = write_plan(tmp_path / "plan", [("b1", field) for field in fields], [("b2", "title")])
    fails = plan.with_name("fails")
    fails.touch()
    page, other = (
        visit_at(serve_script(SCRIPT, folder, plan, name, LANGUAGE), awaited="#id:not(:empty)")
        for name in ("anna", "ben")
    )
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)

    while page.locator("#reading").is_visible():
        label = page.locator("#label").inner_text()
        walk.see(page, label)
        page.locator("#save").click()
        expect(page.locator("#message")).not_to_be_empty()
        walk.see(page, f"{label}: nothing entered")
        if label == "Year":
            page.locator("#reading").fill("18o8")
            page.locator("#save").click()
            walk.see(page, "not a number")
            page.locator("#damaged").click()
            expect(page.locator("#label")).not_to_have_text(label)  # it is not the last one
            page.locator("#back").click()
            expect(page.locator("#label")).to_have_text(label)
            walk.see(page, "saved before")
        with page.expect_response("**/read"):
            page.locator("#nothing").click()
        saved(page)
    expect(page.locator("#go-on")).to_be_visible()
    walk.see(page, "problem")
    fails.unlink()
    page.locator("#go-on").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "next stage")
    other.locator("#damaged").click()
    expect(other.locator("#message")).not_to_be_empty()
    walk.see(other, "too late")
    page.locator("#damaged").click()
    expect(page.locator("#command")).to_be_visible()
    walk.see(page, "end")
    walk.check()


def test_refusals_have_no_english(folder, serve):
    walk = Walk(NAMES | {"to"})  # a key of what is sent
    url = serve("annotate", folder, "--as", "anna")
    asked = {"headers": {"accept-language": LANGUAGE}, "timeout": 120}
    change = {"what": "ground_truth", "field": "a[b]", "to": 1, "after": None}
    for place, sent in (
        ("items/1/change", change),
        ("items/1/undo", {}),
        ("items/9/change", change),
        ("items/1/change", {"what": "status"}),
        ("items/1/change", change | {"what": "status", "field": "", "to": "x"}),
    ):
        answer = httpx.post(f"{url}{place}", json=sent, **asked)
        assert answer.is_client_error, (place, sent, answer.text)
        walk.read([answer.json()["error"]], place)
    walk.check()


def test_a_work_list_has_no_english(tmp_path, visit_at, serve_script, walk):
    record = {"title": ["Faust", None], "year": [1808], "signed": [True], "kind": ["book"]}
    told = {item: {"title": ["Faust"]} for item in ("b2", "b3", "b4")}
    folder = prepared(tmp_path, {"b1": record} | told, text="Faust")
    files = (folder, tmp_path / "out", tmp_path / "work.json")
    url = serve_script(WORK_SCRIPT, *files, "anna", LANGUAGE)
    page = visit_at(url, awaited="#name-0")
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)
    walk.see(page, "open")
    page.locator("#typed-1").fill("18o8")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-1[aria-invalid=true]")).to_be_visible()
    walk.see(page, "not a number")
    page.locator("#recurring").click()
    expect(page.locator("#save-for")).to_be_visible()
    page.locator("[value=typed]").check()
    page.locator("#save-for").click()
    expect(page.locator("#for-all[aria-invalid=true]")).to_be_visible()
    walk.see(page, "values that come back")
    page.locator("[data-spelling]").first.uncheck()
    walk.see(page, "nothing ticked")
    page.locator("[data-spelling]").first.check()
    page.locator("[value=nothing]").check()
    page.locator("#save-for").click()
    expect(page.locator("#message")).not_to_be_empty()
    saved(page)
    walk.see(page, "saved together")
    page.locator("#by-card").click()
    for place in (1, 2, 3):
        page.locator("#typed-1").press("Escape")
        page.locator(f"#choice-{place}-0").click()
        expect(page.locator(".doubt.decided")).to_have_count(place + 1)
    expect(page.locator("#card-done")).not_to_be_empty()
    walk.see(page, "all decided")
    page.locator("#undo").click()
    expect(page.locator("#message")).not_to_be_empty()
    walk.see(page, "undone")
    walk.check()
