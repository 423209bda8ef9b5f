"""What can be asked of an engine, and what is refused."""

import json
import os
import pickle
import subprocess
import sys

import pytest
from running.many_texts import KEY, write_texts
from typer.testing import CliRunner

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli import app
from hdbench.common.translation import set_language
from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import BACKENDS, Asked, InShard, Question, read_questions
from hdbench.running.choosing import of_benchmark
from hdbench.running.cluster.launching import Engine, check_engine, launch, read_engine_options
from hdbench.running.cluster.slurm import check_slurm, slurm_executor, slurm_options
from hdbench.running.cluster.step import Asking
from hdbench.running.cluster.workers import RankProcesses
from hdbench.running.engine_kinds import ENGINES, EngineKind, RanksEnd
from hdbench.running.planning import RunPlan
from hdbench.running.run_progress import RunProgress
from hdbench.running.shards.launch import Launch, Shards
from hdbench.running.shards.merging import alone

ENDPOINT = "http://127.0.0.1:9/v1"
LAUNCH = Launch(
    id="0123abcd",
    engine="slurm",
    tasks=2,
    workers=None,
    started="2026-11-23T00:00:00+00:00",
    host="h",
    job="hdbench-0123abcd",
    total=4,
    recorded=0,
    failed=0,
    asked={"model": "m", "endpoint": ENDPOINT},
    prompt="Read it.",
    answer_schema=None,
)


@pytest.fixture
def texts(tmp_path, monkeypatch):
    write_texts(tmp_path, 4)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hdbench(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def plan(endpoint=ENDPOINT):
    benchmark = load_benchmark("hdb/texts")
    return RunPlan(benchmark, of_benchmark(benchmark), Asked("m", endpoint=endpoint))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"particion": "gpu"}, "particion: choose one of time, partition, cpus_per_task"),
        ({"pipeline": "x"}, "pipeline: choose one of"),
        ({"cpus_per_task": "four"}, "cpus_per_task=four: must be a whole number"),
        ({"requeue": "maybe"}, "requeue=maybe: must be true or false"),
        ({"partition": 'gpu"\n#SBATCH --wrap="rm'}, "partition: must be a plain value"),
        ({"time": "1:00:00 $(touch x)"}, "time: must be a plain value"),
        ({"sbatch.comment": "`touch x`"}, "comment: must be a plain value"),
        ({"sbatch.array": "0-9"}, "sbatch.array: hdbench sets it"),
        ({"sbatch.output": "/tmp/x"}, "sbatch.output: hdbench sets it"),
        ({"sbatch.clusters": "other"}, "sbatch.clusters: hdbench sets it, or no such option"),
        ({"sbatch.gres=x\n": "1"}, "hdbench sets it, or no such option"),
    ],
)
def test_options_that_slurm_does_not_have_are_refused(options, said):
    with pytest.raises(HdbenchError) as error:
        slurm_options(options)
    assert said in str(error.value)


def test_options_have_the_types_of_their_parameters():
    options = ["partition=gpu", "cpus-per-task=8", "requeue=false", "sbatch.mail-type=END"]
    read = read_engine_options([*options, "env_command=module load cuda && true"])
    assert slurm_options(read) == {
        "partition": "gpu",
        "cpus_per_task": 8,
        "requeue": False,
        "env_command": "module load cuda && true",
        "sbatch_args": {"mail-type": "END"},
    }


@pytest.mark.parametrize("options", [["partition"], ["=gpu"], ["a=1", "a=2"], ["a b=1"]])
def test_what_is_not_key_and_value_is_refused(options):
    with pytest.raises(HdbenchError, match="--engine-option"):
        read_engine_options(options)


def test_a_script_for_slurm_takes_no_path_for_a_command(tmp_path):
    run = tmp_path / "a b; touch $(x) 'c'"
    run.mkdir()
    shards = Shards.made(run, LAUNCH, [b"{}\n"] * 2, 2)
    executor = slurm_executor(shards, {"partition": "gpu", "gres": "gpu:1"}, 5)
    script = executor.get_launch_file_contents(executor.get_sbatch_args(2), "ignored").splitlines()
    assert '#SBATCH --partition="gpu"' in script
    assert '#SBATCH --gres="gpu:1"' in script
    assert '#SBATCH --array="0-1%5"' in script
    assert "#SBATCH --requeue" in script
    assert f'#SBATCH --output="{run}/shards/logs/0123abcd/slurm_logs/%A_%a.out"' in script
    assert not any("time" in line or "qos" in line for line in script)  # left to the cluster
    pickled = str(run / "shards/logs/0123abcd/executor.pik").replace("'", "'\"'\"'")
    module = "-P -m datatrove.tools.launch_pickled_pipeline"
    command = f"srun -l -n 1 {sys.executable} {module} '{pickled}'"
    assert f"status=0; {command} || status=$?" in script


