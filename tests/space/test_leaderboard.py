"""The leaderboard's tab in a real browser, and the reports that it links to."""

import http.client
import json
import re
import shutil
from urllib.parse import urlsplit

import httpx
import pytest
from helpers.run_folders import RIGHT, SPEC, write_run
from playwright.sync_api import expect
from space.looking import Look
from space.pages import go_to_tab, settled
from space.servers import APP, serving, wait_for_client
from starlette.applications import Starlette
from starlette.testclient import TestClient

from hdbench.space.context import SpaceContext
from hdbench.space.jobs import recorded_runs
from hdbench.space.jobs.recorded_runs import Rankings

pytestmark = pytest.mark.slow

ITEMS = [f"{number:04}" for number in range(24)]
WRONG = {"title": "Stellingen", "year": 1942}
ATTACK = "attacked=1"
HOSTILE = f"<img src=x onerror='{ATTACK}'>${{{ATTACK}}}\u202e"
MODELS = """
open-small: {open_weights: true, parameters: 12B, licence: MIT, runs_locally: true,
  source: "https://example.org/open-small"}
open-large: {open_weights: true, parameters: 400B, licence: Apache-2.0, runs_locally: false,
  source: "javascript:alert(1)"}
service: {open_weights: false, parameters: not published, licence: proprietary, runs_locally: false,
  source: its maker}
unsure: {open_weights: null, parameters: null, licence: null, runs_locally: null, source: nobody}
"""


def write_namespace(folder):
    """Twenty-four cards, enough to call two models different, and runs of five models."""
    cards = folder / "hdb/cards"
    cards.mkdir(parents=True)
    (cards / "benchmark.yaml").write_text(json.dumps(SPEC))  # JSON is YAML
    rows = [{"id": item, "ground_truth": json.dumps(RIGHT)} for item in ITEMS]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    add_run(folder, "a1", 24, model="open-small", cost_usd=1.5)
    add_run(folder, "a2", 20, model="open-small")
    add_run(folder, "b 1", 18, model="open-large", run="../../b")
    add_run(folder, "c1", 4, model="service")
    add_run(folder, "d1", 0, model=HOSTILE)
    add_run(folder, "e1", 2, model="unsure", items=ITEMS[:4], prompt={"name": HOSTILE})
    (folder / "hdb/results/models.yaml").write_text(MODELS)
    return folder


def add_run(folder, name, right, *, items=ITEMS, **info):
    """A run that has so many of the items right, and of the others the title alone."""
    answers = {
        item: {"prediction": RIGHT if place < right else WRONG, "seconds": 2.5}
        for place, item in enumerate(items)
    }
    info = {
        "run": name,
        "items": items,
        "prompt": {"name": "prompt.txt", "sha256": "ab" * 32},
    } | info
    return write_run(folder / "hdb/results/cards" / name, answers, **info)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_namespace(tmp_path_factory.mktemp("namespace"))


@pytest.fixture(scope="module")
def url(folder):
    with serving(APP, cwd=folder) as url:
        wait_for_client(url)
        yield url


@pytest.fixture
def opened(visit_at, url):
    """The Space with the leaderboard's tab open, and the leaderboards in their frame."""

    def opened(name="Leaderboard", **options):
        page = visit_at(url, **options)
        go_to_tab(page, name)
        board = page.frame_locator("#leaderboard iframe")
        board.locator("#wanted").wait_for()
        rules(page)
        return page, board

    return opened


def rules(page):
    """Open the rules of scoring."""
    page.locator("#board-rules > button").click()
    page.locator("#board-protocol").wait_for()
    settled(page)


def models(board):
    """The table of the models on the larger leaderboard."""
    return board.locator("section:first-of-type table.ranking tbody").last


def shown(board):
    """The names of the models that are shown, in their order."""
    return models(board).locator("tr:visible th a:first-child")


