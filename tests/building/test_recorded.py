"""Files of recorded runs: what is read, and what is refused by file and line."""

import gzip
import json

import pytest

from hdbench.datasets.building import recorded
from hdbench.datasets.building.recorded import read_recorded
from hdbench.errors import HdbenchError

RUN = {
    "run": "2026-01-24/T0252",
    "provider": "someone",
    "model": "some-model",
    "prompt": "prompt.txt",
    "scores": {"f1_micro": 0.7093159000700444, "total_tp": 1519},
    "answers": [
        {"id": "0001", "answer": {"title": ""}, "text": '{"title": ""}', "score": {"tp": 1}},
        {"id": "0002", "answer": None, "text": "no\0idea"},
    ],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "library_cards.jsonl.gz"


def write(path, *runs):
    lines = [run if isinstance(run, str) else json.dumps(run) for run in runs]
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))


def refusal(path, *runs):
    write(path, *runs)
    with pytest.raises(HdbenchError) as raised:
        list(read_recorded(path))
    message = str(raised.value)
    assert message.startswith(str(path))
    assert len(message) < 1000
    return message.removeprefix(str(path))


def with_answer(**changes):
    return RUN | {"answers": [RUN["answers"][0] | changes]}


def test_runs_are_read_as_recorded(path):
    write(path, RUN, "", RUN | {"run": "2026-01-24/T0253", "scores": {}, "reproducible": False})
    first, second = read_recorded(path)
    assert first.published == {"f1_micro": 0.7093159000700444, "total_tp": 1519}
    assert (first.reproducible, second.reproducible) == (None, False)
    assert first.answers == [
        {"id": "0001", "prediction": {"title": ""}, "text": '{"title": ""}'},
        {"id": "0002", "prediction": None, "text": "no\0idea"},
    ]
    assert (first.run, first.provider, first.model) == ("2026-01-24/T0252", "someone", "some-model")
    assert (first.folder, second.folder) == ("2026-01-24_T0252", "2026-01-24_T0253")


def test_recorded_text_may_be_missing_or_hold_a_lone_surrogate(path):
    without = RUN | {"run": "c", "answers": [{"id": "0001", "answer": None}]}
    write(path, with_answer(text=None), with_answer(text="\ud800") | {"run": "b"}, without)
    assert [run.answers[0]["text"] for run in read_recorded(path)] == [None, "\ud800", None]


@pytest.mark.parametrize("name", ["con", "T1", "2026-01-24/gpt-4.5+tools/run_3", "a" * 200])
def test_a_run_may_be_called(path, name):
    write(path, RUN | {"run": name})
    (run,) = read_recorded(path)
    assert run.run == name
    assert "/" not in run.folder


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "..",
            ".",
            "../x",
            "a/../b",
            "/etc",
            "a//b",
            "a/",
            "a\\b",
            "C:x",
            "a\0",
            "a\n",
            "a b",
        ),
        *(".hidden", "a/.b", "-r", "ä", "\ud800", "a" * 201, "answers.parquet", "runs.Parquet"),
    ],
)
def test_a_name_that_cannot_be_a_folder_s_is_refused(path, name):
    assert refusal(path, RUN | {"run": name}).startswith(":1: run: ")


@pytest.mark.parametrize("second", ["2026-01-24/T0252", "2026-01-24_T0252", "2026-01-24/t0252"])
def test_two_runs_of_one_folder_are_refused(path, second):
    message = refusal(path, RUN, RUN | {"run": second})
    assert message.startswith(f":2: the run '{second}' needs the folder")


def test_a_second_answer_for_an_id_is_refused(path):
    twice = RUN | {"answers": [RUN["answers"][0], RUN["answers"][1], RUN["answers"][0]]}
    assert (
        refusal(path, RUN | {"run": "a"}, twice)
        == ":2: answers[2]: a second answer for id '0001': keep one"
    )


@pytest.mark.parametrize("key", list(RUN))
def test_every_key_of_a_run_is_required(path, key):
    run = {name: value for name, value in RUN.items() if name != key}
    assert refusal(path, run).startswith(f":1: {key}: Field required")


@pytest.mark.parametrize("key", ["id", "answer"])
def test_every_key_of_an_answer_is_required(path, key):
    answer = {name: value for name, value in RUN["answers"][1].items() if name != key}
    run = RUN | {"answers": [RUN["answers"][0], answer]}
    assert refusal(path, run).startswith(f":1: answers[1]: {key}: Field required")


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"model": 5}, "model"),
        ({"provider": None}, "provider"),
        ({"prompt": ["prompt.txt"]}, "prompt"),
        ({"model": "\ud800"}, "model"),
        ({"scores": [1]}, "scores"),
        ({"scores": {"f1": "0.7"}}, "scores"),
        ({"scores": {"f1": True}}, "scores"),
        ({"scores": {"f1": float("nan")}}, "scores"),
        ({"scores": {"\ud800" * 10**6: 1}}, "scores"),
        ({"answers": {}}, "answers"),
        ({"answers": []}, "answers"),
        ({"answers": ["x"]}, "answers[0]"),
    ],
)
def test_a_key_of_another_type_is_refused_by_its_name(path, wrong, key):
    assert refusal(path, RUN | wrong).startswith(f":1: {key}: ")


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"id": 1}, "id"),
        ({"id": " "}, "id"),
        ({"id": "\udfff"}, "id"),
        ({"text": {}}, "text"),
    ],
)
def test_a_wrong_answer_is_refused_by_its_number(path, wrong, key):
    assert refusal(path, with_answer(**wrong)).startswith(f":1: answers[0]: {key}: ")


def test_a_large_whole_number_is_a_figure_and_a_value(path):
    write(path, with_answer(answer={"n": 10**400}) | {"scores": {"n": 10**400}})
    (run,) = read_recorded(path)
    assert run.published["n"] == run.answers[0]["prediction"]["n"] == 10**400


@pytest.mark.parametrize(
    "line",
    ["{", "[]", json.dumps(RUN)[:-1] + ', "run": "b"}', '{"a": ' + "[" * 200 + "]" * 200 + "}"],
)
def test_a_line_that_is_no_sound_object_is_refused(path, line):
    assert refusal(path, RUN, line).startswith(":2: ")


def test_a_file_without_runs_is_refused(path):
    assert refusal(path) == ": no runs in this file"


@pytest.mark.parametrize("cut", [-1, -20, 30])
def test_a_damaged_file_is_refused(path, cut):
    write(path, RUN)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(HdbenchError, match="damaged gzip file"):
        list(read_recorded(path))


def test_a_file_that_is_not_packed_is_refused(path):
    path.write_text(json.dumps(RUN))
    with pytest.raises(HdbenchError, match="damaged gzip file"):
        list(read_recorded(path))


def test_archive_over_the_unpacked_limit_is_refused(path, monkeypatch):
    monkeypatch.setattr(recorded, "MAX_UNPACKED", 2**20)
    write(path, *[" " * 100_000] * 100)
    with pytest.raises(HdbenchError, match="more than 1 MiB unpacked"):
        list(read_recorded(path))


def test_more_lines_than_the_limit_are_refused(path):
    write(path, RUN, *[""] * 10_000)
    with pytest.raises(HdbenchError, match=":10001: more than 10,000 lines"):
        list(read_recorded(path))
    write(path, RUN, *[""] * 9_999)
    assert len(list(read_recorded(path))) == 1


def test_a_line_longer_than_the_limit_is_refused(path, monkeypatch):
    monkeypatch.setattr(recorded, "MAX_LINE", 2**20)
    assert refusal(path, RUN, " " * 2**20).startswith(":2: the line is longer than 1 MiB")
