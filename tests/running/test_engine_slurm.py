"""Runs on a real Slurm of one node."""

import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from helpers.slurm import Slurm
from helpers.waiting import until
from running.many_texts import KEY, Counting, Run, ids_of, write_texts

AT_ONCE = 4  # requests that a task has in flight, unless told otherwise
ITEMS = 80
ENDED = ("died", "stopped")  # whether SIGTERM comes before SIGKILL is up to Slurm


@pytest.fixture(scope="module")
def slurm():
    # pytest's folders have names too long for sockets.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Slurm(Path(folder) / "s", 2) as it:
        yield it


def on_slurm(tasks):
    options = [f"--engine-option={each}" for each in ("mem_per_cpu_gb=1", "time=10:00")]
    return ["--engine", "slurm", "--tasks", tasks, *options]


def kill(slurm, task):
    """Kill a job with all that runs in it, as a node does that has no memory left."""
    [job] = [name for name in slurm.queue() if name.endswith(f"_{task}")]
    slurm.run("scancel", "--full", "--signal=KILL", job)
    until(lambda: job not in slurm.queue(), what="the end of the job")


@pytest.mark.nightly
@pytest.mark.needs("slurm")
def test_what_was_killed_is_asked_again_while_others_run(tmp_path, slurm):
    write_texts(tmp_path, ITEMS)
    with Counting() as server:
        run = Run(tmp_path, server.url, slurm.environment)
        server.hold()
        assert run.run(*on_slurm(2)).returncode == 0
        # All that they can be asked while one item in four is not answered.
        until(lambda: run.has_begun(0) and run.has_begun(1), what="the jobs")
        until(lambda: len(server.started) == run.recorded() + 2 * AT_ONCE, what="their requests")

        assert run.kill_rank(0)  # the process: it begins again in its job
        until(lambda: server.again, what="the process that begins again")
        assert set(slurm.queue().values()) == {"RUNNING"}
        # A task says how far it is every few seconds.
        until(lambda: run.status()["ranks"][1]["answered"] == run.shard(1), what="its state")
        assert run.shard(1) < ITEMS // 2

        kill(slurm, 0)  # the job: its command submits it again
        line = "run again: the command submits what ended early, while the others go on"
        assert line in run.hdbench("status", "runs/a").stdout
        asked = sum(server.started.values())
        submitted = run.run(*on_slurm(2))
        assert submitted.returncode == 0, submitted.stderr
        assert "what had ended early was submitted again as hdbench-" in submitted.stdout
        until(lambda: sum(server.started.values()) > asked, what="the job that begins again")
        assert len(slurm.queue()) == 2
        refused = run.run(*on_slurm(2))
        assert refused.returncode == 2
        assert "2 of its jobs are still in Slurm's queue" in refused.stderr

        server.release()
        until(lambda: not (run.folder / "shards").exists(), what="the merging by the last job")
        run.check_whole(ITEMS)
        assert set(server.again) < set(ids_of(ITEMS // 2))


@pytest.mark.nightly
@pytest.mark.needs("slurm")
def test_a_mistyped_port_leaves_what_goes_on_at_another_address(tmp_path, slurm):
    write_texts(tmp_path, 3)
    with closing(socket.socket()) as taken:  # a port where nobody listens
        taken.bind(("127.0.0.1", 0))
        run = Run(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1", slurm.environment)
        # From where jobs are submitted, nobody can tell whether they reach the server.
        assert run.run(*on_slurm(2)).returncode == 0
        until(lambda: not slurm.queue(), what="the jobs")
    assert run.recorded() == 0
    with Counting() as server:
        run = Run(tmp_path, server.url, slurm.environment)
        submitted = run.run(*on_slurm(2))
        assert submitted.returncode == 0, submitted.stderr
        until(lambda: not slurm.queue(), what="the jobs")
        assert run.run().returncode == 0
    run.check_whole(3)
    assert not server.again


@pytest.mark.nightly
@pytest.mark.needs("slurm")
def test_killed_and_requeued_jobs_leave_one_answer_for_each_item(tmp_path, slurm):
    here = tmp_path / "its $(name) has spaces"
    write_texts(here, ITEMS)
    with Counting() as server:
        run = Run(here, server.url, slurm.environment)

        server.hold()
        single = run.start()
        until(lambda: run.recorded() >= 4)
        single.kill()
        single.wait()

        refused = run.run(*on_slurm(4), "--engine-option", "partition=none")
        assert refused.returncode == 2
        assert "invalid partition" in refused.stderr
        assert "sbatch refused the jobs" in refused.stderr.splitlines()[-1]
        assert not (run.folder / "shards").exists()
        submitted = run.run(*on_slurm(4))
        assert submitted.returncode == 0, submitted.stderr
        assert submitted.stdout.endswith("next: hdbench status runs/a\n")
        until(lambda: run.has_begun(0) and run.has_begun(1), what="the first two jobs")
        slurm.run("scontrol", "update", f"NodeName={slurm.host}", "State=drain", "Reason=test")
        refused = run.run("--engine", "local", "--tasks", "2")
        assert refused.returncode == 2
        assert "4 of its jobs are still in Slurm's queue" in refused.stderr
        assert "scancel --name=hdbench-" in refused.stderr
        states = [rank["state"] for rank in run.status()["ranks"]]
        assert states == ["running", "running", "waiting", "waiting"]

        kill(slurm, 0)
        [job] = [name for name in slurm.queue() if name.endswith("_1")]
        slurm.run("scontrol", "requeue", job)
        until(lambda: set(slurm.queue().values()) == {"PENDING"}, what="the drained node")
        server.release()
        ended, *others = [rank["state"] for rank in run.status()["ranks"]]
        assert ended in ENDED
        assert others == ["stopped", "waiting", "waiting"]
        slurm.run("scontrol", "update", f"NodeName={slurm.host}", "State=resume")
        # Slurm lets requeued jobs wait for two minutes.
        slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        until(lambda: not slurm.queue(), what="the queue")
        status = run.status()
        ended, *others = [rank["state"] for rank in status["ranks"]]
        assert ended in ENDED
        assert others == ["done", "done", "done"]
        kept = [path for path in (run.folder / "shards").rglob("*") if path.is_file()]
        assert {"executor.json", "executor.pik", "launch.json"} <= {path.name for path in kept}
        assert not any(KEY.encode() in path.read_bytes() for path in kept)

        assert run.run(*on_slurm(2), "--workers", "1").returncode == 0
        until(lambda: not (run.folder / "shards").exists(), what="the merging by the last job")
        run.check_whole(ITEMS)
        # In flight when the single process, rank 0 and rank 1 ended.
        assert sum(server.started.values()) <= ITEMS + 3 * AT_ONCE
