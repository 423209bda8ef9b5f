"""The leaderboard's tab in a real browser, and the reports that it links to."""

import http.client
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

import httpx
import pytest
from helpers.run_folders import RIGHT, SPEC, write_run
from playwright.sync_api import expect
from space.pages import assert_contrast, go_to_tab, settled
from space.servers import APP, serving, wait_for_client
from starlette.applications import Starlette
from starlette.testclient import TestClient

from hdbench.space.context import SpaceContext
from hdbench.space.jobs import recorded_runs
from hdbench.space.jobs.recorded_runs import Rankings

pytestmark = pytest.mark.nightly

ITEMS = [f"{number:04}" for number in range(24)]
WRONG = {"title": "Stellingen", "year": 1942}
ATTACK = "window.attacked = true"
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
    """The leaderboard's tab, opened."""

    def opened(name="Leaderboard", **options):
        page = visit_at(url, **options)
        go_to_tab(page, name)
        page.locator(".hdb-scroll tbody").wait_for()
        page.locator("#board-filters > button").click()
        page.locator("#board-words").wait_for()
        settled(page)
        return page

    return opened


def rows(page):
    """The texts of the cells of each row."""
    return page.locator(".hdb-scroll tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
    )


def wait_for_rows(page, count):
    page.wait_for_function(
        "count => document.querySelectorAll('.hdb-scroll tbody tr').length === count", arg=count
    )


def choose(page, box, option):
    page.locator(f"{box} input").click()
    page.get_by_role("option", name=option).click()


