"""The browser is killed at random moments while somebody uses the home's own pages."""

import random
import threading
import time
from contextlib import suppress

import pytest
from annotating.killed_typing import own_chromium
from home.collections import Cards
from home.served import ServedHome
from playwright.sync_api import Error

from hdbench.collections.home.collection import opened
from hdbench.collections.trust.plan import PlanOptions
from hdbench.collections.truth.event_files import People

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=range(3))
def use_until_killed(request, browser, tmp_path):
    """Use a page of a collection until its browser is killed; return what it showed as saved."""
    rng = random.Random(request.param)

    def use_until_killed(folder, address, use):
        saved, has_saved, killed = [], threading.Event(), threading.Event()
        served = ServedHome(tmp_path, 0, folder)
        with own_chromium(browser.browser_type) as (page, kill):

            def kill_later():
                has_saved.wait(300)
                time.sleep(rng.uniform(0, 2.5))
                kill()
                killed.set()

            page.goto(f"{served.url}{address}")
            killer = threading.Thread(target=kill_later)
            killer.start()
            with suppress(Error):  # the browser is gone
                while not killed.is_set():
                    saved.append(use(page))
                    has_saved.set()
            has_saved.set()
            killer.join()
        served.end()
        assert saved
        return saved

    return use_until_killed


def wait_until_saved(page):
    page.locator("#saving[data-state=saved]").wait_for()  # `expect` would fail with the browser


def test_values_that_were_read_are_there(tmp_path, use_until_killed):
    cards = Cards(tmp_path, cards=60, truths=30)
    collection = opened(cards.folder)
    runs = [run.path for run in collection.runs.views()]
    collection.decisions.make(runs, PlanOptions(learn=60, verify=40, limit=0.1))

    def use(page):
        page.locator("#reading").wait_for()
        item = page.locator("#id").inner_text()
        field = page.locator("#label").inner_text().lower()
        page.locator("#reading").fill(f"{cards.truth(item)[field]}")
        with page.expect_response("**/read"):
            page.keyboard.press("Enter")
        wait_until_saved(page)
        return item, field

    saved = use_until_killed(cards.folder, "check/anna/", use)
    plan = collection.decisions.view().found
    checked = People(collection.built)
    readings = checked.readings(plan.hash)
    for item, field in saved:
        (reading,) = readings[item, field]
        assert (reading.by, reading.value) == ("anna", cards.truth(item)[field])
