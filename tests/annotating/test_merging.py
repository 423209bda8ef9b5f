import contextlib
import itertools
import json
import random
import shutil
import zipfile

import pytest
from annotating.merges import CHANGE, merge

from hdbench.annotating import merging
from hdbench.annotating.annotation import (
    Annotation,
    Assignment,
    read_annotation,
    write_annotation,
)
from hdbench.annotating.history import History
from hdbench.annotating.merging import hand_over, read_hand_over
from hdbench.annotating.metadata import Metadata
from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError


def put(folder, annotator, item, field, to, *, what="ground_truth", how="blind"):
    with Store.open(folder, annotator) as store:
        return store.change(item, what, field, to, after=store.state(item).head[what], how=how)


def state(folder, item):
    with Store.open(folder, "reader") as store:
        return store.state(item)


def truth(folder, item):
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}[item]["ground_truth"]


@pytest.fixture
def other(collection, tmp_path):
    """The same collection on somebody else's machine."""
    return shutil.copytree(collection, tmp_path / "other")


def packed(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def handed(folder, annotator, tmp_path, name="h.zip"):
    hand_over(folder, annotator, tmp_path / name)
    return tmp_path / name


def test_merging_two_annotators_again_adds_nothing(collection, other, tmp_path):
    put(collection, "anna", "b1", "title", "Faust II")
    put(other, "ben", "b1", "year", 1832)
    put(other, "ben", "b2", "title", "Egmont")
    path = handed(other, "ben", tmp_path)
    merged = merge(collection, path)
    # The two changes, and that the ground truth of b1 was there before.
    assert (merged.taken, merged.known, merged.conflicts) == (3, 0, ())
    assert truth(collection, "b1") == {"title": "Faust II", "year": 1832}
    assert truth(collection, "b2") == {"title": "Egmont"}
    files = {file: file.read_bytes() for file in collection.glob("**/*") if file.is_file()}
    assert merge(collection, path) == (0, 3, (), 0)
    assert {file: file.read_bytes() for file in files} == files


def test_a_conflict_keeps_both_values_until_it_is_settled(collection, other, tmp_path):
    put(collection, "anna", "b1", "title", "Faust II")
    put(other, "ben", "b1", "title", "Faust 2")
    (conflict,) = merge(collection, handed(other, "ben", tmp_path)).conflicts
    assert (conflict.item, conflict.what, conflict.field) == ("b1", "ground_truth", "title")
    assert {change.by: change.to for change in conflict.changes} == {
        "anna": "Faust II",
        "ben": "Faust 2",
    }
    assert truth(collection, "b1")["title"] == conflict.changes[-1].to
    # Another field settles nothing.
    assert put(collection, "anna", "b1", "year", 1832).conflicts == (conflict,)
    settled = put(collection, "anna", "b1", "title", "Faust II", how="settled")
    assert settled.conflicts == ()
    assert settled.record == {"title": "Faust II", "year": 1832}
    # And it is settled for the other one too.
    merge(other, handed(collection, "anna", tmp_path, "back.zip"))
    assert state(other, "b1").conflicts == ()
    assert state(other, "b1").record == settled.record


def test_one_who_has_not_seen_the_conflict_cannot_settle_it(collection, other, tmp_path):
    put(other, "ben", "b1", "title", "Faust 2")
    with Store.open(collection, "anna") as store:
        seen = store.state("b1").head["ground_truth"]
        state = store.change("b1", "ground_truth", "title", "Faust II", after=seen, how="blind")
        seen = state.head["ground_truth"]
        merge(collection, handed(other, "ben", tmp_path))
        with pytest.raises(HdbenchError, match="changed in the meantime"):
            store.change("b1", "ground_truth", "title", "x", after=seen, how="blind")
        assert len(store.state("b1").conflicts) == 1


def test_same_values_and_different_fields_do_not_conflict(collection, other, tmp_path):
    put(collection, "anna", "b1", "title", "Faust II")
    put(collection, "anna", "b1", "", "done", what="status")
    put(other, "ben", "b1", "title", "Faust II")
    put(other, "ben", "b1", "", "done", what="status")
    put(other, "ben", "b1", "", "a first edition?", what="comment")
    assert merge(collection, handed(other, "ben", tmp_path)).conflicts == ()
    found = state(collection, "b1")
    assert (found.status, found.comment, found.by) == ("done", "a first edition?", ("anna", "ben"))


def test_a_part_of_a_field_is_in_conflict_with_the_whole(collection, other, tmp_path):
    put(collection, "anna", "b3", "entries[0].name", "Mai")
    put(other, "ben", "b3", "entries", [])
    (conflict,) = merge(collection, handed(other, "ben", tmp_path)).conflicts
    assert conflict.field == "entries"
    assert put(collection, "anna", "b3", "entries", [{"name": "Mai"}]).conflicts == ()


def test_truths_that_differed_before_annotation_conflict(collection, other, tmp_path):
    text = (other / "metadata.jsonl").read_text(encoding="utf-8").replace("1808", "1809")
    (other / "metadata.jsonl").write_text(text, encoding="utf-8")
    put(other, "ben", "b1", "title", "Faust 2")
    (conflict,) = merge(collection, handed(other, "ben", tmp_path)).conflicts
    assert conflict.field == ""
    assert {json.dumps(change.to) for change in conflict.changes} >= {
        '{"title": "Faust", "year": 1808}',
        '{"title": "Faust", "year": 1809}',
    }


def test_what_is_handed_over_is_the_own_history_and_nothing_else(collection, tmp_path):
    put(collection, "anna", "b1", "title", "Faust II")
    put(collection, "ben", "b2", "title", "Egmont")
    path = handed(collection, "anna", tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["anna.jsonl"]
        assert archive.read("anna.jsonl") == (collection / "history/anna.jsonl").read_bytes()
    with pytest.raises(HdbenchError, match="exists already"):
        hand_over(collection, "anna", path)
    with pytest.raises(HdbenchError, match="has changed nothing"):
        hand_over(collection, "clara", tmp_path / "c.zip")


def line(**other):
    """A line of a history, with what is given otherwise."""
    return json.dumps(CHANGE | {"id": "0" * 32} | other).encode() + b"\n"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"../ben.jsonl": line()}, "leads out"),
        ({"/ben.jsonl": line()}, "leads out"),
        ({"ben.jsonl": line(), "metadata.jsonl": b""}, "nothing else"),
        ({"ben.jsonl": line(), "readme.md": b""}, "nothing else"),
        ({"Ben.jsonl": line()}, "one annotator"),
        ({"imported.jsonl": line(by="imported")}, "one annotator"),
        ({"ben.json": line()}, "one annotator"),
        ({}, "one annotator"),
        ({"ben.jsonl": line(by="anna")}, ":1: a change by anna"),
        ({"ben.jsonl": line(by="imported", how="imported")}, ":1: a change by imported"),
        ({"ben.jsonl": line(item="c7")}, "'c7', which is not in"),
        ({"ben.jsonl": line() + line(to="x")}, ":2: has the id of another change"),
        ({"ben.jsonl": line() + b"{"}, ":2: not JSON"),
        ({"ben.jsonl": line() + b"\n"}, ":2: not JSON"),
        ({"ben.jsonl": b"\xff\n"}, ":1: not UTF-8"),
        ({"ben.jsonl": b"[" * 10_000 + b"\n"}, ":1: not usable JSON"),
        ({"ben.jsonl": line() * 3 + line(id="A" * 32)}, ":4: .* its 'id'"),
        ({"ben.jsonl": line(field="a[")}, "its 'field'"),
        ({"ben.jsonl": line(field=7)}, "its 'field'"),
        ({"ben.jsonl": line(field=["title"])}, "its 'field'"),
        ({"ben.jsonl": line(what=["status"])}, "its 'what'"),
        ({"ben.jsonl": line(what="status")}, "its 'field'"),
        ({"ben.jsonl": line(what="status", field="", to="gone")}, "its 'to'"),
        ({"ben.jsonl": line(what="status", field="", to=["open"])}, "its 'to'"),
        ({"ben.jsonl": line(what="comment", field="", to=None)}, "its 'to'"),
        ({"ben.jsonl": line(field="", to="Egmont")}, "its 'to'"),
        ({"ben.jsonl": line(after=7)}, "its 'after'"),
        ({"ben.jsonl": line(how="guessed")}, "its 'how'"),
        ({"ben.jsonl": line(how="draft:")}, "its 'how'"),
        ({"ben.jsonl": line(at="yesterday")}, "its 'at'"),
        ({"ben.jsonl": line(also=["x"])}, "its 'also'"),
        ({"ben.jsonl": line(undoes=1)}, "its 'undoes'"),
    ],
)
def test_an_unusable_file_is_refused_and_nothing_is_taken_in(
    collection, tmp_path, members, message
):
    before = (collection / "metadata.jsonl").read_bytes()
    with pytest.raises(HdbenchError, match=message):
        merge(collection, packed(tmp_path / "h.zip", members))
    assert not (collection / "history/ben.jsonl").exists()
    assert (collection / "metadata.jsonl").read_bytes() == before
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("byte", "mebibytes", "message"),
    [(b" ", 16, ":1: longer than 4 MiB"), (b"\n", 300, ":1: not JSON"), (b" ", 513, "513 MiB")],
)
def test_a_bomb_is_refused(collection, tmp_path, byte, mebibytes, message):
    path = tmp_path / "h.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("ben.jsonl", "w") as member,
    ):
        for _ in range(mebibytes):
            member.write(byte * 2**20)
    with pytest.raises(HdbenchError, match=message):
        merge(collection, path)


