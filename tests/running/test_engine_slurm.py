"""Runs on a real Slurm of one node."""

import tempfile
from pathlib import Path

import pytest
from helpers.slurm import Slurm
from helpers.waiting import until
from running.many_texts import KEY, Counting, Run, write_texts

AT_ONCE = 4  # requests that a task has in flight, unless told otherwise
ITEMS = 80


@pytest.fixture(scope="module")
def slurm():
    # pytest's folders have names too long for sockets.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Slurm(Path(folder) / "s", 2) as it:
        yield it


def on_slurm(tasks):
    options = [f"--engine-option={each}" for each in ("mem_per_cpu_gb=1", "time=10:00")]
    return ["--engine", "slurm", "--tasks", tasks, *options]


@pytest.mark.slow
@pytest.mark.needs("slurm")
def test_jobs_killed_requeued_and_on_a_drained_node_leave_one_answer_for_each_item(tmp_path, slurm):
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

        assert run.kill_rank(0)
        [job] = [name for name in slurm.queue() if name.endswith("_1")]
        slurm.run("scontrol", "requeue", job)
        until(lambda: set(slurm.queue().values()) == {"PENDING"}, what="the drained node")
        server.release()
        assert [rank["state"] for rank in run.status()["ranks"]] == [
            *("died", "stopped", "waiting", "waiting")
        ]
        slurm.run("scontrol", "update", f"NodeName={slurm.host}", "State=resume")
        # Slurm lets requeued jobs wait for two minutes.
        slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        until(lambda: not slurm.queue(), what="the queue")
        status = run.status()
        assert [rank["state"] for rank in status["ranks"]] == ["died", "done", "done", "done"]
        kept = [path for path in (run.folder / "shards").rglob("*") if path.is_file()]
        assert {"executor.json", "executor.pik", "launch.json"} <= {path.name for path in kept}
        assert not any(KEY.encode() in path.read_bytes() for path in kept)

        assert run.run(*on_slurm(2), "--workers", "1").returncode == 0
        until(lambda: not (run.folder / "shards").exists(), what="the merging by the last job")
        run.check_whole(ITEMS)
        # In flight when the single process, rank 0 and rank 1 ended.
        assert sum(server.started.values()) <= ITEMS + 3 * AT_ONCE
