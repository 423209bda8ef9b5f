"""`hdbench leaderboard --format html`: one page whose tables can be sorted."""

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from hdbench.benchmarks.agreement import Ceiling
from hdbench.report.leaderboard.boards import Board, BoardRow, Run, RunKind
from hdbench.report.leaderboard.tables import leaderboard_page
from hdbench.report.leaderboard.words import verdict
from hdbench.statistics.bootstrap import Interval
from hdbench.statistics.ranking import Ranks

ATTACK = "window.attacked = true"
HOSTILE = f'"><script>{ATTACK}</script>\u202e{{x}}'
KIND = RunKind(
    benchmark="hdb/cards",
    dataset_version="1.0.0",
    dataset_sha256="",
    options="{}",
    metric="zettel_f1",
    rules=2,
    reading=2,
    protocol="documented",
    read_as=(),
    items=1263,
    item_set="",
    subset=HOSTILE,
    prompt=HOSTILE,
    prompt_sha256=None,
)


def row(model, value, ranks, *, seconds, interval=0.05):
    run = Run(HOSTILE, value, 1200, None, f"zettel_f1|{HOSTILE}")
    ends = Interval(value - interval, value + interval)
    about = {"provider": None, "released": None, "after_public": True, "drafted": 3}
    about |= {"spread": None, "runs_apart": False, "better": (), "without_media": None}
    used = {"answered": 0.95, "seconds": seconds, "tokens": None, "cost_usd": None}
    used |= {"item_usd": None}
    figures = {"value": value, "judged": value, "interval": ends}
    return BoardRow(Ranks(*ranks), model, **figures, runs=[run], **about, **used)


@pytest.fixture
def boards():
    """Nine is smaller than ten, as a number; of one model, the time is not known."""
    rows = [
        row("beta", 0.9, (1, 2), seconds=10.0),
        row("Alpha", 0.8, (1, 2), seconds=9.0),
        row(HOSTILE, 0.5, (3, 3), seconds=None),
    ]
    people = Ceiling(headline="f1_micro", value=0.95, interval=(0.9, 1.0), annotators=2, items=30)
    return [Board(KIND, "f1_micro", "f1_micro", True, rows, "2025-01-01", people)]


def test_fields_are_a_heat_map_and_times_a_figure(boards):
    [board] = boards
    plain = leaderboard_page(boards)
    assert 'hdb-heat"' not in plain
    assert plain.count("data:image/svg+xml") == 1  # the time of two models is known
    rows = [replace(row, fields={"title": 0.5, "year": 1.0}) for row in board.rows[:1]]
    page = leaderboard_page([replace(board, rows=rows, field_figure="f1")])
    assert '<td class="h5">0.50</td><td class="h10">1.00</td>' in page
    assert "data:image" not in page.partition("<main")[2]


def test_people_are_a_line_in_each_row(boards):
    [board] = boards
    assert leaderboard_page(boards).count('hdb-mark-line"') == 4  # three models and people
    other = replace(board, people=board.people.model_copy(update={"headline": "f1_macro"}))
    assert 'hdb-mark-line"' not in leaderboard_page([other])


def names(page):
    return page.locator("tbody:last-of-type th").all_inner_texts()


def test_the_command_writes_the_page(cards, run_hdbench):
    lines = '{"id": "0000", "prediction": {"title": "Stellingen", "year": 1924}}\n'
    (cards / "mine.jsonl").write_text(lines)
    command = ("--language", "de", "leaderboard", "cards", "mine.jsonl", "--format", "html")
    done = run_hdbench(*command, cwd=cards)
    assert done.stdout.startswith('<!DOCTYPE html>\n<html lang="de">'), done.stderr
    assert "4 Einträge: zu wenige für ein Intervall oder einen Rang" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_it_is_sorted_by_its_headings(boards, browser, tmp_path, width):
    path = tmp_path / "page.html"
    path.write_text(leaderboard_page(boards))
    context = browser.new_context(viewport={"width": width, "height": 800}, offline=True)
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    hostile = f'"><script>{ATTACK}</script>\\u202e{{x}}'
    assert names(page) == ["beta", "Alpha", hostile]
    first = page.locator("tbody:last-of-type tr").first.bounding_box()
    assert first["y"] + first["height"] < 800
    told = page.locator("tbody:last-of-type .signs").first.inner_text()
    assert told.startswith("† the ground truth was public")
    assert page.locator("[aria-sort]").get_attribute("aria-sort") == "descending"
    assert 0 <= page.locator(".ends span").first.bounding_box()["x"] < width

    def sort(heading):
        page.get_by_role("button", name=heading, exact=True).press("Enter")
        head = page.locator("th[aria-sort]")
        assert head.inner_text().strip() == heading
        return head.get_attribute("aria-sort"), names(page)

    assert sort("model") == ("ascending", [hostile, "Alpha", "beta"])
    assert sort("model") == ("descending", ["beta", "Alpha", hostile])
    assert sort("s/item") == ("ascending", ["Alpha", "beta", hostile])
    assert sort("s/item") == ("descending", ["beta", "Alpha", hostile])
    assert sort("F1 (micro)") == ("descending", ["beta", "Alpha", hostile])
    assert sort("F1 (micro)") == ("ascending", [hostile, "Alpha", "beta"])
    assert "people: 2 annotators" in page.locator("tbody:first-of-type").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("window.attacked") is None
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    context.close()
    assert (complaints, requests) == ([], [path.as_uri()])


