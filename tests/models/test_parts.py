"""A run in parts: asked by `--part` and by an engine, and read as one run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from helpers.results import flat_of
from helpers.waiting import until
from models.faulty_server import FaultyServer, Response, completion
from models.many_texts import Counting, Run, asking, write_texts

CARDS = [f"sample-{number:02}" for number in range(1, 9)]
ANSWER = json.dumps({"publication": {"year": 1898}})


def lines(folder):
    """The lines of answers, without how long they took."""
    parts = sorted(folder.glob("part-*/answers.jsonl")) or [folder / "answers.jsonl"]
    answers = [json.loads(line) for path in parts for line in path.read_text().splitlines()]
    return [
        json.dumps({key: value for key, value in each.items() if key != "seconds"})
        for each in answers
    ]


@pytest.fixture
def served():
    with FaultyServer(lambda _: Response(completion(ANSWER))) as server:
        yield server


@pytest.fixture
def run(served):
    """The command, asking one item after the other so that the answers are in order."""
    run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", served.url)
    return (*run, "--option=concurrency=1")


def scored(hdbench, here, run):
    done = hdbench("score", "hdb/zettelkatalog", run, "--json", "r.json")
    assert done.returncode == 0, done.stderr
    result = flat_of(here / "r.json")
    return {
        key: result[key] for key in ("items", "unanswered", "figures", "columns") if key in result
    }


def test_parts_are_together_what_one_run_is(here, hdbench, run):
    assert hdbench(*run, "-o", "whole").returncode == 0
    for part in ("1/3", "3/3", "2/3"):
        done = hdbench(*run, "-o", "parts", "--part", part)
        assert done.returncode == 0, done.stderr
    sizes = [
        len(path.read_text().splitlines()) for path in sorted(here.glob("parts/*/answers.jsonl"))
    ]
    assert sizes == [2, 3, 3]
    assert lines(here / "parts") == lines(here / "whole")
    assert scored(hdbench, here, "parts") == scored(hdbench, here, "whole")
    for command in (("report", "parts", "-o", "report"), ("leaderboard", "parts")):
        done = hdbench(*command)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    compared = hdbench("compare", "parts", "whole")
    assert compared.returncode == 0, compared.stderr


@pytest.mark.nightly
def test_parts_of_own_images_and_of_some_items_are_together_those_items(here, hdbench, run):
    rows = (here / "hdb/zettelkatalog/metadata.jsonl").read_text().splitlines()
    (here / "mine").mkdir()
    for row in map(json.loads, rows):
        shutil.copyfile(
            here / "hdb/zettelkatalog" / row["file_name"], here / f"mine/{row['id']}.jpg"
        )
    for out, options in (("own", ("--images", "mine")), ("some", ("--limit", "5"))):
        for part in ("1/2", "2/2"):
            done = hdbench(*run, *options, "-o", out, "--part", part)
            assert done.returncode == 0, done.stderr
        hdbench(*run, *options, "-o", f"whole-{out}")
        assert scored(hdbench, here, out) == scored(hdbench, here, f"whole-{out}")


def test_a_part_that_is_missing_or_not_finished_is_said_with_its_number(here, hdbench, run):
    assert hdbench(*run, "-o", "parts", "--part", "1/3").returncode == 0
    assert hdbench(*run, "-o", "parts", "--part", "2/3").returncode == 0
    path = here / "parts/part-2-of-3/answers.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    done = hdbench("score", "hdb/zettelkatalog", "parts")
    told = " ".join((done.stdout + done.stderr).split())
    assert "parts: part 2 of 3 is not finished: 1 of 3 items are answered" in told
    assert "parts: part 3 of 3 is missing" in told


def test_parts_that_do_not_belong_together_are_refused(here, hdbench, run):
    assert hdbench(*run, "-o", "parts", "--part", "1/3").returncode == 0
    for options, message in (
        (
            ("--part", "1/2"),
            "part-1-of-3: was started with other settings (part.of: 3 then, 2 now)",
        ),
        (("--part", "2/3", "--option", "seed=7"), "settings.decoding.seed: null then, 7 now"),
        ((), "holds 'part-1-of-3' and is not a run"),
        (("--part", "9/9"), "9 parts of 8 items: make fewer"),
        (("--part", "3/2"), "--part 3/2: must be such as 2/16"),
    ):
        done = hdbench(
            *run, *(("--limit", "8") if "9/9" in options else ()), "-o", "parts", *options
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (options, done.stderr)
        assert message in done.stderr or "9/9" in options, done.stderr
    shutil.copytree(here / "parts/part-1-of-3", here / "parts/part-1-of-4")
    done = hdbench("score", "hdb/zettelkatalog", "parts")
    assert "holds part-1-of-3 and part-1-of-4" in done.stderr


def test_a_part_that_is_killed_goes_on_and_only_one_process_asks_it(here, hdbench):
    held = threading.Event()

    def respond(_request):
        if len(server.requests) > 2:
            held.wait()
        return Response(completion(ANSWER))

    with FaultyServer(respond) as server:
        run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url)
        run = (*run, "--option=concurrency=1", "-o", "parts", "--part", "1/2")
        first = subprocess.Popen([sys.executable, "-m", "hdbench", *run], cwd=here, env=os.environ)
        answers = here / "parts/part-1-of-2/answers.jsonl"
        until(lambda: answers.exists() and answers.read_bytes().count(b"\n") == 2)
        second = hdbench(*run)
        assert second.returncode == 2
        assert "part-1-of-2: another hdbench is writing to this folder" in second.stderr
        first.kill()
        first.wait()
        recorded = answers.read_bytes()
        held.set()
        done = hdbench(*run)
    assert done.returncode == 0, done.stderr
    assert answers.read_bytes().startswith(recorded)
    assert [json.loads(line)["id"] for line in answers.read_text().splitlines()] == CARDS[:4]


@pytest.mark.nightly
def test_a_local_engine_asks_all_parts_and_later_only_what_is_missing(here, hdbench, run, served):
    key = {"HDBENCH_API_KEY": "sk-sentinel-1234"}
    command = (*run, "-o", "parts", "--engine", "local", "--tasks", "3")
    done = hdbench(*command, **key)
    assert done.returncode == 0, done.stderr
    assert "parts: 8 of 8 items answered" in done.stdout
    assert hdbench(*run, "-o", "whole").returncode == 0
    assert lines(here / "parts") == lines(here / "whole")
    asked = len(served.requests)
    assert {request.headers["authorization"] for request in served.requests[:8]} == {
        "Bearer sk-sentinel-1234"
    }
    files = [path.read_bytes() for path in (here / "parts").rglob("*") if path.is_file()]
    assert not any(b"sentinel" in data for data in files)
    shutil.rmtree(here / "parts/part-2-of-3")
    done = hdbench(*command, **key)
    assert done.returncode == 0, done.stderr
    assert len(served.requests) == asked + 3


@pytest.mark.nightly
def test_an_engine_says_which_parts_are_not_finished(here, hdbench):
    with FaultyServer(lambda _: Response("no", status=401)) as server:
        run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url, "-o", "parts")
        done = hdbench(*run, "--engine", "local", "--tasks", "2")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "error: parts: not finished: part-1-of-2, part-2-of-2: 0 of 8 items are recorded; what "
        "they printed says why; run again: the command asks what is missing"
    )
    assert "1/2: error: " in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "jobs", "--tasks", "2"), "--engine jobs: choose one of local, slurm"),
        (("--engine", "local"), "--engine and --tasks: give both"),
        (("--engine", "local", "--tasks", "2", "--part", "1/2"), "an engine starts all parts"),
        (("--engine", "local", "--tasks", "9"), "9 parts of 8 items"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(here, hdbench, run, options, message):
    done = hdbench(*run, "-o", "parts", *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr


def test_an_address_with_a_secret_is_not_written_by_an_engine(here, hdbench):
    for address in ("http://me:secret@localhost/v1", "http://localhost/v1?key=secret"):
        run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", address, "-o", "parts")
        done = hdbench(*run, "--engine", "local", "--tasks", "2")
        assert "must not hold a password or a query" in done.stderr
        assert "secret" not in done.stderr
    assert not (here / "parts").exists()


@pytest.mark.nightly
@pytest.mark.parametrize("who", ["a part", "the engine"])
def test_a_local_engine_that_is_killed_goes_on_and_asks_no_item_a_third_time(tmp_path, who):
    write_texts(tmp_path, 80)
    with Counting() as server:
        run = Run(tmp_path, server.url)
        server.hold()
        engine = run.start("--engine", "local", "--tasks", 2)
        until(lambda: run.recorded() >= 8, what="the first answers")
        killed = asking("1/2") if who == "a part" else [engine.pid]
        for process in killed:
            os.kill(process, signal.SIGKILL)
        server.release()
        assert engine.wait(300) != 0
        if who == "a part":
            assert "not finished: part-1-of-2: " in run.log
        done = run.run("--engine", "local", "--tasks", 2)
        assert done.returncode == 0, done.stderr
        run.check_whole(80)
        assert max(server.started.values()) <= 2
        assert len(server.again) <= 8
