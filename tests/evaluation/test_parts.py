"""Scoring a run whose answers are in parts, in any form and order: the same bytes."""

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.run_folders import SPEC
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.api import score_runs
from hdbench.errors import HdbenchError

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
SAMPLES = {
    "zettelkatalog": "zettel_f1",
    "avisblatt": "avisblatt_cer",
    "rheinschifffahrt": "letters_f1",
    "sciencemetabench": "sciencemeta_accuracy",
    "bibliography": "record_f1",
    "manuscripts": "text_cer",
}
COPIES = 4


def write_sample(name, folder):
    """A sample with each item several times, and its answers."""
    script, built = SCRIPTS / name, folder / "hdb" / name
    built.mkdir(parents=True)
    for file in (script / "benchmark.yaml", script / "answer.schema.json"):
        shutil.copy(file, built)
    for prompt in (script / "sample").glob("prompt*.txt"):
        shutil.copy(prompt, built)
    items = read(script / "sample/metadata.jsonl")
    answers = {each["id"]: each for each in read(script / "sample/predictions.jsonl")}
    rows, lines = [], []
    for copy in range(COPIES):
        for item in items:
            new = f"{item['id']}-{'abcd'[copy]}"
            truth = json.dumps(item["ground_truth"])
            rows.append({"id": new, "ground_truth": truth})
            if item["id"] in answers:
                used = {"tokens": {"input": 900 + copy, "output": 7}, "seconds": 0.1 * copy + 0.3}
                lines.append({**answers[item["id"]], **used, "id": new})
    write(built / "metadata.jsonl", rows)
    random.Random(1).shuffle(lines)
    return write(folder / "answers.jsonl", lines)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def split(path, folder, number, ending):
    """The lines of a file in parts, each in the form that the ending says."""
    rows = read(path)
    folder.mkdir()
    for part in range(number):
        some = rows[len(rows) * part // number : len(rows) * (part + 1) // number]
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some).encode()
        target = folder / f"part-{part}.{ending}"
        if ending == "parquet":
            keys = dict.fromkeys(key for row in some for key in row)
            table = [{key: as_cell(key, row) for key in keys} for row in some]
            pq.write_table(pa.Table.from_pylist(table), target)
        elif ending == "jsonl.zst":
            target.write_bytes(pa.compress(data, "zstd", asbytes=True))
        else:
            target.write_bytes(data)
    return folder


def as_cell(key, row):
    return json.dumps(row[key]) if key == "prediction" and key in row else row.get(key)


def figures(benchmark, answers, **how):
    """The bytes of a result, but for the names of files, which differ."""
    [result] = score_runs(str(benchmark), answers, **how).values()
    record = result.to_dict()
    del record["answers"]
    return json.dumps([record, result.worst])


@pytest.mark.parametrize("name", SAMPLES)
def test_figures_do_not_depend_on_the_parts(tmp_path, name):
    path = write_sample(name, tmp_path)
    whole = figures(tmp_path / "hdb" / name, path, details=True)
    for number in (1, 7, 100):
        parts = split(path, tmp_path / str(number), number, "jsonl")
        assert figures(tmp_path / "hdb" / name, parts, details=True) == whole
    assert json.loads(whole)[0]["metric"]["name"] == SAMPLES[name]


@pytest.mark.parametrize("ending", ["jsonl.zst", "parquet"])
@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_figures_do_not_depend_on_the_form(tmp_path, ending, protocol):
    path = write_sample("zettelkatalog", tmp_path)
    whole = figures(tmp_path / "hdb/zettelkatalog", path, protocol=protocol)
    parts = split(path, tmp_path / "parts", 7, ending)
    assert figures(tmp_path / "hdb/zettelkatalog", parts, protocol=protocol) == whole


def write_cards(folder, number, line=None):
    """Some cards with answers, the last of which is `line`, if it is given."""
    built = folder / "hdb/cards"
    built.mkdir(parents=True)
    (built / "benchmark.yaml").write_text(json.dumps(SPEC))
    rows = [
        {"id": f"{each:04}", "ground_truth": json.dumps({"title": f"T {each}"})}
        for each in range(number)
    ]
    write(built / "metadata.jsonl", rows)
    answers = [{"id": f"{each:04}", "prediction": {"title": f"T {each}"}} for each in range(number)]
    path = write(folder / "answers.jsonl", answers)
    if line is not None:
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:-1], line]) + "\n")
    return path


BROKEN = {
    '{"id": "0019", "prediction": {"title"': r"answers\.jsonl:20: not JSON: ",
    '{"id": "0019", "x": 1}': r"answers\.jsonl:20: needs \"prediction\"",
    '{"id": "0019", "text": "", "text": "{}"}': r"answers\.jsonl:20: .*'text' occurs twice",
    '{"id": "0018", "text": ""}': r"answers\.jsonl:20: a second answer for id '0018'",
    '{"id": "x", "text": ""}': r"answers\.jsonl:20: .* has no id 'x'",
}


@pytest.mark.parametrize("line", BROKEN)
def test_an_unusable_line_is_named(tmp_path, line):
    path = write_cards(tmp_path, 20, line)
    with pytest.raises(HdbenchError, match=BROKEN[line]):
        score_runs(str(tmp_path / "hdb/cards"), path)


def test_a_line_of_an_item_that_is_not_scored_is_checked_too(tmp_path):
    path = write_cards(tmp_path, 20, '{"id": "0019", "prediction": ')
    metadata = tmp_path / "hdb/cards/metadata.jsonl"
    rows = read(metadata)
    write(metadata, [*rows[:-1], {"id": "0019", "ground_truth": None}])
    with pytest.raises(HdbenchError, match=r"answers\.jsonl:20: not JSON"):
        score_runs(str(tmp_path / "hdb/cards"), path)


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(1, 9), st.randoms())
def test_any_order_in_any_parts_gives_the_same(tmp_path_factory, number, parts, rng):
    folder = tmp_path_factory.mktemp("cards")
    path = write_cards(folder, number)
    answers = [each for each in read(path) if rng.random() < 0.9] or read(path)
    for answer in answers:
        if rng.random() < 0.3:
            answer["prediction"] = {"title": "T 1", "year": rng.randint(1, 3)}
        answer["seconds"] = rng.random()
    whole = figures(folder / "hdb/cards", write(path, answers))
    rng.shuffle(answers)
    shuffled = split(write(path, answers), folder / "parts", parts, "jsonl")
    assert figures(folder / "hdb/cards", shuffled) == whole
