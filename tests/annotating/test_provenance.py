"""How a ground truth was made, in the history and in the rows."""

import itertools
import json

import pytest
from annotating.merges import merge
from annotating.pages import write_collection

from hdbench.annotating.changes import Change, as_line, read_change
from hdbench.annotating.editor import Editor
from hdbench.annotating.folding import fold
from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError


def rows(folder):
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def made(folder):
    """Item → what its row says, and the model if there is one."""
    found = {}
    for item, row in rows(folder).items():
        said = [row[key] for key in ("provenance", "draft_model") if key in row]
        found[item] = said[0] if len(said) == 1 else tuple(said)
    return found


def put(store, item, field, to, how="blind", *, what="ground_truth", model=None):
    after = store.state(item).head[what]
    return store.change(item, what, field, to, after=after, how=how, model=model)


def set_rows(folder, **more):
    changed = [row | more.get(item, {}) for item, row in rows(folder).items()]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))


def change(number, field, to, how, *parents, by="anna", undoes=None, model=None):
    one, *also = [f"{each:032x}" for each in parents] or [None]
    return Change(
        id=f"{number:032x}",
        item="b1",
        by=by,
        at=f"2026-11-22T10:00:00.{number:03}Z",
        what="ground_truth",
        field=field,
        old=None,
        to=to,
        after=one,
        how=how,
        also=tuple(also),
        undoes=undoes and f"{undoes:032x}",
        model=model,
    )


FAUST = {"title": "Faust"}


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ([change(1, "title", "Faust", "blind")], "blind"),
        ([change(1, "", FAUST, "imported"), change(2, "year", 1808, "imported", 1)], "imported"),
        # A correction of a draft leaves a draft, and so does what is typed beside it.
        ([change(1, "", FAUST, "draft:a"), change(2, "title", "x", "blind", 1)], "draft:a"),
        (
            [change(1, "", FAUST, "draft:a"), change(2, "title", "x", "corrected after audit", 1)],
            "draft:a",
        ),
        (
            [change(1, "", FAUST, "blind"), change(2, "title", "x", "corrected after audit", 1)],
            "corrected after audit",
        ),
        # All of a draft was taken away.
        ([change(1, "", FAUST, "draft:a"), change(2, "", None, "draft:a", 1)], None),
        (
            [
                change(1, "", FAUST, "draft:a"),
                change(2, "", None, "draft:a", 1),
                change(3, "title", "x", "blind", 2),
            ],
            "blind",
        ),
        # Another draft replaced it.
        ([change(1, "", FAUST, "draft:a"), change(2, "", FAUST, "draft:b", 1)], "draft:b"),
        # A draft was filled in over what people had settled, and undone.
        (
            [
                change(1, "", FAUST, "blind"),
                change(2, "", FAUST, "settled", 1),
                change(3, "", {}, "draft:a", 2),
                change(4, "", FAUST, "settled", 3, undoes=3),
            ],
            "blind",
        ),
        # A single value of a draft was undone: the others stay.
        (
            [
                change(1, "", FAUST, "draft:a"),
                change(2, "year", 1, "blind", 1),
                change(3, "", FAUST, "blind", 2, undoes=2),
            ],
            "draft:a",
        ),
        # Two people, settled: a draft if one of them had one.
        (
            [
                change(1, "", FAUST, "draft:a"),
                change(2, "", {"title": "Urfaust"}, "blind", by="ben"),
                change(3, "title", "Faust", "settled", 1, 2),
            ],
            "draft:a",
        ),
        (
            [
                change(1, "", FAUST, "draft:a"),
                change(2, "", {"title": "Urfaust"}, "blind", by="ben"),
                change(3, "", FAUST, "settled", 1, 2),
            ],
            "draft:a",
        ),
        (
            [
                change(1, "title", "Faust", "blind"),
                change(2, "title", "Urfaust", "blind", by="ben"),
                change(3, "", FAUST, "settled", 1, 2),
            ],
            "blind",
        ),
        # Not yet settled, and one has a draft.
        (
            [
                change(1, "", FAUST, "draft:a"),
                change(2, "", {"title": "Urfaust"}, "blind", by="ben"),
            ],
            "draft:a",
        ),
        # What two people made is no import, though there was one.
        (
            [
                change(1, "", FAUST, "imported"),
                change(2, "", FAUST, "blind", 1),
                change(3, "", FAUST, "blind", 1, by="ben"),
                change(4, "", FAUST, "settled", 2, 3),
            ],
            "blind",
        ),
    ],
)
def test_how_a_record_was_made(changes, how):
    for shuffled in itertools.permutations(changes):
        found = fold("b1", shuffled, None).made
        assert (found and found.how) == how


