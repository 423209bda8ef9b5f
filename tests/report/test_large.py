"""A report of more items than a page can show, here of forty."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from PIL import Image
from playwright.sync_api import expect
from report.test_page import Page

from hdbench.api import score
from hdbench.evaluation.score import Settings
from hdbench.output.report import details
from hdbench.output.report.folder import write_report
from hdbench.scoring.zettel_f1 import ZettelF1

pytestmark = pytest.mark.nightly

TRUTH = {"title": "Stellingen", "year": 1924}
ITEMS = 43


def answer(number):
    """One in four right, one lost, the others wrong in a way of their own."""
    if number % 4 == 0:
        return {"prediction": TRUTH}
    if number % 4 == 1:
        return {"prediction": {"title": "STELLINGEN", "year": 1924}}
    if number % 4 == 2:
        return {"prediction": {"title": f"Ste\ud800lling {number}", "year": 1925}}
    return {"text": "I cannot read this."}


@pytest.fixture
def large(cards, monkeypatch):
    """The benchmark, with answers; of which a page shows six and five."""
    monkeypatch.setattr(details, "WORST", 6)
    monkeypatch.setattr(details, "RANDOM", 5)
    folder = cards / "hdb/cards"
    truth = json.dumps(TRUTH)
    names = [f"{number:04}" for number in range(ITEMS)]
    rows = [{"id": name, "ground_truth": truth, "file_name": "card.png"} for name in names]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Image.new("RGB", (980, 600), "grey").save(folder / "card.png")
    lines = [json.dumps({"id": name} | answer(place)) for place, name in enumerate(names)]
    (cards / "answers.jsonl").write_text("\n".join(lines))
    return cards


@pytest.fixture(autouse=True)
def without_plots(monkeypatch):
    """They take a second, and are tested apart."""
    monkeypatch.setattr("hdbench.output.report.plots.plots", lambda *_: {"items.svg": b""})


def report(folder, run="answers.jsonl", whole=10, **options):
    out = folder / "report"
    written = write_report(
        folder / run, out, benchmark=str(folder / "hdb/cards"), whole=whole, **options
    )
    assert sorted(written.files) == sorted(path for path in out.rglob("[!.]*") if path.is_file())
    return out, written.notes


def test_large_report_shows_worst_and_random_items(large):
    out, notes = report(large)
    assert notes == [
        f"no report.xlsx, items.csv and errors.csv: all {ITEMS} items are in items.parquet"
    ]
    assert {path.name for path in out.iterdir()} - {".built-by-hdbench"} == {
        *("index.html", "fields.csv", "items.parquet", "result.json", "plots"),
    }
    page = Page((out / "index.html").read_text())
    assert len(page.all("article")) == 3 + 6 + 5  # three typical ones, worst, at random
    heads = [text.strip() for text in page.texts]
    start, end = heads.index("The 6 worst of 43 items"), heads.index("5 items at random")
    # Those lost and those that are all wrong, in the dataset's order.
    worst = ["0002", "0003", "0006", "0007", "0010", "0011"]
    assert [text for text in heads[start:end] if text in worst] == worst
    table = pq.read_table(out / "items.parquet")
    assert table["id"].to_pylist() == [f"{number:04}" for number in range(ITEMS)]
    assert table["status"].to_pylist()[:4] == ["clean", "clean", "clean", "unparsable"]
    assert pq.ParquetFile(out / "items.parquet").num_row_groups == 5  # of ten


def test_lost_items_leave_room_for_wrong_answers_among_the_worst(large, monkeypatch):
    monkeypatch.setattr(details, "MOST_LOST", 1)
    out, _ = report(large)
    heads = [text.strip() for text in Page((out / "index.html").read_text()).texts]
    start, end = heads.index("The 6 worst of 43 items"), heads.index("5 items at random")
    # Of the eleven that are all wrong the first five, and of the ten that are lost the first.
    worst = ["0002", "0003", "0006", "0010", "0014", "0018"]
    shown = [text for text in heads[start:end] if text.isdigit() and len(text) == 4]
    assert [text for text in shown if text not in ("1924", "1925")] == worst
    whole = score(str(large / "hdb/cards"), large / "answers.jsonl", Settings(details=True))
    assert json.loads((out / "result.json").read_text())["errors"] == whole.errors_by_class


def test_items_file_has_figures_and_the_outcome_of_each_field(large):
    out, _ = report(large)
    table = pq.read_table(out / "items.parquet")
    right, capitals, wrong, lost = table.slice(0, 4).to_pylist()
    assert [row["f1"] for row in (right, capitals, wrong, lost)] == [1.0, 0.5, 0.0, 0.0]
    assert right["true_positives"] == 2
    assert [(each["field"], each["outcome"]) for each in right["fields"]] == [
        *(("title", "correct"), ("year", "correct")),
    ]
    assert capitals["fields"][0] == {
        "field": "title",
        "outcome": "substituted",
        "error": "case",
        "truth": "Stellingen",
        "answer": "STELLINGEN",
        "similarity": pytest.approx(0.1),
    }
    assert wrong["fields"][0]["answer"] == "Ste\\ud800lling 2"  # a file of UTF-8 cannot hold it
    assert [(each["outcome"], each["error"]) for each in lost["fields"]] == [("missing", None)] * 2


def test_as_many_items_as_are_few_have_a_page_of_their_own(large):
    out, notes = report(large, whole=ITEMS)
    assert notes == []
    assert (out / "items.csv").is_file()
    assert not (out / "items.parquet").exists()
    out, _ = report(large, whole=ITEMS - 1)
    assert (out / "items.parquet").is_file()  # the older report is gone
    assert not (out / "items.csv").exists()


def test_drawn_items_are_drawn_from_all_with_equal_chances(tmp_path, monkeypatch):
    monkeypatch.setattr(details, "RANDOM", 5)
    metric = ZettelF1()
    drawn = Counter()
    for seed in range(300):
        monkeypatch.setattr(details, "SEED", seed)
        with details.Details(tmp_path / "items.parquet", whole=7) as kept:
            for number in range(20):
                kept.add(metric, {"id": str(number), "status": "clean", "f1": 1.0, "fields": []})
            drawn.update(item["id"] for item in kept.excerpt().drawn)
    assert len(drawn) == 20
    assert max(drawn.values()) < 2 * min(drawn.values())  # 75 of 300 each


@pytest.mark.parametrize(
    ("language", "told", "field", "width"),
    [
        ("en", "5 items at random", "Only with errors", 1280),
        ("de", "5 zufällig gezogene Einträge", "Nur mit Fehlern", 390),
    ],
)
def test_the_page_of_a_large_run_in_a_browser(large, browser, language, told, field, width):  # noqa: PLR0917  fixtures
    out, _ = report(large, language=language)
    page = browser.new_page(viewport={"width": width, "height": 800})
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((out / "index.html").as_uri())
    expect(page.locator(".item")).to_have_count(11)
    page.locator("nav a[href='#drawn']").click()
    expect(page.get_by_role("heading", name=told)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 390:
        page.get_by_role("button", name="Auswahl").click()
    page.get_by_label(field).check()
    expect(page.locator(".item:not([hidden]) h4").first).to_have_text("0002")
    assert page.locator(".item:not([hidden])").count() < 11
    page.locator(".item:visible img").first.scroll_into_view_if_needed()
    expect(page.locator(".item:visible img").first).to_have_js_property("complete", True)
    page.close()
    assert complaints == []
