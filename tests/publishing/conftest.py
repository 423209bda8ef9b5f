import os
import shutil

import pytest
from helpers.plain import PLAIN
from hub.server import WRITER, serving_hub


@pytest.fixture
def hub():
    """A Hub on loopback, of its own for each test."""
    with serving_hub() as hub:
        yield hub


@pytest.fixture
def place(samples, tmp_path):
    """A copy of what was built, to be changed."""
    return shutil.copytree(samples, tmp_path / "place")


@pytest.fixture
def publish(hub, place, run_hdbench):
    """Run hdbench publish against the Hub; it has to end with the given status."""

    def publish(*arguments, token=WRITER, status=0, at=hub, yes=True, folder="hdb", new=False):
        options = ["--yes"] if yes else []
        command = ("publish", folder, *options, *arguments)
        done = run_hdbench(*command, cwd=place, new=new, **at.environment(token))
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert not token or token not in done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr.splitlines()[-1]

    return publish


@pytest.fixture
def python(bare_forks, tmp_path):
    """Run Python in a process of its own, in an empty folder and with a cache of its own."""
    (tmp_path / "empty").mkdir()

    def python(code, hub=None, *, cache="cache", fails=False, **environment):
        settings = hub.environment() if hub else {}
        done = bare_forks.run(
            *("-c", code),
            cwd=tmp_path / "empty",
            env=os.environ | PLAIN | settings | {"HF_HOME": str(tmp_path / cache)} | environment,
        )
        assert bool(done.returncode) == fails, done.stderr
        return done.stderr if fails else done.stdout.strip()

    return python
