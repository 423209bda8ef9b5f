"""What people see of a work list: what each run says, read from a folder of a real decision."""

import csv
import json

import httpx
import pytest
from annotating.pages import serving
from trust.collection import FIELDS, Collection, values

from hdbench.collections.trust.folder import read_applied
from hdbench.collections.trust.origins import doubtful_values
from hdbench.collections.trust.work_list import AppliedWorkList
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.work_list import Candidate, EntryField
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow


def record(**changed):
    return {"title": "T", "year": 1850, "imprint": {"place": "Bern"}, "keywords": []} | changed


GIVEN = {
    0: [record(shelfmark="aaaa"), record(shelfmark="bbbb"), record(shelfmark="cccc")],
    1: [None, None, None],
    2: [None, record(shelfmark="xyz"), record(shelfmark=None)],
}
SCATTERED, SILENT, MIXED = "c0000", "c0001", "c0002"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A collection, and the folder of its decision."""
    made = Collection(tmp_path_factory.mktemp("made"), given=GIVEN)
    made.apply()
    return made


@pytest.fixture
def opened(made):
    lists = []

    def opened(path=made.folder / "out/worklist.csv"):
        lists.append(AppliedWorkList(path, made.path))
        return lists[-1]

    yield opened
    for each in lists:
        each.close()


def listed(made):
    with (made.folder / "out/worklist.csv").open(encoding="utf-8-sig") as file:
        found = {}
        for row in csv.DictReader(file):
            found.setdefault(row["id"], []).append(row["field"])
        return found


def accepted(made):
    """A field of which a value is accepted."""
    fields = values(made.out)[SCATTERED]
    return next(name for name, value in fields.items() if value["decision"] == "taken")


def beside(made, name, *rows):
    path = made.folder / "out" / name
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_the_items_are_those_of_the_list_in_its_order(made, opened):
    work = opened()
    assert {item: list(work.doubtful(item)) for item in work.items} == listed(made)
    assert list(work.items) == list(listed(made))
    assert work.doubtful(next(item for item, name in made.read if name == "shelfmark")) == ()
    assert work.doubtful("elsewhere") == ()


def test_what_runs_say_is_grouped_the_chosen_value_first(made, opened):
    work, lines = opened(), values(made.out)
    found = {field.path: field for field in work.fields(SCATTERED)}
    assert list(found) == FIELDS
    assert found["shelfmark"] == EntryField(
        *("shelfmark", "check", "below", "aaaa"),
        candidates=(
            Candidate("aaaa", "aaaa", ("one",)),
            Candidate("bbbb", "bbbb", ("two",)),
            Candidate("cccc", "cccc", ("three",)),
        ),
        score=lines[SCATTERED]["shelfmark"]["score"],
    )
    taken = accepted(made)
    assert found[taken] == EntryField(taken, "taken", None, lines[SCATTERED][taken]["value"])
    for field in work.fields(SILENT):
        nothing = EntryField(field.path, "check", "no_answer", None)
        assert field == nothing._replace(silent=("one", "two", "three"))
    mixed = next(field for field in work.fields(MIXED) if field.path == "shelfmark")
    assert mixed.value == lines[MIXED]["shelfmark"]["value"] == mixed.candidates[0].value
    assert set(mixed.candidates) == {
        Candidate("xyz", "xyz", ("two",)),
        Candidate(None, "", ("three",)),
    }
    assert mixed.silent == ("one",)


def test_a_list_that_was_cut_and_sorted_is_what_it_says(made, opened):
    read = next(item for item, name in made.read if name == "shelfmark")
    rows = (
        "field,id",
        f"shelfmark,{MIXED}",
        f"shelfmark,{SCATTERED}",
        f"{accepted(made)},{SCATTERED}",
        f",{read}",
    )
    work = opened(beside(made, "mine.csv", *rows))
    # One shelfmark was read, and a value that is accepted is not doubtful.
    assert list(work.items) == [MIXED, SCATTERED]
    assert [work.doubtful(item) for item in work.items] == [("shelfmark",)] * 2


def test_what_a_ground_truth_answers_is_not_asked(made, opened):
    before = listed(made)
    made.write_truths({SILENT: made.truth(SILENT)})
    work = opened()
    # Its five values are known; what is doubtful in the other items is still to be looked at.
    assert before.keys() - set(work.items) == {SILENT}
    left = set(doubtful_values(made.out, made.benchmark))
    assert left == {(item, name) for item in work.items for name in before[item]}
    assert len(left) == sum(map(len, before.values())) - 5
    made.write_truths({})


def test_a_list_of_something_else_is_refused(made, opened):
    read = next(item for item, name in made.read if name == "shelfmark")
    for row, refused in (
        ("elsewhere,year", "mine.csv: elsewhere: .*values.jsonl has no such item"),
        (f"{read},year", "lists no items: there is nothing to look at"),
    ):
        with pytest.raises(HdbenchError, match=refused):
            opened(beside(made, "mine.csv", "id,fields", row))


def test_what_was_changed_since_is_refused(made, opened):
    out = made.folder / "out"
    for path, refused in (
        (out / "values.jsonl", "values.jsonl: was changed after it was written"),
        (made.folder / "two.jsonl", "two.jsonl: not the answers that"),
        (made.path / "metadata.jsonl", "its items are not those that"),
    ):
        before = path.read_bytes()
        first = json.loads(before.splitlines()[0])
        path.write_bytes(before + json.dumps(first | {"id": "c0999"}).encode() + b"\n")
        with pytest.raises(HdbenchError, match=refused):
            opened()
        path.write_bytes(before)
    opened()


def test_the_command_opens_the_page_for_a_list_in_its_folder(made):
    path = made.folder / "out/worklist.csv"
    values = [(item, field) for item, fields in listed(made).items() for field in fields]
    number = values.index((SCATTERED, "shelfmark"))
    with serving(made.path, "--only", path) as served:
        found = httpx.get(f"{served.url}values/{number}", timeout=120).json()
        assert [each["names"] for each in found["candidates"]] == [["one"], ["two"], ["three"]]
        body = {"after": None, "place": 1}
        httpx.post(f"{served.url}values/{number}/read", json=body, timeout=120)
    seal = read_applied(path.parent).values_sha256
    [line] = People(made.path).worked(seal).values()
    assert (line.item, line.value, line.run, line.by) == (SCATTERED, "bbbb", "two", "me")