def by_command(run_hdbench, folder, *options):
    """The rows of the larger leaderboard as the command line gives them."""
    done = run_hdbench("leaderboard", "hdb/results/cards", "--format", "json", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    boards = json.loads(done.stdout)["leaderboards"]
    assert [len(board["rows"]) for board in boards] == [4, 1]
    return boards[0]["rows"]


def test_ranks_and_values_are_those_of_the_command(opened, folder, run_hdbench):
    page, board = opened()
    for protocol in ("published", "documented"):
        page.locator("#board-protocol").get_by_label(protocol).check()
        board.get_by_role("heading", name=f"{protocol}, 24 items").wait_for()
        found = by_command(run_hdbench, folder, "--protocol", protocol)
        named = [row["model"].replace("\u202e", r"\u202e") for row in found]
        expect(shown(board)).to_have_text(named)
        ranks = models(board).locator("[data-key=rank]").all_inner_texts()
        assert ranks == ["1–2", "1–2", "3–4", "3–4"]
        assert [row["rank"] for row in found] == [{"low": 1, "high": 2}] * 2 + [
            {"low": 3, "high": 4}
        ] * 2
        values = models(board).locator("[data-key=headline]").all_inner_texts()
        assert values == [f"{row['value']:.3f}" for row in found]
    said = "open-small and open-large cannot be told apart at the top"
    assert said in board.locator("main").inner_text()


def test_a_link_opens_the_same_leaderboard_again(opened, visit_at):
    page, board = opened()
    page.locator("#board-protocol").get_by_label("published").check()
    board.get_by_role("heading", name="published, 24 items").wait_for()
    page.get_by_label("Only valid JSON counts as an answer").check()
    board.get_by_role("heading", name="strict").first.wait_for()
    board.get_by_role("checkbox", name="Open weights").check()
    board.get_by_role("button", name="model", exact=True).first.press("Enter")
    page.wait_for_url("**/*protocol=published&strict=on#open=on&board-1=model+ascending")
    kept = ["open-large", "open-small"]
    expect(shown(board)).to_have_text(kept)
    address = page.url

    page = visit_at(address, awaited="#leaderboard")
    board = page.frame_locator("#leaderboard iframe")
    expect(models(board).locator("tr:visible")).to_have_count(2)
    expect(shown(board)).to_have_text(kept)
    expect(board.get_by_role("heading", name="published, strict")).to_have_count(2)
    rules(page)
    assert page.locator("#board-protocol").get_by_label("published").is_checked()
    assert page.get_by_label("Only valid JSON counts as an answer").is_checked()
    expect(page).to_have_url(address)

    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("link", name="Deutsch").click()
    board.get_by_role("checkbox", name="Offene Gewichte").wait_for()
    expect(models(board).locator("tr:visible")).to_have_count(2)
    go_to_tab(page, "Vergleichen")
    expect(page).to_have_url(re.compile(r"/\?lang=de$"))
    go_to_tab(page, "Rangliste")
    page.wait_for_url("**/*open=on&board-1=model+ascending")
    expect(shown(board)).to_have_text(kept)


HUB = "https://huggingface.co/spaces/hdb/hdbench"
AROUND = """<!doctype html><title>hdbench</title>
<iframe src="{}" width=1200 height=800></iframe>
<script>
const told = [];
addEventListener("message", ({{ data }}) => {{ if ("queryString" in data) told.push(data); }});
</script>"""


LOADED = """window.loaded = 0;
document.addEventListener("load", ({ target }) => { loaded += target.tagName === "IFRAME"; }, true);
"""


def test_the_hub_around_the_space_gets_its_link(browser, url):
    link = "tab=leaderboards&benchmark=cards&protocol=published&strict=on"
    context = browser.new_context(permissions=["local-network-access"])
    page = context.new_page()
    page.add_init_script(LOADED)
    around = AROUND.format(f"{url}?__sign=secret&{link}#open=on")
    page.route(HUB, lambda route: route.fulfill(body=around, content_type="text/html"))
    page.goto(HUB)
    board = page.frame_locator("iframe").frame_locator("#leaderboard iframe")
    expect(board.get_by_role("heading", name="published, strict")).to_have_count(2)
    board.get_by_role("button", name="model", exact=True).first.press("Enter")
    told = {"queryString": link, "hash": "open=on&board-1=model+ascending"}
    page.wait_for_function("(hash) => told.at(-1)?.hash === hash", arg=told["hash"])
    assert page.evaluate("told.at(-1)") == told
    assert page.evaluate("told.filter((each) => each.queryString.includes('secret'))") == []
    page.wait_for_timeout(1000)
    assert page.frames[1].evaluate("loaded") <= 2  # with and without what is chosen in it
    context.close()


def test_the_frame_has_the_colors_and_the_window_of_the_page(visit_at, url):
    link = f"{url}?__theme=dark&tab=leaderboards"
    page = visit_at(link, awaited="#leaderboard", color_scheme="light")
    board = page.frame_locator("#leaderboard iframe")
    expect(board.locator("body")).to_have_css("background-color", "rgb(22, 21, 19)")
    board.get_by_role("link", name=", 4 items").click()
    expect(board.locator("#board-2")).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0


@pytest.mark.parametrize(
    "link",
    [
        "tab=leaderboards&benchmark=../../etc&protocol=../published&strict=on#model=<b>&board-1=x",
        "tab=settings&benchmark=cards",
    ],
)
def test_a_link_can_name_only_what_is_there(visit_at, url, link):
    page = visit_at(f"{url}?{link}", awaited="#tabs")
    go_to_tab(page, "Leaderboard")
    board = page.frame_locator("#leaderboard iframe")
    board.locator("#wanted").wait_for()
    rules(page)
    assert page.locator("#benchmark input").input_value() == "Cards"
    assert page.locator("#board-protocol").get_by_label("documented").is_checked()


def test_filters_hide_rows_and_keep_ranks(opened):
    _, board = opened()
    board.get_by_label("Open weights").check()
    expect(shown(board)).to_have_text(["open-small", "open-large"])
    board.get_by_label("Runs on a workstation").check()
    expect(shown(board)).to_have_text(["open-small"])
    assert models(board).locator("tr:visible [data-key=rank]").inner_text() == "1–2"
    found = board.locator(".found").first
    assert found.inner_text() == "1 of 4 models fit; the ranks are those among all."
    board.get_by_label("Open weights").uncheck()
    board.get_by_label("Runs on a workstation").uncheck()
    board.get_by_label("USD/1,000 items, at most").fill("62.6")  # 1.5 USD for 24 items
    expect(shown(board)).to_have_text(["open-small"])
    board.get_by_label("USD/1,000 items, at most").fill("62")
    expect(shown(board)).to_have_text([])


def test_a_link_opens_the_report_of_the_run(opened, folder):
    page, board = opened()
    again = models(board).get_by_role("link", name="2: a2")
    assert again.get_attribute("href") == "report/cards/a2?protocol=documented&lang=en"
    with page.expect_popup() as waiting:
        board.get_by_role("link", name="open-large").click()
    report = waiting.value
    report.wait_for_load_state()
    assert report.url.endswith("/report/cards/b%201?protocol=documented&lang=en")
    expect(report.locator(".item")).to_have_count(24)
    assert "open-large" in report.locator("body").inner_text()
    assert str(folder) not in report.content()
    assert "/tmp" not in report.content()
    report.get_by_label("Search ids and values").fill("0003")
    expect(report.locator(".item:visible")).to_have_count(1)


def test_a_report_can_reach_nothing_of_the_space(url):
    answer = httpx.get(f"{url}report/cards/d1?protocol=published", timeout=60)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    sandbox, *_ = policy.split(";")
    assert sandbox == "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
    assert "default-src 'none'" in answer.text
    assert "published" in answer.text
    assert HOSTILE not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "cards/nobody",
        "nothing/a1",
        "results/cards",
        "cards/..",
        "cards/%2e%2e",
        "cards/../../cards/a1",
        "cards/..%2f..%2fcards",
        "..%2fresults/cards",
        "cards/%252e%252e%252fcards",
        "cards//etc/passwd",
        "cards/%2fetc%2fpasswd",
        "cards/a1%00",
        "cards/a1%2frun.json",
        "cards/a1?protocol=../published",
    ],
)
def test_only_the_names_of_runs_lead_anywhere(url, path):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("GET", f"/report/{path}")  # as it is: other clients put such paths in order
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 404, text
    assert "/tmp" not in text
    assert "metadata" not in text


