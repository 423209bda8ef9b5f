import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.answers.columns import propose
from hdbench.answers.records import mapped
from hdbench.answers.tables import SourceTable
from hdbench.collections.truth.json_truths import read_json_truths
from hdbench.errors import HdbenchError


def as_truths(read):
    """The ground truths in rows whose columns each make a field of their own."""
    if isinstance(read, SourceTable):
        read = mapped(read, propose(read, paths=None, file_names=[], given={}))
    return read


@pytest.fixture
def read(tmp_path):
    def read(content, name="truth.json"):
        file = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return as_truths(read_json_truths(file))

    return read


@pytest.fixture
def folder(tmp_path):
    def make(**files):
        path = tmp_path / "truths"
        path.mkdir()
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (path / name.replace("__", ".")).write_bytes(data)
        return path

    return make


def refusal(read, *arguments):
    with pytest.raises(HdbenchError) as caught:
        read(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


RECORD = {"title": "Lieder", "imprint": {"year": 1912}}


@pytest.mark.parametrize(
    ("entry", "key", "record"),
    [
        ({"id": "b12", **RECORD}, "b12", RECORD),
        ({"id": 12, **RECORD}, "12", RECORD),
        ({"id": 0, "pages": 0, "signed": False}, "0", {"pages": 0, "signed": False}),
        ({"id": "007", "isbn": "0034"}, "007", {"isbn": "0034"}),
        ({"image": "b12.jpg", "ground_truth": {"signed": False}}, "b12.jpg", {"signed": False}),
        ({"id": "b12", "file_name": "images/b12.jpg", **RECORD}, "images/b12.jpg", RECORD),
        ({"id": "A 7", "image": "b12.jpg", "year": 1}, "b12.jpg", {"year": 1}),
        ({"file_name": "b12.jpg", "ground_truth": RECORD}, "b12.jpg", RECORD),
        ({"file_name": "b12.jpg", "ground_truth": None}, "b12.jpg", None),
        ({"file_name": "b12.jpg", "ground_truth": {}}, "b12.jpg", None),
        (
            {"file_name": "b12.jpg", "ground_truth": "Lieder\n1912"},
            "b12.jpg",
            {"text": "Lieder\n1912"},
        ),
        ({"file_name": "b12.jpg", "text": "Lieder"}, "b12.jpg", {"text": "Lieder"}),
        ({"id": "b12", "title": "Lieder", "imprint.year": 1912}, "b12", RECORD),
        ({"id": "b12", "Verl. Ort": "Basel"}, "b12", {"verl_ort": "Basel"}),
        ({"id": "b12", "years": [1912, 1913]}, "b12", {"years": [1912, 1913]}),
        ({"id": "b12", "years": [1912]}, "b12", {"years": [1912]}),
        ({"id": "b12", "persons": [{"name": "Ott"}]}, "b12", {"persons": [{"name": "Ott"}]}),
        ({"id": None, **RECORD}, None, RECORD),
    ],
)
def test_an_entry_of_a_list_and_a_line(read, entry, key, record):
    other = {
        name: "other" if name in ("id", "file_name", "image") else entry[name] for name in entry
    }
    assert read([other, entry]).truths[1][:3] == ("truth.json: entry 2", key, record)
    lines = json.dumps(other) + "\n\n" + json.dumps(entry)
    assert read(lines, "truth.jsonl").truths[1][:3] == ("truth.jsonl:3", key, record)
    assert read(lines.replace("\n\n", "\n")).truths[1][:3] == ("truth.json:2", key, record)


def test_an_object_id_to_record(read):
    read = read({"b12.jpg": RECORD, "b13": "Lieder", "b14": None, "b15": {}})
    assert [truth[:3] for truth in read.truths] == [
        ('truth.json: "b12.jpg"', "b12.jpg", RECORD),
        ('truth.json: "b13"', "b13", {"text": "Lieder"}),
        ('truth.json: "b14"', "b14", None),
        ('truth.json: "b15"', "b15", None),
    ]


def test_one_record_is_no_map_of_ids(read):
    assert read({"id": "b12", **RECORD}).truths == [("truth.json", "b12", RECORD, ())]
    assert read({"title": "Lieder", "year": 1912}).truths[0].key is None


def test_an_item_of_countless_values_is_refused(read):
    entries = [{"id": "1", "ground_truth": dict.fromkeys(map(str, range(100_001)), "x")}]
    assert refusal(read, entries).startswith("truth.json: entry 1: more than 100,000 values")


def test_what_stands_beside_a_record_is_told(read):
    entry = {"file_name": "b12.jpg", "ground_truth": RECORD, "hand": "kb", "seen": True}
    assert read([entry, entry]).notes == [
        "truth.json: not part of the ground truths, not read: hand, seen; first in "
        "truth.json: entry 1"
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_of_windows(read, encoding):
    text = json.dumps([{"id": "1", "title": "Müller"}], ensure_ascii=False)
    assert read(text.encode(encoding)).truths[0].record == {"title": "Müller"}


def test_a_folder_with_a_file_for_each_item(folder):
    path = folder(
        b12__json=json.dumps(RECORD),
        b13__txt="\ufeffLieder\r\nund Tänze\r\n\r\n",
        b14__txt=" \n",
        b15__txt="Tänze".encode("cp1252"),
        b16__json=json.dumps({"file_name": "x.jpg", "ground_truth": RECORD}),
        b17__json=json.dumps({"id": "b17", **RECORD}),
        b18__json="null",
        b12__jpg="",
        notes__docx="",
    )
    read = read_json_truths(path)
    assert [truth[:3] for truth in read.truths] == [
        ("b12.json", "b12", RECORD),
        ("b13.txt", "b13", {"text": "Lieder\nund Tänze"}),
        ("b14.txt", "b14", None),
        ("b15.txt", "b15", {"text": "Tänze"}),
        ("b16.json", "b16", RECORD),
        ("b17.json", "b17", RECORD),
        ("b18.json", "b18", None),
    ]
    assert read.notes == [
        "b15.txt: not UTF-8, read as cp1252: check that its umlauts are right",
        "truths: neither .json nor .txt, not read: notes.docx",
    ]


def test_links_are_not_followed_and_missing_files_named(folder, tmp_path):
    path = folder(a__txt="x")
    (path / "b.txt").symlink_to("/etc/passwd")
    assert "symbolic link" in refusal(read_json_truths, path)
    assert refusal(read_json_truths, tmp_path / "no.json").startswith("no.json: cannot be read")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "file_name", "ground_truth", "a", "a.b"]), inner)
    ),
    max_leaves=8,
)


