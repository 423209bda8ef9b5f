"""`hdbench run` as a person uses them, with a real model of random weights."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from random import Random

import pytest
from helpers.waiting import until
from models.faulty_server import FaultyServer, Response, completion
from models.many_texts import Counting, Run, write_texts

from hdbench.cli.app import main

CARDS = [f"sample-{number:02}" for number in range(1, 9)]


@pytest.fixture
def in_process(here, monkeypatch, capsys):
    """The command line in this process: each new one would import torch again."""
    monkeypatch.chdir(here)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hdbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code, told.out, told.err)

    return run


def answers(folder):
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]


def killed_in_the_middle(arguments, folder, cwd, **environment):
    """Start a run, and kill it as soon as two answers are recorded; what was recorded then."""
    with (cwd / "killed.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hdbench", *map(str, arguments)],
            cwd=cwd,
            env=os.environ | environment,
            stderr=log,
            stdout=log,
        )
        path = folder / "answers.jsonl"

        def has_two():
            assert process.poll() is None, (cwd / "killed.log").read_text()
            return path.exists() and path.read_bytes().count(b"\n") >= 2

        try:
            until(has_two, "the second answer")
        finally:
            process.kill()
            process.wait()
    return path.read_bytes()


def check_resumed(recorded, folder, done):
    """The run went on where it was killed: nothing lost, nothing asked twice."""
    assert done.returncode == 0, done.stderr
    whole = recorded[: recorded.rindex(b"\n") + 1]
    assert (folder / "answers.jsonl").read_bytes().startswith(whole)
    assert whole.count(b"\n") < len(CARDS)  # else it was not in the middle
    assert sorted(answer["id"] for answer in answers(folder)) == CARDS
    first, second = json.loads((folder / "run.json").read_text())["sittings"]
    assert first["ended"] is None
    assert second["ended"] is not None


@pytest.mark.nightly
def test_a_local_model_killed_in_the_middle_goes_on(here, in_process, tiny_model):
    run = ("run", "hdb/zettelkatalog", "--model", tiny_model, "-o", "runs/a")
    run = (*run, "--option", "max_new_tokens=150")
    recorded = killed_in_the_middle(run, here / "runs/a", here)
    check_resumed(recorded, here / "runs/a", in_process(*run))
    scored = in_process("score", "hdb/zettelkatalog", "runs/a", "--json", "a.json")
    assert scored.returncode == 0, scored.stderr
    result = json.loads((here / "a.json").read_text())
    assert sum(result["status"].values()) == 8
    assert result["usage"]["output_tokens"]["items"] == 8
    assert result["run"]["model"] == tiny_model.name


def test_a_server_run_killed_in_the_middle_goes_on(here, hdbench):
    answer = json.dumps({"publication": {"year": 1898}})
    key = {"HDBENCH_API_KEY": "sk-sentinel-1234"}
    killed = threading.Event()

    def respond(_request):
        if len(server.requests) > 3:
            killed.wait()
        return Response(completion(answer))

    with FaultyServer(respond) as server:
        run = ("run", "hdb/zettelkatalog", "--model", "served-model", "--endpoint", server.url)
        run = (*run, "-o", "runs/a", "--option", "concurrency=2")
        recorded = killed_in_the_middle(run, here / "runs/a", here, **key)
        killed.set()
        before = len(server.requests)
        done = hdbench(*run, **key)
        check_resumed(recorded, here / "runs/a", done)
        # At most what was in flight is asked again.
        assert len(server.requests) - before == len(CARDS) - recorded.count(b"\n")
    assert len(server.requests) <= len(CARDS) + 2
    shown = [image for request in server.requests for image in request.images]
    files = {path.read_bytes() for path in (here / "hdb/zettelkatalog/images").iterdir()}
    assert set(shown) == files
    kept = [path.read_text() for path in (here / "runs/a").iterdir()] + [done.stdout, done.stderr]
    assert not any("sentinel" in text for text in kept)


def test_what_is_no_answer_is_none_to_run_to_score_and_when_it_is_asked_again(here, hdbench):
    bodies = [
        completion("") | {"usage": {"cost": 0.5}},
        completion(" \n", "length"),
        completion(None, refusal="I cannot."),
        completion(None, "tool_calls", tool_calls=[{"id": "1"}]),
        completion(None, reasoning="Hm"),
        completion(),
    ]
    with FaultyServer(lambda _: Response(bodies.pop() if bodies else completion())) as server:
        run = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url, "-o", "a")
        done = hdbench(*run)
        assert "a: 3 of 8 items answered, 5 failed" in done.stdout
        scored = hdbench("score", "hdb/zettelkatalog", "a")
        assert "8 items: 3 answered, 5 unanswered, 0 unparsable" in scored.stdout, scored.stderr
        assert "a: 8 of 8 items answered" in hdbench(*run, "--retry-failed").stdout
    assert len(server.requests) == 8 + 5


@pytest.mark.nightly
def test_what_a_run_was_is_recorded(here, in_process, tiny_model):
    run = ("run", "hdb/zettelkatalog", "--model", tiny_model, "-o", "runs/a", "--limit", "2")
    run = (*run, "--option=max_new_tokens=5", "--option=seed=3", "--option=batch_size=2")
    done = in_process(*run, "--option=temperature=0.5")
    assert done.returncode == 0, done.stderr
    record = json.loads((here / "runs/a/run.json").read_text())
    prompt = (here / "hdb/zettelkatalog/prompt.txt").read_text()
    assert record["prompt"]["text"] == prompt
    assert record["items"] == CARDS[:2]
    assert record["subset"] == "the first 2, of 8 items"
    assert record["settings"]["decoding"] == {
        "max_new_tokens": 5,
        "temperature": 0.5,
        "top_p": None,
        "seed": 3,
        "schema": False,
    }
    assert record["sittings"][0]["hardware"]["torch"]
    assert str(here) not in json.dumps(record)
    assert all(answer["finish_reason"] == "length" for answer in answers(here / "runs/a"))
    other = in_process(*run, "--option=temperature=0.9")
    assert other.returncode == 2
    assert "settings.decoding.temperature: 0.5 then, 0.9 now" in other.stderr


def test_link_among_own_images_is_reported(here, in_process):
    (here / "mine").mkdir()
    image = next((here / "hdb/zettelkatalog/images").iterdir())
    shutil.copyfile(image, here / "mine/card1.jpg")
    (here / "mine/card2.jpg").symlink_to("card1.jpg")
    done = in_process(
        *("run", "hdb/zettelkatalog", "--images", "mine", "--model", "m", "--dry-run"),
        *("--endpoint", "http://127.0.0.1:9/v1"),
    )
    assert done.returncode == 0, done.stderr
    assert "note: 1 link, pipe or device is left out: card2.jpg: put the file" in done.stderr


@pytest.mark.nightly
def test_own_images_are_read_with_a_benchmarks_prompt(here, in_process, tiny_model):
    (here / "mine").mkdir()
    images = sorted((here / "hdb/zettelkatalog/images").iterdir())
    shutil.copyfile(images[0], here / "mine/card 1.jpg")
    (here / "mine/broken.jpg").write_bytes(b"no image")
    done = in_process(
        *("run", "hdb/zettelkatalog", "--images", "mine", "--model", tiny_model),
        *("--option", "max_new_tokens=5", "-o", "runs/mine"),
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 2 items answered, 1 failed" in done.stdout
    by_id = {answer["id"]: answer for answer in answers(here / "runs/mine")}
    assert "text" in by_id["card 1"]
    assert "broken.jpg" in by_id["broken"]["error"]
    scored = in_process("score", "hdb/zettelkatalog", "runs/mine")
    assert scored.returncode == 2
    assert "none of its own images has the id of an item of hdb/zettelkatalog" in scored.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hdb/nothing", "--model", "x"), "no benchmark here"),
        (("hdb/zettelkatalog", "--model", "x", "--option", "tempreature=1"), "temperature"),
        (("hdb/zettelkatalog", "--model", "x", "--option", "temperature=NaN"), "--option temp"),
        (("hdb/zettelkatalog", "--model", "x", "--option", "top_p=2"), "--option top_p: "),
        (("hdb/zettelkatalog", "--model", "x", "--option", "batch_size=0"), "batch_size: "),
        (("hdb/zettelkatalog", "--model", "x", "--prompt", "none.txt"), "none.txt: cannot be read"),
        (("hdb/zettelkatalog", "--model", "x", "--ids", "sample-99"), "no id 'sample-99'"),
        (("hdb/zettelkatalog", "--model", "gpt-4o"), "--endpoint https://api.mistral.ai/v1"),
        (("hdb/zettelkatalog", "--model", "gpt-4o", "--dry-run"), "give the server's address"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(here, hdbench, arguments, message):
    done = hdbench("run", *arguments, "-o", "runs/a", MISTRAL_API_KEY="key")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (here / "runs").exists()


@pytest.mark.nightly
def test_a_run_of_2000_items_that_is_killed_20_times_has_one_answer_to_each(tmp_path):
    """Asked more than once are at most the items that were under way when it was killed."""
    random = Random(2000)
    kills, at_once = 20, 4
    write_texts(tmp_path, 2000)
    with Counting(0.002) as server:
        run = Run(tmp_path, server.url)
        for _ in range(kills):
            begun, process = run.recorded(), run.start()
            until(lambda begun=begun: run.recorded() > begun, "an answer")
            time.sleep(random.random() * 0.3)
            assert process.poll() is None, run.log
            process.kill()
            process.wait()
            assert run.recorded() < 2000
        done = run.run()
    assert done.returncode == 0, done.stderr
    assert "2000 of 2000 items answered" in done.stdout
    run.check_whole(2000)
    assert len(server.again) <= kills * at_once
    assert set(server.started.values()) <= {1, 2, 3}