@pytest.mark.nightly
def test_new_runs_appear_without_restart_and_bad_ones_are_named(opened, folder):
    page, board = opened()
    expect(shown(board)).to_have_count(4)
    added = [
        add_run(folder, "f1", 23, model="maker/newcomer"),
        add_run(folder, "g1", 1, items=["none"], model="lost"),
    ]
    try:
        page.locator("#board-protocol").get_by_label("published").check()
        expect(models(board).locator("tr")).to_have_count(5)
        expect(shown(board).filter(has_text="maker/newcomer")).to_have_count(1)
        told = page.locator("#leaderboard .hdb-warnings").inner_text()
        assert "Left out because they cannot be read: 1" in told
        assert "g1: its run.json declares an item that hdb/cards does not have, 'none'" in told
        assert str(folder) not in page.content()
    finally:
        for each in added:
            shutil.rmtree(each)


def test_hostile_names_run_nothing(opened):
    page, board = opened()
    shown_name = HOSTILE.replace("\u202e", r"\u202e")
    expect(shown(board).filter(has_text=shown_name)).to_have_count(1)
    assert board.locator("h2").last.inner_text().count(shown_name) == 1  # a prompt's
    page.wait_for_timeout(300)
    [frame] = [each for each in page.frames if each != page.main_frame]
    for each in (page, frame):
        assert each.evaluate("window.attacked") is None
    assert board.locator("img:not([src^='data:image/svg+xml;base64,'])").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_as_wide_as_the_window_and_as_high_as_its_page(opened, width):
    page, board = opened(width=width, color_scheme="dark")
    frame = page.locator("#leaderboard iframe")
    board.locator("main > section").last.wait_for()
    expect(frame).not_to_have_attribute("style", "")
    inner = frame.element_handle().content_frame()
    look = Look(page)
    look.at("leaderboard")
    look.at("frame", inner)
    assert look.found == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    heights = "[innerHeight, document.documentElement.scrollHeight, innerWidth]"
    high, needed, wide = inner.evaluate(heights)
    assert high == needed
    assert inner.evaluate("document.documentElement.scrollWidth") == wide
    assert inner.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def ranked(rankings, *, strict=False):
    """The ranking of the cards, and how far it told to be."""
    told = []
    ranking = rankings.of(
        "cards", "documented", strict=strict, tell=lambda *counts: told.append(counts)
    )
    return ranking, told


