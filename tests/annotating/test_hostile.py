import json

import pytest
from annotating.merges import CHANGE

from hdbench.annotating.store import Store
from hdbench.datasets.building.checks.folder import check_folder
from hdbench.errors import HdbenchError


def deep(depth):
    return "[" * depth + "]" * depth


HOSTILE = [
    b"\xff\xfe\n",
    b"\n",
    b"null\n",
    b"[1]\n",
    b"{}\n",
    b'{"id": 1}\n',
    json.dumps(CHANGE).replace('"Egmont"', deep(61)).encode() + b"\n",
    json.dumps(CHANGE).replace('"Egmont"', deep(100_000)).encode() + b"\n",
    json.dumps(CHANGE).replace('"Egmont"', "1e999").encode() + b"\n",
    json.dumps(CHANGE).replace('"Egmont"', "9" * 5_000).encode() + b"\n",
    json.dumps(CHANGE).replace('"Egmont"', "9" * 400 + ".0").encode() + b"\n",
    json.dumps(CHANGE | {"by": "anna"}).encode() + b"\n",
    json.dumps(CHANGE | {"by": "imported", "how": "imported", "field": "", "to": {}}).encode()
    + b"\n",
    json.dumps(CHANGE | {"item": ["b2"]}).encode() + b"\n",
    json.dumps(CHANGE | {"what": {"a": 1}}).encode() + b"\n",
    json.dumps(CHANGE | {"field": "a" * 1_000 + "["}).encode() + b"\n",
    json.dumps(CHANGE | {"field": "a.b" * 40}).encode() + b"\n",
    json.dumps(CHANGE | {"to": "x" * 5_000_000}).encode() + b"\n",
    json.dumps(CHANGE | {"also": ["0" * 32] * 101}).encode() + b"\n",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_an_unusable_line_is_left_out_and_the_others_count(collection, line):
    (collection / "history").mkdir()
    good = json.dumps(CHANGE).encode() + b"\n"
    path = collection / "history/ben.jsonl"
    path.write_bytes(line + good)
    with Store.open(collection, "anna") as store:
        assert store.state("b2").record == {"title": "Egmont"}
        assert len(store.history("b2")) == 1
        assert len(store.notes) == (line != b"\n")
        assert all(len(note) < 500 for note in store.notes)
    assert path.read_bytes() == line + good


def test_no_more_than_twenty_lines_are_named(collection):
    (collection / "history").mkdir()
    (collection / "history/ben.jsonl").write_bytes(b"x\n" * 10_000)
    with Store.open(collection, "anna") as store:
        assert len(store.notes) == 20


def test_changes_of_items_that_are_not_there_are_kept_and_said(collection):
    (collection / "history").mkdir()
    path = collection / "history/ben.jsonl"
    path.write_text(json.dumps(CHANGE | {"item": "c7"}) + "\n", encoding="utf-8")
    before = (collection / "metadata.jsonl").read_bytes()
    with Store.open(collection, "anna") as store:
        assert "'c7' (1)" in store.notes[0]
        with pytest.raises(HdbenchError, match="no such item"):
            store.state("c7")
    assert (collection / "metadata.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("field", "to"),
    [
        ("entries[999999]", "x"),
        ("title[0]", "x"),
        ("title.a", "x"),
        ("__class__", "<script>alert(1)</script>"),
        ("\u202e", "\ud800\x00"),
        (".".join("a" * 30), None),
    ],
)
def test_odd_fields_and_values_give_a_metadata_that_can_be_read(collection, field, to):
    (collection / "history").mkdir()
    lines = [CHANGE, CHANGE | {"id": "2" * 32, "after": "1" * 32, "field": field, "to": to}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (collection / "history/ben.jsonl").write_text(text, encoding="utf-8")
    with Store.open(collection, "anna") as store:
        record = store.state("b2").record
        assert record["title"] == "Egmont"
        head = store.state("b2").head["comment"]
        store.change("b2", "comment", "", "\ud800<b>", after=head, how="blind")
    lines = (collection / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["ground_truth"] == record


def test_the_deepest_that_can_be_saved_can_be_read_again(collection):
    value = json.loads(deep(60))
    field = ".".join("a" * 30)
    with Store.open(collection, "anna") as store:
        head = store.state("b2").head["ground_truth"]
        store.change("b2", "ground_truth", field, value, after=head, how="blind")
    with Store.open(collection, "anna") as store:
        assert store.state("b2").status == "open"
        head = store.state("b2").head["ground_truth"]
        with pytest.raises(HdbenchError, match="more than 60 deep"):
            store.change("b2", "ground_truth", "b", [value], after=head, how="blind")
    report = check_folder(collection, collection.parent / "hdb")
    assert "ground_truth is nested" not in str(report)


def test_a_lock_file_that_leads_elsewhere_is_refused(collection, tmp_path):
    target = tmp_path / "precious"
    target.write_text("x", encoding="utf-8")
    (collection / "history").mkdir()
    (collection / "history/.anna.lock").symlink_to(target)
    with pytest.raises(HdbenchError, match="symbolic link"):
        Store.open(collection, "anna")
    assert target.read_text(encoding="utf-8") == "x"
