"""Pictures of every view, on a screen and a phone, light and dark, in English and German.

`HDBENCH_PICTURES=build/pictures pytest -m nightly tests/space/pictures.py` keeps them, to be looked
at. The best of them are in `docs/pictures`; CONTRIBUTING.md says how to renew those.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from annotating.checking.plans import serving_check, write_plan
from annotating.deciding.lists import serving as serving_work
from annotating.pages import ended
from annotating.pages import serving as serving_editor
from helpers.pages import blocks, commands
from helpers.people_files import add_events
from helpers.single_values import ReadCatalogue
from home.served import ServedHome
from PIL import Image
from space.pages import done, report, still, upload
from space.servers import APP, free_port, serving, wait_for_client

from hdbench.collections.home.folder import key_of
from hdbench.collections.new.plan import CollectionRequest, make_plan, read_sources
from hdbench.collections.new.writing import write_collection
from hdbench.collections.trust.decision_page import write_decision_page
from hdbench.collections.trust.outlook import work_left
from hdbench.collections.truth.events import Double, now
from hdbench.collections.truth.store import Store

pytestmark = pytest.mark.nightly

BENCHMARK = Path(__file__).parents[2] / "dataset_scripts/zettelkatalog"
SAMPLE = BENCHMARK / "sample"
WIDTHS = {"screen": (1280, 1000), "phone": (390, 844)}
COLORS = 50
"""A picture of something has more shades of gray than one of an empty page."""

BEGIN_IN_SIGHT = """(each) => {
  if (each.getBoundingClientRect().top > innerHeight / 2) each.scrollIntoView();
}"""

SEEN = """() => Promise.all([...document.images].map((each) => {
  const { top, bottom } = each.getBoundingClientRect();
  const isInSight = each.checkVisibility() && bottom >= 0 && top < innerHeight;
  return isInSight && !each.complete && each.decode();
}))"""


@pytest.fixture(scope="module")
def url(shown, models):
    with serving(
        APP,
        cwd=shown,
        HDBENCH_MODELS=str(models / "quick"),
        HDBENCH_CONTACT="mailto:ub@example.org",
    ) as url:
        wait_for_client(url)
        yield url


@pytest.fixture(scope="module")
def decision(tmp_path_factory):
    """A decision about 1,500 cards, by 900 values, and the cards."""
    catalogue = ReadCatalogue(tmp_path_factory.mktemp("decided"), cards=1500, seed=1)
    catalogue.read_first()
    catalogue.read_second()
    names = {"benchmark": "hdb/cards", "plan_file": "plan.yaml"}
    return catalogue.decide().model_copy(update=names), catalogue.benchmark


class Camera:
    """Takes pictures of what the window shows, in one width, scheme and language."""

    def __init__(self, visit_at, kind, scheme, language, folder):
        self._visit_at, self._folder = visit_at, folder
        self._kind, self._scheme, self.language = kind, scheme, language

    def visit(self, url, **options):
        width, height = WIDTHS[self._kind]
        return self._visit_at(
            url,
            width=width,
            height=height,
            language={"en": "en-GB", "de": "de-DE"}[self.language],
            color_scheme=self._scheme,
            reduced_motion="reduce",
            **options,
        )

    def take(self, page, view, wanted=None):
        """Keep a picture with an element in sight; nothing may stand out at the side."""
        page.evaluate("scrollTo(0, 0)")
        if wanted is not None:
            wanted.first.evaluate(BEGIN_IN_SIGHT)
        page.evaluate(SEEN)
        still(page)
        picture = Image.open(io.BytesIO(page.screenshot()))
        assert len(picture.convert("L").getcolors()) > COLORS, view
        name = f"{view}-{self._kind}-{self._scheme}-{self.language}.png"
        # This way of choosing colors keeps the accent, of which there is little beside a scan.
        small = picture.convert("RGB").quantize(48, Image.Quantize.FASTOCTREE)
        small.save(self._folder / name, optimize=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


@pytest.fixture(params=["en", "de"])
def language(request):
    return request.param


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture(params=list(WIDTHS))
def camera(request, visit_at, scheme, language, tmp_path):
    folder = Path(os.environ.get("HDBENCH_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return Camera(visit_at, request.param, scheme, language, folder)


def test_the_space(camera, url):
    """Every page, and each with what it shows when its work is done."""
    page = camera.visit(url, awaited=".items img >> nth=0")
    camera.take(page, "start")
    upload(page, "cards.pdf", b"%PDF-1.7")
    done(page)
    camera.take(page, "problem")
    page.goto(url)
    page.locator("button[name=example]").click()
    page.locator("#report .first").wait_for()
    camera.take(page, "score")
    if page.locator("#report iframe").is_visible():
        report(page).locator(".item:has(ins)").first.evaluate("(each) => each.scrollIntoView()")
        camera.take(page, "report-frame", page.locator("#report"))
    alone = page.locator("#report iframe").get_attribute("src")
    page.goto(f"{url}?tab=compare")
    for model in ("reader-tiny", "reader-large"):
        page.get_by_label(model).check()
    page.locator("form.column .first").click()
    page.locator(".hdb-verdicts").wait_for()
    camera.take(page, "compare")
    page.goto(f"{url}?tab=leaderboard")
    page.frame_locator("#board").locator("tbody th").nth(2).wait_for()
    camera.take(page, "leaderboard")
    page.goto(f"{url}?tab=about")
    camera.take(page, "about")
    page.goto(f"{url}?tab=run")
    camera.take(page, "run-start")
    page.locator("input[name=items]").fill("3")
    page.locator("#run-start").click()
    page.locator("#report .first").wait_for()
    camera.take(page, "run")
    page = camera.visit(f"{url}{alone.partition('?')[0]}", awaited="h1")
    camera.take(page, "report")
    camera.take(page, "report-item", page.locator(".item:has(ins)"))


def lines(name):
    return [json.loads(line) for line in (SAMPLE / name).read_text().splitlines()]


TRUTHS = {row["id"]: row["ground_truth"] for row in lines("metadata.jsonl")}
CARD, READ = "sample-01", lines("predictions.jsonl")[0]["prediction"]
"""A card, and what a model read on it."""


@pytest.fixture
def cards(tmp_path):
    """The sample's cards, which nobody has read."""
    folder = tmp_path / "cards"
    shutil.copytree(SAMPLE / "images", folder / "images")
    shutil.copy(BENCHMARK / "answer.schema.json", folder)
    rows = [row | {"ground_truth": None} for row in lines("metadata.jsonl")]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_editor(camera, tmp_path):
    folder = shutil.copytree(SAMPLE, tmp_path / "cards")
    shutil.copy(BENCHMARK / "answer.schema.json", folder)
    with serving_editor(folder, f"--drafts={folder}/predictions.jsonl") as served:
        page = camera.visit(served.url, awaited="#image img")
        page.locator("form input").first.wait_for()
        camera.take(page, "annotate")
        page.locator("#items").click()
        page.locator("#found-items button").first.wait_for()
        assert page.locator("#found-items button").count() == len(TRUTHS)
        camera.take(page, "annotate-items")


