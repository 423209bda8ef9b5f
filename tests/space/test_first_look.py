"""What a visitor sees before anything is scored, and how the chosen benchmark is carried along."""

import json
from functools import partial

import httpx
import pytest
from playwright.sync_api import expect
from space.pages import as_jsonl, choose, report, still, upload

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.space.context import SpaceContext
from hdbench.space.views.first_look import FirstLooks, first_look

pytestmark = pytest.mark.slow

ATTACK = "<img src=x onerror='window.attacked = true'>"


@pytest.fixture
def visit(visit_at, samples_url):
    """Open the Space over the samples of all benchmarks."""
    return partial(visit_at, samples_url)


def test_each_benchmark_shows_an_item_with_truth_and_answer(visit, samples_url):
    page = visit()
    look = page.locator(".hdb-look")
    picture = look.get_by_role("img")
    assert picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 200
    assert look.locator("ins").count() > 0
    large = httpx.get(samples_url + look.locator("figure a").get_attribute("href"))
    assert large.headers["content-type"] == "image/webp"

    choose(page, "Zettelkatalog")
    row = look.get_by_role("row", name="Publisher")
    row.wait_for()
    assert row.get_by_role("cell").all_inner_texts() == ["Thieme", "Thieme Verlag"]
    assert row.locator("del").all_inner_texts() == [" Verlag"]
    choose(page, "Book advertisements in XML")
    look.locator("blockquote").wait_for()
    assert look.get_by_role("img").count() == 0


def test_file_of_another_benchmark_than_chosen_is_recognized(visit, samples):
    lines = (samples / "hdb/zettelkatalog/example_predictions.jsonl").read_text()
    page = visit()
    choose(page, "Black list")
    expect(page.locator("#example.primary")).to_have_count(1)
    upload(page, "cards.jsonl", lines)
    told = page.locator("#first [role=alert]")
    told.wait_for()
    asked = "the ids in cards.jsonl are those of Zettelkatalog, not of Black list. Score them"
    assert asked in told.inner_text()
    expect(page.locator("#score.primary")).to_have_count(1)
    page.get_by_role("button", name="Score them as Zettelkatalog").click()
    report(page)
    expect(page.locator("#first")).to_contain_text("scored on hdb/zettelkatalog")
    expect(page.locator("#elsewhere")).to_be_hidden()
    expect(page.locator(".hdb-look")).to_be_hidden()
    page.get_by_role("tab", name="Compare").click()
    page.locator("#compare").wait_for()
    expect(page.locator("#benchmark input")).to_have_value("Zettelkatalog")
    expect(page.locator("#compare-recorded")).to_be_hidden()  # there are no recorded runs


def test_first_look_and_result_are_in_sight_on_a_phone(visit):
    page = visit(width=390, height=844, language="de-CH")
    for tab in page.get_by_role("tab").all():
        box = tab.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    # A document and what can be done are seen at once; what the document says comes after that.
    for first in (".hdb-look img", "#file button:has(input)", "#score", "#example"):
        expect(page.locator(first)).to_be_in_viewport(ratio=0.95)
    below = page.locator(".hdb-look table").bounding_box()["y"]
    assert below > page.locator("#example").bounding_box()["y"]
    page.locator("#example").click()
    report(page)
    page.wait_for_function("document.activeElement.closest('#first') !== null")
    still(page)
    top = page.locator(".hdb-big").bounding_box()["y"]
    assert 0 <= top < 844 / 2
    for kind in ("xlsx", "csv", "json", "html"):
        page.locator(f"#download-{kind}").wait_for()
    rows = {
        page.locator(f"#download-{kind}").bounding_box()["y"]
        for kind in ("xlsx", "csv", "json", "html")
    }
    assert len(rows) <= 2


def test_nothing_hostile_in_an_item_or_an_answer_runs(cards):
    """It is the operator's, but a model wrote the example, and anybody a collection."""
    folder = cards / "hdb/cards"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").open()]
    truth = {"title": ATTACK, ATTACK: "x", "year": 1924}
    rows = [row | {"ground_truth": json.dumps(truth)} for row in rows]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = truth | {ATTACK: "\u202e" + ATTACK}
    (folder / "example_predictions.jsonl").write_text(as_jsonl([(rows[0]["id"], answer)]))
    shown = FirstLooks(SpaceContext(cards / "hdb")).html("cards", "en")
    assert "&lt;img src=x onerror" in shown
    assert "<img" not in shown
    assert "\u202e" not in shown


def test_long_value_is_shown_only_around_its_first_difference(cards):
    folder = cards / "hdb/cards"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").open()]
    truth = {"title": "a" * 300 + "b" * 300, "year": 1924}
    rows = [row | {"ground_truth": json.dumps(truth)} for row in rows]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = truth | {"title": "a" * 300 + "c" * 300}
    (folder / "example_predictions.jsonl").write_text(as_jsonl([(rows[0]["id"], answer)]))
    look = first_look(load_benchmark(str(folder)))
    [title] = [row for row in look.rows if row.field == "title"]
    assert "".join(part.text for part in title.prediction.parts) == (
        "…" + "a" * 30 + "c" * 60 + "…"
    )
    assert (look.wrong, look.values) == (1, 2)
