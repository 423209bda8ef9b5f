"""Shards of a run: made, seen, and merged, however that ends."""

import json
import os
import shutil
import socket
import sys
from datetime import UTC, datetime, timedelta

import pytest
from filelock import FileLock
from running.many_texts import write_texts
from typer.testing import CliRunner

from hdbench.answers import folders as parts
from hdbench.cli import app
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import score
from hdbench.running.answers_file import AnswersFile
from hdbench.running.folder import RunFolder, recorded_answers
from hdbench.running.shards import merging
from hdbench.running.shards.launch import Launch, RankState, Shards, now
from hdbench.running.shards.merging import merge_if_last, merge_now, settle
from hdbench.running.status import read_status

SETTINGS = {
    "benchmark": "hdb/cards",
    "model": "reader",
    "settings": {"temperature": 0.0},
    "prompt": {"name": "prompt.txt"},
}
LAUNCH = Launch(
    id="0123abcd",
    engine="local",
    tasks=3,
    workers=2,
    started="2026-11-23T00:00:00+00:00",
    host="h",
    total=8,
    recorded=1,
    failed=0,
    asked={"model": "m"},
    prompt="Read it.",
    answer_schema=None,
)
IDS = [f"{number:02}" for number in range(8)]


def state(said="done", answered=0, **more):
    began = {"host": socket.gethostname(), "pid": os.getpid(), "started": now(), "updated": now()}
    return RankState(**{"state": said, "items": 2, "answered": answered, **began, **more})


@pytest.fixture
def folder(tmp_path):
    """A run with one answer, and shards of three ranks that answered all the rest."""
    folder = tmp_path / "run"
    with RunFolder.opened(folder, SETTINGS) as run:
        run.answers.add({"id": "00", "text": "{}"})
        run.begin_sitting(launch=LAUNCH.id)
        shards = Shards.made(folder, LAUNCH, (f"{item}\n".encode() for item in IDS[1:]), 7)
    for rank in range(3):
        answers = AnswersFile(shards.answers(rank))
        for item in shards.items(rank).read_text().split():
            answers.add({"id": item, "text": "{}", "tokens": {"input": 8, "output": 2}})
        tokens = {"input": 8 * len(answers.failed), "output": 2 * len(answers.failed)}
        said = state(answered=len(answers.failed), tokens=tokens, hardware={"device": "paper"})
        shards.say(rank, said)
    return folder


def recorded(folder):
    return [json.loads(line)["id"] for line in (folder / "answers.jsonl").read_text().splitlines()]


def test_the_items_are_split_in_order_and_merged_in_order(folder):
    shards = Shards.of(folder)
    parts = [shards.items(rank).read_text().split() for rank in range(3)]
    assert parts == [["01", "02"], ["03", "04"], ["05", "06", "07"]]
    assert [answer["id"] for answer in recorded_answers(folder)] == IDS
    merge_now(folder)
    assert recorded(folder) == IDS
    assert sorted(path.name for path in folder.iterdir()) == ["answers.jsonl", "run.json"]
    [sitting] = json.loads((folder / "run.json").read_text())["sittings"]
    assert sitting["ended"] >= sitting["started"]
    assert sitting["hardware"] == {"device": "paper"}
    assert sitting["hosts"] == [socket.gethostname()]
    assert sitting["tokens"] == {"input": 56, "output": 14}


class Killed(BaseException):
    """Ends a process at once."""


