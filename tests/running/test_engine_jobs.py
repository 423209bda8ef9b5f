"""Runs as jobs at Hugging Face: what is refused, and what is copied into a storage and out of it.

The storage is fsspec's own in memory, under a URL of gs://.
"""

import base64
import csv
import hashlib
import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import fsspec
import huggingface_hub
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from hub.server import WRITER, serving_hub
from running.many_texts import KEY, Counting, ids_of, write_texts
from running.test_engines import ENDPOINT, LAUNCH
from typer.testing import CliRunner

import hdbench
from hdbench.answers.answer import WrittenAnswer
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli import app
from hdbench.errors import HdbenchError
from hdbench.output.publishing.wheel import make_wheel
from hdbench.running.answers_file import AnswersFile, read_answers
from hdbench.running.backend import BACKENDS, Asked, InShard, Question, read_questions
from hdbench.running.choosing import of_benchmark
from hdbench.running.cluster.jobs import (
    check_jobs,
    jobs_options,
    run_jobs,
    uploads,
)
from hdbench.running.cluster.launching import Engine, check_engine
from hdbench.running.cluster.step import ask_there
from hdbench.running.engine_kinds import RanksEnd
from hdbench.running.planning import RunPlan
from hdbench.running.shards.launch import Launch, RankState, Shards
from hdbench.running.shards.merging import settle
from hdbench.running.shards.remote import Remote

STORAGE = "gs://cards/work"
OPTIONS = {"storage": STORAGE, "timeout": "6h"}
JOBS = LAUNCH.model_copy(update={"engine": "jobs", "storage": STORAGE, "namespace": "hdb"})
HERE = f"{STORAGE}/hdbench-{JOBS.id}"


class Storage(MemoryFileSystem):
    protocol = "gs"
    store: ClassVar = {}
    pseudo_dirs: ClassVar = [""]


@pytest.fixture
def storage(monkeypatch):
    """What is in the storage: path → content."""
    fsspec.register_implementation("gs", Storage, clobber=True)
    Storage.store.clear()
    return Storage()


@pytest.fixture
def hub(monkeypatch):
    with serving_hub() as hub:
        api = huggingface_hub.HfApi(endpoint=hub.url, token=WRITER)
        for name in ("bucket_info", "list_jobs"):
            monkeypatch.setattr(huggingface_hub, name, getattr(api, name))
        monkeypatch.setenv("HF_TOKEN", WRITER)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        yield hub


@pytest.fixture
def shards(tmp_path):
    """Two ranks of two items with an image each; the run has none of their answers."""
    questions = []
    for item in "abcd":
        image = tmp_path / f"collection {item}" / "card.jpg"
        image.parent.mkdir()
        if item == "d":  # as files of a dataset in the Hub's cache are
            (tmp_path / "blob").write_bytes(b"image d")
            image.symlink_to(tmp_path / "blob")
        else:
            image.write_bytes(f"image {item}".encode())
        questions.append(Question(item, [image], values={"page": item}))
    run = tmp_path / "run"
    run.mkdir()
    record = {"run": "run", "benchmark": "hdb/texts", "model": "m", "sittings": []}
    (run / "run.json").write_text(json.dumps(record))
    return Shards.made(run, JOBS, (each.line() for each in questions), 4)


def answer(item, text="{}") -> WrittenAnswer:
    return {"id": item, "text": text}


def says(shards, rank, state, answered) -> None:
    said = RankState(
        state=state, host="far", pid=7, started="", updated="", items=2, answered=answered
    )
    shards.say(rank, said)


def taken(rank, folder):
    folder.mkdir()
    return Remote(STORAGE, JOBS.id).take(rank, folder)


