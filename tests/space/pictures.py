"""Pictures of the Space's views, as the README shows them.

`HDBENCH_SCREENSHOTS=tests/space/screenshots pytest -m slow tests/space/pictures.py` makes
those of the README anew.
"""

import io
import os
from pathlib import Path

import pytest
from PIL import Image
from space.pages import report
from space.servers import APP, serving, wait_for_client

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(shown):
    with serving(APP, cwd=shown, HDBENCH_MODELS="tesseract") as url:
        wait_for_client(url)
        yield url


@pytest.fixture
def keep(tmp_path):
    """Take a picture of what the window shows; it has to show something."""
    folder = Path(os.environ.get("HDBENCH_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)

    def keep(page, name):
        page.wait_for_timeout(500)  # until nothing fades any more
        picture = Image.open(io.BytesIO(page.screenshot()))
        assert len(picture.convert("L").getcolors()) > 50
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(
            folder / f"{name}.png", optimize=True
        )

    return keep


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def test_the_score_tab(visit_at, url, keep):
    page = visit_at(url, height=1000)
    page.locator("#example").click()
    report(page)
    page.locator("#report").scroll_into_view_if_needed()
    assert "95 % interval" in page.locator("#first").inner_text()
    page.evaluate("scrollTo(0, 0)")
    keep(page, "score")


def test_an_item_in_the_report(visit_at, url, keep):
    page = visit_at(url, height=1000)
    page.locator("#example").click()
    inside = report(page)
    page.locator("#report iframe").scroll_into_view_if_needed()
    item = inside.locator(".item:has(ins)").first
    item.scroll_into_view_if_needed()
    item.evaluate("(element) => element.scrollIntoView()")
    assert "Report an error in the ground truth" in item.inner_text()
    keep(page, "report")


def test_the_compare_tab(visit_at, url, keep):
    page = visit_at(url, height=1000)
    tab(page, "Compare")
    for model in ("reader-tiny", "reader-large"):
        page.locator("#compare-recorded input").click()
        page.get_by_role("option", name=model).click()
    page.locator("#compare-recorded input").blur()
    page.locator("#compare").click()
    page.locator(".hdb-verdicts").wait_for()
    assert "reader-large" in page.locator(".hdb-verdicts").inner_text()
    keep(page, "compare")


@pytest.mark.needs("tesseract")
def test_the_run_tab(visit_at, url, keep):
    page = visit_at(url, height=1000)
    tab(page, "Run a model")
    page.locator("#run-items input[type=number]").fill("3")
    page.locator("#run-items input[type=number]").press("Tab")
    page.locator("#run-start").click()
    page.locator("#run-report iframe").wait_for(timeout=120_000)
    assert page.locator("#run-answers li img").count() == 3
    page.evaluate("scrollTo(0, 0)")
    keep(page, "run")


def test_the_leaderboard_tab(visit_at, url, keep):
    page = visit_at(url, height=800)
    tab(page, "Leaderboard")
    page.locator("#leaderboard table").wait_for()
    names = page.locator("#leaderboard tbody th").all_inner_texts()
    assert [name.split()[0] for name in names] == ["reader-large", "reader-small", "reader-tiny"]
    keep(page, "leaderboard")


def test_a_german_phone_in_dark_mode(visit_at, url, keep):
    page = visit_at(url, width=390, height=844, language="de-CH", color_scheme="dark")
    page.locator("#example").click()
    report(page)
    page.locator("#first").scroll_into_view_if_needed()
    assert "95-%-Intervall" in page.locator("#first").inner_text()
    keep(page, "phone")