@pytest.mark.parametrize("moment", ["closed", "first", "half", "all", "noted", "launch", "some"])
def test_merging_may_be_killed_at_any_moment(folder, monkeypatch, moment):
    append, end, remove = AnswersFile.append, merging._end_sitting, shutil.rmtree
    monkeypatch.setattr(merging, "AT_ONCE", 2)
    calls = []

    def appending(answers, lines):
        calls.append(lines)
        if moment == "closed" or (moment == "first" and len(calls) > 1):
            raise Killed
        if moment == "half":
            append(answers, [(line[: len(line) // 2], answer) for line, answer in lines[:1]])
            raise Killed
        append(answers, lines)

    def ending(shards):
        if moment == "all":
            raise Killed
        end(shards)
        if moment == "noted":
            raise Killed

    def removing(path, **options):
        if moment in ("launch", "some") and path == folder / "shards":
            if moment == "some":
                (path / "00001.jsonl").unlink()
            raise Killed
        remove(path, **options)

    monkeypatch.setattr(AnswersFile, "append", appending)
    monkeypatch.setattr(merging, "_end_sitting", ending)
    monkeypatch.setattr("shutil.rmtree", removing)
    with pytest.raises(Killed):
        merge_now(folder)
    monkeypatch.undo()
    with RunFolder.opened(folder, SETTINGS) as run:
        assert list(run.answers.failed) == IDS
    assert recorded(folder) == IDS
    assert not (folder / "shards").exists()


@pytest.mark.parametrize("reader", ["answers.run_info", "answers.files", "results.files"])
def test_a_run_that_is_merged_while_it_is_scored_is_read_again(folder, monkeypatch, reader):
    here = folder.parent
    write_texts(here, 8)
    (folder / "answers.jsonl").unlink()  # nothing is merged yet
    for path, long, short in (
        (here / "hdb/texts/metadata.jsonl", '"0000', '"'),
        (folder / "run.json", "hdb/cards", "hdb/texts"),
    ):
        path.write_text(path.read_text().replace(long, short))
    expected = score(str(here / "hdb/texts"), folder)
    listed = parts.our_parts

    def listed_and_merged(run):
        found = listed(run)
        if (run / "shards").exists():
            merge_now(run)
        return found

    monkeypatch.setattr(f"hdbench.{reader}.our_parts", listed_and_merged)
    found = score(str(here / "hdb/texts"), folder)
    assert (found.rates, found.usage) == (expected.rates, expected.usage)
    assert recorded(folder) == IDS[1:]
    assert not (folder / "shards").exists()


def test_the_dtype_is_what_the_ranks_computed_in(folder):
    path = folder / "shards/launch.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dtype": "auto"}))
    for rank in range(3):
        Shards.of(folder).say(rank, state(dtype="bfloat16"))
    merge_now(folder)
    record = json.loads((folder / "run.json").read_text())
    assert record["settings"] == {"temperature": 0.0, "dtype": "bfloat16"}


def test_damage_inside_a_shard_is_refused_and_nothing_is_lost(folder):
    path = folder / "shards/00001.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"id"', b'"id', 1))
    with pytest.raises(HdbenchError, match=r"00001\.jsonl:1: damaged in the middle: fix or remove"):
        merge_now(folder)
    assert path.exists()
    path.write_bytes(whole)
    merge_now(folder)
    assert recorded(folder) == IDS


def test_truncated_shard_is_reported_and_only_its_end_is_missing(folder, capsys):
    path = folder / "shards/00002.jsonl"
    os.truncate(path, path.stat().st_size // 2)
    merge_now(folder)
    assert recorded(folder) == IDS[:6]
    assert "00002.jsonl: has 1 of 3 answers that were written to it" in capsys.readouterr().err


def test_a_damaged_launch_is_refused(folder):
    path = folder / "shards/launch.json"
    path.write_text(path.read_text().replace('"tasks": 3', '"tasks": -3'))
    with pytest.raises(HdbenchError, match=r"launch\.json: tasks"):
        merge_now(folder)
    assert [answer["id"] for answer in recorded_answers(folder)] == IDS  # which can still be read


def test_what_a_killed_command_had_begun_to_write_is_removed(folder):
    (folder / "shards/launch.json").unlink()
    assert settle(folder) is False
    assert not (folder / "shards").exists()


def test_shards_that_cannot_be_written_leave_nothing(tmp_path):
    def full():
        yield b"01\n"
        raise OSError(28, "No space left on device")

    with pytest.raises(HdbenchError, match=r"cannot be written: No space left.*nothing was launch"):
        Shards.made(tmp_path, LAUNCH, full(), 7)
    assert list(tmp_path.iterdir()) == []


def test_a_rank_is_seen_as_its_files_show_it(folder):
    shards = Shards.of(folder)
    shards.state(0).unlink()
    assert shards.seen(0)[0] == "waiting"
    shards.say(0, state("running"))
    assert shards.seen(0)[0] == "died"
    with FileLock(shards.lock(0)):
        assert shards.seen(0)[0] == "running"
    shards.say(0, state("running", host="elsewhere"))
    assert shards.seen(0)[0] == "running"
    old = (datetime.now(UTC) - timedelta(minutes=2)).isoformat()
    shards.say(0, state("running", host="elsewhere", updated=old))
    assert shards.seen(0)[0] == "died"
    shards.say(0, state("failed", error="no such model"))
    assert shards.seen(0)[0] == "failed"


def test_a_rank_that_runs_is_not_merged(folder):
    shards = Shards.of(folder)
    shards.say(1, state("running", host="elsewhere"))
    with pytest.raises(HdbenchError, match=r"rank 1 \(elsewhere, process \d+\) is still running"):
        settle(folder)
    shards.say(1, state("running"))
    with FileLock(shards.lock(1)), pytest.raises(HdbenchError, match=r"rank 1 .* is still running"):
        merge_now(folder)
    assert Shards.of(folder) is not None


def test_locks_in_a_folder_from_somebody_else_do_no_harm(folder, tmp_path):
    shards = Shards.of(folder)
    (tmp_path / "mine.txt").write_text("mine")
    shards.lock(0).symlink_to(tmp_path / "mine.txt")
    os.mkfifo(shards.lock(1))
    merge_now(folder)
    assert recorded(folder) == IDS
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["answers.jsonl", "shards/00001.jsonl"])
def test_a_link_to_a_file_elsewhere_is_not_written_to(folder, tmp_path, name):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine\n")
    (folder / name).unlink()
    (folder / name).symlink_to(mine)
    with pytest.raises(HdbenchError, match=r"\.jsonl: is a link"):
        merge_now(folder)
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize("sittings", [None, [3], {}])
def test_a_record_without_usable_sittings_is_merged_or_refused(folder, sittings):
    path = folder / "run.json"
    record = json.loads(path.read_text()) | {"sittings": sittings}
    if sittings is None:
        del record["sittings"]
        path.write_text(json.dumps(record))
        merge_now(folder)
        assert recorded(folder) == IDS
    else:
        path.write_text(json.dumps(record))
        with pytest.raises(HdbenchError, match=r"run\.json: sittings"):
            merge_now(folder)


def test_status_counts_all_answers_while_they_are_merged(folder, monkeypatch):
    seen = Shards.seen

    def merged_first(shards, rank):
        monkeypatch.setattr(Shards, "seen", seen)
        merge_now(folder)
        return seen(shards, rank)

    monkeypatch.setattr(Shards, "seen", merged_first)
    found = read_status(folder)
    assert (found.recorded, found.engine, found.ranks) == (8, None, [])


def test_run_from_another_machine_is_seen_and_merged_on_windows(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert [rank.state for rank in read_status(folder).ranks] == ["done"] * 3
    merge_now(folder)
    assert recorded(folder) == IDS


def test_a_log_that_is_still_open_on_nfs_is_removed_later(folder, monkeypatch):
    shards = Shards.of(folder)
    shards.logs.mkdir(parents=True)
    (shards.logs / "17_3.out").write_text("+ srun\n")
    unlink = os.unlink

    def unlink_on_nfs(path, **options):
        if str(path).endswith(".out"):
            raise OSError(16, "Device or resource busy")
        unlink(path, **options)

    monkeypatch.setattr("os.unlink", unlink_on_nfs)
    merge_now(folder)
    assert [path.name for path in shards.path.rglob("*") if path.is_file()] == ["17_3.out"]
    assert [answer["id"] for answer in recorded_answers(folder)] == IDS
    assert read_status(folder).recorded == 8
    monkeypatch.undo()
    assert settle(folder) is False
    assert not shards.path.exists()


def test_status_of_foreign_folder_has_no_control_characters(folder):
    said = state("failed", host="h\x1b[2J", error="no\x9b2J such\nmodel")
    Shards.of(folder).say(1, said)
    found = CliRunner().invoke(app, ["status", str(folder), "--json"]).stdout
    assert found.isascii()
    assert "\x1b" not in found
    assert json.loads(found)["ranks"][1]["error"] == "no\x9b2J such\nmodel"
    shown = CliRunner().invoke(app, ["status", str(folder)]).stdout
    assert "failed: 1 on h\\x1b[2J (0 of 2)\nrank 1: no\\x9b2J such\\nmodel\n" in shown


def test_pipes_in_a_folder_from_somebody_else_are_not_waited_for(folder):
    shards = Shards.of(folder)
    shards.state(0).unlink()
    os.mkfifo(shards.state(0))
    assert [rank.state for rank in read_status(folder).ranks] == ["waiting", "done", "done"]
    (shards.path / "launch.json").unlink()
    os.mkfifo(shards.path / "launch.json")
    assert read_status(folder).engine is None


def test_the_last_one_merges_and_no_other(folder):
    shards = Shards.of(folder)
    shards.say(1, state("stopped"))
    merge_if_last(shards)
    assert shards.path.exists()
    shards.say(1, state())
    merge_if_last(shards)
    assert recorded(folder) == IDS


def test_jobs_that_left_the_queue_are_over_whatever_they_said(folder, tmp_path, monkeypatch):
    path = folder / "shards/launch.json"
    launched = json.loads(path.read_text()) | {"engine": "slurm", "job": "hdbench-0123abcd"}
    path.write_text(json.dumps(launched))
    Shards.of(folder).say(1, state("running", host="elsewhere"))
    squeue = tmp_path / "bin/squeue"
    squeue.parent.mkdir()
    squeue.write_text('#!/bin/sh\n[ -n "$SQUEUE_STATES" ] || echo 17_1 RUNNING\n')
    monkeypatch.setenv("SQUEUE_STATES", "PENDING")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(squeue.parent), prepend=":")
    with pytest.raises(HdbenchError, match=r"1 of its jobs .* scancel --name=hdbench-0123abcd"):
        merge_now(folder)
    squeue.write_text("#!/bin/sh\n")
    merge_now(folder)
    assert recorded(folder) == IDS


def test_jobs_that_cannot_be_asked_after_are_not_merged(folder, monkeypatch):
    path = folder / "shards/launch.json"
    launched = json.loads(path.read_text()) | {"engine": "slurm", "job": "hdbench-0123abcd"}
    path.write_text(json.dumps(launched))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HdbenchError, match="there is no squeue here to ask"):
        merge_now(folder)
    path.write_text(json.dumps(launched | {"job": "hdbench-0123abcd; rm"}))
    with pytest.raises(HdbenchError, match=r"launch\.json: job"):
        merge_now(folder)


