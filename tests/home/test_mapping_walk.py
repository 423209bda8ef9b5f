"""Where each field goes, chosen in a real browser beside three records."""

import pytest
from home.collections import Cards
from home.looks import Looks
from home.served import ServedHome
from home.test_decisions import Opened
from playwright.sync_api import expect
from space.servers import free_port

from hdbench.collections.home.folder import key_of

pytestmark = pytest.mark.nightly


@pytest.fixture
def cards(tmp_path, monkeypatch):
    """Cards whose values are accepted."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Cards(tmp_path, cards=80)
    page = Opened(made, tmp_path / "other")
    page.accept()
    page.home.close()
    return made


def test_the_preview_follows_the_choices_and_the_records_the_preview(cards, tmp_path, visit_at):
    served = ServedHome(tmp_path, free_port(), cards.folder)
    page = visit_at(served.url, awaited="h1")
    root = served.url.replace(f"{key_of(cards.folder)}/", "")
    shown = {"language": "de-DE", "color_scheme": "dark", "width": 390}
    look = Looks(cards, visit_at(root, awaited="h1", **shown), served.url)
    look.own |= {"title", "author", "place", "year", "shelfmark"}  # columns that were kept
    page.goto(f"{served.url}finish")
    page.locator("summary", has_text="MARC").first.press("Enter")
    form = page.locator("form[data-preview]", has=page.get_by_role("button", name="Write MARCXML"))
    first = form.locator(".preview dl").first
    shelfmark = cards.truth("0000")["shelfmark"]
    expect(first).to_contain_text(f"8# $h{shelfmark}")
    field = form.get_by_label("Shelfmark")
    field.focus()
    field.press("5")
    expect(first).to_contain_text(f"## $a{shelfmark}")
    expect(first).not_to_contain_text("$h")
    form.get_by_role("button", name="Write MARCXML").press("Enter")
    expect(page.locator(".note")).to_contain_text("records.xml: 78 records")
    with page.expect_download() as download:
        page.get_by_role("link", name="records.xml", exact=True).click()
    written = download.value.path().read_text().partition("</record>")[0]
    assert f'tag="500" ind1=" " ind2=" "><subfield code="a">{shelfmark}<' in written
    look(page, "finish")
    served.end()
    assert look.wrong == [], look.wrong
