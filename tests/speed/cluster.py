"""Runs in many tasks, killed in every way, and the time that they spend outside the model.

Run by hand, as root on Debian with slurm-wlm and munge: PYTHONPATH=src:tests python -m
speed.cluster, or with some of the names below. It fails if an item has no answer or two, or if one
was asked again that was not in flight when something was killed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from helpers.slurm import Slurm
from helpers.waiting import until
from running.many_texts import Counting, Run, write_texts

ITEMS, TASKS = 2_000, 20
AT_ONCE = 4
SECONDS = 0.05
CPUS = 4
SLOW = 0.5
FOR_EACH = 60
RANKS = (1, 2, 4, 8)
FEW_AND_MANY = (200, 1_200)
ON_SLURM = ("--engine-option", "mem_per_cpu_gb=1", "--engine-option", "time=1:00:00")


def main(names) -> None:
    parts = (slurm, local, engines, full_disk, truncated, two_drivers, overhead, own_time)
    for part in parts:
        if not names or part.__name__ in names:
            began = time.monotonic()
            part()
            print(f"{part.__name__}: done in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def texts(count, seconds, cluster=False):
    """A benchmark and a server for it, on a Slurm if that is wanted."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder, Counting(seconds) as server:
        here = Path(folder)
        write_texts(here, count)
        if cluster:
            with Slurm(here / "s", CPUS) as slurm:
                yield Run(here, server.url, slurm.environment), server, slurm
        else:
            yield Run(here, server.url), server, None


def check(run, server, count, kills) -> None:
    """One answer for each item; none asked again but those in flight when a task was killed."""
    run.check_whole(count)
    again = sum(server.started.values()) - count
    assert again <= kills * AT_ONCE, f"{again} asked again after {kills} kills"
    print(f"  {count} items answered once each; {again} asked again after {kills} kills")


def slurm() -> None:
    """Drivers killed, tasks killed, jobs requeued, a node drained, a node down."""
    command = ("--engine", "slurm", "--tasks", TASKS, *ON_SLURM)
    with texts(ITEMS, SECONDS, cluster=True) as (run, server, cluster):
        for seconds in (1.0, 1.6, 2.2, 2.8):  # before, while and after it submits
            driver = run.start(*command)
            time.sleep(seconds)
            driver.kill()
            driver.wait()
            said = run.run("--engine", "local", "--tasks", "1", "--dry-run")
            assert said.returncode == 0, said.stderr
            print(f"  driver killed after {seconds} s: {len(cluster.queue())} jobs in the queue")
        kills = _disturb(run, cluster, command)
        check(run, server, ITEMS, kills)


def _disturb(run, cluster, command) -> int:
    """Kill, requeue, drain and down until all is merged; how many tasks were killed."""
    chance = random.Random(22)
    kills = 0
    node = ("scontrol", "update", f"NodeName={cluster.host}", "Reason=test")
    did = set()
    while (run.folder / "shards").exists() or run.recorded() < ITEMS:
        jobs = cluster.queue()
        if not jobs and run.recorded() < ITEMS:
            done = run.run(*command)
            assert done.returncode == 0, done.stderr
            print(f"  submitted again: {run.recorded()} recorded")
            continue
        running = [job for job, state in jobs.items() if state == "RUNNING"]
        status = run.status() if (run.folder / "shards").exists() else {"ranks": []}
        at_work = [
            rank
            for rank in status["ranks"]
            if rank["state"] == "running" and rank["items"] and run.shard(rank["rank"]) > 2
        ]
        recorded = run.recorded()
        if recorded > 200 and "killed" not in did and len(at_work) > 1:
            for rank in chance.sample(at_work, 2):
                if run.kill_rank(rank["rank"]):
                    did.add("killed")
                    kills += 1
                    print(f"  task {rank['rank']} killed -9 at {recorded} answers")
        elif recorded > 500 and "requeued" not in did and running:
            did.add("requeued")
            job = chance.choice(running)
            cluster.run("scontrol", "requeue", job)
            kills += 1
            print(f"  job {job} requeued at {recorded} answers")
            until(lambda job=job: cluster.queue().get(job) == "PENDING", what="requeueing")
            cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        elif recorded > 800 and "drained" not in did and running:
            did.add("drained")
            cluster.run(*node, "State=drain")
            until(lambda: "RUNNING" not in cluster.queue().values(), what="draining")
            until(lambda: "COMPLETING" not in cluster.queue().values(), what="draining")
            states = [rank["state"] for rank in run.status()["ranks"]]
            print(f"  node drained at {recorded} answers: {states.count('waiting')} wait")
            cluster.run(*node, "State=resume")
        elif recorded > 1100 and "down" not in did and running:
            did.add("down")
            kills += len(running)
            cluster.run(*node, "State=down")
            print(f"  node down at {recorded} answers with {len(running)} jobs")
            time.sleep(3)
            # Slurm may have noticed by itself that the node answers.
            cluster.run(*node, "State=resume", check=False)
            for job in cluster.queue():
                cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)
        time.sleep(0.2)
    assert did == {"killed", "requeued", "drained", "down"}, did
    return kills