@given(JSON.map(json.dumps) | st.text('{}[]":,a1\n', max_size=30), st.sampled_from(["", "l"]))
@settings(deadline=None, max_examples=100)
def test_any_json_is_read_or_refused_in_one_line(text, ending):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"t.json{ending}"
        file.write_text(text)
        refused = ""
        try:
            read = as_truths(read_json_truths(file))
        except HdbenchError as error:
            refused = str(error)
    assert "\n" not in refused
    if not refused:
        assert all(truth.record is None or truth.record for truth in read.truths)
        assert all(truth.key is None or isinstance(truth.key, str) for truth in read.truths)


@pytest.mark.parametrize("name", ["truth.json", "truth.jsonl"])
@pytest.mark.parametrize(
    ("number", "why"),
    [("1e999", "the number 1e999 is too large"), ("NaN", "NaN is not JSON: write null")],
)
def test_a_number_that_is_none_is_refused_with_its_line_and_key(read, name, number, why):
    text = f'{{"id": "1", "year": 1912}}\n{{"id": "2", "imprint": {{"year": {number}}}}}\n'
    expected = f"truth.jsonl:2: not usable JSON: line 1, imprint.year: {why}"
    if name == "truth.json":
        text = "[{},\n{}]".format(*text.split("\n"))
        expected = f"truth.json: not usable JSON: line 2, 1.imprint.year: {why}"
    assert refusal(read, text, name).startswith(expected)
