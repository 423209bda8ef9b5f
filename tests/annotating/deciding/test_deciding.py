"""Values that are decided beside what is said of them: the server's answers, and the page."""

import shutil

import httpx
import pytest
from annotating.deciding.lists import WorkInMemory, prepared, serving
from annotating.pages import truths, write_collection
from playwright.sync_api import expect

from hdbench.collections.truth.choice_pages import AuditPage, SettlingPage, WorkPage
from hdbench.collections.truth.event_files import ChangedError, People
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError
from hdbench.report.audit.findings import FoundField

TOLD = {
    "b1": {"title": ["Faust", "Fauft", "Faust"], "year": [1808, None, 1809]},
    "b2": {"keywords": [["Diss.", "Basel"], ["Diss."]], "signed": [False, True]},
    "b3": {"title": [None, None, "Egmont"]},
}
HOSTILE = "<img src=x onerror=\"document.title='attacked'\"><b>bold</b>"


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards", [None] * 3)


@pytest.fixture
def opened(folder):
    pages = []

    def opened(person="Anna"):
        pages.append(WorkPage(folder, WorkInMemory(TOLD, {"kind": "book"}), person, None))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


def decide(page, number, **body):
    return page.read(number, {"after": page.value(number)["after"]} | body)


def decided(folder):
    current = People(folder).worked(WorkInMemory.seal)
    return {tuple(key): (each.value, each.how, each.run) for key, each in current.items()}


def test_a_candidate_another_value_or_nothing_is_kept_in_the_fields_type(folder, opened):
    page = opened()
    first = page.value(0)
    assert (first["item"], first["label"]["en"], first["reason"]) == ("b1", "Title", "below")
    assert [each["names"] for each in first["candidates"]] == [["one", "three"], ["two"]]
    assert first["beside"] == [[{"en": "Kind", "de": "Kind"}, "book", "taken"]]
    decide(page, 0, place=1)
    decide(page, 1, value="0")
    decide(page, 2, place=0)
    decide(page, 3, place=0)
    state = decide(page, 4, value="")
    assert (state["phase"], state["next"], state["last"]) == ("done", [], 4)
    assert decided(folder) == {
        ("b1", "title"): ("Fauft", "candidate", "two"),
        ("b1", "year"): (0, "typed", None),
        ("b2", "keywords"): (["Diss.", "Basel"], "candidate", "one"),
        ("b2", "signed"): (False, "candidate", "one"),
        ("b3", "title"): (None, "nothing", None),
    }
    assert truths(folder) == dict.fromkeys(("b1", "b2", "b3"))  # it is no ground truth


def test_values_are_left_for_later_and_decided_again(opened):
    page = opened()
    assert page.state()["next"] == [0, 1]
    assert page.state(after=0)["next"] == [1, 2]
    decide(page, 2, place=0)
    assert page.state(after=1)["next"] == [3, 4]
    assert page.state(after=4)["next"] == [0, 1]
    decide(page, 2, place=1)
    assert page.value(2)["own"]["value"] == ["Diss."]
    assert page.state()["place"] == 2


def test_what_somebody_decided_meanwhile_is_not_overwritten_unseen(folder, opened):
    anna, ben = opened(), opened("Ben")
    before = ben.value(0)["after"]
    decide(anna, 0, place=0)
    with pytest.raises(ChangedError):
        ben.read(0, {"after": before, "place": 1})
    assert decided(folder)["b1", "title"][0] == "Faust"
    assert ben.value(0)["own"]["by"] == "Anna"
    decide(ben, 0, place=1)
    assert decided(folder)["b1", "title"][0] == "Fauft"
    assert [len(events) for events in People(folder).events.values()] == [1, 1]


@pytest.mark.parametrize(
    ("number", "body"),
    [(0, {"place": 2}), (0, {"place": -1}), (1, {"value": "18o8"}), (0, {"value": 3}), (9, {})],
)
def test_what_cannot_be_decided_is_refused(folder, opened, number, body):
    page = opened()
    with pytest.raises(HdbenchError):
        page.read(number, {"after": None} | body)
    assert not list((folder / "people").glob("*.jsonl"))


def test_what_two_people_entered_is_settled(tmp_path):
    for name, year, place in (("anna", 1808, "Basel"), ("ben", 1809, "Bosel")):
        imprint = {"place": "Bern", "printer": "Haas"}
        folder = write_collection(tmp_path / name, [{"title": "Faust", "imprint": imprint}, None])
        with Store(folder, name) as store:
            for field, value in (("imprint.place", place), ("year", year)):
                after = store.state("b1").head["ground_truth"]
                store.change("b1", "ground_truth", field, value, after=after, how="blind")
    shutil.copy(folder / "people/ben.jsonl", tmp_path / "anna/people")
    page = SettlingPage(tmp_path / "anna", "anna", None)
    place, shown = page.value(0), page.value(1)
    assert [each["names"] for each in shown["candidates"]] == [["anna"], ["ben"]]
    assert place["candidates"][0]["parts"] == [
        ("B", False, False),
        ("a", True, False),
        ("sel", False, False),
    ]
    decide(page, 0, place=0)
    state = decide(page, 1, place=1)
    assert state["phase"] == "done"
    assert page.value(0)["own"]["value"] == "Basel"
    assert page.value(1)["own"] == {"what": "value", "value": 1809, "text": "1809", "by": "anna"}
    page.close()
    assert truths(tmp_path / "anna")["b1"] == {
        "title": "Faust",
        "imprint": {"place": "Basel", "printer": "Haas"},
        "year": 1809,
    }