def test_settling(camera, cards):
    both = [Double(by=name, at=now(), items=(CARD,), seed=1) for name in ("anna", "ben")]
    add_events(cards, both)
    for person, record in (("anna", TRUTHS[CARD]), ("ben", READ)):
        with Store(cards, person) as store:
            for what, value in (("ground_truth", record), ("status", "done")):
                store.change(CARD, what, "", value, after=store.state(CARD).head[what], how="blind")
    with serving_editor(cards, "--as=anna") as served:
        page = camera.visit(served.url, awaited="#image img")
        page.locator(".settle").first.wait_for()
        pairs = [each.locator("pre").all_inner_texts() for each in page.locator(".settle").all()]
        assert any("Edmond" in anna and "Edmond" not in ben for anna, ben in pairs)
        camera.take(page, "settle")


def test_one_value_to_read(camera, cards, tmp_path):
    plan = write_plan(
        tmp_path / "plan", [[CARD, f"publication.{name}"] for name in ("title", "place")]
    )
    with serving_check(cards, plan, "anna", camera.language) as served:
        page = camera.visit(served.url, awaited="#image img")
        page.locator("#reading").wait_for()
        assert page.locator("#reading").input_value() == ""  # nobody's reading is shown
        camera.take(page, "check")


def test_the_work_list(camera, cards, tmp_path):
    read = [record["publication"] for record in (TRUTHS[CARD], READ, TRUTHS[CARD])]
    names = ("publisher", "pages")
    told = {CARD: {f"publication.{name}": [said[name] for said in read] for name in names}}
    accepted = {f"publication.{name}": read[0][name] for name in ("title", "year", "place")}
    (tmp_path / "work.json").write_text(json.dumps({"told": told, "accepted": accepted}))
    with serving_work(cards, "anna", camera.language) as served:
        page = camera.visit(served.url, awaited="#image img")
        page.locator(".choice").first.wait_for()
        choices = [" ".join(text.split()) for text in page.locator(".choice").all_inner_texts()]
        assert choices == ["1 Thieme one, three", "2 Thieme Verlag two"]
        camera.take(page, "work")