@pytest.mark.parametrize(
    ("end", "starts", "status"),
    [
        ("exit 0", 1, 0),
        ("exit 1", 1, 1),
        ("kill -KILL $$", 3, 137),
        ("kill -SEGV $$", 3, 139),
        ("kill -TERM $$", 1, 143),  # Slurm ends the job
        ("kill -USR1 $$", 1, 138),  # or puts it back into the queue
    ],
)
def test_a_process_that_is_killed_begins_again_in_its_job(tmp_path, end, starts, status):
    shards = Shards.made(tmp_path, LAUNCH, [b"{}\n"] * 2, 2)
    executor = slurm_executor(shards, {}, None)
    script = tmp_path / "job"
    script.write_text(executor.get_launch_file_contents(executor.get_sbatch_args(2), "ignored"))
    (tmp_path / "srun").write_text(f"#!/bin/sh\necho started >> {tmp_path}/starts\n{end}\n")
    (tmp_path / "srun").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(["bash", str(script)], env={"PATH": path}, capture_output=True)
    assert done.returncode == status
    assert (tmp_path / "starts").read_text().count("started") == starts


def test_a_path_that_slurm_cannot_be_told_is_refused(tmp_path):
    with pytest.raises(HdbenchError, match="Slurm cannot be told a path with"):
        check_slurm(None, {}, tmp_path / 'a"b')


def test_an_address_with_a_secret_is_not_written_to_files(texts):
    for endpoint in ("http://me:secret@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?key=secret"):
        with pytest.raises(HdbenchError, match="must not hold a password or a query") as error:
            check_engine(plan(endpoint), Engine("local", 2), texts / "run")
        assert "secret" not in str(error.value)


def test_remote_model_gets_as_many_tasks_as_usable_cores(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 128)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    assert Engine("local", 20).at_once(BACKENDS["endpoint"], devices=0) == 3
    assert Engine("local", 2).at_once(BACKENDS["endpoint"], devices=0) == 2
    assert Engine("local", 20).at_once(BACKENDS["transformers"], devices=4) == 4
    assert Engine("local", 20, 6).at_once(BACKENDS["endpoint"], devices=0) == 6
    assert Engine("slurm", 20).at_once(BACKENDS["endpoint"], devices=0) is None


def test_a_name_of_jobs_that_hdbench_would_not_find_is_refused(texts, monkeypatch):
    monkeypatch.setenv("SBATCH_JOB_NAME", "mine")
    with pytest.raises(HdbenchError, match="unset SBATCH_JOB_NAME"):
        check_engine(plan(), Engine("slurm", 2), texts / "run")


