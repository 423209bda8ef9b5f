"""Pictures of every view, on a screen and a phone, light and dark, in English and German.

`HDBENCH_PICTURES=build/pictures pytest -m nightly tests/space/pictures.py` keeps them, to be looked
at. The best of them are in `docs/pictures`; CONTRIBUTING.md says how to renew those.
"""

import io
import os
import shutil
from pathlib import Path

import pytest
from annotating.pages import serving as serving_editor
from helpers.single_values import ReadCatalogue
from PIL import Image
from space.pages import report, still
from space.servers import APP, serving, wait_for_client

from hdbench.space.texts import translations

pytestmark = pytest.mark.nightly

BENCHMARK = Path(__file__).parents[2] / "dataset_scripts/zettelkatalog"
WIDTHS = {"screen": (1280, 1000), "phone": (390, 844)}
COLORS = 50
"""A picture of something has more shades of gray than one of an empty page."""

BEGIN_IN_SIGHT = """(each) => {
  if (each.getBoundingClientRect().top > innerHeight / 2) each.scrollIntoView();
}"""


@pytest.fixture(scope="module")
def url(shown):
    with serving(APP, cwd=shown, HDBENCH_MODELS="tesseract", HDBENCH_OPERATOR="UB Example") as url:
        wait_for_client(url)
        yield url


@pytest.fixture(scope="module")
def decision(tmp_path_factory):
    """A file with a decision about 1,500 cards, by 900 single values."""
    catalogue = ReadCatalogue(tmp_path_factory.mktemp("decided"), cards=1500, seed=1)
    catalogue.read_first()
    catalogue.read_second()
    names = {"benchmark": "hdb/cards", "plan_file": "plan.yaml"}
    decided = catalogue.decide().model_copy(update=names)
    path = tmp_path_factory.mktemp("decision") / "decision.json"
    path.write_text(decided.model_dump_json())
    return path


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
        still(page)
        picture = Image.open(io.BytesIO(page.screenshot()))
        assert len(picture.convert("L").getcolors()) > COLORS, view
        name = f"{view}-{self._kind}-{self._scheme}-{self.language}.png"
        small = picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=128)
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


def compare(page, *models):
    for model in models:
        page.locator("#compare-recorded input").click()
        page.get_by_role("option", name=model).click()
    page.locator("#compare-recorded input").blur()
    page.locator("#compare").click()
    page.locator(".hdb-verdicts").wait_for()


@pytest.mark.needs("tesseract")
def test_the_space(camera, url, decision):
    texts = translations()[camera.language]

    def tab(name):
        page.get_by_role("tab", name=texts[f"tab_{name}"], exact=True).first.click()

    page = camera.visit(url)
    page.locator("#settings summary").wait_for()
    page.wait_for_function("document.querySelector('.hdb-look img')?.naturalWidth")
    camera.take(page, "start")
    page.locator("#settings summary").click()
    camera.take(page, "settings")
    page.locator("#settings summary").click()
    page.locator("#file input[type=file]").set_input_files(
        {"name": "cards.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7"}
    )
    page.locator("#file").get_by_role("link").wait_for()
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    camera.take(page, "problem", page.locator("#first"))

    page.locator("#example").click()
    inside = report(page)
    camera.take(page, "score", page.locator("#first"))
    page.locator("#report iframe").scroll_into_view_if_needed()
    inside.locator(".item:has(ins)").first.evaluate("(each) => each.scrollIntoView()")
    camera.take(page, "report-frame", page.locator("#report"))
    alone = page.locator("#report iframe").get_attribute("src")

    tab("compare")
    compare(page, "reader-tiny", "reader-large")
    camera.take(page, "compare", page.locator("#comparison"))

    tab("leaderboard")
    page.locator("#leaderboard .hdb-scroll tbody th").nth(2).wait_for()
    camera.take(page, "leaderboard", page.locator("#leaderboard"))

    tab("trust")
    page.locator("#decision-file input[type=file]").set_input_files(decision)
    page.locator("#decision iframe").wait_for()
    camera.take(page, "trust", page.locator("#decision"))

    tab("about")
    page.get_by_text("UB Example").wait_for()
    camera.take(page, "about")

    tab("run")
    camera.take(page, "run-start")
    page.locator("#run-items input[type=number]").fill("3")
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()
    page.locator("#run-report iframe").wait_for()
    assert page.locator("#run-answers li img").count() == 3
    camera.take(page, "run", page.locator("#run-first"))

    page = camera.visit(f"{url}{alone.lstrip('/')}", awaited="h1", last=None)
    camera.take(page, "report")
    camera.take(page, "report-item", page.locator(".item:has(ins)"))


def test_the_editor(camera, tmp_path):
    folder = shutil.copytree(BENCHMARK / "sample", tmp_path / "cards")
    shutil.copy(BENCHMARK / "answer.schema.json", folder)
    with serving_editor(folder, f"--drafts={folder}/predictions.jsonl") as served:
        page = camera.visit(served.url, awaited="#id:not(:empty)", last=None)
        page.locator("form input").first.wait_for()
        camera.take(page, "annotate")
        page.locator("#items").click()
        page.locator("#found-items button").first.wait_for()
        assert page.locator("#found-items button").count() == len(list(folder.glob("images/*")))
        camera.take(page, "annotate-items")
