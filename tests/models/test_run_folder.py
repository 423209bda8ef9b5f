"""The folder of a run: what is recorded stays, however a process ended."""

import json
import multiprocessing
import resource
import signal

import pytest

from hdbench.errors import HdbenchError
from hdbench.models.run_folder import RunFolder

SETTINGS = {"benchmark": "hdb/cards", "model": "reader", "settings": {"temperature": 0.0}}


def opened(path, **changed):
    return RunFolder.opened(path, SETTINGS | changed)


def lines(path):
    return [json.loads(line) for line in (path / "answers.jsonl").read_text().splitlines()]


def test_run_records_its_settings_and_continues_its_answers(tmp_path):
    folder = tmp_path / "runs/first"
    with opened(folder) as run:
        run.answers.add({"id": "a", "text": "ä\ud800"})
    with opened(folder) as run:
        assert run.answers.failed == {"a": False}
        run.answers.add({"id": "b", "error": "out of memory"})
    assert lines(folder) == [{"id": "a", "text": "ä\ud800"}, {"id": "b", "error": "out of memory"}]
    record = json.loads((folder / "run.json").read_text())
    assert record["run"] == "first"
    assert {name: record[name] for name in SETTINGS} == SETTINGS


@pytest.mark.parametrize("torn", [b'{"id": "b", "te', b'{"id": "b"}', b"\x00\x00\x00\n", b"{}\n"])
def test_a_torn_end_is_cut_off_and_asked_again(tmp_path, torn):
    with opened(tmp_path / "run") as run:
        run.answers.add({"id": "a", "text": "{}"})
    with (tmp_path / "run/answers.jsonl").open("ab") as file:
        file.write(torn)
    with opened(tmp_path / "run") as run:
        assert run.answers.failed == {"a": False}
        run.answers.add({"id": "b", "text": "{}"})
    assert [line["id"] for line in lines(tmp_path / "run")] == ["a", "b"]


def test_damage_in_the_middle_is_refused_with_its_line(tmp_path):
    with opened(tmp_path / "run") as run:
        run.answers.add({"id": "a", "text": "{}"})
        run.answers.add({"id": "b", "text": "{}"})
    path = tmp_path / "run/answers.jsonl"
    path.write_text(path.read_text().replace('{"id": "a"', '{"id: "a"'))
    before = path.read_bytes()
    with (
        pytest.raises(HdbenchError, match=r"answers.jsonl:1: damaged in the middle"),
        opened(tmp_path / "run"),
    ):
        pass
    assert path.read_bytes() == before


def test_changed_settings_are_refused_with_the_difference(tmp_path):
    with opened(tmp_path / "run", items=["a", "b"]) as run:
        run.answers.add({"id": "a", "text": "{}"})
    with (
        pytest.raises(HdbenchError) as refused,
        opened(tmp_path / "run", items=["a", "c"], settings={"temperature": 0.7}, model="other"),
    ):
        pass
    assert "was started with other settings" in str(refused.value)
    assert 'model: "reader" then, "other" now' in str(refused.value)
    assert "settings.temperature: 0.0 then, 0.7 now" in str(refused.value)
    assert 'items: ["a", "b"] then, ["a", "c"] now' in str(refused.value)


def test_a_second_process_in_the_same_folder_is_refused(tmp_path):
    def try_it(queue):
        try:
            with opened(tmp_path / "run"):
                queue.put("went in")
        except HdbenchError as error:
            queue.put(str(error))

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with opened(tmp_path / "run"):
        process = context.Process(target=try_it, args=(queue,))
        process.start()
        said = queue.get(timeout=120)
        process.join()
    assert "another hdbench is writing to this folder" in said
    with opened(tmp_path / "run"):
        pass  # and afterwards it is free


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/thesis.docx").write_text("mine")
    with (
        pytest.raises(HdbenchError, match=r"holds 'thesis\.docx' and is not a run"),
        opened(tmp_path / "run"),
    ):
        pass
    assert sorted(each.name for each in (tmp_path / "run").iterdir()) == ["thesis.docx"]


