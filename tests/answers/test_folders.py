"""Folders and ZIPs of answers: a file for each item, runs of the framework, our own runs."""

import json
import zipfile
from pathlib import Path

import pytest
from helpers.nested import nested_in

from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError

SCHEMA = AnswerSchema({"type": "object", "properties": {"title": {"type": "string"}}})
A, B = {"title": "A"}, {"title": "B"}


@pytest.fixture(params=["folder", "zip", "zip of a folder"])
def pack(request, tmp_path):
    """Write files, name → bytes, text or JSON, as a folder or a ZIP."""

    def pack(files):
        folder = tmp_path / "run"
        folder.mkdir()
        for name, content in files.items():
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        if request.param == "folder":
            return folder
        top = "" if request.param == "zip" else "run/"
        with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
            for name in files:
                archive.write(folder / name, top + name)
        return tmp_path / "run.zip"

    return pack


def read(path, items=()):
    """The answers of the one run, id → fields."""
    container = open_container(path, SCHEMA, ids=lambda: items)
    try:
        assert list(container.runs) == [None]
        return {item_id: container.load(key) for item_id, key in container.runs[None].items()}
    finally:
        container.close()


def test_each_item_has_its_file(pack):
    path = pack(
        {
            "0001.json": A,
            "0002.txt": "```json\n{}\n```",
            "0003.json": {"id": "0003", "prediction": B, "seconds": 2},
            "0004.json": "\ufeff" + json.dumps("the text, encoded"),
            "0005.json": {"wrapper": A},
            "0006.TXT": "Müller".encode("utf-16"),
            "0007.json": "null",
            "page.one.json": B,
        }
    )
    answers = read(path)
    assert answers == {
        "0001": {"prediction": A},
        "0002": {"text": "```json\n{}\n```"},
        "0003": {"prediction": B, "seconds": 2},
        "0004": {"text": "the text, encoded"},
        "0005": {"prediction": {"wrapper": A}},
        "0006": {"text": "Müller"},
        "0007": {"prediction": None},
        "page.one": {"prediction": B},
    }


def test_record_and_text_of_an_item_may_stand_in_two_files(pack):
    answers = read(pack({"1.TXT": "{...", "1.json": A, "2.txt": ""}))
    assert answers == {"1": {"prediction": A, "text": "{..."}, "2": {"text": ""}}


def test_an_answer_is_placed(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/0001.json").write_text("{}")
    folder = open_container(tmp_path / "run", SCHEMA)
    assert folder.where(folder.runs[None]["0001"]) == str(tmp_path / "run/0001.json")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("top/0001.json", "{}")
    packed = open_container(tmp_path / "run.zip", SCHEMA)
    assert packed.where(packed.runs[None]["0001"]) == f"{tmp_path}/run.zip: top/0001.json"
    packed.close()


def test_an_empty_folder_has_no_answers(tmp_path):
    with pytest.raises(HdbenchError, match=r"no answers here: they must be in files <id>\.json or"):
        open_container(tmp_path, SCHEMA)


def test_what_a_model_wrote_may_be_saved_under_json(pack):
    answers = read(pack({"1.json": A, "2.json": "```json\n{}\n```"}))
    assert answers == {"1": {"prediction": A}, "2": {"text": "```json\n{}\n```"}}


def test_a_newer_run_of_the_framework(pack):
    about = {"model": "m", "provider": "p", "finish_reason": "stop", "score": {"f1": 0.5}}
    usage = {"input_tokens": 9, "output_tokens": 2, "input_cost": 0.1}
    request = {"text": "```{}```", "parsed": A, "usage": usage, "duration": 1.5, **about}
    read_so = {"tokens": {"input": 9, "output": 2}, "seconds": 1.5}
    path = pack(
        {
            "request_T0430_00414956.json": request,
            "request_T0430_image_1.json": {**request, "parsed": None},
            "request_T0430_image_10.json": {"text": "I cannot.", "model": "m"},
            "request_T0430_page.2.json": {**request, "parsed": {"error": "no JSON"}},
            "request_T0430_3.json": {"text": None, "parsed": None, "model": "m"},
            "scoring.json": {"f1_micro": 0.5},
        }
    )
    answers = read(path)
    assert answers == {
        "00414956": {"prediction": A, "text": "```{}```", **read_so},
        # That nothing was parsed is kept: so it was scored when it was published.
        "image_1": {"prediction": None, "text": "```{}```", **read_so},
        "image_10": {"prediction": None, "text": "I cannot."},
        "page.2": {"prediction": {"error": "no JSON"}, "text": "```{}```", **read_so},
        "3": {"prediction": None},
    }


def test_an_older_run_of_the_framework(pack):
    about = {"provider": "p", "scores": {}, "test_time": 2.5, "usage": {"input_tokens": 9}}
    read_so = {"tokens": {"input": 9}, "seconds": 2.5}
    path = pack(
        {
            "request_T10_letter01.json": {"response_text": A, "raw": {"text": "[A]"}, **about},
            "request_T10_letter02.json": {"response_text": "I cannot.", "raw": {}, **about},
            "request_T10_letter03.json": {"response_text": "a", "raw": {"text": "b"}, "model": "m"},
            "request_T10_letter04.json": {"response_text": {"error": "x"}, "raw": "?"},
            "notes.txt": "not an answer",
        }
    )
    answers = read(path)
    assert answers == {
        "letter01": {"prediction": A, "text": "[A]", **read_so},
        "letter02": {"prediction": None, "text": "I cannot.", **read_so},
        "letter03": {"prediction": None, "text": "b"},
        "letter04": {"prediction": {"error": "x"}},
    }


def test_a_run_folder_of_our_own(pack):
    answer = {"id": "1", "text": "{}", "prediction": {}, "status": "clean", "tokens": None}
    lines = json.dumps(answer) + "\n" + json.dumps({**answer, "id": "2", "text": None})
    path = pack({"answers.jsonl": lines, "run.json": {"model": "m"}, "log.txt": "started"})
    assert read(path) == {"1": {"prediction": {}, "text": "{}"}, "2": {"prediction": {}}}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my answers.jsonl", '{"id": "1", "prediction": {"title": "A"}}\n'),
        ("my answers.json", '[{"id": "1", "prediction": {"title": "A"}}]'),
        ("my answers.json", '{"1": {"title": "A"}}'),
        ("my answers.json", '{"id": "1", "title": "A"}\n{"id": "2", "title": "A"}'),
        ("my answers.csv", "id,title\n1,A\n"),
    ],
)
def test_one_file_with_all_answers_may_stand_in_a_folder_or_zip(pack, name, content):
    answers = read(pack({name: content, "photo.jpg": b"\xff"}), ["1"])
    assert answers["1"] == {"prediction": A}


