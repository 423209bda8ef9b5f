"""The pages in a real browser: whatever happens on the way, and whoever uses them."""

import json

import pytest
from playwright.sync_api import expect
from space.german import Walk
from space.looking import Look
from space.pages import done, report, upload

from hdbench.space.texts import translations

pytestmark = pytest.mark.slow

TABS = ["compare", "run", "leaderboard", "about"]


CUT_OFF = ', "note": "' + "a word " * 1_500
"""What takes a while to repair."""


def long_file(folder, models):
    """Answers of so many models that they are scored for a while."""
    lines = (folder / "hdb/zettelkatalog/example_predictions.jsonl").read_text().splitlines()
    rows = [
        {
            "id": row["id"],
            "model": f"m{n}",
            "text": json.dumps(row.get("prediction"))[:-1] + CUT_OFF,
        }
        for n in range(models)
        for row in map(json.loads, lines)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_reload_at_any_moment_shows_what_has_come_until_then(visit_at, furnished_url, shown):
    page = visit_at(furnished_url, awaited="#file")
    page.route("**/score", lambda _: None)
    page.locator("#file").set_input_files(
        {"name": "a.jsonl", "mimeType": "text/plain", "buffer": b"{}"}
    )
    page.reload()  # while it is sent: nothing has come yet, and it can be chosen again
    page.unroute("**/score")
    expect(page.locator("#file")).to_be_enabled()
    upload(page, "long.jsonl", long_file(shown, 30))
    seen = set()
    while page.locator("[data-going]").count():
        seen.add(page.locator("#going label, #first h1").first.inner_text().partition(":")[0])
        page.reload()
    assert len(seen) > 1  # read, and then shown while the report is made
    address = page.url
    assert report(page).locator(".item").count() == 24
    heading = page.locator("h1").inner_text()
    page.get_by_role("link", name="published").click()
    done(page)
    expect(page.locator(".hdb-of")).to_contain_text("published protocol")
    page.go_back()
    done(page)
    assert (page.url, page.locator("h1").inner_text()) == (address, heading)
    page.go_back()
    page.locator(".items").wait_for()


def test_a_dropped_file_is_scored_and_the_progress_is_said(visit_at, furnished_url, shown):
    page = visit_at(furnished_url, awaited="#file")
    dropped = """(text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "dropped.jsonl"));
      dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    }"""
    page.evaluate(dropped, long_file(shown, 1))
    page.wait_for_url("**/*id=*")
    done(page)
    expect(page.locator(".hdb-of")).to_contain_text("dropped.jsonl")
    page.evaluate(dropped.replace("dropped", "next"), long_file(shown, 1))  # onto the result
    expect(page.locator(".hdb-of")).to_contain_text("next.jsonl")
    done(page)
    with page.expect_download() as waiting:
        page.locator("#download-json").click()
    assert waiting.value.suggested_filename == "hdbench-zettelkatalog.json"


def test_a_choice_of_the_leaderboard_is_in_the_address(visit_at, furnished_url):
    page = visit_at(f"{furnished_url}?tab=leaderboard", awaited="#board")
    board = page.frame_locator("#board")
    page.get_by_label("Protocol").select_option("published")
    page.wait_for_url("**/*protocol=published*")
    page.get_by_label("Only valid JSON").check()
    page.wait_for_url("**/*strict=on*")
    board.get_by_label("Open weights").check()
    page.wait_for_url("**/*#open=on")
    shown = board.locator("tbody tr:visible")
    expect(shown).to_have_count(2)
    page.reload()
    expect(shown).to_have_count(2)
    expect(page.get_by_label("Protocol")).to_have_value("published")
    expect(page.get_by_label("Only valid JSON")).to_be_checked()
    page.get_by_role("link", name="Deutsch").click()
    board.get_by_role("checkbox", name="Offene Gewichte").wait_for()
    expect(shown).to_have_count(2)
    height = page.locator("#board").evaluate("(each) => each.clientHeight")
    inside = board.locator("body").evaluate("(each) => each.offsetHeight")
    assert abs(height - inside) < 20
    page.go_back()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_label("Protocol")).to_have_value("published")


HUB = "https://huggingface.co/spaces/hdb/hdbench"
AROUND = """<!doctype html><title>hdbench</title>
<iframe src="{}" width=1200 height=800></iframe>
<script>
const told = [];
addEventListener("message", ({{ data }}) => {{ if ("queryString" in data) told.push(data); }});
</script>"""


def test_the_hub_around_the_space_gets_its_link(browser, furnished_url):
    link = "tab=leaderboard&benchmark=zettelkatalog&protocol=published"
    context = browser.new_context(permissions=["local-network-access"])
    page = context.new_page()
    around = AROUND.format(f"{furnished_url}?__sign=secret&__theme=dark&{link}#open=on")
    page.route(HUB, lambda route: route.fulfill(body=around, content_type="text/html"))
    page.goto(HUB)
    board = page.frame_locator("iframe").frame_locator("#board")
    expect(board.locator("body")).to_have_css("background-color", "rgb(22, 21, 19)")
    board.get_by_role("button", name="model", exact=True).first.press("Enter")
    told = {"queryString": link, "hash": "open=on&board-1=model+ascending"}
    page.wait_for_function("(hash) => told.at(-1)?.hash === hash", arg=told["hash"])
    assert page.evaluate("told.at(-1)") == told
    assert page.evaluate("told.filter((each) => each.queryString.includes('secret'))") == []
    context.close()


@pytest.mark.nightly
def test_axe_core_finds_nothing_and_no_page_stands_out_on_a_phone(visit_at, furnished_url):
    page = visit_at(furnished_url, awaited=".items", color_scheme="light", width=390)
    look = Look(page)

    def look_both_ways(state):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state
        look.at(state)
        page.set_viewport_size({"width": 1280, "height": 844})
        page.emulate_media(color_scheme="dark")
        look.at(f"{state}, the other way")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 390, "height": 844})

    look_both_ways("start")
    page.locator("button[name=example]").click()
    page.locator("#report .first").wait_for()
    look_both_ways("score")
    page.goto(f"{furnished_url}?tab=compare")
    for box in page.locator("[name=recorded]").all():
        box.check()
    page.get_by_role("button", name="Compare").click()
    page.locator(".hdb-verdicts").wait_for()
    page.locator("#work summary").first.click()
    look_both_ways("compared")
    for tab in TABS:
        page.goto(f"{furnished_url}?tab={tab}")
        done(page) if tab == "leaderboard" else None
        for each in page.locator("summary").all():
            each.click()
        look_both_ways(tab)
    assert look.found == []


@pytest.mark.nightly
def test_no_page_in_german_has_english_words(visit_at, furnished_url):
    page = visit_at(furnished_url, awaited=".items", language="de-DE")
    walk = Walk(page)
    walk.see("start")
    page.locator("button[name=example]").click()
    page.locator("#report .first").wait_for()
    walk.see("score")
    for tab in TABS:
        page.goto(f"{furnished_url}?tab={tab}")
        page.locator("h1").wait_for()
        walk.see(tab)
    page.goto(f"{furnished_url}?tab=compare")
    for box in page.locator("[name=recorded]").all():
        box.check()
    page.get_by_role("button", name=translations()["de"]["compare_start"]).click()
    page.locator(".hdb-verdicts").wait_for()
    walk.see("compared")
    assert walk.left == {}
