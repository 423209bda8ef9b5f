"""The pictures that begin README: a ranking with what people reach, and an error beside its card.

`HDBENCH_PICTURES=docs/pictures pytest -m nightly tests/docs/pictures.py` renews them.
"""

import json
import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from helpers.pages import blocks

from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Double

pytestmark = pytest.mark.nightly

COMPARE = Path(__file__).parents[2] / "docs/compare.md"
WIDE = 1000
FIELDS = ("sender", "place", "date")


@pytest.fixture
def take(browser, tmp_path):
    """Takes a picture of a part of a report's page."""
    folder = os.environ.get("HDBENCH_PICTURES", tmp_path)

    def take(report, name, part, height=None):
        page = browser.new_page(viewport={"width": WIDE, "height": 900}, device_scale_factor=2)
        page.goto((report / "index.html").as_uri())
        shown = page.locator(part).first
        shown.scroll_into_view_if_needed()
        for image in shown.locator("img").all():
            image.evaluate("(each) => each.decode()")
        box = shown.bounding_box()
        clip = {"x": 0, "y": box["y"] - 12, "width": WIDE, "height": height or box["height"]}
        page.screenshot(path=Path(folder, f"{name}.png"), clip=clip)
        page.close()

    return take


def enter(folder, name, letters, share_wrong):
    """Enter letters as a person who spells this share of the values backwards."""
    drawn = random.Random(name)
    with closing(Editor(folder, name)) as editor:
        places = {item: place for place, (item, *_) in enumerate(editor.start()["items"])}
        for item, letter in letters.items():
            wrong = {each: drawn.random() < share_wrong for each in FIELDS}
            record = {each: letter[each][::-1] if wrong[each] else letter[each] for each in FIELDS}
            for what, to in (("ground_truth", record), ("status", "done")):
                entered = {"what": what, "field": "", "to": to, "after": None}
                editor.change(places[item], entered)


def settle(folder, letters):
    """Settle what people entered differently, as it stands in the letters."""
    with closing(Editor(folder, "anna")) as editor:
        for place, (item, *_) in enumerate(editor.start()["items"]):
            for conflict in (state := editor.item(place)["state"])["conflicts"]:
                after, field = state["head"]["ground_truth"], conflict["field"]
                entered = {"what": "ground_truth", "field": field, "to": letters[item][field]}
                state = editor.change(place, entered | {"after": after, "settled": True})


def test_a_ranking_with_what_people_reach(tmp_path, run_hdbench, take):
    def run(*arguments):
        done = run_hdbench(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    [program] = [block.text for block in blocks(COMPARE) if block.file]
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    run("new", "known", "texts", "--truth", "letters.csv", "--licence", "cc0-1.0")
    rows = (tmp_path / "known/metadata.jsonl").read_text().splitlines()
    letters = {row["id"]: row["ground_truth"] for row in map(json.loads, rows)}
    run("new", "letters", "texts", "--fields", ",".join(FIELDS), "--licence", "cc0-1.0")
    folder = tmp_path / "letters"
    read_double(folder, "anna", 40)
    read_double(folder, "ben", 40)
    shared = {item: letters[item] for item in next(People(folder).of_kind(Double)).items}
    enter(folder, "anna", letters, 0)
    enter(folder, "ben", shared, 0.05)
    settle(folder, shared)
    run("build", "letters")
    models = [f"{name}.jsonl" for name in ("careful", "middling", "hasty")]
    run("report", "hdb/letters", *models, "-o", "report")
    assert "people: 2 annotators, 40 items" in (tmp_path / "report/index.html").read_text()
    take(tmp_path / "report", "ranking", "h1", height=400)


def test_an_error_beside_its_card(tmp_path, run_hdbench, take):
    assert run_hdbench("demo", cwd=tmp_path).returncode == 0
    answers = "hdb/zettelkatalog/example_predictions.jsonl"
    done = run_hdbench("report", "hdb/zettelkatalog", answers, "-o", "report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    take(tmp_path / "report", "error", '.item:has-text("sample-01")')