def recorded(path):
    return [each["id"] for each in read_answers(path)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "say how long a job may take, as in --engine-option timeout=6h"),
        ({"timeout": "long"}, "say how long a job may take"),
        ({"timeout": "6h"}, "say where the jobs find their parts"),
        (OPTIONS | {"storage": "file:///tmp/x"}, "say where the jobs find their parts"),
        (OPTIONS | {"storage": "hf://datasets/me/cards"}, "a private bucket on the Hub"),
        (OPTIONS | {"storage": "s3://key:secret@cards"}, "without keys"),
        (OPTIONS | {"storage": "s3://cards/x?sig=1"}, "without keys"),
        (OPTIONS | {"storage": "simplecache::s3://cards"}, "say where the jobs find their parts"),
        (OPTIONS | {"flavour": "l4x1"}, "flavour: choose one of flavor, image"),
        (OPTIONS | {"token": "hf_x"}, "token: choose one of"),
        (OPTIONS | {"namespace": "me/you"}, "namespace: must be the name of"),
        (OPTIONS | {"env": "x"}, "env: choose one of"),
        (OPTIONS | {"tasks_per_job": "two"}, "tasks_per_job=two: must be a whole number"),
        (OPTIONS | {"secrets": "NO_SUCH_KEY"}, "NO_SUCH_KEY is not set in the environment"),
    ],
)
def test_options_that_jobs_do_not_have_are_refused(options, said):
    with pytest.raises(HdbenchError) as error:
        jobs_options(options)
    assert said in str(error.value)


def test_options_have_the_types_of_their_parameters(monkeypatch):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    given = {"flavor": "l4x1", "max_retries": "3", "namespace": "library"}
    chosen = jobs_options(OPTIONS | given | {"secrets": "HDBENCH_API_KEY"})
    assert (chosen.timeout, chosen.flavor, chosen.max_retries) == ("6h", "l4x1", 3)
    assert chosen.namespace == "library"
    assert chosen.passed() == {"HDBENCH_API_KEY": KEY}
    assert jobs_options(OPTIONS).passed() == {}  # though there is one in the environment


def test_jobs_get_what_hdbench_its_backend_and_the_storage_need():
    chosen = jobs_options(OPTIONS)
    needed = chosen.needed(BACKENDS["endpoint"])
    names = {re.match(r"[\w-]+", each)[0] for each in needed}
    assert {"datatrove", "httpx2", "fsspec", "gcsfs"} <= names
    assert names.isdisjoint({"hdbench", "torch", "gradio", "pytest"})
    assert any(re.fullmatch(r"datatrove[<>=.,0-9]+", each) for each in needed)
    local = {re.match(r"[\w-]+", each)[0] for each in chosen.needed(BACKENDS["transformers"])}
    assert local - names >= {"torch", "transformers"}
    own = jobs_options(OPTIONS | {"dependencies": "a@git+https://h/x gcsfs"})
    assert own.needed(BACKENDS["endpoint"]) == ["a@git+https://h/x", "gcsfs"]


def test_the_wheel_is_one_and_has_this_hdbench(tmp_path):
    with zipfile.ZipFile(io.BytesIO(make_wheel())) as wheel:
        wheel.extractall(tmp_path)
        [record] = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert [name for name, *_ in rows] == wheel.namelist()
        for name, hashed, size in rows[:-1]:
            data = wheel.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            assert (hashed, size) == (f"sha256={digest.decode()}", str(len(data)))
    [found] = importlib.metadata.distributions(name="hdbench", path=[str(tmp_path)])
    assert found.version == importlib.metadata.version("hdbench")
    assert [each.value for each in found.entry_points if each.name == "hdbench"]
    package = Path(hdbench.__file__).parent
    same = "locale/de/LC_MESSAGES/hdbench.mo"
    assert (tmp_path / "hdbench" / same).read_bytes() == (package / same).read_bytes()
    assert not [*tmp_path.rglob("*.po")]