def local() -> None:
    """Tasks and drivers killed."""
    kills = 0
    command = ("--engine", "local", "--tasks", TASKS, "--workers", CPUS)
    with texts(ITEMS, SECONDS) as (run, server, _):
        driver = run.start(*command)
        for recorded in (150, 450):
            until(lambda least=recorded: run.recorded() > least, what="the tasks")
            killed = None
            while killed is None:
                running = [each for each in run.status()["ranks"] if each["state"] == "running"]
                killed = next(
                    (
                        each["rank"]
                        for each in running
                        if each["items"] and run.kill_rank(each["rank"])
                    ),
                    None,
                )
            kills += 1
            print(f"  task {killed} killed -9 at {run.recorded()} answers")
        until(lambda: run.recorded() > 800, what="the tasks")
        driver.kill()
        driver.wait()
        orphans = [rank["rank"] for rank in run.status()["ranks"] if rank["state"] == "running"]
        print(f"  driver killed -9 at {run.recorded()} answers: {len(orphans)} tasks left")
        driver = run.start(*command)
        until(lambda: run.recorded() > 1300, what="the tasks")
        driver.send_signal(signal.SIGTERM)
        kills += CPUS
        driver.wait()
        print(f"  driver ended by SIGTERM at {run.recorded()} answers")
        done = run.run(*command)
        assert done.returncode == 0, done.stderr
        check(run, server, ITEMS, kills)


def engines() -> None:
    """Begun in a single process, resumed on one engine after the other, killed each time."""
    with texts(600, SECONDS, cluster=True) as (run, server, cluster):
        single = run.start()
        until(lambda: run.recorded() > 100)
        single.kill()
        single.wait()
        driver = run.start("--engine", "local", "--tasks", 3, "--workers", 3)
        until(lambda: run.recorded() > 200)
        driver.send_signal(signal.SIGTERM)
        driver.wait()
        assert run.run("--engine", "slurm", "--tasks", 6, *ON_SLURM).returncode == 0
        until(lambda: run.recorded() > 400)
        name = json.loads((run.folder / "shards/launch.json").read_text())["job"]
        cluster.run("scancel", f"--name={name}")
        until(lambda: not cluster.queue(), what="the queue")
        assert run.run().returncode == 0
        check(run, server, 600, 1 + 3 + CPUS)
        sittings = json.loads((run.folder / "run.json").read_text())["sittings"]
        print("  sittings:", [each.get("engine", "single process") for each in sittings])


def full_disk() -> None:
    """A small file system that fills up."""
    with texts(600, 0.002) as (run, server, _):
        (run.here / "runs").mkdir()
        size = ["-o", "size=200k"]
        subprocess.run(["mount", "-t", "tmpfs", *size, "tmpfs", run.here / "runs"], check=True)
        try:
            done = run.run("--engine", "local", "--tasks", 4, "--workers", 2)
            assert done.returncode == 2
            print("  ", done.stderr.splitlines()[-1])
            asked, recorded = sum(server.started.values()), run.recorded()
            subprocess.run(["mount", "-o", "remount,size=8m", run.here / "runs"], check=True)
            assert run.run("--engine", "local", "--tasks", 4, "--workers", 2).returncode == 0
            run.check_whole(600)
            print(f"  {asked} asked, {recorded} recorded before; then the others only")
            assert sum(server.started.values()) - asked == 600 - recorded
        finally:
            subprocess.run(["umount", run.here / "runs"], check=True)