@pytest.mark.slow
def test_filters_and_order_are_kept_in_the_address(boards, browser, tmp_path):
    [board] = boards
    about = [
        {"family": "alpha", "open_weights": True, "item_usd": 0.002},
        {"family": "beta", "item_usd": 0.001},
        {"family": "beta", "open_weights": False},
    ]
    rows = [replace(row, **facts) for row, facts in zip(board.rows, about, strict=True)]
    path = tmp_path / "page.html"
    path.write_text(leaderboard_page([replace(board, rows=rows)]))
    page = browser.new_page()

    def shown():
        return page.locator("tbody:last-of-type tr:visible th").all_inner_texts()

    page.goto(path.as_uri())
    assert len(shown()) == 3
    page.get_by_label("USD/1,000 items, at most").fill("2")
    assert shown() == ["beta", "Alpha"]  # what is not known is not at most 2
    page.get_by_label("USD/1,000 items, at most").fill("1.5")
    assert shown() == ["Alpha"]
    assert "1 of 3 models fit" in page.locator(".found").inner_text()
    page.get_by_label("USD/1,000 items, at most").fill("")
    page.get_by_label("Open weights").check()
    assert shown() == ["beta"]
    page.get_by_label("Open weights").uncheck()
    page.get_by_label("Family").select_option("beta")
    page.get_by_label("s/item, at most").fill("9.5")
    assert shown() == ["Alpha"]
    page.get_by_label("s/item, at most").fill("")
    page.get_by_role("button", name="model", exact=True).click()
    page.get_by_role("button", name="model", exact=True).click()
    kept = shown()
    assert kept[0] == "Alpha"
    address = page.url
    page.close()

    page = browser.new_page()
    page.goto(address)
    assert shown() == kept
    assert page.get_by_label("Family").input_value() == "beta"
    assert page.locator("[aria-sort]").inner_text() == "model"
    page.close()


def made_of(*rows, items=100, people=None):
    """A leaderboard of models: each a name, the ranks that it may have, and its price."""
    made = [replace(row(name, 0.9, ranks, seconds=None), item_usd=usd) for name, ranks, usd in rows]
    return Board(replace(KIND, items=items), "f1_micro", "f1_micro", True, made, people=people)


def test_the_best_model_is_named_only_as_far_as_it_is_sure():
    sure = made_of(("a", (1, 1), 0.002), ("b", (2, 3), 0.001), ("c", (2, 3), None))
    assert verdict(sure) == [
        "a is best: it is better than each of the other 2 models.",
        "It costs 2.00 US dollars for 1,000 items.",
    ]
    ahead = made_of(("a", (1, 2), None), ("b", (2, 3), None), ("c", (3, 3), None))
    assert verdict(ahead) == ["a is ahead, but cannot be told apart from some of the others."]
    people = Ceiling(headline="f1_micro", value=0.95, interval=None, annotators=2, items=30)
    top = made_of(
        ("a", (1, 2), 0.003),
        ("b", (1, 2), 0.002),
        ("c", (3, 3), 0.001),
        people=people,
    )
    assert verdict(top) == [
        "a and b cannot be told apart at the top: no model is known to be better.",
        "Of these, b costs least: 2.00 US dollars for 1,000 items.",
        "People reach 0.950.",
    ]
    assert verdict(made_of(("a", (1, 2), None), ("b", (1, 2), None))) == [
        "a and b cannot be told apart."
    ]
    many = made_of(*[(name, (1, 6), None) for name in "abcdef"])
    assert verdict(many) == ["a, b, c, d, and 2 more cannot be told apart."]