def test_what_jobs_could_not_read_or_anybody_could_is_refused(tmp_path, monkeypatch, hub, storage):
    write_texts(tmp_path, 4)
    monkeypatch.chdir(tmp_path)
    benchmark = load_benchmark("hdb/texts")
    plan = RunPlan(benchmark, of_benchmark(benchmark), Asked("m", endpoint=ENDPOINT))
    hub.add("buckets", "hdb/open")
    hub.add("buckets", "hdb/closed", private=True)
    with pytest.raises(HdbenchError, match="hdb/open: is public"):
        check_jobs(plan, OPTIONS | {"storage": "hf://buckets/hdb/open/runs"}, Path())
    for bucket in ("closed", "new"):
        check_jobs(plan, OPTIONS | {"storage": f"hf://buckets/hdb/{bucket}"}, Path())
    hub.fail("GET /api/buckets", status=403)
    with pytest.raises(HdbenchError, match="does not say whether it is private"):
        check_jobs(plan, OPTIONS | {"storage": "hf://buckets/hdb/closed"}, Path())
    (tmp_path / "model").mkdir()
    with pytest.raises(HdbenchError, match="do not see the folder model"):
        check_jobs(RunPlan(benchmark, plan.choice, Asked("model")), OPTIONS, Path())
    stored = plan.choice._replace(questions=[Question("1", [InShard("a.tar", "1.jpg", 0, 9)])])
    with pytest.raises(HdbenchError, match=r"do not see a\.tar"):
        check_jobs(RunPlan(benchmark, stored, plan.asked), OPTIONS, Path())
    monkeypatch.setenv("HDBENCH_JOB", "0")
    with pytest.raises(HdbenchError, match="this is a job itself"):
        check_jobs(plan, OPTIONS, Path())
    monkeypatch.delenv("HDBENCH_JOB")
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    with pytest.raises(HdbenchError, match="hf auth login"):
        check_engine(plan, Engine("jobs", 2, options=OPTIONS), tmp_path / "run")


def test_what_leaves_the_machine_is_said_before(shards, hub, tmp_path):
    questions = list(read_questions(shards.items(0)))
    assert uploads(questions, "hf://buckets/hdb/closed") == (
        "2 questions and 2 files (0.0 MB) go to hf://buckets/hdb/closed, private"
    )
    assert uploads([], STORAGE).endswith("go to gs://cards/work; make sure it is private")


def test_a_dry_run_says_where_everything_goes(tmp_path, monkeypatch, hub):
    write_texts(tmp_path, 4)
    monkeypatch.chdir(tmp_path)
    hub.add("buckets", "hdb/closed", private=True)
    command = ["run", "hdb/texts", "--model", "org/reader", "--dry-run", "--engine", "jobs"]
    command += ["--tasks", "2", "--engine-option", "timeout=6h"]
    command += ["--engine-option", "storage=hf://buckets/hdb/closed"]
    said = CliRunner().invoke(app, command).stdout.splitlines()
    assert "the items go to: Hugging Face; org/reader runs there" in said
    assert said[-1] == (
        "engine: jobs, 2 tasks, as many as there is room for; 4 questions and 0 files (0.0 MB) go "
        "to hf://buckets/hdb/closed, private"
    )
    assert not (tmp_path / "runs").exists()


def test_a_rank_gets_its_questions_and_images_alone(shards, storage, tmp_path):
    Remote(STORAGE, JOBS.id).give(shards, {})
    there = taken(1, tmp_path / "there")
    questions = list(read_questions(there.items(1)))
    assert [(each.id, each.values) for each in questions] == [
        ("c", {"page": "c"}),
        ("d", {"page": "d"}),
    ]
    assert [each.media[0].read_bytes() for each in questions] == [b"image c", b"image d"]
    assert all(each.media[0].is_relative_to(tmp_path / "there") for each in questions)
    assert all(each.media[0].name == "card.jpg" for each in questions)
    assert there.is_open
    assert there.launch == JOBS
    assert not any(b"image a" in path.read_bytes() for path in (tmp_path / "there").rglob("*.jpg"))
    assert str(tmp_path).encode() not in storage.cat_file(f"{HERE}/00001.tar")


