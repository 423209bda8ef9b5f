"""A number keeps its digits and its spelling, unless somebody changes that very field."""

import json

import pytest
from annotating.pages import serving, write_collection
from playwright.sync_api import expect
from starlette.testclient import TestClient

from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.server import build_app
from hdbench.collections.truth.store import Store

LONG = "12345678901234567890"
DEEP = '{"deep": [7.0, 12345678901234567891]}'
RECORD = (
    '{"title": "Faust", "count": 12345678901234567890, "price": 0.10, "sizes": [1.0, 1e5, 2], '
    '"persons": [{"name": "May", "born": 1808.0}], "free": {"deep": [-0.0, 1E+2, {"x": 3.50}]}, '
    '"odd": 1.50}'
)
NUMBER = {"type": ["number", "null"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": ["string", "null"], "title": "Title"},
        "count": {"type": ["integer", "null"], "title": "Count"},
        "price": NUMBER | {"title": "Price"},
        "sizes": {"type": "array", "title": "Sizes", "items": NUMBER},
        "persons": {
            "type": "array",
            "title": "Persons",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "title": "Name"},
                    "born": NUMBER | {"title": "Born"},
                },
            },
        },
        "free": {"type": ["object", "null"], "title": "Free"},
        "odd": {"enum": [1.5, 2, None], "title": "Odd"},
    },
}


@pytest.fixture
def folder(tmp_path):
    """One item with numbers of every kind, in a row that has another column with one."""
    folder = write_collection(tmp_path / "cards")
    (folder / "answer.schema.json").write_text(json.dumps(SCHEMA))
    (folder / "metadata.jsonl").write_text(
        f'{{"file_name": "images/card.png", "id": "b1", "ground_truth": {RECORD}, "page": 3.0}}\n'
    )
    return folder


def row(folder):
    return (folder / "metadata.jsonl").read_text()


@pytest.mark.parametrize(
    ("field", "to", "before", "then"),
    [
        ("title", '"Urfaust"', '"Faust"', '"Urfaust"'),
        ("price", "0.1", '"price": 0.10', '"price": 0.1'),
        ("count", LONG + "1", LONG, LONG + "1"),
        ("sizes", "[2, 1e5, 1.0]", "[1.0, 1e5, 2]", "[2, 1e5, 1.0]"),
    ],
)
def test_the_server_keeps_how_numbers_are_written(folder, field, to, before, then):
    editor = Editor(folder, "anna")
    client = TestClient(build_app(editor, "t"), base_url="http://127.0.0.1")
    shown = client.get("/t/items/0").text
    after = json.dumps(json.loads(shown)["state"]["head"]["ground_truth"])
    sent = f'{{"what": "ground_truth", "field": "{field}", "to": {to}, "after": {after}}}'
    assert f'"record": {RECORD}' in shown
    told = client.post(
        "/t/items/0/change", content=sent, headers={"content-type": "application/json"}
    )
    assert told.status_code == 200, told.text
    editor.close()
    assert RECORD.replace(before, then) in row(folder)
    assert '"page": 3.0' in row(folder)
    with Store(folder, "anna") as store:  # what follows from the history alone
        store.undo("b1")
    assert RECORD in row(folder)


@pytest.fixture
def visit(visit_at):
    def visit(served, **options):
        return visit_at(served.url, awaited="#id:not(:empty)", **options)

    return visit


def saved(page):
    page.keyboard.press("Tab")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


@pytest.mark.nightly
def test_the_page_changes_no_number_that_nobody_changes(folder, visit):
    with serving(folder, "--as", "anna") as served:
        page = visit(served)
        for label, value in {"Count": LONG, "Price": "0.10", "Born": "1808.0"}.items():
            expect(page.get_by_label(label, exact=True)).to_have_value(value)
        page.get_by_label("Title").fill("Urfaust")
        saved(page)
        page.get_by_label("Name").fill("Mai")
        saved(page)
        page.get_by_label("Sizes 3", exact=True).fill("3")
        saved(page)
        page.get_by_label("Sizes 1", exact=True).click()
        page.get_by_role("button", name="Move Sizes 1 down").click()
        page.get_by_label("Odd").select_option("2")
        saved(page)
        page.keyboard.press("Escape")
        page.keyboard.press("Control+z")
        expect(page.get_by_label("Odd")).to_have_value("3")  # beside the choices, as it is spelled
    expected = (
        RECORD.replace("Faust", "Urfaust")
        .replace("May", "Mai")
        .replace("[1.0, 1e5, 2]", "[1e5, 1.0, 3]")
    )
    assert expected in row(folder)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("label", "typed", "written"),
    [
        ("Count", LONG, LONG),
        ("Price", LONG, LONG),
        ("Price", "0.300", "0.300"),
        ("Price", "1e5", "1e5"),
        ("Born", "+1808.50", "1808.50"),
        ("Free", DEEP, DEEP),
    ],
)
def test_the_page_keeps_a_number_as_it_is_typed(folder, visit, label, typed, written):
    with serving(folder, "--as", "anna") as served:
        page = visit(served)
        page.get_by_label(label, exact=True).fill(typed)
        saved(page)
    assert f'"{label.lower()}": {written}' in row(folder)


@pytest.mark.nightly
def test_settling_keeps_the_digits(folder, visit):
    (folder / "metadata.jsonl").write_text(row(folder).replace(RECORD, "null"))
    for name in ("anna", "ben"):
        read_double(folder, name, 1)
    for name, count in (("anna", "11111111111111111111"), ("ben", "11111111111111111112")):
        with Store(folder, name) as store:
            head = store.state("b1").head
            value = json.loads(f'{{"title": "Faust", "count": {count}}}')
            store.change("b1", "ground_truth", "", value, after=head["ground_truth"], how="blind")
            store.change("b1", "status", "", "done", after=head["status"], how="blind")
    with serving(folder, "--as", "anna") as served:
        page = visit(served)
        other = page.locator(".settle .pair > div", has_text="ben")
        expect(other.locator("pre")).to_have_text("11111111111111111112")
        other.get_by_role("button", name="Take").click()
        expect(page.locator("#form").get_by_label("Count")).to_have_value("11111111111111111112")
        saved(page)
    assert '"count": 11111111111111111112' in row(folder)
