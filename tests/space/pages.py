"""What tests do on the pages of the Space."""

import csv
import io
import json
import zipfile

import openpyxl
from playwright.sync_api import expect
from report.test_browser import CONTRAST

RUN = """() => new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", done);
})"""


def upload(page, name, content):
    if isinstance(content, str):
        content = content.encode()
    page.locator("#file input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    page.locator("#file").get_by_role("link").wait_for()
    page.locator("#score").click()


def choose(page, title):
    page.locator("#benchmark input").click()
    page.get_by_role("option", name=title, exact=True).click()
    expect(page.locator("#benchmark input")).to_have_value(title)


def go_to_tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()
    settled(page)


def settled(page):
    """Wait until what was just opened can be filled in.

    Gradio sets the values of a tab's or accordion's fields once more in the frame after they came.
    """
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def still(page):
    """Wait until nothing in a page or frame fades or moves any more: else colors are mixed."""
    page.wait_for_function("document.getAnimations().every((each) => each.playState !== 'running')")


def assert_contrast(page, texts=30):
    """Assert that all text has contrast in both schemes, more texts than the given number."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        is_dark = "(dark) => document.body.matches('.dark') === dark"
        page.wait_for_function(is_dark, arg=scheme == "dark")
        still(page)
        found = page.evaluate(CONTRAST)
        assert found["count"] > texts
        assert (found["page"] < 0.1) == (scheme == "dark")
        assert found["low"] == []


def report(page, within="#report"):
    """The report in its frame, whose script has run."""
    inside = page.frame_locator(f"{within} iframe")
    inside.locator("h1").wait_for()
    inside.locator("html").evaluate(RUN)
    return inside


def save(page, kind, folder):
    with page.expect_download() as waiting:
        page.locator(f"#download-{kind}").click()
    waiting.value.save_as(folder / waiting.value.suggested_filename)
    return folder / waiting.value.suggested_filename


def as_csv(answers):
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerows([("id", "prediction"), *((key, json.dumps(value)) for key, value in answers)])
    return table.getvalue()


def as_xlsx(answers):
    book = openpyxl.Workbook()
    for row in [("id", "prediction"), *((key, json.dumps(value)) for key, value in answers)]:
        book.active.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def as_zip(answers):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for key, value in answers:
            archive.writestr(f"{key}.json", json.dumps(value))
    return data.getvalue()


def as_jsonl(answers):
    return "".join(json.dumps({"id": key, "prediction": value}) + "\n" for key, value in answers)
