"""What axe-core finds in the Space in English; in German it is in `test_german.py`."""

import pytest
from space.looking import Look
from space.pages import go_to_tab, report, settled

from hdbench.space.texts import translations

pytestmark = pytest.mark.nightly


def test_axe_core_finds_no_violation_in_any_tab_on_a_phone(visit_at, furnished_url):
    """And none on a screen in the dark, where the page need not be loaded again for it."""
    page = visit_at(furnished_url, color_scheme="light", width=390)
    look = Look(page)

    def look_both_ways(state):
        look.at(state)
        page.set_viewport_size({"width": 1280, "height": 844})
        page.emulate_media(color_scheme="dark")
        look.at(f"{state}, the other way")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 390, "height": 844})

    look_both_ways("start")
    look.at_edges("Advanced")
    page.locator("#score").click()
    page.locator("#first [role=alert]").wait_for()
    look.at("problem")
    page.locator("#example").click()
    report(page)
    look_both_ways("score")
    [frame] = [each for each in page.frames if each != page.main_frame]
    look.at("report", frame)
    for tab in ("compare", "run", "leaderboard", "about"):
        go_to_tab(page, translations()["en"][f"tab_{tab}"])
        if tab == "leaderboard":
            page.frame_locator("#leaderboard iframe").locator("#wanted").wait_for()
        if tab == "about":
            page.get_by_role("button", name="Zettelkatalog").click()
            settled(page)
        look.at(tab)
    assert look.found == []
