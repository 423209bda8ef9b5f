"""What a file is, decided by its content; and the same answers in every form."""

import csv
import gzip
import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.answers.cells import is_blank
from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError

TEXT = {"type": "string"}
SCHEMA = AnswerSchema(
    {
        "type": "object",
        "properties": {
            "title": TEXT,
            "author": {"type": "object", "properties": {"last_name": TEXT, "first_name": TEXT}},
        },
    }
)
LINE = b'{"id": "1", "prediction": {"title": "A"}}\n'
ANSWERS = {"1": {"prediction": {"title": "A"}}}


def read(path):
    container = open_container(path, SCHEMA)
    try:
        return {key: container.load(place) for key, place in container.runs[None].items()}
    finally:
        container.close()


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def workbook(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


FORMS = {
    "lines": LINE,
    "list": b'[{"id": "1", "title": "A"}]',
    "object": b'{"1": {"title": "A"}}',
    "csv": b"id,title\n1,A\n",
    "xlsx": workbook([["id", "title"], ["1", "A"]]),
    "zip": zipped({"1.json": b'{"title": "A"}'}),
}


@pytest.mark.parametrize("name", ["answers", "answers.jsonl", "answers.csv", "answers.jpg"])
@pytest.mark.parametrize("form", FORMS)
def test_the_content_decides_and_not_the_name(tmp_path, form, name):
    (tmp_path / name).write_bytes(FORMS[form])
    assert read(tmp_path / name) == ANSWERS


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"zip"}))
def test_a_gzip_file_is_read_as_what_is_in_it(tmp_path, form):
    (tmp_path / "answers.gz").write_bytes(gzip.compress(FORMS[form]))
    assert read(tmp_path / "answers.gz") == ANSWERS


@pytest.mark.parametrize(
    ("form", "encoding"),
    [
        *((form, "utf-8-sig") for form in ("lines", "list", "object", "csv")),
        *((form, encoding) for form in ("list", "csv") for encoding in ("utf-16", "utf-16-be")),
    ],
)
def test_a_byte_order_mark_names_the_encoding(tmp_path, form, encoding):
    text = FORMS[form].decode().replace("A", "Müller 😀")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    for data in ((mark + text).encode(encoding), gzip.compress((mark + text).encode(encoding))):
        (tmp_path / "answers").write_bytes(data)
        assert read(tmp_path / "answers") == {"1": {"prediction": {"title": "Müller 😀"}}}


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no predictions in this file"),
        (b" \n" * 100_000, "no predictions in this file"),
        (PNG, "this is no text: answers are read from JSON"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "this is no text"),
        (b"%PDF-1.7\n", "this is a PDF"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500), "an old Excel file .* save it as .xlsx"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(20), "this is no text"),
        (b"Rar!\x1a\x07\x01\0", "this is no text"),
        (b"1.json".ljust(257, b"\0") + b"ustar\0" + bytes(250), "this is no text"),
        (b"PAR1" + bytes(20), "cannot be read: "),
        (b"\n<!DOCTYPE html><html>", "this is an HTML or XML file"),
        (b'{"id": "1"}\0', ":1: not JSON"),
        (LINE.decode().encode("utf-16-le"), ":1: not JSON"),
        (bytes(range(256)), "this is no text"),
        (LINE.decode().encode("utf-16"), ":1: not UTF-8 .byte 1.: save as UTF-8"),
        (b"\xff\xfe\0\xd8{\0", ":1: not UTF-8"),
        (gzip.compress(gzip.compress(LINE)), "packed twice: unpack it once"),
        (gzip.compress(FORMS["zip"]), "another ZIP .*: save it again, or unpack it"),
        (gzip.compress(PNG), "this is no text"),
        (gzip.compress(LINE)[:-9], "cannot be read: "),
        (gzip.compress(LINE)[:12] + b"?" * 30, "cannot be read: "),
        (b"\x1f\x8b", "cannot be read: "),
        (
            zipped({"[Content_Types].xml": b"", "word/document.xml": b""}),
            "a damaged workbook or another ZIP",
        ),
        (
            zipped({"mimetype": b"", "META-INF/manifest.xml": b""}),
            "a damaged workbook",
        ),
        (zipped({"answers.csv": FORMS["zip"]}), "answers.csv: a damaged workbook or another ZIP"),
        (zipped({"inner.zip": FORMS["zip"]}), "no answers here.* it holds inner.zip"),
        (zipped({}), "no answers here"),
        (b"PK\x03\x04" + bytes(100), "cannot be read: "),
        (LINE + b'{"id": "2", "text": "\xe4"}', ":2: not UTF-8 .byte 22"),
    ],
)
@pytest.mark.parametrize("name", ["answers.jsonl", "answers.csv", "answers.zip"])
def test_what_is_no_answers_is_named_whatever_its_ending(tmp_path, data, message, name):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(HdbenchError, match=message) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}:")
    assert "\n" not in str(caught.value)


def test_what_is_missing_and_what_is_no_file(tmp_path):
    with pytest.raises(HdbenchError, match="nothing: cannot be read: No such file"):
        open_container(tmp_path / "nothing", SCHEMA)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(HdbenchError, match="neither a file nor a folder: answers are read"):
            open_container(path, SCHEMA)


