"""What tests do on the pages of the Space."""

import json

from playwright.sync_api import expect

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


def as_jsonl(answers):
    return "".join(json.dumps({"id": key, "prediction": value}) + "\n" for key, value in answers)
