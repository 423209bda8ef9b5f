"""What a server that was killed leaves in the temporary folder is deleted by the next one."""

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from gradio_client import handle_file
from space.servers import APP, files_below, forks, free_port, wait_for_client

from hdbench.space.server.temporary import (
    SCRATCH,
    SERVED,
    all_scratch_in,
    remove_left_behind,
    temporary_folder,
)

EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"


@pytest.fixture
def short():
    """A folder with a short path: there are sockets in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def folder(short, monkeypatch):
    """The folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(short))
    monkeypatch.setattr(tempfile, "tempdir", str(short))
    return short


def ours(folder):
    return {path.name for path in folder.iterdir() if path.name.startswith((SERVED, SCRATCH))}


def end(servers):
    while servers:
        server = servers.pop()
        server.terminate()
        server.wait(timeout=180)


@pytest.mark.nightly
def test_after_kill_9_the_next_server_deletes_what_is_left(sample, short):
    running = []
    with ExitStack() as stack:
        stack.callback(end, running)

        def start():
            port = str(free_port())
            environment = os.environ | {"GRADIO_SERVER_PORT": port, "TMPDIR": str(short)}
            server = forks().start(APP, cwd=sample, env=environment)
            running.append(server)
            url = f"http://127.0.0.1:{port}/"
            return url, wait_for_client(url)

        _, client = start()
        client.predict("zettelkatalog", handle_file(sample / EXAMPLE), api_name="/score")
        uploaded = {path for path in files_below(short) if path.suffix == ".jsonl"}
        assert uploaded
        before = ours(short)
        assert before
        killed = running.pop()
        killed.kill()
        killed.wait(timeout=180)
        url, _ = start()
        between = ours(short)
        assert before & between == set()
        assert not any(path.exists() for path in uploaded)
        start()  # beside another one, whose folders stay
        assert between < ours(short)
        assert httpx.get(url).status_code == 200
        end(running)
        assert ours(short) == set()


def test_nothing_else_is_deleted(folder):
    elsewhere = folder / "elsewhere"
    kept = [elsewhere, folder / "hdbench-other"]
    if os.getuid() == 0:  # nobody else can give a folder away
        kept.append(folder / f"{SERVED}of-another-user")
    for path in kept:
        path.mkdir()
        (path / "file").touch()
    if os.getuid() == 0:
        os.chown(kept[-1], 12345, -1)
    (folder / f"{SERVED}link").symlink_to(elsewhere)
    (folder / f"{SERVED}file").touch()
    left = folder / f"{SCRATCH}left"
    left.mkdir()
    (left / "link").symlink_to(elsewhere)
    with temporary_folder(SERVED) as served, temporary_folder(SCRATCH) as scratch:
        (served / "file").touch()
        remove_left_behind()
        assert (served / "file").exists()
        assert scratch.exists()
        assert not left.exists()
    assert not served.exists()
    assert not scratch.exists()
    assert all((path / "file").exists() for path in kept)
    assert (folder / f"{SERVED}link").is_symlink()
    assert (folder / f"{SERVED}file").exists()


def test_a_folder_that_another_server_took_away_is_made_again(folder, monkeypatch):
    made = []

    def removed_at_once(prefix):
        made.append(tempfile.mktemp(prefix=prefix, dir=folder))
        os.mkdir(made[-1])
        if len(made) == 1:
            shutil.rmtree(made[-1])
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", removed_at_once)
    with temporary_folder(SERVED) as served:
        assert str(served) == made[1]


def test_temporary_files_are_redirected_to_the_folder_and_back(folder):
    with temporary_folder(SCRATCH) as scratch:
        with all_scratch_in(scratch), tempfile.NamedTemporaryFile() as file:
            assert Path(file.name).parent == scratch == Path(os.environ["TMPDIR"])
        assert tempfile.gettempdir() == str(folder) == os.environ["TMPDIR"]
