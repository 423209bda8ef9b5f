"""One collection in several windows, and changed by commands while its pages are open."""

from contextlib import suppress

import pytest
from annotating.pages import truths
from home.collections import Cards, make_collection, write_run
from home.served import ServedHome
from playwright.sync_api import expect

from hdbench.benchmarks.benchmark import METADATA
from hdbench.collections.home.collection import opened
from hdbench.collections.trust.plan import PlanOptions
from hdbench.collections.truth.event_files import People

pytestmark = pytest.mark.slow

TITLE = "[id='f:titel']"
REPLACED = "what this page lists has been replaced"


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def serve(tmp_path):
    """Serve collections until the test ends."""
    served = []

    def serve(folder):
        served.append(ServedHome(tmp_path, 0, folder))
        return served[-1]

    yield serve
    for home in served:
        with suppress(ProcessLookupError):  # the test has ended it
            home.process.kill()


def open_editor(page, address):
    """Open an editor, and wait until an item is there."""
    page.goto(address)
    page.locator(TITLE).wait_for()


def is_saved(page):
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def test_two_editors_of_one_person_save_in_turn(tmp_path, browser, serve):
    folder = make_collection(tmp_path)
    write_run(tmp_path, "gpt")
    home = serve(folder)
    context = browser.new_context()
    plain, correcting = context.new_page(), context.new_page()
    open_editor(plain, f"{home.url}annotate/anna/#c2")
    correcting.goto(f"{home.url}correct/anna/#c3")
    for number in range(3):
        plain.locator(TITLE).fill(f"Faust {number}")
        is_saved(plain)
        correcting.locator(TITLE).fill(f"Urfaust {number}")
        is_saved(correcting)
    context.close()
    home.end()
    assert truths(folder)["c2"]["titel"] == "Faust 2"
    assert truths(folder)["c3"]["titel"] == "Urfaust 2"


def test_page_of_other_items_changes_none_of_them(tmp_path, browser, serve):
    folder = make_collection(tmp_path)
    home = serve(folder)
    page = browser.new_page()
    open_editor(page, f"{home.url}annotate/anna/#c2")
    page.wait_for_load_state("networkidle")
    metadata = folder / METADATA
    metadata.write_text("".join(metadata.read_text().splitlines(keepends=True)[1:]))
    again = browser.new_page()
    open_editor(again, f"{home.url}annotate/anna/#c3")
    page.locator(TITLE).fill("Faust")
    expect(page.locator("#message")).to_contain_text(REPLACED)
    expect(page.locator(TITLE)).to_have_value("Faust")
    assert not any((folder / "people").glob("*.jsonl"))
    page.reload()
    expect(page.locator("#id")).to_have_text("c2")
    page.locator(TITLE).fill("Faust")
    is_saved(page)
    page.close()
    again.close()
    home.end()
    assert truths(folder)["c2"]["titel"] == "Faust"
    assert truths(folder)["c3"] is None


def test_value_of_another_plan_is_not_saved(tmp_path, browser, serve):
    cards = Cards(tmp_path, cards=60, truths=30)
    collection = opened(cards.folder)
    runs = [run.path for run in collection.runs.views()]
    collection.decisions.make(runs, PlanOptions(learn=20, verify=40, limit=0.1, seed=1))
    home = serve(cards.folder)
    page = browser.new_page()
    page.goto(f"{home.url}check/anna/")
    page.locator("#reading").fill("1900")
    page.wait_for_load_state("networkidle")
    collection.decisions.make(runs, PlanOptions(learn=20, verify=40, limit=0.1, seed=2))
    page.keyboard.press("Enter")
    expect(page.locator("#message")).to_contain_text(REPLACED)
    expect(page.locator("#reading")).to_have_value("1900")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.locator("#reading").fill("1901")
    item = page.locator("#id").inner_text()
    page.keyboard.press("Enter")
    is_saved(page)
    page.close()
    checked = People(collection.built)
    ((reading,),) = checked.readings(collection.planned().hash).values()
    assert (str(reading.value), reading.item) == ("1901", item)


def test_an_earlier_file_put_back_while_its_editor_is_open_is_refused(tmp_path, browser, serve):
    folder = make_collection(tmp_path)
    home = serve(folder)
    page = browser.new_page()
    page.goto(f"{home.url}annotate/anna/#c2")
    page.locator(TITLE).fill("Faust")
    is_saved(page)
    entered = folder / "people/anna.jsonl"
    before = entered.read_bytes()
    page.locator(TITLE).fill("Urfaust")
    page.wait_for_function("() => document.getElementById('saving').dataset.state === 'saving'")
    is_saved(page)
    now = entered.read_bytes()
    entered.write_bytes(before)
    page.locator("[id='f:jahr']").fill("1808")
    expect(page.locator("#message")).to_contain_text("anna.jsonl: is shorter than it was")
    assert entered.read_bytes() == before
    entered.write_bytes(now)
    page.reload()
    expect(page.locator(TITLE)).to_have_value("Urfaust")
    page.locator("[id='f:jahr']").fill("1808")
    is_saved(page)
    page.close()
    assert home.end() == 0
    assert truths(folder)["c2"] == {"titel": "Urfaust", "jahr": 1808}


def test_dataset_that_is_gone_is_not_begun_anew(tmp_path, browser, serve):
    cards = Cards(tmp_path, cards=60, truths=30)
    collection = opened(cards.folder)
    runs = [run.path for run in collection.runs.views()]
    collection.decisions.make(runs, PlanOptions(learn=20, verify=40, limit=0.1))
    home = serve(cards.folder)
    page = browser.new_page()
    page.goto(f"{home.url}check/anna/")
    page.locator("#reading").fill("1900")
    page.wait_for_load_state("networkidle")
    built = collection.built
    built.rename(tmp_path / "away")
    page.keyboard.press("Enter")
    expect(page.locator("#message")).to_contain_text("is the folder still there?")
    assert not built.exists()
    (tmp_path / "away").rename(built)
    page.keyboard.press("Enter")
    is_saved(page)
    page.close()
