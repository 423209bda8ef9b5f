"""Lists of records and transcriptions in the Space, in a real browser."""

import json
from functools import partial

import pytest
from playwright.sync_api import expect
from space.pages import as_jsonl, choose, report, save, upload

pytestmark = pytest.mark.slow


@pytest.fixture
def visit(visit_at, samples_url):
    """Open the Space over the samples of all benchmarks."""
    return partial(visit_at, samples_url)


def truths(samples, name):
    """Id → ground truth."""
    rows = (samples / f"hdb/{name}/metadata.jsonl").read_text().splitlines()
    return {row["id"]: json.loads(row["ground_truth"]) for row in map(json.loads, rows)}


def test_list_is_compared_by_content_and_unmatched_is_marked(visit, samples, tmp_path):
    answers = truths(samples, "companylists")
    first = next(iter(answers))
    values = sum(
        entry[name] not in (None, "", "null")
        for page in answers.values()
        for entry in page["entries"]
        for name in ("company_name", "location")
    )
    left_out, *others = answers[first]["entries"]
    assert None not in (left_out["company_name"], left_out["location"])
    made_up = {"company_name": "Qxwv 77", "location": "Jkzy"}
    answers[first] = {"entries": [*reversed(others), made_up]}

    page = visit(accept_downloads=True)
    choose(page, "Company lists")
    upload(page, "lists.jsonl", as_jsonl(answers.items()))
    inside = report(page)
    record = json.loads(save(page, "json", tmp_path).read_text())
    figures = record["figures"]
    assert figures["true_positives"] == values - 2
    assert figures["false_positives"] == figures["false_negatives"] == 2
    item = inside.locator(f".item:has-text('{first}')").first
    expect(item.locator(".record-missed")).to_have_count(1)
    expect(item.locator(".record-invented")).to_have_count(1)
    assert "Qxwv 77" in item.inner_text()


def test_a_text_stands_above_its_repair_on_a_phone_in_german(visit, samples):
    rows = (samples / "hdb/advertxml/metadata.jsonl").read_text().splitlines()
    given = {row["id"]: row["text"] for row in map(json.loads, rows)}
    page = visit(width=390, height=844, language="de")
    choose(page, "Buchanzeigen in XML")
    page.locator("#example").click()
    inside = report(page)
    item = inside.locator(".item").first
    name = next(each for each in given if each in item.inner_text())
    item.get_by_text("Der Text, den das Modell bekommen hat").click()
    shown = item.locator("details[open]").first
    assert given[name] in shown.inner_text()
    width = inside.locator("html").evaluate("html => [html.scrollWidth, html.clientWidth]")
    assert width[0] <= width[1]
