"""Runs on a real Slurm of one node."""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from helpers.slurm import Slurm
from helpers.waiting import until
from models.many_texts import KEY, Counting, Run, asking, write_texts

AT_ONCE = 4  # requests that a part has in flight
ITEMS = 80
SLURM = ("--engine", "slurm", "--tasks", 4)


@pytest.fixture(scope="module")
def slurm():
    # pytest's folders have names too long for sockets.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Slurm(Path(folder) / "s", 2) as it:
        yield it


@pytest.mark.nightly
@pytest.mark.needs("slurm")
def test_parts_that_were_killed_are_asked_again_and_no_others(tmp_path, slurm):
    here = tmp_path / "its $(name) has spaces"
    write_texts(here, ITEMS)
    with Counting() as server:
        run = Run(here, server.url, slurm.environment | {"SBATCH_TIMELIMIT": "10"})
        server.hold()
        refused = Run(here, server.url, run.environment | {"SBATCH_PARTITION": "none"}).run(*SLURM)
        assert refused.returncode == 2
        assert "Slurm refused the jobs" in refused.stderr
        submitted = run.run(*SLURM)
        assert submitted.returncode == 0, submitted.stderr
        assert submitted.stdout.startswith("runs/a: submitted as hdbench-")
        until(lambda: run.recorded() >= 4, what="the first answers")
        refused = run.run(*SLURM)
        assert refused.returncode == 2
        assert "of its jobs are still in Slurm's queue" in refused.stderr
        [job] = [name for name in slurm.queue() if name.endswith("_0")]
        slurm.run("scancel", "--full", "--signal=KILL", job)
        server.release()
        until(lambda: not slurm.queue(), what="the queue")
        before = sum(server.started.values())
        left = ITEMS - run.recorded()
        assert run.run(*SLURM).returncode == 0
        until(lambda: not slurm.queue(), what="the queue")
        run.check_whole(ITEMS)
        assert sum(server.started.values()) - before == left
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert {"executor.json", "executor.pik"} <= {path.name for path in files}
    assert not any(KEY.encode() in path.read_bytes() for path in files)


@pytest.mark.nightly
@pytest.mark.needs("slurm")
def test_a_killed_task_and_a_requeued_node_cost_no_item_a_third_request(tmp_path, slurm):
    write_texts(tmp_path, ITEMS)
    with Counting() as server:
        run = Run(tmp_path, server.url, slurm.environment | {"SBATCH_TIMELIMIT": "10"})
        server.hold()
        assert run.run(*SLURM).returncode == 0
        first = run.folder / "part-1-of-4/answers.jsonl"  # without an answer, the part is missing
        until(lambda: first.exists() and run.recorded() >= 8, what="the first answers")
        _, second = sorted(name for name, state in slurm.queue().items() if state == "RUNNING")
        # The process that asks dies as by kill -9; its part is not finished.
        for process in asking("1/4"):
            os.kill(process, signal.SIGKILL)
        # The other task's node is lost for Slurm, which starts it again by itself.
        slurm.run("scontrol", "requeue", second)
        server.release()
        until(lambda: not slurm.queue(), what="the queue")
        scored = " ".join(run.hdbench("score", "hdb/texts", "runs/a").stdout.split())
        assert "part 1 of 4 is not finished" in scored
        left = ITEMS - run.recorded()
        before = sum(server.started.values())
        done = run.run(*SLURM)
        assert done.returncode == 0, done.stderr
        until(lambda: not slurm.queue(), what="the queue")
        run.check_whole(ITEMS)
        assert sum(server.started.values()) - before == left
        assert max(server.started.values()) <= 2
        assert len(server.again) <= 2 * AT_ONCE  # only what was in flight in those two
        assert f"runs/a: {ITEMS} of {ITEMS} items answered" in run.run(*SLURM).stdout
        assert sum(server.started.values()) - before == left