def test_an_image_that_is_missing_is_left_to_its_item(shards, storage, tmp_path):
    (tmp_path / "collection c/card.jpg").unlink()
    Remote(STORAGE, JOBS.id).give(shards, {})
    [missing, there] = read_questions(taken(1, tmp_path / "there").items(1))
    assert missing.id == "c"
    assert not missing.media[0].exists()
    assert there.media[0].read_bytes() == b"image d"


def test_restarted_rank_has_the_answers_that_were_kept(shards, storage, tmp_path):
    remote = Remote(STORAGE, JOBS.id)
    remote.give(shards, {})
    first = taken(0, tmp_path / "first")
    AnswersFile(first.answers(0)).add(answer("a"))
    remote.keep(first, 0)
    assert recorded(taken(0, tmp_path / "second").answers(0)) == ["a"]
    assert recorded(taken(1, tmp_path / "other").answers(1)) == []


def test_what_is_fetched_is_merged_and_the_storage_left_empty(shards, storage, hub, tmp_path):
    remote = Remote(STORAGE, JOBS.id)
    remote.give(shards, {})
    for rank, items in enumerate(("ab", "cd")):
        there = taken(rank, tmp_path / f"there {rank}")
        for item in items:
            AnswersFile(there.answers(rank)).add(answer(item))
            says(there, rank, "running", 1)
            remote.keep(there, rank)
            remote.fetch(shards)
        says(there, rank, "done", 2)
        remote.keep(there, rank)
    remote.fetch(shards)
    assert recorded(shards.answers(1)) == ["c", "d"]
    assert [shards.said(rank).state for rank in (0, 1)] == ["done", "done"]
    storage.pipe_file("gs://cards/work/other", b"somebody's")
    settle(shards.run)
    assert recorded(shards.run / "answers.jsonl") == ["a", "b", "c", "d"]
    assert not shards.path.exists()
    assert storage.find("gs://cards") == ["gs://cards/work/other"]


def test_truncated_copy_is_noticed_and_removes_nothing(shards, storage, hub, tmp_path, capsys):
    remote = Remote(STORAGE, JOBS.id)
    remote.give(shards, {})
    there = taken(0, tmp_path / "there")
    kept = AnswersFile(there.answers(0))
    kept.add(answer("a"))
    says(there, 0, "running", 1)
    remote.keep(there, 0)
    remote.fetch(shards)
    other = taken(1, tmp_path / "other")
    AnswersFile(other.answers(1)).append(
        [((json.dumps(answer(item)) + "\n").encode(), answer(item)) for item in "cd"]
    )
    says(other, 1, "done", 2)
    remote.keep(other, 1)
    # What is left of the first is half of a line, and of the second one line and a half.
    for rank, size in ((0, 12), (1, 40)):
        whole = storage.cat_file(f"{HERE}/{rank:05d}.jsonl")
        assert len(whole) > size
        storage.pipe_file(f"{HERE}/{rank:05d}.jsonl", whole[:size])
    storage.pipe_file(f"{HERE}/00000.json", b'{"state": "do')
    settle(shards.run)
    assert recorded(shards.run / "answers.jsonl") == ["a", "c"]
    assert "has 1 of 2 answers that were written to it: the others are asked again" in (
        capsys.readouterr().err
    )


def test_answers_of_a_rank_killed_before_reporting_are_fetched(shards, storage, hub, tmp_path):
    remote = Remote(STORAGE, JOBS.id)
    remote.give(shards, {})
    there = taken(0, tmp_path / "there")
    AnswersFile(there.answers(0)).add(answer("a"))
    remote.keep(there, 0)  # and it is killed
    settle(shards.run)
    assert recorded(shards.run / "answers.jsonl") == ["a"]