def test_a_damaged_zip_and_none_are_refused(collection, tmp_path):
    (tmp_path / "h.zip").write_bytes(b"PK\x03\x04 no ZIP")
    with pytest.raises(HdbenchError, match="damaged ZIP"):
        merge(collection, tmp_path / "h.zip")
    with pytest.raises(HdbenchError, match="cannot be read"):
        merge(collection, tmp_path / "none.zip")


def test_a_change_that_was_edited_afterwards_is_refused(collection, tmp_path):
    merge(collection, packed(tmp_path / "h.zip", {"ben.jsonl": line()}))
    assert truth(collection, "b2") == {"title": "Egmont"}
    with pytest.raises(HdbenchError, match="edited by hand"):
        merge(collection, packed(tmp_path / "h2.zip", {"ben.jsonl": line(to="x")}))
    assert truth(collection, "b2") == {"title": "Egmont"}


def test_a_history_that_somebody_has_open_is_not_merged_into(collection, tmp_path):
    path = packed(tmp_path / "h.zip", {"ben.jsonl": line()})
    with (
        Store.open(collection, "ben"),
        pytest.raises(HdbenchError, match="annotating this folder already"),
    ):
        merge(collection, path)
    with Store.open(collection, "anna") as store:
        merge(collection, path)
        assert store.state("b2").record == {"title": "Egmont"}


