"""What the server answers to the page of a work list, and what it saves."""

from threading import Event

import pytest
from annotating.pages import write_collection
from annotating.working.lists import WorkInMemory
from helpers.waiting import until
from starlette.testclient import TestClient

from hdbench.annotating.own_file import ChangedError
from hdbench.annotating.server import build_app
from hdbench.annotating.working.work_page import WorkPage
from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.errors import HdbenchError

PLACES = ("Basel", "basel", "Bâsel", "Bern")


def told():
    """Four items with doubts about their places; the first also about its title and year."""
    found = {f"b{n}": {"imprint.place": [place]} for n, place in enumerate(PLACES, start=1)}
    found["b1"] |= {"title": ["Faust", "Fausst", "Faust"], "year": [1808, None]}
    return found


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "out").mkdir()
    return write_collection(tmp_path / "cards", [None] * 4)


@pytest.fixture
def opened(folder):
    pages = []

    def opened(annotator="anna"):
        work = WorkInMemory(told(), {"kind": "book"})
        page = WorkPage(folder, folder.parent / "out", work, annotator, None)
        pages.append(page)
        until(lambda: page.clusters()["ready"], "the clusters")
        return page

    yield opened
    for page in pages:
        page.close()


def saved(folder):
    """Item and field → what was decided, how, and by whom."""
    found = WorkedValues(folder.parent / "out").current()
    return {(*key,): (line.value, line.how, line.by) for key, line in found.items()}


def decide(page, number, field, **body):
    entry = page.entry(number)
    decided = next(each for each in entry["fields"] if each["path"] == field)["decided"]
    after = decided and decided["id"]
    return page.decide(number, {"field": field, "after": after} | body)


def test_names_of_runs_lack_that_of_the_collection(opened, monkeypatch):
    monkeypatch.setattr(WorkInMemory, "RUNS", ("cards_one", "two", "acards_three"))
    page = opened()
    title = page.entry(0)["fields"][2]
    runs = [each["runs"] for each in title["candidates"]]
    assert runs == [("one", "acards_three"), ("two",)]
    title = decide(page, 0, "title", how="candidate", place=0)["fields"][2]
    assert title["decided"]["run"] == "cards_one"  # what is kept has the whole name


def test_an_item_has_what_runs_say_and_what_is_accepted(opened):
    entry = opened().entry(0)
    assert (entry["item"], entry["next"], entry["pages"]) == ("b1", 1, 1)
    kind, place, title, year = entry["fields"]
    assert kind == {
        "path": "kind",
        "label": {"en": "Kind", "de": "Kind"},
        "kind": "choice",
        "decision": "taken",
        "value": "book",
    }
    assert place["label"] == {"en": "Imprint › Place", "de": "Imprint › Place"}
    assert [(each["parts"], each["runs"]) for each in title["candidates"]] == [
        ([("Faust", False, False)], ("one", "three")),
        ([("Faus", False, False), ("s", True, False), ("t", False, False)], ("two",)),
    ]
    assert [each["is_nothing"] for each in year["candidates"]] == [False, True]
    assert year["kind"] == "integer"
    assert entry["state"] == {"done": 0, "all": 6, "undo": None}


def test_each_way_to_decide_is_saved_and_undone_in_turn(folder, opened):
    page = opened()
    decide(page, 0, "title", how="candidate", place=1)
    decide(page, 0, "year", how="typed", value="1810")
    answer = decide(page, 0, "imprint.place", how="nothing")
    assert saved(folder) == {
        ("b1", "title"): ("Fausst", "candidate", "anna"),
        ("b1", "year"): (1810, "typed", "anna"),
        ("b1", "imprint.place"): (None, "nothing", "anna"),
    }
    assert WorkedValues(folder.parent / "out").current()["b1", "title"].run == "two"
    assert answer["state"]["done"] == 3
    decide(page, 0, "year", how="candidate", place=1)
    assert saved(folder)["b1", "year"] == (None, "candidate", "anna")
    told_undone = []
    while (undo := page.state()["undo"]) is not None:
        told_undone.append((undo["label"]["en"], undo["text"], undo["number"]))
        page.undo({"id": undo["id"]})
    assert told_undone == [
        ("Year", "", 0),
        ("Imprint › Place", "", 0),
        ("Year", "1810", 0),
        ("Title", "Fausst", 0),
    ]
    assert saved(folder) == {}


def test_nothing_is_saved_over_what_somebody_else_decided(folder, opened):
    anna, ben = opened(), opened("ben")
    decide(ben, 0, "title", how="typed", value="Egmont")
    with pytest.raises(ChangedError) as raised:
        anna.decide(0, {"field": "title", "after": None, "how": "candidate", "place": 0})
    field = next(each for each in raised.value.state["fields"] if each["path"] == "title")
    assert (field["decided"]["text"], field["decided"]["by"]) == ("Egmont", "ben")
    decide(anna, 0, "title", how="candidate", place=0)
    assert saved(folder) == {("b1", "title"): ("Faust", "candidate", "anna")}
    assert ben.state()["undo"] is None  # it is not in force any more
    anna.undo({"id": anna.state()["undo"]["id"]})
    assert saved(folder) == {("b1", "title"): ("Egmont", "typed", "ben")}
    with pytest.raises(HdbenchError, match="is working on this list already"):
        opened("ben")


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"field": "kind", "how": "nothing"}, "nothing to decide"),
        ({"field": ["title"], "how": "nothing"}, "nothing to decide"),
        ({"field": "title", "how": "table"}, "how must be"),
        ({"field": "title", "how": "candidate", "place": 2}, "no such value"),
        ({"field": "title", "how": "candidate", "place": True}, "no such value"),
        ({"field": "title", "how": "typed", "value": " "}, "must not be empty"),
        ({"field": "year", "how": "typed", "value": "x"}, "not a number"),
    ],
)
def test_what_no_page_sends_is_refused(folder, opened, body, refused):
    with pytest.raises(HdbenchError, match=refused):
        opened().decide(0, {"after": None} | body)
    assert saved(folder) == {}