def test_damage_in_the_middle_is_named_and_nothing_is_removed(shards, storage, hub):
    Remote(STORAGE, JOBS.id).give(shards, {})
    storage.pipe_file(f"{HERE}/00001.jsonl", b'{"id": "c", "text": "{}"}\nx\n{"id": "d"}\n')
    with pytest.raises(HdbenchError, match=r"hdbench-0123abcd/00001.jsonl:2: damaged"):
        settle(shards.run)
    assert storage.exists(f"{HERE}/00001.jsonl")
    assert shards.is_open


def test_a_run_whose_jobs_are_there_is_not_merged(shards, storage, hub):
    Remote(STORAGE, JOBS.id).give(shards, {})
    owner = {"id": "1", "name": "hdb", "type": "org"}
    labels = {"datatrove_job_name": JOBS.job}
    for number, stage in enumerate(("COMPLETED", "RUNNING", "SCHEDULING", "ERROR")):
        about = {"id": f"j{number}", "owner": owner, "labels": labels}
        hub.jobs.append(about | {"status": {"stage": stage}})
    hub.jobs.append({"id": "other", "owner": owner, "labels": {}, "status": {"stage": "RUNNING"}})
    with pytest.raises(HdbenchError, match="2 of its jobs are still at Hugging Face") as error:
        settle(shards.run)
    stop = "hf jobs cancel --namespace hdb"
    assert str(error.value).endswith(f"to stop them: {stop} j1; {stop} j2")
    hub.fail("GET /api/jobs", status=403)
    with pytest.raises(HdbenchError, match="does not say whether jobs"):
        settle(shards.run)
    assert shards.is_open


def test_a_storage_that_cannot_be_written_leaves_nothing_behind(shards, storage, hub, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError("no space there")

    monkeypatch.setattr(Storage, "pipe_file", full)
    with pytest.raises(HdbenchError, match="no space there: nothing was launched"):
        run_jobs(shards, OPTIONS, None)
    assert not shards.path.exists()
    assert storage.find("gs://cards") == []


def test_a_rank_there_asks_and_keeps_its_answers_and_no_key(tmp_path, storage, monkeypatch):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    run = tmp_path / "run"
    run.mkdir()
    with Counting() as server:
        launch = JOBS.model_copy(update={"asked": Asked(model="m", endpoint=server.url)})
        lines = [Question(item, [], f"text <{item}>").line() for item in ids_of(4)]
        shards = Shards.made(run, launch, lines, 4)
        remote = Remote(STORAGE, JOBS.id)
        remote.give(shards, {})
        ask_there(STORAGE, JOBS.id, 1)
        ask_there(STORAGE, JOBS.id, 1)  # started again
        assert sorted(server.started.items()) == [("000002", 1), ("000003", 1)]
    remote.fetch(shards)
    assert sorted(recorded(shards.answers(1))) == ["000002", "000003"]
    said = shards.said(1)
    assert (said.state, said.answered) == ("done", 2)
    assert shards.said(0) is None
    assert not any(KEY.encode() in storage.cat_file(path) for path in storage.find("gs://cards"))


JOB = """
import runpy, sys
import fsspec
from fsspec.implementations.local import LocalFileSystem

class Storage(LocalFileSystem):
    protocol = "gs"

    @classmethod
    def _strip_protocol(cls, path):
        return str(path).replace("gs://", f"{BASE}/")

BASE, script, *sys.argv[1:] = sys.argv[1:]
fsspec.register_implementation("gs", Storage, clobber=True)
runpy.run_path(script, run_name="__main__")
import hdbench
print(hdbench.__file__)
"""


class Machines:
    """Jobs as processes of this machine that see no checkout; the first one dies at once."""

    def __init__(self, storage: Path) -> None:
        self._storage = storage
        self.jobs: list[SimpleNamespace] = []

    def run_uv_job(self, script, *, script_args, env, secrets, labels, **about):
        assert labels == {"datatrove_job_name": JOBS.job}
        assert (about["timeout"], about["flavor"]) == ("6h", "cpu-basic")
        # Without `site`, there is nothing that an editable installation puts on the path.
        paths = [each for each in sys.path if Path(each).name == "site-packages"]
        path = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)}
        dies = [] if self.jobs else ["--no-such-option"]
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", JOB, str(self._storage), script, *script_args, *dies],
            cwd=self._storage,
            env=path | env | {name: value for name, value in secrets.items() if value},
            stdout=(self._storage / "packages").open("ab"),
        )
        self.jobs.append(SimpleNamespace(id=str(len(self.jobs)), process=process))
        return self.jobs[-1]

    def inspect_job(self, *, job_id, namespace):
        assert namespace is None
        status = self.jobs[int(job_id)].process.poll()
        stage = {None: "RUNNING", 0: "COMPLETED"}.get(status, "ERROR")
        return SimpleNamespace(status=SimpleNamespace(stage=stage))