@pytest.mark.parametrize("content", [A, {"text": "{}"}, {"error": "timeout"}])
def test_one_item_alone_is_known_by_its_file_name(pack, content):
    assert list(read(pack({"0001.json": content}), ["1"])) == ["0001"]


def test_the_one_file_in_a_zip_is_placed_and_its_copy_goes(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("answers.jsonl", '\n{"id": "1", "text": ""}')
    container = open_container(tmp_path / "run.zip", SCHEMA)
    assert (
        container.where(container.runs[None]["1"]) == f"{tmp_path}/run.zip: answers.jsonl: entry 1"
    )
    container.close()
    assert list(scratch.iterdir()) == []
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("answers.jsonl", "{")
    with pytest.raises(HdbenchError, match=r"run\.zip: answers\.jsonl:1: not JSON"):
        open_container(tmp_path / "run.zip", SCHEMA)
    assert list(scratch.iterdir()) == []


PAGE = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Page>{}'
    "</Page></PcGts>"
)
LINE = "<TextRegion><TextEquiv><Unicode>Anno</Unicode></TextEquiv></TextRegion>"


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("inner", [".", "1234/Wine"])
def test_an_export_of_pages_is_read_from_its_root(tmp_path, is_packed, inner):
    path = tmp_path / "export"
    (path / inner / "page").mkdir(parents=True)
    for name, text in {
        "mets.xml": "<mets/>",
        "metadata.xml": "<x/>",
        "7.jpg": "",
        "page/7.xml": PAGE.format(LINE),
        "page/8.xml": PAGE.format(""),
    }.items():
        (path / inner / name).write_text(text)
    (path / "log.txt").write_text("done")
    if is_packed:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for file in path.rglob("*.*"):
                archive.write(file, file.relative_to(tmp_path))
        path = tmp_path / "a.zip"
    assert read(path) == {"7": {"text": "Anno"}, "8": {"text": ""}}


def test_a_page_belongs_to_the_image_that_it_names_if_no_item_is_called_like_it(pack):
    page = PAGE.format(LINE).replace("<Page>", '<Page imageFilename="{}">')
    path = pack(
        {
            "a.xml": page.format("b.jpg"),  # which is an item, but so is `a`
            "0001_c.xml": page.format("https://iiif.example/c.jpg"),
            "d.xml": page.format("e.jpg"),
        }
    )
    assert set(read(path, ["a", "b", "c"])) == {"a", "c.jpg", "d"}
    assert set(read(path)) == {"a", "0001_c", "d"}


def test_folders_that_may_hold_the_answers_are_named(tmp_path):
    for box in ("Kasten 1", "Kasten 2"):
        (tmp_path / box).mkdir()
        (tmp_path / box / "1.json").write_text("{}")
    with pytest.raises(HdbenchError, match=r"no answers here: .* it holds Kasten 1, Kasten 2$"):
        open_container(tmp_path, SCHEMA)


def test_folders_within_folders_without_end_are_one_line(tmp_path):
    with nested_in(tmp_path), pytest.raises(HdbenchError, match="no answers here"):
        open_container(Path("a"), SCHEMA)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/" * 1500 + "page/1.xml", PAGE.format(LINE))
    with pytest.raises(HdbenchError, match="too many folders"):
        open_container(path, SCHEMA)
