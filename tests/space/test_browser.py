"""The Space in a real browser: it needs Chromium and Playwright, and no network."""

import json
import re
import zipfile

import openpyxl
import pytest
from playwright.sync_api import expect
from report.test_browser import asked_in_a_tab
from report.test_truth_errors import told
from space.pages import (
    report,
    save,
    upload,
)

from hdbench.api import score

pytestmark = pytest.mark.slow

ATTACK = "window.attacked = true"
EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"


@pytest.fixture(scope="module")
def answers(sample):
    lines = (sample / EXAMPLE).read_text().splitlines()
    return {each["id"]: each.get("prediction", each.get("text")) for each in map(json.loads, lines)}


def test_example_is_scored_in_one_click_with_all_downloads(visit, sample, tmp_path):
    expected = score(str(sample / "hdb/zettelkatalog"), sample / EXAMPLE)
    headline = f"{expected.figures['f1_micro']:.4f}"
    page = visit(accept_downloads=True)
    page.locator("#example").click()
    inside = report(page)
    assert page.locator(".hdb-score b").inner_text() == f"F1 (micro) {headline}."
    assert page.locator(".hdb-big").inner_text().startswith("2 of 8 cards need no correction; on")
    first = page.locator("#first").inner_text()
    assert "8 items: too few for an interval" in first
    figures = [item["f1"] for item in expected.per_item]
    assert f"Single items: {min(figures):.4f} to {max(figures):.4f}" in first
    expect(inside.locator(".item")).to_have_count(len(expected.ids))
    inside.get_by_role("link", name="Items", exact=True).click()
    inside.get_by_label("Search ids and values").fill("sample-02")
    expect(inside.locator(".item:visible")).to_have_count(1)
    # Score and warnings stand beside the frame; in a tab of its own the report has them itself.
    expect(inside.locator(".headline")).to_be_hidden()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open in a new tab").click()
    expect(opened.value.locator(".headline")).to_be_visible()
    assert opened.value.evaluate("[window.opener, window.origin]") == [None, "null"]
    assert page.locator("#report iframe").bounding_box()["height"] < 900

    record = json.loads(save(page, "json", tmp_path).read_text())
    assert record["figures"]["f1_micro"] == expected.figures["f1_micro"]
    assert len(record["per_item"]) == len(expected.ids)
    assert record["dataset"]["benchmark"] == "hdb/zettelkatalog"
    assert record["answers"]["path"] == "example_predictions.jsonl"
    assert str(sample) not in json.dumps(record)
    book = openpyxl.load_workbook(save(page, "xlsx", tmp_path))
    assert book["Items"].max_row == 1 + len(expected.ids)
    with zipfile.ZipFile(save(page, "csv", tmp_path)) as archive:
        assert sorted(archive.namelist()) == ["errors.csv", "fields.csv", "items.csv"]
    html = save(page, "html", tmp_path).read_text()
    assert headline in html
    assert str(sample) not in html
    assert "/tmp" not in html


def test_a_bad_file_is_one_plain_line_without_the_servers_paths(visit):
    page = visit()
    upload(page, "letters.pdf", b"%PDF-1.7 ...")
    page.locator(".hdb-problem").wait_for()
    told = page.locator(".hdb-problem").inner_text()
    assert told.startswith("This file cannot be scored: letters.pdf: this is a PDF")
    assert "/tmp" not in told
    assert "Traceback" not in page.content()
    expect(page.locator("#report iframe")).to_have_count(0)
    expect(page.locator("#download-json")).to_be_hidden()


def test_on_a_phone_a_problem_is_in_sight(visit):
    page = visit(width=390, height=844)
    page.locator("#score").click()
    expect(page.locator("#first [role=alert]")).to_be_in_viewport(ratio=0.99)


def test_hostile_answers_run_nothing(visit, sample):
    title = f"</iframe><script>parent.{ATTACK};{ATTACK}</script><img src=x onerror='{ATTACK}'>"
    record = {"publication": {"title": title, "place": f"${{{ATTACK}}} {{{{value}}}} \u202e"}}
    lines = [
        {"id": f"sample-0{n}", "prediction": record, "model": f"<img src=x onerror={ATTACK}>{m}"}
        for n in (1, 2)
        for m in "ab"
    ]
    page = visit()
    name = f"${{{ATTACK}}}<img src=x onerror='{ATTACK}'>.jsonl".replace("/", "")
    upload(page, name, "".join(json.dumps(line) + "\n" for line in lines))
    inside = report(page)
    inside.get_by_text("</iframe><script>").first.wait_for(state="attached")
    page.locator("#run").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("window.attacked") is None
    assert [frame.evaluate("window.attacked") for frame in page.frames] == [None, None]
    assert page.locator("#first img, #run img").count() == 0
    sandbox = page.locator("#report iframe").get_attribute("sandbox")
    assert sandbox == "allow-scripts allow-popups allow-popups-to-escape-sandbox"


def test_an_error_in_the_truth_is_reported_from_within_the_frame(visit):
    # At this proxy nothing answers, so that the tab does not reach the Hub.
    page = visit(proxy={"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"})
    page.locator("#example").click()
    link = report(page).get_by_role("link", name="Report an error in the ground truth").first
    address = link.get_attribute("href")
    request = asked_in_a_tab(page, link.click)
    assert request.url == address
    assert "referer" not in request.headers
    assert address.startswith("https://huggingface.co/datasets/hdb/zettelkatalog/discussions/new?")
    title, _ = told(address)
    assert title.startswith("Error in the ground truth: sample-")


def test_each_of_several_models_can_be_shown(visit, answers):
    lines = [
        {"id": key, "prediction": value, "model": model}
        for model, part in (("Good", 2), ("Poor", 1))
        for key, value in list(answers.items())[:part]
    ]
    page = visit()
    upload(page, "two.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    report(page)
    expect(page.locator("#first tbody tr")).to_have_count(2)
    expect(page.locator("#first")).to_contain_text("2 answered")
    page.locator("#run input").click()
    page.get_by_role("option", name="Poor").click()
    page.locator("#first").get_by_text("1 answered").wait_for()
    expect(page.locator(".hdb-chosen")).to_have_text(re.compile("^Poor"))
