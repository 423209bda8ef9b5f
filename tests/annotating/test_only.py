"""`hdbench annotate --only`: a plan's sample, a work list or a control sample."""

import socket

import pytest
from annotating.pages import write_collection
from trust.collection import Collection

from hdbench.collections.trust.work_list import read_listed, write_listed
from hdbench.collections.truth.editor import Editor
from hdbench.errors import HdbenchError

WORK_LIST = "id,field,value,one\r\n'=b,title,,x\r\n'=b,year,,null\r\n0007,title,,\r\n"


@pytest.fixture
def folder(tmp_path):
    return write_collection(tmp_path / "cards", [None] * 4, ["a", "=b", "0007", "c"])


def listed(tmp_path, text, encoding="utf-8-sig"):
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode(encoding))
    return read_listed(path)


def test_only_the_items_of_the_list_are_shown_in_its_order(folder, tmp_path):
    editor = Editor(folder, "me", only=listed(tmp_path, WORK_LIST))
    assert [each[0] for each in editor.start()["items"]] == ["=b", "0007"]
    assert editor.item(0)["look_at"] == ("title", "year")
    editor.change(1, {"what": "ground_truth", "field": "", "to": {"title": "F"}, "after": None})
    assert editor.search("F") == [1]
    with pytest.raises(HdbenchError, match="there is no such item"):
        editor.item(2)
    editor.close()
    everything = Editor(folder, "me")
    assert everything.item(2)["state"]["record"] == {"title": "F"}
    assert everything.item(2)["look_at"] == ()
    everything.close()


def test_names_of_fields_may_have_anything_in_them(tmp_path):
    names = ("title", "place, year", 'the "other" one', "=size", "a\nb")
    with (tmp_path / "list.csv").open("wb") as file:
        write_listed(file, ["one"], [("7", name, "x", "why") for name in names])
    assert read_listed(tmp_path / "list.csv") == {"7": names}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("id;field;value\r\n7;title;\r\n", "cp1252"),  # as Excel saves it
        ("doubt\tID\n1\t7\n", "utf-16"),
    ],
)
def test_a_list_may_have_been_saved_by_a_spreadsheet_program(folder, tmp_path, text, encoding):
    editor = Editor(folder, "me", only=listed(tmp_path, text, encoding))
    assert [each[0] for each in editor.start()["items"]] == ["0007"]
    editor.close()


def test_what_is_no_list_or_has_other_items_is_refused(folder, tmp_path):
    with pytest.raises(HdbenchError, match="not a work list"):
        listed(tmp_path, "title,year\nFaust,1808\n")
    with pytest.raises(HdbenchError, match="has no rows"):
        listed(tmp_path, "id,field\n")
    with pytest.raises(HdbenchError, match="has no item 'x'"):
        Editor(folder, "me", only={"a": (), "x": ()})
    Editor(folder, "me").close()  # nothing is left locked


def test_a_sample_is_read_without_drafts_and_a_list_with_them(tmp_path, run_hdbench):
    collection = Collection(tmp_path)
    for sample in ("plan.yaml", "out/control.yaml"):
        if sample.startswith("out"):
            collection.apply()
        command = ["annotate", collection.path, "--only", sample, "--drafts", "one.jsonl"]
        told = run_hdbench(*command, cwd=tmp_path)
        assert told.returncode == 2
        assert f"{sample}: a sample that is read blind: leave out --drafts" in told.stderr
    folder = write_collection(tmp_path / "cards", [None] * 300, collection.ids)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no page is served
        command = ["annotate", folder, "--only", "out/worklist.csv", "--drafts", "one.jsonl"]
        told = run_hdbench(*command, "--port", taken.getsockname()[1], cwd=tmp_path)
    assert "is taken" in told.stderr