def test_ranking_is_kept_until_its_runs_change(tmp_path):
    context = SpaceContext(write_namespace(tmp_path) / "hdb")
    rankings = Rankings(context)
    first, told = ranked(rankings)
    assert told == [(number, 6) for number in range(7)]
    again, told = ranked(rankings)
    assert (again is first, told) == (True, [])
    answers = tmp_path / "hdb/results/cards/c1/answers.jsonl"
    answers.write_text(answers.read_text().replace("1942", "1924"))
    second, _ = ranked(rankings)
    values = [
        {row.model: row.value for row in ranking.boards[0].rows} for ranking in (first, second)
    ]
    assert values[0]["service"] < values[1]["service"] == 1
    (tmp_path / "hdb/results/models.yaml").write_text("service: 3\n")
    third, _ = ranked(rankings)
    assert not any(row.open_weights for board in third.boards for row in board.rows)
    assert third.left_out == [
        "models.yaml: service: Input should be a valid dictionary or instance of ModelFacts"
    ]


def test_a_run_that_links_out_of_the_folder_is_none(tmp_path):
    context = SpaceContext(write_namespace(tmp_path) / "hdb")
    elsewhere = shutil.move(tmp_path / "hdb/results/cards/c1", tmp_path / "elsewhere")
    (tmp_path / "hdb/results/cards/c1").symlink_to(elsewhere)
    assert "c1" not in context.run_folders("cards")
    assert "a1" in context.run_folders("cards")


@pytest.fixture
def get(tmp_path):
    """Ask for reports on a server of their own."""
    context = SpaceContext(write_namespace(tmp_path) / "hdb")
    with TestClient(Starlette(routes=[recorded_runs.run_reports(context)])) as client:
        yield client.get


def test_a_report_is_made_anew_when_its_run_has_changed(get, tmp_path):
    assert "1942" in get("/report/cards/c1").text
    answers = tmp_path / "hdb/results/cards/c1/answers.jsonl"
    answers.write_text(answers.read_text().replace("1942", "1943"))
    assert "1943" in get("/report/cards/c1").text


def test_why_a_report_cannot_be_made_is_one_line_without_paths(get, tmp_path):
    (tmp_path / "hdb/results/cards/c1/run.json").write_text("{")
    answer = get("/report/cards/c1")
    assert answer.status_code == 422
    assert answer.text.startswith("c1/run.json:1: not JSON")
    assert len(answer.text.splitlines()) == 1
    assert str(tmp_path) not in answer.text


@pytest.mark.nightly
def test_the_strict_board_counts_sound_json_alone(tmp_path, opened):
    folder = write_namespace(tmp_path)
    fenced = {item: {"text": f"```json\n{json.dumps(RIGHT)}\n```"} for item in ITEMS}
    run = folder / "hdb/results/cards/a1"
    info = json.loads((run / "run.json").read_text())
    write_run(folder / "hdb/results/cards/f1", fenced, **info | {"run": "f1", "model": "fenced"})
    rankings = Rankings(SpaceContext(folder / "hdb"))
    lenient, strict = (
        {row.model: row.value for row in ranked(rankings, strict=strict)[0].boards[0].rows}
        for strict in (False, True)
    )
    assert (lenient.pop("fenced"), strict.pop("fenced")) == (1.0, 0.0)
    assert lenient == strict

    page, board = opened()
    before = shown(board).all_inner_texts()
    page.get_by_label("Only valid JSON counts as an answer").check()
    board.get_by_role("heading", name="strict").first.wait_for()
    expect(shown(board)).to_have_text(before)  # here all answers were records from the beginning