def test_rows_say_how_their_ground_truth_was_made(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}, None, None, None, {}])
    with Store.open(folder, "anna") as store:
        put(store, "b1", "title", "Urfaust", "imported")
        put(store, "b2", "", {"title": "Egmond"}, "draft:qwen-1", model="Qwen")
        put(store, "b2", "title", "Egmont", "draft:qwen-1")
        put(store, "b3", "title", "Götz")
        put(store, "b5", "", "no title page", what="comment")
    assert made(folder) == {
        "b1": "imported",
        "b2": ("draft:qwen-1", "Qwen"),
        "b3": "blind",
        "b4": (),
        "b5": (),  # nobody changed it
    }


def test_a_row_without_a_ground_truth_says_nothing(tmp_path):
    folder = write_collection(tmp_path / "cards", [None])
    with Store.open(folder, "anna") as store:
        put(store, "b1", "", {"title": "Egmond"}, "draft:qwen-1", model="Qwen")
        store.flush()
        assert made(folder) == {"b1": ("draft:qwen-1", "Qwen")}
        put(store, "b1", "", "missing", what="status")
        store.flush()
        assert made(folder) == {"b1": ()}
        put(store, "b1", "", "open", what="status")
        store.flush()
        assert made(folder) == {"b1": ("draft:qwen-1", "Qwen")}
        for _ in range(3):
            store.undo("b1")
    assert rows(folder)["b1"]["ground_truth"] is None
    assert made(folder) == {"b1": ()}


def test_a_draft_stays_one_where_the_history_is_left_behind(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}])
    set_rows(folder, b1={"provenance": "draft:qwen-1", "draft_model": "Qwen"})
    editor = Editor(folder, "anna")
    state = editor.item(0)["state"]
    asked = {"what": "ground_truth", "field": "title", "to": "Urfaust"}
    editor.change(0, asked | {"after": state["head"]["ground_truth"]})
    editor.close()
    assert rows(folder)["b1"]["ground_truth"] == {"title": "Urfaust"}
    assert made(folder) == {"b1": ("draft:qwen-1", "Qwen")}
    base, change = map(json.loads, (folder / "history/anna.jsonl").read_text().splitlines())
    assert (base["how"], base["model"], change["how"]) == ("draft:qwen-1", "Qwen", "draft:qwen-1")


def test_a_draft_stays_one_where_it_is_handed_over(tmp_path):
    one = write_collection(tmp_path / "one", [{"title": "Faust"}])
    other = write_collection(tmp_path / "other", [{"title": "Faust"}])
    with Store.open(one, "anna") as store:
        put(store, "b1", "", {"title": "Urfaust"}, "draft:qwen-1", model="Qwen")
        put(store, "b1", "title", "Faust", "draft:qwen-1")
    hand_over(one, "anna", tmp_path / "anna.zip")
    merge(other, tmp_path / "anna.zip")
    assert made(other) == {"b1": ("draft:qwen-1", "Qwen")}


def test_the_editor_writes_down_the_model_of_a_draft(tmp_path):
    folder = write_collection(tmp_path / "cards", [None])
    answers = {"id": "b1", "model": "Qwen 3", "prediction": {"title": "Faust"}}
    (tmp_path / "qwen.jsonl").write_text(json.dumps(answers) + "\n")
    editor = Editor(folder, "anna", [tmp_path / "qwen.jsonl"])
    editor.fill_in(0, {"draft": 0, "after": None})
    editor.close()
    assert made(folder) == {"b1": ("draft:qwen", "Qwen 3")}
    [line] = map(json.loads, (folder / "history/anna.jsonl").read_text().splitlines())
    assert (line["how"], line["model"]) == ("draft:qwen", "Qwen 3")


def test_the_line_of_a_change_may_leave_the_model_out():
    written = as_line(change(1, "", FAUST, "draft:a", model="Qwen"))
    assert read_change(written, "x").model == "Qwen"
    old = json.loads(written)
    del old["model"]
    assert read_change(json.dumps(old).encode(), "x").model is None
    for wrong in ("", "two\nlines", 3, "x" * 201):
        with pytest.raises(HdbenchError, match="its 'model' is not usable"):
            read_change(json.dumps(old | {"model": wrong}).encode(), "x")


def test_a_column_of_the_collections_own_is_left_alone(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}, None])
    own = {"provenance": "St. Gallen, Stiftsbibliothek"}
    set_rows(folder, b1=own, b2={"provenance": None})
    with Store.open(folder, "anna") as store:
        assert any("column provenance of its own" in note for note in store.notes)
        put(store, "b1", "title", "Urfaust", "imported")
        put(store, "b2", "title", "Egmont")
    assert {item: row["provenance"] for item, row in rows(folder).items()} == {
        "b1": "St. Gallen, Stiftsbibliothek",
        "b2": None,
    }


def test_null_provenance_is_not_taken_for_a_custom_column(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}, None])
    set_rows(folder, b1={"provenance": "imported"}, b2={"provenance": None, "draft_model": None})
    with Store.open(folder, "anna") as store:
        assert store.notes == []
        put(store, "b2", "title", "Egmont")
    assert made(folder) == {"b1": "imported", "b2": "blind"}
