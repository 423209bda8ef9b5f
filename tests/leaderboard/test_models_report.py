"""`hdbench report` of several runs: which model is best, with all readings side by side."""

import json
import shutil

import pypdfium2
import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.collection import READERS, runs_of, write_collection
from helpers.run_folders import write_run
from PIL import Image
from report.test_page import Page

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings
from hdbench.report.leaderboard import models_report
from hdbench.report.leaderboard.boards import leaderboards

ATTACK = "window.attacked = true"
HOSTILE = f'"><script>{ATTACK}</script>\u202e{{x}}'


@pytest.fixture
def collection(tmp_path):
    return write_collection(tmp_path)


@pytest.fixture
def page(collection, run_hdbench):
    """The page of three runs, as the command writes it; options are added to the command."""

    def page(*options):
        done = run_hdbench("report", *runs_of(collection), "-o", "page", *options, cwd=collection)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "open page/index.html"
        return (collection / "page/index.html").read_text()

    return page


def test_readings_of_all_models_stand_side_by_side(page):
    html = page()
    # The models stand as they are ranked: three has no Bassel and no missing answer.
    heads = [text.strip() for text in Page(html).texts if text.strip() in READERS][:3]
    assert sorted(heads) == sorted(READERS)
    [article] = [part for part in html.split('<article class="item"')[1:] if ">0010</bdi>" in part]
    assert "Bas<del>s</del>el" in article  # one's reading, by the letter
    assert article.count('class="right"') == 2
    assert "2 more fields, which all models read correctly" in article
    assert "194<" not in article  # its year is right in all, and so left out


def test_who_has_no_usable_answer_is_told(page):
    html = page()
    [article] = [part for part in html.split('<article class="item"')[1:] if ">0018</bdi>" in part]
    assert article.count("no usable answer") == 3  # in each of the three fields


def test_fields_stand_with_the_figure_of_each_model(page):
    # One has 14 of 20 places right: five are Bassel, and one is missing with its answer.
    assert Page(page()).row("place", "1.00") == ("place", "1.00", "1.00", f"{28 / 39:.2f}")


def test_files_beside_the_page_are_linked_and_whole(page, collection):
    links = {each.get("href") for each in Page(page()).all("a")}
    assert {"leaderboard.csv", "result.json"} <= links
    runs = json.loads((collection / "page/result.json").read_text())["runs"]
    assert [len(run["per_item"]) for run in runs] == [20] * 3
    assert len((collection / "page/leaderboard.csv").read_text().splitlines()) == 1 + 3


@pytest.mark.parametrize("named", [["one"], ["hdb/cards", "one"]], ids=["run", "benchmark"])
def test_a_folder_with_one_run_is_reported_like_that_run(collection, run_hdbench, named):
    (collection / "one").mkdir(exist_ok=True)
    shutil.copytree(runs_of(collection)[0], collection / "one/run", dirs_exist_ok=True)
    done = run_hdbench("report", *named, "-o", "single", cwd=collection)
    assert done.returncode == 0, done.stderr
    assert (collection / "single/report.xlsx").is_file()


def test_typical_items_that_the_list_leaves_out_have_no_link(collection, monkeypatch):
    monkeypatch.setattr(models_report, "MAX_ITEMS", 4)
    cards = str(collection / "hdb/cards")
    results = load_runs(runs_of(collection), benchmark=cards, settings=Settings(details=True))
    benchmark = load_benchmark(cards, media=True)
    page = Page(models_report.models_page(results, leaderboards(results), benchmark, "en"))
    ids = {each.get("id") for _, each in page.elements}
    links = [each["href"][1:] for each in page.all("a") if each["href"].startswith("#item-")]
    assert len(links) == 1  # the one of the worst third
    assert ids.issuperset(links)
    assert len(page.all("article")) == 3 + 4


def show_a_card(collection):
    """Give each item the same picture."""
    cards = collection / "hdb/cards"
    Image.new("RGB", (980, 600), "grey").save(cards / "card.png")
    lines = [json.loads(line) for line in (cards / "metadata.jsonl").read_text().splitlines()]
    rows = [json.dumps(line | {"file_name": "card.png"}) + "\n" for line in lines]
    (cards / "metadata.jsonl").write_text("".join(rows))


@pytest.mark.slow
def test_ten_items_with_six_readings_take_two_sheets(collection, browser):
    cards = str(collection / "hdb/cards")
    benchmark = load_benchmark(cards, media=True)
    one, *_ = load_runs(
        runs_of(collection), benchmark=cards, settings=Settings(details=True)
    ).values()
    names = [f"a-reader-with-a-long-name-{number}" for number in range(6)]
    six = {name: one.replaced(model=name) for name in names}
    page = browser.new_page()
    page.set_content(models_report.models_page(six, leaderboards(six), benchmark, "en"))
    with pypdfium2.PdfDocument(page.pdf(format="A4")) as paper:
        assert len(paper) == 3  # the first has the models, the typical items and the fields
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "de")])
def test_page_of_models_in_a_browser(collection, run_hdbench, browser, width, language):
    show_a_card(collection)
    answers = {"0000": {"prediction": {"title": HOSTILE, HOSTILE: HOSTILE}}}
    write_run(collection / "runs/hostile", answers, model=HOSTILE)
    done = run_hdbench("--language", language, "report", "runs", "-o", "page", cwd=collection)
    assert done.returncode == 0, done.stderr
    context = browser.new_context(viewport={"width": width, "height": 800}, offline=True)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((collection / "page/index.html").as_uri())
    assert page.evaluate("window.attacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".ranking .hdb-mark").first.bounding_box()["y"] < 800
    page.locator(".typical a").first.click()
    assert page.locator(".item:visible :target").count() == 1
    page.locator(".item:visible .picture").first.click()
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert complaints == []
    context.close()