@pytest.mark.nightly
def test_jobs_run_the_given_hdbench_and_are_restarted(tmp_path, monkeypatch):
    there = tmp_path / "there"
    there.mkdir()

    class OnDisk(LocalFileSystem):
        protocol = "gs"

        @classmethod
        def _strip_protocol(cls, path):
            return str(path).replace("gs://", f"{there}/")

    fsspec.register_implementation("gs", OnDisk, clobber=True)
    (there / f"cards/work/hdbench-{JOBS.id}").mkdir(parents=True)
    machines = Machines(there)
    for name in ("run_uv_job", "inspect_job"):
        monkeypatch.setattr(huggingface_hub, name, getattr(machines, name))
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    run = tmp_path / "run"
    run.mkdir()
    options = OPTIONS | {"secrets": "HDBENCH_API_KEY", "poll_interval": "1", "tasks_per_job": "2"}
    with Counting() as server:
        asked = Asked(model="m", endpoint=server.url)
        launch = JOBS.model_copy(update={"asked": asked, "namespace": None, "tasks": 3})
        lines = [Question(item, [], f"text <{item}>").line() for item in ids_of(3)]
        shards = Shards.made(run, launch, lines, 3)
        assert run_jobs(shards, options, 1) == RanksEnd()
        assert dict(server.started) == dict.fromkeys(ids_of(3), 1)
    assert len(machines.jobs) == 3  # two of them for the first two ranks
    assert [recorded(shards.answers(rank)) for rank in range(3)] == [[item] for item in ids_of(3)]
    packages = (there / "packages").read_text().splitlines()
    assert len(packages) == 2
    assert all("/wheel-" in path and not Path(path).exists() for path in packages)
    kept = [path.read_bytes() for path in there.rglob("*") if path.is_file()]
    assert any(path.name == "hdbench.whl" for path in there.rglob("*"))
    assert not any(KEY.encode() in each for each in kept)


def test_a_rank_whose_launch_is_over_asks_nothing(storage):
    with pytest.raises(HdbenchError, match="hdbench-0123abcd: there is no such file"):
        ask_there(STORAGE, JOBS.id, 0)


def test_the_status_fetches_what_ranks_say(shards, storage, hub, tmp_path):
    remote = Remote(STORAGE, JOBS.id)
    remote.give(shards, {})
    there = taken(0, tmp_path / "there")
    AnswersFile(there.answers(0)).add(answer("a"))
    says(there, 0, "stopped", 1)
    remote.keep(there, 0)
    said = CliRunner().invoke(app, ["status", str(shards.run)]).stdout.splitlines()
    assert said[0] == f"{shards.run}: 1 of 4 items answered"
    assert "engine jobs, 2 tasks: 1 waiting, 1 stopped" in said
    assert recorded(shards.answers(0)) == ["a"]


def test_foreign_run_folder_cannot_point_to_local_files():
    for storage in ("file:///etc", "http://10.0.0.1/x", "local:///x", "s3://a/b::file:///etc"):
        with pytest.raises(ValueError, match="pattern"):
            Launch.model_validate(JOBS.model_dump() | {"storage": storage})
