"""Answers in several files: each form of parts, our own run in shards, and what is refused."""

import gzip
import json
import tracemalloc
import zipfile
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hdbench.answers import forms
from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import HdbenchError

SCHEMA = AnswerSchema({"properties": {"title": {"type": "string"}, "year": {"type": "integer"}}})


def entry(number, **more):
    return {"id": f"{number:04}", "text": json.dumps({"title": f"T {number}"}), **more}


def as_lines(entries):
    return "".join(json.dumps(each) + "\n" for each in entries).encode()


def write_part(path, entries):
    """Entries in a file, in the form that its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(entries), path)
        return path
    data = as_lines(entries)
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path


def answers_in(path):
    container = open_container(path, SCHEMA)
    try:
        return {
            model: {item: container.load(key) for item, key in keys.items()}
            for model, keys in container.runs.items()
        }
    finally:
        container.close()


def refused(path):
    with pytest.raises(HdbenchError) as error:
        answers_in(path)
    return str(error.value)


EXPECTED = {f"{number:04}": {"text": json.dumps({"title": f"T {number}"})} for number in range(12)}


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "ndjson"])
def test_parts_are_one_file_in_natural_order(tmp_path, ending):
    for part in range(12):
        write_part(tmp_path / f"part-{part}.{ending}", [entry(part)])
    answers = answers_in(tmp_path)[None]
    assert answers == EXPECTED
    assert list(answers) == list(EXPECTED)  # part-2 before part-10


def test_parts_may_be_in_a_zip_or_beside_run_json(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    for part in range(3):
        write_part(folder / f"{part}.jsonl", [entry(part)])
    assert set(answers_in(folder)[None]) == {"0000", "0001", "0002"}
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        for part in range(3):
            archive.write(folder / f"{part}.jsonl", f"run/{part}.jsonl")
    assert set(answers_in(tmp_path / "run.zip")[None]) == {"0000", "0001", "0002"}


def test_a_line_that_names_a_model_or_hides_its_id_is_parsed(tmp_path):
    lines = [
        {"id": "1", "model": "a", "text": "{}"},
        {"id": "1", "m\u006fdel": "b", "text": "{}"},
        {"text": '{"id": "9"}', "id": "2"},
        {"prediction": {"id": "7"}, "id": "3"},
    ]
    raw = as_lines(lines).replace(b'"model": "b"', b'"m\\u006fdel": "b"')
    path = tmp_path / "answers.jsonl"
    path.write_bytes(raw)
    found = {model: list(keys) for model, keys in answers_in(path).items()}
    assert found == {"a": ["1"], "b": ["1"], None: ["2", "3"]}


def test_of_parquet_a_null_is_what_is_not_there(tmp_path):
    rows = [
        {"id": "1", "text": "{}", "prediction": None, "error": None, "tokens": None},
        {"id": "2", "text": None, "prediction": '{"title": "A"}', "error": None, "tokens": None},
        {"id": "3", "text": None, "prediction": None, "error": "timeout", "tokens": {"input": 7}},
    ]
    path = write_part(tmp_path / "answers.parquet", rows)
    assert answers_in(path)[None] == {
        "1": {"text": "{}"},
        "2": {"prediction": {"title": "A"}},
        "3": {"prediction": None, "error": "timeout", "tokens": {"input": 7}},
    }


def test_a_text_of_parquet_may_be_written_as_bytes(tmp_path):
    table = {
        "id": ["1", "2"],
        "text": ["Zürich".encode(), b"{}"],
        "prediction": [None, b'{"a": 1}'],
    }
    pq.write_table(pa.table(table), tmp_path / "answers.parquet")
    assert answers_in(tmp_path / "answers.parquet")[None] == {
        "1": {"text": "Zürich"},
        "2": {"text": "{}", "prediction": '{"a": 1}'},
    }


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: {"title": text}])
def test_text_shared_by_all_parquet_rows_is_not_copied(tmp_path, monkeypatch, wrap):
    monkeypatch.setattr(forms, "MAX_UNPACKED", 2**22)
    title = "x" * 2**19
    rows = [{"id": str(number), "prediction": wrap(title)} for number in range(500)]
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert path.stat().st_size < 2**17
    tracemalloc.start()
    try:
        assert "larger than 4 MiB" in refused(path)
        assert tracemalloc.get_traced_memory()[1] < 128 * 2**20  # those of 200 rows
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["jsonl.gz", "parquet"])
def test_what_is_packed_in_a_zip_is_not_unpacked(tmp_path, ending):
    part = write_part(tmp_path / f"1.{ending}", [entry(1)])
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.write(part, part.name)
    assert f"run.zip: 1.{ending}: this is packed twice: unpack it once" in refused(
        tmp_path / "run.zip"
    )


def test_an_id_in_two_parts_is_refused(tmp_path):
    write_part(tmp_path / "1.jsonl", [entry(5), entry(0)])
    write_part(tmp_path / "2.jsonl", [entry(1), entry(0)])
    message = refused(tmp_path)
    assert message.startswith(f"{tmp_path / '2.jsonl'}:2: a second answer for id '0000'")
    assert message.endswith(f"the first is {tmp_path / '1.jsonl'}:2: keep one")


def test_a_part_that_breaks_off_is_named_with_its_line(tmp_path):
    write_part(tmp_path / "1.jsonl", [entry(0)])
    whole = as_lines([entry(1), entry(2), entry(3)])
    (tmp_path / "2.jsonl").write_bytes(whole[:-20])
    assert refused(tmp_path).startswith(f"{tmp_path / '2.jsonl'}:3: not JSON: ")


def test_a_part_of_plain_lines_may_be_empty(tmp_path):
    write_part(tmp_path / "1.jsonl", [entry(0)])
    write_part(tmp_path / "2.jsonl", [])
    assert list(answers_in(tmp_path)[None]) == ["0000"]


def lists(texts, starts):
    return pa.ListArray.from_arrays(starts, texts)


def list_views(texts, starts):
    sizes = [end - start for start, end in pairwise(starts)]
    return pa.ListViewArray.from_arrays(starts[:-1], sizes, texts)


def fixed_lists(texts, starts):
    return pa.FixedSizeListArray.from_arrays(texts, len(texts) // (len(starts) - 1))


def maps(texts, starts):
    keys = [str(number) for number in range(len(texts))]
    return pa.MapArray.from_arrays(starts, keys, texts)


@pytest.mark.parametrize("nested", [lists, list_views, fixed_lists, maps])
def test_a_text_that_rows_have_often_is_not_written_out(tmp_path, nested, monkeypatch):
    monkeypatch.setattr(forms, "MAX_GROUP", 2**26)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 140, pa.int32()), ["a" * 2**20])
    column = nested(texts.cast(pa.string()), [0, 70, 140])
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"id": ["1", "2"], "text": column}), path, compression="zstd")
    assert path.stat().st_size < 10_000
    tracemalloc.start()
    message = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(f"{path}, row 1: larger than 64 MiB")
    assert peak < 16 * 2**20


def test_a_text_of_json_that_rows_share_is_not_held_for_each(tmp_path, monkeypatch):
    monkeypatch.setattr(forms, "MAX_UNPACKED", 2**22)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), ["a" * 2**20])
    column = pa.ExtensionArray.from_storage(pa.json_(), texts.cast(pa.string()))
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"text": column}), path, compression="zstd")
    with pq.ParquetFile(path) as file:  # otherwise it would be a text as any other
        assert isinstance(file.schema_arrow.field("text").type, pa.JsonType)
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        assert "larger than 4 MiB" in refused(path)
    finally:
        pa.set_memory_pool(before)
    assert 2**20 < pool.max_memory() < 16 * 2**20


@pytest.mark.parametrize("nested", [lists, list_views, fixed_lists, maps])
def test_nested_columns_of_parquet_are_read(tmp_path, nested):
    column = nested(pa.array(["a", "b", "c", "d"]), [0, 2, 4])
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"id": ["1", "2"], "text": ["x", "y"], "column": column}), path)
    assert {item: answer["text"] for item, answer in answers_in(path)[None].items()} == {
        "1": "x",
        "2": "y",
    }


def test_a_row_that_is_larger_than_a_line_is_not_read(tmp_path):
    columns = {f"column{number}": ["a" * 2**20] for number in range(70)}
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"id": ["1"], **columns}), path, compression="zstd")
    assert refused(path) == f"{path}:1: the line is longer than 64 MiB"