def test_windows_is_refused(texts, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(HdbenchError, match="leave it out, or use WSL"):
        launch(plan(), texts / "run", Engine("local", 2))
    assert not (texts / "run").exists()


def test_image_address_with_a_secret_is_not_written_to_files(texts):
    benchmark = load_benchmark("hdb/texts")
    stored = InShard("https://127.0.0.1:9/a.tar?sig=secret", "1.jpg", 512, 90)
    choice = of_benchmark(benchmark)._replace(questions=[Question("1", [stored])])
    asked = RunPlan(benchmark, choice, Asked("m", endpoint=ENDPOINT), own_images=True)
    with pytest.raises(HdbenchError, match="must not have a query") as error:
        check_engine(asked, Engine("local", 2), texts / "run")
    assert "sig" not in str(error.value)


def test_task_ignores_modules_of_user_folder_and_keeps_language(texts):
    (texts / "dill.py").write_text("import pathlib\npathlib.Path('imported').touch()\n")
    shards = Shards.made(texts, LAUNCH.model_copy(update={"tasks": 1}), [b"{}\n"], 1)
    shards.answers(0).write_text('damaged\n{"id": "1", "text": ""}\n')

    set_language("de")
    workers = RankProcesses(shards, 1, ())
    with RunProgress.shown(1, 0) as progress:
        workers.run(progress)
    assert not (texts / "imported").exists()
    assert workers.failure.startswith(
        f"{shards.answers(0)}:1: in der Mitte beschädigt"
    )  # so far it came


def test_the_log_of_a_task_that_fails_has_its_frames_and_no_key(texts, monkeypatch):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    launched = LAUNCH.model_copy(update={"tasks": 1})
    shards = Shards.made(texts, launched, [Question("1", [], text="x").line()], 1)
    command = [sys.executable, "-m", "hdbench.running.cluster.workers", str(texts), LAUNCH.id, "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {ENDPOINT}: cannot be reached")
    logs = [path.read_text() for path in shards.logs.rglob("*.log")]
    assert any("endpoint_client.py" in log for log in logs)
    kept = [path.read_bytes() for path in shards.path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in each for each in [*kept, done.stderr.encode()])


def test_tasks_at_the_same_time_have_different_accelerators(tmp_path, monkeypatch):
    shards = Shards.made(tmp_path, LAUNCH.model_copy(update={"tasks": 3}), [b"{}\n"] * 3, 3)
    given = []

    class Process:
        def __init__(self, command, **options):
            assert options["start_new_session"]  # else Ctrl-C would kill it
            given.append((command[-1], options["env"].get("CUDA_VISIBLE_DEVICES")))

        def poll(self):
            return 0

    monkeypatch.setattr("subprocess.Popen", Process)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with RunProgress.shown(4, 0) as progress:
        workers = RankProcesses(shards, 2, ["4", "7"])
        workers.run(progress)
    assert given[:2] == [("0", "4"), ("1", "7")]
    assert [rank for rank, _ in given] == ["0", "1", "2"]
    assert given[2][1] in ("4", "7")
    assert workers.failure is None


def test_two_drivers_at_once_are_refused(texts):
    with (
        alone(texts / "run"),
        pytest.raises(HdbenchError, match="another hdbench is writing to this folder"),
    ):
        launch(plan(), texts / "run", Engine("local", 2))


def check_toy(_, options, run):
    if options:
        raise HdbenchError("{place}: a toy has no options", place=run.name)


def start_toy(shards, _, workers):
    return RanksEnd(Message("{tasks} tasks, {workers}", tasks=shards.launch.tasks, workers=workers))


def test_a_toy_engine_needs_its_own_functions_and_nothing_else(texts, monkeypatch):
    here = "running.test_engines:"
    kind = EngineKind("toy", f"{here}check_toy", f"{here}start_toy", runs_here=True)
    monkeypatch.setitem(ENGINES, "toy", kind)
    monkeypatch.setattr("hdbench.running.cluster.launching.check_connection", lambda *_: None)
    with pytest.raises(HdbenchError, match="run: a toy has no options"):
        check_engine(plan(), Engine("toy", 2, options={"a": "b"}), texts / "run")
    with pytest.raises(HdbenchError, match="2 tasks, 7: 0 of 4 items are recorded"):
        launch(plan(), texts / "run", Engine("toy", 2, 7))


def test_a_process_of_an_earlier_launch_asks_nothing(tmp_path):
    shards = Shards.made(tmp_path, LAUNCH, [b"{}\n"] * 2, 2)
    with pytest.raises(HdbenchError, match="the launch 89ab4567 is over"):
        Asking(tmp_path, "89ab4567").run(None, 0, 2)
    shards.close()  # it is being merged
    with pytest.raises(HdbenchError, match="the launch 0123abcd is over"):
        Asking(tmp_path, LAUNCH.id).run(None, 0, 2)
    assert not shards.answers(0).exists()


def test_a_job_that_an_earlier_version_queued_is_refused():
    queued = b"chdbench.running.cluster.engines\nOnSlurm\n."  # as its pickle names its executor
    with pytest.raises(HdbenchError, match="queued by an earlier version of hdbench: submit again"):
        pickle.loads(queued)


def test_a_question_is_the_same_after_it_was_written(texts, samples):
    cards = load_benchmark(str(samples / "hdb/zettelkatalog"))
    for questions in (plan().choice.questions, of_benchmark(cards).questions):
        path = texts / "items.jsonl"
        path.write_bytes(b"".join(each.line() for each in questions))
        assert list(read_questions(path)) == [
            question._replace(media=[each.absolute() for each in question.media])
            for question in questions
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tasks", "3"], "--tasks only matters with --engine"),
        (["--engine-option", "a=b"], "--engine-option only matters with --engine"),
        (["--engine", "local"], "say with --tasks into how many parts"),
        (["--engine", "ssh", "--tasks", "3"], "choose one of local, slurm"),
        (["--engine", "local", "--tasks", "3", "--engine-option", "a=b"], "has no options"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(texts, arguments, said):
    done = hdbench("run", "hdb/texts", "--model", "m", "--endpoint", ENDPOINT, *arguments)
    assert isinstance(done.exception, HdbenchError)
    assert said in str(done.exception)
    assert not (texts / "runs").exists()


def test_a_dry_run_says_what_would_be_launched(texts):
    command = ("run", "hdb/texts", "--model", "m", "--endpoint", ENDPOINT, "--dry-run")
    command += ("--engine", "local", "--tasks", "3", "--workers", "2")
    assert hdbench(*command).stdout.splitlines()[-1] == "engine: local, 3 tasks, 2 at the same time"
    assert hdbench(*command, "--concurrency", "4").stdout.splitlines()[-1] == (
        "engine: local, 3 tasks, 2 at the same time, each with at most 4 requests at once"
    )
    assert not (texts / "runs").exists()


def test_the_status_of_a_run_in_one_process(texts):
    run = texts / "runs/a"
    run.mkdir(parents=True)
    record = {"run": "a", "benchmark": "hdb/texts", "model": "m", "sittings": [{"items": 4}]}
    (run / "run.json").write_text(json.dumps(record))
    answers = [{"id": "000000", "text": "{}", "tokens": {"input": 5}}, {"id": "1", "error": "x"}]
    (run / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    done = hdbench("status", run)
    assert done.stdout.splitlines() == [
        f"{run}: 1 of 4 items answered, 1 failed",
        "hdb/texts, m",
        "tokens: 5 in, 0 out",
    ]
    assert isinstance(hdbench("status", texts).exception, HdbenchError)


def test_misspelt_engine_option_is_answered_with_nearest_name():
    with pytest.raises(
        HdbenchError, match=r"--engine-option partitoin: .*; did you mean partition\?"
    ):
        slurm_options({"partitoin": "gpu"})
