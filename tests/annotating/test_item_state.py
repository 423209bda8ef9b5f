"""What an item comes to, from what people entered in copies of a folder that are put together."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.benchmarks.spec import Provenance
from hdbench.collections.truth.events import SETTLED, Change
from hdbench.collections.truth.item_state import Base, fold
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError


class Entered:
    """Changes of one item, each of which knows those that are named."""

    def __init__(self):
        self.changes, self._numbers = [], {}

    def add(self, by, field, value, *, knows=(), kind="ground_truth", how="blind", alone=False):
        number = self._numbers[by] = self._numbers.get(by, 0) + 1
        seen = {}
        for each in knows:
            seen[each.by] = max(each.number, seen.get(each.by, 0))
        at = f"2026-11-29T10:00:{len(self.changes):02}.000Z"
        change = Change(
            by=by, at=at, number=number, kind=kind, item="b1", field=field, value=value, how=how,
            alone=alone, seen=seen,
        )  # fmt: skip
        self.changes.append(change)
        return change

    def fold(self, base=None):
        return fold("b1", self.changes, base)


@pytest.fixture
def entered():
    return Entered()


def conflicts(state):
    return {each.field: each.values for each in state.conflicts}


def test_values_of_people_who_know_of_each_other_replace_each_other(entered):
    first = entered.add("anna", "", {"title": "Faust", "year": 1808})
    second = entered.add("ben", "title", "Faust I", knows=[first])
    entered.add("anna", "title", "Faust II", knows=[second])
    state = entered.fold()
    assert state.record == {"title": "Faust II", "year": 1808}
    assert (state.conflicts, state.by, state.how) == ((), ("anna", "ben"), "blind")


def test_values_that_differ_and_do_not_know_of_each_other_have_to_be_settled(entered):
    first = entered.add("anna", "", {"title": "Faust", "year": 1808})
    one = entered.add("anna", "title", "Faust I")
    other = entered.add("ben", "title", "Faust II", knows=[first])
    state = entered.fold()
    assert conflicts(state) == {"title": ("Faust I", "Faust II")}
    assert state.record == {"title": "Faust II", "year": 1808}
    entered.add("carl", "title", "Faust I", knows=[one, other], how=SETTLED)
    state = entered.fold()
    assert (state.record["title"], state.conflicts) == ("Faust I", ())


def test_of_an_object_only_the_one_value_that_differs_is_settled(entered):
    one = entered.add("anna", "imprint", {"place": "Bern", "date": {"year": 1808, "exact": True}})
    other = entered.add("ben", "imprint", {"place": "Bern", "date": {"year": 1809, "exact": True}})
    assert conflicts(entered.fold()) == {"imprint.date.year": (1808, 1809)}
    both = {"place": "Biel", "date": {"year": 1810, "exact": True}}
    entered.add("ben", "imprint", both, knows=[other])
    assert conflicts(entered.fold()) == {"imprint": (one.value, both)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Müller ", "Mu\u0308ller"),
        (None, " "),
        ([], None),
        ({"place": None}, {"place": ""}),
        ([{"name": "A", "role": None}], [{"name": "A"}]),
    ],
)
def test_values_that_say_the_same_are_no_conflict(entered, one, other):
    entered.add("anna", "title", one)
    entered.add("ben", "title", other)
    assert entered.fold().conflicts == ()


def test_a_record_that_somebody_began_says_nothing_of_its_empty_fields(entered):
    entered.add("anna", "", {"title": "Faust", "year": None})
    entered.add("ben", "", {"title": None, "year": 1808})
    state = entered.fold()
    assert state.conflicts == ()
    entered.add("ben", "title", None)  # whoever empties a field says so
    assert conflicts(entered.fold()) == {"title": ("Faust", None)}


def test_who_reads_alone_says_something_of_every_field(entered):
    entered.add("anna", "", {"title": "Faust", "year": None}, alone=True)
    entered.add("ben", "", {"title": "Faust", "year": 1808}, alone=True)
    assert conflicts(entered.fold()) == {"year": (None, 1808)}


def test_a_record_that_was_cleared(entered):
    first = entered.add("anna", "title", "Faust")
    entered.add("ben", "", None, knows=[first])
    assert entered.fold(Base({"year": 1})).record is None


def test_statuses_and_comments(entered):
    entered.add("anna", "", "done", kind="status")
    entered.add("ben", "", "missing", kind="status")
    entered.add("ben", "", "torn", kind="comment")
    state = entered.fold(Base({"title": "Faust"}))
    assert (state.status, state.comment, state.record) == ("missing", "torn", {"title": "Faust"})
    assert [(each.kind, each.values) for each in state.conflicts] == [
        ("status", ("done", "missing"))
    ]


@pytest.mark.parametrize(
    ("ways", "base", "made"),
    [
        ([("", "blind")], None, "blind"),
        ([("", "draft:a"), ("title", "blind")], None, "draft:a"),
        ([("", "draft:a"), ("", "draft:b"), ("title", "blind")], None, "draft:b"),
        ([("title", "blind")], Base({}), "imported"),
        ([("title", "corrected after audit")], Base({}), "corrected after audit"),
        ([("title", "blind")], Base({}, Provenance("draft:x", "X")), "draft:x"),
        ([("", "draft:a"), ("title", SETTLED)], None, "draft:a"),
        ([("title", SETTLED)], None, "blind"),
        ([], Base({}), None),
        ([], None, None),
    ],
)
def test_provenance(entered, ways, base, made):
    for field, how in ways:
        entered.add("anna", field, "x" if field else {}, how=how)
    assert (state := entered.fold(base)).made == (
        made and Provenance(made, "X" if made == "draft:x" else None)
    )
    assert (state.record is None) == (not ways and base is None)


def test_one_draft_makes_what_is_settled_a_draft(entered):
    one = entered.add("anna", "", {"title": "A"}, how="draft:a", alone=True)
    other = entered.add("ben", "", {"title": "B"}, alone=True)
    entered.add("carl", "title", "B", knows=[one, other], how=SETTLED)
    assert entered.fold().made == Provenance("draft:a")


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["", "x", "y"]),
        st.sampled_from([None, 1, 2]),
        st.booleans(),
    ),
    max_size=12,
)


@given(STEPS, st.randoms(use_true_random=False))
def test_files_in_any_order_come_to_what_a_plain_account_says(steps, rng):
    """Each person knows all that was entered before, or nothing of the others."""
    entered = Entered()
    for by, field, value, knows_all in steps:
        knows = list(entered.changes) if knows_all else ()
        entered.add(by, field, value if field else {"x": value, "y": value}, knows=knows)
    shuffled = entered.changes.copy()
    rng.shuffle(shuffled)
    shuffled.sort(key=lambda change: (change.at, change.by, change.number))
    state = fold("b1", shuffled, None)
    for field in "xy":
        about = [each for each in entered.changes if each.field in ("", field)]
        last = [
            each
            for each in about
            if not any(later.knows(each) for later in about[about.index(each) + 1 :])
        ]
        values = [each.value if each.field else each.value[field] for each in last]
        said = {
            value
            for each, value in zip(last, values, strict=True)
            if each.field or value is not None
        }
        assert (field in conflicts(state)) == (len(said) > 1)
        says = [
            value
            for each, value in zip(last, values, strict=True)
            if each.field or value is not None
        ]
        if about:
            assert state.record[field] == (says or values)[-1]


def put(store, item, field, to, *, what="ground_truth", how="blind"):
    return store.change(item, what, field, to, after=store.state(item).head[what], how=how)


def test_copies_of_a_folder_come_to_the_same_however_files_travel(collection, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(collection, copy)
    with Store(collection, "anna") as anna, Store(copy, "ben") as ben:
        put(anna, "b1", "title", "Faust I")
        put(ben, "b1", "title", "Faust II")
        put(ben, "b1", "year", 1832)
        put(ben, "b2", "title", "Egmont")
    for one, other in ((collection, copy), (copy, collection)):
        for path in (one / "people").glob("*.jsonl"):
            if not (other / "people" / path.name).exists():
                shutil.copy(path, other / "people")
    with Store(collection, "carl") as here, Store(copy, "dora") as there:
        assert here.states() == there.states()
        assert conflicts(here.state("b1")) == {"title": ("Faust I", "Faust II")}
        assert here.state("b1").record["year"] == 1832
        settled = put(here, "b1", "title", "Faust I", how=SETTLED)
        assert settled.conflicts == ()


def test_undo_steps_back_through_changes_across_sessions(collection):
    with Store(collection, "anna") as store:
        put(store, "b1", "title", "Faust II")
        put(store, "b1", "place", "Weimar")
        put(store, "b1", "", "done", what="status")
        put(store, "b3", "entries[1].name", "Arthur")
    for record, status in [
        ({"title": "Faust II", "year": 1808, "place": "Weimar"}, "open"),
        ({"title": "Faust II", "year": 1808}, "open"),
        ({"title": "Faust", "year": 1808}, "open"),
    ]:
        with Store(collection, "anna") as store:
            state = store.undo("b1")
            assert (state.record, state.status) == (record, status)
    with Store(collection, "anna") as store:
        assert store.undo("b3").record == {"entries": [{"name": "May"}]}
        with pytest.raises(HdbenchError, match="nothing to undo"):
            store.undo("b1")


def test_only_the_own_changes_are_undone_and_nobody_elses_lost(collection):
    with Store(collection, "anna") as anna, Store(collection, "ben") as ben:
        put(anna, "b1", "title", "Faust II")
        put(ben, "b1", "year", 1832)
        assert anna.undo("b1").record == {"title": "Faust", "year": 1832}
        put(anna, "b1", "title", "Faust II")
        put(ben, "b1", "title", "Faust 2")
        with pytest.raises(HdbenchError, match="title was changed again since"):
            anna.undo("b1")
        assert ben.undo("b1").record["title"] == "Faust II"


def test_an_undone_draft_leaves_nothing(collection):
    with Store(collection, "anna") as store:
        put(store, "b2", "", {"title": "Egmond"}, how="draft:qwen")
        put(store, "b2", "title", "Egmont")
        assert store.undo("b2").made == Provenance("draft:qwen")
        assert (state := store.undo("b2")).record is None
        assert state.made is None
