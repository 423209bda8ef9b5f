"""The leaderboard's tab in a real browser, and the reports that it links to."""

import html
import http.client
import json
import re
import shutil
from urllib.parse import urlsplit

import httpx
import pytest
from helpers.run_folders import RIGHT, SPEC, write_run
from playwright.sync_api import expect
from space.servers import APP, serving, wait_for_client
from space.visits import looked
from starlette.applications import Starlette
from starlette.testclient import TestClient

from hdbench.space import work
from hdbench.space.context import SpaceContext
from hdbench.space.leaderboard import Leaderboards, ranked, run_reports

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
    """The page of the leaderboards, and these in their frame."""

    def opened(query="", **options):
        page = visit_at(f"{url}?tab=leaderboard{query}", awaited="#board", **options)
        board = page.frame_locator("#board")
        board.locator("#wanted").wait_for()
        return page, board

    return opened


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
    for protocol in ("published", "documented"):
        _, board = opened(f"&protocol={protocol}")
        found = by_command(run_hdbench, folder, "--protocol", protocol)
        named = [row["model"].replace("\u202e", r"\u202e") for row in found]
        expect(shown(board)).to_have_text(named)
        ranks = models(board).locator("[data-key=rank]").all_inner_texts()
        assert ranks == ["1–2", "1–2", "3–4", "3–4"]
        values = models(board).locator("[data-key=headline]").all_inner_texts()
        assert values == [f"{row['value']:.3f}" for row in found]


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
def test_new_runs_appear_without_restart_and_bad_ones_are_named(url, folder):
    added = [
        add_run(folder, "f1", 23, model="maker/newcomer"),
        add_run(folder, "g1", 1, items=["none"], model="lost"),
    ]
    try:
        page = looked(f"{url}?tab=leaderboard&protocol=published")
        assert "maker/newcomer" in httpx.get(f"{url}board?protocol=published").text
        assert "Left out because they cannot be read: 1" in page
        told = "g1: its run.json declares an item that hdb/cards does not have, 'none'"
        assert told in html.unescape(page)
        assert str(folder) not in page
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


@pytest.fixture
def boards(tmp_path, monkeypatch):
    """The leaderboards of a namespace of their own."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    monkeypatch.setenv("HDBENCH_CACHE", str(tmp_path / "cache"))
    work.load()
    return Leaderboards(SpaceContext(write_namespace(tmp_path) / "hdb"))


def values(shown):
    """Model → figure, on the larger leaderboard of a page."""
    body = shown["en"]["board"].partition('aria-labelledby="board-1"')[2].partition("</table>")[0]
    names = re.findall(r'<th scope="row"><a [^>]*>(?:<bdi[^>]*>)?([^<]+)', body)
    figures = re.findall(r'data-key="headline"[^>]* data-value="([^"]+)"', body)
    return dict(zip(names, map(float, figures), strict=True))


@pytest.mark.nightly
def test_a_ranking_is_kept_until_its_runs_change(boards, tmp_path):
    def piece():
        made = boards.piece("cards", "documented", strict=False)
        made.wait(60)
        assert made.problem is None
        return made

    first = piece()
    assert first.progress is not None
    assert piece() is first
    # Another server finds it in the files of the first.
    again = Leaderboards(SpaceContext(tmp_path / "hdb")).piece("cards", "documented", strict=False)
    again.wait(10)
    assert (again.progress, again.shown) == (None, first.shown)
    answers = tmp_path / "hdb/results/cards/c1/answers.jsonl"
    answers.write_text(answers.read_text().replace("1942", "1924"))
    second = piece()
    assert values(first.shown)["service"] < values(second.shown)["service"] == 1
    (tmp_path / "hdb/results/models.yaml").write_text("service: 3\n")
    told, _ = piece().shown["en"]["left_out"][0]
    assert told.startswith("models.yaml: service: Input should be a valid dictionary")


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
    with TestClient(Starlette(routes=[run_reports(context)])) as client:
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
def test_the_strict_board_counts_sound_json_alone(tmp_path):
    folder = write_namespace(tmp_path)
    fenced = {item: {"text": f"```json\n{json.dumps(RIGHT)}\n```"} for item in ITEMS}
    run = folder / "hdb/results/cards/a1"
    info = json.loads((run / "run.json").read_text())
    write_run(folder / "hdb/results/cards/f1", fenced, **info | {"run": "f1", "model": "fenced"})
    context = SpaceContext(folder / "hdb")
    lenient, strict = (
        values(ranked(context, "cards", "documented", strict)) for strict in (False, True)
    )
    assert (lenient.pop("fenced"), strict.pop("fenced")) == (1.0, 0.0)
    assert lenient == strict