@pytest.fixture
def peak(monkeypatch):
    """The most memory that Python took for opening a path which is refused, and the message."""

    def peak(path):
        tracemalloc.start()
        try:
            with pytest.raises(HdbenchError) as caught:
                open_container(path, SCHEMA)
            return tracemalloc.get_traced_memory()[1], str(caught.value)
        finally:
            tracemalloc.stop()

    return peak


@pytest.mark.nightly
def test_half_a_gigabyte_of_one_line_is_refused_in_little_memory(tmp_path, peak):
    path = tmp_path / "answers.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "1", "text": "' + b"x" * 2**17)
        file.truncate(2**29)  # no room on the disk
    memory, message = peak(path)
    assert message == f"{path}:1: the line is longer than 64 MiB"
    assert memory < 300 * 2**20


def test_a_gzip_bomb_is_stopped_and_leaves_nothing_behind(tmp_path, peak, monkeypatch):
    monkeypatch.setattr("hdbench.answers.forms.MAX_UNPACKED", 32 * 2**20)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with gzip.open(tmp_path / "answers.gz", "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"x" * 2**20)
    memory, message = peak(tmp_path / "answers.gz")
    assert f"{tmp_path}/answers.gz: larger than 32 MiB" in message
    assert memory < 16 * 2**20
    assert list(scratch.iterdir()) == []


def test_a_zip_bomb_in_the_one_file_of_a_zip_is_not_unpacked(tmp_path, peak, monkeypatch):
    monkeypatch.setattr("hdbench.answers.forms.MAX_UNPACKED", 2**25)
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("answers.csv", "w") as file,
    ):
        for _ in range(33):
            file.write(bytes(2**20))
    (tmp_path / "run.zip").write_bytes(stream.getvalue())
    memory, message = peak(tmp_path / "run.zip")
    assert message.startswith(f"{tmp_path}/run.zip: larger than 32 MiB")
    assert memory < 16 * 2**20


ids = st.text("0123456789abcABC_-", min_size=1, max_size=8).map(lambda text: f"x{text}")
# In a table `#NUM!` is an error of Excel's, and `-` is nothing.
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="#-–—"),
    min_size=1,
    max_size=5,
).filter(lambda word: not is_blank(word))
cards = st.fixed_dictionaries(
    {
        "title": words,
        "author": st.fixed_dictionaries({"last_name": words, "first_name": words}),
    }
)
runs = st.dictionaries(ids, cards, min_size=1, max_size=5)
FLAT = ("id", "title", "author.last_name", "author.first_name")


def flat(item_id, card):
    return item_id, card["title"], card["author"]["last_name"], card["author"]["first_name"]


def every_form(answers, folder):
    """The paths of the same answers in each form."""
    entries = [{"id": item_id, "prediction": card} for item_id, card in answers.items()]
    bare = [{"id": item_id, **card} for item_id, card in answers.items()]
    dotted = [dict(zip(FLAT, flat(*pair), strict=True)) for pair in answers.items()]
    table = io.StringIO()
    csv.writer(table).writerows([FLAT, *(flat(*pair) for pair in answers.items())])
    texts = {
        "entries.jsonl": "".join(json.dumps(entry) + "\n" for entry in entries),
        "bare.jsonl": "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in bare),
        "dotted.jsonl": "".join(json.dumps(entry) + "\r\n" for entry in dotted),
        "list.json": json.dumps(bare),
        "pretty list.json": json.dumps(entries, indent=2),
        "object.json": json.dumps(answers),
        "pretty object.json": json.dumps(answers, indent=1, ensure_ascii=False),
        "table.csv": table.getvalue(),
    }
    files = {f"{item_id}.json": json.dumps(card) for item_id, card in answers.items()}
    requests = {
        f"request_T0001_{item_id}.json": json.dumps({"text": None, "parsed": card})
        for item_id, card in answers.items()
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        if not name.endswith(".jsonl") and "object" not in name:
            (folder / f"{name}.utf-16").write_bytes(text.encode("utf-16"))
    for name, members in {"files": files, "requests": requests}.items():
        (folder / name).mkdir()
        for member, text in members.items():
            (folder / name / member).write_text(text)
        (folder / f"{name}.zip").write_bytes(zipped(members))
        (folder / f"{name} in a folder.zip").write_bytes(
            zipped({f"run/{member}": text for member, text in members.items()})
        )
    return sorted(folder.iterdir())


@settings(max_examples=20, deadline=None)
@given(runs)
def test_the_same_answers_are_read_from_every_form(answers):
    expected = {item_id: {"prediction": card} for item_id, card in answers.items()}
    with TemporaryDirectory() as folder:
        for path in every_form(answers, Path(folder)):
            assert read(path) == expected, path.name


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(FORMS.values())) | st.binary(max_size=300),
    st.lists(st.tuples(st.integers(0), st.binary(max_size=3)), max_size=4),
    st.booleans(),
)
def test_damaged_files_give_answers_or_one_line(data, changes, packed):
    for position, new in changes:
        start = position % (len(data) + 1)
        data = data[:start] + new + data[start + len(new) :]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        path.write_bytes(gzip.compress(data) if packed else data)
        try:
            container = open_container(path, SCHEMA)
        except HdbenchError:
            return
        try:
            for run in container.runs.values():
                for key in run.values():
                    assert {"prediction", "text"} & container.load(key).keys()
                    container.where(key)
        except HdbenchError:
            pass
        finally:
            container.close()