def test_merge_keeps_concurrent_writes_of_another_process(collection, tmp_path, monkeypatch):
    path = packed(tmp_path / "h.zip", {"ben.jsonl": line()})
    writing = Metadata.writing

    def waiting(metadata):
        monkeypatch.undo()
        put(collection, "anna", "b1", "year", 1832)
        return writing(metadata)

    monkeypatch.setattr(Metadata, "writing", waiting)
    merge(collection, path)
    assert truth(collection, "b1") == {"title": "Faust", "year": 1832}
    assert truth(collection, "b2") == {"title": "Egmont"}


@pytest.mark.parametrize("seed", range(2))
def test_merging_in_any_order_and_repeatedly_gives_the_same(collection, tmp_path, seed):
    rng = random.Random(seed)
    folders = {name: shutil.copytree(collection, tmp_path / name) for name in ("anna", "ben")}
    for turn in range(3):
        for name, folder in folders.items():
            with Store.open(folder, name) as store:
                for _ in range(rng.randrange(8)):
                    do_something(store, rng)
        if turn < 2 and rng.random() < 0.7:  # one of both hears of the other
            giver, taker = rng.sample(sorted(folders), 2)
            path = handed_if_any(folders[giver], giver, tmp_path / f"{turn}.zip")
            if path:
                merge(folders[taker], path)
    found = []
    for order in itertools.product(("anna", "ben"), repeat=3):
        folder = shutil.copytree(collection, tmp_path / f"merged-{'-'.join(order)}")
        for turn, name in enumerate((*order, "anna", "ben")):
            path = handed_if_any(folders[name], name, tmp_path / f"{name}-{turn}-{order}.zip")
            if path:
                merge(folder, path)
        with Store.open(folder, "reader") as store:
            states = [store.state(item) for item in store.items]
            assert store.notes == []
        found.append((states, (folder / "metadata.jsonl").read_bytes()))
    assert all(each == found[0] for each in found)


def handed_if_any(folder, annotator, path):
    if not (folder / f"history/{annotator}.jsonl").exists():
        return None
    hand_over(folder, annotator, path)
    return path