def truncated() -> None:
    """A shard that lost its end, and one that is damaged in its middle."""
    with texts(200, SECONDS) as (run, server, _):
        driver = run.start("--engine", "local", "--tasks", 2, "--workers", 2)
        until(lambda: min(run.shard(0), run.shard(1)) > 20)
        driver.kill()
        driver.wait()
        for rank in (0, 1):
            run.kill_rank(rank)
        time.sleep(0.5)
        first, second = (run.folder / f"shards/0000{rank}.jsonl" for rank in (0, 1))
        before = run.recorded()
        whole = second.read_bytes()
        os.truncate(first, first.stat().st_size // 2)
        second.write_bytes(whole.replace(b'{"id"', b'{id"', 1))
        done = run.run()
        assert done.returncode == 2
        print("  ", done.stderr.splitlines()[-1])
        second.write_bytes(whole)
        done = run.run()
        assert done.returncode == 0, done.stderr
        run.check_whole(200)
        print(f"  {before} recorded before; {sum(server.started.values())} asked in all")


def two_drivers() -> None:
    """The second one is refused."""
    with texts(200, SECONDS) as (run, server, _):
        server.hold()
        driver = run.start("--engine", "local", "--tasks", 2, "--workers", 2)
        until(lambda: run.recorded() > 8)
        for engine in ((), ("--engine", "local", "--tasks", 2)):
            done = run.run(*engine)
            assert done.returncode == 2
            print("  ", done.stderr.splitlines()[-1])
        server.release()
        assert driver.wait() == 0
        check(run, server, 200, 0)


def overhead() -> None:
    """The share of time that ranks spend outside a model that takes 0.5 s for each answer."""
    for ranks in RANKS:
        with texts(ranks * FOR_EACH, SLOW) as (run, server, _):
            began = time.monotonic()
            engine = ("--engine", "local", "--tasks", ranks, "--workers", ranks)
            cpu = os.times()
            done = run.run(*engine, "--concurrency", 1)
            used = os.times()
            assert done.returncode == 0, done.stderr
            took = time.monotonic() - began
            times = [server.times[item] for item in sorted(server.times)]
            shares = []
            for rank in range(ranks):
                of_rank = times[rank * FOR_EACH : (rank + 1) * FOR_EACH]
                wall = max(end for _, end in of_rank) - min(start for start, _ in of_rank)
                shares.append(1 - FOR_EACH * SLOW / wall)
            spent = used.children_user + used.children_system
            spent -= cpu.children_user + cpu.children_system
            print(
                f"  {ranks} ranks: {100 * max(shares):.1f} % outside the model at most, "
                f"{100 * sum(shares) / ranks:.1f} % on average; {took:.1f} s with start and end, "
                f"{FOR_EACH * SLOW:.0f} s of them in the model; {spent:.1f} s of CPU"
            )


def own_time() -> None:
    """The CPU time that an item takes, other processes on the machine or not."""
    spent = {}
    for count in FEW_AND_MANY:
        with texts(count, 0) as (run, _, _):
            before = os.times()
            done = run.run("--engine", "local", "--tasks", 1, "--concurrency", 1)
            after = os.times()
            assert done.returncode == 0, done.stderr
            spent[count] = after.children_user + after.children_system
            spent[count] -= before.children_user + before.children_system
    few, many = FEW_AND_MANY
    each = (spent[many] - spent[few]) / (many - few)
    print(
        f"  {1000 * each:.1f} ms of CPU an item, {100 * each / SLOW:.1f} % of {SLOW} s; "
        f"{spent[few] - few * each:.1f} s for the command and its task to start and end"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
