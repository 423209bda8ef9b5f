"""Runs whose server is not there, or elsewhere the next time."""

import json
import socket
from contextlib import closing

import pytest
from models.faulty_server import FaultyServer, Response, completion
from models.many_texts import Run, write_texts

pytestmark = pytest.mark.nightly


@pytest.fixture
def dead():
    """The address of a port where nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def record(run):
    return json.loads((run.folder / "run.json").read_text())


def test_a_mistyped_port_leaves_nothing_behind(tmp_path, dead):
    write_texts(tmp_path, 3)
    before = set(tmp_path.rglob("*"))
    refused = Run(tmp_path, dead).run()
    assert refused.returncode == 2
    assert "is the server running, and is the address right?" in refused.stderr
    assert set(tmp_path.rglob("*")) == before
    refused = Run(tmp_path, dead).run("-o", "deep/er/r")
    assert refused.returncode == 2
    assert "is the server running" in refused.stderr
    assert set(tmp_path.rglob("*")) == before
    with FaultyServer(models=["m"]) as server:
        done = Run(tmp_path, server.url).run()
    assert done.returncode == 0, done.stderr


def ended_early(tmp_path, served):
    """A run of which a few items were answered before its server refused the others."""

    def respond(request):
        if len(server.requests) > 3:
            return Response({"error": "no more credit"}, 402)
        return Response(completion("{}"))

    with FaultyServer(respond, models=[served]) as server:
        run = Run(tmp_path, server.url)
        assert run.run("--option", "concurrency=1").returncode == 2
    assert run.recorded() == 3
    return server


def test_a_run_goes_on_where_its_server_has_gone(tmp_path):
    write_texts(tmp_path, 8)
    first = ended_early(tmp_path, {"id": "m", "root": "/tmp/job1/Qwen3-VL-8B"})
    with FaultyServer(models=[{"id": "m", "root": "/tmp/job2/Qwen3-VL-8B"}]) as server:
        run = Run(tmp_path, server.url)
        done = run.run()
    assert done.returncode == 0, done.stderr
    run.check_whole(8)
    places = [sitting["hardware"]["address"] for sitting in record(run)["sittings"]]
    assert places == [first.url, server.url]
    assert len(server.requests) == 5


def test_another_model_at_the_new_address_is_refused(tmp_path):
    write_texts(tmp_path, 8)
    ended_early(tmp_path, {"id": "m", "root": "Qwen/Qwen3-VL-8B"})
    with FaultyServer(models=[{"id": "m", "root": "google/gemma-3-4b"}]) as server:
        run = Run(tmp_path, server.url)
        refused = run.run()
    assert refused.returncode == 2
    assert "the server serves google/gemma-3-4b" in refused.stderr
    assert server.requests == []
    assert run.recorded() == 3
