"""The time per item is kept only where it is wanted, and stays in the folder."""

import json

import pytest
from annotating.pages import serving, write_collection
from playwright.sync_api import expect

from hdbench.annotating.annotation import Annotation, write_annotation
from hdbench.annotating.editor import Editor
from hdbench.errors import HdbenchError


def times(folder):
    path = folder / "history/times/me.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.nightly
@pytest.mark.parametrize("keep", [True, False])
def test_a_stay_is_noted_without_its_pauses(tmp_path, visit_at, keep):
    folder = write_collection(tmp_path / "cards")
    write_annotation(folder, Annotation(keep_time=keep))
    with serving(folder) as served:
        context = visit_at("about:blank", awaited="body").context
        page = context.new_page()
        page.clock.install()
        page.goto(served.url)
        expect(page.locator("#id")).to_have_text("b1")
        page.clock.run_for(30_000)
        page.get_by_label("Title", exact=True).press("F")
        page.clock.run_for(121_000)  # a pause
        page.get_by_label("Title", exact=True).press("a")
        page.clock.run_for(15_000)
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.locator("#id")).to_have_text("b2")
        page.clock.run_for(7_000)
        with page.expect_response("**/leave"):
            page.evaluate(
                "Object.defineProperty(document, 'visibilityState', { value: 'hidden' });"
                "document.dispatchEvent(new Event('visibilitychange'))"
            ) if keep else page.get_by_role("button", name="Next", exact=True).click()
    told = times(folder)
    assert [each["item"] for each in told] == (["b1", "b2"] if keep else [])
    # The clock that is set forward goes on by itself too, while the browser is slow.
    for each, least in zip(told, (45, 7), strict=False):
        assert least <= each["seconds"] < least + 121  # the pause is not counted


def test_a_link_in_place_of_the_file_is_refused(tmp_path):
    folder = write_collection(tmp_path / "cards")
    write_annotation(folder, Annotation(keep_time=True))
    (tmp_path / "precious").write_text("x")
    editor = Editor(folder, "me")
    (folder / "history/times").mkdir()
    (folder / "history/times/me.jsonl").symlink_to(tmp_path / "precious")
    with pytest.raises(HdbenchError, match="symbolic link"):
        editor.leave({"item": 0, "seconds": 1})
    editor.close()
    assert (tmp_path / "precious").read_text() == "x"