def test_the_next_open_item_is_found_around_the_end(opened):
    page = opened()
    assert page.start()["first"] == 0
    for field in ("title", "year", "imprint.place"):
        decide(page, 0, field, how="nothing")
    decide(page, 2, "imprint.place", how="nothing")
    assert page.start()["first"] == 1
    assert [page.entry(number)["next"] for number in range(4)] == [1, 3, 3, 1]
    decide(page, 1, "imprint.place", how="nothing")
    assert decide(page, 3, "imprint.place", how="nothing")["next"] is None


def together(page, **body):
    without = {"without_spellings": [], "without_items": []}
    return page.decide_cluster(0, without | {"how": "candidate", "place": 0} | body)


def test_values_that_come_back_are_decided_and_undone_together(folder, opened):
    page = opened()
    [cluster] = page.clusters()["clusters"]
    assert cluster["label"]["en"] == "Imprint › Place"
    assert (cluster["left"], cluster["spellings"], cluster["text"]) == (3, 3, "Basel")
    shown = page.cluster(0)
    assert [(each["text"], each["left"]) for each in shown["spellings"]] == [
        ("Basel", 1),
        ("Bâsel", 1),
        ("basel", 1),
    ]
    assert [each["item"] for each in shown["cards"]] == ["b1", "b3", "b2"]
    state = together(page, expects=3)
    assert (state["done"], state["undo"]["count"]) == (3, 3)
    assert set(saved(folder).values()) == {("Basel", "candidate", "anna")}
    assert page.clusters()["clusters"] == []
    page.undo({"id": state["undo"]["id"]})
    assert saved(folder) == {}
    assert [each["left"] for each in page.clusters()["clusters"]] == [3]


def test_what_is_not_ticked_or_decided_already_stays(folder, opened):
    page = opened()
    decide(page, 0, "imprint.place", how="nothing")
    spelling = [each["text"] for each in page.cluster(0)["spellings"]].index("Bâsel")
    together(page, how="typed", value="Bern", without_spellings=[spelling], expects=1)
    assert saved(folder) == {
        ("b1", "imprint.place"): (None, "nothing", "anna"),
        ("b2", "imprint.place"): ("Bern", "typed", "anna"),
    }
    page.undo({"id": page.state()["undo"]["id"]})
    together(page, how="nothing", without_items=[1], expects=1)
    assert saved(folder)["b3", "imprint.place"] == (None, "nothing", "anna")


def test_other_values_than_the_page_expects_are_not_decided(folder, opened):
    anna, ben = opened(), opened("ben")
    decide(ben, 1, "imprint.place", how="typed", value="Bern")
    with pytest.raises(ChangedError) as raised:
        together(anna, expects=3)
    assert raised.value.state["left"] == 2
    assert list(saved(folder)) == [("b2", "imprint.place")]
    with pytest.raises(HdbenchError, match="must be a list of numbers"):
        together(anna, expects=2, without_items="1")
    with pytest.raises(HdbenchError, match="value 2 does not exist"):
        anna.cluster(1)


def test_why_clusters_cannot_be_found_is_told(folder, opened, monkeypatch):
    def fails(_):
        raise HdbenchError("{place}: no such file", place="values.jsonl")
        yield

    monkeypatch.setattr(WorkInMemory, "doubtful_values", fails)
    page = WorkPage(folder, folder.parent / "out", WorkInMemory(told()), "carl", None)
    until(lambda: page.clusters()["problem"] == "values.jsonl: no such file", "the reason")
    assert not page.clusters()["ready"]
    page.close()


def test_while_clusters_are_looked_for_there_is_no_problem(folder):
    may_fail = Event()

    class Slow(WorkInMemory):
        def doubtful_values(self):
            assert may_fail.wait(30)
            raise HdbenchError("runs are gone")
            yield

    page = WorkPage(folder, folder.parent / "out", Slow(told()), "anna", None)
    try:
        assert (page.clusters()["ready"], page.clusters()["problem"]) == (False, "")
        may_fail.set()
        until(lambda: page.clusters()["problem"], "the problem")
        assert (page.clusters()["ready"], page.clusters()["problem"]) == (False, "runs are gone")
    finally:
        page.close()


def test_what_others_decided_comes_in_the_pages_language(folder, opened):
    (folder / "images/card.pdf").write_bytes(b"not a PDF")
    rows = (folder / "metadata.jsonl").read_text()
    (folder / "metadata.jsonl").write_text(rows.replace("card.png", "card.pdf"))
    page = opened()
    decide(page, 0, "title", how="nothing")
    client = TestClient(build_app(page, "token"), base_url="http://127.0.0.1")
    late = {"field": "title", "after": None, "how": "nothing"}
    german = {"accept-language": "de"}
    stale = client.post("/token/entries/0/decide", json=late, headers=german).json()["stale"]
    shown = client.get("/token/entries/0", headers=german).json()
    assert stale["problem"] == shown["problem"] != page.entry(0)["problem"]