def by_command(run_hdbench, folder, *options):
    """The rows of the larger board as the command line gives them."""
    done = run_hdbench("leaderboard", "hdb/results/cards", "--format", "json", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    boards = json.loads(done.stdout)["leaderboards"]
    assert [len(board["rows"]) for board in boards] == [4, 1]
    return boards[0]["rows"]


def expected_rows(found):
    for row in found:
        interval = "{low:.3f}–{high:.3f}".format(**row["interval"])
        spread = "\n{:.3f}–{:.3f}".format(*row["spread"]) if row["spread"] else ""
        low, high = row["rank"]["low"], row["rank"]["high"]
        yield [
            f"{low}–{high}" if low < high else str(low),
            row["model"].replace("\u202e", r"\u202e"),
            f"{row['value']:.3f} {interval}",
            f"{len(row['runs'])}{spread}",
            f"{100 * row['answered']:.1f} %",
        ]


def test_ranks_and_values_are_those_of_the_command(opened, folder, run_hdbench):
    page = opened()
    for protocol in ("published", "documented"):
        page.locator("#board-protocol").get_by_label(protocol).check()
        page.get_by_text(f"{protocol} protocol: 24 items").wait_for()
        found = by_command(run_hdbench, folder, "--protocol", protocol)
        assert [row["rank"] for row in found] == [{"low": 1, "high": 2}] * 2 + [
            {"low": 3, "high": 4}
        ] * 2
        assert [row[:5] for row in rows(page)] == list(expected_rows(found))
    told = page.locator(".hdb-board").inner_text()
    meaning = "A rank such as 1–3 means that over all items of this kind the model may be anywhere"
    assert meaning in told
    assert "open-small and open-large cannot be told apart at the top" in told
    table = page.locator(".hdb-scroll table")
    assert "24 items, prompt.txt; models: 4" in table.locator("caption").inner_text()
    heads = table.locator("thead th[scope=col]").all_inner_texts()
    assert len(heads) == len(rows(page)[0]) == 9
    assert table.locator("tbody th[scope=row]").count() == 4
    assert [row[6] for row in rows(page)] == ["2.5"] * 4
    assert [row[7] for row in rows(page)] == ["62.50", *["not known"] * 3]  # 1.5 USD for 24 items


def test_interval_bar_is_drawn_on_the_scale_of_the_board(opened, folder, run_hdbench):
    page = opened()
    found = by_command(run_hdbench, folder)
    low = min(row["interval"]["low"] for row in found)
    high = max(row["interval"]["high"] for row in found)
    bars = page.locator(".hdb-mark-spread").evaluate_all(
        "lines => lines.map((one) => ['x1', 'x2'].map((end) => parseFloat(one.getAttribute(end))))"
    )
    for (left, right), row in zip(bars, found, strict=True):
        for place, value in ((left, row["interval"]["low"]), (right, row["interval"]["high"])):
            assert place == pytest.approx(100 * (value - low) / (high - low), abs=0.06)
    assert f"from {low:.3f} to {high:.3f}" in page.locator(".hdb-board").inner_text()


def test_facts_about_models_are_signs_with_a_legend(opened):
    page = opened()
    assert [" ".join(row[5].split()) for row in rows(page)] == [
        "○ open weights ⌂ runs on a workstation 12B · MIT",
        "○ open weights 400B · Apache-2.0",
        "",
        "",
    ]
    assert page.locator(".hdb-legend").inner_text().split("\n") == [
        "○ open weights",
        "⌂ runs on a workstation",
    ]
    sources = page.locator(".hdb-board td a:not([href^='report/'])")
    assert [each.get_attribute("href") for each in sources.all()] == [
        "https://example.org/open-small"
    ]


def test_filters_hide_rows_and_keep_ranks(opened):
    page = opened()
    page.get_by_label("Open weights").check()
    wait_for_rows(page, 2)
    page.get_by_label("Runs locally").check()
    wait_for_rows(page, 1)
    assert rows(page)[0][:2] == ["1–2", "open-small"]
    page.get_by_label("Runs locally").uncheck()
    page.get_by_label("Open weights").uncheck()
    wait_for_rows(page, 4)
    page.locator("#board-words").get_by_label("Model").fill("SERV")
    wait_for_rows(page, 1)
    assert rows(page)[0][:2] == ["3–4", "service"]
    told = page.locator(".hdb-board [role=status]").inner_text()
    assert told == "1 of 4 models shown. The ranks are among all 4."
    page.locator("#board-words").get_by_label("Model").fill("nobody")
    page.get_by_text("0 of 4 models shown").wait_for()
    expect(page.locator(".hdb-scroll table")).to_have_count(0)


@pytest.mark.nightly
def test_board_of_most_models_comes_first_and_others_are_offered(opened):
    page = opened()
    assert "Leaderboards of this benchmark: 2" in page.locator(".hdb-board").inner_text()
    assert page.locator("#board input").input_value() == "24 items, prompt.txt; models: 4"
    choose(page, "#board", re.compile("^4 items"))
    wait_for_rows(page, 1)
    told = page.locator(".hdb-board").inner_text()
    why = "4 items are too few for an interval or a rank, which need 20"
    assert told.index(why) < told.index("unsure")
    assert rows(page)[0][0] == "unsure"  # no rank before it
    assert rows(page)[0][4] == ""  # nothing is known of it
    page.locator("#board-protocol").get_by_label("published").check()
    page.get_by_text("published protocol: 4 items").wait_for()


def test_a_link_opens_the_report_of_the_run(opened, folder):
    page = opened()
    link = page.locator(".hdb-reports a", has_text="b 1")
    assert link.get_attribute("href") == "report/cards/b%201?protocol=documented"
    with page.expect_popup() as waiting:
        link.click()
    report = waiting.value
    report.wait_for_load_state()
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
    page = opened()
    assert len(rows(page)) == 4
    added = [
        add_run(folder, "f1", 23, model="maker/newcomer"),
        add_run(folder, "g1", 1, items=["none"], model="lost"),
    ]
    try:
        page.locator("#board-protocol").get_by_label("published").check()
        wait_for_rows(page, 5)
        page.locator("#board-protocol").get_by_label("documented").check()
        page.get_by_text("documented protocol").wait_for()
        wait_for_rows(page, 5)
        assert ["maker/newcomer", "f1"] in [[row[1], row[-1]] for row in rows(page)]
        assert page.locator("tbody .hdb-model wbr").count() == 1  # the line may end at the slash
        told = page.locator(".hdb-board .hdb-warnings").inner_text()
        assert "Left out because they cannot be read: 1" in told
        assert "g1: its run.json declares an item that hdb/cards does not have, 'none'" in told
        assert str(folder) not in page.content()
    finally:
        for each in added:
            shutil.rmtree(each)


@pytest.mark.nightly
def test_inconsistent_runs_are_named_above_the_table(opened, folder):
    page = opened()
    assert page.locator(".hdb-board .hdb-warnings").count() == 0
    assert "inconsistent" not in page.locator(".hdb-board").inner_text()
    added = add_run(folder, "a3", 0, model="open-small")
    try:
        page.locator("#board-protocol").get_by_label("published").check()
        told = page.locator(".hdb-board .hdb-warnings")
        told.wait_for()
        assert "open-small: 1.000 (a1); 0.917 (a2); 0.500 (a3)" in told.inner_text()
        assert "further apart than their own 95 % intervals allow" in told.inner_text()
        [cell] = [row[3] for row in rows(page) if row[1] == "open-small"]
        assert cell == "3\n0.500–1.000\ninconsistent"
        page.locator("#board-protocol").get_by_label("documented").check()
        page.get_by_text("documented protocol").wait_for()
        german = opened("Rangliste", language="de-CH").locator(".hdb-board")
        assert "Ein Rang wie 1–3 bedeutet" in german.inner_text()
        assert "open-small: 1,000 (a1); 0,917 (a2); 0,500 (a3)" in german.inner_text()
    finally:
        shutil.rmtree(added)


def test_hostile_names_run_nothing(opened):
    page = opened()
    choose(page, "#board", re.compile("^4 items"))
    wait_for_rows(page, 1)
    choose(page, "#board", re.compile("^24 items"))
    wait_for_rows(page, 4)
    page.wait_for_timeout(300)
    assert page.evaluate("window.attacked") is None
    of_own_figures = '[src^="data:image/svg+xml;base64,"]'
    images = page.locator(f"#leaderboard img:not({of_own_figures}), #board img")
    assert images.count() == 0
    assert page.get_by_text("<img src=x onerror=").count() > 0


@pytest.mark.nightly
def test_it_speaks_german_to_a_german_browser(opened):
    page = opened("Rangliste", language="de-CH")
    told = page.locator(".hdb-board").inner_text()
    assert "Gezeigte Modelle: 4 von 4" in told
    assert "24 Einträge, prompt.txt; Modelle: 4" in told
    assert rows(page)[2][5:9] == ["nein", "nicht veröffentlicht", "proprietär", "nein"]
    page.get_by_label("Lokal lauffähig").check()
    wait_for_rows(page, 1)
    with page.expect_popup() as waiting:
        page.locator(".hdb-reports a").first.click()
    waiting.value.locator(".item").first.wait_for()
    expect(waiting.value.locator("html")).to_have_attribute("lang", "de")


@pytest.mark.nightly
def test_table_scrolls_on_a_phone_and_has_contrast_and_labels(opened):
    page = opened(width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.get_by_role("region", name="Table of the models; it scrolls sideways")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.hdb-scroll').scrollLeft > 0")
    name = page.locator("tbody .hdb-model").first.bounding_box()
    box.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    assert page.locator("tbody .hdb-model").first.bounding_box()["x"] >= 0
    assert page.locator(".hdb-reports a").first.bounding_box()["x"] < 390
    assert name["x"] >= 0

    page.set_viewport_size({"width": 1280, "height": 900})
    assert_contrast(page, texts=60)
    unlabelled = """() => [...document.querySelectorAll("input, select, textarea, button")]
      .filter((each) => each.checkVisibility())
      .filter((each) => !each.labels?.length && !each.ariaLabel && !each.innerText.trim()
        && !each.title)
      .map((each) => each.outerHTML.slice(0, 150))"""
    assert page.evaluate(unlabelled) == []


def test_ranking_is_shared_until_its_runs_change(tmp_path):
    context = SpaceContext(write_namespace(tmp_path) / "hdb")
    rankings = Rankings(context)
    with ThreadPoolExecutor(8) as visitors:
        asked = list(visitors.map(lambda _: rankings.of("cards", "documented"), range(8)))
    assert all(work is asked[0] for work in asked)
    first = asked[0].ready.result()
    assert (asked[0].done, asked[0].total) == (6, 6)
    assert rankings.of("cards", "documented") is asked[0]
    answers = tmp_path / "hdb/results/cards/c1/answers.jsonl"
    answers.write_text(answers.read_text().replace("1942", "1924"))
    second = rankings.of("cards", "documented").ready.result()
    values = [
        {row.model: row.value for row in ranking.boards[0].rows} for ranking in (first, second)
    ]
    assert values[0]["service"] < values[1]["service"] == 1
    (tmp_path / "hdb/results/models.yaml").write_text("service: 3\n")
    third = rankings.of("cards", "documented").ready.result()
    assert third.facts == {}
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
def reports(tmp_path):
    """The route of the reports on a server of its own, and where their pages are kept."""
    context = SpaceContext(write_namespace(tmp_path) / "hdb")
    pages = tmp_path / "pages"
    client = TestClient(Starlette(routes=[recorded_runs.run_reports(context, pages)]))
    with client:
        yield partial(client.get), pages


def test_only_so_many_reports_are_kept_those_asked_for_last(reports, monkeypatch):
    monkeypatch.setattr(recorded_runs, "MAX_PAGES", 2)
    get, pages = reports
    kept = []
    for run in ("a1", "a2", "a1", "c1"):
        assert get(f"/report/cards/{run}").status_code == 200
        kept.append({page.name for page in pages.iterdir()})
    a1, (a2,), c1 = kept[0], kept[1] - kept[0], kept[3] - kept[1]
    assert kept[2] == a1 | {a2}
    assert kept[3] == a1 | c1


def test_a_report_is_made_anew_when_its_run_has_changed(reports, tmp_path):
    get, _ = reports
    assert "1942" in get("/report/cards/c1").text
    answers = tmp_path / "hdb/results/cards/c1/answers.jsonl"
    answers.write_text(answers.read_text().replace("1942", "1943"))
    assert "1943" in get("/report/cards/c1").text


def test_when_too_many_reports_are_asked_for_that_is_said(reports, monkeypatch):
    monkeypatch.setattr(recorded_runs, "MAX_WAITING", 0)
    get, _ = reports
    answer = get("/report/cards/a1", headers={"accept-language": "de"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"
    assert answer.text.startswith("Im Moment werden zu viele Berichte erstellt.")


def test_why_a_report_cannot_be_made_is_one_line_without_paths(reports, tmp_path):
    get, _ = reports
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
        {row.model: row.value for row in work.ready.result().boards[0].rows}
        for work in (
            rankings.of("cards", "documented"),
            rankings.of("cards", "documented", strict=True),
        )
    )
    assert (lenient.pop("fenced"), strict.pop("fenced")) == (1.0, 0.0)
    assert lenient == strict

    page = opened()
    before = rows(page)
    page.get_by_label("Only valid JSON counts as an answer").check()
    page.locator(".hdb-board caption").get_by_text("Only valid JSON counts").wait_for()
    assert rows(page) == before  # here all answers were records from the beginning