AUDITED = {
    "b1": [("year", "1809", "3 of 3"), ("imprint.place", "", "2 of 3")],
    "b2": [("keywords[1]", "Basel", "3 of 3"), ("persons[].name", "May", "2 of 3")],
}


def test_a_list_in_which_models_read_something_else_is_one_value(tmp_path):
    two = {"keywords": ["Diss.", "Bsel"], "persons": [{"name": "Frey", "roles": ["author"]}]}
    one = {"year": 1808, "imprint": {"place": "Bern"}}
    folder = write_collection(tmp_path / "cards", [one, two])
    audited = {item: [FoundField(*each) for each in found] for item, found in AUDITED.items()}
    page = AuditPage(folder, "Anna", None, audited)
    shown = [page.value(number) for number in range(4)]
    assert [
        [
            "".join(part for part, *_ in candidate["parts"]) or candidate["is_nothing"]
            for candidate in value["candidates"]
        ]
        for value in shown
    ] == [
        ["1808", "1809"],
        ["Bern", True],
        ["Diss. / Bsel", "Diss. / Basel"],
        ["Frey, author", "Frey, author / May"],
    ]
    assert [(value["reason"], value["in_form"]) for value in shown] == [
        ("audited", False),
        ("audited", False),
        ("audited_list", False),
        ("audited_list", True),
    ]
    decide(page, 0, place=0)  # it is right, and stays what it was
    assert page.state()["next"] == [1, 2]
    decide(page, 1, place=1)
    decide(page, 2, place=1)
    assert decide(page, 3, place=1)["phase"] == "done"
    page.close()
    assert truths(folder) == {
        "b1": {"year": 1808, "imprint": {"place": None}},
        "b2": {
            "keywords": ["Diss.", "Basel"],
            "persons": [{"name": "Frey", "roles": ["author"]}, {"name": "May"}],
        },
    }
    assert AuditPage(folder, "Ben", None, audited).state()["next"] == [0]


@pytest.mark.slow
def test_a_list_is_worked_off_with_the_keyboard(tmp_path, visit_at):
    told = TOLD | {"b3": {"title": [HOSTILE, None, "Egmont"]}}
    folder = prepared(tmp_path, told, kind="book")
    with serving(folder) as served:
        page = visit_at(served.url, awaited="#id:not(:empty)")

        def decide(item, *keys):
            expect(page.locator("#id")).to_have_text(item)
            with page.expect_response("**/read"):
                for key in keys:
                    page.keyboard.press(key)
            expect(page.locator("#saving")).to_have_attribute("data-state", "saved")

        expect(page.locator("#unreadable")).to_be_hidden()
        decide("b1", "ArrowDown", "Enter")
        expect(page.locator("#label")).not_to_have_text("Title")
        page.keyboard.press("F2")
        expect(page.locator("#reading")).to_be_focused()
        decide("b1", "1", "8", "Enter")
        decide("b2", "1")
        decide("b2", "2")
        expect(page.locator("#id")).to_have_text("b3")
        assert page.locator("#choices b").count() == 0
        assert "attacked" not in page.title()
        decide("b3", "0")
        expect(page.locator("#between-title")).to_be_visible()
        page.keyboard.press("Alt+ArrowLeft")
        expect(page.locator("#id")).to_have_text("b3")
    assert decided(folder) == {
        ("b1", "title"): ("Fauft", "candidate", "two"),
        ("b1", "year"): (18, "typed", None),
        ("b2", "keywords"): (["Diss.", "Basel"], "candidate", "one"),
        ("b2", "signed"): (True, "candidate", "two"),
        ("b3", "title"): (None, "nothing", None),
    }


@pytest.mark.slow
def test_what_was_decided_survives_kill_9(tmp_path):
    from annotating.deciding.lists import ServedWork  # noqa: PLC0415

    folder = prepared(tmp_path, TOLD)
    served = ServedWork(folder)
    with httpx.Client(base_url=served.url, timeout=60) as client:
        for number in range(3):
            told = client.post(f"values/{number}/read", json={"after": None, "place": 0})
            assert told.status_code == 200, told.text
    assert served.kill() == -9
    assert len(decided(folder)) == 3