def test_each_sitting_is_kept_with_what_it_ran_on(tmp_path):
    with opened(tmp_path / "run") as run, run.sitting({"device": "cpu"}.copy, 2):
        run.answers.add({"id": "0", "text": "{}"})
    known = {"device": "b"}

    def breaks_off():
        with opened(tmp_path / "run") as run, run.sitting(known.copy, 2):
            run.answers.add({"id": "a", "text": "{}"})
            known["address"] = "found out meanwhile"
            raise RuntimeError("power")

    with pytest.raises(RuntimeError):
        breaks_off()
    sittings = json.loads((tmp_path / "run/run.json").read_text())["sittings"]
    assert [sitting["hardware"] for sitting in sittings] == [{"device": "cpu"}, known]
    assert all(sitting["started"] <= sitting["ended"] for sitting in sittings)


def test_a_sitting_without_an_answer_leaves_nothing(tmp_path):
    def fails(**changed):
        with opened(tmp_path / "runs/a", **changed) as run, run.sitting(dict, 1):
            raise RuntimeError("no server")

    with pytest.raises(RuntimeError):
        fails()
    assert not (tmp_path / "runs/a").exists()
    with opened(tmp_path / "runs/a") as run, run.sitting(dict, 1):
        run.answers.add({"id": "a", "text": "{}"})
    before = (tmp_path / "runs/a/run.json").read_bytes()
    with pytest.raises(RuntimeError):
        fails()
    assert (tmp_path / "runs/a/run.json").read_bytes() == before


def test_a_run_without_an_answer_blocks_no_settings(tmp_path):
    """As earlier versions left it where the server could not be reached."""
    with opened(tmp_path / "run") as run, run.sitting(dict, 1):
        pass
    with opened(tmp_path / "run", model="other") as run:
        run.answers.add({"id": "a", "text": "{}"})
    assert json.loads((tmp_path / "run/run.json").read_text())["model"] == "other"


def test_a_run_goes_on_at_another_address(tmp_path):
    def at(host):
        return opened(tmp_path / "run", provider=host)

    def hardware(host, root="Qwen/Qwen3-VL-8B"):
        return {"address": f"http://{host}:8000/v1", "served": {"id": "qwen", "root": root}}.copy

    with at("gpu03") as run, run.sitting(hardware("gpu03"), 1):
        run.answers.add({"id": "a", "text": "{}"})
    for host in ("gpu07", "gpu03"):
        with at(host) as run, run.sitting(hardware(host), 1):
            pass
    record = json.loads((tmp_path / "run/run.json").read_text())
    assert record["provider"] == "gpu03, gpu07"
    places = [each["hardware"]["address"].split("/")[2] for each in record["sittings"]]
    assert places == ["gpu03:8000", "gpu07:8000", "gpu03:8000"]
    with (
        pytest.raises(HdbenchError, match="serves Qwen/other, and the run so far was answered by"),
        at("gpu03") as run,
        run.sitting(hardware("gpu03", "Qwen/other"), 1),
    ):
        pass


def fill(path, queue):
    """Write answers until the file may not grow any more, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        with opened(path) as run:
            for number in range(1000):
                run.answers.add({"id": str(number), "text": "x" * 100})
                queue.put(number)
    except HdbenchError as error:
        queue.put(str(error))


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=fill, args=(tmp_path / "run", queue))
    process.start()
    seen = []
    while not seen or isinstance(seen[-1], int):
        seen.append(queue.get(timeout=120))
    process.join()
    assert "cannot be written" in seen[-1]
    assert "the command resumes where it stopped" in seen[-1]
    with opened(tmp_path / "run") as run:
        assert list(run.answers.failed) == [str(number) for number in seen[:-1]]
        run.answers.add({"id": "next", "text": "{}"})
    assert lines(tmp_path / "run")[-1]["id"] == "next"