def test_the_page_of_a_decision(camera, decision, tmp_path):
    path = tmp_path / "decision.html"
    decided, benchmark = decision
    work = work_left(decided)
    write_decision_page(path, decided, work, benchmark, camera.language)
    page = camera.visit(path.as_uri(), awaited="h1")
    shown = page.locator(".figures b").first.inner_text().replace(",", ".")
    assert shown.startswith(f"{100 * decided.accepted / decided.values:.1f}")
    camera.take(page, "decision")


@pytest.fixture(scope="module")
def pages(tmp_path_factory, run_hdbench):
    """The folder of a tutorial, with a benchmark of pages and three readings of them."""
    folder = tmp_path_factory.mktemp("pages")
    tutorial = Path(__file__).parents[2] / "docs/transcriptions.md"
    [program] = [block for block in blocks(tutorial) if block.file]
    subprocess.run([sys.executable, "-c", program.text], cwd=folder, check=True)
    for command in commands(tutorial):
        if command.startswith(("hdbench new", "hdbench build")):
            assert run_hdbench(*command.split()[1:], cwd=folder).returncode == 0
    return folder


def test_the_report_of_three_readings(camera, pages, tmp_path, run_hdbench):
    command = ("--language", camera.language, "report", "hdb/pages", "anna", "reader", "scanner")
    done = run_hdbench(*command, "-o", tmp_path / "report", cwd=pages)
    assert done.returncode == 0, done.stderr
    page = camera.visit((tmp_path / "report/index.html").as_uri(), awaited="h1")
    camera.take(page, "programs", page.locator(".item"))


def test_the_home(camera, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    read = dict([*TRUTHS.items()][:5])
    (tmp_path / "truths.json").write_text(json.dumps(read))
    title = {"en": "Dissertations, drawer 3", "de": "Dissertationen, Kasten 3"}[camera.language]
    requested = CollectionRequest(
        "cards", SAMPLE / "images", tmp_path / "truths.json", like="zettelkatalog", title=title
    )
    folder = write_collection(make_plan(requested, read_sources(requested, tmp_path)), tmp_path)
    (tmp_path / "runs").mkdir()
    shutil.copy(SAMPLE / "predictions.jsonl", tmp_path / "runs/cards_reader-large.jsonl")
    with ended(ServedHome(tmp_path, free_port(), folder)) as served:
        root = served.url.removesuffix(f"{key_of(folder)}/")
        page = camera.visit(root, awaited="h1")
        page.goto(served.url)
        # 5 of the 8 cards have a ground truth, and one model has read them.
        assert re.findall(r"\d+", page.locator("h1").inner_text()) == ["5", "8", "1"]
        assert page.locator(".strip img").count() == 3
        camera.take(page, "home")
