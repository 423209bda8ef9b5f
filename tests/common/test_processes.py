"""What lies in the folder that somebody works in is data: nothing of it is run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from gradio_client import handle_file
from helpers.run_folders import write_cards
from helpers.waiting import until
from home.collections import make_collection
from models.faulty_server import FaultyServer, Response, completion
from PIL import Image, ImageDraw, ImageFont
from space.servers import free_port, wait_for_client

from hdbench.collections.home.collection import opened
from hdbench.common import processes
from hdbench.space.context import SpaceContext
from hdbench.space.model_runs import GOING, Ended, ask, run_on_items, watched

HDBENCH = str(Path(sys.executable).with_name("hdbench"))
MODULES = ("json", "multiprocessing", "pickle", "sitecustomize", "subprocess", "typer", "yaml")
PROGRAMS = ("nvidia-smi", "python", "python3", "sbatch", "tesseract")
READ = completion(json.dumps({"titel": "Faust", "jahr": 1808}))


@pytest.fixture
def hostile(tmp_path):
    """A folder of modules and programs which say, in a folder beside it, that they were run."""
    folder, marks = tmp_path / "here", tmp_path / "marks"
    for place in (folder / "hdbench", folder / "datatrove", marks):
        place.mkdir(parents=True)
    own = [f"hdbench/{name}" for name in ("__init__", "__main__")]
    for name in (*own, "datatrove/__init__", *MODULES):
        mark = marks / name.replace("/", ".")
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\ntouch '{marks / name}'\n")
        (folder / name).chmod(0o755)
    yield folder
    assert [mark.name for mark in marks.iterdir()] == []


@pytest.fixture
def told(tmp_path):
    """The environment of a person who has the working folder on their PATH."""
    path = os.pathsep.join([".", "", os.environ["PATH"]])
    return os.environ | {"PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")}


def served(hostile, told, *arguments):
    """A command that serves a page, and its address."""
    command = [HDBENCH, *arguments, "--port", str(free_port())]
    server = subprocess.Popen(command, cwd=hostile, env=told, stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def test_a_child_gets_no_keys_and_only_absolute_folders(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", os.environ["PATH"]]))
    monkeypatch.setenv("HDBENCH_API_KEY", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("HF_HOME", "/cache")
    command = ["python", "-c", "import os; print(os.getcwd(), dict(os.environ))"]
    (tmp_path / "python").write_text("#!/bin/sh\necho hostile\n")
    (tmp_path / "python").chmod(0o755)
    printed = processes.run(command, variables={"OMP_THREAD_LIMIT": "1"}).stdout.decode()
    assert printed.startswith("/ {")
    assert "secret" not in printed
    assert "'HF_HOME': '/cache'" in printed
    assert "'OMP_THREAD_LIMIT': '1'" in printed
    with processes.start(command, asks_servers=True, stdout=processes.PIPE) as asking:
        printed = asking.stdout.read().decode()
    assert "'HDBENCH_API_KEY': 'secret'" in printed
    assert "AWS" not in printed
    with pytest.raises(FileNotFoundError, match="not-there"):
        processes.run(["not-there"])


@pytest.mark.slow
@pytest.mark.needs("tesseract")
def test_scoring_and_running_run_nothing_of_the_folder(hostile, told):
    write_cards(hostile)
    (hostile / "answers.jsonl").write_text('{"id": "0000", "prediction": {"year": 1924}}\n')
    (hostile / "hdb/cards/prompt.txt").write_text("Read the card.")
    (hostile / "images").mkdir()
    for number in (1, 2):
        image = Image.new("L", (400, 100), 255)
        ImageDraw.Draw(image).text((20, 20), "Basel 1912", 0, ImageFont.load_default(size=48))
        image.save(hostile / f"images/{number}.png")
    asked = ["run", "hdb/cards", "--model", "tesseract", "--images", "images", "--out"]
    for command in (
        ["score", "hdb/cards", "answers.jsonl"],
        [*asked, "one"],
        [*asked, "parts", "--engine", "local", "--tasks", "2"],
    ):
        done = subprocess.run([HDBENCH, *command], cwd=hostile, env=told, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()


@pytest.mark.nightly
def test_a_run_from_the_home_runs_nothing_of_the_folder(hostile, told):
    collection = opened(make_collection(hostile))
    with FaultyServer(lambda _: Response(READ)) as asked:
        server, url = served(hostile, told, "open", "--no-browser", collection.folder.name)
        form = {"kind": "server", "endpoint": asked.url, "model": "some-model"}
        origin = url[: url.index("/", len("http://"))]
        begun = httpx.post(f"{url}runs/start", data=form, headers={"origin": origin}, timeout=300)
        assert begun.status_code == 303
        until(lambda: any(run.is_whole for run in collection.runs.views()), "the run")
        server.terminate()
        server.wait(timeout=60)


@pytest.mark.nightly
@pytest.mark.needs("tesseract")
def test_a_space_runs_nothing_of_the_folder(hostile, told, sample):
    shutil.copytree(sample / "hdb", hostile / "hdb")
    server, url = served(hostile, told, "space", "--model", "tesseract")
    client = wait_for_client(url)
    answers = handle_file(sample / "hdb/zettelkatalog/example_predictions.jsonl")
    scored = client.predict("zettelkatalog", answers, api_name="/score")
    assert "f1_micro" in json.dumps(scored)
    server.terminate()
    server.wait(timeout=60)


@pytest.mark.nightly
def test_a_visitors_run_runs_nothing_of_the_folder(hostile, told, sample, tiny_model, monkeypatch):
    shutil.copytree(sample / "hdb", hostile / "hdb")
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("PATH", told["PATH"])
    context = SpaceContext(Path("hdb"), models=(str(tiny_model),))
    (hostile / GOING).touch()
    run = run_on_items(context, tiny_model.name, "zettelkatalog", 1, hostile)
    *_, last = ask(context, run, watched)
    assert (last.ended, len(last.answers)) == (Ended.ALL, 1)