def do_something(store, rng):
    """A change, or one taken back."""
    item = rng.choice(store.items)
    what, field, values = rng.choice(
        [
            ("ground_truth", "title", ["A", "B"]),
            ("ground_truth", "author", [{"name": "N"}, None]),
            ("ground_truth", "", [{"title": "C"}, None]),
            ("status", "", ["open", "done", "rejected"]),
            ("comment", "", ["?", ""]),
        ]
    )
    if rng.random() < 0.2:
        with contextlib.suppress(HdbenchError):  # nothing to undo, or changed again since
            store.undo(item)
        return
    head = store.state(item).head[what]
    how = rng.choice(["blind", "settled"])
    store.change(item, what, field, rng.choice(values), after=head, how=how)


def assigned(folder, *annotators, items=("b2",), blind=()):
    assignment = Assignment(annotators=annotators, items=items)
    write_annotation(folder, Annotation(assignments=(assignment,), blind=blind))


def test_what_is_assigned_reaches_a_copy_before_anything_is_seen(collection, other, tmp_path):
    assigned(collection, "anna", "ben", blind=("b3",))
    write_annotation(other, Annotation(keep_time=True))
    handed_over = handed(collection, "anna", tmp_path, "first.zip")  # she has not begun
    merged = merge(other, handed_over)
    assert (merged.taken, merged.assigned) == (0, 1)
    annotation = read_annotation(other)
    assert (annotation.annotators("b2"), annotation.blind) == (("anna", "ben"), ("b3",))
    assert annotation.keep_time
    put(collection, "anna", "b2", "title", "Egmont")
    path = handed(collection, "anna", tmp_path)
    merged = merge(other, path)
    assert (merged.taken, merged.assigned) == (1, 0)
    assert read_annotation(other) == annotation
    with Store.open(other, "ben") as store:
        assert store.state("b2").record is None
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["anna.jsonl", "annotation.json"]


def test_what_is_assigned_while_a_history_is_read_is_not_lost(
    collection, other, tmp_path, monkeypatch
):
    assigned(other, "anna", "ben", items=("b3",))
    path = handed(other, "anna", tmp_path)

    def slowly(path):
        assigned(collection, "clara", "dora")
        return read_hand_over(path)

    monkeypatch.setattr(merging, "read_hand_over", slowly)
    (collection / "metadata.jsonl").write_text(
        "".join(
            json.dumps(json.loads(line) | {"ground_truth": None}) + "\n"
            for line in (collection / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
        )
    )
    assert merge(collection, path).assigned == 1
    found = read_annotation(collection)
    assert [found.annotators(item) for item in ("b2", "b3")] == [("clara", "dora"), ("anna", "ben")]


def test_no_assignment_is_taken_in_that_does_not_fit(collection, other, tmp_path):
    put(collection, "anna", "b3", "title", "Egmont")
    for items, here, message in [
        (("b9",), None, "not in this collection"),
        (("b2",), ("anna", "clara"), "is assigned to anna, clara here"),
        (("b1",), None, "has a ground truth here already"),
    ]:
        assigned(collection, "anna", "ben", items=items)
        (other / "annotation.yaml").unlink(missing_ok=True)
        if here:
            assigned(other, *here)
        path = handed(collection, "anna", tmp_path, f"{items[0]}.zip")
        before = read_annotation(other)
        with pytest.raises(HdbenchError, match=message):
            merge(other, path)
        assert read_annotation(other) == before
        assert not (other / "history/anna.jsonl").exists()


def test_a_merge_that_was_killed_is_done_again(collection, other, tmp_path, monkeypatch):
    put(collection, "anna", "b2", "title", "Egmont")
    path = handed(collection, "anna", tmp_path)

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(Metadata, "write", killed)
        with pytest.raises(SystemExit):
            merge(other, path)
    assert truth(other, "b2") is None
    assert merge(other, path).taken == 0
    assert truth(other, "b2") == {"title": "Egmont"}


def test_concurrent_assignment_by_another_process_is_kept(collection, other, tmp_path, monkeypatch):
    assigned(collection, "anna", "ben")
    path = handed(collection, "anna", tmp_path)

    def opened(folder):
        assigned(folder, "clara", "dora", items=("b3",))
        return History(folder)

    monkeypatch.setattr(merging, "History", opened)
    merge(other, path)
    annotation = read_annotation(other)
    assert annotation.annotators("b2") == ("anna", "ben")
    assert annotation.annotators("b3") == ("clara", "dora")
