"""Runs that are started in the home: processes of their own, known by their files."""

import json
import subprocess
import sys
import time
from collections import Counter

import httpx
import pytest
from helpers.waiting import until
from home.asking import picture
from home.collections import make_collection
from home.served import ServedHome
from models.faulty_server import FaultyServer, Response, completion

from hdbench.collections.home.collection import opened
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.slow

RUN = "cards_some-model"
READ = completion(json.dumps({"titel": "Faust", "jahr": 1808}))


@pytest.fixture
def collection(tmp_path):
    return opened(make_collection(tmp_path))


def view(collection):
    (run,) = collection.runs.views()
    return run


def test_run_is_stopped_and_goes_on_without_asking_twice(collection):
    asked = Counter()
    is_stuck = True

    def respond(request):
        asked[request.images[0]] += 1
        return Response(READ, seconds=None if is_stuck and len(asked) > 2 else 0)

    with FaultyServer(respond) as server:
        run = collection.runs.start("some-model", server.url, "en")
        until(lambda: view(collection).answered == 2, "the run")
        assert (view(collection).is_going, view(collection).can_stop) == (True, True)
        with pytest.raises(HdbenchError, match="still running: stop it first"):
            collection.runs.remove(run.name)
        with pytest.raises(HdbenchError, match="already running"):
            collection.runs.resume(run.name, "en")
        collection.runs.stop(run.name)
        until(lambda: not view(collection).is_going, "the end of the run")
        is_stuck = False
        answered = view(collection).answered
        collection.runs.resume(run.name, "en")
        until(lambda: view(collection).is_whole, "the rest of the run")
    assert answered == 2
    assert view(collection).answered == 4
    assert sorted(asked.values())[:2] == [1, 1]
    assert json.loads((run / "run.json").read_text())["benchmark"] == "hdb/cards"


def test_key_that_was_typed_is_sent_and_never_written(collection, tmp_path):
    with FaultyServer(lambda _: Response(READ)) as server:
        run = collection.runs.start("some-model", server.url, "en", "sk-typed")
        until(lambda: view(collection).is_whole, "the run")
        assert {dict(r.headers)["authorization"] for r in server.requests} == {"Bearer sk-typed"}
    assert run.is_dir()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-typed" not in path.read_bytes()


def test_run_survives_the_server_that_started_it(collection, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    is_stuck = True

    def respond(_):
        while is_stuck:
            time.sleep(0.05)
        return Response(READ)

    with FaultyServer(respond) as server:
        served = ServedHome(tmp_path, 0, collection.folder)
        form = {"kind": "server", "endpoint": server.url, "model": "some-model"}
        origin = served.url[: served.url.index("/", len("http://"))]
        told = httpx.post(
            f"{served.url}runs/start", data=form, headers={"origin": origin}, timeout=300
        )
        assert told.status_code == 303
        until(lambda: server.requests, "the first request")
        served.kill()
        assert view(collection).is_going
        is_stuck = False
        until(lambda: view(collection).is_whole, "the run")
    assert view(collection).answered == 4


def test_a_dropped_file_without_a_field_of_the_collection_is_refused(collection, tmp_path):
    ids = [each.state.item for each in collection.progress().items]
    given = tmp_path / "given.jsonl"
    for key, refused in (("colour", True), ("Titel", False)):
        lines = [json.dumps({"id": each, "prediction": {key: "a"}}) for each in ids]
        given.write_text("\n".join(lines))
        if refused:
            with pytest.raises(
                HdbenchError, match=r"given.jsonl: .* share no field .* colour, and"
            ):
                collection.runs.add(given, "given.jsonl")
            assert collection.runs.views() == []
        else:
            collection.runs.add(given, "given.jsonl")
            assert view(collection).answered == len(ids)


def test_run_that_cannot_begin_says_why(collection):
    run = collection.runs.start("some-model", "http://127.0.0.1:9/v1", "de")
    until(lambda: not view(collection).is_going, "the end of the run")
    assert not run.exists()
    assert "http://127.0.0.1:9/v1: nicht erreichbar" in view(collection).problem
    collection.runs.remove(run.name)
    assert collection.runs.views() == []


def test_run_file_of_a_stranger_stops_nothing(collection):
    runs = collection.beside / "runs"
    runs.mkdir()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        about = {"pid": other.pid, "model": "some-model"}
        (runs / f".{RUN}.pid").write_text(json.dumps(about))
        collection.runs.stop(RUN)
        assert not view(collection).is_going
        other.communicate(b"\n")
        assert other.returncode == 0
    (runs / f".{RUN}.pid").write_text("{}")
    with pytest.raises(HdbenchError, match="was not started here"):
        collection.runs.resume(RUN, "en")


def test_data_that_runs_have_answered_keep_their_version(collection):
    first = collection.ensure_built()
    assert collection.is_built()
    rows = (collection.folder / "metadata.jsonl").read_text()
    (collection.folder / "metadata.jsonl").write_text(rows.replace("Titel 0", "Faust"))
    assert not collection.is_built()
    collection.ensure_built()
    assert "version: 1.0.1" in (first / "benchmark.yaml").read_text()
    assert "## 1.0.1" in (collection.folder / "CHANGELOG.md").read_text()
    assert "Faust" in (first / "metadata.jsonl").read_text()


def test_collection_with_errors_is_not_built(collection):
    with (collection.folder / "metadata.jsonl").open("a") as file:
        file.write('{"file_name": "images/none.png", "id": "x", "ground_truth": null}\n')
    with pytest.raises(HdbenchError, match=r"images/none\.png"):
        collection.ensure_built()


def test_run_asks_about_added_items_alone(collection):
    asked = Counter()

    def respond(request):
        asked[request.images[0]] += 1
        return Response(READ)

    with FaultyServer(respond) as server:
        run = collection.runs.start("some-model", server.url, "en")
        until(lambda: view(collection).is_whole, "the run")
        add(collection, "red")
        grown = view(collection)
        assert (grown.answered, grown.items, grown.is_whole) == (4, 5, False)
        collection.runs.resume(run.name, "en")
        until(lambda: view(collection).is_whole, "the answer to the new item")
    assert sorted(asked.values()) == [1] * 5
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["dataset"]["version"] == "1.0.1"
    versions = [sitting["dataset"]["version"] for sitting in recorded["sittings"]]
    assert versions == ["1.0.0", "1.0.1"]


def test_run_whose_items_are_others_now_is_not_resumed(collection):
    with FaultyServer(lambda _: Response(READ)) as server:
        run = collection.runs.start("some-model", server.url, "en")
        until(lambda: view(collection).is_whole, "the run")
        (collection.folder / "images/c1.png").write_bytes(picture("green"))
        add(collection, "red")
        collection.runs.resume(run.name, "en")
        until(lambda: not view(collection).is_going, "the end of the run")
    assert "the items of version 1.0.1 are others" in view(collection).problem
    assert view(collection).answered == 4


def add(collection, color):
    """Another item, as the page adds it."""
    (collection.folder / "images/new.png").write_bytes(picture(color))
    with (collection.folder / "metadata.jsonl").open("a") as file:
        row = {"file_name": "images/new.png", "id": "new", "ground_truth": None}
        file.write(json.dumps(row) + "\n")
