"""A run as jobs at Hugging Face: PYTHONPATH=src:tests python -m speed.cluster_jobs MOTO_SERVER.

MOTO_SERVER is the program `moto_server` of an environment with `moto[s3,server]`, which plays S3;
s3fs has to be in this one. In place of machines at Hugging Face there are processes here that see
nothing of this one but what a job gets: its environment and secrets. All that they do is real.

It fails if an item has no answer or two, if one was asked again whose answer had been kept, or if
a key is in the storage.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import s3fs
from helpers.waiting import until
from running.many_texts import KEY, Counting, ids_of, write_texts
from typer.testing import CliRunner

from hdbench.cli import app
from hdbench.running.cluster import jobs

ITEMS, TASKS = 120, 3
PORT = 5671
TOKEN = "hf_sentinel_4321"
SECRETS = {
    "HDBENCH_API_KEY": KEY,
    "AWS_ACCESS_KEY_ID": "moto",
    "AWS_SECRET_ACCESS_KEY": "moto-sentinel-1234",
    "AWS_ENDPOINT_URL": f"http://127.0.0.1:{PORT}",
}
OPTIONS = {
    "storage": "s3://catalogue/runs",
    "timeout": "1h",
    "poll_interval": "1",
    "secrets": ",".join(SECRETS),
}
JOB = """
import sys
from hdbench.running.cluster import job_start, step
step.FIRST_KEPT = step.KEPT_EVERY = 1.0
job_start.main()
"""


class Machines:
    """Jobs as processes of this machine, and what huggingface_hub says of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.jobs: list[SimpleNamespace] = []
        self.unreachable = False

    def run_uv_job(self, script, *, script_args, env, secrets, labels, **about):
        assert about["timeout"] == "1h"
        assert about["dependencies"][-1] == "s3fs"
        path = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        log = (self._folder / f"job{len(self.jobs)}.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-c", JOB, *script_args],
            cwd=self._folder / "elsewhere",
            env=path | env | secrets,
            stdout=log,
            stderr=log,
        )
        job = SimpleNamespace(id=str(len(self.jobs)), url="", process=process, labels=labels)
        self.jobs.append(job)
        return job

    def inspect_job(self, *, job_id, **_):
        if self.unreachable:
            raise ConnectionError("the Hub cannot be reached")
        job = self.jobs[int(job_id)]
        ended = {None: "RUNNING", 0: "COMPLETED"}.get(job.process.poll(), "ERROR")
        job.status = SimpleNamespace(stage=ended)
        return job

    def list_jobs(self, *, labels, **_):
        seen = [self.inspect_job(job_id=job.id) for job in self.jobs]
        return [job for job in seen if labels.items() <= job.labels.items()]


def main(moto: str) -> None:
    """Run it."""
    os.environ |= SECRETS | {"HF_TOKEN": TOKEN, "AWS_DEFAULT_REGION": "us-east-1"}
    server = subprocess.Popen(
        [moto, "-p", str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        files = s3fs.S3FileSystem(use_listings_cache=False)
        until(lambda: _made(files), what="moto")
        for scenario in (a_job_is_killed, the_command_is_cut_off):
            with tempfile.TemporaryDirectory(prefix="jobs-") as folder, Counting(0.2) as model:
                (Path(folder) / "elsewhere").mkdir()
                write_texts(Path(folder), ITEMS)
                os.chdir(folder)
                machines = Machines(Path(folder))
                for name in ("run_uv_job", "inspect_job", "list_jobs"):
                    setattr(huggingface_hub, name, getattr(machines, name))
                try:
                    scenario(machines, model, files)
                finally:
                    for job in machines.jobs:
                        job.process.kill()
                answers = Path("runs/a/answers.jsonl").read_text().splitlines()
                assert sorted(line.split('"')[3] for line in answers) == ids_of(ITEMS)
                assert not Path("runs/a/shards").exists()
                assert files.find("catalogue") == [], "the storage is empty at the end"
    finally:
        server.terminate()


def a_job_is_killed(machines: Machines, model: Counting, files: s3fs.S3FileSystem) -> None:
    """Its rank is started again, and asks only what had not been kept."""
    lost = []

    def kill() -> None:
        until(lambda: _kept(files, 0) >= 5, what="the first answers")
        content = [files.cat_file(path) for path in files.find("catalogue")]
        keys = [KEY, SECRETS["AWS_SECRET_ACCESS_KEY"], TOKEN]
        assert not any(key.encode() in each for key in keys for each in content)
        machines.jobs[0].process.kill()
        machines.jobs[0].process.wait()
        lost.append(sum(model.started[item] for item in ids_of(ITEMS // TASKS)) - _kept(files, 0))

    killing = threading.Thread(target=kill)
    killing.start()
    done = _run(model)
    killing.join()
    assert done.exit_code == 0, (done.output, done.exception)
    assert f"{ITEMS} questions and 0 files (0.0 MB) go to s3://catalogue/runs" in done.output
    print(f"killed: {len(machines.jobs)} jobs, {lost[0]} lost, {len(model.again)} asked again")
    assert len(machines.jobs) == TASKS + 1
    assert len(model.again) == lost[0]


def the_command_is_cut_off(machines: Machines, model: Counting, files: s3fs.S3FileSystem) -> None:
    """Its jobs go on; the next command is refused, and after their end it merges."""
    model.hold()
    machines.unreachable = True
    done = _run(model)
    assert "the Hub cannot be reached" in str(done.exception)
    machines.unreachable = False
    done = _run(model)
    assert f"{TASKS} of its jobs are still at Hugging Face" in str(done.exception)
    until(lambda: all(_kept(files, rank) for rank in range(TASKS)), what="the first answers")
    status = CliRunner().invoke(app, ["status", "runs/a"]).stdout
    assert f"engine jobs, {TASKS} tasks: {TASKS} running" in status, status
    model.release()
    for job in machines.jobs:
        assert job.process.wait(60) == 0
    done = _run(model)
    assert done.exit_code == 0, (done.output, done.exception)
    print(f"cut off: {len(machines.jobs)} jobs, {len(model.again)} asked again")
    assert len(machines.jobs) == TASKS
    assert model.again == []


def _run(model: Counting):
    command = ["run", "hdb/texts", "--model", "m", "--endpoint", model.url, "-o", "runs/a"]
    command += ["--engine", "jobs", "--tasks", str(TASKS), "--concurrency", "4"]
    options = [f"--engine-option={name}={value}" for name, value in OPTIONS.items()]
    return CliRunner().invoke(app, command + options)


def _made(files: s3fs.S3FileSystem) -> bool:
    try:
        files.mkdir("catalogue")
    except OSError:
        time.sleep(0.2)
        return False
    return True


def _kept(files: s3fs.S3FileSystem, rank: int) -> int:
    found = [path for path in files.find("catalogue") if path.endswith(f"{rank:05d}.jsonl")]
    return sum(files.cat_file(path).count(b"\n") for path in found)


if __name__ == "__main__":
    jobs.FETCHED_EVERY = 1.0
    main(sys.argv[1])