def test_the_status_is_that_of_the_files(folder):
    shards = Shards.of(folder)
    tokens = {"input": 8, "output": 2}
    running = {"new": 1, "seconds": 2.0, "tokens": tokens, "cost_usd": 0.25, "host": "elsewhere"}
    shards.say(0, state("running", 1, **running))
    shards.say(1, state("failed", 1, error="no such model", cost_usd=0.5, failed=1))
    shards.state(2).unlink()
    found = read_status(folder)
    assert found.lines() == [
        f"{folder}: 2 of 8 items answered, 1 failed",
        "hdb/cards, reader",
        "rate: 2.0 s each, 10 s left",
        "tokens: 8 in, 2 out",
        "cost of these tasks: 0.75 USD",
        "engine local, 3 tasks: 1 running, 1 waiting, 1 failed",
        "running: 0 on elsewhere (1 of 2)",
        f"failed: 1 on {socket.gethostname()} (1 of 2)",
        "rank 1: no such model",
    ]
    known = json.loads(found.as_json())
    assert (known["items"], known["recorded"], known["failed"]) == (8, 3, 1)
    assert (known["rate"], known["seconds_left"], known["cost_usd"]) == (0.5, 10.0, 0.75)
    assert [rank["state"] for rank in known["ranks"]] == ["running", "failed", "waiting"]
