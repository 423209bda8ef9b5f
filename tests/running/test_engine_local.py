"""Runs in several processes of this machine, and what is left of them when they are killed."""

import json
import resource
import signal
from contextlib import suppress

import pytest
from helpers.waiting import until
from running.many_texts import KEY, Counting, Run, write_texts

AT_ONCE = 4  # requests that a rank has in flight, unless told otherwise


@pytest.fixture
def texts(tmp_path):
    write_texts(tmp_path, 60)
    return tmp_path


def two_held_tasks(folder, server, *tasks):
    """A run and its command, at a moment when two tasks have some answers and wait for others."""
    server.hold()
    run = Run(folder, server.url)
    driver = run.start("--engine", "local", *tasks, "--workers", "2")
    until(lambda: run.shard(0) >= 4 and run.shard(1) >= 4, what="the first tasks")
    return run, driver


@pytest.mark.nightly
def test_killed_task_restarts_and_asks_only_missing_items(texts):
    with Counting() as server:
        run, driver = two_held_tasks(texts, server, "--tasks", "3")
        status = run.status()
        assert run.kill_rank(1)
        server.release()
        assert driver.wait(120) == 0, run.log
        assert "rank 1 was killed (SIGKILL): starting it again" in run.log
        run.check_whole(60)
        assert sum(server.started.values()) <= 60 + AT_ONCE
    assert (status["items"], status["engine"], status["tasks"]) == (60, "local", 3)
    assert [rank["state"] for rank in status["ranks"]] == ["running", "running", "waiting"]
    [sitting] = json.loads((run.folder / "run.json").read_text())["sittings"]
    assert (sitting["engine"], sitting["tasks"], sitting["workers"]) == ("local", 3, 2)
    assert sitting["hardware"]["served"] == {"id": "m"}
    # 812 tokens in and 34 out for each answer, at 1 and 10 USD per million.
    assert sitting["cost_usd"] == pytest.approx(60 * (812 + 340) / 1e6)


@pytest.mark.nightly
def test_tasks_of_a_killed_driver_finish_and_are_waited_for(texts):
    with Counting() as server:
        run, driver = two_held_tasks(texts, server, "--tasks", "3")
        driver.kill()
        driver.wait()
        kept = [path for path in (run.folder / "shards").rglob("*") if path.is_file()]
        assert kept
        for path in kept:
            with suppress(FileNotFoundError):  # the tasks go on, and rename what they wrote
                assert KEY.encode() not in path.read_bytes()
        again = run.start()  # in a single process
        until(lambda: "left by a command that was killed: waiting" in run.log, what="the next one")
        server.release()
        assert again.wait(120) == 0, run.log
        run.check_whole(60)
        assert server.again == []


@pytest.mark.nightly
def test_a_full_disk_is_said_in_one_line_and_nothing_is_lost(texts):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Counting(0.01) as server:
        run = Run(texts, server.url)
        # No file may grow beyond this: the questions fit, and half of the answers of a task.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_500, limit[1]))
        try:
            done = run.run("--engine", "local", "--tasks", "2", "--workers", "1")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert done.returncode == 2
        [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert "cannot be written" in line
        assert "the command resumes where it stopped" in line
        recorded = run.recorded()
        asked = sum(server.started.values())
        assert 10 < recorded < 60
        assert asked - recorded <= 2 * AT_ONCE
        done = run.run()
        assert done.returncode == 0, done.stderr
        run.check_whole(60)
        assert sum(server.started.values()) - asked == 60 - recorded


@pytest.mark.nightly
def test_ctrl_c_stops_the_tasks_and_merges_what_they_have(texts):
    with Counting() as server:
        run, driver = two_held_tasks(texts, server, "--tasks", "2")
        driver.send_signal(signal.SIGINT)
        assert driver.wait(60) == 130, run.log
        assert not (run.folder / "shards").exists()
        assert 8 <= run.recorded() < 60
        assert sum(server.started.values()) - run.recorded() <= 2 * AT_ONCE
